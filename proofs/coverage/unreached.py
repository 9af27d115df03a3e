"""Why a goal is not covered, and whether it is unreachable for any number of objects.

Induction tries to prove, with the model's invariants, that a state is never entered, a row never taken or an action never
possible. A pair counts as never taken if one of its rows is.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from schedproof.model.lang import Invariant, InvariantAtScope, Model, Property, Row, StepInvariant, variable
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.terms import Constant
from schedproof.proofs.induction import Induction, prove

from .goals import Goal, key
from .suite import Suite


class Why(enum.Enum):
    """Why a goal is not covered."""

    UNREACHABLE = "unreachable at this scope"
    TOO_FAR = "farther than the longest sequence"
    INCOMPLETE = "not reached, exploration incomplete"
    BEYOND = "not reached within the bounds of integers"


class Proof(enum.Enum):
    """Whether a goal is proved unreachable for any number of objects."""

    PROVED = "proved for any number of objects"
    OPEN = "not proved"
    NOT_ASKED = ""


@dataclass(frozen=True)
class Unreached:
    """A goal that is not covered; ``least`` is the number of steps that a sequence would need, if known."""

    goal: Goal
    why: Why
    proof: Proof = Proof.NOT_ASKED
    least: int | None = None


MOST_SECONDS = 60.0
"""The time limit in seconds for all proofs of one suite."""


class _OutOfTime(Exception):
    """The proofs exceed their time limit."""


def unreached(
    suite: Suite, seconds: float = MOST_SECONDS, doing: Callable[[str], None] = lambda what: None
) -> list[Unreached]:
    """The goals of machines that a suite does not cover, with the reasons.

    Args:
        seconds: the time limit for all proofs; 0 for no proofs.
        doing: called with a line on the progress of proofs.
    """
    covered, unreached_goals = suite.reached, []
    for number, goal in enumerate(suite.goals):
        if number not in covered:
            if number in suite.distances:
                unreached_goals.append(Unreached(goal, Why.TOO_FAR, least=suite.distances[number]))
            else:
                unreached_goals.append(Unreached(goal, _why(suite)))
    never = [one.goal for one in unreached_goals if one.why is not Why.TOO_FAR]
    if not never or seconds <= 0:
        return unreached_goals
    proved = _proved_goals(suite, never, seconds, doing)
    why = {Proof.PROVED: Why.UNREACHABLE}
    return [
        one
        if one.why is Why.TOO_FAR
        else replace(
            one, proof=(it := Proof.PROVED if one.goal.name in proved else Proof.OPEN), why=why.get(it, one.why)
        )
        for one in unreached_goals
    ]


def _why(suite: Suite) -> Why:
    """Why no sequence of any length covers a goal, before proofs."""
    if not suite.complete:
        return Why.INCOMPLETE
    return Why.BEYOND if suite.within else Why.UNREACHABLE


def _proved_goals(suite: Suite, never: Sequence[Goal], seconds: float, doing: Callable[[str], None]) -> set[str]:
    """The names of the goals that are proved unreachable for any number of objects."""
    claims: dict[str, Property] = {}
    rows: dict[str, Row] = {}
    for goal in never:
        if goal.state:
            claims[goal.name] = _no_state(suite.model, goal)
        elif goal.action:
            claims[goal.name] = _no_action(goal)
        for row in goal.rows:
            if key(row) not in suite.rows:
                rows[row.name] = row
    claims |= {name: _no_row(row) for name, row in rows.items()}
    proved = _proved(suite.model, claims, seconds, doing)
    return {g.name for g in never if g.name in proved or any(row.name in proved for row in g.rows)}


def _claim(name: str) -> str:
    return f"never: {name}"


def _no_state(model: Model, goal: Goal) -> Invariant:
    x = variable(model.machine(goal.sort).sort, "x")
    return Invariant(name=_claim(goal.name), says="no object is ever in it", over=[x], then=~x.is_(goal.state))


def _no_row(row: Row) -> StepInvariant:
    x = variable(row.sort, "x")
    taking = x.is_(row.source) & x.fires(row.event)
    return StepInvariant(name=_claim(row.name), says="no object ever takes it", over=[x], then=~taking)


def _no_action(goal: Goal) -> StepInvariant:
    return StepInvariant(
        name=_claim(goal.name), says="it is never possible", over=[], on=[goal.action], then=Constant(False)
    )


def _proved(model: Model, claims: Mapping[str, Property], seconds: float, doing: Callable[[str], None]) -> set[str]:
    """The names of the claims that induction proves, first from the axioms alone, then with the model's invariants."""
    until = time.monotonic() + seconds
    proved: set[str] = set()
    # An invariant that is expected to be violated supports no proof.
    kept = [p for p in model.properties if isinstance(p, Invariant) and not isinstance(p, InvariantAtScope)]
    helping = [p for p in kept if p.name not in model.refuted]
    for invariants in ([], helping):
        left = {name: claim for name, claim in claims.items() if name not in proved}
        if left and time.monotonic() < until:
            proved |= _inductive(model, invariants, left, until, doing)
    if not proved:
        return proved
    # The proofs above are about what can happen only if every step is well-formed.
    formed = _induction(model, helping, until, doing, only={WELL_FORMED})
    return proved if formed is not None and formed.well_formed else set()


def _inductive(
    model: Model,
    invariants: Sequence[Invariant],
    claims: Mapping[str, Property],
    until: float,
    doing: Callable[[str], None],
) -> set[str]:
    """The names of the claims that induction proves if the model is well-formed."""
    induction = _induction(model, [*invariants, *claims.values()], until, doing, known={WELL_FORMED})
    return {name for name, claim in claims.items() if induction is not None and induction.proved(claim.name)}


def _induction(
    model: Model,
    properties: Sequence[Property],
    until: float,
    doing: Callable[[str], None],
    *,
    only: Collection[str] = (),
    known: Collection[str] = (),
) -> Induction | None:
    """The induction of a model with other properties; None at the time limit."""

    def watch(done: int, total: int) -> None:
        doing(f"proving what is unreachable, {done} of {total} obligations")
        if time.monotonic() > until:
            raise _OutOfTime

    asked = replace(model, amends="", changes=()).asking(properties)
    try:
        return prove(asked, every=False, only=only, known=known, progress=watch)
    except _OutOfTime:
        return None

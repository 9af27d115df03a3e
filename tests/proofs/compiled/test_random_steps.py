"""Random step invariants that read firings and the states before and after: both engines say the same of each."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import pytest

from schedproof.model.lang import Property, StepInvariant, after, exists, forall, implies
from schedproof.model.lang import terms as t
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.model.systems.hived.machines import c, p, q
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.compiled import steps
from schedproof.proofs.exploration import relevance

EVENTS = {of: sorted({r.event for r in AS_WRITTEN.rows if r.sort.name == of}) for of in ("Cell", "PodGroup")}
STATES = {of: [state.name for state in AS_WRITTEN.machine(of).states] for of in EVENTS}
ACTIONS = [action.name for action in AS_WRITTEN.actions if not action.crash]
AT_ONCE = 25
"""The number of properties of one exploration."""


class Drawn:
    """Random formulas over a cell ``c`` and groups ``p`` and ``q``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def firing(self) -> t.Term:
        """An event at the cell or at a group."""
        who = self.random.choice((c, p))
        return who.fires(self.random.choice(EVENTS[who.type.sort.name]))

    def state(self) -> t.Term:
        """What a state says of the objects."""
        who = self.random.choice((c, p))
        of = STATES[who.type.sort.name]
        return self.random.choice([who.is_(*self.random.sample(of, self.random.randint(1, 3))), c.user == p])

    def formula(self, depth: int) -> t.Term:
        """Any formula."""
        shape = self.random.randrange(8) if depth else 0
        if shape < 3:
            return self.random.choice([self.firing(), self.state(), after(self.state())])
        one, other = self.formula(depth - 1), self.formula(depth - 1)
        shapes = [one & other, one | other, ~one, exists(c, one), forall(c, implies(one, other))]
        return shapes[shape - 3]

    def premise(self) -> t.Term:
        """A premise on an event and on the state after."""
        firing, later = self.firing(), after(self.state())
        firing = self.random.choice([firing, ~firing, firing | self.firing()])
        return self.random.choice([firing & later, later & firing & self.state(), firing | later])

    def invariants(self) -> list[StepInvariant]:
        """Properties of HiveD; some concern only steps of some actions."""
        return [
            StepInvariant(
                name=f"drawn-{n}",
                says="",
                over=self.random.choice(([c, p], [p, c], [c, p, q])),
                on=self.random.choice(([], self.random.sample(ACTIONS, 3))),
                given=self.premise(),
                then=self.formula(1),
            )
            for n in range(AT_ONCE)
        ]


def verdicts_of(props: Sequence[Property], engine: Engine) -> dict[str, tuple[str, bool, int]]:
    """Of each property its verdict, whether it is vacuous, and the number of steps to a violation."""
    model = dataclasses.replace(AS_WRITTEN, properties=props, refuted=frozenset(), assumes={})
    results = model_check(
        model, {"PodGroup": 2, "Cell": 2}, only=[prop.name for prop in props], how=Exploring(engine, symmetry=False)
    )
    return {r.name: (r.reach, r.vacuous, len(r.counterexample.steps) if r.counterexample else 0) for r in results}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long(one_in=12)) for seed in range(1, 40))])
def test_both_engines_say_the_same_of_each(seed: int) -> None:
    props = Drawn(seed).invariants()
    assert verdicts_of(props, Engine.COMPILED) == verdicts_of(props, Engine.INTERPRETED)


def test_some_are_refuted_some_hold_and_some_are_vacuous() -> None:
    results = verdicts_of(Drawn(0).invariants(), Engine.INTERPRETED).values()
    assert any("refuted" in reach for reach, _, _ in results)
    assert any(vacuous for _, vacuous, _ in results)
    assert any("refuted" not in reach and not vacuous for reach, vacuous, _ in results)


def test_looking_only_at_what_changed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded: a premise that reads events is tried at changed objects only."""
    props = Drawn(0).invariants()
    right = verdicts_of(props, Engine.INTERPRETED)
    monkeypatch.setattr(relevance.t, "firings", lambda term: iter(()))
    changes = [relevance.change_of(AS_WRITTEN, prop.over, prop.given) for prop in props]
    monkeypatch.undo()
    assert any(changes)
    by_premise = dict(zip((id(prop.given) for prop in props), changes, strict=True))
    monkeypatch.setattr(steps, "change_of", lambda model, over, given: by_premise[id(given)])
    assert verdicts_of(props, Engine.COMPILED) != right

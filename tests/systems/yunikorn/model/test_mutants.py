"""Every mutant of YuniKorn's core is caught, or stands in the list of equivalent mutants and is proved to be one.

A mutant is the model less one rule, one condition of a rule, one guard conjunct or one row. It is caught if it is refused
by the language, or takes a step that the model does not take, or lacks one, in a small place that is seen whole or in a
larger one that is walked in (``mutant_places``). Covered are ``v0.12.2`` and ``repaired``, the core alone. Rows whose
event nothing fires have no mutant here: of the shim's machines, and of what nobody does in v0.12.2; they are compared
with figures and facts (``test_tables``, ``test_document``).

The default run checks one mutant in thirty, drawn by their names; the long one one in ten, others each day.
"""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from schedproof.model.lang import Invariant, ModelError, Term
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.systems.yunikorn import REPAIRED, V0_12_2
from schedproof.model.systems.yunikorn.events import pending
from schedproof.model.systems.yunikorn.machines import a, g, k, p, q, w
from schedproof.proofs.induction import prove
from tests.support.exchanges import exchanges
from tests.support.mutants import Mutant, mutants
from tests.support.mutants import drawn as drawn_by_name
from tests.support.same_steps import SameSteps
from tests.support.sample import thinned, todays
from tests.support.walked import Checker
from tests.systems.yunikorn.model.mutant_places import check as check_part_of
from tests.systems.yunikorn.model.mutant_places import fired, idle_rows, of_the_core

VARIANTS = {"v0.12.2": V0_12_2, "repaired": REPAIRED}
EQUIVALENT: Mapping[str, Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "equivalent_mutants.toml").read_text("utf-8")
)


@cache
def check(variant: str) -> Checker:
    """One check a variant: it keeps the graphs of the model itself."""
    return check_part_of(VARIANTS[variant])


@cache
def named(variant: str) -> Mapping[str, Mutant]:
    """The mutants of a variant by name."""
    return of_the_core(VARIANTS[variant])


def listed(variant: str) -> Mapping[str, Mapping[str, str]]:
    """The equivalent mutants of a variant."""
    return EQUIVALENT[variant]


def drawn(variant: str, one_in: int) -> list[str]:
    """One of so many mutants that are not listed, by a number made of the name; a smaller draw is part of a larger."""
    names = [name for name in named(variant) if name not in listed(variant)]
    return [name for name in names if zlib.crc32(f"{variant} {name}".encode()) % one_in == 0]


def survivors(variant: str, names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that nothing catches."""
    return [name for name in names if check(variant).caught(named(variant)[name]) is None]


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
def test_one_mutant_in_thirty_is_caught(variant: str) -> None:
    names = drawn(variant, 30)
    assert len(names) > 3 and survivors(variant, names) == []


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_one_mutant_in_ten_is_caught(variant: str) -> None:
    """Others each day."""
    names = todays(drawn(variant, 1), 10)
    assert len(names) > 12 and survivors(variant, names) == []


UNDISTINGUISHED = {
    "rule a swap moves its application on, but not the first, condition 1, state: Rejected for Resuming of k.application"
}
"""Of the exchanges that are drawn, one in sixty: no place shows a difference, and no proof says that there is none."""


@pytest.mark.long
@pytest.mark.parametrize("one_in", [480, pytest.param(60, marks=pytest.mark.long)])
def test_exchanges_are_caught_or_mean_the_same(one_in: int) -> None:
    """Of v0.12.2; ``test_exchanged_words`` has those of ``repaired``."""
    idle = tuple(f"row {row.name}," for row in idle_rows(V0_12_2))
    some = [m for m in exchanges(V0_12_2) if drawn_by_name(m.name, one_in) and not m.name.startswith(idle)]
    assert len(some) > 1200 / one_in
    undecided = {m.name for m in some if check("v0.12.2").caught(m) is None and not proved_the_same("v0.12.2", m)}
    assert undecided == {name for name in UNDISTINGUISHED if drawn_by_name(name, one_in)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_rule_conjunct_and_row_has_its_mutant(variant: str) -> None:
    model = VARIANTS[variant]
    expected = len(model.rules) + len(model.rows) - len(idle_rows(model))
    expected += sum(len(rule.when) for rule in model.rules) + sum(len(action.when) for action in model.actions)
    assert len(named(variant)) == expected == len(list(mutants(model))) - len(idle_rows(model))


def test_the_rows_without_a_mutant_are_those_that_nobody_uses() -> None:
    """Of the shim's machines; and what nobody fires in v0.12.2 (facts 1.2: reject; 2: Start, Stop, a partition's Remove)."""
    for variant, model in VARIANTS.items():
        core = {(r.sort.name, r.event) for r in idle_rows(model) if not r.sort.name.startswith(("Shim", "Task"))}
        unused = {("Application", "reject"), ("Partition", "remove")}
        unused |= {(sort, event) for sort in ("Queue", "Partition") for event in ("start", "stop")}
        assert core == (unused if variant == "v0.12.2" else set())
        assert not {sort for sort, _ in fired(model)} & {"ShimApplication", "Task", "ShimNode", "ShimScheduler"}


# --- Equivalent mutants, proved to be ----------------------------------------------------------------------------------

o = replace(k, name="o")
v = replace(w, name="v")
RUNS_OUT = w.is_("under_way")


def lemma(says: str, over: Sequence[object], given: Term | None, then: Term) -> Invariant:
    """What no property says, but a reason rests on."""
    return Invariant(name=f"lemma: {says}", says=says, over=over, given=given, then=then)  # type: ignore[arg-type]


OBJECTS = [
    lemma("a pending ask is listed", [k], k.is_("pending"), k.listed),
]
TIMERS = [
    lemma("a gang's time runs only after it was Accepted", [g], ~g.is_("off"), ~g.application.is_("New")),
]
LEMMAS: Mapping[str, Sequence[Invariant]] = {
    "v0.12.2": [
        *OBJECTS,
        *TIMERS,
        lemma("a deleted queue is Draining, or dynamic", [q], q.deleted, q.is_("Draining") | q.dynamic),
        lemma("no queue is Stopped", [q], None, ~q.is_("Stopped")),
        lemma("partitions are Active", [p], None, p.is_("Active")),
        lemma(
            "no time-out is under way before Starting",
            [w],
            RUNS_OUT,
            ~w.application.is_("New", "Accepted", "Resuming", "Rejected"),
        ),
        lemma(
            "in Starting there are none but its own",
            [w],
            RUNS_OUT & w.application.is_("Starting"),
            w.of_state == "Starting",
        ),
        *[
            lemma(f"a time-out of {now} finds it {now}", [w], RUNS_OUT & (w.of_state == now), w.application.is_(now))
            for now in ("Completed", "Failed")
        ],
        *[
            lemma(
                f"the time of {now} has run if one is under way",
                [w],
                RUNS_OUT & (w.of_state == now),
                w.application.timer == "ran",
            )
            for now in ("Completed", "Failed")
        ],
        *[
            lemma(
                f"there is one time-out of {now}",
                [w, v],
                RUNS_OUT & (w.of_state == now) & v.is_("under_way") & (v.of_state == now) & (w.application == v.application),
                w == v,
            )
            for now in ("Completed", "Failed")
        ],
    ],
    "repaired": [
        *OBJECTS,
        *TIMERS,
        lemma("a deleted queue is Draining", [q], q.deleted, q.is_("Draining")),
        lemma("a Stopped queue can be adjusted", [q], q.is_("Stopped"), q.adjustable & ~q.deleted),
        lemma("a Stopped partition can be adjusted", [p], p.is_("Stopped"), p.adjustable & ~p.deleted),
        lemma("a deleted partition is Draining", [p], p.deleted, p.is_("Draining")),
        lemma("nothing is pending of what fails", [a], a.is_("Failing"), ~pending(a)),
        lemma(
            "what is New, has failed or was rejected lists no ask",
            [k],
            k.listed,
            ~k.application.is_("New", "Failed", "Rejected"),
        ),
        lemma("nothing is allocated of what fails", [k], k.application.is_("Failing"), ~k.is_("allocated")),
        lemma(
            "nothing real has been allocated before Starting",
            [k],
            ~k.placeholder & k.application.is_("New", "Accepted", "Resuming"),
            ~k.is_("allocated", "releasing", "released"),
        ),
        lemma("only what fails gives real allocations back", [k], ~k.placeholder & k.is_("releasing"), k.application.is_("Failing")),
        lemma("what was rejected has not been added", [a], a.is_("Rejected"), ~a.known),
        lemma("a Draining partition can be adjusted", [p], p.is_("Draining"), p.adjustable),
        lemma(
            "a partition that drains has no New application",
            [a],
            a.is_("New") & a.queue.partition.is_("Draining"),
            ~a.known,
        ),
        lemma("what resumes has only what it gives back", [k], k.application.is_("Resuming"), ~k.is_("allocated")),
        lemma("the queues go before their partition", [q], q.partition.deleted, q.deleted),
        lemma(
            "an application has one time-out under way",
            [w, v],
            RUNS_OUT & v.is_("under_way") & (w.application == v.application),
            w == v,
        ),
    ],
}  # fmt: skip


@cache
def same_steps(variant: str) -> SameSteps:
    """Compares with a variant, given its invariants, which ``schedproof verify`` proves, and the lemmas."""
    return SameSteps(VARIANTS[variant], [*invariants(variant), *LEMMAS[variant]])


def invariants(variant: str) -> list[Invariant]:
    """The invariants that a variant satisfies."""
    model = VARIANTS[variant]
    return [p for p in model.properties if isinstance(p, Invariant) and p.name not in model.refuted]


def unproved(variant: str, names: Sequence[str]) -> list[str]:
    """The mutants among ``names`` that are not proved to take the same steps, for any number of objects."""
    return [name for name in names if not proved_the_same(variant, named(variant)[name])]


def proved_the_same(variant: str, mutant: Mutant) -> bool:
    """Whether the language accepts ``mutant``, and it is proved to take exactly the steps of the variant."""
    try:
        return same_steps(variant).unproved(checked(mutant.build())) is None
    except ModelError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_lemmas_are_proved(variant: str) -> None:
    lemmas, kept = LEMMAS[variant], invariants(variant)
    induction = prove(
        VARIANTS[variant].asking([*kept, *lemmas]), every=False, known={WELL_FORMED, *(p.name for p in kept)}
    )
    assert [prop.name for prop in lemmas if not induction.proved(prop.name)] == []


DIFFERING = ["action submit, conjunct 1", "rule a time-out ends Starting", "row Node.drain from schedulable"]
"""Mutants that are caught: were these proved to be equivalent, the proof would be worth nothing."""


@pytest.mark.long(one_in=9)
@pytest.mark.parametrize("variant", VARIANTS)
def test_equivalent_mutants_are_proved_to_be_and_others_are_not(variant: str) -> None:
    assert unproved(variant, [*listed(variant), *DIFFERING]) == DIFFERING
    assert all(len(entry["reason"]) > 20 for entry in listed(variant).values())


@pytest.mark.parametrize("variant", VARIANTS)
def test_mutants_that_differ_are_caught(variant: str) -> None:
    assert survivors(variant, DIFFERING) == []


@pytest.mark.long(one_in=9)
def test_the_model_itself_is_not_caught() -> None:
    """Else what is caught would show nothing."""
    same = Mutant("nothing less", "none", lambda: replace(REPAIRED))
    assert check("repaired").caught(same) is None

"""Integers with a bound in Promela and TLA+: the same states as our exploration, and nothing broken by the bound alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    Event,
    Int,
    Invariant,
    Machine,
    Model,
    ModelError,
    Row,
    Sort,
    State,
    given,
    variables,
)
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Instance, ScopeError, with_bound
from schedproof.proofs.export import promela, tla
from tests.proofs.export import test_tla
from tests.proofs.export.exported import by_exploration, only
from tests.proofs.export.test_promela import assertion, by_spin, cut
from tests.proofs.export.test_tla import steps
from tests.proofs.export.tla_reader import Explored
from tests.support.clocks import ACTIONS, CLOCKS, PROPERTIES, a, b, clocks
from tests.support.needs import needs_spin
from tests.support.rows import each_row
from tests.support.sample import thinned

WITHIN = Invariant(name="within", says="(wrong) no time is above the bound", over=[a], then=a.time <= 2)
EQUAL = Invariant(name="equal", says="(wrong) times are equal", over=[a, b], then=a.time == b.time)
SOME = clocks(properties=[*PROPERTIES, WITHIN, EQUAL], refuted=frozenset({"within", "equal"}))
Box = Sort("Box", "b")
(box,) = variables(Box, "b")
UNGUARDED = clocks(actions=[replace(each, when=[]) if each.name == "lower" else each for each in ACTIONS])

TIME, SEEN, DEBT = ("Node", "time"), ("Node", "seen"), ("Node", "debt")
BOUNDS = [{TIME: 2, SEEN: 2, DEBT: 1}, {TIME: 3, SEEN: 1, DEBT: (-1, 3)}, {TIME: (0, 1), SEEN: 300, DEBT: (-2, 0)}]


def bounded(model: Model, number: int, nodes: int = 2) -> Instance:
    return only(with_bound(model, BOUNDS[number]), Node=nodes)


def read(instance: Instance, *changed: str) -> Explored:
    """The states of the module, as TLC finds them."""
    module = tla(instance, only=None)
    assert module.configuration.splitlines()[2] == "CONSTRAINT WithinBounds"
    text = module.text
    if changed:
        assert changed[0] in text
        text = text.replace(*changed)
    return test_tla.read(module, text)


@pytest.mark.long
@needs_spin
@each_row("number", range(len(BOUNDS)))
@each_row("model", [SOME, UNGUARDED], ids=["clocks", "ill-formed"])
def test_spin_finds_the_same_within_the_bounds(model: Model, number: int, tmp_path: Path) -> None:
    instance = bounded(model, number)
    expected, actual = by_exploration(instance), by_spin(promela(instance, only=None).text, tmp_path)
    assert actual.states == expected.states
    assert actual.broken == {assertion(name) for name in expected.broken}
    dropped = cut(instance)
    assert dropped > 0
    if model is SOME:  # what is ill-formed is no transition of ours
        assert actual.transitions == expected.transitions + dropped + expected.states


@needs_spin
def test_spin_reports_no_property_broken_by_the_bound(tmp_path: Path) -> None:
    """Within the bound no time is above it; that a step would lead there is said by the header only."""
    text = promela(bounded(SOME, 0), only=["within", "equal"]).text
    assert by_spin(text, tmp_path).broken == {assertion("equal")}
    assert "/* Within time <= 2, seen <= 2, -1 <= debt <= 1: a step beyond it is dropped" in text


@needs_spin
def test_a_bound_that_is_off_by_one_is_noticed(tmp_path: Path) -> None:
    instance = bounded(SOME, 0)
    text = promela(instance, only=None).text
    assert by_spin(text.replace("+ 1) > 2)", "+ 1) > 3)"), tmp_path).states != by_exploration(instance).states


@pytest.mark.parametrize("number", thinned(range(2), 2))
def test_tlc_finds_the_same_states_within_the_bounds(number: int) -> None:
    """What our exploration finds broken is broken there; the states that are first beyond the bound are checked, too."""
    instance = bounded(SOME, number)
    expected, actual = by_exploration(instance), read(instance)
    assert (actual.states, actual.transitions) == (expected.states, expected.transitions)
    broken = steps(actual, tla(instance, only=None), instance)
    assert expected.broken.items() <= broken.items()
    assert broken.keys() - expected.broken.keys() <= {"within"}


def test_tlc_checks_what_is_first_beyond_the_bound() -> None:
    instance = bounded(SOME, 0)
    assert "within" not in by_exploration(instance).broken
    assert read(instance).broken["within"] == 3


def test_a_nat_below_0_is_ill_formed_in_tla() -> None:
    instance = bounded(UNGUARDED, 0)
    assert by_exploration(instance).broken == {WELL_FORMED: 1}
    assert read(instance).broken["well_formed"] == 0


@pytest.mark.parametrize(
    ("old", "new"),
    thinned([("\\in 0 .. 2", "\\in 0 .. 1"), (": Node_lower(f).seen \\in Nat", ": Node_lower(f).seen \\in Int")], 2),
)
def test_a_seeded_fault_in_tla_is_noticed(old: str, new: str) -> None:
    instance = bounded(UNGUARDED if "Int" in new else SOME, 0)
    assert old in tla(instance, only=None).text
    right, wrong = read(instance), read(instance, old, new)
    assert (right.states, right.broken) != (wrong.states, wrong.broken)


def test_an_integer_without_a_bound_is_refused() -> None:
    for export in (promela, tla):
        with pytest.raises(ModelError, match=r"Node\.time.*--bound Node\.time=3"):
            export(only(clocks(bound={})))
    with pytest.raises(ScopeError, match="too great for Promela"):
        promela(only(with_bound(CLOCKS, {TIME: 1 << 40})))


@pytest.mark.parametrize("through_event", [False, True])
def test_sums_that_promela_would_wrap_are_refused(through_event: bool) -> None:
    """4 times 2^30 has 0 in 32 bits, which is within the bound."""
    model = doubled(through_event, factor=4)
    with pytest.raises(ScopeError, match=r"4294967296 is too great for Promela"):
        promela(only(with_bound(model, {("Box", "n"): 1 << 30}), Box=1), only=None)
    assert promela(only(with_bound(model, {("Box", "n"): 1 << 28}), Box=1), only=None).text


def doubled(through_event: bool, factor: int) -> Model:
    """A box multiplies its number: where the event is fired, or where it is answered."""
    by, update = (factor * box.n, given("by")) if through_event else (box.n, factor * given("by"))
    return Model(
        "boxes",
        "plain",
        "",
        [Machine(Box, [State("Open")], [Attribute("n", Int)], [Event("up", {"by": Int})])],
        [Row(Box, "up", "Open", "Open", n=update)],
        [Action("up", [box], [], [box.fires("up", by=by)], "{b} counts")],
        [],
        [],
        {"Box": 1},
    )

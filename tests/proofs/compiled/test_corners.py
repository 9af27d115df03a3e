"""Models in which the compiled exploration could go wrong: what is undefined, out of range, too wide, or named alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from math import comb
from typing import Any

import pytest

from schedproof.model.lang import (
    Action,
    Attribute,
    Document,
    Event,
    IntRange,
    Invariant,
    Machine,
    Model,
    Row,
    Rule,
    Sort,
    State,
    StepInvariant,
    after,
    forall,
    given,
    implies,
    those,
    variable,
    variables,
)
from schedproof.proofs import compiled
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.compiled.test_beside_interpreted import (
    assert_same_graph,
    assert_same_quotient,
    assert_same_verdicts,
    instance_of,
)
from tests.support.toys import WEAR, WORKSHOP, Tool, Worker, mood

w, v = variables(Worker, "w v")
x = variables(Tool, "x")[0]
n = variable(WEAR, "n")


def workshop(**parts: Any) -> Model:
    """The workshop with other parts, of which nothing is expected."""
    return dataclasses.replace(WORKSHOP, **{"properties": [], "refuted": frozenset(), **parts})


def same(model: Model, scope: Mapping[str, int] = {}) -> dict[str, Result]:
    """What both engines say."""
    assert_same_graph(instance_of(model, scope))
    assert_same_quotient(instance_of(model, scope))
    assert_same_verdicts(model, scope, symmetry=True)
    return {r.name: r for r in assert_same_verdicts(model, scope)}


# --- What is undefined -----------------------------------------------------------------------------------------------


def test_to_whom_nothing_happens_is_not_asked() -> None:
    """Nobody has the tool of a worker who holds none, and nobody is sent away."""
    prop = StepInvariant(name="s", says="s", over=[w], on=["drop"], then=~w.holds.by.fires("kicked"))
    assert same(workshop(properties=[prop]))["s"].verdict is Verdict.PROVED
    odd = Rule(
        "odd",
        w.fires("drop"),
        [w.holds == x, forall(v, ~v.holds.by.fires("kicked")), x.wear >= 5],
        x.fires("mend", wear=x.wear),
    )
    assert same(workshop(rules=[*WORKSHOP.rules, odd]))["well-formed"].verdict is Verdict.PROVED


def test_an_undefined_guard_leaves_no_step_of_the_action_checked() -> None:
    guard = [w.is_("Idle"), (n == 0) | (w.holds.wear == 0)]
    torn = Action("bad", [w, n], guard, [w.fires("cheer", mood="calm")], "bad {w} {n}")
    prop = StepInvariant(name="s", says="s", over=[w], given=w.fires("cheer"), then=after(w.mood == "tense"))
    results = same(workshop(actions=[torn], rules=[], properties=[prop]))
    assert results["s"].verdict is Verdict.UNDETERMINED
    assert results["well-formed"].verdict is Verdict.REFUTED


def test_a_property_of_what_is_undefined_is_broken() -> None:
    props = [
        Invariant(name="i", says="i", over=[w], given=w.is_("Idle"), then=w.holds.wear < 2),
        Invariant(name="premise", says="premise", over=[w], given=w.holds.wear < 2, then=w.tired),
        StepInvariant(name="s", says="s", over=[w], then=after(w.holds.wear < 2)),
    ]
    results = same(workshop(properties=props))
    assert all(results[p.name].verdict is Verdict.REFUTED for p in props)


# --- What is out of range --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [0, 3, 40, 400_000_000])
def test_what_an_event_is_given_may_be_out_of_its_range(off: int) -> None:
    """Those of whom it is said are none then, and no memory is read that is not ours."""
    machine = dataclasses.replace(
        WORKSHOP.machine("Worker"), events=[*WORKSHOP.machine("Worker").events, Event("odd", {"k": WEAR})]
    )
    row = Row(Worker, "odd", "Idle", "Idle", knows=those(x, x.wear == given("k")))
    action = Action("odd", [w, n], [w.is_("Idle")], [w.fires("odd", k=n + off)], "odd {w} {n}")
    machines = [machine, WORKSHOP.machine("Tool")]
    model = workshop(machines=machines, rows=[*WORKSHOP.rows, row], actions=[action], rules=[])
    same(model, {"Worker": 2, "Tool": 2})


def test_attributes_out_of_their_range_are_ill_formed() -> None:
    rows = [
        Row(r.sort, r.event, "Free", "Free", wear=given("wear") + 1) if r.event == "mend" else r for r in WORKSHOP.rows
    ]
    same(workshop(rows=rows))


# --- Numbers ---------------------------------------------------------------------------------------------------------

Counter, c, d = Sort("Counter", "c"), *variables(Sort("Counter", "c"), "c d")


def counting(low: int, high: int, first: int, *, guard: Any = None, states: int = 0) -> Model:
    """Counters from ``first`` on, and as many states in a ring."""
    names = [f"s{i}" for i in range(states or 1)]
    rows = [Row(Counter, "up", name, names[(i + 1) % len(names)], n=c_me() + 1) for i, name in enumerate(names)]
    if states:
        rows = [Row(Counter, "up", name, names[(i + 1) % len(names)]) for i, name in enumerate(names)]
    number = [Attribute("n", IntRange(low, high), initial=first)]
    return Model(
        system="counters",
        variant="toy",
        about="",
        document=Document("", ""),
        machines=[Machine(Counter, states=[State(s) for s in names], attributes=[] if states else number, events=[])],
        rows=rows,
        actions=[Action("up", [c], [guard] if guard is not None else [], [c.fires("up")], "{c} counts")],
        rules=[],
        properties=[],
        default_scope={"Counter": 2},
    )


def c_me() -> Any:
    """The number of the object that a row is of."""
    from schedproof.model.lang import me

    return me.n


@pytest.mark.parametrize(
    ("low", "high", "first"), [(-3, 2, -3), (-1, 0, -1), (0, 20_000, 19_990), (-(1 << 48), 1 << 48, (1 << 48) - 3)]
)
def test_numbers_of_any_range(low: int, high: int, first: int) -> None:
    alike = forall(d, implies(d != c, ~(d.n == c.n + 2)))
    same(counting(low, high, first, guard=(c.n < high) & alike))


def test_a_range_of_one_number_takes_no_bits() -> None:
    same(counting(5, 5, 5, guard=c.n < 5))


@pytest.mark.parametrize(("low", "high"), [(0, (1 << 63) - 1), (-(1 << 70), 1 << 70), (0, (1 << 48) + 1)])
def test_numbers_that_are_too_great_are_refused(low: int, high: int) -> None:
    model = counting(low, high, 0, guard=c.n < 3)
    with pytest.raises(TooWide, match="explore it interpreted"):
        compiled.explore(instance_of(model, {}))
    results = {r.name: r for r in model_check(model, {}, how=Exploring(Engine.AUTO))}
    assert results["well-formed"].verdict is Verdict.PROVED


def test_a_constant_that_is_too_great_is_refused() -> None:
    with pytest.raises(TooWide, match="explore it interpreted"):
        compiled.explore(instance_of(counting(0, 3, 0, guard=c.n < (1 << 62)), {}))


@pytest.mark.parametrize("size", [1, 5, 17])
def test_symmetric_counts_may_be_great(size: int) -> None:
    """Three states in a ring for each of many objects: as many states as there are words of so many letters."""
    model = counting(0, 0, 0, states=3)
    reached = compiled.explore(instance_of(model, {"Counter": size}), symmetry=True)
    assert (reached.state_count, reached.representatives) == (3**size, comb(size + 2, 2))
    assert reached.transition_count == size * 3**size
    assert reached.per_action() == explore(instance_of(model, {"Counter": size})).per_action()


@pytest.mark.long
def test_symmetry_of_too_many_objects_is_refused() -> None:
    model = counting(0, 0, 0, states=3)
    with pytest.raises(TooWide, match="without symmetry"):
        compiled.explore(instance_of(model, {"Counter": 40}), symmetry=True)
    for limit in (None, 1000, 1_000_000):
        result, _ = Exploring(Engine.AUTO, max_states=limit).watch(instance_of(model, {"Counter": 40}), [])
        assert (result.complete, result.state_count) == (True, 3**40)


# --- Names -----------------------------------------------------------------------------------------------------------


def test_a_parameter_may_be_named_as_anything() -> None:
    worker = WORKSHOP.machine("Worker")
    machine = dataclasses.replace(worker, events=[*worker.events, Event("odd", {"fires": WEAR})])
    row = Row(Worker, "odd", "Idle", "Idle", jobs=given("fires"))
    action = Action("odd", [w, n], [w.is_("Idle"), n < 2], [w.fires("odd", fires=n)], "odd {w} {n}")
    same(workshop(machines=[machine, WORKSHOP.machine("Tool")], rows=[*WORKSHOP.rows, row], actions=[action], rules=[]))


def test_a_property_may_name_its_objects_as_the_action_does() -> None:
    props = [
        StepInvariant(name="own", says="own", over=[w], on=["take"], given=w.is_("Busy"), then=after(w.is_("Busy"))),
        StepInvariant(name="its", says="its", over=[], on=["mend"], then=after(x.wear == n)),
        StepInvariant(
            name="mood", says="mood", over=[v], on=["mend"], given=v.fires("cheer"), then=v.fires("cheer", mood=mood)
        ),
    ]
    same(workshop(properties=props))

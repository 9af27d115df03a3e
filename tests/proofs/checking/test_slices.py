"""Each property on the slice that it needs, beside the two graphs with no history and with all of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    IntRange,
    Invariant,
    LeadsTo,
    Machine,
    Model,
    ModelError,
    Ref,
    Row,
    Sort,
    State,
    StepInvariant,
    after,
    given,
    me,
    those,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, instances
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.checking import model_check as model_checking
from schedproof.proofs.checking import slices
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import explored, model_check, reads_history
from schedproof.proofs.checking.slices import Slices
from schedproof.proofs.exploration import limits
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.limits import ALL_REFUTED, GREW, Enough
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.checking.two_graphs import two_graphs, untimed
from tests.support.random_models import random_model
from tests.support.rows import each_row
from tests.support.sample import thinned

NAMES = ["beaker", "hived", "jobmon", "yunikorn", "yunikorn-merge"]

SYMMETRIC, FULL = Exploring(), Exploring(symmetry=False)
COMPILED, COMPILED_FULL = Exploring(Engine.COMPILED), Exploring(Engine.COMPILED, symmetry=False)
TWO_THREADS = Exploring(Engine.COMPILED, threads=2)


def sliced(model: Model, how: Exploring) -> dict[str, Result]:
    """What is said of each property."""
    return {r.name: untimed(r) for r in model_check(model, {}, how=how)}


def never_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any state too many ends a search of several slices."""
    monkeypatch.setattr(limits, "GROWTH", 0)
    monkeypatch.setattr(limits, "SMALL", 0)


# --- Which attributes a property needs -------------------------------------------------------------------------------

A = Sort("A", "a")
x, y = variables(A, "x y")
LEVELS = EnumType(("low", "high"))


def recorder(**sets: Any) -> Model:
    """An object goes from Off to On and back, at most so often; ``sets`` says what going on writes.

    ``count`` is read by the guard; all other attributes are history.
    """
    history = {
        "first": BoolType(),
        "second": BoolType(),
        "third": LEVELS,
        "number": IntRange(0, 1),
        "other": Ref(A),
    }
    properties = [
        Invariant(name="off-first", says="the first is not recorded", over=[x], then=~x.first),
        Invariant(name="off-second", says="the second is not recorded", over=[x], then=~x.second),
        Invariant(name="low-third", says="the third is low", over=[x], then=x.third == "low"),
        Invariant(name="no-other", says="none is recorded", over=[x], then=x.other == NONE),
        Invariant(name="few", says="it is on at most twice", over=[x], then=x.count <= 2),
        StepInvariant(name="down", says="it goes off", over=[x], given=x.second, then=after(~x.is_("On"))),
        AlwaysCanReach(name="back", says="it can go off", over=[x], given=x.first, goal=x.is_("Off")),
        LeadsTo(name="ends", says="it is recorded at the end", over=[x], given=x.is_("On"), goal=x.second),
    ]
    attributes = [Attribute(name, kind, history=True) for name, kind in history.items()]
    return Model(
        system="toy",
        variant="recorder",
        about="",
        document=Document("none.md", "No document"),
        machines=[
            Machine(
                A,
                states=[State("Off"), State("On")],
                attributes=[Attribute("count", IntRange(0, 2)), *attributes],
                events=[Event("on", {"by": Ref(A)})],
            )
        ],
        rows=[Row(A, "on", "Off", "On", count=me.count + 1, **sets), Row(A, "off", "On", "Off")],
        actions=[
            Action("on", [x, y], [x.is_("Off"), x.count <= 1], [x.fires("on", by=y)], "{x} goes on by {y}"),
            Action("off", [x], [x.is_("On")], [x.fires("off")], "{x} goes off"),
        ],
        rules=[],
        properties=properties,
        default_scope={"A": 2},
    )


def needed(model: Model, name: str) -> set[str]:
    """The names of the history attributes that a property needs."""
    [instance] = instances(model, {})
    return {attribute for _, attribute in Slices(instance).of(model.property(name))}


CHAIN = recorder(first=me.second, second=me.third == "high", third="high")
"""The first is known from the second, the second from the third."""

FAILING = recorder(first=True, second=given("by").first, number=me.number + 1)
"""The update of ``second`` reads an object that an event names; ``number`` leaves its range when an object goes on twice."""


def test_a_slice_has_what_its_updates_read() -> None:
    assert needed(CHAIN, "low-third") == {"third"}
    assert needed(CHAIN, "off-second") == needed(CHAIN, "down") == {"second", "third"}
    assert needed(CHAIN, "off-first") == needed(CHAIN, "back") == {"first", "second", "third"}
    assert needed(CHAIN, "ends") == {"second", "third"}
    assert needed(CHAIN, "no-other") == {"other"}
    assert needed(CHAIN, "few") == set()


@each_row(
    ("sets", "fragile"),
    [
        ({"number": me.number + 1}, {"number"}),
        ({"number": 1}, set()),
        ({"number": me.number}, set()),
        ({"number": me.count}, {"number"}),
        ({"second": given("by").first}, {"first", "second"}),
        ({"second": me.other.first}, {"first", "second", "other"}),
        ({"second": me.other.is_("On")}, {"second", "other"}),
        ({"other": given("by"), "third": "high", "first": me.second & me.is_("On")}, set()),
        ({"first": those(y, y.second).has(me)}, set()),
    ],
)
def test_fragile_is_what_an_update_may_fail_to_write(sets: dict[str, Any], fragile: set[str]) -> None:
    model = recorder(**sets)
    [instance] = instances(model, {})
    assert {name for _, name in Slices(instance).fragile} == fragile
    assert needed(model, "no-other") == fragile | {"other"}
    assert needed(model, "few") == set()


def test_hived_needs_the_record_and_the_placement_apart() -> None:
    needs = {p.name: needed(AS_WRITTEN, p.name) for p in AS_WRITTEN.properties}
    assert needs["record-follows-state"] == {"record"}
    assert needs["placements-are-disjoint"] == {"placement"}
    assert needs["recovery-from-durable"] == {"record", "placement"}
    assert needs["preempting-ends"] == set()
    reading = {p.name for p in AS_WRITTEN.properties if reads_history(AS_WRITTEN, p)}
    assert {name for name, read in needs.items() if read} == reading


@pytest.mark.parametrize("name", NAMES)
def test_only_properties_that_read_history_need_it(name: str) -> None:
    for model in system(name).variants.values():
        instance = next(iter(instances(model, {})))
        for prop in model.properties:
            assert bool(Slices(instance).of(prop)) == reads_history(model, prop), prop.name


# --- The same verdicts, notes and runs -------------------------------------------------------------------------------


def assert_same(model: Model, how: Exploring) -> dict[str, Result]:
    """Slices say what the two graphs say; runs have the same steps and show the same fields."""
    results = sliced(model, how)
    assert results == two_graphs(model, how)
    return results


EVERY_WAY = [SYMMETRIC, FULL, COMPILED, COMPILED_FULL, TWO_THREADS]


@pytest.mark.parametrize("how", EVERY_WAY)
@pytest.mark.parametrize("alone", [False, True], ids=["shared", "alone"])
def test_slices_of_a_toy_say_the_same(alone: bool, how: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    if alone:
        never_shared(monkeypatch)
    results = assert_same(CHAIN, how)
    # The first time, the third is high; the second time, so is what the second records; there is no third time.
    verdicts = {name: (r.verdict, r.counterexample and len(r.counterexample.steps)) for name, r in results.items()}
    assert verdicts["low-third"] == (Verdict.REFUTED, 1)
    assert verdicts["off-second"] == (Verdict.REFUTED, 3)
    assert verdicts["off-first"][0] is verdicts["few"][0] is verdicts["well-formed"][0] is Verdict.PROVED


@each_row("how", EVERY_WAY)
@each_row("alone", [False, True], ids=["shared", "alone"])
def test_ill_formed_history_is_found_in_slices(alone: bool, how: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    if alone:
        never_shared(monkeypatch)
    results = assert_same(FAILING, how)
    # The second time, the number leaves its range: what comes behind it is unknown wherever history is read.
    assert results["well-formed"].verdict is Verdict.REFUTED
    assert results["off-first"].verdict is Verdict.REFUTED
    assert results["low-third"].verdict is Verdict.UNDETERMINED
    assert results["few"].verdict is Verdict.PROVED


@cache
def recorded(seed: int) -> Model:
    """A random model in which each attribute is history that no guard and no rule reads."""
    model = random_model(seed).model
    for field in [(m.sort, a.name) for m in model.machines for a in m.attributes if not a.rigid]:
        machines = [replace(m, attributes=[_as_history(m, a, field) for a in m.attributes]) for m in model.machines]
        with suppress(ModelError):
            model = checked(replace(model, machines=machines))
    return model


def _as_history(machine: Machine, attribute: Attribute, field: tuple[Sort, str]) -> Attribute:
    return replace(attribute, history=attribute.history or (machine.sort, attribute.name) == field)


SOME = (0, 1, 3, 11, 24, 25, 28, 53, 54, 55)
"""Most of these have two slices or three; what such models must have is tested."""

MORE = (12, 18, 19, 21, 40, 43, 44, 45, 49)
"""Others have no property that reads history, or very many states with all of it."""


@pytest.mark.parametrize("alone", [False, True], ids=["shared", "alone"])
@pytest.mark.parametrize("seed", thinned(SOME, 4))
def test_slices_of_random_models_say_the_same(seed: int, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if alone:
        never_shared(monkeypatch)
    assert_same(recorded(seed), FULL)
    assert_same(recorded(seed), SYMMETRIC)


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("seed", MORE)
def test_slices_of_more_random_models_say_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same(recorded(seed), FULL)
    never_shared(monkeypatch)
    assert_same(recorded(seed), FULL)
    assert_same(recorded(seed), COMPILED)


@pytest.mark.long
def test_random_models_have_slices() -> None:
    """Several slices of a model, with properties of every verdict."""
    several, verdicts = 0, set()
    for model in map(recorded, SOME):
        [instance] = instances(model, {})
        needs = {p.name: Slices(instance).of(p) for p in model.properties}
        several += len({need for need in needs.values() if need}) > 1
        verdicts |= {r.verdict for name, r in sliced(model, FULL).items() if needs.get(name)}
    assert several >= 5
    assert verdicts == set(Verdict)


@pytest.mark.parametrize(
    ("model", "alone"),
    [
        pytest.param(AS_WRITTEN, False, id="as written, shared"),
        pytest.param(REPAIRED, True, id="repaired, alone", marks=pytest.mark.long),
        pytest.param(AS_WRITTEN, True, id="as written, alone", marks=pytest.mark.long),
        pytest.param(REPAIRED, False, id="repaired, shared", marks=pytest.mark.long),
    ],
)
def test_slices_of_hived_say_the_same(model: Model, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if alone:
        never_shared(monkeypatch)
    assert_same(model, SYMMETRIC)


@pytest.mark.long(seconds=15, one_in=12)
@pytest.mark.parametrize("how", [FULL, COMPILED], ids=["full", "compiled"])
@pytest.mark.parametrize("name", ["hived", "jobmon"])
def test_slices_of_systems_with_history_say_the_same(name: str, how: Exploring) -> None:
    """The other systems have none: each of their properties needs the graph without."""
    for model in system(name).variants.values():
        if any(a.history for m in model.machines for a in m.attributes):
            assert_same(model, how)


# --- When a search ends ----------------------------------------------------------------------------------------------


def ends(monkeypatch: pytest.MonkeyPatch, model: Model, how: Exploring, **options: Any) -> list[tuple[set[str], str]]:
    """Of each search, the history attributes of its states, and why it stopped."""
    endings = []
    right = Exploring.watch

    def noted(self: Exploring, instance: Instance, *rest: Any, **others: Any) -> Any:
        result = right(self, instance, *rest, **others)
        kept = {a.name for m in model.machines for a in instance.attributes(m.sort.name) if a.history}
        endings.append((kept, result[0].stopped))
        return result

    monkeypatch.setattr(Exploring, "watch", noted)
    model_check(model, {}, how=how, **options)
    return endings


ALL_HISTORY = {"record", "placement"}


@pytest.mark.long
@pytest.mark.parametrize("how", [SYMMETRIC, COMPILED])
def test_one_search_is_shared_where_history_adds_nothing(how: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repaired document keeps its property: record and placement are functions of the state."""
    monkeypatch.setattr(limits, "SMALL", 0)
    monkeypatch.setattr(limits, "GROWTH", 1)
    assert ends(monkeypatch, REPAIRED, how) == [(set(), ""), (ALL_HISTORY, "")]


@pytest.mark.parametrize("how", thinned([SYMMETRIC, COMPILED], 2, first=1))
def test_slices_go_on_alone_where_history_adds_much(how: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record adds no state; placements add some, and those of their properties that are asked here are refuted."""
    monkeypatch.setattr(limits, "SMALL", 0)
    monkeypatch.setattr(limits, "GROWTH", 1)
    held = {"binding-records-the-cells", "only-allocated-groups-record-cells"}
    asked = replace(AS_WRITTEN, properties=[each for each in AS_WRITTEN.properties if each.name not in held])
    first, together, *alone = ends(monkeypatch, asked, how)
    assert first == (set(), "")
    assert together == (ALL_HISTORY, GREW)
    assert ({"record"}, "") in alone
    assert all(why == ALL_REFUTED for kept, why in alone if kept != {"record"})


@pytest.mark.parametrize("how", [SYMMETRIC, COMPILED, TWO_THREADS])
def test_a_search_ends_with_its_last_property(how: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["placements-are-disjoint", "placement-is-what-it-uses"]
    assert ends(monkeypatch, AS_WRITTEN, how, only=asked) == [({"placement"}, ALL_REFUTED)]
    more = [*asked, "record-follows-state"]
    assert ends(monkeypatch, AS_WRITTEN, how, only=more) == [({"record"}, ""), ({"placement"}, ALL_REFUTED)]


def test_graphs_of_whole_runs_are_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody measures on the way whether the graph of several slices is much larger."""
    kept, right = [], Exploring.graph

    def noted(self: Exploring, instance: Instance, *rest: Any) -> Any:
        kept.append({a.name for a in instance.attributes("A") if a.history})
        return right(self, instance, *rest)

    monkeypatch.setattr(Exploring, "graph", noted)
    model = replace(CHAIN, properties=[CHAIN.property(name) for name in ("back", "ends")])
    assert_same(model, FULL)
    every = {"first", "second", "third", "number", "other"}
    assert kept == [{"first", "second", "third"}, {"second", "third"}, every]


@pytest.mark.parametrize("how", [SYMMETRIC, COMPILED])
def test_states_that_are_counted_are_all_found(how: Exploring, monkeypatch: pytest.MonkeyPatch) -> None:
    refuted = ["allocated-has-cells"]
    counts: list[int] = []
    model = replace(AS_WRITTEN, properties=[AS_WRITTEN.property(refuted[0])], refuted=frozenset(refuted))
    explored(model, {}, only=refuted, how=how, on_found=lambda result: counts.append(result.state_count))
    explored(model, {}, how=how, on_found=lambda result: counts.append(result.state_count))
    [instance] = instances(model, {})
    assert counts == [explore(instance, symmetry=False).state_count] * 2
    assert ends(monkeypatch, model, how, only=refuted) == [(set(), ALL_REFUTED)]


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def nothing_is_fragile(instance: Instance, field: Any, value: Any, self_value: Any) -> bool:
    """No update of history is said to fail."""
    return True


def only_what_is_named(self: Slices, fields: Any) -> frozenset[Any]:
    """What updates read is forgotten."""
    return frozenset(fields)


def first_is_forgotten(self: Slices, fields: Any) -> frozenset[Any]:
    """Of each slice one attribute is left out."""
    return frozenset(sorted(RIGHT_CLOSED(self, fields))[1:])


def one_is_enough(self: Enough, depth: int, states: int, *, refuted: bool) -> str:
    """A search ends at once, whatever is refuted."""
    return ALL_REFUTED if self.until_refuted else RIGHT_REASON(self, depth, states, refuted=refuted)


def shared_is_final(self: Any, watches: Any) -> Any:
    """Where history multiplies the states, nothing is left to other searches."""
    return watches


SMALL_HIVED = replace(AS_WRITTEN, default_scope={"PodGroup": 2, "Cell": 2}, verify_scope={})

RIGHT_CLOSED, RIGHT_REASON = Slices._closed, Enough.reason

FAULTS = [
    (slices, "_never_fails", nothing_is_fragile, FAILING),
    (Slices, "_closed", only_what_is_named, CHAIN),
    (Slices, "_closed", first_is_forgotten, CHAIN),
    (Enough, "reason", one_is_enough, CHAIN),
    (model_checking._Search, "_refuted_only", shared_is_final, CHAIN),
    (Instance, "unsliced", property(lambda self: self), SMALL_HIVED),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "model"),
    thinned(FAULTS, 3, first=1),
    ids=[getattr(f[2], "__name__", f[1]) for f in FAULTS],
)
def test_a_fault_in_slices_is_noticed(
    where: Any, name: str, wrong: Any, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_shared(monkeypatch)
    assert_same(model, FULL)
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises((AssertionError, KeyError)):
        assert_same(model, FULL)

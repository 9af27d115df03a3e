"""Properties that read one point of history, checked on the graph without history, beside searches with all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from random import Random
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
    Int,
    IntRange,
    Invariant,
    Machine,
    Model,
    Property,
    Recovery,
    Ref,
    Restored,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    Term,
    Var,
    after,
    exists,
    forall,
    given,
    iff,
    implies,
    me,
    those,
    variable,
    variables,
)
from schedproof.model.lang.check import checked
from schedproof.model.lang.terms import firings
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, instances
from schedproof.model.semantics.evaluate import Owner, reads
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.model.systems.hived.machines import p
from schedproof.proofs import compiled
from schedproof.proofs.checking import model_check as model_checking
from schedproof.proofs.checking import slices
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.checking.slices import Slices
from schedproof.proofs.compiled import carry, histories
from schedproof.proofs.compiled.histories import Histories
from schedproof.proofs.exploration import pointwise as pointwise_module
from schedproof.proofs.exploration.pointwise import Point, point_of
from schedproof.proofs.verdict import Result, Verdict
from tests.proofs.checking.test_slices import recorded
from tests.proofs.checking.two_graphs import two_graphs, untimed
from tests.support.rows import each_row
from tests.support.sample import thinned

FULL, TWO_THREADS = Exploring(Engine.COMPILED, symmetry=False), Exploring(Engine.COMPILED, symmetry=False, threads=2)
SYMMETRIC = Exploring(Engine.COMPILED)
INTERPRETED = Exploring(Engine.INTERPRETED, symmetry=False)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Follows points on every compiled graph, and returns the names of the properties that this decides."""
    monkeypatch.setattr(model_checking, "FOLLOWED", 0)
    names: set[str] = set()
    right = Histories.holding.fget
    assert right is not None

    def noted(self: Histories) -> Any:
        result = right(self)
        names.update(each.prop.name for each in result)
        return result

    monkeypatch.setattr(Histories, "holding", property(noted))
    return names


def followed(model: Model, how: Exploring = FULL, **options: Any) -> dict[str, Result]:
    """The results by property; each is about one configuration, or about all."""
    results = model_check(model, {}, how=how, **options)
    assert {r.configurations for r in results} <= {1, len(list(instances(model, {})))}
    return {r.name: untimed(r) for r in results}


def pointwise(model: Model) -> set[str]:
    """The names of the properties that read one point of history."""
    needs = Slices(next(instances(model, {})))
    return {p.name for p in model.properties if needs.is_pointwise(p)}


def assert_same(model: Model, held: set[str], how: Exploring = FULL) -> dict[str, Result]:
    """The graph without history decides exactly what is not refuted, and all is as on the graph with all history."""
    held.clear()
    results, expected = followed(model, how), two_graphs(model, how)
    assert results == expected
    assert held == {name for name in pointwise(model) if expected[name].verdict is not Verdict.REFUTED}
    return results


# --- What reads one point --------------------------------------------------------------------------------------------

A, B = Sort("A", "a"), Sort("B", "b")
x, y = variables(A, "x y")
b, c = variables(B, "b c")
LEVELS = EnumType(("low", "high"))


def recorder(properties: Sequence[Property], **sets: Any) -> Model:
    """An object of A goes on with an object of B, and off again; ``sets`` says what going on writes."""
    history = {
        "noted": BoolType(),
        "level": LEVELS,
        "last": Ref(B),
        "all": SetOf(B),
        "peer": Ref(A),
        "times": IntRange(0, 1),
    }
    return Model(
        system="toy",
        variant="recorder",
        about="",
        document=Document("none.md", "No document"),
        machines=[
            Machine(
                A,
                states=[State("Off"), State("On")],
                attributes=[
                    Attribute("friend", Ref(A)),
                    Attribute("kept", SetOf(B)),
                    *[Attribute(name, kind, history=True) for name, kind in history.items()],
                ],
                events=[Event("on", {"with_": Ref(B), "those_": SetOf(B)})],
            ),
            Machine(B, states=[State("Here")], attributes=[]),
        ],
        rows=[Row(A, "on", "Off", "On", **sets), Row(A, "off", "On", "Off", friend=me)],
        actions=[
            Action("on", [x, b], [x.is_("Off")], [x.fires("on", with_=b, those_=x.kept)], "{x} goes on with {b}"),
            Action("off", [x], [x.is_("On")], [x.fires("off")], "{x} goes off"),
        ],
        rules=[],
        properties=properties,
        default_scope={"A": 2, "B": 2},
    )


def invariant(then: Term, premise: Term | None = None, over: Sequence[Var] = (x, b)) -> Invariant:
    return Invariant(name="said", says="", over=over, given=premise, then=then)


def step_invariant(then: Term, premise: Term | None = None, over: Sequence[Var] = (x, b), **more: Any) -> StepInvariant:
    return StepInvariant(name="said", says="", over=over, given=premise, then=then, **more)


NOTED, LEVEL, ALL = Point(("A", "noted"), "x"), Point(("A", "level"), "x"), Point(("A", "all"), "x", "b")


@each_row(
    ("prop", "point"),
    [
        (invariant(x.noted), NOTED),
        (invariant(x.is_("On"), x.noted), NOTED),
        (invariant(iff(x.level == "low", x.is_("Off")), ~(x.level == "high")), LEVEL),
        (invariant(x.all.has(b)), ALL),
        (invariant(implies(x.kept.has(b), x.all.has(b)), x.is_("On")), ALL),
        (invariant(exists(y, y.is_("On")) | x.noted), NOTED),
        (invariant(implies(x == y, x.noted), over=[x, y]), NOTED),
        (step_invariant(after(x.noted), x.noted), NOTED),
        (step_invariant(after(iff(x.all.has(b), x.is_("On"))), x.fires("on", with_=b)), ALL),
        (step_invariant(x.noted, on=["on"]), NOTED),
    ],
)
def test_a_condition_with_one_point(prop: Any, point: Point) -> None:
    assert point_of(checked(recorder([prop])), prop) == point


@each_row(
    "prop",
    [
        invariant(x.is_("On")),
        invariant(x.noted & (x.level == "low")),
        invariant(implies(x.noted, y.noted), over=[x, y]),
        invariant(implies(x == y, y.noted), x.noted, over=[x, y]),
        invariant(exists(x, x.noted), over=[]),
        invariant(exists(x, x.noted) | x.noted),
        invariant(forall(b, x.all.has(b)) | x.all.has(b)),
        invariant(exists(c, x.all.has(c))),
        invariant(x.all.has(b) & ~x.all.has(c), over=[x, b, c]),
        invariant(x.all.without(b).has(b)),
        invariant(x.all.has(b), x.all.with_(b).has(b)),
        invariant(x.friend.noted, ~(x.friend == NONE)),
        invariant(x.noted, x.friend.is_("On")),
        invariant(x.peer.noted),
        invariant(x.all.has(x.last)),
        step_invariant(after(x.friend.noted), over=[x]),
        step_invariant(x.noted, over=[b], on=["off"]),
        step_invariant(x.all.has(b), over=[x], on=["on"]),
    ],
)
def test_a_condition_with_no_point_or_several(prop: Any) -> None:
    assert point_of(checked(recorder([prop])), prop) is None


@each_row(
    ("sets", "expected"),
    [
        ({"noted": True}, True),
        ({"noted": me.is_("On"), "all": given("those_")}, True),
        ({"noted": me.noted}, False),
        ({"noted": me.level == "low"}, False),
        ({"noted": me.kept.has(given("with_"))}, True),
        ({"times": 2 - 1}, True),
        ({"noted": me.friend.is_("On")}, False),
    ],
)
def test_updates_with_history_need_their_slice(sets: dict[str, Any], expected: bool) -> None:
    """The last update reads an object that may be none: such a step is ill-formed where history is written."""
    assert pointwise(recorder([invariant(x.noted)], **sets)) == ({"said"} if expected else set())


# --- The same verdicts -----------------------------------------------------------------------------------------------

EVERY_UPDATE = {
    "noted": me.kept.has(given("with_")),
    "level": "high",
    "last": given("with_"),
    "all": given("those_").with_(given("with_")),
    "kept": me.kept.with_(given("with_")),
}

ABOUT_THE_RECORDER = [
    Invariant(name="low-at-first", says="", over=[x], given=x.is_("On"), then=x.level == "high"),
    Invariant(name="never-high", says="", over=[x], then=x.level == "low"),
    Invariant(name="last-is-kept", says="", over=[x, b], given=x.last == b, then=x.kept.has(b)),
    Invariant(name="all-is-kept", says="", over=[x, b], then=iff(x.all.has(b), x.kept.has(b))),
    Invariant(name="noted-once", says="", over=[x, b], given=x.noted, then=x.kept.has(b)),
    Invariant(name="vacuous", says="", over=[x], given=(x.last == NONE) & x.is_("On"), then=x.noted),
    StepInvariant(name="grows", says="", over=[x, b], given=x.all.has(b), then=after(x.all.has(b))),
    StepInvariant(name="stays", says="", over=[x], given=x.noted, then=after(x.noted), on=["off"]),
    StepInvariant(name="changes", says="", over=[x], given=x.noted, then=after(x.noted)),
    StepInvariant(name="with", says="", over=[x, b], given=x.fires("on", with_=b), then=after(x.last == b)),
    StepInvariant(name="before", says="", over=[x, b], given=x.fires("on", with_=b), then=x.last == b),
    StepInvariant(
        name="another", says="", over=[x, y], given=~(x == y) & y.fires("on"), then=iff(x.noted, after(x.noted))
    ),
    AlwaysCanReach(name="reach", says="", over=[x], goal=x.is_("On")),
]


TOY = recorder(ABOUT_THE_RECORDER, **EVERY_UPDATE)


@pytest.mark.long
@pytest.mark.parametrize(
    "how", [pytest.param(FULL, marks=pytest.mark.long(one_in=32)), SYMMETRIC], ids=["full", "symmetric"]
)
def test_points_of_a_toy_say_the_same(how: Exploring, held: set[str]) -> None:
    results = assert_same(TOY, held, how)
    assert {name for name, r in results.items() if r.verdict is Verdict.REFUTED} == {
        "never-high", "noted-once", "changes", "before",
    }  # fmt: skip
    assert results["vacuous"].vacuous


@pytest.mark.long(one_in=6)
def test_points_hold_with_two_threads(held: set[str]) -> None:
    """Which of the shortest counterexamples is shown depends on the threads."""
    verdicts = {name: r.verdict for name, r in followed(TOY, TWO_THREADS).items()}
    assert verdicts == {name: r.verdict for name, r in two_graphs(TOY, FULL).items()}
    assert held == {name for name in pointwise(TOY) if verdicts[name] is not Verdict.REFUTED}


@pytest.mark.parametrize("sort", ["A", "B"])
def test_points_of_no_objects_say_the_same(sort: str, held: set[str]) -> None:
    """A configuration may leave a sort without objects."""
    flag = Attribute("flag", BoolType(), rigid=True)
    machines = [replace(m, attributes=[*m.attributes, flag]) for m in TOY.machines]
    assert_same(replace(TOY, machines=machines, configurations=lambda sizes: [{(sort, "flag"): []}]), held)


@pytest.mark.parametrize("model", thinned([AS_WRITTEN, REPAIRED], 2, first=1), ids=["as written", "repaired"])
def test_points_of_hived_say_the_same(model: Model, held: set[str]) -> None:
    small = replace(model, default_scope={"PodGroup": 2, "Cell": 3}, verify_scope={})
    assert_same(small, held)
    assert held >= {"record-follows-state", "only-allocated-groups-record-cells", "binding-records-the-cells"}


@pytest.mark.long(seconds=15, one_in=12)
@pytest.mark.parametrize("name", ["beaker", "hived", "jobmon"])
def test_points_of_systems_say_the_same(name: str, held: set[str]) -> None:
    for model in system(name).variants.values():
        if any(a.history for m in model.machines for a in m.attributes):
            assert_same(model, held)


def test_points_decide_where_only_they_are_asked(held: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices are tried first; the graph without history comes after so many states."""
    asked = "only-allocated-groups-record-cells"
    expected = two_graphs(AS_WRITTEN, FULL)[asked]
    assert followed(AS_WRITTEN, only=[asked]) == {asked: expected}
    assert held == set()
    monkeypatch.setattr(model_checking, "TRIED", 0)
    monkeypatch.setattr("schedproof.proofs.exploration.limits.SMALL", 0)
    assert followed(AS_WRITTEN, only=[asked]) == {asked: expected}
    assert held == {asked}


def test_points_leave_what_they_refute_to_a_search(held: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_checking, "TRIED", 0)
    monkeypatch.setattr("schedproof.proofs.exploration.limits.SMALL", 0)
    asked = "placement-is-what-it-uses"
    assert followed(AS_WRITTEN, only=[asked]) == {asked: two_graphs(AS_WRITTEN, FULL)[asked]}
    assert held == set()


def test_points_prove_nothing_without_a_graph(held: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that takes more memory than is allowed is not made, and slices are searched."""
    asked = ["record-follows-state", "group-can-always-be-deleted"]
    expected = two_graphs(AS_WRITTEN, FULL)
    monkeypatch.setattr(compiled, "memory_of", lambda *arguments: 1 << 60)
    results = followed(AS_WRITTEN, replace(FULL, memory=8 << 30), only=asked)
    assert held == set()
    assert results[asked[0]] == expected[asked[0]]
    assert results[asked[1]].verdict is Verdict.UNDETERMINED


@pytest.mark.parametrize("right", [True, False])
def test_points_of_a_recovery(right: bool, held: set[str]) -> None:
    """Each part has a point; one part of the wrong recovery takes the record of the state after for another one."""
    restores = [
        Restored([p], p.is_("Pending"), p.record == "submitted"),
        Restored([p], p.is_("Allocated"), p.record == ("bound" if right else "deleted")),
    ]
    prop = Recovery(name="recovery", says="", restores=restores)
    reach = AS_WRITTEN.property("group-can-always-be-deleted")
    model = replace(AS_WRITTEN, properties=[prop, reach], refuted=frozenset(), verify_scope={})
    results = assert_same(replace(model, default_scope={"PodGroup": 2, "Cell": 2}), held)
    assert results["recovery"].verdict is (Verdict.PROVED if right else Verdict.REFUTED)
    assert held == ({"recovery"} if right else set())


def test_properties_with_too_many_points_are_left(held: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    right = histories.tracks
    monkeypatch.setattr(
        histories, "tracks", lambda i, fields: None if ("PodGroup", "placement") in fields else right(i, fields)
    )
    small = replace(AS_WRITTEN, default_scope={"PodGroup": 2, "Cell": 2}, verify_scope={})
    assert followed(small) == two_graphs(small, FULL)
    assert held == {"record-follows-state"}


@pytest.mark.parametrize(
    ("kind", "bits"), [(IntRange(0, 62), 63), (IntRange(0, 63), None), (IntRange(0, 1 << 50), None)]
)
def test_points_of_an_attribute_with_many_values(kind: IntRange, bits: int | None) -> None:
    attributes = [Attribute("times", kind, history=True)]
    machine = Machine(A, states=[State("S0")], attributes=attributes)
    model = replace(ROUND, machines=[machine], rows=[], actions=[], properties=[], default_scope={"A": 4})
    track = histories.tracks(Instance(model, {"A": 4}), [("A", "times")])
    assert (track and track["A", "times"].places) == (bits and (0, 64, 128, 192))
    assert histories.tracks(Instance(model, {"A": 5}), [("A", "times")]) is None


@pytest.mark.parametrize("graph", [1 << 60, 0], ids=["no graph", "no points"])
def test_points_that_take_too_much_memory_are_searched(
    graph: int, held: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said by a pass that was not made; and a graph that fits without points is made without them."""
    monkeypatch.setattr(compiled, "memory_of", lambda reached, points=None: 1 << 60 if points is not None else graph)
    expected = two_graphs(TOY, FULL)
    results = followed(TOY, replace(FULL, memory=1 << 50))
    assert {name for name, r in results.items() if r != expected[name]} == ({"reach"} if graph else set())
    assert held == set()


# --- Random properties of random models ------------------------------------------------------------------------------


class Maker:
    """Makes properties at random about one history attribute of a model."""

    def __init__(self, model: Model, machine: Machine, attribute: Attribute, chance: Random) -> None:
        self.model, self.attribute, self.chance = model, attribute, chance
        self.of = variable(machine.sort, "of")
        other = attribute.type.sort if isinstance(attribute.type, Ref | SetOf) else chance.choice(model.machines).sort
        self.element = variable(other, "element")
        self.over = [self.of, self.element]
        chance.shuffle(self.over)

    def history(self) -> Term:
        """Reads the history of ``of``; now and then of the other object, if it has some."""
        who = self.of
        if self.chance.random() < 0.05 and self.element.type == self.of.type:
            who = self.element
        value = getattr(who, self.attribute.name)
        match self.attribute.type:
            case BoolType():
                return value
            case EnumType(values):
                return value == self.chance.choice(values)
            case IntRange(low, high):
                number = self.chance.randint(low, high)
                return self.chance.choice([value == number, value <= number, value < number])
            case SetOf():
                return value.has(self.element)
        return value == self.chance.choice([self.element, NONE])

    def plain(self, *, step: bool) -> Term:
        """Reads no history."""
        who = self.chance.choice(self.over)
        assert isinstance(who.type, Ref)
        machine = self.model.machine(who.type.sort)
        events = sorted({row.event for row in self.model.table(machine.sort)})
        flags = [a.name for a in machine.attributes if not a.history and isinstance(a.type, BoolType)]
        inner = variable(machine.sort, "inner")
        state = self.chance.choice(machine.states).name
        ways: list[Callable[[], Term]] = [
            lambda: who.is_(state),
            lambda: exists(inner, inner.is_(state) & ~(inner == who)),
        ]
        if flags:
            ways.append(lambda: getattr(who, self.chance.choice(flags)))
        if step and events:
            ways += [lambda: who.fires(self.chance.choice(events))] * 2
        if self.of.type == self.element.type:
            ways.append(lambda: self.of == self.element)
        return self.chance.choice(ways)()

    def formula(self, depth: int, *, step: bool, history: bool = True) -> Term:
        """A condition."""
        if depth == 0:
            atom = self.history() if history and self.chance.random() < 0.6 else self.plain(step=step)
            fires = any(True for _ in firings(atom))
            return after(atom) if step and not fires and self.chance.random() < 0.4 else atom
        parts = [self.formula(self.chance.randrange(depth), step=step, history=history) for _ in range(2)]
        join = self.chance.choice([iff, implies, lambda p, q: p & q, lambda p, q: p | q, lambda p, q: p & ~q])
        return join(*parts)

    def properties(self, many: int) -> list[Property]:
        """Invariants and step invariants."""
        made: list[Property] = []
        for n in range(many):
            step = n % 2 == 1
            premise = self.formula(1, step=step, history=n % 3 == 0) if self.chance.random() < 0.7 else None
            what: dict[str, Any] = {"over": self.over, "given": premise, "then": self.formula(2, step=step), "says": ""}
            name = f"{self.attribute.name}-{n}-of-{self.of.type}"
            made.append(StepInvariant(name=name, **what) if step else Invariant(name=name, **what))
        return made


def _plainly(row: Row, instance: Instance) -> Row:
    """A row without the updates of history that may fail or that read history."""
    history = {(m.sort.name, a.name) for m in instance.model.machines for a in m.attributes if a.history}
    owner = Owner(row.sort.name, row.event)
    sets = {
        name: value
        for name, value in row.sets
        if (row.sort.name, name) not in history
        or (
            not history & set(reads(instance, value, owner))
            and slices._never_fails(instance, (row.sort.name, name), value, owner)
        )
    }
    return Row(row.sort, row.event, row.source, row.target, **sets)


@cache
def with_points(seed: int) -> Model:
    """A random model with history, and random properties that read it at one point, most of them."""
    model, chance = recorded(seed), Random(seed)
    instance = next(instances(model, {}, with_history=True))
    model = checked(replace(model, rows=[_plainly(row, instance) for row in model.rows], properties=[]))
    made: list[Property] = []
    for machine in model.machines:
        for attribute in machine.attributes:
            if attribute.history:
                made += Maker(model, machine, attribute, chance).properties(8)
    return checked(replace(model, properties=made))


SOME = (0, 1, 3, 11, 24, 25, 28, 53)


@pytest.mark.parametrize("seed", thinned(SOME, 8))
def test_points_of_random_models_say_the_same(seed: int, held: set[str]) -> None:
    model = with_points(seed)
    assert followed(model) == two_graphs(model, INTERPRETED)
    assert_same(model, held)


@pytest.mark.long(one_in=24)
@pytest.mark.parametrize("seed", range(100, 200))
def test_points_of_more_random_models_say_the_same(seed: int, held: set[str]) -> None:
    model = with_points(seed)
    if model.properties:
        assert followed(model) == two_graphs(model, INTERPRETED)
        assert_same(model, held)


def cut_short(model: Model) -> Model:
    """The model with its numbers, other than history, as integers with a bound that is one less than their range."""
    bound, machines = {}, []
    for machine in model.machines:
        attributes = []
        for a in machine.attributes:
            if isinstance(a.type, IntRange) and not a.history and not a.rigid:
                bound[machine.sort.name, a.name] = a.type.low, max(a.type.high - 1, int(a.initial or a.type.low))
                a = replace(a, type=Int, initial=a.type.low if a.initial is None else a.initial)
            attributes.append(a)
        machines.append(replace(machine, attributes=attributes))
    endless = checked(replace(model, machines=machines, bound=bound))
    instance = next(instances(endless, {}, with_history=True))
    return checked(replace(endless, rows=[_plainly(row, instance) for row in model.rows]))


@pytest.mark.parametrize("seed", thinned((8, 24, 44, 49, 53, 55, 56), 8))
def test_points_within_bounds_say_the_same(seed: int, held: set[str]) -> None:
    model = cut_short(with_points(seed))
    results = assert_same(model, held)
    assert results == two_graphs(model, INTERPRETED)
    assert {name for name in held if results[name].within}


@pytest.mark.long
def test_random_models_have_points() -> None:
    """Properties with one point, of every kind and verdict, and some with several."""
    with_one, verdicts, several = 0, set(), 0
    for model in map(with_points, SOME[:4]):
        names = pointwise(model)
        results = followed(model)
        verdicts |= {(results[p.name].verdict, p.kind) for p in model.properties if p.name in names}
        with_one, several = with_one + len(names), several + len(model.properties) - len(names)
    assert with_one > 4 * several > 0
    assert verdicts >= {(v, k) for v in (Verdict.PROVED, Verdict.REFUTED) for k in (Invariant.kind, StepInvariant.kind)}


@pytest.mark.parametrize(
    "model",
    thinned([TOY, AS_WRITTEN, *map(with_points, [0, 3])], 3, first=2),
    ids=["toy", "hived", "random", "another"],
)
def test_points_in_several_numbers(model: Model, held: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each object's bits begin in a number of their own, at another bit."""
    right = histories.tracks

    def spread_out(instance: Instance, fields: Any) -> Any:
        result, number = right(instance, fields), count()
        assert result is not None
        return {
            field: replace(track, places=tuple(64 * (n := next(number)) + n % 3 for _ in track.places))
            for field, track in result.items()
        }

    monkeypatch.setattr(histories, "tracks", spread_out)
    small = replace(model, default_scope={"PodGroup": 2, "Cell": 2}) if model is AS_WRITTEN else model
    assert_same(small, held)
    assert held


# --- Seeded faults ---------------------------------------------------------------------------------------------------


def first_point(model: Model, condition: Any) -> Point | None:
    """Of several points one is taken for all."""
    parts = [part for part in (condition.given, condition.then) if part is not None]
    points = [each for part in parts for each in pointwise_module._points(model, part) if each is not None]
    return points[0] if points and points[0].of in {v.name for v in condition.over} else None


def shadowed_point(model: Model, condition: Any) -> Point | None:
    """A variable that a quantifier binds again is taken for the outer one."""
    parts = [part for part in (condition.given, condition.then) if part is not None]
    points = {each for part in parts for each in pointwise_module._points(model, part)}
    return points.pop() if len(points) == 1 else None


def two_objects(then: Term) -> Model:
    """A property that reads history of two objects, or of one that a quantifier chooses."""
    return recorder([invariant(then, over=[x, y]), ABOUT_THE_RECORDER[-1]], **EVERY_UPDATE)


def changing(self: Slices, prop: Property) -> bool:
    """Updates that read history are overlooked."""
    return all(point_of(self._instance.model, each) for each in slices.conditions_of(self._instance.model, prop))


def all_silent(self: Any, number: int) -> bool:
    return True


def nothing_again(*arguments: Any) -> int:
    """States that get values later do not pass them on."""
    return 0


def never_undone(self: Any) -> None:
    """What one step writes is written by the next one too."""


def all_elements(self: Any, number: Any) -> Any:
    return number


READING = recorder(
    [Invariant(name="low", says="", over=[x], given=x.noted, then=x.level == "low"), ABOUT_THE_RECORDER[-1]],
    noted=me.level == "high",
    level="high",
)


def walk(rows: Sequence[Row], prop: Property) -> Model:
    """One object that goes from state to state; each event is an action."""
    sources: dict[str, list[str]] = {}
    for row in rows:
        sources.setdefault(row.event, []).append(row.source)
    return replace(
        TOY,
        machines=[
            Machine(
                A, states=[State(f"S{n}") for n in range(4)], attributes=[Attribute("noted", BoolType(), history=True)]
            )
        ],
        rows=rows,
        actions=[
            Action(event, [x], [x.is_(*names)], [x.fires(event)], f"{{x}} does {event}")
            for event, names in sources.items()
        ],
        properties=[prop, AlwaysCanReach(name="reach", says="", over=[x], goal=x.is_("S3"))],
        default_scope={"A": 1},
    )


ROUND = walk(
    [
        Row(A, "go", "S0", "S1"),
        Row(A, "go", "S1", "S2", noted=True),
        Row(A, "back", "S2", "S1"),
        Row(A, "end", "S1", "S3"),
    ],
    Invariant(name="ends-without", says="", over=[x], given=x.is_("S3"), then=~x.noted),
)
"""Only the second end has something noted: the state before it gets that after its steps were taken."""

LOOP = walk(
    [
        Row(A, "go", "S0", "S1"),
        Row(A, "note", "S0", "S0", noted=True),
        Row(A, "on", "S1", "S2"),
        Row(A, "end", "S2", "S3"),
    ],
    Invariant(name="ends-without", says="", over=[x], given=x.is_("S3"), then=~x.noted),
)
"""The state notes something without a change of its own, after the step that passes it on."""

DESCENT = walk(
    [
        Row(A, "go", "S0", "S1"),
        Row(A, "go", "S1", "S2"),
        Row(A, "back", "S2", "S1"),
        Row(A, "note", "S2", "S2", noted=True),
        Row(A, "end", "S1", "S3"),
    ],
    Invariant(name="ends-without", says="", over=[x], given=x.is_("S3"), then=~x.noted),
)
"""What is noted late goes on to a state with a lower number, and from there to the end."""

BY_RULE = replace(
    recorder(
        [
            Invariant(name="unobserved", says="", over=[b], then=~b.seen),
            Invariant(name="seen-there", says="", over=[b], given=b.is_("There"), then=b.seen),
            ABOUT_THE_RECORDER[-1],
        ],
    ),
    machines=[
        TOY.machines[0],
        Machine(B, states=[State("Here"), State("There")], attributes=[Attribute("seen", BoolType(), history=True)]),
    ],
    rows=[*TOY.rows, Row(B, "see", "Here", "There", seen=True)],
    rules=[Rule("seeing", x.fires("on", with_=b), [b.is_("Here")], b.fires("see"))],
)
"""Only an event that a rule fires writes this history."""


@pytest.mark.parametrize("first", [True, False])
def test_one_part_of_a_recovery_refutes_it(first: bool, held: set[str]) -> None:
    """Each part is a condition of its own."""
    parts = [
        Restored([x], x.noted, x.disk),
        Restored([x], x.noted | x.is_("S0"), x.disk | ~x.disk),
    ]
    model = walk(
        [Row(A, "go", "S0", "S1", noted=True), Row(A, "crash", "S1", "S0"), *ROUND.rows[1:]],
        Recovery(name="restored", says="", restores=parts if first else parts[::-1]),
    )
    disk = Attribute("disk", BoolType(), durable=True)
    machines = [replace(m, attributes=[*m.attributes, disk]) for m in model.machines]
    actions = [replace(a, crash=a.name == "crash") for a in model.actions]
    results = assert_same(replace(model, machines=machines, actions=actions), held)
    assert results["restored"].verdict is Verdict.REFUTED


WIDE = replace(
    walk(
        [
            Row(A, "go", "S0", "S1", noted=7, mates=those(x, x.is_("S1", "S2"))),
            Row(A, "go", "S1", "S2", noted=33),
            Row(A, "back", "S2", "S1", mates=those(x, x.is_("S0"))),
            Row(A, "end", "S1", "S3", noted=3),
        ],
        invariant(x.is_("S0"), over=[x]),
    ),
    machines=[
        Machine(
            A,
            states=[State(f"S{n}") for n in range(4)],
            attributes=[
                Attribute("noted", IntRange(3, 33), history=True, initial=20),
                Attribute("mates", SetOf(A), history=True),
            ],
        )
    ],
    default_scope={"A": 3},
)
"""Its values take two numbers for each state."""


@pytest.mark.long
def test_points_in_several_numbers_say_the_same(held: set[str]) -> None:
    """Properties at random of both attributes."""
    [machine] = WIDE.machines
    made = [p for a in machine.attributes for p in Maker(WIDE, machine, a, Random(5)).properties(24)]
    model = replace(WIDE, properties=[*made, AlwaysCanReach(name="reach", says="", over=[x], goal=x.is_("S3"))])
    tracks = histories.tracks(next(instances(model, {})), [("A", a.name) for a in machine.attributes])
    assert tracks is not None
    assert max(tracks["A", "noted"].places) >= histories.WIDTH > max(tracks["A", "mates"].places)
    results = assert_same(model, held)
    steps = {p.name for p in model.properties if isinstance(p, StepInvariant)} & pointwise(model)
    assert {results[name].verdict for name in steps} >= {Verdict.PROVED, Verdict.REFUTED}


@each_row("high", range(0, 63, 2))
def test_all_bits_of_an_object_are_in_one_number(high: int) -> None:
    [machine] = WIDE.machines
    number = Attribute("number", IntRange(0, high), history=True)
    model = replace(WIDE, machines=[replace(machine, attributes=[*machine.attributes, number])])
    tracks = histories.tracks(next(instances(model, {})), [("A", "mates"), ("A", "number")])
    assert tracks is not None
    ranges = [range(at, at + each.values * each.elements) for each in tracks.values() for at in each.places]
    assert all(bits[0] // histories.WIDTH == bits[-1] // histories.WIDTH for bits in ranges)
    assert len(set().union(*ranges)) == sum(map(len, ranges)), "no bit is of two objects"


VARIED = walk(
    [
        Row(A, "go", "S0", "S1"),
        Row(A, "go", "S1", "S2", noted=False),
        Row(A, "turn", "S2", "S3", noted=True),
        Row(A, "back", "S3", "S1"),
    ],
    Invariant(name="cleared", says="", over=[x], given=x.is_("S2"), then=~x.noted),
)
"""Going on keeps what is noted, or clears it: that depends on the state."""


def like_the_first(*arguments: Any) -> Any:
    """A choice keeps in all states what it keeps in the first one."""
    kinds = next(each for each in arguments if isinstance(each, carry.Carried)).kinds
    kinds[kinds == carry.VARIED] = carry.FIXED
    return RIGHT_SETTLE(*arguments)


RIGHT_SETTLE = histories.settle

FAULTS = [
    (slices, "point_of", first_point, two_objects(~(x.noted & ~y.noted))),
    (slices, "point_of", shadowed_point, two_objects(exists(x, x.level == "low") | x.is_("On"))),
    (Slices, "is_pointwise", changing, READING),
    (histories._Writer, "silent", all_silent, TOY),
    (histories._Writer, "_before_updates", never_undone, TOY),
    (histories.Track, "value", all_elements, TOY),
    (histories, "settle", nothing_again, ROUND),
    (histories, "settle", nothing_again, LOOP),
    (histories, "settle", nothing_again, DESCENT),
    (histories._Writer, "silent", all_silent, BY_RULE),
    (histories, "settle", like_the_first, VARIED),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "model"),
    thinned(FAULTS, 3, first=2),
    ids=[f"{f[2].__name__}-{n}" for n, f in enumerate(FAULTS)],
)
def test_a_fault_in_points_is_noticed(
    where: Any, name: str, wrong: Any, model: Model, held: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_same(model, held)
    monkeypatch.setattr(where, name, wrong)
    if name == "point_of":
        monkeypatch.setattr(histories, name, wrong)
    with pytest.raises((AssertionError, KeyError)):
        assert_same(model, held)


@pytest.mark.parametrize(("follows", "made"), [(0, True), (10**9, False)])
def test_code_that_follows_points_is_made_for_graphs_that_use_it(
    follows: int, made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making it takes longer than most searches."""
    calls, right = list[Instance](), histories.histories_of

    def noted(instance: Instance, *arguments: Any, **options: Any) -> Histories | None:
        calls.append(instance)
        return right(instance, *arguments, **options)

    monkeypatch.setattr(model_checking, "FOLLOWED", follows)
    monkeypatch.setattr(histories, "histories_of", noted)
    model = AS_WRITTEN
    assert pointwise(model) and any(isinstance(p, AlwaysCanReach) for p in model.properties)
    results = model_check(model, {}, how=Exploring(Engine.COMPILED))
    assert bool(calls) == made and results

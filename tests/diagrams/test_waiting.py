"""Wait-for graphs: blocked owners against a reduction written apart, circles by hand, states of Beaker by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.representation import Diagram, EdgeKind
from schedproof.diagrams.waiting import NOTHING, Hold, Wait, WaitGraph, observed, wait_for
from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, State
from schedproof.model.systems.beaker.waits import WAITS
from tests.support.needs import needs_dot
from tests.support.picture_readers import laid_out, text
from tests.support.rows import each_row


def graph(holds: str, waits: str) -> WaitGraph:
    """``holds``: "1A 2B"; ``waits``: "1B 2AC" (2 waits for A or C). Parts are named after what they hold or want."""
    return WaitGraph(
        tuple(Hold(word[0], word.lower(), word[1]) for word in holds.split()),
        tuple(Wait(word[0], word.lower(), tuple(word[1:])) for word in waits.split()),
    )


# --- Blocked owners and circles, by hand ------------------------------------------------------------------------------

ABBA = {("1", "B"), ("B", "2"), ("2", "A"), ("A", "1")}
RING = {("1", "B"), ("B", "2"), ("2", "C"), ("C", "3"), ("3", "A"), ("A", "1")}


@each_row(
    ("holds", "waits", "blocked", "circle"),
    [
        ("1A 2B", "1B 2A", "12", ABBA),
        ("1A 2B 3C", "1B 2C 3A", "123", RING),
        ("1A", "1A", "1", {("1", "A"), ("A", "1")}),  # a set that took the system of its sibling
        ("1A 2B", "1B 2A 3A", "123", ABBA),  # 3 never goes on, but no one waits for it
        ("1A 2B", "1B", "", set()),  # 2 has all it needs
        ("1A 2B", "1B 2AC", "", set()),  # C is free
        ("1A 2B 3C", "1B 2AC", "", set()),  # 3 will give C back
        ("1A 2BC", "1B", "", set()),
        ("1A 2B 2C", "1BC 2A", "12", ABBA | {("1", "C"), ("C", "2")}),  # either is held by who waits for A
        ("1A 2B", "1B 1C 2A", "12", ABBA),  # that C is free does not help: 1 needs both
        ("1A", "1", "1", {("1", NOTHING)}),  # nothing can serve it
        ("1A 2B", "1 2A", "12", {("1", NOTHING)}),
        ("", "1A", "", set()),
        ("1A", "", "", set()),
    ],
)
def test_who_is_blocked_and_in_which_circle(holds: str, waits: str, blocked: str, circle: set[tuple[str, str]]) -> None:
    wait_graph = graph(holds, waits)
    assert wait_graph.blocked() == set(blocked)
    assert wait_graph.circle() == circle


names = st.sampled_from("1234")
things = st.sampled_from("ABCDE")
graphs = st.builds(
    lambda holds, waits: WaitGraph(
        tuple(Hold(o, f"{o}{r}", r) for r, o in holds.items()),
        tuple(Wait(o, f"{o}{n}", tuple(sorted(rs))) for n, (o, rs) in enumerate(waits)),
    ),
    st.dictionaries(things, names),
    st.lists(st.tuples(names, st.sets(things, max_size=3)), max_size=6),
)


def left_over(wait_graph: WaitGraph) -> set[str]:
    """Who is left when, one after the other, all who can go on have gone on and given back what they held."""
    held = {h.resource: h.owner for h in wait_graph.holds}
    waiting = {w.owner for w in wait_graph.waits}
    held = {resource: owner for resource, owner in held.items() if owner in waiting}
    while True:
        free = [
            owner
            for owner in waiting
            if all(any(r not in held for r in w.alternatives) for w in wait_graph.waits if w.owner == owner)
        ]
        if not free:
            return waiting
        waiting -= {free[0]}
        held = {resource: owner for resource, owner in held.items() if owner != free[0]}


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(graphs)
def test_blocked_is_what_no_order_of_going_on_leaves(wait_graph: WaitGraph) -> None:
    assert wait_graph.blocked() == left_over(wait_graph)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(graphs)
def test_a_circle_or_dead_end_exactly_if_someone_is_blocked(wait_graph: WaitGraph) -> None:
    circle = wait_graph.circle()
    assert bool(circle) == bool(wait_graph.blocked())
    ends = {end for _, end in circle} - {NOTHING}
    assert ends == {start for start, end in circle if end != NOTHING}, "every arrow of a circle goes on"
    real = {(h.resource, h.owner) for h in wait_graph.holds} | {
        (w.owner, r) for w in wait_graph.waits for r in w.alternatives
    }
    assert {arrow for arrow in circle if arrow[1] != NOTHING} <= real


# --- States of Beaker, by hand ----------------------------------------------------------------------------------------


def state(instance: Instance, objects: Mapping[str, Mapping[str, Any]]) -> State:
    """A state: the initial one, with the given fields of some objects."""
    values = list(instance.initial())
    for machine in instance.model.machines:
        sort = machine.sort.name
        for number, name in enumerate(instance.object_names(sort)):
            for field, value in objects.get(name, {}).items():
                if field == "state":
                    values[instance.slot(sort) + number] = [s.name for s in machine.states].index(value)
                else:
                    kind = next(a.type for a in machine.attributes if a.name == field)
                    values[instance.slot(sort, field) + number] = instance.read(kind, value)
    return tuple(values)


def two_sets_of_two(variant: str) -> Instance:
    """r0 and r1 of j0, r2 and r3 of j1; r0 and r2 run on s0 only, r1 on s1 or s2, r3 on s1."""
    lab: Any = {} if variant == "batch" else {("System", "lab"): [0, 0, 1], ("Recipe", "host"): [None] * 4}
    model = system("beaker").variants[variant]
    return Instance(
        model,
        {sort.name: 1 for sort in model.sorts} | {"Lab": 2, "RecipeSet": 2, "Recipe": 4, "System": 3},
        {
            ("Recipe", "recipe_set"): [0, 0, 1, 1],
            ("Recipe", "viable"): [frozenset(v) for v in ({0}, {1, 2}, {0}, {1})],
            **lab,
        },
    )


SCHEDULED = {"r0": {"state": "scheduled", "system": "s0"}, "r3": {"state": "scheduled", "system": "s1"}}
IN_LAB_0 = {"j0": {"lab": "l0"}, "j1": {"lab": "l0"}}
S_USED = {"s0": {"state": "scheduled"}, "s1": {"state": "scheduled"}, "s2": {"state": "idle"}}


def waits_of(variant: str, objects: Mapping[str, Mapping[str, Any]]) -> WaitGraph:
    instance = two_sets_of_two(variant)
    return observed(instance, state(instance, objects), WAITS[variant])


HOLDS = {("j0", "r0", "s0"), ("j1", "r3", "s1")}


def holds(wait_graph: WaitGraph) -> set[tuple[str, str, str]]:
    return {(h.owner, h.part, h.resource) for h in wait_graph.holds}


def waits(wait_graph: WaitGraph) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(w.owner, w.part, w.alternatives) for w in wait_graph.waits}


def test_two_assigned_sets_that_hold_what_the_other_needs() -> None:
    """s2 suits r1, but it is in the other lab."""
    assigned = {"r1": {"state": "assigned"}, "r2": {"state": "assigned"}}
    wait_graph = waits_of("as-written", {**SCHEDULED, **IN_LAB_0, **S_USED, **assigned})
    assert holds(wait_graph) == HOLDS
    assert waits(wait_graph) == {("j0", "r1", ("s1",)), ("j1", "r2", ("s0",))}
    assert wait_graph.circle() == {("j0", "s1"), ("s1", "j1"), ("j1", "s0"), ("s0", "j0")}


def test_another_system_is_no_deadlock_unless_it_is_broken() -> None:
    assigned = {"r1": {"state": "assigned"}, "r2": {"state": "assigned"}}
    apart = two_sets_of_two("as-written")
    instance = Instance(apart.model, apart.sizes, {**apart.rigid, ("System", "lab"): [0, 0, 0]})
    free = observed(instance, state(instance, {**SCHEDULED, **IN_LAB_0, **S_USED, **assigned}), WAITS["as-written"])
    assert waits(free) == {("j0", "r1", ("s1", "s2")), ("j1", "r2", ("s0",))}
    assert free.blocked() == free.circle() == frozenset()
    broken = {**S_USED, "s2": {"state": "idle", "condition": "Broken"}}
    stuck = observed(instance, state(instance, {**SCHEDULED, **IN_LAB_0, **broken, **assigned}), WAITS["as-written"])
    assert waits(stuck) == {("j0", "r1", ("s1",)), ("j1", "r2", ("s0",))}
    assert stuck.blocked() == {"j0", "j1"}


def test_a_cancelled_recipe_is_waited_for_only_as_written() -> None:
    objects = {**SCHEDULED, **IN_LAB_0, **S_USED, "r1": {"state": "cancelled"}, "r2": {"state": "queued"}}
    wait_graph = waits_of("as-written", objects)
    assert waits(wait_graph) == {("j0", "r1", ()), ("j1", "r2", ("s0",))}
    assert wait_graph.circle() == {("j0", NOTHING)} and wait_graph.blocked() == {"j0", "j1"}
    repaired = waits_of("repaired", objects)
    assert waits(repaired) == {("j1", "r2", ("s0",))} and not repaired.blocked()


def test_what_executes_holds_and_does_not_wait() -> None:
    objects = {
        "r0": {"state": "running", "system": "s0"},
        "r1": {"state": "completed"},
        "r2": {"state": "assigned"},
        "r3": {"state": "scheduled", "system": "s1"},
    }
    wait_graph = waits_of("as-written", {**objects, **IN_LAB_0})
    assert holds(wait_graph) == HOLDS
    assert waits(wait_graph) == {("j1", "r2", ("s0",))} and not wait_graph.circle()


def test_new_recipes_and_guests_wait_for_nothing() -> None:
    objects = {**IN_LAB_0, "r0": {"state": "scheduled", "system": "s0"}, "r1": {"state": "assigned"}}
    instance = two_sets_of_two("as-written")
    guest = Instance(instance.model, instance.sizes, {**instance.rigid, ("Recipe", "host"): [None, 0, None, None]})
    wait_graph = observed(guest, state(guest, objects), WAITS["as-written"])
    assert holds(wait_graph) == {("j0", "r0", "s0")} and waits(wait_graph) == set()


def test_the_batch_scheduler_knows_no_labs() -> None:
    """s2 is available and suits r1: j0 can go on."""
    objects = {**SCHEDULED, "r1": {"state": "queued"}, "r2": {"state": "queued"}}
    taken_systems = {"s0": {"state": "taken"}, "s1": {"state": "taken"}}
    wait_graph = waits_of("batch", {**objects, **taken_systems})
    assert holds(wait_graph) == HOLDS
    assert waits(wait_graph) == {("j0", "r1", ("s1", "s2")), ("j1", "r2", ("s0",))} and not wait_graph.circle()


# --- The picture ------------------------------------------------------------------------------------------------------


def picture(holds: str, waits: str) -> Diagram:
    return wait_for(graph(holds, waits), "a title")


def test_the_picture_has_holds_and_waits_and_warns_of_circles() -> None:
    drawn = wait_for(graph("1A 2B 4C", "1B 2A 3A"), "a title", {"1": "at_rest", "1b": "assigned"})
    assert {(e.source, e.target, e.kind, e.labels, e.alarm) for e in drawn.edges} == {
        ("A", "1", EdgeKind.HELD_BY, ("held by 1a",), True),
        ("B", "2", EdgeKind.HELD_BY, ("held by 2b",), True),
        ("C", "4", EdgeKind.HELD_BY, ("held by 4c",), False),
        ("1", "B", EdgeKind.WAITS_FOR, ("1b (assigned) waits",), True),
        ("2", "A", EdgeKind.WAITS_FOR, ("2a waits",), True),
        ("3", "A", EdgeKind.WAITS_FOR, ("3a waits",), False),
    }
    assert {n.name for n in drawn.nodes if n.alarm} == {"1", "2", "A", "B"}
    details = {n.name: n.details for n in drawn.nodes}
    assert details["1"] == ("at_rest", "can never go on") and details["3"] == ("can never go on",)
    assert details["4"] == details["A"] == ()


def test_without_a_deadlock_nothing_is_red_and_the_title_says_so() -> None:
    drawn = picture("1A 2B", "1B 2AC")
    assert not any(e.alarm for e in drawn.edges) and not any(n.alarm for n in drawn.nodes)
    assert "no circle: no one waits for ever" in drawn.title
    assert "2ac waits for any of 2" in {label for e in drawn.edges for label in e.labels}
    for format in ("dot", "mermaid"):
        assert "#b3261e" not in text(drawn, format) and "thick" not in text(drawn, format)


def test_both_texts_say_what_is_red() -> None:
    for format in ("dot", "mermaid"):
        source = text(picture("1A 2B", "1B 2A"), format)
        assert "in a circle" in source and source.count("#b3261e") >= 4


def test_mermaid_has_every_arrow_and_colours_the_right_ones() -> None:
    source = text(picture("1A 2B 3C", "1B 2A"), "mermaid").splitlines()
    links = [line.strip() for line in source if "-->" in line or "-.->" in line]
    assert links == [
        'A -->|"held by 1a"| 1', 'B -->|"held by 2b"| 2', 'C -->|"held by 3c"| 3',
        '1 -.->|"1b waits"| B', '2 -.->|"2a waits"| A',
    ]  # fmt: skip
    assert [line.split()[1] for line in source if "linkStyle" in line and "#b3261e" in line] == ["0", "1", "3", "4"]


@needs_dot
def test_dot_has_every_arrow() -> None:
    edges = laid_out(text(picture("1A 2B", "1B 2A"), "dot")).edges
    assert {(a, b) for a, b, *_ in edges} == ABBA


def test_where_no_one_holds_or_waits_there_is_nothing_to_draw() -> None:
    with pytest.raises(DiagramError, match="a title: no object holds or waits for another"):
        picture("", "")


def test_a_circle_that_is_to_come_is_not_denied() -> None:
    drawn = wait_for(graph("1A 2B", "1B 2AC"), "a title", doomed=True)
    assert drawn.title == "a title (no circle yet: it can no more be avoided)"

"""Counts in proofs: comparisons with a number mean what the interpreter counts, and other counts prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from schedproof.model.lang import (
    Action,
    Attribute,
    Document,
    Invariant,
    Machine,
    Model,
    Nat,
    Ref,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    Term,
    count,
    exists,
    forall,
    me,
    variables,
)
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, Moment, compile_term
from schedproof.proofs.induction import prove
from schedproof.proofs.induction.counting import LEFT, MOST_DISTINCT, without_counts
from schedproof.proofs.induction.obligations import leaves_counts
from schedproof.proofs.verdict import Verdict
from tests.support.keys import KEYS
from tests.support.rows import each_row

Shelf, Item = Sort("Shelf", "s"), Sort("Item", "i")
a, b = variables(Shelf, "a b")
i, j, k = variables(Item, "i j k")
EQUAL_LOADS = Invariant(
    name="equal-loads", says="(wrong) All shelves have one load.", over=[a, b], then=a.load == b.load
)
SHELVES = Model(
    system="shelves",
    variant="toy",
    about="shelves that count their items",
    document=Document("", ""),
    machines=[
        Machine(
            Shelf,
            [State("Open"), State("Closed")],
            [Attribute("items", SetOf(Item), rigid=True), Attribute("load", Nat)],
        ),
        Machine(Item, [State("Loose")], [Attribute("on", Ref(Shelf), rigid=True)]),
    ],
    rows=[Row(Shelf, "close", "Open", "Closed"), Row(Shelf, "reopen", "Closed", "Open")],
    actions=[
        Action("close", [a], [a.is_("Open")], [a.fires("close")], "{a} closes"),
        Action("reopen", [a], [a.is_("Closed")], [a.fires("reopen")], "{a} opens again"),
    ],
    rules=[],
    properties=[EQUAL_LOADS],
    default_scope={"Shelf": 2, "Item": 2},
    bound={("Shelf", "load"): 3},
)

Comparison = Callable[[Any, int], Term]
COMPARISONS: dict[str, Comparison] = {
    "<=": lambda counted, number: counted <= number,
    "<": lambda counted, number: counted < number,
    "==": lambda counted, number: counted == number,
    ">=": lambda counted, number: counted >= number,
    ">": lambda counted, number: counted > number,
    "number <=": lambda counted, number: t.Constant(number) <= counted,
    "number <": lambda counted, number: t.Constant(number) < counted,
    "number ==": lambda counted, number: t.Equal(t.Constant(number), counted),
    "+ <=": lambda counted, number: counted + 2 <= number + 2,
    "- <": lambda counted, number: counted - 1 < t.Constant(number) - 1,
    "number < +": lambda counted, number: t.Constant(number) - 1 < counted - 1,
}


def holds(instance: Instance, term: Term, bound: dict[str, int]) -> bool:
    """The truth of a term of rigid attributes."""
    scope = {v.name: v for v in t.free_variables(term).values()}
    return bool(compile_term(instance, term, scope)(Moment(instance.initial(), bound)))


def instance_of(shelves: Sequence[frozenset[int]], items: int) -> Instance:
    """Shelves with these items."""
    return Instance(SHELVES, {"Shelf": len(shelves), "Item": items}, {("Shelf", "items"): list(shelves)})


@each_row("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_a_comparison_means_that_so_many_are_distinct(compare: Comparison) -> None:
    """For up to five items on a shelf, and numbers from below none to beyond all."""
    for number in range(-2, 6):
        term = compare(count(i, a.items.has(i)), number)
        assert isinstance(term, t.Equal | t.Less)
        uncounted = without_counts(term)
        assert uncounted is not None and not any(isinstance(part, t.Count) for part in t.subterms(uncounted))
        instance = instance_of([frozenset(range(many)) for many in range(6)], 5)
        for many in range(6):
            bound = {"a": many}
            assert holds(instance, uncounted, dict(bound)) == holds(instance, term, dict(bound)), (number, many)


@each_row("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_tuples_are_distinct_if_one_place_is(compare: Comparison) -> None:
    """Pairs of a shelf and an item, under a negation, and with the name of a variable bound again inside."""
    inside = b.items.has(i) & exists(a, a.items.has(i)) & ~(count(j, b.items.has(j)) == 2)
    for number, shelves in product(range(4), product([frozenset[int](), {0}, {0, 1}], repeat=2)):
        instance = instance_of([frozenset(each) for each in shelves], 2)
        term = compare(count([b, i], inside), number)
        assert isinstance(term, t.Equal | t.Less)
        uncounted = without_counts(term)
        assert uncounted is not None
        assert holds(instance, t.Not(uncounted), {}) == (not holds(instance, term, {})), (number, shelves)


def test_greater_numbers_are_left() -> None:
    counted = count(i, a.items.has(i))
    assert without_counts(counted <= MOST_DISTINCT - 1) is not None  # type: ignore[arg-type]
    assert without_counts(counted <= MOST_DISTINCT) is None  # type: ignore[arg-type]
    assert without_counts(t.Constant(3) - counted <= 1) is None  # type: ignore[arg-type]


MORE = count(i, a.items.has(i)) <= count(j, b.items.has(j))
STATED = Invariant(name="p", says="", over=[a, b], then=MORE | ~MORE)
ALL = forall([a, b], MORE | ~MORE)
CLOSE = a.fires("close")


@each_row(
    ("change", "left"),
    [
        ({}, False),
        ({"properties": [STATED]}, True),
        ({"axioms": [ALL]}, True),
        ({"actions": [Action("close", [a, b], [MORE], [CLOSE], "")]}, True),
        ({"rules": [Rule("both", a.fires("close"), [MORE], b.fires("close"))]}, True),
        ({"rows": [Row(Shelf, "close", "Open", "Closed", load=count(i, me.items.has(i)))]}, True),
        ({"properties": [Invariant(name="p", says="", over=[a], then=count(i, a.items.has(i)) <= 1)]}, False),
    ],
    ids=["none", "property", "axiom", "guard", "rule", "row", "compared with a number"],
)
def test_a_count_that_is_left_is_noticed_everywhere(change: dict[str, Any], left: bool) -> None:
    assert leaves_counts(replace(SHELVES, **change), "p") is left


def test_a_count_of_a_row_is_one_for_each_object() -> None:
    """Shelves that count their own items need not have equal loads."""
    together = Action("close", [], [forall(b, b.is_("Open"))], [], "all shelves close")
    counting = replace(
        SHELVES,
        rows=[
            Row(Shelf, "close", "Open", "Closed", load=count(i, me.items.has(i))),
        ],
        actions=[together],
        rules=[Rule("all", together, [], b.fires("close"))],
    )
    answers = prove(counting).of("equal-loads")
    assert {LEFT} == {answer.note for answer in answers if answer.verdict is not Verdict.PROVED}


def test_a_count_reads_objects_that_are() -> None:
    """What is counted must be defined for all objects, as in an exploration."""
    unguarded = Invariant(name="p", says="", over=[j], then=count(i, i.on.is_("Open") & (i == j)) <= 1)
    guarded = replace(unguarded, then=count(i, ~(i.on == t.NONE) & i.on.is_("Open") & (i == j)) <= 1)
    assert not prove(replace(SHELVES, properties=[unguarded])).proved("p")
    assert prove(replace(SHELVES, properties=[guarded])).proved("p")


def test_a_failed_proof_says_what_is_counted() -> None:
    """The step gives a client a second key: the one that it locks, and what it holds before."""
    (answer,) = [a for a in prove(KEYS).of("one-key") if a.verdict is not Verdict.PROVED]
    run = answer.counterexample
    assert run is not None and run.start is not None
    (lock,) = run.steps
    client = lock.parameters["c"]
    pairs = {(lock.parameters["n"], lock.parameters["k"])}
    pairs |= {(name, key) for name, node in run.start.items() for key, by in node.get("held", []) if by == client}
    shown = ", ".join(f"({node}, {key})" for node, key in sorted(pairs))
    assert f"this step violates it ({len(pairs)} counted: {shown})," in run.problem

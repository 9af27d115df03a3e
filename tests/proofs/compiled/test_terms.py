"""Formulas at random, by compiled code and interpreted: the same truth in every state, and undefined in the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedproof.model.lang import NONE, exists, forall, iff, implies, those, variables
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, Moment, State, Undefined, compile_term, instances
from schedproof.proofs.compiled import terms
from schedproof.proofs.compiled.kernel import check
from schedproof.proofs.compiled.layout import layout
from schedproof.proofs.compiled.llvm import Machine, assembly
from schedproof.proofs.compiled.predicates import FALSE, TRUE, UNDEFINED, Predicate, predicates
from schedproof.proofs.exploration.explore import explore
from tests.support.toys import WORKSHOP, Tool, Worker

WORKERS, TOOLS = variables(Worker, "a b c d"), variables(Tool, "k l m n")
OVER = (WORKERS[0], TOOLS[0])
"""What all formulas may speak of; the other variables are bound inside."""


@cache
def explored() -> tuple[Instance, list[State]]:
    """An instance and states of it, of every depth."""
    [instance] = instances(WORKSHOP, {"Worker": 3, "Tool": 2})
    return instance, explore(instance, symmetry=False, limit=3000).states[::7]


Names = tuple[tuple[t.Var, ...], tuple[t.Var, ...]]
"""The workers and tools that a term may speak of."""


@st.composite
def workers(draw: Any, names: Names, depth: int, *, nobody: bool = False) -> t.Term:
    """What names a worker, if there is one; or nobody."""
    kinds = ["variable"] * 3 + (["user"] * 2 if depth else []) + (["nobody"] if nobody else [])
    match draw(st.sampled_from(kinds)):
        case "variable":
            return draw(st.sampled_from(names[0]))
        case "user":
            return draw(tools(names, depth - 1)).by
    return NONE


@st.composite
def tools(draw: Any, names: Names, depth: int, *, nobody: bool = False) -> t.Term:
    """What names a tool, if there is one; or none."""
    kinds = ["variable"] * 3 + (["held"] * 2 if depth else []) + (["none"] if nobody else [])
    match draw(st.sampled_from(kinds)):
        case "variable":
            return draw(st.sampled_from(names[1]))
        case "held":
            return draw(workers(names, depth - 1)).holds
    return NONE


@st.composite
def sets(draw: Any, names: Names, depth: int, of_workers: bool) -> t.Term:
    """A set of workers or tools."""
    one, every = (workers, tools) if of_workers else (tools, workers)
    kinds = ["attribute", "none", *(["more", "less", "those"] if depth else [])]
    match draw(st.sampled_from(kinds)):
        case "attribute":
            owner = draw(every(names, depth))
            return owner.queue if of_workers else owner.knows
        case "more":
            return draw(sets(names, depth - 1, of_workers)).with_(draw(one(names, depth - 1, nobody=True)))
        case "less":
            return draw(sets(names, depth - 1, of_workers)).without(draw(one(names, depth - 1, nobody=True)))
        case "those":
            var, inner = bound(names, of_workers)
            return those(var, draw(formulas(inner, depth - 1)))
    return t.EmptySet()


@st.composite
def numbers(draw: Any, names: Names, depth: int) -> t.Term:
    """A whole number."""
    match draw(st.sampled_from(["wear", "jobs", "constant", *(["sum", "difference"] if depth else [])])):
        case "wear":
            return draw(tools(names, depth)).wear
        case "jobs":
            return draw(workers(names, depth)).jobs
        case "constant":
            return t.Constant(draw(st.integers(-2, 4)))
        case "sum":
            return draw(numbers(names, depth - 1)) + draw(numbers(names, depth - 1))
    return draw(numbers(names, depth - 1)) - draw(numbers(names, depth - 1))


def bound(names: Names, of_workers: bool) -> tuple[t.Var, Names]:
    """A new variable, or the last one again where there is none, and what may be spoken of inside."""
    of_sort, known = (WORKERS, names[0]) if of_workers else (TOOLS, names[1])
    var = of_sort[min(len(known), len(of_sort) - 1)]
    now = tuple(dict.fromkeys([*known, var]))
    return var, (now, names[1]) if of_workers else (names[0], now)


@st.composite
def formulas(draw: Any, names: Names, depth: int) -> t.Term:
    """A formula."""
    simple = [
        "worker is",
        "tool is",
        "same worker",
        "same tool",
        "same set",
        "less",
        "same number",
        "mood",
        "tired",
        "has",
    ]
    joined = ["and", "or", "not", "implies", "iff", "all", "some", "all pairs"] * 2
    below = depth - 1
    match draw(st.sampled_from(simple + (joined if depth else []))):
        case "worker is":
            return draw(workers(names, depth)).is_(*draw(st.sampled_from([("Idle",), ("Busy",), ("Idle", "Busy")])))
        case "tool is":
            return draw(tools(names, depth)).is_(draw(st.sampled_from(["Free", "Taken"])))
        case "same worker":
            return draw(workers(names, depth)) == draw(workers(names, depth, nobody=True))
        case "same tool":
            return draw(tools(names, depth)) == draw(tools(names, depth, nobody=True))
        case "same set":
            of_workers = draw(st.booleans())
            return draw(sets(names, depth, of_workers)) == draw(sets(names, depth, of_workers))
        case "less":
            left, right = draw(numbers(names, depth)), draw(numbers(names, depth))
            return left < right if draw(st.booleans()) else left <= right
        case "same number":
            return draw(numbers(names, depth)) == draw(numbers(names, depth))
        case "mood":
            return draw(workers(names, depth)).mood == draw(st.sampled_from(["calm", "tense"]))
        case "tired":
            return draw(workers(names, depth)).tired
        case "has":
            of_workers = draw(st.booleans())
            return draw(sets(names, depth, of_workers)).has(
                draw((workers if of_workers else tools)(names, depth, nobody=True))
            )
        case "and":
            return draw(formulas(names, below)) & draw(formulas(names, below))
        case "or":
            return draw(formulas(names, below)) | draw(formulas(names, below))
        case "not":
            return ~draw(formulas(names, below))
        case "implies":
            return implies(draw(formulas(names, below)), draw(formulas(names, below)))
        case "iff":
            return iff(draw(formulas(names, below)), draw(formulas(names, below)))
        case "all pairs":
            first, inner = bound(names, draw(st.booleans()))
            second, inner = bound(inner, draw(st.booleans()))
            if first is second:
                return forall(first, draw(formulas(inner, below)))
            return draw(st.sampled_from([forall, exists]))([first, second], draw(formulas(inner, below)))
        case kind:
            var, inner = bound(names, draw(st.booleans()))
            return (forall if kind == "all" else exists)(var, draw(formulas(inner, below)))


def interpreted(instance: Instance, states: Sequence[State], formula: t.Term, objects: Mapping[str, int]) -> list[int]:
    """What a formula is in each state, by the interpreter."""
    holds = compile_term(instance, formula, {v.name: v for v in OVER})

    def one(state: State) -> int:
        try:
            return TRUE if holds(Moment(state, dict(objects))) else FALSE
        except Undefined:
            return UNDEFINED

    return [one(state) for state in states]


def compiled(instance: Instance, states: Sequence[State], conditions: Sequence[Predicate]) -> list[list[int]]:
    """What formulas are in each state, by compiled code."""
    where = layout(instance)
    machine = Machine([assembly(predicates(instance, where, conditions))], cached=False)
    words = np.array([word for state in states for word in where.pack(state)], np.uint64)
    truths = np.empty((len(conditions), len(states)), np.uint8)
    check(machine.address("holds"), words, where.words, np.empty(len(conditions), np.int64), truths)
    return truths.tolist()


SOME = st.lists(formulas(((WORKERS[0],), (TOOLS[0],)), 3), min_size=6, max_size=6)
OBJECTS = st.fixed_dictionaries({"a": st.integers(0, 2), "k": st.integers(0, 1)})


def compare(conditions: Sequence[t.Term], objects: Mapping[str, int]) -> list[list[int]]:
    """What both say, which must be the same."""
    instance, states = explored()
    expected = [interpreted(instance, states, formula, objects) for formula in conditions]
    actual = compiled(instance, states, [Predicate(OVER, objects, formula) for formula in conditions])
    for formula, one, other in zip(conditions, actual, expected, strict=True):
        assert one == other, formula
    return expected


@pytest.mark.long
@given(SOME, OBJECTS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_formulas_mean_the_same_compiled(conditions: list[t.Term], objects: dict[str, int]) -> None:
    compare(conditions, objects)


def test_what_is_nothing_is_in_no_set_not_even_in_that_of_nobody() -> None:
    """Whose set it is, is not asked then."""
    a, k = OVER
    truths = compare([k.by.knows.has(a.holds), ~k.by.knows.has(a.holds), a.holds.queue.has(a)], {"a": 0, "k": 0})
    assert {TRUE, FALSE} <= set(truths[0]) and UNDEFINED in truths[2]


A_PART_THAT_MAY_BE_UNDEFINED = exists([WORKERS[1], TOOLS[1]], TOOLS[1].by.is_("Idle") & WORKERS[1].tired)
"""Its second part needs the first variable only, and is false of everyone in some states; its first part is undefined in these."""


def test_no_part_comes_before_one_that_may_be_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    (truths,) = compare([A_PART_THAT_MAY_BE_UNDEFINED], {"a": 0, "k": 0})
    assert UNDEFINED in truths
    monkeypatch.setattr(terms, "is_defined", lambda term: True)  # seeded: every part comes as early as it can
    with pytest.raises(AssertionError):
        compare([A_PART_THAT_MAY_BE_UNDEFINED], {"a": 0, "k": 0})


@pytest.mark.long(one_in=12)
@given(SOME, OBJECTS)
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
def test_many_formulas_mean_the_same_compiled(conditions: list[t.Term], objects: dict[str, int]) -> None:
    compare(conditions, objects)

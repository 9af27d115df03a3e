"""Planned searches against trying everything: the same answers, in the same order, undefined in the same places.

A guard, a rule, a quantifier and the check of a property all choose objects one after the other and ask each condition
as soon as it can be asked. Here random formulas over the workshop are also evaluated by an evaluator that
knows no plan: it tries every combination of objects, and reads every formula from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from schedproof.model.lang import Ref, exists, forall, implies, those, variable
from schedproof.model.lang import terms as t
from schedproof.model.semantics import Instance, Moment, State, Undefined, compile_term
from schedproof.model.semantics import evaluate as evaluating
from tests.support.toys import WORKSHOP, Tool, Worker, w, x

searching = import_module("schedproof.model.semantics.search")  # the package has a function of that name
SIZES = {"Worker": 2, "Tool": 2}
INSTANCE = Instance(WORKSHOP, SIZES)
NAMES = ("a", "b", "c")
"""So few that a formula binds most of them again inside, also for objects of another sort."""
UNDEFINED = "undefined"


# --- Trying everything -----------------------------------------------------------------------------------------------


def brute(term: t.Term, bound: Mapping[str, tuple[str, int]], now: State, later: State) -> Any:
    """The value of a term; ``bound`` has the sort and the number of each variable's object."""

    def of(part: t.Term) -> Any:
        return brute(part, bound, now, later)

    match term:
        case t.Var(name):
            return bound[name][1]
        case t.Nothing():
            return -1
        case t.Attr(part, name):
            number = of(part)
            if number < 0:
                raise Undefined(name)
            return now[INSTANCE.slot(sort_of(part, bound), name) + number]
        case t.Is(part, states):
            number, sort = of(part), sort_of(part, bound)
            if number < 0:
                raise Undefined("state")
            return WORKSHOP.machine(sort).states[now[INSTANCE.slot(sort) + number]].name in states
        case t.Equal(left, right):
            a = of(left)
            return a == of(right)
        case t.Has(part, element):
            number = of(element)
            return number >= 0 and number in members(of(part))
        case t.Those(var, where):
            sort = var.type.sort.name  # type: ignore[union-attr]
            chosen = [n for n in range(SIZES[sort]) if brute(where, {**bound, var.name: (sort, n)}, now, later)]
            return sum(2**n for n in chosen)
        case t.Not(part):
            return not of(part)
        case t.And(parts):
            return all(of(part) for part in parts)
        case t.Or(parts):
            return any(of(part) for part in parts)
        case t.Implies(premise, conclusion):
            return not of(premise) or bool(of(conclusion))
        case t.Iff(left, right):
            a = of(left)
            return bool(a) == bool(of(right))
        case t.After(part):
            return brute(part, bound, later, later)
        case t.Quantified(universal, variables, body):
            every = (brute(body, {**bound, **chosen}, now, later) for chosen in combinations(variables))
            return all(every) if universal else any(every)
    raise AssertionError(term)


def members(mask: int) -> set[int]:
    """The numbers in a set."""
    return {n for n in range(8) if mask // 2**n % 2}


def sort_of(term: t.Term, bound: Mapping[str, tuple[str, int]]) -> str:
    """The sort of what a term names."""
    return bound[term.name][0] if isinstance(term, t.Var) else {"holds": "Tool", "by": "Worker"}[term.name]  # type: ignore[attr-defined]


def combinations(variables: Sequence[t.Var]) -> Iterator[dict[str, tuple[str, int]]]:
    """Every choice of objects for variables, the last one changing fastest."""
    sorts = [v.type.sort.name for v in variables]  # type: ignore[union-attr]
    for numbers in product(*[range(SIZES[sort]) for sort in sorts]):
        yield {v.name: (sort, n) for v, sort, n in zip(variables, sorts, numbers, strict=True)}


# --- Random formulas -------------------------------------------------------------------------------------------------

Scope = dict[str, t.Var]


def of_sort(scope: Scope, sort: str) -> list[t.Term]:
    """What names an object of a sort (or none) in a scope."""
    names: list[t.Term] = [v for v in scope.values() if v.type.sort.name == sort]  # type: ignore[union-attr]
    if sort == "Tool":
        return names + [v.holds for v in scope.values() if v.type == Ref(Worker)]
    return names + [v.by for v in scope.values() if v.type == Ref(Tool)] + [
        v.holds.by for v in scope.values() if v.type == Ref(Worker)
    ]  # fmt: skip


@st.composite
def atoms(draw: Callable[[Any], Any], scope: Scope) -> t.Term:
    """A formula about one or two objects."""
    workers, tools = of_sort(scope, "Worker"), of_sort(scope, "Tool")
    kinds: list[Callable[[], t.Term]] = []
    if workers:
        worker = draw(st.sampled_from(workers))
        kinds += [lambda: worker.is_("Busy"), lambda: worker.tired, lambda: worker.holds == t.NONE]
        kinds.append(lambda: worker == draw(st.sampled_from(workers)))
    if tools:
        tool = draw(st.sampled_from(tools))
        kinds += [lambda: tool.is_("Free"), lambda: tool.by == t.NONE]
        kinds.append(lambda: tool == draw(st.sampled_from(tools)))
    if workers and tools:
        kinds += [lambda: worker.knows.has(tool), lambda: tool.queue.has(worker), lambda: worker.holds == tool]
    return draw(st.sampled_from(kinds))()


def chosen_variables(draw: Callable[[Any], Any], most: int) -> list[t.Var]:
    """A few variables of different names."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=most, unique=True))
    return [variable(draw(st.sampled_from([Worker, Tool])), name) for name in names]


@st.composite
def formulas(draw: Callable[[Any], Any], scope: Scope, depth: int, is_after: bool = False) -> t.Term:
    """A formula over the variables of ``scope``; what is read in the state after is not asked for the one after that."""

    def inner(within: Scope = scope, later: bool = is_after) -> t.Term:
        drawn: t.Term = draw(formulas(within, depth - 1, later))
        return drawn

    kinds = ["atom", "not", "and", "or", "implies", "iff", "after", "exists", "exists", "forall", "those"]
    kind = draw(st.sampled_from(kinds)) if depth and scope else "exists" if depth else "atom"
    match kind:
        case "atom":
            drawn: t.Term = draw(atoms(scope))
            return drawn
        case "not":
            return ~inner()
        case "and":
            return inner() & inner() & inner() if draw(st.booleans()) else inner() & (inner() & inner())
        case "or":
            return inner() | inner()
        case "implies":
            return implies(inner() & inner(), inner())
        case "iff":
            return t.Iff(inner(), inner())
        case "after":
            return inner() if is_after else t.After(inner(later=True))
        case "those":
            [var] = chosen_variables(draw, 1)
            named = of_sort(scope, var.type.sort.name)  # type: ignore[union-attr]
            chosen = those(var, inner({**scope, var.name: var}))
            return chosen.has(draw(st.sampled_from(named))) if named else inner()
    bound = chosen_variables(draw, 2)
    within = {**scope, **{v.name: v for v in bound}}
    if kind == "exists":
        return exists(bound, inner(within) & inner(within))
    return forall(bound, implies(inner(within), inner(within)) if draw(st.booleans()) else inner(within))


@st.composite
def states(draw: Callable[[Any], Any]) -> State:
    """Any state of the workshop, also one that can not be reached."""
    random = Random(draw(st.integers(0, 10_000)))  # not slot by slot: most would be 0
    numbers: list[int] = []
    for machine in WORKSHOP.machines:
        count = SIZES[machine.sort.name]
        numbers += random.choices(range(len(machine.states)), k=count)
        for attribute in machine.attributes:
            values = list(INSTANCE.domain(attribute.type)) + ([-1] if isinstance(attribute.type, Ref) else [])
            numbers += random.choices(values, k=count)
    return tuple(numbers)


Problem = tuple[list[t.Var], list[t.Var], list[t.Term], State, State]
"""Known variables and what is chosen, conditions, a state and the state after."""


@st.composite
def problems(draw: Callable[[Any], Any]) -> Problem:
    """A search for objects; names of known variables may be chosen again."""
    known = chosen_variables(draw, 1)
    choose = chosen_variables(draw, 3)
    scope = {v.name: v for v in [*known, *choose]}
    depths = st.sampled_from([0, 0, 1, 2])
    conditions = [draw(formulas(scope, draw(depths))) for _ in range(draw(st.integers(1, 4)))]
    return known, choose, conditions, draw(states()), draw(states())


# --- The comparison --------------------------------------------------------------------------------------------------

Outcome = tuple[list[tuple[int, ...]], bool]
"""The solutions in their order, and whether an attribute of NONE was read after the last one."""


def by_trying(problem: Problem, start: Mapping[str, tuple[str, int]]) -> Outcome:
    """Every choice of objects in order, every condition from left to right."""
    _, choose, conditions, now, later = problem
    solutions = []
    try:
        for chosen in combinations(choose):
            if all(brute(c, {**start, **chosen}, now, later) for c in conditions):
                solutions.append(tuple(chosen[v.name][1] for v in choose))
    except Undefined:
        return solutions, True
    return solutions, False


def by_plan(problem: Problem, start: Mapping[str, tuple[str, int]]) -> Outcome:
    """The same as a planned search finds them."""
    known, choose, conditions, now, later = problem
    planned = evaluating.search(INSTANCE, {v.name: v for v in known}, choose, conditions)
    moment = Moment(now, {name: n for name, (_, n) in start.items()}, {}, later)
    found_solutions = []
    try:
        for _ in planned.solutions(moment):
            found_solutions.append(tuple(moment.bound[v.name] for v in choose))
    except Undefined:
        return found_solutions, True
    return found_solutions, False


def starts(problem: Problem) -> Iterator[dict[str, tuple[str, int]]]:
    """Every choice of objects for the known variables."""
    return combinations(problem[0])


def some(problem: Problem, start: Mapping[str, tuple[str, int]]) -> object:
    """Whether a planned search succeeds, and with which objects."""
    known, choose, conditions, now, later = problem
    planned = evaluating.search(INSTANCE, {v.name: v for v in known}, choose, conditions)
    moment = Moment(now, {name: n for name, (_, n) in start.items()}, {}, later)
    try:
        return tuple(moment.bound[v.name] for v in choose) if planned.succeeds(moment) else None
    except Undefined:
        return UNDEFINED


def first(outcome_of_search: Outcome) -> object:
    """What a search that stops at the first solution says."""
    solutions, broke = outcome_of_search
    return solutions[0] if solutions else UNDEFINED if broke else None


RANDOM_CASES = settings(max_examples=180, derandomize=True, deadline=None, database=None)


@pytest.mark.long
@RANDOM_CASES
@given(problems())
def test_a_planned_search_finds_what_trying_everything_finds(problem: Problem) -> None:
    for start in starts(problem):
        by_brute_force = by_trying(problem, start)
        assert by_plan(problem, start) == by_brute_force
        assert some(problem, start) == first(by_brute_force)


def outcome(term: t.Term, scope: Scope, bound: Mapping[str, tuple[str, int]], now: State, later: State) -> object:
    """The compiled value of a formula, and the variables as they are afterwards."""
    moment = Moment(now, {name: n for name, (_, n) in bound.items()}, {}, later)
    try:
        value = bool(compile_term(INSTANCE, term, scope)(moment))
    except Undefined:
        return UNDEFINED
    return value, moment.bound


def by_brute_force(term: t.Term, bound: Mapping[str, tuple[str, int]], now: State, later: State) -> object:
    """The same by trying everything: no variable outside of the formula is changed."""
    try:
        value = bool(brute(term, bound, now, later))
    except Undefined:
        return UNDEFINED
    return value, {name: n for name, (_, n) in bound.items()}


@st.composite
def checked(draw: Callable[[Any], Any]) -> tuple[t.Term, Scope, State, State]:
    """A formula with quantifiers in quantifiers."""
    scope = {v.name: v for v in chosen_variables(draw, 2)}
    return draw(formulas(scope, 3)), scope, draw(states()), draw(states())


@pytest.mark.long
@RANDOM_CASES
@given(checked())
def test_a_formula_means_what_trying_everything_says(problem: tuple[t.Term, Scope, State, State]) -> None:
    term, scope, now, later = problem
    for bound in combinations(list(scope.values())):
        assert outcome(term, scope, bound, now, later) == by_brute_force(term, bound, now, later)


@pytest.mark.long
def test_the_random_searches_are_of_every_kind() -> None:
    """Else the comparison would show little: none, some and all solutions, undefined at once and later, shadowing."""
    seen = set()

    @settings(RANDOM_CASES, max_examples=120)
    @given(problems())
    def note_kinds(problem: Problem) -> None:
        known, choose, conditions, *_ = problem
        shadows = any(k.name == c.name for k in known for c in choose)
        for start in starts(problem):
            solutions, broke = by_trying(problem, start)
            seen.add((bool(solutions), broke))
            seen.add("shadowed" if shadows else "plain")
            seen.add("quantified" if any(isinstance(c, t.Quantified) for c in conditions) else "bare")

    note_kinds()
    assert seen == {(a, b) for a in (True, False) for b in (True, False)} | {
        "shadowed", "plain", "quantified", "bare"
    }  # fmt: skip


# --- By hand: what could go wrong ------------------------------------------------------------------------------------

INITIAL = INSTANCE.initial()


def says(term: t.Term, **bound: tuple[t.Var, int]) -> object:
    """A formula in the initial state, where nobody holds a tool."""
    moment = Moment(INITIAL, {name: n for name, (_, n) in bound.items()}, {}, INITIAL)
    return bool(compile_term(INSTANCE, term, {name: v for name, (v, _) in bound.items()})(moment))


def test_an_earlier_condition_guards_a_later_one_asked_first() -> None:
    """The second condition needs w only, the first needs x as well: yet the first comes first."""
    assert not says(exists([w, x], (w.holds == x) & w.holds.is_("Free")))
    with pytest.raises(Undefined):
        says(exists([w, x], w.holds.is_("Free") & (w.holds == x)))


def test_a_false_condition_guards_the_one_that_gives_values() -> None:
    """No worker is busy. So the condition on the holder is not evaluated, though it would determine the worker."""
    one, other = variable(Worker, "one"), variable(Worker, "other")
    assert not says(exists([other], other.is_("Busy") & (other == one.holds.by)), one=(one, 0))
    with pytest.raises(Undefined):
        says(exists([other], (other == one.holds.by) & other.is_("Busy")), one=(one, 0))


def test_the_premise_guards_the_conclusion() -> None:
    assert says(forall([w, x], implies(w.holds == x, w.holds.is_("Taken"))))
    with pytest.raises(Undefined):
        says(forall([w, x], implies(x.is_("Free"), w.holds.is_("Taken"))))


def test_a_name_can_stand_for_an_object_of_another_sort_inside() -> None:
    outer, inner = variable(Worker, "a"), variable(Tool, "a")
    term = outer.is_("Idle") & exists(inner, inner.is_("Free")) & outer.is_("Idle") & (outer.holds == t.NONE)
    assert says(term, a=(outer, 1))


def test_a_search_that_fails_leaves_the_outer_object_too() -> None:
    outer, inner = variable(Worker, "a"), variable(Worker, "a")
    second = variable(Worker, "b")
    nobody = exists(inner, inner.is_("Busy"))
    assert says(exists(second, ~nobody & (outer == second)), a=(outer, 0), b=(second, 1))


# --- Seeded faults: wrong plans --------------------------------------------------------------------------------------


def reordered(patch: pytest.MonkeyPatch) -> None:
    """A condition is asked as soon as its variables are bound, even before one that guards it."""
    patch.setattr(searching, "accumulate", lambda needs, how: needs)


def too_early(patch: pytest.MonkeyPatch) -> None:
    """A condition is asked before its last variable is bound, while another object stands for it."""
    patch.setattr(searching, "accumulate", lambda needs, how: [max(n - 1, 0) for n in _running(needs)])


def too_late(patch: pytest.MonkeyPatch) -> None:
    """Conditions without chosen variables are never asked."""
    right = searching.plan

    def plan(choose: Any, conditions: Any, among: Any, total: Any) -> Any:
        names = {name for name, _ in choose}
        kept = [n for n, c in enumerate(conditions) if c[1] & names]
        return right(choose, [conditions[n] for n in kept], [among[n] for n in kept])  # none is total then

    patch.setattr(evaluating, "plan", plan)


def first_only(patch: pytest.MonkeyPatch) -> None:
    """After a failure deeper down the search gives up."""

    def reaches(self: Any, moment: Any, depth: int) -> bool:
        if depth == len(self.levels):
            return True
        name, values, conditions = self.levels[depth]
        for value in values(moment):
            moment.bound[name] = value
            if all(c(moment) for c in conditions):
                return reaches(self, moment, depth + 1)
        return False

    patch.setattr(searching.Search, "_reaches", reaches)


def not_restored(patch: pytest.MonkeyPatch) -> None:
    """A binder leaves its last object in the place of the outer one."""
    patch.setattr(evaluating, "_restore", lambda m, name, outer: None)


def nothing_is_needed(patch: pytest.MonkeyPatch) -> None:
    """No condition is known to need a variable: all are asked before any is bound."""
    patch.setattr(evaluating.t, "free_variables", lambda term: {})


def not_the_last(patch: pytest.MonkeyPatch) -> None:
    """Of the members of a set the last one is not tried."""
    right = evaluating._numbers
    patch.setattr(evaluating, "_numbers", lambda mask: right(mask)[:-1] if mask > 1 else right(mask))


def none_is_nobody(patch: pytest.MonkeyPatch) -> None:
    """An object that is to be the one that nothing refers to is taken to be the first one."""
    patch.setattr(evaluating, "_the_one", lambda value: lambda m: (max(value(m), 0),))


def all_that_fire(patch: pytest.MonkeyPatch) -> None:
    """A condition that says which objects satisfy it is taken to say it of those that come before it as well."""
    right = searching.plan

    def plan(choose: Any, conditions: Any, among: Any, total: Any) -> Any:
        every = {name: values for each in among for name, values in each.items()}
        return right(choose, conditions, [every for _ in among], total)

    patch.setattr(evaluating, "plan", plan)


def nothing_is_undefined(patch: pytest.MonkeyPatch) -> None:
    """A condition is not known to be undefined where an earlier one is false."""
    patch.setattr(evaluating, "is_total", lambda term: True)
    patch.setattr(evaluating, "_is_rigid", lambda *about: False)


def _running(needs: Sequence[int]) -> list[int]:
    return [max(needs[: n + 1]) for n in range(len(needs))]


SEEDED = [
    reordered,
    too_early,
    too_late,
    first_only,
    not_restored,
    nothing_is_needed,
    not_the_last,
    none_is_nobody,
    all_that_fire,
    nothing_is_undefined,
]


def by_hand_is_right() -> bool:
    """In the initial state, where nobody holds a tool, is busy, or has taken one: none of these is so."""
    one, other, y = variable(Worker, "one"), variable(Worker, "other"), variable(Tool, "y")
    try:
        return not (
            says(exists([x], x == one.holds), one=(one, 0))
            or says(exists([other], other.is_("Busy") & (other == one.holds.by)), one=(one, 0))
            or says(exists([x], x.is_("Taken") & (x == y)), y=(y, 0))
        )
    except (Undefined, KeyError, IndexError):
        return False


class Noticed(Exception):
    """A wrong plan has shown itself."""


@pytest.mark.parametrize(
    "plant",
    [pytest.param(p, marks=pytest.mark.long) if p in (not_the_last, first_only) else p for p in SEEDED],
    ids=[p.__name__ for p in SEEDED],
)
def test_a_wrong_plan_is_noticed(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_hand_is_right()
    plant(monkeypatch)
    if not by_hand_is_right():
        return

    @settings(RANDOM_CASES, max_examples=600, phases=[Phase.generate])  # it stops when it has noticed
    @given(problems(), checked())
    def note_kinds(problem: Problem, formula: tuple[t.Term, Scope, State, State]) -> None:
        term, scope, now, later = formula
        try:
            same = all(by_plan(problem, s) == by_trying(problem, s) for s in starts(problem))
            same = same and all(some(problem, s) == first(by_trying(problem, s)) for s in starts(problem))
            bindings = list(combinations(list(scope.values())))
            same = same and all(
                outcome(term, scope, b, now, later) == by_brute_force(term, b, now, later) for b in bindings
            )
        except (KeyError, IndexError):
            same = False  # a variable without an object
        if not same:
            raise Noticed

    with pytest.raises(Noticed):
        note_kinds()

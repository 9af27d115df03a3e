"""Counterexamples to induction with few objects, as objects and changed fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import z3

from schedproof.model.lang import (
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Invariant,
    Machine,
    Ref,
    Relation,
    SetOf,
    Type,
)
from schedproof.model.lang.model import RigidValue
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.terms import Value
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.lang.types import integer_of
from schedproof.model.semantics import Choice, IllFormed, Instance, Moment, State, Stepper, Undefined
from schedproof.model.semantics.instance import encode
from schedproof.proofs.exploration.run_facts import introductions
from schedproof.proofs.exploration.runs import changes, trace_step
from schedproof.proofs.exploration.safety import Check
from schedproof.proofs.verdict import Counterexample, FieldChange, ObjectFacts

from .expressions import And, ForAll, Or, Solver
from .obligations import INITIAL, SIZES, Obligation, Proof
from .views import Symbols, Z

LITTLE_EFFORT = 200_000
"""z3's limit for each sort of which fewer objects are tried, in z3's own steps: for the reader only."""


SolverModel = tuple[Any, Mapping[str, Sequence[Z]]]
"""A z3 model, and by sort constants that name all of its objects."""


def small_model(
    solver: Solver,
    symbols: Symbols,
    effort: int,
    assumptions: Sequence[Z] = (),
    *,
    fewest: bool = True,
    sizes: Sequence[int] = SIZES,
) -> SolverModel | None:
    """A model of the solver's assertions and of ``assumptions`` with as few objects as possible.

    Args:
        solver: has the assertions.
        symbols: the symbols of the model.
        effort: z3's limit for each number of objects, in z3's own steps.
        assumptions: formulas that must hold as well.
        fewest: look for as few objects of each sort, and for small integers; otherwise only for few objects of all sorts
            together, which takes a third of the time.
        sizes: the numbers of objects of each sort that are tried, in this order.

    Returns:
        None if no model with at most ``sizes[-1]`` objects of each sort is found.
    """
    solver.limit(effort)
    for size in sizes:
        by_sort = dict.fromkeys(symbols.sorts, size)
        if (model := _model_of(solver, symbols, by_sort, assumptions)) is not None:
            if fewest:
                model = _with_fewer(solver, symbols, by_sort, assumptions, model)
                model = _with_smaller_numbers(solver, symbols, by_sort, assumptions, model)
            return model
    return None


def _model_of(
    solver: Solver,
    symbols: Symbols,
    sizes: Mapping[str, int],
    assumptions: Sequence[Z],
    also: Callable[[Mapping[str, Sequence[Z]]], Sequence[Z]] = lambda universe: (),
) -> SolverModel | None:
    """A model with at most ``sizes`` objects by sort, and with ``also`` of these objects; None if none is found."""
    solver.push()
    universe: dict[str, list[Z]] = {}
    for name, size in sizes.items():
        universe[name] = [symbols.constant(f"{name} {i}", name) for i in range(size)]
        x = symbols.constant("x", name)
        solver.add(ForAll([x], Or(*[x == e for e in universe[name]])))
    solver.add(*also(universe))
    model = solver.model() if solver.answer(assumptions) == z3.sat else None
    solver.pop()
    return None if model is None else (model, universe)


def _with_fewer(
    solver: Solver, symbols: Symbols, sizes: dict[str, int], assumptions: Sequence[Z], model: SolverModel
) -> SolverModel:
    """A model in which no single sort could have fewer objects, as far as ``LITTLE_EFFORT`` finds out."""
    solver.limit(LITTLE_EFFORT)
    for name in symbols.sorts:
        while sizes[name] > 1 and (less := _model_of(solver, symbols, sizes | {name: sizes[name] - 1}, assumptions)):
            sizes[name] -= 1
            model = less
    return model


def _with_smaller_numbers(
    solver: Solver, symbols: Symbols, sizes: dict[str, int], assumptions: Sequence[Z], model: SolverModel
) -> SolverModel:
    """A model whose integers without bounds are close to 0: the greatest of them first, then as many as possible are 0.

    As far as ``LITTLE_EFFORT`` finds out.
    """
    fields = [
        (m.sort.name, a.name, a.type)
        for m in symbols.model.machines
        for a in m.attributes
        if integer_of(a.type) is not None or isinstance(a.type, SequenceType)
    ]
    if not fields:
        return model
    solver.limit(LITTLE_EFFORT)
    of = symbols.expressions.of

    def numbers(universe: Mapping[str, Sequence[Z]]) -> list[Z]:
        return [
            value
            for sort, name, kind in fields
            for each in universe[sort]
            for value in _values(symbols.value(sort, name, each), kind, universe)
        ]

    def greatest(candidate: SolverModel) -> int:
        solution, universe = candidate
        return max(abs(int(solution.eval(each, model_completion=True).as_long())) for each in numbers(universe))

    def within(limit: int, zeros: Sequence[int] = ()) -> SolverModel | None:
        def small(universe: Mapping[str, Sequence[Z]]) -> list[Z]:
            every = numbers(universe)
            limited = [And(each >= of(-limit), each <= of(limit)) for each in every]
            return [*limited, *(every[n] == of(0) for n in zeros)]

        return _model_of(solver, symbols, sizes, assumptions, small)

    low, high = 0, greatest(model)
    while low < high:
        middle = (low + high) // 2
        if smaller := within(middle):
            model, high = smaller, greatest(smaller)
        else:
            low = middle + 1
    zeros: list[int] = []
    for n in range(len(numbers(model[1]))):
        if smaller := within(high, [*zeros, n]):
            model = smaller
            zeros.append(n)
    return model


def _values(value: Any, kind: Type, universe: Mapping[str, Sequence[Z]]) -> list[Z]:
    """A number, all values of a function to numbers, or the length of a sequence."""
    if isinstance(kind, SequenceType):
        return [value.length]
    if not isinstance(kind, Function):
        return [value]
    return [value(*arguments) for arguments in product(*(universe[sort.name] for sort in kind.sorts))]


class _Reader:
    """The finite state that a z3 model describes. It evaluates only ground terms."""

    def __init__(self, proof: Proof, model: Any, universe: Mapping[str, Sequence[Z]]) -> None:
        self.model = proof.model
        self.solution = model
        self.objects: dict[str, list[Z]] = {}
        for sort, elements in universe.items():
            distinct: list[Z] = []
            for element in elements:
                value = self.value(element)
                if not any(z3.eq(value, d) for d in distinct):
                    distinct.append(value)
            self.objects[sort] = distinct
        rigid = {
            (m.sort.name, a.name): [self.plain(a.type, proof.symbols.value(m.sort.name, a.name, x)) for x in self.of(m)]
            for m in self.model.machines
            for a in m.attributes
            if a.rigid
        }
        sizes = {sort: len(objects) for sort, objects in self.objects.items()}
        self.instance = Instance(self.model, sizes, rigid, with_history=True)

    def of(self, machine: Machine) -> list[Z]:
        """The objects of a machine's sort."""
        return self.objects[machine.sort.name]

    def value(self, expression: Z) -> Z:
        """The value of a ground expression in the z3 model."""
        return self.solution.eval(expression, model_completion=True)

    def true(self, formula: Z) -> bool:
        """Whether a ground formula is true in the z3 model."""
        return bool(z3.is_true(self.value(formula)))

    def number(self, sort: str, expression: Z) -> int:
        """The number of the object that an expression denotes."""
        value = self.value(expression)
        return next(n for n, v in enumerate(self.objects[sort]) if z3.eq(v, value))

    def plain(self, kind: Type, value: Any) -> RigidValue:
        """A value of type ``kind`` in Python: object numbers, sets of them, numbers, words."""
        match kind:
            case Ref(sort):
                if hasattr(value, "defined"):
                    return self.number(sort.name, value.value) if self.true(value.defined) else None
                return self.number(sort.name, value)
            case SetOf(sort):
                return frozenset(n for n, v in enumerate(self.objects[sort.name]) if self.true(value(v)))
            case Relation(sorts):
                every = product(*(enumerate(self.objects[each.name]) for each in sorts))
                return frozenset(
                    tuple([n for n, _ in each]) for each in every if self.true(value(*[v for _, v in each]))
                )
            case Function(sorts, to):
                every = product(*(enumerate(self.objects[each.name]) for each in sorts))
                return {tuple([n for n, _ in each]): self.one(to, value(*[v for _, v in each])) for each in every}
            case SequenceType(of):
                length = int(self.value(value.length).as_long())
                return tuple([self.one(of, value.item(n)) for n in range(length)])
            case BoolType():
                return self.true(value)
            case IntRange() | Integer():
                return int(self.value(value).as_long())
            case EnumType():
                return str(self.value(value)).split(".", 1)[-1]

    def one(self, kind: Type, value: Any) -> Value | None:
        """One value of a function in Python."""
        plain = self.plain(kind, value)
        assert not isinstance(plain, frozenset | Mapping | tuple)
        return plain

    def state(self, symbols: Symbols) -> State:
        """The state before the step, packed."""
        packed = list(self.instance.initial())
        for machine in self.model.machines:
            sort = machine.sort.name
            for n, x in enumerate(self.of(machine)):
                if machine.states:
                    name = str(self.value(symbols.state(sort, x))).split(".", 1)[-1]
                    packed[self.instance.slot(sort) + n] = [s.name for s in machine.states].index(name)
                for a in self.instance.attributes(sort):
                    value = self.instance.encoded(a.type, self.plain(a.type, symbols.value(sort, a.name, x)))
                    packed[self.instance.slot(sort, a.name) + n] = value
        return tuple(packed)


def state_of(proof: Proof, solution: SolverModel) -> tuple[Instance, State]:
    """The instance and the state before the step that a z3 model describes."""
    reader = _Reader(proof, *solution)
    return reader.instance, reader.state(proof.symbols)


def shown(proof: Proof, obligation: Obligation, model: Any, universe: Mapping[str, Sequence[Z]]) -> Counterexample:
    """The counterexample to an obligation: the state before comes from z3, the step from the interpreter."""
    reader = _Reader(proof, model, universe)
    instance = reader.instance
    if obligation.action == INITIAL:
        start = _described(instance, instance.initial())
        problem = f"property {obligation.invariant} is violated in the initial state"
        return Counterexample((), problem, start=start, objects=_every_object(instance))
    state = reader.state(proof.symbols)
    action = proof.model.action(obligation.action)
    parameters = proof.cascades[obligation.action].parameters
    chosen = [(v.name, encode(v.type, reader.plain(v.type, parameters[v.name]))) for v in action.parameters]
    choice = Choice(action.name, tuple(chosen))
    what, why = "this step violates it", ""
    changed: Sequence[FieldChange] = ()
    try:
        after, changed = changes(Stepper(instance), state, choice)
        what += _counted(proof, instance, obligation, after)
    except (IllFormed, Undefined) as error:
        why = str(error)
        what = f"this step is ill-formed ({why})"
        if obligation.invariant != WELL_FORMED:
            what += f", so {WELL_FORMED} fails here too"
    problem = (
        f"property {obligation.invariant} is not inductive: {what}, and no assumed invariant excludes the state before"
        f"{_excluded(_dropped(proof, instance, obligation, state))}"
    )
    step = trace_step(instance, choice, state, changed, why)
    return Counterexample((step,), problem, start=_described(instance, state), objects=_every_object(instance))


def _dropped(proof: Proof, instance: Instance, obligation: Obligation, state: State) -> list[str]:
    """The invariants that are false in a state from which induction fails: they are not inductive themselves.

    Without those that are expected to be violated: the state may then be reachable.
    """
    names = proof.assumed.keys() - proof.model.refuted - {obligation.invariant}
    invariants = [p for p in proof.model.properties if isinstance(p, Invariant) and p.name in names]
    return [p.name for p in invariants if Check(instance, p).violated(Moment(state)) is not None]


def _counted(proof: Proof, instance: Instance, obligation: Obligation, after: State) -> str:
    """What the counts of an invariant count after the step that violates it: `` (3 counted: g1, g2, g4)``; else empty."""
    prop = next((p for p in proof.model.properties if p.name == obligation.invariant), None)
    if not isinstance(prop, Invariant):
        return ""
    check, moment = Check(instance, prop), Moment(after)
    return check.counted(moment) if check.violated(moment) is not None else ""


def _excluded(dropped: Sequence[str]) -> str:
    if not dropped:
        return ""
    names, many = ", ".join(dropped), len(dropped) > 1
    are = "they are not inductive themselves" if many else "it is not inductive itself"
    return f"; {names} would, but {are}: prove {'those' if many else 'that one'} first"


def _every_object(instance: Instance) -> tuple[ObjectFacts, ...]:
    sorts = [machine.sort.name for machine in instance.model.machines]
    return introductions(instance, [name for sort in sorts for name in instance.object_names(sort)], ())


def _described(instance: Instance, state: State) -> dict[str, dict[str, object]]:
    """Every object with its fields, including its rigid attributes."""
    shown_objects: dict[str, dict[str, object]] = {}
    for sort, objects in instance.describe(state).items():
        for n, (name, fields) in enumerate(objects.items()):
            rigid = [a for a in instance.model.machine(sort).attributes if a.rigid]
            shown = {a.name: instance.show(a.type, instance.rigid_values(sort, a)[n]) for a in rigid}
            shown_objects[name] = {**fields, **shown}
    return shown_objects

"""The proofs' reading of a model beside the interpreter's, on single finite states and steps.

A state, an action and its parameters are asserted in z3, object by object; then every formula of the
proof has one truth value, which must be the interpreter's: every invariant before and after, every
step invariant, what fires, every field after, and whether the step is well-formed. The states are
random, not only reachable ones, since proofs speak of those too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import z3

from schedproof.model.lang import (
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Invariant,
    Model,
    Recovery,
    Ref,
    Relation,
    SetOf,
    StepInvariant,
    Type,
)
from schedproof.model.lang import Sequence as Sequential
from schedproof.model.lang import terms as t
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    Moment,
    State,
    Step,
    Stepper,
    Undefined,
    compile_term,
    functions,
    sequences,
)
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.safety import recovery_steps
from schedproof.proofs.induction import obligations
from schedproof.proofs.induction.obligations import Proof, closed


@dataclass
class Counts:
    """What a cross-check has seen: a check that meets nothing shows nothing."""

    steps: int = 0
    ill_formed: int = 0
    formulas: int = 0
    true: int = 0
    false: int = 0
    fired: set[tuple[str, str]] = field(default_factory=set)


class CrossCheck:
    """One model at fixed numbers of objects."""

    def __init__(self, model: Model, sizes: dict[str, int], seed: int) -> None:
        self.model, self.sizes, self.random = model, sizes, Random(seed)
        self.proof: Proof = obligations(model)
        self._ground: dict[int, tuple[Any, Any]] = {}
        [usual] = self.model.configurations(sizes)
        self.usual = usual
        self.reached = self.steps_by_events()
        symbols = self.proof.symbols
        self.solver = z3.Solver(ctx=symbols.context)
        self.solver.set("smt.ematching", False)
        self.objects = {s: [symbols.constant(f"{s}#{i}", s) for i in range(sizes[s])] for s in symbols.sorts}
        for name, sort in symbols.sorts.items():
            x = z3.Const("x", sort)
            self.solver.add(z3.ForAll([x], z3.Or(*[x == o for o in self.objects[name]])))
            if sizes[name] > 1:
                self.solver.add(z3.Distinct(*self.objects[name]))

    # --- Random states and choices -----------------------------------------------------------------------------------

    def instance(self) -> Instance:
        """An instance with the rigid attributes of explorations, or with random ones."""
        if self.random.random() < 0.6:
            return Instance(self.model, self.sizes, self.usual, with_history=True)
        rigid: dict[tuple[str, str], list[Any]] = {}
        for machine in self.model.machines:
            for attribute in machine.attributes:
                if attribute.rigid:
                    values = [self.rigid_value(attribute.type) for _ in range(self.size(machine))]
                    rigid[machine.sort.name, attribute.name] = values
        return Instance(self.model, self.sizes, rigid, with_history=True)

    def rigid_value(self, kind: Type) -> Any:
        """Any value of a type, as a configuration has it; sets and relations with fewer elements than not."""
        match kind:
            case SetOf(sort):
                return frozenset(n for n in range(self.sizes[sort.name]) if self.random.random() < 0.4)
            case Relation(sorts):
                every = product(*(range(self.sizes[sort.name]) for sort in sorts))
                return frozenset(each for each in every if self.random.random() < 0.4)
            case Function(sorts, to):
                every = product(*(range(self.sizes[sort.name]) for sort in sorts))
                return {each: self.rigid_value(to) for each in every}
            case Ref(sort):
                return self.random.choice([None, *range(self.sizes[sort.name])])
            case EnumType(values):
                return self.random.choice(values)
            case IntRange(low, high):
                return self.random.randint(low, high)
            case Integer():
                return self.random.randint(0, 3)
        return self.random.random() < 0.5

    def size(self, machine: Any) -> int:
        """The number of objects of a machine's sort."""
        return self.sizes[machine.sort.name]

    def steps_by_events(self) -> Mapping[tuple[str, str], Sequence[Sequence[tuple[State, Choice]]]]:
        """For each event the steps of an exploration in which it fires, grouped by what else does.

        So that what is rare is met as often as the rest.
        """
        instance = Instance(self.model, self.sizes, self.usual, with_history=True)
        groups: dict[frozenset[tuple[str, str]], list[tuple[State, Choice]]] = {}
        exploration = explore(instance, limit=2000)
        stepper = Stepper(instance)
        for state, edges in zip(exploration.states, exploration.edges, strict=True):
            for edge in edges:
                groups.setdefault(frozenset(stepper.firings(state, edge.choice)), []).append((state, edge.choice))
        events = sorted({event for fired in groups for event in fired})
        return {event: [steps for fired, steps in groups.items() if event in fired] for event in events}

    def start(self, instance: Instance) -> tuple[State, Choice]:
        """A step that explorations reach, with a few fields exchanged for any values, or another choice."""
        groups = self.reached[self.random.choice(list(self.reached))]
        reached, choice = self.random.choice(self.random.choice(groups))
        state = list(reached)
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2, 3, len(state)])):
            slot = self.random.randrange(len(state))
            state[slot] = self.random.choice(self.values(instance, slot))
        return tuple(state), choice if self.random.random() < 0.7 else self.choice(instance, tuple(state))

    def values(self, instance: Instance, slot: int) -> list[int]:
        """What a slot may hold."""
        for machine in self.model.machines:
            sort = machine.sort.name
            if machine.states and 0 <= slot - instance.slot(sort) < self.sizes[sort]:
                return list(range(len(machine.states)))
            for attribute in instance.attributes(sort):
                if 0 <= slot - instance.slot(sort, attribute.name) < self.sizes[sort]:
                    if isinstance(attribute.type, Integer):
                        return [n for n in (*range(-3, 4), -(10**9), 10**9) if n in attribute.type]
                    if isinstance(kind := attribute.type, Function):
                        packing = instance.packing(kind)
                        one = [*([-1] if isinstance(kind.to, Ref) else []), *instance.domain(kind.to)]
                        return [packing.of([self.random.choice(one) for _ in range(packing.tuples)])]
                    if isinstance(kind, Sequential):
                        one = [*([-1] if isinstance(kind.of, Ref) else []), *instance.domain(kind.of)]
                        return [instance.items(kind).of(self.random.choices(one, k=self.random.randint(0, 3)))]
                    none = [-1] if isinstance(attribute.type, Ref) else []
                    domain = instance.domain(attribute.type)
                    if isinstance(attribute.type, Relation):
                        return [self.random.choice(domain)]  # there may be millions
                    return none + list(domain)
        raise AssertionError(slot)

    def choice(self, instance: Instance, state: State) -> Choice:
        """An enabled choice nearly always, if there is one, of any action alike."""
        stepper, actions = Stepper(instance), list(self.model.actions)
        self.random.shuffle(actions)
        for action in actions if self.random.random() < 0.95 else []:
            try:
                if enabled := list(stepper.choices(state, action)):
                    return self.random.choice(enabled)
            except Undefined:
                break
        action = actions[0]
        return Choice(
            action.name, tuple((v.name, self.random.choice(list(instance.domain(v.type)))) for v in action.parameters)
        )

    # --- The same in z3 ----------------------------------------------------------------------------------------------

    def constant(self, kind: Type, value: int) -> Any:
        """A scalar as z3 has it."""
        context = self.proof.symbols.context
        match kind:
            case BoolType():
                return z3.BoolVal(bool(value), context)
            case IntRange() | Integer():
                return z3.IntVal(value, context)
            case EnumType(values):
                return self.proof.symbols.enum(values)[values[value]]
        raise AssertionError(kind)

    def equal(self, kind: Type, symbol: Any, value: int) -> list[Any]:
        """That a symbol (a reference, a set or a scalar) has a value of the state."""
        match kind:
            case Ref(sort):
                if not hasattr(symbol, "defined"):
                    return [symbol == self.objects[sort.name][value]]
                if value < 0:
                    return [z3.Not(symbol.defined)]
                return [symbol.defined, symbol.value == self.objects[sort.name][value]]
            case SetOf(sort):
                return [symbol(o) == bool(value >> i & 1) for i, o in enumerate(self.objects[sort.name])]
            case Function(sorts, to):
                packing = functions.packing(kind, self.sizes)
                every = product(*(self.objects[sort.name] for sort in sorts))
                return [
                    formula
                    for each, one in zip(every, packing.all(value), strict=True)
                    for formula in self.equal(to, symbol(*each), one)
                ]
            case Sequential(of):
                items = sequences.items(kind, self.sizes).all(value)
                length = z3.IntVal(len(items), self.proof.symbols.context)
                return [
                    symbol.length == length,
                    *(formula for n, one in enumerate(items) for formula in self.equal(of, symbol.item(n), one)),
                ]
            case Relation(sorts):
                every = product(*(self.objects[sort.name] for sort in sorts))
                return [symbol(*each) == bool(value >> n & 1) for n, each in enumerate(every)]
        return [symbol == self.constant(kind, value)]

    def reads(self, view: Any, instance: Instance, state: State) -> Iterator[tuple[str, Any]]:
        """That ``view`` is ``state``, field by field."""
        for machine in self.model.machines:
            sort = machine.sort.name
            for i, o in enumerate(self.objects[sort]):
                if machine.states:
                    name = machine.states[state[instance.slot(sort) + i]].name
                    yield f"{sort} {i}", view.state(sort, o) == self.proof.symbols.states[sort][name]
                for attribute in machine.attributes:
                    if attribute.rigid:
                        value = instance.rigid_values(sort, attribute)[i]
                    else:
                        value = state[instance.slot(sort, attribute.name) + i]
                    symbol = view.value(sort, attribute.name, o)
                    yield f"{sort} {i} {attribute.name}", z3.And(*self.equal(attribute.type, symbol, value))

    # --- Comparison --------------------------------------------------------------------------------------------------

    def differences(self, tries: int, counts: Counts | None = None) -> Iterator[str]:
        """Where the two readings differ, on ``tries`` random steps."""
        counts = counts if counts is not None else Counts()
        for _ in range(tries):
            instance = self.instance()
            state, choice = self.start(instance)
            formulas = [*self.before(instance, state), *self.during(instance, state, choice, counts)]
            counts.formulas += len(formulas)
            counts.true += sum(1 for _, _, truth in formulas if truth)
            counts.false += sum(1 for _, _, truth in formulas if not truth)
            for what, value, truth in self.evaluated(instance, state, choice, formulas):
                if value != truth:
                    yield f"{instance.describe(state)}, {choice}: {what}: z3 says {value}, the interpreter {truth}"

    def before(self, instance: Instance, state: State) -> Iterator[tuple[str, Any, bool]]:
        """Axioms and invariants before the step."""
        for n, axiom in enumerate(self.model.axioms):
            yield f"axiom {n + 1}", self.proof.axioms[n], _truth(instance, axiom, state)
        for prop in self.model.properties:
            if isinstance(prop, Invariant):
                try:
                    truth = _truth(instance, closed(prop), state)
                except Undefined:  # it reads an attribute of NONE, in a state that need not be reachable
                    continue
                yield f"{prop.name} before", self.proof.assumed[prop.name], truth

    def during(
        self, instance: Instance, state: State, choice: Choice, counts: Counts
    ) -> Iterator[tuple[str, Any, bool]]:
        """The guard; where it holds, well-formedness; where that holds, all that the step does."""
        cascade = self.proof.cascades[choice.action]
        of_action = [o for o in self.proof.obligations if o.action == choice.action]
        formed = [o for o in of_action if o.invariant == WELL_FORMED]
        reads = [o.goal for o in formed if "the guard reads" in o.detail]
        stepper = Stepper(instance)
        try:
            enabled = stepper.enabled(state, choice)
        except Undefined:
            yield "the guard is defined", z3.And(*reads), False
            return
        yield "the guard", cascade.guard, enabled
        if not enabled:
            return
        counts.steps += 1
        goals = [o.goal for o in formed if "the guard reads" not in o.detail]
        try:
            step = stepper.step(state, choice)
        except (IllFormed, Undefined) as error:
            counts.ill_formed += 1
            yield f"the step is well-formed ({error})", z3.And(*goals), False
            return
        yield "the step is well-formed", z3.And(*goals), True
        counts.fired |= set(step.fired)
        for what, formula in self.reads(cascade.after, instance, step.after):
            yield f"{what} after", formula, True
        for sort, event in cascade.fired:
            for i, o in enumerate(self.objects[sort]):
                fires = i in step.fired.get((sort, event), {})
                yield f"{sort}.{event} on {i}", cascade.fires(sort, event, o), fires
        for obligation in of_action:
            if obligation.invariant != WELL_FORMED:
                prop = self.prop(obligation.invariant, obligation.detail)
                yield f"{obligation.name} after", obligation.goal, holds(instance, prop, state, step)

    def prop(self, name: str, detail: str) -> Invariant | StepInvariant:
        """The property (or the part of it) that an obligation is about."""
        prop = self.model.property(name)
        if isinstance(prop, Recovery):
            return recovery_steps(self.model, prop)[int(detail.removeprefix("part ")) - 1]
        assert isinstance(prop, Invariant | StepInvariant)
        return prop

    def ground(self, formula: Any) -> Any:
        """The formula with its quantifiers over objects spelled out, object by object: z3 need not search."""
        key = formula.get_id()
        if key not in self._ground:
            self._ground[key] = formula, self._spelled_out(formula)  # the formula is kept, so that its id stays its own
        return self._ground[key][1]

    def _spelled_out(self, formula: Any) -> Any:
        if z3.is_quantifier(formula):
            sorts = [formula.var_sort(n).name() for n in range(formula.num_vars())]
            if any(sort not in self.objects for sort in sorts):
                return formula
            bodies = [
                self.ground(z3.substitute_vars(formula.body(), *reversed(chosen)))
                for chosen in product(*(self.objects[sort] for sort in sorts))
            ]
            return z3.And(*bodies) if formula.is_forall() else z3.Or(*bodies)
        parts = [self.ground(part) for part in formula.children()]
        return formula.decl()(*parts) if parts else formula

    def evaluated(
        self, instance: Instance, state: State, choice: Choice, formulas: list[tuple[str, Any, bool]]
    ) -> Iterator[tuple[str, bool, bool]]:
        """Each formula's truth in the one structure that the state and the choice make."""
        cascade = self.proof.cascades[choice.action]
        types = {v.name: v.type for v in self.model.action(choice.action).parameters}
        self.solver.push()
        self.solver.add(*[formula for _, formula in self.reads(self.proof.symbols, instance, state)])
        for name, value in choice.parameters:
            self.solver.add(*self.equal(types[name], cascade.parameters[name], value))
        self.solver.add(*[self.ground(axiom) for axiom in cascade.axioms])
        flags = [z3.Bool(f"flag {n}", self.proof.symbols.context) for n in range(len(formulas))]
        self.solver.add(*[flag == self.ground(formula) for flag, (_, formula, _) in zip(flags, formulas, strict=True)])
        assert self.solver.check() == z3.sat, "no structure is this state"
        solution = self.solver.model()
        self.solver.pop()
        for flag, (what, _, truth) in zip(flags, formulas, strict=True):
            yield what, bool(z3.is_true(solution.eval(flag, model_completion=True))), truth


def _truth(instance: Instance, term: t.Term, state: State) -> bool:
    return bool(compile_term(instance, term, {})(Moment(state)))


def holds(instance: Instance, prop: Invariant | StepInvariant, state: State, step: Step) -> bool:
    """A property of a step, or of the state after it, by the interpreter; what reads no object does not hold."""
    on = prop.on if isinstance(prop, StepInvariant) else ()
    scope = {v.name: v for v in common_parameters(instance.model, on)}
    truth = compile_term(instance, closed(prop), scope)
    try:
        if isinstance(prop, Invariant):
            return bool(truth(Moment(step.after)))
        return bool(truth(Moment(state, dict(step.choice.parameters), step.fired, step.after)))
    except Undefined:
        return False

"""The state of any number of objects as z3 symbols, and the initial state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import z3

from schedproof.model.lang import (
    BoolType,
    EnumType,
    Function,
    Integer,
    IntRange,
    Model,
    Ref,
    Relation,
    Rule,
    SetOf,
    Sort,
    Type,
)
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.triggers import trigger_graph
from schedproof.model.lang.types import Sequence as SequenceType

from .expressions import Expression, Expressions, If

Z = Any
"""A z3 expression. z3's own classes are untyped."""

Member = Callable[..., Z]
"""A set or a relation, as the function from an element, or a tuple's objects, to the formula that it is contained."""


Mapped = Callable[..., Any]
"""A function of the model, from the objects of a tuple to the value: a z3 expression or a :class:`Reference`."""


@dataclass(frozen=True)
class Reference:
    """An object or none; ``value`` has a meaning only where ``defined`` is true."""

    defined: Z
    value: Z


@dataclass(frozen=True)
class Items:
    """A sequence: its length, and the item at each index. Those below 0 and from the length on have no meaning."""

    length: Z
    item: Mapped


def choose(condition: Z, yes: Any, no: Any) -> Any:
    """``yes`` where ``condition`` is true, else ``no``. Both are scalars, references, sets, functions or sequences."""
    if isinstance(yes, Reference):
        return Reference(If(condition, yes.defined, no.defined), _choose_value(condition, yes.value, no.value))
    if isinstance(yes, Expression):
        return If(condition, yes, no)
    if isinstance(yes, Items):
        return Items(If(condition, yes.length, no.length), choose(condition, yes.item, no.item))
    return lambda *element: choose(condition, yes(*element), no(*element))


def _choose_value(condition: Z, yes: Z | None, no: Z | None) -> Z:
    """The value of a conditional reference. The value of a side that is none has no meaning."""
    if yes is None or no is None:
        return no if yes is None else yes
    return yes if yes is no else If(condition, yes, no)


class View(Protocol):
    """Reads the fields of a state."""

    def state(self, sort: str, of: Z) -> Z:
        """The machine state of an object."""

    def value(self, sort: str, attribute: str, of: Z) -> Any:
        """An attribute of an object: a z3 expression, a Reference, a Member, a Mapped or Items, by its type."""


class Symbols:
    """The sorts, states and attributes of a model as uninterpreted symbols; they describe the state before the step."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.context = z3.Context()
        self.expressions = Expressions(self.context)
        self.open_quantifiers = 0
        self._unknowns = 0
        self.sorts: dict[str, Z] = {s.name: z3.DeclareSort(s.name, self.context) for s in model.sorts}
        self.states: dict[str, dict[str, Z]] = {}
        self.enums: dict[tuple[str, ...], dict[str, Z]] = {}
        self._state: dict[str, Z] = {}
        self._value: dict[tuple[str, str], Any] = {}
        self._defined: dict[tuple[str, str], Z] = {}
        self._length: dict[tuple[str, str], Z] = {}
        self._maps_to_some: dict[tuple[str, str], Z] = {}
        # The strata of the cascade, in order, each with the rules that fire its event.
        self.strata: dict[tuple[str, str], list[Rule]] = {node: [] for node in trigger_graph(model).sorted()}
        for rule in model.rules:
            self.strata[sort_of(model, rule.fires.of, {}), rule.fires.event].append(rule)
        for machine in model.machines:
            name = machine.sort.name
            if machine.states:
                kind, values = z3.EnumSort(
                    f"{name}State", [f"{name}.{s.name}" for s in machine.states], ctx=self.context
                )
                self.states[name] = {
                    s.name: self.expressions.of(v) for s, v in zip(machine.states, values, strict=True)
                }
                self._state[name] = self.expressions.function(f"{name}.state", self.sorts[name], kind)
            for attribute in machine.attributes:
                self._declare(name, attribute.name, attribute.type)

    def _declare(self, sort: str, name: str, kind: Type) -> None:
        of, symbol, function = self.sorts[sort], f"{sort}.{name}", self.expressions.function
        truth = z3.BoolSort(self.context)
        match kind:
            case Ref(target):
                self._value[sort, name] = function(symbol, of, self.sorts[target.name])
                self._defined[sort, name] = function(f"has {symbol}", of, truth)
            case SetOf(element):
                self._value[sort, name] = function(symbol, of, self.sorts[element.name], truth)
            case Relation(sorts):
                self._value[sort, name] = function(symbol, of, *(self.sorts[each.name] for each in sorts), truth)
            case Function(sorts, to):
                arguments = [of, *(self.sorts[each.name] for each in sorts)]
                self._value[sort, name] = function(symbol, *arguments, self.kind(to))
                if isinstance(to, Ref):
                    self._maps_to_some[sort, name] = function(f"has {symbol}", *arguments, truth)
            case SequenceType(item):
                index = z3.IntSort(self.context)
                self._length[sort, name] = function(f"length of {symbol}", of, index)
                self._value[sort, name] = function(symbol, of, index, self.kind(item))
                if isinstance(item, Ref):
                    self._maps_to_some[sort, name] = function(f"has {symbol}", of, index, truth)
            case _:
                self._value[sort, name] = function(symbol, of, self.kind(kind))

    def __del__(self) -> None:
        """Ends the translation: a z3 context takes tens of megabytes, and collections of garbage are rare beside a large heap."""
        self.expressions.close()

    def references(self) -> Iterator[tuple[str, Z, Z]]:
        """Each attribute that is a reference: its sort, the predicate that it is not none, and its value."""
        for (sort, name), has in self._defined.items():
            yield sort, has, self._value[sort, name]

    def kind(self, kind: Type) -> Z:
        """The z3 sort of a value type; for a reference, the sort of its object."""
        match kind:
            case Ref(sort):
                return self.sorts[sort.name]
            case BoolType():
                return z3.BoolSort(self.context)
            case IntRange() | Integer():
                return z3.IntSort(self.context)
            case EnumType(values):
                self.enum(values)
                return next(iter(self.enums[values].values())).sort()
            case SetOf() | Relation() | Function() | SequenceType():
                raise AssertionError("sets are relations, and functions have arguments")

    def enum(self, values: tuple[str, ...]) -> Mapping[str, Z]:
        """The constants of an enumeration type."""
        if values not in self.enums:
            number = len(self.enums)
            _, constants = z3.EnumSort(f"Enum{number}", [f"enum{number}.{v}" for v in values], ctx=self.context)
            self.enums[values] = dict(zip(values, map(self.expressions.of, constants), strict=True))
        return self.enums[values]

    def constant(self, name: str, sort: Sort | str) -> Z:
        """An object constant."""
        return self.expressions.constant(name, self.sorts[sort if isinstance(sort, str) else sort.name])

    def predicate(self, name: str, sort: str) -> Z:
        """A predicate on the objects of ``sort``."""
        return self.expressions.function(name, self.sorts[sort], z3.BoolSort(self.context))

    def unknown(self, arguments: Sequence[Z]) -> Z:
        """A number of which nothing is known, a new one for each call and each value of the arguments."""
        self._unknowns += 1
        name, number = f"unknown {self._unknowns}", z3.IntSort(self.context)
        if not arguments:
            return self.expressions.constant(name, number)
        return self.expressions.function(name, *(each.sort() for each in arguments), number)(*arguments)

    def true(self) -> Z:
        """The constant true."""
        return self.expressions.true

    def false(self) -> Z:
        """The constant false."""
        return self.expressions.false

    def state(self, sort: str, of: Z) -> Z:
        """The machine state of an object before the step."""
        return self._state[sort](of)

    def value(self, sort: str, attribute: str, of: Z) -> Any:
        """An attribute of an object before the step."""
        symbol = self._value[sort, attribute]
        if (sort, attribute) in self._defined:
            return Reference(self._defined[sort, attribute](of), symbol(of))
        declared = self.model.machine(sort).attribute(attribute)
        assert declared is not None
        if isinstance(declared.type, SetOf | Relation):
            return lambda *element: symbol(of, *element)
        if isinstance(declared.type, Function | SequenceType):
            some = self._maps_to_some.get((sort, attribute))

            def mapped(*element: Z) -> Any:
                value = symbol(of, *element)
                return value if some is None else Reference(some(of, *element), value)

            if isinstance(declared.type, Function):
                return mapped
            return Items(self._length[sort, attribute](of), mapped)
        return symbol(of)


@dataclass(frozen=True)
class Initial:
    """The initial state of any number of objects. Rigid attributes are as in the state before the step."""

    symbols: Symbols

    def state(self, sort: str, of: Z) -> Z:
        """The first state of the machine, or another state whose ``begins`` attribute is true for this object."""
        first, *others = self.symbols.model.machine(sort).states
        value = self.symbols.states[sort][first.name]
        for other in others:
            if other.begins:
                begins = self.symbols.value(sort, other.begins, of)
                value = If(begins, self.symbols.states[sort][other.name], value)
        return value

    def value(self, sort: str, attribute: str, of: Z) -> Any:
        """The initial value of an attribute."""
        declared = self.symbols.model.machine(sort).attribute(attribute)
        assert declared is not None
        if declared.rigid:
            return self.symbols.value(sort, attribute, of)
        if isinstance(declared.type, Function):
            first = self._first(declared.type.to, None)
            return lambda *element: first
        if isinstance(declared.type, SequenceType):
            return self.no_items(declared.type)
        return self._first(declared.type, declared.initial)

    def no_items(self, kind: SequenceType) -> Items:
        """The empty sequence."""
        first = self._first(kind.of, None)
        return Items(self.symbols.expressions.of(0), lambda index: first)

    def _first(self, kind: Type, initial: object) -> Any:
        """The initial value of a type: ``initial``, or the first one."""
        match kind:
            case Ref(target):
                return Reference(self.symbols.false(), self.symbols.constant(f"no {target}", target))
            case SetOf() | Relation():
                return lambda *element: self.symbols.false()
            case BoolType():
                return self.symbols.true() if initial else self.symbols.false()
            case IntRange(low, _):
                return self.symbols.expressions.of(low if initial is None else int(str(initial)))
            case Integer(low):
                return self.symbols.expressions.of((low or 0) if initial is None else int(str(initial)))
            case EnumType(values):
                return self.symbols.enum(values)[values[0] if initial is None else str(initial)]
        raise AssertionError(f"{kind} has no first value")

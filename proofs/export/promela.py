"""A model at a scope in Promela, for SPIN: a readable text with the model's states and transitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from schedproof.model.lang import Invariant, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.machine import Attribute
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.rules import Action, Rule
from schedproof.model.lang.types import Function, Integer, IntRange, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, ScopeError, bounds_of, range_of, tuples
from schedproof.model.semantics.evaluate import Owner
from schedproof.model.semantics.magnitude import longest
from schedproof.model.semantics.step import ordered_rules
from schedproof.proofs.exploration.safety import conditions_of

from .cascade import Event, cascade, conditions, own_variables
from .expressions import NONE, Expressions, Scope, Text, code, conjunction, fitting, negation
from .properties import (
    BRANCHING,
    LIVENESS,
    Condition,
    ExportedProperties,
    Selection,
    exported_properties,
)

NEXT = "next_"
"""The prefix of names that belong to the state after the step."""

MOST_OBJECTS = 31
"""The most objects of a sort: sets of them are masks in integers of 32 bits, one of which is the sign."""

MOST_CHOICES = 20_000
"""The most choices of an action's parameters; SPIN cannot read texts of arbitrary length."""

END_OF_EACH = (":: else -> skip fi;", "}", ":: else -> skip fi;")


@dataclass(frozen=True)
class Specification:
    """A Promela text, and the properties that it checks."""

    text: str
    properties: ExportedProperties


def promela(instance: Instance, *, crash: bool = True, only: Selection = (), title: str = "") -> Specification:
    """The Promela text of ``instance``.

    Each step of the model is one transition, so SPIN stores as many states as the model has.
    An ill-formed step leads back to its source state.
    So does a step beyond the bounds of an exploration: it is dropped.
    But if a step reads an attribute of NONE, SPIN reports an index out of bounds.
    Properties are assertions. Each state has one more transition, back to itself, that checks the properties of states.

    Args:
        instance: the model at a scope.
        crash: include crash actions.
        only: the properties to check, by default none; None means all that can be written.
        title: a remark on the instance for the top of the text.

    Raises:
        ScopeError: a sort has more objects, or a relation or a function more tuples, than a Promela
            integer has bits; a number is out of Promela's range; or there are too many choices to write out.
        ModelError: an integer has no bound.
        Unwritable: a property of ``only`` cannot be written.
    """
    for sort, size in instance.sizes.items():
        if size > MOST_OBJECTS:
            raise ScopeError(
                f"scope {sort}={size}: Promela has sets of up to {MOST_OBJECTS} objects; choose a smaller scope"
            )
    for kind in dict.fromkeys(a.type for m in instance.model.machines for a in m.attributes):
        if isinstance(kind, Relation) and tuples.number_of(instance.dimensions(kind)) > MOST_OBJECTS:
            number = tuples.number_of(instance.dimensions(kind))
            raise ScopeError(
                f"a {kind} has up to {number} tuples, and Promela has {MOST_OBJECTS} at most; choose a smaller scope"
            )
        if isinstance(kind, Function) and instance.packing(kind).width > MOST_OBJECTS:
            width = instance.packing(kind).width
            raise ScopeError(
                f"a {kind} has {width} bits, and Promela has {MOST_OBJECTS} at most; choose a smaller scope"
            )
        if isinstance(kind, SequenceType) and (width := instance.items(kind).bits * kind.at_most) > MOST_OBJECTS:
            raise ScopeError(
                f"a {kind} of up to {kind.at_most} items has {width} bits, and Promela has {MOST_OBJECTS} at most; "
                "choose a smaller scope, or write a smaller at_most"
            )
    for machine in instance.model.machines:
        kinds = [kind for event in machine.events for kind in event.parameters.values()]
        for kind in [*kinds, *(attribute.type for attribute in machine.attributes)]:
            if isinstance(kind, IntRange):
                fitting(kind.low)
                fitting(kind.high)
        for attribute in machine.attributes:
            if isinstance(attribute.type, Integer):
                sort = machine.sort.name
                rigid = instance.rigid_values(sort, attribute) if attribute.rigid else ()
                for number in rigid if attribute.rigid else range_of(instance.model, sort, attribute.name):
                    fitting(number)
    for action in instance.model.actions:
        choices = prod(len(instance.domain(v.type)) for v in action.parameters)
        if choices > MOST_CHOICES:
            raise ScopeError(
                f"action {action.name} has {choices} choices, each of which Promela has a line for; choose a smaller scope"
            )
    checked = exported_properties(instance, only, crash, {**BRANCHING, **LIVENESS})
    return Specification("\n".join(_Writer(instance, crash, checked, title).lines()) + "\n", checked)


@dataclass(frozen=True)
class _Field:
    """An attribute of a sort; or its state, with the name "" and the kind None."""

    sort: str
    name: str
    kind: Type | None


class _Writer:
    """Writes one Promela text."""

    def __init__(self, instance: Instance, crash: bool, checked: ExportedProperties, title: str) -> None:
        self.instance, self.checked, self.title = instance, checked, title
        self.x = Expressions(instance)
        self.ordered = ordered_rules(instance.model)
        self.actions = [a for a in instance.model.actions if crash or not a.crash]
        self.conditions: list[tuple[str, Condition]] = [
            (prop.name, part) for prop in checked.checked for part in conditions_of(instance.model, prop, crash=crash)
        ]
        self._checking: dict[str, None] = {}
        self.fields = [
            _Field(m.sort.name, name, kind)
            for m in instance.model.machines
            if instance.sizes[m.sort.name] > 0
            for name, kind in [
                *([("", None)] if m.states else []),
                *((a.name, a.type) for a in instance.attributes(m.sort.name)),
            ]
        ]
        self._loops: dict[str, None] = {}
        self.bounds = bounds_of(instance)

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        model = self.instance.model
        at = ", ".join(f"{sort} = {n}" for sort, n in self.instance.sizes.items())
        yield from _comment(f"{model.system} {model.variant} at {at}: {model.about}", self.title)
        if self.bounds:
            yield from _comment(f"Within {self.bounds.text}: a step beyond it is dropped, and leads back to its state.")
        if self.checked.names and self.checked.left_out:
            yield from _comment("Not said here:", *[f"{name}: {why}" for name, why in self.checked.left_out.items()])
        yield ""
        for machine in model.machines:
            for number, state in enumerate(machine.states):
                yield f"#define {self.x.state(machine.sort.name, state.name)} {number}"
        yield ""
        for f in self.fields:
            yield f"{self._type(f)} {self.x.field(f.sort, f.name)}[{self.instance.sizes[f.sort]}] = {self._initial(f)};"
        yield ""
        yield "/* Of the step that is taken; no part of a state. */"
        for f in self.fields:
            yield f"hidden {self._type(f)} {self._next(f)}[{self.instance.sizes[f.sort]}];"
        for machine in model.machines:
            for event in self._events(machine.sort.name):
                yield f"hidden int {self.x.fires(machine.sort.name, event)};"
                for name in machine.parameters(event):
                    array = self.x.payload(machine.sort.name, event, name)
                    yield f"hidden int {array}[{self.instance.sizes[machine.sort.name]}];"
        body = list(self._system())
        for name in sorted({v.name for a in self.actions for v in a.parameters}):
            yield f"hidden int {self.x.choice(name)};"
        for name in self._loops:
            yield f"hidden int {name};"
        for name in self._checking:
            yield f"hidden byte {name};"
        yield "hidden int wrong;"
        if self.bounds:
            yield "hidden int beyond;"
        yield ""
        yield from body

    def _events(self, sort: str) -> list[str]:
        if self.instance.sizes[sort] == 0:
            return []
        return list(dict.fromkeys(r.event for r in self.instance.model.rows if r.sort.name == sort))

    def _next(self, f: _Field) -> str:
        """The array of a field in the state after the step."""
        return self.x.field(f.sort, f.name, NEXT)

    def _type(self, f: _Field) -> str:
        match f.kind:
            case IntRange(low, high):
                return _number(low, high)
            case Integer():
                return _number(*range_of(self.instance.model, f.sort, f.name))
        return "byte" if self._bits(f.kind) <= 8 else "int"

    def _bits(self, kind: Type | None) -> int:
        """How many bits of a number have a value; a state, a value of an enumeration and an object have a byte."""
        match kind:
            case SetOf(sort):
                return self.instance.sizes[sort.name]
            case Function():
                return self.instance.packing(kind).width
            case SequenceType():
                return self.instance.items(kind).bits * kind.at_most
            case Relation():
                return tuples.number_of(self.instance.dimensions(kind))
        return 8

    def _initial(self, f: _Field) -> str:
        """The initial value of an array."""
        slot = self.instance.slot(f.sort, f.name)
        values = self.instance.initial()[slot : slot + self.instance.sizes[f.sort]]
        if min(values) < 0 and f.kind is not None and not isinstance(f.kind, Ref):
            return str(values[0])  # the same for all: braces allow no sign
        return "{" + ", ".join(str(code(v, f.kind) if f.kind is not None else v) for v in values) + "}"

    def _system(self) -> Iterator[str]:
        yield "active proctype system() {"
        yield "end:"
        yield "  do"
        options = [*self._states(), *(line for action in self.actions for line in self._action(action))]
        yield from options or ["  :: false"]
        yield "  od"
        yield "}"

    def _action(self, action: Action) -> Iterator[str]:
        choices = []
        for values in self.x.bindings(action.parameters):
            scope = Scope().binding(values)
            guard = conjunction([self.x.value(part, scope) for part in action.when])
            if guard != 0:
                met = guard if guard != 1 else "true"
                assignments = "; ".join(f"{self.x.choice(v.name)} = {value}" for v, value in values)
                choices.append(f"      :: {met} -> {assignments}" if assignments else f"      :: {met}")
        if not choices:
            return
        yield f"  :: atomic {{ {_remark(f'{action.name}: {action.says}')}"
        yield "      if"
        yield from choices
        yield "      fi;"
        yield "      d_step {"
        for line in self._step(action):
            yield "        " + line
        yield "      }"
        yield "    }"

    def _states(self) -> Iterator[str]:
        """The assertions of the properties of states, checked in each state."""
        lines = [
            line
            for name, part in self.conditions
            if isinstance(part, Invariant)
            for line in self._assert(name, part, Scope())
        ]
        if lines:
            yield "  :: d_step { /* The properties of every state. */"
            yield from (f"      {line}" for line in lines)
            yield "    }"

    def _assert(self, name: str, condition: Condition, scope: Scope) -> Iterator[str]:
        """An assertion that a condition holds; no line if it cannot be false."""
        loops = [(v, self.x.loop(i, v.name)) for i, v in enumerate(condition.over)]
        if any(not self.instance.domain(v.type) for v, _ in loops):
            return
        inner = scope.binding(loops)
        given = [self.x.value(condition.given, inner)] if condition.given is not None else []
        broken = conjunction([*given, negation(self.x.value(condition.then, inner))])
        if broken == 0:
            return
        holds = self.x.holds(name)
        self._checking[holds] = None
        yield f"{holds} = 1;"
        yield from self._for(loops)
        yield f"if :: {broken if broken != 1 else 'true'} -> {holds} = 0 :: else -> skip fi;"
        yield from ("}" for _ in loops)
        yield f"assert({holds});"

    def _for(self, loops: Sequence[tuple[t.Var, str]]) -> Iterator[str]:
        """The heads of loops over variables."""
        for v, name in loops:
            self._loops[name] = None
            domain = self.instance.domain(v.type)
            yield f"for ({name} : {domain[0]} .. {domain[-1]}) {{"

    def _steps(self, action: Action, scope: Scope) -> Iterator[str]:
        """The assertions of an action's steps, checked when all firings and the state after are known."""
        model = self.instance.model
        for name, condition in self.conditions:
            if isinstance(condition, StepInvariant) and (not condition.on or action.name in condition.on):
                common = common_parameters(model, condition.on)
                known = replace(scope, bound={}).binding([(v, self.x.choice(v.name)) for v in common])
                yield from self._assert(name, condition, known)

    def _step(self, action: Action) -> Iterator[str]:
        step = cascade(self.instance, self.ordered, action)
        roots, rules, fired = step.roots, step.rules, step.fired
        scope = Scope(fired=frozenset(fired)).binding([(v, self.x.choice(v.name)) for v in action.parameters])
        checked = list(self._steps(action, scope))
        yield "wrong = 0;"
        if self.bounds:
            yield "beyond = 0;"
        for machine in self.instance.model.machines:
            for name in self._events(machine.sort.name):
                yield f"{self.x.fires(machine.sort.name, name)} = 0;"
        for event, firing in roots:
            yield from self._fire(event, firing, scope, fired)
        for on, rule, event in rules:
            yield from self._rule(on, rule, event, scope, fired)
        if checked or self.bounds.spare:
            for f in self.fields:
                self._loops["me"] = None
                array = self.x.field(f.sort, f.name)
                yield f"for (me : 0 .. {self.instance.sizes[f.sort] - 1}) {{ {self._next(f)}[me] = {array}[me]; }}"
        for event in fired:
            yield from self._update(event)
        for condition in self.bounds.spare:
            spare = self.x.value(condition, Scope(prefix=NEXT))
            yield f"if :: {spare} -> skip :: else -> beyond = 1 fi;"
        yield "if"
        if self.bounds:
            yield ":: wrong == 0 && beyond == 1 -> skip"
            yield ":: wrong == 0 && beyond == 0 ->"
        else:
            yield ":: wrong == 0 ->"
        if self.checked.names:
            yield self._printed_step(action)
        yield from checked
        for event in fired:
            yield from self._commit(event)
        if self.checked.well_formed:
            holds = self.x.holds(WELL_FORMED)
            self._checking[holds] = None
            yield f":: else -> {holds} = 0; assert({holds})"
        else:
            yield ":: else -> skip"
        yield "fi"

    def _printed_step(self, action: Action) -> str:
        """The statement that prints a step in SPIN's trail."""
        template = " ".join([_plain(action.name), *(f"{_plain(v.name)}=%d" for v in action.parameters)])
        chosen = "".join(f", {self.x.choice(v.name)}" for v in action.parameters)
        return f'printf("step {template}\\n"{chosen});'

    def _fire(self, event: Event, firing: t.Fires, scope: Scope, fired: Sequence[Event]) -> Iterator[str]:
        sort, name = event
        who = self.x.value(firing.of, scope)
        mask = self.x.fires(sort, name)
        kinds = self.instance.model.machine(sort).parameters(name)
        values = [(self.x.payload(sort, name, n), self.x.value(v, scope, kinds[n])) for n, v in firing.payload]
        others = [self.x.fires(*other) for other in fired if other[0] == sort and other[1] != name]
        bad = [f"{who} == {NONE}"] if not isinstance(firing.of, t.Var | t.Me) else []
        bad += [f"(({other} >> {who}) & 1)" for other in others]
        if values:
            differs = " || ".join(f"{array}[{who}] != {value}" for array, value in values)
            bad.append(f"((({mask} >> {who}) & 1) && ({differs}))")
        if bad:
            yield "if"
            yield f":: {' || '.join(bad)} -> wrong = 1"
            yield ":: else ->"
        yield f"{mask} = {mask} | (1 << {who});"
        for array, value in values:
            yield f"{array}[{who}] = {value};"
        if bad:
            yield "fi;"

    def _rule(self, on: Event, rule: Rule, event: Event, scope: Scope, fired: Sequence[Event]) -> Iterator[str]:
        rule_scope = scope if isinstance(rule.on, Action) else replace(scope, bound={})
        loops = [(v, self.x.loop(i, v.name)) for i, v in enumerate(own_variables(rule))]
        if any(not self.instance.domain(v.type) for v, _ in loops):
            return  # no value, so no firing
        inner = rule_scope.binding(loops)
        if isinstance(rule.on, t.Fires):
            yield f"if :: {self.x.fires(*on)} != 0 ->"
        yield from self._for(loops)
        guard = conjunction([self.x.value(part, inner) for part in conditions(rule)])
        yield f"if :: {guard if guard != 1 else 'true'} -> {_remark(rule.name)}"
        yield from self._fire(event, rule.fires, inner, fired)
        yield ":: else -> skip fi;"
        for _ in loops:
            yield "}"
        if isinstance(rule.on, t.Fires):
            yield ":: else -> skip fi;"

    def _for_each(self, event: Event) -> Iterator[str]:
        """The head of a loop over the objects (``me``) on which an event fires; ``END_OF_EACH`` ends it."""
        self._loops["me"] = None
        mask = self.x.fires(*event)
        yield f"if :: {mask} != 0 ->"
        yield f"for (me : 0 .. {self.instance.sizes[event[0]] - 1}) {{"
        yield f"if :: ({mask} >> me) & 1 ->"

    def _update(self, event: Event) -> Iterator[str]:
        sort, name = event
        at = self.x.field(sort, "")
        kinds = self.instance.model.machine(sort).parameters(name)
        scope = Scope(
            owner=Owner(sort, name), me="me", given={n: f"{self.x.payload(sort, name, n)}[me]" for n in kinds}
        )
        yield from self._for_each(event)
        for f in self.fields:
            if f.sort == sort:
                yield f"{self._next(f)}[me] = {self.x.field(sort, f.name)}[me];"
        yield "if"
        for row in self.instance.model.rows:
            if row.sort.name != sort or row.event != name:
                continue
            yield f":: {at}[me] == {self.x.state(sort, row.source)} ->"
            yield f"{self.x.field(sort, '', NEXT)}[me] = {self.x.state(sort, row.target)};"
            sets = dict(row.sets)
            for attribute in self.instance.attributes(sort):
                if attribute.name not in sets:
                    continue
                value = self.x.value(sets[attribute.name], scope, attribute.type)
                if isinstance(attribute.type, IntRange):
                    low, high = attribute.type.low, attribute.type.high
                    yield f"if :: ({value} < {low}) || ({value} > {high}) -> wrong = 1 :: else -> skip fi;"
                if isinstance(kind := attribute.type, Function) and isinstance(kind.to, IntRange):
                    packing = self.instance.packing(kind)
                    wrong = " || ".join(
                        f"((({value}) >> {place * packing.bits}) & {packing.mask}) == {packing.mask}"
                        for place in range(packing.tuples)
                    )
                    yield f"if :: {wrong} -> wrong = 1 :: else -> skip fi;"
                if isinstance(attribute.type, SequenceType):
                    yield from self._items(sort, sets[attribute.name], attribute.type, value, scope)
                if isinstance(attribute.type, Integer):
                    yield from self._bound(sort, attribute, value)
                yield f"{self.x.field(sort, attribute.name, NEXT)}[me] = {value};"
        yield ":: else -> wrong = 1"
        yield "fi"
        yield from END_OF_EACH

    def _items(self, sort: str, term: t.Term, kind: SequenceType, value: Text, scope: Scope) -> Iterator[str]:
        """The statements that find out whether a new sequence has an item outside of its type, or is beyond its bound."""
        items, most = self.instance.items(kind), longest(self.instance, term, {}, scope.owner)
        if isinstance(kind.of, IntRange) and most:
            wrong = " || ".join(
                f"((({value}) >> {place * items.bits}) & {items.mask}) == {items.outside}" for place in range(most)
            )
            yield f"if :: {wrong} -> wrong = 1 :: else -> skip fi;"
        if most > kind.at_most:
            yield f"if :: (({value}) >> {kind.at_most * items.bits}) != 0 -> beyond = 1 :: else -> skip fi;"

    def _bound(self, sort: str, attribute: Attribute, value: Text) -> Iterator[str]:
        """The statements that find out whether a new number is beyond the bound of its attribute."""
        assert isinstance(attribute.type, Integer)
        if attribute.type.low is not None:
            yield f"if :: {value} < {attribute.type.low} -> wrong = 1 :: else -> skip fi;"
        low, high = range_of(self.instance.model, sort, attribute.name)
        yield f"if :: ({value} < {low}) || ({value} > {high}) -> beyond = 1 :: else -> skip fi;"

    def _commit(self, event: Event) -> Iterator[str]:
        sort, _ = event
        yield from self._for_each(event)
        for f in self.fields:
            if f.sort == sort:
                yield f"{self.x.field(sort, f.name)}[me] = {self._next(f)}[me];"
        yield from END_OF_EACH


def _number(low: int, high: int) -> str:
    """The type of numbers of a range."""
    return "byte" if low >= 0 and high <= 255 else "short" if low >= -(1 << 15) and high < 1 << 15 else "int"


def _comment(*lines: str) -> Iterator[str]:
    for line in lines:
        if line:
            yield _remark(line)


def _remark(text: str) -> str:
    """A comment on one line, for any text."""
    return "/* " + " ".join(text.replace("*/", "* /").split()) + " */"


def _plain(name: str) -> str:
    """A name without the characters that have a meaning in ``printf``."""
    return re.sub(r"[^\w .-]", "_", name)

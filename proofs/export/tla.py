"""A model at a scope in TLA+, for TLC: the model's states, and steps written as the model defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schedproof.model.lang import Invariant, LeadsTo, Property, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.disposable import created_by
from schedproof.model.lang.machine import Row
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.rules import Action
from schedproof.model.lang.types import Function, Integer, IntRange, Type, integer_of
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Instance, bounds_of, range_of
from schedproof.model.semantics.evaluate import Owner
from schedproof.model.semantics.step import ordered_rules
from schedproof.proofs.exploration.safety import conditions_of

from .cascade import Event, cascade, conditions, own_variables
from .formulas import WORDS, Formulas, Scope, conjunction, quoted, union
from .names import Names
from .properties import BRANCHING, ExportedProperties, Selection, exported_properties

_Says = Callable[[str, Mapping[str, str]], str]
"""Writes a condition on a step, from the expression of its firings and the identifiers of the action's parameters."""


@dataclass(frozen=True)
class Module:
    """A TLA+ module, the configuration with which TLC checks it, and the properties that these check.

    Args:
        name: of the module; TLC requires the file name ``name.tla``.
    """

    name: str
    text: str
    configuration: str
    properties: ExportedProperties


def tla(
    instance: Instance, *, name: str | None = None, crash: bool = True, only: Selection = (), title: str = ""
) -> Module:
    """The TLA+ module of ``instance``.

    TLC finds as many distinct states as the model has.
    Each sort is a variable, a function from its objects to records; a state consists of these variables only.
    An ill-formed step leads nowhere. It is an error: it violates the invariant ``well_formed`` in the state before it.
    If a step reads an attribute of NONE, TLC reports that a function is applied outside of its domain.
    The bounds of an exploration are a constraint. TLC checks the first states beyond it, too, but takes no step from there.

    Args:
        instance: the model at a scope.
        name: of the module; by default system and variant.
        crash: include crash actions.
        only: the properties to check, by default none; None means all that can be written.
        title: a remark on the instance for the top of the module.

    Raises:
        ModelError: an integer has no bound.
        Unwritable: a property of ``only`` cannot be written.
    """
    checked = exported_properties(instance, only, crash, BRANCHING)
    writer = _Writer(instance, crash, checked, name or f"{instance.model.system}_{instance.model.variant}", title)
    return Module(writer.module, "\n".join(writer.lines()) + "\n", writer.configuration(), checked)


class _Writer:
    """Writes one TLA+ module."""

    def __init__(self, instance: Instance, crash: bool, checked: ExportedProperties, name: str, title: str) -> None:
        self.instance, self.crash, self.checked, self.title = instance, crash, checked, title
        self.names = names = Names(WORDS)
        self.x = Formulas(instance, names)
        self.module = Names(WORDS).of("module", name)
        model = instance.model
        self.ordered = ordered_rules(instance.model)
        self.actions = [a for a in model.actions if crash or not a.crash]
        self.sorts = [m.sort.name for m in model.machines]
        self.events = list(dict.fromkeys((r.sort.name, r.event) for r in model.rows))
        self.x.none()
        self.has_sequences = any(isinstance(a.type, SequenceType) for m in model.machines for a in m.attributes)
        if self.has_sequences:
            for operator in (self.x.first, self.x.rest, self.x.holds):
                operator()
        for machine in model.machines:
            sort = machine.sort.name
            self.x.objects(sort)
            if machine.states or instance.attributes(sort):
                self.x.variable(sort)
            for attribute in machine.attributes:
                if attribute.rigid:
                    self.x.rigid(sort, attribute.name)
        self.kept = [m.sort.name for m in model.machines if m.states or instance.attributes(m.sort.name)]
        self.bounds = bounds_of(instance)
        for word in (
            "vars",
            "Init",
            "Next",
            "Spec",
            "TypeOK",
            *(["WithinBounds"] if self.bounds else []),
            "NoFirings",
            "WellFormed",
            "Take",
            "EveryStep",
        ):
            names.of(word, word)
        for event in self.events:
            self._row_name(event)
        for sort in self.kept:
            names.of(("fired", sort), f"{sort}_fired")
            names.of(("next", sort), f"{sort}_next")
        for action in self.actions:
            for part in ("", "when", "fires"):
                self._action_name(action, part)
        names.of(WELL_FORMED, WELL_FORMED)
        for prop in model.properties:
            names.of(("property", prop.name), prop.name)
        for number, prop in enumerate(self._checked_of_steps()):
            names.of(("step", number), f"{prop.name}_step")

    def _checked_of_steps(self) -> list[Property]:
        """The property of each checked condition on steps, in order; once for each of its conditions."""
        return [
            prop
            for prop in self.checked.checked
            for part in conditions_of(self.instance.model, prop, crash=self.crash)
            if isinstance(part, StepInvariant)
        ]

    def _row_name(self, event: Event) -> str:
        return self.names.of(("rows", event), "_".join(event))

    def _action_name(self, action: Action, part: str = "") -> str:
        return self.names.of(("action", action.name, part), f"{action.name}_{part}" if part else action.name)

    def _name(self, prop: Property) -> str:
        return self.names.of(("property", prop.name), prop.name)

    def lines(self) -> Iterator[str]:
        """The module, line by line."""
        yield f"---- MODULE {self.module} ----"
        yield from self._head()
        yield "EXTENDS Integers, FiniteSets" + (", Sequences" if self.has_sequences else "")
        yield ""
        yield from self._objects()
        yield ""
        if self.has_sequences:
            yield from self._of_sequences()
            yield ""
        yield from self._state()
        yield ""
        yield from self._tables()
        yield from self._taking()
        for action in self.actions:
            yield from self._action(action)
        yield from self._next()
        yield from self._properties()
        yield "===="

    def _head(self) -> Iterator[str]:
        model = self.instance.model
        at = ", ".join(f"{sort} = {n}" for sort, n in self.instance.sizes.items())
        yield from _comment(f"{model.system} {model.variant} at {at}: {model.about}.", self.title)
        if self.bounds:
            yield from _comment(
                f"Within {self.bounds.text}: TLC takes no step from a state beyond it. It checks such a state, as the model allows it."
            )
        if self.checked.left_out:
            yield from _comment("Not said here:", *[f"{name}: {why}" for name, why in self.checked.left_out.items()])

    def _objects(self) -> Iterator[str]:
        yield f"{self.x.none()} == -1"
        for sort in self.sorts:
            yield f"{self.x.objects(sort)} == 0 .. {self.instance.sizes[sort] - 1}"
        for machine in self.instance.model.machines:
            sort = machine.sort.name
            for attribute in machine.attributes:
                if attribute.rigid:
                    values = self.instance.rigid_values(sort, attribute)
                    texts = [self.x.literal(attribute.type, v) for v in values]
                    yield f"{self.x.rigid(sort, attribute.name)} == {self._function(sort, texts, '{}')}"

    def _of_sequences(self) -> Iterator[str]:
        """The operators for sequences that the standard module lacks; here a number of items may be any integer."""
        names: list[str] = []
        for name in ("s", "n", "x", "i"):
            names.append(self.x.fresh(name, Scope(local=frozenset(names))))
        s, n, x, i = names
        yield f"{self.x.first()}({s}, {n}) == SubSeq({s}, 1, IF {n} < Len({s}) THEN {n} ELSE Len({s}))"
        yield f"{self.x.rest()}({s}, {n}) == SubSeq({s}, IF {n} < 0 THEN 1 ELSE {n} + 1, Len({s}))"
        yield f"{self.x.holds()}({s}, {x}) == \\E {i} \\in 1 .. Len({s}) : {s}[{i}] = {x}"

    def _function(self, sort: str, values: Sequence[str], default: str) -> str:
        """The function with these values on a sort's objects; ``default`` is the body if the sort has none."""
        who = self.x.fresh("x", Scope())
        different = set(values)
        if len(different) > 1:
            body = "CASE " + " [] ".join(f"{who} = {i} -> {v}" for i, v in enumerate(values))
        else:
            body = different.pop() if different else default
        return f"[{who} \\in {self.x.objects(sort)} |-> {body}]"

    def _state(self) -> Iterator[str]:
        model, initial = self.instance.model, self.instance.initial()
        variables = [self.x.variable(sort) for sort in self.kept]
        yield f"VARIABLES {', '.join(variables)}"
        yield ""
        yield f"{self.names.of('vars', '')} == <<{', '.join(variables)}>>"
        yield ""
        yield f"{self.names.of('TypeOK', '')} =="
        for sort in self.kept:
            states = ", ".join(quoted(s.name) for s in model.machine(sort).states)
            fields = [f"{self.x.attribute(sort, '')} : {{{states}}}"] if states else []
            fields += [
                f"{self.x.attribute(sort, a.name)} : {self.x.kind(a.type, none=True)}"
                for a in self.instance.attributes(sort)
            ]
            yield f"  /\\ {self.x.variable(sort)} \\in [{self.x.objects(sort)} -> [{', '.join(fields)}]]"
        yield ""
        if self.bounds:
            yield f"{self.names.of('WithinBounds', '')} =="
            yield from _listed(self._within_bounds())
            yield ""
        yield f"{self.names.of('Init', '')} =="
        for sort in self.kept:
            machine = model.machine(sort)
            records = []
            for i in range(self.instance.sizes[sort]):
                fields = []
                if machine.states:
                    state = machine.states[initial[self.instance.slot(sort) + i]].name
                    fields.append(f"{self.x.attribute(sort, '')} |-> {quoted(state)}")
                fields += [
                    f"{self.x.attribute(sort, a.name)} |-> "
                    + self.x.literal(a.type, initial[self.instance.slot(sort, a.name) + i])
                    for a in self.instance.attributes(sort)
                ]
                records.append(f"[{', '.join(fields)}]")
            yield f"  /\\ {self.x.variable(sort)} = {self._function(sort, records, self.x.none())}"

    def _within_bounds(self) -> Iterator[str]:
        """The conjuncts that a state is within the bounds of an exploration."""
        for condition in self.bounds.spare:
            yield self.x.operand(condition, Scope())
        model, x = self.instance.model, self.x.fresh("x", Scope())
        for sort in self.kept:
            for attribute in self.instance.attributes(sort):
                if isinstance(kind := attribute.type, SequenceType):
                    value = f"{self.x.variable(sort)}[{x}].{self.x.attribute(sort, attribute.name)}"
                    yield f"\\A {x} \\in {self.x.objects(sort)} : Len({value}) <= {kind.at_most}"
                if integer_of(attribute.type) is not None:
                    low, high = range_of(model, sort, attribute.name)
                    value = f"{self.x.variable(sort)}[{x}].{self.x.attribute(sort, attribute.name)}"
                    every = f"\\A {x} \\in {self.x.objects(sort)} : "
                    if isinstance(kind := attribute.type, Function):
                        at = self.x.fresh("a", Scope(local=frozenset({x})))
                        every += f"\\A {at} \\in {self.x.arguments(kind.sorts)} : "
                        value = f"{value}[{at}]"
                    if isinstance(kind, SequenceType):
                        at = self.x.fresh("i", Scope(local=frozenset({x})))
                        every += f"\\A {at} \\in 1 .. Len({value}) : "
                        value = f"{value}[{at}]"
                    yield f"{every}{value} \\in {low} .. {high}"

    def _tables(self) -> Iterator[str]:
        """The operator of each event: the record of an object after the event."""
        yield from _comment(
            "The tables: what an object is after an event that happens to it, computed from the state before.",
            "Where an event has parameters, what happens is a record of the object and these.",
        )
        for event in self.events:
            sort, name = event
            it = self.x.fresh("f" if self.x.has_parameters(*event) else "x", Scope())
            me = self._object_of(event, it)
            given = {
                n: f"{it}.{self.x.parameter(sort, name, n)}" for n in self.instance.model.machine(sort).parameters(name)
            }
            scope = Scope(owner=Owner(sort, name), me=me, given=given, local=frozenset({it}))
            record = self.x.record(sort, me, scope)
            values = [(r.source, self._row(r, record, scope)) for r in self._rows(event)]
            yield f"{self._row_name(event)}({it}) =="
            if len(values) == 1:
                yield f"  {values[0][1]}"
            else:
                at = f"{record}.{self.x.attribute(sort, '')}"
                for number, (source, value) in enumerate(values):
                    yield f"  {'[]' if number else 'CASE'} {at} = {quoted(source)} -> {value}"
            yield ""

    def _row(self, row: Row, record: str, scope: Scope) -> str:
        sort, sets = row.sort.name, dict(row.sets)
        changes = [(self.x.attribute(sort, ""), quoted(row.target))] if row.target != row.source else []
        changes += [
            (self.x.attribute(sort, a.name), self.x.operand(sets[a.name], scope, a.type))
            for a in self.instance.attributes(sort)
            if a.name in sets
        ]
        if not changes:
            return record
        return f"[{record} EXCEPT {', '.join(f'!.{name} = {value}' for name, value in changes)}]"

    def _object_of(self, event: Event, firing: str) -> str:
        """The object on which a firing happens."""
        return f"{firing}.{self.x.parameter(*event, '')}" if self.x.has_parameters(*event) else firing

    def _taking(self) -> Iterator[str]:
        """The operators that take a step, given the record of its firings."""
        yield from _comment(
            "What happens in a step is a record F with the set of all that happens of each event, and all of it happens at once.",
            "It is well-formed if each object has at most one event, in a state for which the table has a row, and numbers stay in range.",
        )
        fields = [f"{self.x.event(*event)} |-> {{}}" for event in self.events]
        yield f"{self.names.of('NoFirings', '')} == [{', '.join(fields) or 'none |-> {}'}]"
        yield ""
        every = self.x.fresh("F", Scope())
        inside = Scope(local=frozenset({every}))
        f, x = self.x.fresh("f", inside), self.x.fresh("x", inside)
        for sort in self.kept:
            of_sort = [e for e in self.events if e[0] == sort]
            if of_sort:
                sets = [self._whos(e, every, f) for e in of_sort]
                yield f"{self.names.of(('fired', sort), '')}({every}) == {union(sets)}"
                yield ""
        yield f"{self.names.of('WellFormed', '')}({every}) =="
        yield from _listed(self._well_formed(every, f, inside))
        yield ""
        for sort in self.kept:
            of_sort = [e for e in self.events if e[0] == sort]
            if not of_sort:
                continue
            yield f"{self.names.of(('next', sort), '')}({every}) =="
            yield f"  [{x} \\in {self.x.objects(sort)} |->"
            for number, event in enumerate(of_sort):
                among, row = f"{every}.{self.x.event(*event)}", self._row_name(event)
                if self.x.has_parameters(*event):
                    is_it = f"{self._object_of(event, f)} = {x}"
                    case = f"(\\E {f} \\in {among} : {is_it}) -> {row}(CHOOSE {f} \\in {among} : {is_it})"
                else:
                    case = f"{x} \\in {among} -> {row}({x})"
                yield f"    {'[]' if number else 'CASE'} {case}"
            yield f"    [] OTHER -> {self.x.variable(sort)}[{x}]]"
            yield ""
        yield f"{self.names.of('Take', '')}({every}) =="
        yield f"  /\\ {self.names.of('WellFormed', '')}({every})"
        for sort in self.kept:
            variable = self.x.variable(sort)
            if any(e[0] == sort for e in self.events):
                yield f"  /\\ {variable}' = {self.names.of(('next', sort), '')}({every})"
            else:
                yield f"  /\\ UNCHANGED {variable}"
        yield ""

    def _well_formed(self, every: str, f: str, inside: Scope) -> Iterator[str]:
        """The conjuncts that make a step well-formed."""
        for event in self.events:
            at = f"{self.x.record(event[0], self._object_of(event, f), inside)}.{self.x.attribute(event[0], '')}"
            who = f"{self._object_of(event, f)} \\in {self.x.objects(event[0])}"
            sources = [quoted(row.source) for row in self._rows(event)]
            possible = f"{who} /\\ {at} \\in {{{', '.join(sources)}}}"
            yield f"\\A {f} \\in {every}.{self.x.event(*event)} : {possible}"
        for sort in self.kept:
            of_sort = [e for e in self.events if e[0] == sort]
            if len(of_sort) > 1 or any(self.x.has_parameters(*e) for e in of_sort):
                counted = " + ".join(f"Cardinality({every}.{self.x.event(*e)})" for e in of_sort)
                yield f"{counted} = Cardinality({self.names.of(('fired', sort), '')}({every}))"
        for event in self.events:
            for attribute in self.instance.attributes(event[0]):
                if _is_limited(attribute.type) and any(attribute.name in dict(r.sets) for r in self._rows(event)):
                    value = f"{self._row_name(event)}({f}).{self.x.attribute(event[0], attribute.name)}"
                    yield f"\\A {f} \\in {every}.{self.x.event(*event)} : {value} \\in {self.x.kind(attribute.type)}"

    def _rows(self, event: Event) -> list[Row]:
        return [r for r in self.instance.model.rows if (r.sort.name, r.event) == event]

    def _whos(self, event: Event, every: str, f: str) -> str:
        among = f"{every}.{self.x.event(*event)}"
        return f"{{{self._object_of(event, f)} : {f} \\in {among}}}" if self.x.has_parameters(*event) else among

    def _action(self, action: Action) -> Iterator[str]:
        yield from _comment(action.sentence + ".")
        scope, parameters = self.x.bind(Scope(), action.parameters)
        yield f"{_applied(self._action_name(action, 'when'), parameters)} =="
        yield from _listed([self.x.value(part, scope) for part in action.when])
        yield ""
        yield f"{_applied(self._action_name(action, 'fires'), parameters)} =="
        yield from self._fires(action, scope)
        yield ""
        when, fires = (_applied(self._action_name(action, part), parameters) for part in ("when", "fires"))
        take = self.names.of("Take", "")
        yield f"{_applied(self._action_name(action), parameters)} == {when} /\\ {take}({fires})"
        yield ""

    def _fires(self, action: Action, scope: Scope) -> Iterator[str]:
        """The record of an action's firings. Its sets are defined in order, each after all that its conditions read."""
        step = cascade(self.instance, self.ordered, action)
        local = Names(self.names.used | {name for _, name in scope.bound.values()})
        firings = {event: local.of(event, "fires_" + "_".join(event)) for event in step.fired}
        scope = replace(scope, local=frozenset(firings.values()))
        parts: dict[Event, list[str]] = {event: [] for event in step.fired}
        for event, firing in step.roots:
            parts[event].append(f"{{{self._firing(event, firing, scope)}}}")
        order = [event for event in step.fired if all(event != head for _, _, head in step.rules)]
        for _, rule, event in step.rules:
            if event not in order:
                order.append(event)
            variables = own_variables(rule)
            known = scope if isinstance(rule.on, Action) else replace(scope, bound={}, local=frozenset(local.used))
            inner, names = self.x.bind(replace(known, firings=firings), variables)
            parts[event].append(self._all(event, rule.fires, conditions(rule), variables, names, inner))
        if not order:
            yield f"  {self.names.of('NoFirings', '')}"
            return
        for number, event in enumerate(order):
            yield f"  {'   ' if number else 'LET'} {firings[event]} == {union(parts[event])}"
        changes = ", ".join(f"!.{self.x.event(*event)} = {firings[event]}" for event in order)
        yield f"  IN [{self.names.of('NoFirings', '')} EXCEPT {changes}]"

    def _firing(self, event: Event, firing: t.Fires, scope: Scope) -> str:
        """A firing: an object, or a record of the object and the event's parameters."""
        who = self.x.value(firing.of, scope)
        if not self.x.has_parameters(*event):
            return who
        kinds = self.instance.model.machine(event[0]).parameters(event[1])
        fields = [f"{self.x.parameter(*event, '')} |-> {who}"]
        fields += [f"{self.x.parameter(*event, n)} |-> {self.x.value(v, scope, kinds[n])}" for n, v in firing.payload]
        return f"[{', '.join(fields)}]"

    def _all(
        self,
        event: Event,
        firing: t.Fires,
        premises: Sequence[t.Term],
        variables: Sequence[t.Var],
        names: Sequence[str],
        scope: Scope,
    ) -> str:
        """The set of all firings that a rule causes."""
        head, condition = self._firing(event, firing, scope), self.x.value(t.both(premises), scope) if premises else ""
        if not names and not condition:
            return f"{{{head}}}"
        if not names:
            return f"(IF {condition} THEN {{{head}}} ELSE {{}})"
        if len(names) == 1:
            those = (
                f"{{{self.x.over(variables, names)} : {condition}}}" if condition else self.x.kind(variables[0].type)
            )
            return those if head == names[0] else f"{{{head} : {names[0]} \\in {those}}}"
        tuples, product = f"<<{', '.join(names)}>>", " \\X ".join(self.x.factor(v.type) for v in variables)
        return f"{{{head} : {tuples} \\in {{{tuples} \\in {product} : {condition or 'TRUE'}}}}}"

    def _next(self) -> Iterator[str]:
        yield f"{self.names.of('Next', '')} =="
        for action in self.actions:
            yield f"  \\/ {self._some(action, self._action_name(action))}"
        if not self.actions:
            yield "  FALSE"
        yield ""
        init, following, variables = (self.names.of(n, "") for n in ("Init", "Next", "vars"))
        yield f"{self.names.of('Spec', '')} == {init} /\\ [][{following}]_{variables}"
        yield ""

    def _some(self, action: Action, operator: str) -> str:
        _, parameters = self.x.bind(Scope(), action.parameters)
        over = f"\\E {self.x.over(action.parameters, parameters)} : " if parameters else ""
        return over + _applied(operator, parameters)

    def _properties(self) -> Iterator[str]:
        yield from _comment(
            "The properties. A property of steps is written as an invariant: in every state, P holds of every possible step. ([][P]_vars",
            "skips steps that change nothing, and the events that fire are no variables.)",
        )
        every = self.x.fresh("F", Scope())
        step = self.x.fresh("P", Scope(local=frozenset({every})))
        yield f"{self.names.of('EveryStep', '')}({step}(_)) =="
        yield from _listed(
            [self._each_step(a, lambda fires, _: f"{step}({fires})", frozenset({step})) for a in self.actions]
        )
        yield ""
        yield f"{self.names.of(WELL_FORMED, '')} == {self.names.of('EveryStep', '')}({self.names.of('WellFormed', '')})"
        yield ""
        number = 0
        for prop in self.checked.checked:
            yield from _comment(prop.says + ".")
            if isinstance(prop, LeadsTo):
                yield from self._leads_to(prop)
                continue
            parts = []
            for condition in conditions_of(self.instance.model, prop, crash=self.crash):
                if isinstance(condition, Invariant):
                    parts.append(self._holds(condition, Scope()))
                else:
                    name = self.names.of(("step", number), "")
                    number += 1
                    yield from self._step(condition, name)
                    parts.append(self._of_steps(condition, name))
            yield f"{self._name(prop)} =="
            yield from _listed(parts)
            yield ""

    def _each_step(self, action: Action, says: _Says, local: frozenset[str] = frozenset()) -> str:
        """The formula that ``says`` holds of every step of an action."""
        scope, parameters = self.x.bind(Scope(local=local), action.parameters)
        known = {v.name: scope.bound[v.name][1] for v in action.parameters}
        when, fires = (_applied(self._action_name(action, part), parameters) for part in ("when", "fires"))
        over = f"\\A {self.x.over(action.parameters, parameters)} : " if parameters else ""
        return f"{over}{when} => {says(fires, known)}"

    def _holds(self, condition: Invariant | StepInvariant, scope: Scope) -> str:
        inner, names = self.x.bind(scope, condition.over)
        over = f"\\A {self.x.over(condition.over, names)} : " if names else ""
        says = condition.then if condition.given is None else t.Implies(condition.given, condition.then)
        return over + self.x.value(says, inner)

    def _step(self, condition: StepInvariant, name: str) -> Iterator[str]:
        """The property as an operator of a step's firings and of its actions' common parameters."""
        every = self.x.fresh("F", Scope())
        common = common_parameters(self.instance.model, condition.on)
        scope, parameters = self.x.bind(Scope(local=frozenset({every})), common)
        moved = [s for s in self.kept if any(e[0] == s for e in self.events)]
        local = Names(self.names.used | {every, *parameters})
        after = {sort: local.of(sort, f"{sort}_after") for sort in moved}
        firings = {event: f"{every}.{self.x.event(*event)}" for event in self.events}
        scope = replace(scope, after=after, firings=firings, local=frozenset({every, *after.values()}))
        says = self._holds(condition, scope)
        yield f"{name}({', '.join([every, *parameters])}) =="
        needed = [s for s in moved if after[s] in says]
        for n, sort in enumerate(needed):
            yield f"  {'   ' if n else 'LET'} {after[sort]} == {self.names.of(('next', sort), '')}({every})"
        valid = f"{self.names.of('WellFormed', '')}({every})"
        yield f"  {'IN ' if needed else ''}{valid} => ({says})"
        yield ""

    def _of_steps(self, condition: StepInvariant, name: str) -> str:
        if not condition.on:
            return f"{self.names.of('EveryStep', '')}({name})"
        common = [v.name for v in common_parameters(self.instance.model, condition.on)]
        each = [
            self._each_step(a, lambda fires, known: f"{name}({', '.join([fires, *(known[n] for n in common)])})")
            for a in self.actions
            if a.name in condition.on
        ]
        return conjunction([f"({one})" for one in each]) if len(each) > 1 else each[0] if each else "TRUE"

    def _leads_to(self, prop: LeadsTo) -> Iterator[str]:
        variables = self.names.of("vars", "")
        fair = []
        for action in self.actions:
            _, parameters = self.x.bind(Scope(), action.parameters)
            named, created = list(zip(action.parameters, parameters, strict=True)), created_by(action)
            kept = [(v, name) for v, name in named if v.name not in created]
            new = [(v, name) for v, name in named if v.name in created]
            over = f"\\A {self.x.over(*zip(*kept, strict=True))} : " if kept else ""
            some = f"\\E {self.x.over(*zip(*new, strict=True))} : " if new else ""
            applied = f"{some}{_applied(self._action_name(action), parameters)}"
            for word, names in (("WF", prop.weak), ("SF", prop.strong)):
                if action.name in names:
                    fair.append(f"({over}{word}_{variables}({applied}))")
            if action.name in prop.without:
                fair.append(f"(<>[][~({self._some(action, self._action_name(action))})]_{variables})")
        inner, names = self.x.bind(Scope(), prop.over)
        over = f"\\A {self.x.over(prop.over, names)} : " if names else ""
        leads = f"{over}(({self.x.value(prop.given, inner)}) ~> ({self.x.value(prop.goal, inner)}))"
        yield f"{self._name(prop)} =="
        if fair:
            yield f"  ({conjunction(fair)})"
            yield f"  => ({leads})"
        else:
            yield f"  {leads}"
        yield ""

    def configuration(self) -> str:
        """The configuration for TLC; it allows deadlocks."""
        model = self.instance.model
        lines = [f"SPECIFICATION {self.names.of('Spec', '')}", "CHECK_DEADLOCK FALSE"]
        if self.bounds:
            lines.append(f"CONSTRAINT {self.names.of('WithinBounds', '')}")
        if self.checked.well_formed:
            lines += [f"INVARIANT {self.names.of(name, '')}" for name in ("TypeOK", WELL_FORMED)]
        for prop in self.checked.checked:
            kind = "PROPERTY" if isinstance(prop, LeadsTo) else "INVARIANT"
            refuted = "  \\* expected to be broken" if prop.name in model.refuted else ""
            lines.append(f"{kind} {self._name(prop)}{refuted}")
        return "\n".join(lines) + "\n"


def _is_limited(kind: Type) -> bool:
    """Whether an update can give a number that is none of its type."""
    if isinstance(kind, Function):
        kind = kind.to
    if isinstance(kind, SequenceType):
        kind = kind.of
    return isinstance(kind, IntRange) or (isinstance(kind, Integer) and kind.low is not None)


def _applied(operator: str, arguments: Sequence[str]) -> str:
    return f"{operator}({', '.join(arguments)})" if arguments else operator


def _comment(*lines: str) -> Iterator[str]:
    for line in lines:
        if line:
            yield "\\* " + " ".join(line.split())


def _listed(parts: Iterable[str]) -> list[str]:
    """A conjunction with one line for each part."""
    return [f"  /\\ {part}" for part in parts] or ["  TRUE"]

"""A model at a scope in Promela, for SPIN: the same states and transitions, by a text that a reader can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedproof.model.lang import terms as t
from schedproof.model.lang.rules import Action, Rule
from schedproof.model.lang.types import IntRange, SetOf, Type
from schedproof.model.semantics import Instance, ScopeError
from schedproof.model.semantics.evaluate import Owner
from schedproof.model.semantics.step import ordered_rules

from .expressions import NONE, Expressions, Scope, code, conjunction

Event = tuple[str, str]

MOST_OBJECTS = 31
"""Of a sort: sets of them are masks in whole numbers of 32 bits, one of which is the sign."""

END_OF_EACH = (":: else -> skip fi;", "}", ":: else -> skip fi;")


def promela(instance: Instance, *, crash: bool = True) -> str:
    """The text of ``instance``.

    Each step of the model is one transition, so that SPIN stores as many states; what is ill-formed leads nowhere, but where an
    attribute of no object is read, SPIN says that an index is out of bounds.

    Args:
        crash: with crash actions.

    Raises:
        ScopeError: there are more objects of a sort than a number of Promela has bits.
    """
    for sort, size in instance.sizes.items():
        if size > MOST_OBJECTS:
            raise ScopeError(
                f"scope {sort}={size}: Promela has sets of up to {MOST_OBJECTS} objects; choose a smaller scope"
            )
    return "\n".join(_Writer(instance, crash).lines()) + "\n"


@dataclass(frozen=True)
class _Field:
    """An attribute of a sort, or its state: then the name is "", and there is no kind."""

    sort: str
    name: str
    kind: Type | None


class _Writer:
    """One text."""

    def __init__(self, instance: Instance, crash: bool) -> None:
        self.instance = instance
        self.x = Expressions(instance)
        self.actions = [a for a in instance.model.actions if crash or not a.crash]
        self.rules = ordered_rules(instance.model)
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

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        model = self.instance.model
        at = ", ".join(f"{sort} = {n}" for sort, n in self.instance.sizes.items())
        yield f"/* {model.system} {model.variant} at {at}: {model.about} */"
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
            yield f"hidden {self._type(f)} next_{self.x.field(f.sort, f.name)}[{self.instance.sizes[f.sort]}];"
        for machine in model.machines:
            for event in self._events(machine.sort.name):
                yield f"hidden int {self.x.fires(machine.sort.name, event)};"
                for name in machine.parameters(event):
                    array = self.x.payload(machine.sort.name, event, name)
                    yield f"hidden int {array}[{self.instance.sizes[machine.sort.name]}];"
        body = list(self._system())
        for name in sorted({v.name for a in self.actions for v in a.parameters}):
            yield f"hidden int choice_{name};"
        for name in self._loops:
            yield f"hidden int {name};"
        yield "hidden int wrong;"
        yield ""
        yield from body

    def _events(self, sort: str) -> list[str]:
        if self.instance.sizes[sort] == 0:
            return []
        return list(dict.fromkeys(r.event for r in self.instance.model.rows if r.sort.name == sort))

    def _type(self, f: _Field) -> str:
        match f.kind:
            case None:
                return "byte"
            case IntRange(low, high):
                return (
                    "byte" if low >= 0 and high <= 255 else "short" if low >= -(1 << 15) and high < 1 << 15 else "int"
                )
            case SetOf(sort):
                return "byte" if self.instance.sizes[sort.name] <= 8 else "int"
        return "byte"

    def _initial(self, f: _Field) -> str:
        """What an array begins with."""
        slot = self.instance.slot(f.sort, f.name)
        values = self.instance.initial()[slot : slot + self.instance.sizes[f.sort]]
        return "{" + ", ".join(str(code(v, f.kind) if f.kind is not None else v) for v in values) + "}"

    def _system(self) -> Iterator[str]:
        yield "active proctype system() {"
        yield "end:"
        yield "  do"
        for action in self.actions:
            yield from self._action(action)
        yield "  od"
        yield "}"

    def _action(self, action: Action) -> Iterator[str]:
        choices = []
        for values in self.x.bindings(action.parameters):
            scope = Scope().binding(values)
            guard = conjunction([self.x.value(part, scope) for part in action.when])
            if guard != 0:
                taken = "; ".join(f"choice_{v.name} = {value}" for v, value in values) or "skip"
                choices.append(f"      :: {guard if guard != 1 else 'true'} -> {taken}")
        if not choices:
            return
        yield f"  :: atomic {{ /* {action.name}: {action.says} */"
        yield "      if"
        yield from choices
        yield "      fi;"
        yield "      d_step {"
        for line in self._step(action):
            yield "        " + line
        yield "      }"
        yield "    }"

    def _step(self, action: Action) -> Iterator[str]:
        scope = Scope().binding([(v, f"choice_{v.name}") for v in action.parameters])
        roots = [((self.x.sort_of(f.of, scope), f.event), f) for f in action.fires]
        there: set[Event] = {(action.name, ""), *(event for event, _ in roots)}
        rules = []
        for on, rule, event in self.rules:
            if on in there:
                rules.append((on, rule, event))
                there.add(event)
        fired = list(dict.fromkeys([*(event for event, _ in roots), *(event for _, _, event in rules)]))
        fired = [event for event in fired if self.instance.sizes[event[0]] > 0]
        yield "wrong = 0;"
        for machine in self.instance.model.machines:
            for name in self._events(machine.sort.name):
                yield f"{self.x.fires(machine.sort.name, name)} = 0;"
        for event, firing in roots:
            yield from self._fire(event, firing, scope, fired)
        for on, rule, event in rules:
            yield from self._rule(on, rule, event, scope, fired)
        for event in fired:
            yield from self._update(event)
        yield "if"
        yield ":: wrong == 0 ->"
        for event in fired:
            yield from self._commit(event)
        yield ":: else -> skip"
        yield "fi"

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
        if isinstance(rule.on, t.Fires) and not self.instance.sizes[on[0]]:
            return  # to nobody
        conditions = [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]
        known = {v.name for v in rule.on.parameters} if isinstance(rule.on, Action) else set()
        own = scope if isinstance(rule.on, Action) else Scope()
        free: dict[str, t.Var] = {}
        for part in (*conditions, rule.fires):
            free |= {n: v for n, v in t.free_variables(part).items() if n not in known and n not in free}
        loops = [(v, f"V{i}_{v.name}") for i, v in enumerate(free.values())]
        if any(not self.instance.domain(v.type) for v, _ in loops) or not self.instance.sizes[event[0]]:
            return  # there are none
        for _, name in loops:
            self._loops[name] = None
        inner = own.binding(loops)
        if isinstance(rule.on, t.Fires):
            yield f"if :: {self.x.fires(*on)} != 0 ->"
        for v, name in loops:
            domain = self.instance.domain(v.type)
            yield f"for ({name} : {domain[0]} .. {domain[-1]}) {{"
        guard = conjunction([self.x.value(part, inner) for part in conditions])
        yield f"if :: {guard if guard != 1 else 'true'} -> /* {rule.name} */"
        yield from self._fire(event, rule.fires, inner, fired)
        yield ":: else -> skip fi;"
        for _ in loops:
            yield "}"
        if isinstance(rule.on, t.Fires):
            yield ":: else -> skip fi;"

    def _for_each(self, event: Event) -> Iterator[str]:
        """What follows is done for each object (``me``) to which an event happens, up to ``END_OF_EACH``."""
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
                array = self.x.field(sort, f.name)
                yield f"next_{array}[me] = {array}[me];"
        yield "if"
        for row in self.instance.model.rows:
            if row.sort.name != sort or row.event != name:
                continue
            yield f":: {at}[me] == {self.x.state(sort, row.source)} ->"
            yield f"next_{at}[me] = {self.x.state(sort, row.target)};"
            sets = dict(row.sets)
            for attribute in self.instance.attributes(sort):
                if attribute.name not in sets:
                    continue
                value = self.x.value(sets[attribute.name], scope, attribute.type)
                if isinstance(attribute.type, IntRange):
                    low, high = attribute.type.low, attribute.type.high
                    yield f"if :: ({value} < {low}) || ({value} > {high}) -> wrong = 1 :: else -> skip fi;"
                yield f"next_{self.x.field(sort, attribute.name)}[me] = {value};"
        yield ":: else -> wrong = 1"
        yield "fi"
        yield from END_OF_EACH

    def _commit(self, event: Event) -> Iterator[str]:
        sort, _ = event
        yield from self._for_each(event)
        for f in self.fields:
            if f.sort == sort:
                array = self.x.field(sort, f.name)
                yield f"{array}[me] = next_{array}[me];"
        yield from END_OF_EACH

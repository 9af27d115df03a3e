"""The events that fire in an action, and the state after it, as formulas for any number of objects.

An event is a macro if its rules determine the firing at the object itself.
"There is a cell from which the event comes" needs a fresh predicate with two axioms instead:
the body of each rule implies the predicate, and the predicate implies the body of some rule at Skolem witnesses.
Solvers give up if this stays an ``exists`` under a ``forall``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Action, Function, Ref, Relation, Rule, SetOf, Var
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.types import Sequence as SequenceType

from .expressions import And, ForAll, If, Implies, Or
from .rewrite import binds, substitute
from .translate import Translator, in_range
from .views import Reference, Symbols, Z, choose


@dataclass(frozen=True)
class Cause:
    """One way for an event to fire: the rule or action, its variables, body, object and payload.

    ``written`` is the same cause with the variables and the order of the rule as the model writes it.
    Definedness depends on that order: a condition may guard what the next one reads.
    """

    by: Rule | Action
    extras: tuple[Var, ...]
    body: tuple[t.Term, ...]
    head: t.Fires
    written: Cause | None = None


@dataclass(frozen=True)
class Fired:
    """How an event fires in an action.

    Attributes:
        causes: its causes, each with its variables as functions of the object that the event fires on; None for the object.
        predicate: says on which objects it fires; None if the causes say it themselves.
    """

    causes: tuple[tuple[Cause, tuple[Z | None, ...]], ...]
    predicate: Z | None = None


class Cascade:
    """The events that fire in one action with symbolic parameters.

    Translators that ask for firings are made when they are needed: kept, each would be in a cycle of references with the cascade.

    Attributes:
        guard: the action's guard.
        axioms: formulas to assume together with ``guard``.
        rows: the rows of the table for each event that can fire.
        witnesses: the functions from an object on which an event fires to the objects that the firing comes from. Each
            comes with its sort and with the predicate that the event fires.
    """

    def __init__(self, symbols: Symbols, action: Action) -> None:
        self.symbols, self.action = symbols, action
        values, _, ranges = Translator(symbols, symbols).constants(action.parameters, "!")
        self.parameters = dict(zip((v.name for v in action.parameters), values, strict=True))
        self._types = {v.name: v.type for v in action.parameters}
        self.fired: dict[tuple[str, str], Fired] = {}
        before = self.before
        self.guard = before.both(*ranges, *[before.formula(g) for g in action.when])
        self.axioms: list[Z] = []
        self.witnesses: list[tuple[str, Z, Z]] = []
        self._asked: dict[tuple[str, str, Z], Z] = {}
        self.causes = _causes(symbols, action)
        for key, causes in self.causes.items():
            self.fired[key] = self._fired(key, causes)
        self.rows = {key: [r for r in symbols.model.table(key[0]) if r.event == key[1]] for key in self.fired}

    @property
    def before(self) -> Translator:
        """A translator over the state before the step that knows the action's parameters."""
        view = self.symbols
        return Translator(view, view, None, self.fires, self.payload, self.parameters, self._types)

    @property
    def step(self) -> Translator:
        """A translator over the states before and after the step."""
        return Translator(self.symbols, self.symbols, self.after, self.fires, self.payload)

    @property
    def after(self) -> After:
        """The view of the state after the step."""
        return After(self)

    def fires(self, sort: str, event: str, of: Z) -> Z:
        """The formula that ``event`` fires on ``of`` in this action."""
        fired = self.fired.get((sort, event))
        if fired is None:
            return self.symbols.false()
        key = (sort, event, of)  # every formula asks for the same firings
        if key not in self._asked:
            self._asked[key] = (
                Or(*[c for c, _ in self._ways(fired, of)]) if fired.predicate is None else fired.predicate(of)
            )
        return self._asked[key]

    def payload(self, sort: str, event: str, name: str, of: Z) -> Any:
        """A parameter of the event on an object where it fires; arbitrary on other objects."""
        kind = self.symbols.model.machine(sort).parameters(event)[name]
        fired = self.fired.get((sort, event))
        if fired is None:
            if isinstance(kind, SetOf):
                return lambda element: self.symbols.false()
            value = self.symbols.expressions.constant(f"nothing fired: {kind}", self.symbols.kind(kind))
            return Reference(self.symbols.true(), value) if isinstance(kind, Ref) else value
        ways = self._ways(fired, of)
        result = ways[-1][1][name]
        for condition, given in reversed(ways[:-1]):
            result = choose(condition, given[name], result)
        return result

    def inside(self, cause: Cause, values: Sequence[Any]) -> Translator:
        """A translator for the terms of ``cause`` in which its own variables stand for ``values``."""
        return self.before.bind(cause.extras, values)

    def given(self, cause: Cause, inside: Translator) -> dict[str, Any]:
        """The payload of the firing that ``cause`` causes, by parameter name."""
        sort = sort_of(self.symbols.model, cause.head.of, {})
        kinds = self.symbols.model.machine(sort).parameters(cause.head.event)
        values: dict[str, Any] = {}
        for name, term in cause.head.payload:
            kind = kinds[name]
            if isinstance(kind, Ref):
                values[name] = inside.reference(term, kind.sort.name)
            elif isinstance(kind, SetOf):
                values[name] = inside.members(term)
            else:
                values[name] = inside.scalar(term, kind)
        return values

    def _ways(self, fired: Fired, of: Z) -> list[tuple[Z, dict[str, Any]]]:
        """The condition and the payload of each cause that fires the event on ``of``."""
        ways = []
        for cause, witnesses in fired.causes:
            values = [of if witness is None else witness(of) for witness in witnesses]
            inside = self.inside(cause, values)
            head = inside.reference(cause.head.of)
            same = self.symbols.true() if head.value is of else head.value == of
            body = [*_ranges(cause, values), *[inside.formula(part) for part in cause.body]]
            ways.append((inside.both(*body, head.defined, same), self.given(cause, inside)))
        return ways

    def _fired(self, key: tuple[str, str], causes: Sequence[Cause]) -> Fired:
        ways = tuple((cause, self._witnesses(key, n, cause)) for n, cause in enumerate(causes))
        if all(_own_variable(cause) for cause in causes):
            return Fired(ways)
        predicate = self.symbols.predicate(f"fires {key[0]}.{key[1]}", key[0])
        fired = Fired(ways, predicate)
        for cause, witnesses in ways:
            self.axioms.append(self.before.quantified(True, cause.extras, self._implies(cause, predicate)))
            self.witnesses += [(key[0], predicate, f) for f in witnesses if f is not None]
        anything = self.symbols.constant("x", key[0])
        some = Or(*[condition for condition, _ in self._ways(fired, anything)])
        self.axioms.append(ForAll([anything], Implies(predicate(anything), some)))
        return fired

    def _implies(self, cause: Cause, predicate: Z) -> Callable[[Translator], Z]:
        def axiom(inside: Translator) -> Z:
            head = inside.reference(cause.head.of)
            body = inside.both(*[inside.formula(part) for part in cause.body], head.defined)
            return Implies(body, predicate(head.value))

        return axiom

    def _witnesses(self, key: tuple[str, str], number: int, cause: Cause) -> tuple[Z | None, ...]:
        """A function symbol for each of the cause's variables; None for the object itself."""
        own_variable = _own_variable(cause)
        functions: list[Z | None] = []
        for var in cause.extras:
            if isinstance(cause.head.of, t.Var) and var.name == cause.head.of.name:
                functions.append(None)
                continue
            assert not own_variable, "a simple cause has no other variables"
            name = f"{var.name} of {key[0]}.{key[1]} {number}"
            functions.append(
                self.symbols.expressions.function(name, self.symbols.sorts[key[0]], self.symbols.kind(var.type))
            )
        return tuple(functions)


def _ranges(cause: Cause, values: Sequence[Any]) -> list[Z]:
    """Formulas that each number among the cause's variables is in its range."""
    return [part for var, value in zip(cause.extras, values, strict=True) for part in in_range(var.type, value)]


def _own_variable(cause: Cause) -> bool:
    """Whether the cause has no variable but the object that the event fires on."""
    names = {v.name for v in cause.extras}
    return not names or (isinstance(cause.head.of, t.Var) and names == {cause.head.of.name})


def _causes(symbols: Symbols, action: Action) -> dict[tuple[str, str], list[Cause]]:
    """The events that can fire in ``action`` with their causes, in the order of the strata."""
    model = symbols.model
    causes: dict[tuple[str, str], list[Cause]] = {}
    for firing in action.fires:
        key = (sort_of(model, firing.of, {}), firing.event)
        causes.setdefault(key, []).append(Cause(action, (), (), firing))
    for node, rules in symbols.strata.items():
        for rule in rules:
            if isinstance(rule.on, Action):
                possible = rule.on.name == action.name
            else:
                possible = (sort_of(model, rule.on.of, {}), rule.on.event) in causes
            if possible:
                causes.setdefault(node, []).append(_cause(action, rule))
    return {key: causes[key] for key in symbols.strata if key in causes}


def _cause(action: Action, rule: Rule) -> Cause:
    body = [*([rule.on] if isinstance(rule.on, t.Fires) else []), *rule.when]
    known = {v.name for v in action.parameters} if isinstance(rule.on, Action) else set()
    head: t.Term = rule.fires
    written = Cause(rule, _free((*body, head), known), tuple(body), rule.fires)
    # A variable that only names an attribute (c.reserver == q) is replaced by that attribute.
    while (named := _other_name(body, head, known)) is not None:
        part, var, attribute = named
        body = [substitute(p, var.name, attribute) for p in body if p is not part]
        body.insert(0, t.Not(t.Equal(attribute, t.NONE)))
        head = substitute(head, var.name, attribute)
        known.add(var.name)
    assert isinstance(head, t.Fires)
    free = {v.name: v for v in _free((*body, head), known)}
    # Parameters of the action keep their meaning only in the action's own rules.
    renamed: dict[str, Var] = {}
    if not isinstance(rule.on, Action):
        for name, var in free.items():
            renamed[name] = Var(f"{name}*", var.type)
            body = [substitute(p, name, renamed[name]) for p in body]
            head = substitute(head, name, renamed[name])
    assert isinstance(head, t.Fires)
    return Cause(rule, tuple(renamed.get(n, v) for n, v in free.items()), tuple(body), head, written)


def _free(parts: Sequence[t.Term], known: set[str]) -> tuple[Var, ...]:
    """The variables of ``parts`` that are not ``known``, in the order of first appearance."""
    free: dict[str, Var] = {}
    for part in parts:
        free |= {n: v for n, v in t.free_variables(part).items() if n not in known and n not in free}
    return tuple(free.values())


def _other_name(body: Sequence[t.Term], head: t.Term, known: set[str]) -> tuple[t.Equal, Var, t.Attr] | None:
    """The first condition that only equates a variable with an attribute: (condition, variable, attribute)."""
    for part in body:
        if not isinstance(part, t.Equal):
            continue
        for var, attribute in ((part.left, part.right), (part.right, part.left)):
            if not (isinstance(var, t.Var) and isinstance(var.type, Ref) and isinstance(attribute, t.Attr)):
                continue
            free = set(t.free_variables(attribute))
            if var.name in known | free or any(binds(p, free) for p in (*body, head)):
                continue
            return part, var, attribute
    return None


@dataclass(frozen=True)
class After:
    """The state after an action, as macros over the state before. It uses no primed functions."""

    cascade: Cascade

    def state(self, sort: str, of: Z) -> Z:
        """The machine state of an object after the step."""
        symbols = self.cascade.symbols
        before = symbols.state(sort, of)
        result = before
        for (owner, event), rows in self.cascade.rows.items():
            if owner != sort:
                continue
            fires = self.cascade.fires(sort, event, of)
            known = symbols.states[sort]
            for row in rows:
                if row.source != row.target:
                    result = If(And(fires, before == known[row.source]), known[row.target], result)
        return result

    def value(self, sort: str, attribute: str, of: Z) -> Any:
        """An attribute of an object after the step."""
        symbols = self.cascade.symbols
        declared = symbols.model.machine(sort).attribute(attribute)
        assert declared is not None
        result = symbols.value(sort, attribute, of)
        if declared.rigid:
            return result
        before = symbols.state(sort, of)
        for (owner, event), rows in self.cascade.rows.items():
            if owner != sort:
                continue
            for row in rows:
                for name, term in row.sets:
                    if name == attribute:
                        condition = And(self.cascade.fires(sort, event, of), before == symbols.states[sort][row.source])
                        result = choose(condition, self.update(sort, event, of, term, declared.type), result)
        return result

    def update(self, sort: str, event: str, of: Z, term: t.Term, kind: Any) -> Any:
        """The new value that a row gives to an attribute of ``of``."""
        reader = self.reader(sort, event, of)
        if isinstance(kind, Ref):
            return reader.reference(term, kind.sort.name)
        if isinstance(kind, SetOf | Relation):
            return reader.members(term)
        if isinstance(kind, Function):
            return reader.mapped(term, kind)
        if isinstance(kind, SequenceType):
            return reader.sequence(term, kind)
        return reader.scalar(term, kind)

    def reader(self, sort: str, event: str, of: Z) -> Translator:
        """A translator for the updates of a row at ``of``."""
        cascade = self.cascade
        names = cascade.symbols.model.machine(sort).parameters(event)
        given = {name: cascade.payload(sort, event, name, of) for name in names}
        return Translator(cascade.symbols, cascade.symbols, me=(sort, of), given=given, event=event)

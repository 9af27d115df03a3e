"""The formulas of a property, part by part, with the value of each part at every position of a run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import (
    AlwaysCanReach,
    Invariant,
    LeadsTo,
    Model,
    Property,
    Ref,
    StepInvariant,
)
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Integer
from schedproof.model.lang.wording import show_exactly
from schedproof.model.semantics import Choice, Firings, Instance, Moment, State, Undefined, compile_term
from schedproof.model.semantics.evaluate import NOBODY, sort_of_term, type_of_term
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.guards import renamed, value_words
from schedproof.proofs.exploration.run_facts import words
from schedproof.proofs.exploration.safety import conditions_of

from .data import Binding, FieldValue, Formula, Part, Values

MOST_INSTANCES = 12
"""The most values of a quantifier's variables that are shown one by one."""

MOST_PARTS = 300
"""The most parts of a formula. The parts of what is beyond are not shown."""

MOST_VALUES = 300_000
"""The most values to compute for a formula: a long run has fewer parts."""

NOT_EVALUATED, UNDEFINED = "", "undefined"


@dataclass(frozen=True)
class Position:
    """A position of a run: a state, and the step that leads to it.

    Attributes:
        state: the state; at the end of an ill-formed step the state before it.
        before: the state before the step; None at the initial state, and if the step is ill-formed.
    """

    state: State
    before: State | None = None
    choice: Choice | None = None
    fired: Firings = field(default_factory=dict)


def formulas(
    instance: Instance,
    prop: Property,
    bound: Mapping[str, int],
    positions: Sequence[Position],
    *,
    holds: bool = False,
) -> tuple[Formula, ...]:
    """The formulas that decide a property, for the ``bound`` values of its variables; none if its kind has none.

    Of a property with several conditions, it is the first that fails at the last position.

    Args:
        positions: of the run; the first is the initial state.
        holds: whether the property holds, and the run is an example.
    """
    match prop:
        case LeadsTo() | AlwaysCanReach():
            goal = "The goal, which is never reached" if isinstance(prop, LeadsTo) and not holds else "The goal"
            stated = [("The premise", prop.given), (goal, prop.goal)]
            return tuple(
                _Evaluated(instance, bound, positions).formula(title, _closed(term, prop.over, bound), None)
                for title, term in stated
                if term is not None
            )
    conditions = [_condition(instance.model, each, bound) for each in conditions_of(instance.model, prop)]
    for step, term in conditions:
        evaluated = _Evaluated(instance, bound, positions, step)
        if len(conditions) == 1 or evaluated.values(term, False)[-1] in ("false", UNDEFINED):
            return (evaluated.formula("The property", term, True),)
    return ()


def _condition(
    model: Model, condition: Invariant | StepInvariant, bound: Mapping[str, int]
) -> tuple[frozenset[str] | None, t.Term]:
    """The actions at whose steps a condition is evaluated (None: in states), and its formula."""
    term = condition.then if condition.given is None else t.implies(condition.given, condition.then)
    closed = _closed(term, condition.over, bound)
    if isinstance(condition, Invariant):
        return None, closed
    return frozenset(condition.on or (a.name for a in model.actions)), closed


def _closed(term: t.Term, over: Sequence[t.Var], bound: Mapping[str, int]) -> t.Term:
    """The formula for all values of those variables that the run does not determine."""
    free = [v for v in over if v.name not in bound]
    return t.forall(free, term) if free else term


@dataclass(frozen=True)
class _Scope:
    """The values of variables, and the names to print for them."""

    values: Mapping[str, int]
    variables: Mapping[str, t.Var]

    def and_(self, variables: Sequence[t.Var], values: Sequence[int]) -> _Scope:
        names = [v.name for v in variables]
        return _Scope(
            {**self.values, **dict(zip(names, values, strict=True))},
            {**self.variables, **dict(zip(names, variables, strict=True))},
        )


class _Evaluated:
    """Splits a formula into parts, and evaluates each at the positions of a run.

    Args:
        steps: the actions at whose steps the formula is evaluated; None evaluates it in every state.
    """

    def __init__(
        self,
        instance: Instance,
        bound: Mapping[str, int],
        positions: Sequence[Position],
        steps: frozenset[str] | None = None,
    ) -> None:
        self._instance, self._positions, self._steps = instance, positions, steps
        self._bound = bound
        machines = instance.model.machines
        changing = {a.name for machine in machines for a in machine.attributes if not a.rigid}
        self._rigid = {a.name for machine in machines for a in machine.attributes} - changing
        self._left = min(MOST_PARTS, MOST_VALUES // len(positions))

    def formula(self, title: str, term: t.Term, required: bool | None) -> Formula:
        """The formula with its parts."""
        variables = {name: v for name, v in t.free_variables(term).items() if name in self._bound}
        scope = _Scope(self._bound, variables)
        actions = None if self._steps is None else tuple(sorted(self._steps))
        part = self._part("", term, required, False, scope)
        bound = tuple(self._binding(variables[name], value) for name, value in self._bound.items() if name in variables)
        return Formula(title, part, self._text(term, False, scope), actions, show_exactly(term), bound)

    def _binding(self, variable: t.Var, value: int) -> Binding:
        kind = variable.type
        sort = words(kind.sort.name) if isinstance(kind, Ref) else ""
        return Binding(variable.name, shown(self._instance.show(kind, value)), sort)

    def values(self, term: t.Term, is_after: bool, scope: _Scope | None = None) -> list[str]:
        """The value of a formula at each position."""
        known = scope or _Scope(self._bound, {})
        function = compile_term(self._instance, t.after(term) if is_after else term, known.variables)
        return self._at_each(lambda moment: "true" if function(moment) else "false", known)

    def _at_each(self, read: Callable[[Moment], str], scope: _Scope) -> list[str]:
        return [self._at(position, read, scope) for position in self._positions]

    def _at(self, position: Position, read: Callable[[Moment], str], scope: _Scope) -> str:
        if self._steps is None:
            moment = Moment(position.state, dict(scope.values))
        elif position.before is None or position.choice is None or position.choice.action not in self._steps:
            return NOT_EVALUATED
        else:
            parameters = dict(position.choice.parameters)
            moment = Moment(position.before, {**parameters, **scope.values}, position.fired, position.state)
        try:
            return read(moment)
        except Undefined:
            return UNDEFINED

    def _part(self, role: str, term: t.Term, required: bool | None, is_after: bool, scope: _Scope) -> Part:
        self._left -= 1
        values = _changes(self.values(term, is_after, scope))
        is_fixed = self._is_fixed(term, scope)
        joint, parts = self._split(term, required, is_after, scope)
        if joint and len(parts) <= self._left:
            self._left -= len(parts)  # all parts of one formula are shown, or none
            shown_parts = []
            for each in parts:
                self._left += 1
                shown_parts.append(self._part(*each))
            return Part(role, joint, required, values, tuple(shown_parts), (), is_fixed)
        fields = tuple(self._reads(term, is_after, scope))
        return Part(role, self._text(term, is_after, scope), required, values, (), fields, is_fixed)

    def _is_fixed(self, term: t.Term, scope: _Scope) -> bool:
        """Whether a formula reads no state, no event and no parameter of the step."""
        if not set(t.free_variables(term)) <= set(scope.values):
            return False
        return not any(
            isinstance(each, t.Is | t.Fires) or (isinstance(each, t.Attr) and each.name not in self._rigid)
            for each in t.subterms(term)
        )

    def _split(
        self, term: t.Term, required: bool | None, is_after: bool, scope: _Scope
    ) -> tuple[str, list[tuple[str, t.Term, bool | None, bool, _Scope]]]:
        """The joint of a compound formula and its parts; ("", []) for one to show as a whole."""
        opposite = None if required is None else not required
        match term:
            case t.And():
                parts = self._distinct(t.conjuncts(term), is_after, scope)
                return "all of", [("", each, required, is_after, scope) for each in parts]
            case t.Or(parts):
                parts = self._distinct(parts, is_after, scope)
                return "one of", [("", each, required, is_after, scope) for each in parts]
            case t.Implies(premise, conclusion):
                return "if, then", [
                    ("if", premise, opposite, is_after, scope),
                    ("then", conclusion, required, is_after, scope),
                ]
            case t.Iff(left, right):
                return "both or neither", [("", left, None, is_after, scope), ("", right, None, is_after, scope)]
            case t.Not(part) if _is_compound(part):
                return "not", [("", part, opposite, is_after, scope)]
            case t.After(part) if _is_compound(part):
                return self._split(part, required, True, scope)
            case t.Quantified(universal, variables, body) if not any(isinstance(v.type, Integer) for v in variables):
                domains = [self._instance.domain(v.type) for v in variables]
                number = 1
                for domain in domains:
                    number *= len(domain)
                if number > MOST_INSTANCES:
                    return "", []
                names = ", ".join(v.name for v in variables)
                return f"{'for every' if universal else 'for some'} {names}", [
                    (self._names(variables, values), body, required, is_after, scope.and_(variables, values))
                    for values in itertools.product(*domains)
                ]
        return "", []

    def _distinct(self, terms: Sequence[t.Term], is_after: bool, scope: _Scope) -> list[t.Term]:
        """The terms, each once."""
        by_text: dict[str, t.Term] = {}
        for each in terms:
            by_text.setdefault(self._text(each, is_after, scope), each)
        return list(by_text.values())

    def _names(self, variables: Sequence[t.Var], values: Sequence[int]) -> str:
        return ", ".join(
            f"{v.name} = {shown(self._instance.show(v.type, value))}"
            for v, value in zip(variables, values, strict=True)
        )

    def _text(self, term: t.Term, is_after: bool, scope: _Scope) -> str:
        """A formula in words, with the names of objects in place of variables."""
        named = renamed(
            term, {n: value_words(self._instance, v.type, scope.values[n]) for n, v in scope.variables.items()}
        )
        return show_exactly(t.after(named) if is_after else named)

    def _reads(self, term: t.Term, is_after: bool, scope: _Scope) -> Iterator[FieldValue]:
        """The fields that a formula without shown parts reads, each with its value."""
        texts = set()
        for each, after in _fields(term, is_after):
            if isinstance(each, t.Is):
                text = f"state of {self._text(each.of, after, scope)}"
            elif each is term:
                continue  # its value is that of the formula
            else:
                text = self._text(each, after, scope)
            if text in texts or not set(t.free_variables(each)) <= self._known(scope):
                continue
            texts.add(text)
            yield FieldValue(text, _changes(self._at_each(self._reader(each, after, scope), scope)))

    def _known(self, scope: _Scope) -> set[str]:
        parameters = {
            v.name for a in self._instance.model.actions if a.name in (self._steps or ()) for v in a.parameters
        }
        return parameters | set(scope.values)

    def _reader(self, term: t.Attr | t.Apply | t.Is, is_after: bool, scope: _Scope) -> Callable[[Moment], str]:
        instance, variables = self._instance, scope.variables
        if isinstance(term, t.Attr | t.Apply):
            kind = type_of_term(instance, term, variables, NOBODY)
            assert kind is not None
            value = compile_term(instance, t.after(term) if is_after else term, variables)
            return lambda moment: shown(instance.show(kind, value(moment)))
        sort = sort_of_term(instance, term.of, variables, NOBODY)
        each_state = [
            (state.name, compile_term(instance, t.after(is_there) if is_after else is_there, variables))
            for state in instance.model.machine(sort).states
            for is_there in [t.Is(term.of, (state.name,), place=term.place)]
        ]
        return lambda moment: next(name for name, is_in in each_state if is_in(moment))


def _is_compound(term: t.Term) -> bool:
    return isinstance(term, t.And | t.Or | t.Implies | t.Iff | t.Quantified | t.Not) and not (
        isinstance(term, t.Not) and not _is_compound(term.part)
    )


def _fields(term: t.Term, is_after: bool) -> Iterator[tuple[t.Attr | t.Apply | t.Is, bool]]:
    """The attributes and states that a term reads outside of binders, and whether it reads them after the step."""
    if t.bound_by(term):
        return
    if isinstance(term, t.Apply):
        yield term, is_after
        yield from _fields(term.element, is_after)
        return
    if isinstance(term, t.Attr | t.Is):
        yield term, is_after
    for child in t.children(term):
        yield from _fields(child, is_after or isinstance(term, t.After))


def _changes(values: Sequence[str]) -> Values:
    """The positions at which a value differs from the one before, with the new value."""
    return tuple((n, value) for n, value in enumerate(values) if n == 0 or values[n - 1] != value)

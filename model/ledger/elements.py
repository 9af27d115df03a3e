"""The elements of a model by the names that a ledger has for them, and the parts of each, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Action, Durability, Model, Rigid, Row, Rule
from schedproof.model.lang.machine import Attribute, State
from schedproof.model.lang.terms import Fires
from schedproof.model.lang.types import Function, Ref, Relation, SetOf
from schedproof.model.lang.wording import show_term
from schedproof.model.registry.system import System
from schedproof.model.semantics import configurations, fitted, scope_text

from .content import cause, review
from .statements import Statement

ASSUMED = " everywhere: an assumption"
"""The end of the words for a value that every configuration assumes."""


@dataclass(frozen=True)
class Part:
    """What a model says in one element.

    Args:
        name: the name in the ledger: ``state Cell.Free``, ``row Cell.e0 from Free``, ``action allocate``, ``axiom 1``.
        parts: in words, each thing that it says: conditions, updates, firings, the initial value.
        line: of the document that it cites; None if it cites none.
        fact: that it cites; "" if it cites none.
        place: where it is written, for messages.
        content: all that it means, and what it cites.
    """

    name: str
    parts: tuple[str, ...]
    line: int | None
    fact: str
    place: str
    content: object

    @property
    def review(self) -> str:
        """What the mark of a reviewer is bound to, without the words of the document."""
        return review(self.name, self.content)

    def review_with(self, stated: Sequence[Statement]) -> str:
        """What a new mark is bound to: the element, and the statements of the line that it cites.

        Args:
            stated: the statements of the document.
        """
        cited = [each.text for each in stated if self.line is not None and each.line <= self.line <= each.last]
        return f"{self.review}-{review(cited)[1:6]}" if cited else self.review


def elements(model: Model) -> Mapping[str, Part]:
    """The elements of a model, by name, in its order."""
    return {part.name: part for part in _elements(model)}


def _elements(model: Model) -> Iterator[Part]:
    for machine in model.machines:
        sort = machine.sort.name
        events = {event.name: event.parameters for event in machine.events}
        yield Part(f"machine {sort}", (), machine.line, "", str(machine.place), (machine.line, events))
        for number, state in enumerate(machine.states):
            says = _state(state, number == 0)
            yield Part(f"state {sort}.{state.name}", says, state.line, "", str(state.place), (number == 0, state))
        for attribute in machine.attributes:
            says = _attribute(attribute)
            yield Part(f"attribute {sort}.{attribute.name}", says, attribute.line, "", str(attribute.place), attribute)
    for row in model.rows:
        yield Part(f"row {row.name}", _row(row), row.line, row.fact, str(row.place), row)
    for action in model.actions:
        yield Part(f"action {action.name}", _action(action), action.line, action.fact, str(action.place), action)
    for rule in model.rules:
        content = (cause(rule.on), rule.when, rule.fires, rule.line, rule.fact)
        yield Part(f"rule {rule.name}", _rule(rule), rule.line, rule.fact, str(rule.place), content)
    for number, axiom in enumerate(model.axioms, 1):
        yield Part(f"axiom {number}", (show_term(axiom),), None, "", str(model.place), axiom)
    for name, formula in model.assuming.items():
        yield Part(f"assuming {name}", (show_term(formula),), None, "", str(model.place), formula)
    sizes = {sort.name: 1 for sort in model.sorts} | dict(model.default_scope)
    scopes = (sizes, sizes | dict(model.verify_scope))
    every = [configurations(model, each) for each in scopes]
    yield Part(
        "configurations", tuple(_configurations(model, sizes, every[0])), None, "", str(model.place), (scopes, every)
    )


def _state(state: State, first: bool) -> tuple[str, ...]:
    lasting = () if state.durability is Durability.PERSISTENT else (state.durability.value,)
    begins = (f"begins {state.begins}",) if state.begins else ()
    return (*(("initial",) if first else ()), *lasting, *begins)


def _attribute(attribute: Attribute) -> tuple[str, ...]:
    kinds = [kind for kind in ("rigid", "durable", "derived", "history") if getattr(attribute, kind)]
    initial = [] if attribute.initial is None else [f"initially {attribute.initial}"]
    return (str(attribute.type), *kinds, *initial)


def _row(row: Row) -> tuple[str, ...]:
    return (f"to {row.target}", *(f"{name} becomes {show_term(value)}" for name, value in row.sets))


def _action(action: Action) -> tuple[str, ...]:
    crash = ("crash",) if action.crash else ()
    return (*crash, *map(show_term, action.when), *map(_fires, action.fires))


def _rule(rule: Rule) -> tuple[str, ...]:
    on = rule.on.name if isinstance(rule.on, Action) else show_term(rule.on)
    return (f"on {on}", *map(show_term, rule.when), _fires(rule.fires))


def _fires(firing: Fires) -> str:
    payload = ", ".join(f"{name} = {show_term(value)}" for name, value in firing.payload)
    return f"fires {show_term(firing)}" + (f" with {payload}" if payload else "")


def _configurations(model: Model, sizes: Mapping[str, int], every: Sequence[Rigid]) -> Iterator[str]:
    """What is explored: how many configurations there are, of how many objects, and the values of each rigid attribute in them."""
    scopes = [fitted(sizes, each) for each in every]
    most = {sort: max((scope[sort] for scope in scopes), default=0) for sort in sizes}
    yield f"{len(every)} of up to {scope_text(most)}"
    for machine in model.machines:
        for attribute in machine.attributes:
            given = [each[key] for each in every if (key := (machine.sort.name, attribute.name)) in each]
            if attribute.rigid and any(given):
                name = f"{machine.sort.name}.{attribute.name}"
                if isinstance(attribute.type, Ref | SetOf | Relation | Function):
                    ways = len(
                        {
                            repr(list(values)) if isinstance(attribute.type, Function) else tuple(values)
                            for values in given
                        }
                    )
                    yield f"{name} in {ways} way{'s' if ways > 1 else ''}"
                else:
                    distinct = {value for values in given for value in values}
                    always = ASSUMED if distinct == {attribute.assumed} else ""
                    yield f"{name} is {', '.join(sorted(map(_value, distinct)))}{always}"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def beside(system: System, model: Model) -> frozenset[str]:
    """What else a ledger may name as modelled: flows of events, charts, and descriptions of locks."""
    flows = (f"flow {flow.event}" for flow in system.flows.get(model.variant, ()))
    charts = (f"chart {chart.name}" for chart in system.charts.get(model.variant, ()))
    locks = (f"locks {lock.name}" for some in system.locks.values() for lock in some)
    return frozenset([*flows, *charts, *locks])

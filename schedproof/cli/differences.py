"""The differences between two variants of a system, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Action, Change, Machine, Model, Property, Row, Rule
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.wording import show_term
from schedproof.model.registry.system import System
from schedproof.proofs.checking.slices import formulas
from schedproof.proofs.verification.properties import expected_of_model

from . import scopes


@dataclass(frozen=True)
class Difference:
    """One element that only one variant has (``before`` or ``after`` is empty), or that changed.

    Attributes:
        kind: machine, row, rule, action, property or verdict.
        change: added, removed or changed.
        name: the name of the element.
        before: the element in the first variant, in lines.
        after: the element in the second variant, in lines.
        changes: the changes of amended variants that cause the difference.
    """

    kind: str
    change: str
    name: str
    before: Sequence[str]
    after: Sequence[str]
    changes: Sequence[Change]

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "kind": self.kind,
            "change": self.change,
            "name": self.name,
            "before": list(self.before),
            "after": list(self.after),
            "reasons": [change_as_json(change) for change in self.changes],
        }


def change_as_json(change: Change) -> dict[str, Any]:
    """The reason of a change in an amended variant, for ``--json``."""
    return {
        "why": change.why,
        "repairs": list(change.repairs),
        "weakens": {name: list(kept) for name, kept in change.weakens.items()},
    }


Element = Machine | Row | Action | Rule | Property


def related(system: System, one: Model, other: Model) -> bool:
    """Whether both amend a common variant, or one amends the other. Only then are elements of one name comparable."""
    return system.first(one) is system.first(other)


def differences(system: System, one: Model, other: Model) -> list[Difference]:
    """All differences from ``one`` to ``other``: machines, rows, rules, actions, properties, expected verdicts."""
    collected: list[Difference] = []
    earlier, later = (_since(system, model, than) for model, than in ((one, other), (other, one)))
    reasons = {**_reasons(earlier), **_reasons(later)}
    kinds: list[tuple[str, Iterable[Element], Iterable[Element]]] = [
        ("machine", one.machines, other.machines),
        ("row", one.rows, other.rows),
        ("rule", one.rules, other.rules),
        ("action", one.actions, other.actions),
        ("property", one.properties, other.properties),
    ]
    for kind, old_elements, new_elements in kinds:
        collected += _compared(kind, one, old_elements, other, new_elements, reasons)
    new_names = {p.name for p in other.properties}
    for prop in one.properties:
        before, after = expected_of_model(one, prop.name), expected_of_model(other, prop.name)
        if prop.name in new_names and before is not after:
            changes = [c for c in (*later, *earlier) if prop.name in c.repairs]
            collected.append(Difference("verdict", "changed", prop.name, [str(before)], [str(after)], changes))
    return collected


def _since(system: System, model: Model, other: Model) -> list[Change]:
    """The changes that lead to ``model`` from the last variant that it shares with ``other``; [] if they share none."""
    if not related(system, model, other):
        return []
    shared = {m.variant for m in system.line(other)}
    return [change for m in reversed(system.line(model)) if m.variant not in shared for change in m.changes]


def _reasons(changes: Iterable[Change]) -> dict[str, list[Change]]:
    """By element, the changes that affect it. A change that adds it replaces all earlier ones."""
    reasons: dict[str, list[Change]] = {}
    for change in changes:
        for name in (*change.drops, *change.weakens):
            reasons.setdefault(name, []).append(change)
        for element in change.adds:
            reasons[element.name] = [change]
    return reasons


def _compared(
    kind: str,
    one: Model,
    before: Iterable[Element],
    other: Model,
    after: Iterable[Element],
    reasons: Mapping[str, Sequence[Change]],
) -> Iterator[Difference]:
    olds, news = {_name(e): e for e in before}, {_name(e): e for e in after}
    for name in dict.fromkeys([*olds, *news]):
        old, new = olds.get(name), news.get(name)
        if old is not None and new is not None and _spelled(one, old) == _spelled(other, new):
            continue
        change = "added" if old is None else "removed" if new is None else "changed"
        yield Difference(
            kind,
            change,
            name,
            () if old is None else described(one, old),
            () if new is None else described(other, new),
            reasons.get(name, ()),
        )


def _name(element: Element) -> str:
    return element.sort.name if isinstance(element, Machine) else element.name


def _spelled(model: Model, element: Element) -> object:
    """A value by which two elements can be compared; for a machine, its description.

    repr describes an element completely; == would build a formula.
    """
    return described(model, element) if isinstance(element, Machine) else repr(element)


def described(model: Model, element: Element) -> list[str]:
    """An element of ``model`` in lines. Each line is a part that can differ."""
    line = [] if element.line is None else [f"line {element.line}"]
    fact = getattr(element, "fact", "")  # a machine or a property has no fact
    line += [f"fact {fact}"] if fact else []
    match element:
        case Machine():
            attributes = [f"attribute {a.name}: {a.type}{' (rigid)' if a.rigid else ''}" for a in element.attributes]
            return [*[f"state {s.name}" for s in element.states], *attributes, *line]
        case Row():
            sets = [f"{name} := {show_term(value)}" for name, value in element.sets]
            return [f"{element.source} -> {element.target}", *sets, *line]
        case Action():
            scope = {v.name: v for v in element.parameters}
            chosen = ", ".join(f"{v.name}: {scopes.parameter(v.type)}" for v in element.parameters)
            return [
                f"choose {chosen or 'nothing'}",
                *[f"when {show_term(part)}" for part in element.when],
                *[f"fires {_firing(model, fired, scope)}" for fired in element.fires],
                *line,
            ]
        case Rule():
            parts = [*([] if isinstance(element.on, Action) else [element.on]), *element.when, element.fires]
            scope = {name: var for part in parts for name, var in t.free_variables(part).items()}
            on = f"action {element.on.name}" if isinstance(element.on, Action) else _firing(model, element.on, scope)
            return [
                f"on {on}",
                *[f"when {show_term(part)}" for part in element.when],
                f"fires {_firing(model, element.fires, scope)}",
                *line,
            ]
        case _:
            return [element.kind, f"says {element.says}", *_property(element), *line]


def _property(prop: Property) -> Iterator[str]:
    for formula in formulas(prop):
        yield f"formula {show_term(formula)}"
    for name in ("on", "weak", "strong", "without"):
        if values := getattr(prop, name, ()):
            yield f"{name} {', '.join(values)}"


def _firing(model: Model, fired: t.Fires, scope: dict[str, t.Var]) -> str:
    payload = ", ".join(f"{name}={show_term(value)}" for name, value in fired.payload)
    event = f"{sort_of(model, fired.of, scope)}.{fired.event}"
    return f"{event}{f'({payload})' if payload else ''} on {show_term(fired.of)}"

"""A system in detail: its variants, machines, actions and properties, as tables or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from schedproof.cli import scopes
from schedproof.cli.tables import table
from schedproof.model.lang import Attribute, Machine, Model
from schedproof.model.registry.system import System
from schedproof.model.semantics import range_of, scope_text
from schedproof.proofs.verification.properties import expected, properties_of


def print_details(system: System, models: Sequence[Model]) -> None:
    """Prints a system with the variants ``models``: their machines, actions and properties."""
    base, shown = system.base, {m.variant: m for m in models}
    click.echo(f"{system.title} ({base.document.title}: {base.document.name})")
    click.echo()
    rows = [[v, _scope(m), "yes" if v == system.validated_by else "", m.about] for v, m in shown.items()]
    table("Variants", ["name", "default scope", "checks logs", "what it is"], rows)
    _print_shared("Machines", ["name", "states", "events", "attributes", "line"], models, _machines)
    _print_shared("Attributes", ["name", "type", "kind", "what it is"], models, _attributes)
    for model in models:
        click.echo()
        actions = [
            [
                a.name,
                ", ".join(f"{v.name}: {scopes.parameter(v.type)}" for v in a.parameters),
                a.sentence,
                _line(a.line),
            ]
            for a in model.actions
        ]
        table(f"Actions of {model.variant}", ["name", "parameters", "what happens", "line"], actions)
        click.echo()
        properties = [
            [p.name, p.kind, str(expected(system, model, p.name)), _line(p.line), p.says]
            for p in properties_of(system, model)
        ]
        table(f"Properties of {model.variant}", ["name", "kind", "expected", "line", "what it says"], properties)


Rows = tuple[tuple[str, ...], ...]


def _print_shared(title: str, columns: list[str], models: Sequence[Model], rows_of: Callable[[Model], Rows]) -> None:
    """Prints each table once, with the variants that have it. Most amendments have the machines of their base."""
    variants_of_rows: dict[Rows, list[str]] = {}
    for model in models:
        variants_of_rows.setdefault(rows_of(model), []).append(model.variant)
    for rows, names in variants_of_rows.items():
        if not rows:
            continue
        click.echo()
        table(title if len(names) == len(models) else f"{title} of {', '.join(names)}", columns, rows)


def _machines(model: Model) -> Rows:
    return tuple(
        (
            m.sort.name,
            ", ".join(s.name for s in m.states),
            ", ".join(_events(model, m)),
            ", ".join(a.name for a in m.attributes),
            _line(m.line),
        )
        for m in model.machines
    )


def _attributes(model: Model) -> Rows:
    return tuple(
        (f"{m.sort.name}.{a.name}", str(a.type), _kind(a), a.about) for m in model.machines for a in m.attributes
    )


def _kind(attribute: Attribute) -> str:
    return "rigid" if attribute.rigid else "history" if attribute.history else ""


def _events(model: Model, machine: Machine) -> list[str]:
    return list(dict.fromkeys(row.event for row in model.table(machine.sort)))


def _line(line: int | None) -> str:
    return "" if line is None else str(line)


def _scope(model: Model) -> str:
    return scope_text(model.default_scope)


def _bound(model: Model) -> dict[str, list[int]]:
    """The lowest and the highest value of each integer with a bound, by its name."""
    return {f"{sort}.{name}": list(range_of(model, sort, name)) for sort, name in model.bound}


def details(system: System, models: Sequence[Model]) -> dict[str, Any]:
    """The entry of ``list --json``, with the variants ``models``."""
    return {
        "name": system.name,
        "title": system.title,
        "document": system.document,
        "judged_by": system.validated_by,
        "variants": [_variant(system, m) for m in models],
    }


def _variant(system: System, model: Model) -> dict[str, Any]:
    return {
        "name": model.variant,
        "about": model.about,
        "scope": dict(model.default_scope),
        **({"bound": bound} if (bound := _bound(model)) else {}),
        "machines": [
            {
                "name": m.sort.name,
                "states": [s.name for s in m.states],
                "events": _events(model, m),
                "attributes": [{"name": a.name, "type": str(a.type), "kind": _kind(a)} for a in m.attributes],
            }
            for m in model.machines
        ],
        "actions": [
            {
                "name": a.name,
                "parameters": {v.name: scopes.parameter(v.type) for v in a.parameters},
                "says": a.says,
                "line": a.line,
            }
            for a in model.actions
        ],
        "properties": [
            {
                "name": p.name,
                "kind": p.kind,
                "expected": str(expected(system, model, p.name)),
                "says": p.says,
                "line": p.line,
            }
            for p in properties_of(system, model)
        ],
    }

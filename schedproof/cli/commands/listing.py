"""``schedproof list``: what there is, by its stable names."""

from __future__ import annotations

from typing import Any

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination, json_option
from schedproof.cli.tables import table
from schedproof.model.lang import Machine, Model
from schedproof.model.registry.system import System
from schedproof.model.semantics import scope_text
from schedproof.proofs.verification.properties import expected, properties_of


@click.command("list")
@click.argument("system", required=False)
@json_option
def listing(system: str | None, json_file: Destination | None) -> int:
    """List systems; of one system its variants, machines, actions and properties."""
    if system is None:
        choose.problems()
    chosen = [choose.system(system)] if system is not None else choose.every()
    if json_file is not None:
        json_file.write_json({"systems": [_json(s) for s in chosen]})
    if json_file is None or not json_file.is_stdout:
        if system is None:
            rows = [[s.name, ", ".join(s.variants), s.document, s.title] for s in chosen]
            table("Systems", ["name", "variants", "document", "what it is"], rows)
        else:
            _print(chosen[0])
    return Exit.OK


def _print(system: System) -> None:
    base = system.base
    click.echo(f"{system.title} ({base.document.title}: {base.document.name})")
    click.echo()
    rows = [[v, _scope(m), "yes" if v == system.judged_by else "", m.about] for v, m in system.variants.items()]
    table("Variants", ["name", "default scope", "judges logs", "what it is"], rows)
    click.echo()
    columns = ["name", "states", "events", "attributes", "line"]
    for number, (machines, names) in enumerate(_machines(system).items()):
        if number:
            click.echo()
        whose = "" if len(names) == len(system.variants) else f" of {', '.join(names)}"
        table(f"Machines{whose}", columns, machines)
    for model in system.variants.values():
        click.echo()
        actions = [
            [
                a.name,
                ", ".join(f"{v.name}: {choose.parameter(v.type)}" for v in a.parameters),
                choose.happening(a),
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


def _machines(system: System) -> dict[Rows, list[str]]:
    """The table of the machines, and the variants that have it; an amendment mostly has those of its base."""
    found: dict[Rows, list[str]] = {}
    for model in system.variants.values():
        rows = tuple(
            (
                m.sort.name,
                ", ".join(s.name for s in m.states),
                ", ".join(_events(model, m)),
                ", ".join(a.name for a in m.attributes),
                _line(m.line),
            )
            for m in model.machines
        )
        found.setdefault(rows, []).append(model.variant)
    return found


def _events(model: Model, machine: Machine) -> list[str]:
    return list(dict.fromkeys(row.event for row in model.table(machine.sort)))


def _line(line: int | None) -> str:
    return "" if line is None else str(line)


def _scope(model: Model) -> str:
    return scope_text(model.default_scope)


def _json(system: System) -> dict[str, Any]:
    return {
        "name": system.name,
        "title": system.title,
        "document": system.document,
        "judged_by": system.judged_by,
        "variants": [_variant(system, m) for m in system.variants.values()],
    }


def _variant(system: System, model: Model) -> dict[str, Any]:
    return {
        "name": model.variant,
        "about": model.about,
        "scope": dict(model.default_scope),
        "machines": [
            {
                "name": m.sort.name,
                "states": [s.name for s in m.states],
                "events": _events(model, m),
            }
            for m in model.machines
        ],
        "actions": [
            {
                "name": a.name,
                "parameters": {v.name: choose.parameter(v.type) for v in a.parameters},
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

"""Drafts a ledger from a document and the citations in the models; what is already written in it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from schedproof.model.lang import Model
from schedproof.model.registry.system import System

from .elements import Part, elements
from .gaps import sentences
from .ledger import DISPOSITIONS, Entry, Ledger, Mark
from .statements import Statement, statements


def draft(system: System, text: str, ledger: Ledger | None, variants: Sequence[str]) -> str:
    """A ledger as YAML.

    Args:
        system: the system.
        text: the document.
        ledger: the entries and marks that are kept; None for a new ledger.
        variants: those whose elements are listed.

    Returns:
        An entry for each statement. A new one has the elements and the properties that cite its line. Elements without a
        valid mark have an empty one, with their parts in a comment.
    """
    models = [system.variants[name] for name in variants]
    kept = {(entry.line, entry.text): entry for entry in ledger.statements} if ledger else {}
    arrows = [entry for entry in ledger.statements if entry.arrow] if ledger else []
    entries = [kept.get((each.line, each.text)) or _new(each, models) for each in statements(text)]
    entries = sorted([*entries, *arrows], key=lambda entry: entry.line)
    lines = [
        f"document: {models[0].document.name}",
        f"variants: {_flow(list(variants))}",
        "statements:",
        *(line for entry in entries for line in _entry(entry)),
        "elements:",
    ]
    marks = ledger.elements if ledger else {}
    stated = sentences(Ledger(models[0].document.name, list(variants), entries))
    return "\n".join([*lines, *_marks(models, marks, stated)]) + "\n"


def _new(statement: Statement, models: Sequence[Model]) -> Entry:
    """An entry with what cites the lines of a statement; a draft, since a line may have several statements."""
    lines = range(statement.line, statement.last + 1)
    modelled = [name for model in models for name, part in elements(model).items() if part.line in lines]
    required = [prop.name for model in models for prop in model.properties if prop.line in lines]
    return Entry(
        statement.line,
        statement.text,
        modelled=list(dict.fromkeys(modelled)),
        required=list(dict.fromkeys(required)),
    )


def _entry(entry: Entry) -> Iterator[str]:
    yield f"- line: {entry.line}"
    for key in ("text", "arrow"):
        if value := getattr(entry, key):
            yield f"  {key}: {_flow(value)}"
    for key in DISPOSITIONS:
        if value := getattr(entry, key):
            yield f"  {key.replace('_', '-')}: {_flow(value)}"


def _marks(models: Sequence[Model], marks: Mapping[str, Mark], stated: Sequence[Statement]) -> Iterator[str]:
    forms: dict[str, dict[str, Part]] = {}
    for model in models:
        for name, part in elements(model).items():
            forms.setdefault(name, {})[model.variant] = part
    for name, by_variant in forms.items():
        mark = marks.get(name, Mark({}))
        current = {v: part.review_with(stated) for v, part in by_variant.items()}
        valid = {v: current[v] for v in by_variant if mark.review_of(v) == current[v]}
        for review, part in {current[v]: part for v, part in by_variant.items() if v not in valid}.items():
            cites = f"line {part.line}" if part.line is not None else part.fact or "no source"
            of = [v for v in by_variant if current[v] == review] if len(models) > 1 else []
            known = f"{review} ({', '.join(of)})" if of else review
            yield f"  # {known}, {cites}: {'; '.join(part.parts) or 'says no more'}".replace("\n", " ")
        same = set(valid.values()) if len(valid) == len(models) else set()
        body: dict[str, Any] = {"review": same.pop() if len(same) == 1 else valid}
        if mark.source:
            body["source"] = mark.source
        if mark.added:
            body["added"] = dict(mark.added)
        yield f"  {_flow(name)}: {_flow(body)}"


def _flow(value: object) -> str:
    """A value as YAML on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False)
    return str(text).removesuffix("\n").removesuffix("\n...")

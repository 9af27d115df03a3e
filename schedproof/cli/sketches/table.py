"""Reads a CSV table with a move in each line: from, event, to, and perhaps a guard.

The delimiter is the one of the first line that separates its columns: comma, semicolon, tab or bar. ``*`` in the column ``from``
stands for every state, and ``[*]`` for the beginning: its target is the initial state.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schedproof.model.lang.excerpt import Span
from schedproof.model.registry.errors import UserError

from .sketch import Draft, Note, Sketch
from .source import Source

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "from": ("from", "source", "state", "from state", "from_state"),
    "event": ("event", "trigger", "transition", "action"),
    "to": ("to", "target", "dest", "destination", "next", "next state", "to state", "to_state"),
    "machine": ("machine", "object", "sort", "entity"),
}
"""The columns that are read, each with its names; all others become notes."""

DELIMITERS = ",;\t|"
EVERY, BEGINNING = "*", "[*]"


@dataclass(frozen=True)
class _Cell:
    """A cell without the blanks around it, and where it is."""

    text: str
    span: Span


def sketches(source: Source) -> list[Sketch]:
    """The machines of a table: one, or one for each value of the column ``machine``.

    Raises:
        UserError: a column or a cell that a move needs is missing, or no line has a move.
    """
    lines = _lines(source)
    number, header = next(lines, (1, {}))
    columns = {part: next((name for name in header if name in names), "") for part, names in COLUMNS.items()}
    if missing := [part for part, name in columns.items() if not name and part != "machine"]:
        problem = f"the first line has no column {missing[0]!r}"
        raise source.error(source.span(number), problem, f"name it, or one of {', '.join(COLUMNS[missing[0]][1:])}")
    drafts: dict[str, Draft] = {}
    every: list[tuple[Draft, _Cell, _Cell]] = []
    for number, row in lines:
        cells = {part: row.get(name) for part, name in columns.items()}
        machine = cells["machine"].text if cells["machine"] is not None else ""
        draft = drafts.setdefault(machine, Draft(machine))
        first, event, target = (cells[part] for part in ("from", "event", "to"))
        if target is None or not target.text:
            raise source.error(
                source.span(number), "this line has no state in the column 'to'", "write the state after the event"
            )
        if first is None or not first.text:
            raise source.error(
                source.span(number), "this line has no state in the column 'from'", "write the state before the event"
            )
        if first.text == BEGINNING:
            draft.state(target.text)
            draft.initials[target.text] = target.span
            continue
        if event is None or not event.text:
            raise source.error(source.span(number), "this line has no event", "write what causes the move")
        if first.text == EVERY:
            every.append((draft, event, target))
            draft.state(target.text)
        else:
            draft.move(event.text, first.text, target.text, event.span)
        known = set(columns.values())
        for name, cell in row.items():
            if name not in known and cell.text:
                problem = f"the {name} {cell.text!r} of {event.text} is not in the model"
                remedy = (
                    "declare what it reads as an Attribute, and write it into when"
                    if name == "guard"
                    else "write what it means"
                )
                draft.notes.append(Note(cell.span, problem, remedy, event.text))
    special = {(draft.name, move.event, move.source) for draft in drafts.values() for move in draft.moves}
    for draft, event, target in every:
        for state in [name for name in draft.states if (draft.name, event.text, name) not in special]:
            draft.move(event.text, state, target.text, event.span)
    if not any(draft.moves for draft in drafts.values()):
        raise source.error(
            source.span(1), "no line has a move", "write one below the names of the columns: Idle,start,Busy"
        )
    return [draft.sketch() for draft in drafts.values() if draft.moves]


def is_table(source: Source) -> bool:
    """Whether the first line names the columns that a move needs."""
    try:
        _, header = next(_lines(source), (1, {}))
    except UserError:
        return False
    return all(any(name in COLUMNS[part] for name in header) for part in ("from", "event", "to"))


def _lines(source: Source) -> Iterator[tuple[int, Mapping[str, _Cell]]]:
    """The lines with their numbers: first the names of the columns, then the cells by column."""
    head = next((line for line in source.lines if line.strip()), "")
    delimiter = max(DELIMITERS, key=head.count)
    names: list[str] = []
    reader = csv.reader((f"{line}\n" for line in source.lines), delimiter=delimiter, skipinitialspace=True)
    number = 1
    try:
        for fields in reader:
            if any(field.strip() for field in fields) and not fields[0].startswith("#"):
                cells = list(_cells(source, number, fields))
                if not names:
                    names = [field.strip().casefold() for field in fields]
                    if twice := [place for place, name in enumerate(names) if name and name in names[:place]]:
                        problem = f"a second column {names[twice[0]]!r}"
                        raise source.error(cells[twice[0]].span, problem, "give each column a name of its own")
                    yield number, dict(zip(names, cells, strict=True))
                elif len(fields) > len(names):
                    raise source.error(
                        cells[len(names)].span, "this line has more cells than the first line has columns",
                        "put a cell that has the delimiter in double quotes",
                    )  # fmt: skip
                else:
                    yield number, dict(zip(names, cells, strict=False))
            number = reader.line_num + 1
    except csv.Error as error:
        raise source.error(source.span(reader.line_num), f"not CSV: {error}", "write a cell for each column") from None


def _cells(source: Source, number: int, fields: list[str]) -> Iterator[_Cell]:
    line = source.lines[number - 1] if number <= len(source.lines) else ""
    column = 0
    for field in fields:
        text = field.strip()
        at = line.find(text, column) if text else -1
        if at >= 0:
            column = at + len(text)
        yield _Cell(" ".join(text.split()), source.span(number, at, at + len(text)) if at >= 0 else source.span(number))

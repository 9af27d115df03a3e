"""Helpers of the readers of YuniKorn's formats: they recognise a file, and check its names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.files.json_document import joined
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.formats.format import Requested

from .lives import Entry, Lives
from .releases import EVENTS, STATE_STRINGS, Table, known_states, release_named, releases_of, table_of

SCHEMA = Path(__file__).parent / "formats.schema.json"


def fits(model: Model) -> bool:
    """True if the model has the machines of YuniKorn's logs."""
    return {m.sort.name for m in model.machines} >= set(EVENTS)


def keys(lines: Sequence[TextLine]) -> set[str]:
    """Returns the keys of the first object of a JSON file; of an incomplete one, those in its first 5000 characters."""
    if lines[0].text[0] not in "{[":
        return set()
    text = joined(lines).lstrip()
    try:
        value: Any = json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        # A JSON line of a log is complete; a file of any format can break off on its first line.
        return set(re.findall(r'"(\w+)"\s*:', text[:5000]))
    while isinstance(value, list) and value:
        value = value[0]
    return set(value) if isinstance(value, dict) else set()


def tables_of(model: Model, requested: Requested) -> list[Table]:
    """Returns the tables to check by: the requested variant's or release's, by default those of all releases.

    Raises:
        TraceError: there is no such release.
    """
    if requested.variant is not None:
        return [table_of(model)]
    every = releases_of(model)
    if requested.release is None:
        return every
    name = release_named(requested.release)
    return [table for table in every if table.name == name]


class Words:
    """The states and events that a log may have; any other is an error in the log, not a nonconformance."""

    def __init__(self, model: Model) -> None:
        self._states = {sort: list(known_states(model, sort)) for sort in EVENTS}

    def state(self, sort: str, name: str, line: Line, field: str) -> str:
        """Returns ``name``, if it is a state.

        Raises:
            TraceError: it is not.
        """
        known = self._states[sort]
        if name not in known and name not in STATE_STRINGS.get(sort, {}).values():
            raise line.error(f'"{field}": unknown state {name!r:.60}; choose from {", ".join(known)}')
        return name

    def event(self, sort: str, name: str, line: Line) -> str:
        """Returns ``name``, if it is an event.

        Raises:
            TraceError: it is not.
        """
        if name not in EVENTS[sort]:
            raise line.error(f'"event": unknown event {name!r:.60}; choose from {", ".join(EVENTS[sort])}')
        return name


Entries = Callable[[Model, Sequence[TextLine]], tuple[Sequence[Entry], str]]
"""Reads the entries of a file, and a note on what it skipped."""


def read_lives(
    entries_of: Entries, more: Callable[[Table], Table] = lambda table: table
) -> Callable[[Model, Sequence[TextLine], Requested], Lives]:
    """Returns the reader of a format.

    Args:
        entries_of: reads the entries of a file.
        more: adds to a table what only this format has.
    """

    def read(model: Model, lines: Sequence[TextLine], requested: Requested) -> Lives:
        tables = [more(table) for table in tables_of(model, requested)]
        return Lives(model, tables, *entries_of(model, lines))

    return read

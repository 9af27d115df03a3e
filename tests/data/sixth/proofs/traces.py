"""Logs of switches, a line each: ``kitchen on``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from schedproof.model.lang import Model
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.formats.format import Format, Plain, Requested

ACTIONS = {"on": "light", "off": "darken"}


def is_switches(lines: Sequence[TextLine]) -> bool:
    """Every line is a name and on or off."""
    return all(len(words := line.text.split()) == 2 and words[1] in ACTIONS for line in lines)


def read_switches(model: Model, lines: Iterator[TextLine], requested: Requested) -> Plain:
    """The records; lamps appear when they are first switched."""
    first = next(lines)
    header = {"schedproof": 1, "system": model.system, "objects": {}}
    return Plain(Line(first.file, first.number, header), _records(chain([first], lines)))


def _records(lines: Iterator[TextLine]) -> Iterator[Line]:
    known: set[str] = set()
    for line in lines:
        lamp, to = line.text.split()
        value = {"action": ACTIONS[to], "parameters": {"x": lamp}}
        yield Line(line.file, line.number, value if lamp in known else {**value, "objects": {"Lamp": [lamp]}})
        known.add(lamp)


SWITCHES = Format("switches", "switches, such as: kitchen on", is_switches, read_switches, text=True, streamed=True)

"""Files with machines for the tests of ``schedproof init --from``, and how they are read."""

from __future__ import annotations

from pathlib import Path

from schedproof.cli.sketches.reading import read
from schedproof.cli.sketches.sketch import Sketch
from schedproof.cli.sketches.source import Source

Table = set[tuple[str, str, str]]


def sketches(folder: Path, name: str, text: str) -> tuple[Source, list[Sketch]]:
    """What is read of a file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    return read(folder / name, None)


def sketch(folder: Path, name: str, text: str) -> Sketch:
    """The only machine of a file with this text."""
    (only,) = sketches(folder, name, text)[1]
    return only


def table(machine: Sketch) -> Table:
    """The moves as (event, source, target)."""
    return {(move.event, move.source, move.target) for move in machine.moves}


def noted(machine: Sketch) -> list[tuple[int, str]]:
    """The line and the problem of each note."""
    return [(note.span.line, note.problem) for note in machine.notes]

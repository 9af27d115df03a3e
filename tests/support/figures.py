"""Arrows of figures: as a test writes them down, and as a ledger has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from schedproof.model.ledger.ledger import Entry, read
from schedproof.model.registry.system import System


@dataclass(frozen=True, order=True)
class Arrow:
    """An arrow of a figure; "" is the label of an arrow without one."""

    source: str
    target: str
    label: str = ""


def drawn(figure: str) -> list[Arrow]:
    """The arrows of a figure that a test writes down.

    Args:
        figure: a line for each label, "label: source -> target; source -> target", without "label:" for arrows that have none.
    """
    some = []
    for line in filter(None, map(str.strip, figure.splitlines())):
        label, _, arrows = line.rpartition(": ")
        for source, target in (arrow.split(" -> ") for arrow in arrows.split("; ")):
            some.append(Arrow(source, target, label))
    return sorted(some)


def arrows_of(system: System) -> dict[int, list[Arrow]]:
    """Line of a figure -> its arrows in the ledger."""
    some: dict[int, list[Arrow]] = {}
    for entry in _entries(system):
        some.setdefault(entry.line, []).append(_arrow(entry))
    return {line: sorted(arrows) for line, arrows in some.items()}


def astray(system: System, state: Callable[[str, str], str]) -> list[str]:
    """The rows that the ledger names for an arrow, and that lead in no variant from its source to its target; one line each.

    Args:
        system: the system.
        state: name of a state in a figure, sort -> its name in the models; "" for what is no state.
    """
    rows = {
        (str(row.sort), row.event, row.source, row.target)
        for name in read(system.ledger).variants  # type: ignore[arg-type]
        for row in system.variants[name].rows
    }
    wrong = []
    for entry in _entries(system):
        arrow = _arrow(entry)
        named = [
            match.groups() for name in entry.modelled if (match := re.fullmatch(r"row (\w+)\.(\w+) from (\w+)", name))
        ]
        if not named:
            wrong.append(f"line {entry.line}: {entry.arrow}: no row")
        for sort, event, source in named:
            targets = {row[3] for row in rows if row[:3] == (sort, event, source)}
            if state(arrow.source, sort) not in ("", source) or state(arrow.target, sort) not in {"", *targets}:
                wrong.append(
                    f"line {entry.line}: {entry.arrow}: row {sort}.{event} from {source} to {', '.join(targets)}"
                )
    return wrong


def _entries(system: System) -> Iterator[Entry]:
    assert system.ledger is not None
    return (entry for entry in read(system.ledger).statements if entry.arrow)


def _arrow(entry: Entry) -> Arrow:
    match = re.fullmatch(r"(.+) -> ([^,]+)(?:, (.+))?", entry.arrow)
    assert match, entry.arrow
    return Arrow(match[1], match[2], match[3] or "")

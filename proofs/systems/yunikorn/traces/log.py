"""The log lines of YuniKorn's core and shim for state changes of their objects.

The reader takes both encodings of the logger: text, where a JSON object with the fields follows the message, and
JSON, where the line is one object. It skips lines without a known message, and counts them. How the lines are
interpreted:

* **Core**: "Application state transition" of applications; "object transition" of queues and partitions, whose tables
  are the same. If "object" is not text, the object is unknown, and the line is checked alone. A line of an
  application is written when a state is entered, so an event that changes no state has no line.
* **Shim**: applications, tasks (by application and task), nodes, and the one scheduler. Lines of an event that
  changes no state are allowed.
* **A log may begin in the middle**: the first line of an object may have any state. A task may be made in another
  state than New.
* **Names are used again**: another object of the same name may follow one that has ended, and begins in its first
  state. A node or the scheduler of the shim may be followed in any state. With a new scheduler all objects of the
  shim are new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format

from .events import EVENT_RECORDS
from .lives import Entry
from .state_log import STATE_LOG
from .walks import WALKS
from .words import SCHEMA, Words, fits, read_lives

MESSAGES: Mapping[str, tuple[str, Sequence[str]]] = {
    "Application state transition": ("Application", ("appID",)),
    "object transition": ("Queue", ("object",)),
    "shim app state transition": ("ShimApplication", ("app",)),
    "shim task state transition": ("Task", ("app", "task")),
    "shim node state transition": ("ShimNode", ("nodeID",)),
    "scheduler shim state transition": ("ShimScheduler", ()),
}
"""Message -> the sort of its object, and the fields that name the object."""

TEXT = re.compile(rf"(?:^|\s)(?P<message>{'|'.join(map(re.escape, MESSAGES))})(?:\s+(?P<fields>\{{.*)|\s*$)")
MESSAGE_KEYS = ("msg", "M", "message")
LOOPS = {"Application": False}


def _message(line: TextLine) -> tuple[str, Mapping[str, Any]] | None:
    """Returns the message of a line and its fields; None for any other line.

    Raises:
        TraceError: the fields are missing or incomplete.
    """
    if line.text.startswith("{"):
        try:
            value = json.loads(line.text)
        except (ValueError, RecursionError):
            if any(f'"{message}"' in line.text for message in MESSAGES):
                line.object()  # its error says what is wrong
            return None
        message = next((value[key] for key in MESSAGE_KEYS if key in value), None) if isinstance(value, dict) else None
        return (message, value) if isinstance(message, str) and message in MESSAGES else None
    match = TEXT.search(line.text)
    if match is None:
        return None
    if match["fields"] is None:
        example = '{"appID": "app-1", "source": "New", ...}'
        raise TraceError(
            f"{line.file}, line {line.number}: {match['message']} without fields; it is followed by {example}"
        )
    return match["message"], TextLine(line.file, line.number, match["fields"]).object().value


def _name(message: str, line: Line) -> str:
    """The name of the object."""
    _, fields = MESSAGES[message]
    for field in fields:
        if field not in line.value:
            raise line.error(f'"{field}" is missing; write which object changes its state')
    names = [line.value[field] for field in fields]
    if not all(isinstance(name, str) for name in names):
        return f"the object of line {line.number}"
    return " of ".join(reversed(names)) if names else "the scheduler"


def _read(model: Model, lines: Sequence[TextLine]) -> tuple[list[Entry], str]:
    shape, words = Shape.load(SCHEMA, "change"), Words(model)
    entries: list[Entry] = []
    skipped = 0
    for text in lines:
        parsed = _message(text)
        if parsed is None:
            for other in (STATE_LOG, EVENT_RECORDS, WALKS):
                if text.text.startswith("{") and other.recognises([text]):
                    what = f"a line of the format {other.name} in a log; check each format's lines by themselves"
                    raise TraceError(f"{text.file}, line {text.number}: {what}")
            skipped += 1
            continue
        message, fields = parsed
        line = Line(text.file, text.number, fields)
        shape.check(line)
        sort = MESSAGES[message][0]
        entries.append(
            Entry(
                len(entries) + 1,
                text.number,
                sort,
                _name(message, line),
                words.state(sort, fields["destination"], line, "destination"),
                source=words.state(sort, fields["source"], line, "source"),
                event=words.event(sort, fields["event"], line),
                loops=LOOPS.get(sort, True),
            )
        )
    return entries, f"{skipped} line{'s' if skipped > 1 else ''} without a known message skipped" if skipped else ""


def _recognises(lines: Sequence[TextLine]) -> bool:
    return any(message in line.text for line in lines for message in MESSAGES)


LOG = Format(
    "yunikorn-log",
    'a log lines with "Application state transition" or its like',
    _recognises,
    read_lives(_read),
    validated_by="v0.12.2",
    fits=fits,
    by_release=True,
    text=True,
)
"""The log lines of core and shim."""

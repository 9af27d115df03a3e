"""The state log of applications, from YuniKorn's REST interface since 1.0.

A document is one application, a list of them, or a dump that has a list of them; several documents may follow one
another. The reader uses ``applicationID``, ``applicationState`` and ``stateLog``. How they are interpreted:

* **An entry is written when a state is entered**: New has none, and an event that changes no state has none. So the
  first entry is the one that leaves New.
* **Times do not decrease.**
* **The last entry is the state of the application**; without entries it is New. Since 1.4 an empty log is left out.
  0.12 has no log at all, so an application without a log that is not New must be of 0.12.
* **Every document is a life of its own**, also where two have the same name: an ended application may be listed
  beside its successor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.files.json_document import Documents, read_documents
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format

from .lives import Entry
from .releases import MIDDLE, NEWEST, OLDEST
from .words import SCHEMA, Words, fits, keys, read_lives

LISTS = ("Applications", "applications")
SINCE_1_0 = (frozenset({MIDDLE, NEWEST}), "before 1.0 there is no stateLog")
UP_TO_1_3 = (frozenset({MIDDLE}), "an empty stateLog is left out since 1.4, and there is none before 1.0")
BEFORE_1_0 = (
    frozenset({OLDEST}),
    "stateLog is left out since 1.4 only where it is empty, and that is where the application is New",
)
ANY: tuple[frozenset[str], str] = (frozenset(), "")


def _applications(documents: Documents) -> Iterator[dict[str, Any]]:
    """Yields the applications of all documents."""
    for value in documents.values:
        name = next((n for n in LISTS if isinstance(value, dict) and n in value), "")
        applications = value[name] if name else value
        for application in applications if isinstance(applications, list) else [applications]:
            if not isinstance(application, dict):
                raise documents.error(f"{application!r:.60} is not an application; write an object {{...}}")
            yield application


def _entries(line: Line, who: str, documents: Documents, words: Words, number: int) -> Iterator[Entry]:
    log, before = line.value.get("stateLog"), ("New", 0)
    for entry in log or ():
        place = documents.line(entry)
        state, time = words.state("Application", entry["applicationState"], place, "applicationState"), entry["time"]
        source, earlier = before
        broken = ""
        if state == "New":
            broken = f"{who} is New: an entry is written when a state is entered, and New is never entered"
        elif source != "New" and time < earlier:
            broken = f"{who} is {state} at {time}, but {source} at {earlier}: times do not decrease"
        number += 1
        yield Entry(
            number, place.number, "Application", who, state, source=source, broken=broken, only=SINCE_1_0, loops=False
        )
        before = (state, time)
    state = words.state("Application", line.value["applicationState"], line, "applicationState")
    if log:
        only = SINCE_1_0
    elif "stateLog" in line.value:
        only = UP_TO_1_3
    else:
        only = ANY if state == "New" else BEFORE_1_0
    yield Entry(number + 1, line.number, "Application", who, state, only=only, observes="stateLog" in line.value)


def _read(model: Model, lines: Sequence[TextLine]) -> tuple[list[Entry], str]:
    documents, shape, words = read_documents(lines), Shape.load(SCHEMA, "application"), Words(model)
    entries: list[Entry] = []
    seen: set[str] = set()
    without = 0
    for application in _applications(documents):
        line = documents.line(application)
        shape.check(line)
        name = application["applicationID"]
        who = f"{name} (line {line.number})" if name in seen else name
        seen.add(name)
        without += "stateLog" not in application
        entries += _entries(line, who, documents, words, len(entries))
    what = "1 application has" if without == 1 else f"{without} applications have"
    return entries, f"{what} no stateLog: only the state is known" if without else ""


def _recognises(lines: Sequence[TextLine]) -> bool:
    names = keys(lines)
    return "stateLog" in names or {"applicationID", "applicationState"} <= names or bool(names & set(LISTS))


STATE_LOG = Format(
    "yunikorn-statelog",
    'an application has "applicationID" and "stateLog"',
    _recognises,
    read_lives(_read),
    validated_by="v0.12.2",
    fits=fits,
    by_release=True,
)
"""The state log of applications."""

"""The events of YuniKorn's REST interface: a batch in one document, or a stream with one record a line.

How the records are interpreted:

* **Applications**: records of type 2 that set (change type 1) a state, by the code in ``eventChangeDetail``; and the
  record that adds (change type 2) a New application. The object is ``objectID``.
* **Nodes**: a record does not say whether the flag is true or false. So the check is that the flag of a
  decommissioned node (300) is not set (302) until the node is added again.
* **Queues**: their records (400, 401) carry no state of the queue.
* **Skipped records** are counted. A buffer drops old events, so the first record of an application may have any
  state.
* An application is New again, under the same name, once the one before has ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.files.json_document import Documents, read_documents
from schedproof.proofs.traces.files.lines import TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.formats.format import Format

from .lives import Entry
from .releases import MIDDLE, NEWEST, Key, Table
from .words import SCHEMA, fits, keys, read_lives

APPLICATION, NODE = 2, 3
SET, ADD = 1, 2
STATES = {
    202: "Rejected",
    203: "New",
    204: "Accepted",
    205: "Starting",
    206: "Running",
    207: "Completing",
    208: "Completed",
    209: "Failing",
    210: "Failed",
    211: "Resuming",
    212: "Expired",
}
DECOMMISSION, FLIP = 300, 302
PRESENT, REMOVED = "there", "gone"
NODES: Mapping[Key, str] = {
    ("Node", "flip", PRESENT): PRESENT,
    ("Node", "decommission", PRESENT): REMOVED,
    ("Node", "add", REMOVED): PRESENT,
}
"""The changes of a node, by record."""

SINCE_1_5 = (frozenset({MIDDLE, NEWEST}), "there are no such events before 1.5")


def _records(documents: Documents) -> Iterator[dict[str, Any]]:
    """Yields the records of all documents: of batches, of lists, or single ones."""
    batch = Shape.load(SCHEMA, "batch")
    for value in documents.values:
        records = value
        if isinstance(value, dict) and "EventRecords" in value:
            batch.check(documents.line(value))
            records = value["EventRecords"] or []
        for record in records if isinstance(records, list) else [records]:
            if not isinstance(record, dict):
                raise documents.error(f"{record!r:.60} is not an event record; write an object {{...}}")
            yield record


def _entry(record: Mapping[str, Any]) -> Entry | None:
    """Returns a record as an entry; None if it changes no state."""
    kind, change = record.get("type", 0), record.get("eventChangeType", 0)
    detail, who = record.get("eventChangeDetail", 0), record.get("objectID", "")
    if kind == APPLICATION and detail in STATES and (change == SET or (change == ADD and STATES[detail] == "New")):
        return Entry(0, 0, "Application", who, STATES[detail], only=SINCE_1_5, loops=False)
    if kind == NODE and detail == FLIP:
        return Entry(
            0,
            0,
            "Node",
            who,
            PRESENT,
            source=PRESENT,
            event="flip",
            description=f"the flag of {who} is set",
            only=SINCE_1_5,
        )
    if kind == NODE and detail == DECOMMISSION:
        return Entry(
            0,
            0,
            "Node",
            who,
            REMOVED,
            source=PRESENT,
            event="decommission",
            description=f"{who} is decommissioned",
            only=SINCE_1_5,
        )
    if kind == NODE and detail == 0 and change == ADD:
        return Entry(0, 0, "Node", who, PRESENT, description=f"{who} is added", only=SINCE_1_5)
    return None


def _read(model: Model, lines: Sequence[TextLine]) -> tuple[list[Entry], str]:
    documents, shape = read_documents(lines), Shape.load(SCHEMA, "event")
    entries: list[Entry] = []
    left_out = 0
    for record in _records(documents):
        line = documents.line(record)
        shape.check(line)
        entry = _entry(record)
        if entry is None:
            left_out += 1
            continue
        if not entry.who:
            raise line.error('"objectID" is missing; write the name of the application or node as a text')
        entries.append(replace(entry, number=len(entries) + 1, line=line.number))
    what = "1 record carries no state and is" if left_out == 1 else f"{left_out} records carry no state and are"
    return entries, f"{what} not checked" if left_out else ""


def _recognises(lines: Sequence[TextLine]) -> bool:
    names = keys(lines)
    return "EventRecords" in names or bool(names & {"eventChangeType", "eventChangeDetail", "timestampNano"})


def _with_nodes(table: Table) -> Table:
    return Table(table.name, {**table.rows, **NODES})


EVENT_RECORDS = Format(
    "yunikorn-events",
    'an event "type" and "eventChangeDetail", a batch of them "EventRecords"',
    _recognises,
    read_lives(_read, _with_nodes),
    validated_by="v0.12.2",
    fits=fits,
    by_release=True,
)
"""Events, as a batch or as a stream."""

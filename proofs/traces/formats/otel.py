"""OpenTelemetry log records in the OTLP/JSON encoding: one ``{"resourceLogs": [...]}`` a line, as file exporters write.

A log record may contain a record of the plain format, in its attribute ``schedproof.record``. A resource, or a log
record, then has the header in ``schedproof.header``. Each is a JSON text, or a map of attributes. Other log records are
skipped. With a mapping, the rules read each log record as an object: ``body``, ``name``, ``severity``, ``time``
(nanoseconds), ``attributes``, ``resource``, ``scope``, ``trace``, ``span``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine

from .format import Format, Plain, Requested, first_object

HEADER, RECORD = "schedproof.header", "schedproof.record"

MOST_DEEP = 50
"""The limit for nesting."""


def is_otel(lines: Sequence[TextLine]) -> bool:
    """Whether the first line is a batch of log records."""
    return "resourceLogs" in first_object(lines)


def log_records(lines: Iterator[TextLine]) -> Iterator[Line]:
    """The log records of all batches, as objects.

    Raises:
        TraceError: a line is not a batch of log records.
    """
    for text in lines:
        batch = text.object()
        for resource in _list(batch, batch.value, "resourceLogs"):
            about = _attributes(batch, _dict(batch, resource.get("resource", {})))
            for scope in _list(batch, resource, "scopeLogs"):
                name = _dict(batch, scope.get("scope", {})).get("name", "")
                for record in _list(batch, scope, "logRecords"):
                    yield Line(batch.file, batch.number, _record(batch, record, about, name))


def _record(line: Line, record: Mapping[str, Any], resource: Mapping[str, Any], scope: str) -> dict[str, Any]:
    fields = {
        "name": record.get("eventName", ""),
        "body": _value(line, record["body"]) if record.get("body") is not None else None,
        "severity": record.get("severityText", ""),
        "attributes": _attributes(line, record),
        "resource": resource,
        "scope": scope,
        "trace": record.get("traceId", ""),
        "span": record.get("spanId", ""),
    }
    time = record.get("timeUnixNano") or record.get("observedTimeUnixNano")
    if time is not None:
        fields["time"] = _whole(line, time)
    return fields


def _attributes(line: Line, of: Mapping[str, Any]) -> dict[str, Any]:
    return _pairs(line, of, "attributes", 0)


def _pairs(line: Line, of: Mapping[str, Any], name: str, depth: int) -> dict[str, Any]:
    values = {}
    for each in _list(line, of, name):
        if not isinstance(each.get("key"), str):
            raise line.error('an attribute has no "key"; write {"key": text, "value": {...}}')
        values[each["key"]] = _value(line, each.get("value", {}), depth)
    return values


def _value(line: Line, shown: object, depth: int = 0) -> Any:
    """The value in an AnyValue.

    Raises:
        TraceError: it is not an AnyValue.
    """
    if not isinstance(shown, dict) or len(shown) > 1 or depth > MOST_DEEP:
        raise line.error(
            f'{json.dumps(shown)[:60]} is not a value of OpenTelemetry; write one such as {{"stringValue": "..."}}'
        )
    match shown:
        case {"stringValue": str(value)} | {"boolValue": bool(value)} | {"bytesValue": str(value)}:
            return value
        case {"intValue": value}:
            return _whole(line, value)
        case {"doubleValue": int(number) | float(number)}:
            return number
        case {"arrayValue": dict(array)}:
            return [_value(line, each, depth + 1) for each in _list(line, array, "values")]
        case {"kvlistValue": dict(pairs)}:
            return _pairs(line, pairs, "values", depth + 1)
        case {}:
            return None
    raise line.error(
        f'{json.dumps(shown)[:60]} is not a value of OpenTelemetry; write one such as {{"stringValue": "..."}}'
    )


def _whole(line: Line, shown: object) -> int:
    """A 64-bit number; JSON has it as text."""
    try:
        if isinstance(shown, str | int) and not isinstance(shown, bool):
            return int(shown)
    except ValueError:
        pass
    raise line.error(f"{json.dumps(shown)[:60]} is not a whole number; write a text such as '12'")


def _list(line: Line, of: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    entries = of.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise line.error(f'"{key}" is not a list of objects; write [{{...}}]')
    return entries


def _dict(line: Line, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise line.error(f"{json.dumps(value)[:60]} is not an object; write {{...}}")
    return value


def read_otel(model: Model, lines: Iterator[TextLine], requested: Requested) -> Plain:
    """The trace that log records carry in their attributes.

    Raises:
        TraceError: a line is not a batch of log records, or no header comes before the first record.
    """
    records, skipped = log_records(lines), [0]
    waiting: list[Line] = []
    header = None
    for line in records:
        all_attributes = {**line.value["resource"], **line.value["attributes"]}
        if HEADER in all_attributes:
            header = Line(line.file, line.number, _json_object(line, all_attributes[HEADER], HEADER))
            waiting.append(line)
            break
        if RECORD in all_attributes:
            raise line.error(
                f'a record comes before the header; write "{HEADER}" in a resource or an earlier log record'
            )
        skipped[0] += 1
    if header is None:
        what = (
            f'no log record has the attribute "{HEADER}"; add it, or say with --mapping how log records are to be read'
        )
        raise TraceError(f"the log has no header: {what}")

    def plain_lines() -> Iterator[Line]:
        for each in chain(waiting, records):
            yield from plain_line(each)

    def plain_line(line: Line) -> Iterator[Line]:
        attributes = line.value["attributes"]
        if RECORD not in attributes:
            skipped[0] += HEADER not in attributes
            return
        record = _json_object(line, attributes[RECORD], RECORD)
        time = {"time": line.value["time"]} if "time" in line.value else {}
        yield Line(line.file, line.number, {**time, **record})

    return Plain(header, plain_lines(), lambda: f"{skipped[0]} log records carry no record" if skipped[0] else "")


def _json_object(line: Line, shown: object, key: str) -> Mapping[str, Any]:
    """The object in an attribute: the attribute itself, or its JSON text."""
    if isinstance(shown, str):
        try:
            shown = json.loads(shown)
        except (ValueError, RecursionError):
            raise line.error(f'"{key}" is not JSON; write a JSON text, or a map of attributes') from None
    return _dict(line, shown)


OTEL = Format("otel", 'OpenTelemetry\'s has "resourceLogs"', is_otel, read_otel, streamed=True)
"""OpenTelemetry log records, for every system."""

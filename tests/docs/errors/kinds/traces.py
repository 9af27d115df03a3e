"""Errors of logs: the plain format, ITF, OpenTelemetry, logs and dumps of locks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedproof.model.locks.language import Locks
from schedproof.model.locks.reading import NOTHING, read
from schedproof.model.registry.system import System
from schedproof.proofs.traces import check_records, check_trace
from schedproof.proofs.traces.dumps.check import check_locks_log
from schedproof.proofs.traces.files.lines import MOST_BYTES
from schedproof.proofs.traces.formats.itf import Record, decode, encode
from schedproof.proofs.traces.formats.lock_log import check_log
from tests.docs.errors.case import Case, Content, command, written
from tests.proofs.traces.dumps import test_dumps as dumps
from tests.proofs.traces.formats import test_itf as itf
from tests.proofs.traces.formats import test_lock_log as locks
from tests.proofs.traces.formats import test_mapping as mapping
from tests.support.lamps import lamps

HEADER = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["g"], "Cell": ["c"]}}
OPEN = {"schedproof": 1, "system": "hived", "objects": {"Cell": ["c"]}}


def short(value: object) -> str:
    """A line as the page shows it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}..."


def checked(shown: object, content: Content | list[Any], system: str = "hived", **options: Any) -> Case:
    """A trace in the file log.jsonl."""

    def go() -> object:
        text = "".join(json.dumps(line) + "\n" for line in content) if isinstance(content, list) else content
        written({"log.jsonl": text})
        return check_trace(system, Path("log.jsonl"), **options)

    return Case(short(shown), go)


def _header(**change: object) -> Case:
    return checked({**change}, [{**HEADER, **change}])


def _record(record: object, header: object = HEADER) -> Case:
    return checked(record, [header, record])


def _lock(text: str) -> Case:
    def go() -> object:
        written({"locks.jsonl": text + "\n"})
        return check_log(locks.REPAIRED, Path("locks.jsonl"))

    return Case(text, go)


def _itf(document: object) -> Case:
    def go() -> object:
        return itf.check(document, Path.cwd())

    return Case(_itf_line(document), go)


def _itf_line(document: object) -> str:
    """What of a trace is not as in the right one."""
    right = itf.trace()
    if not isinstance(document, dict):
        return short(document)
    other = {key: value for key, value in document.items() if value != right.get(key)}
    states = other.get("states")
    if isinstance(states, list) and len(other) == 1 and len(states) == len(right["states"]):
        n, state = next((n, s) for n, s in enumerate(states) if s != right["states"][n])
        changed = {k: v for k, v in state.items() if v != right["states"][n].get(k)}
        return short({f"states[{n}]": changed or list(state)})
    return short(other or list(document))


def cases() -> Iterator[Case]:
    yield checked("(empty)", "")
    yield checked('{"action": ', '{"action": ')
    yield checked("[1, 2]", [HEADER, [1, 2]])
    yield checked(
        '{"action": "crash", "action": "complete"}',
        json.dumps(HEADER) + '\n{"action": "crash", "action": "complete"}\n',
    )
    yield checked("\\xff", json.dumps(HEADER).encode() + b"\n\xff\n")
    yield checked("a line of 17 MB", b"x" * (MOST_BYTES + 1))
    yield checked('{"a": 1}', [{"a": 1}])
    yield checked('{"a": 1}', [{"a": 1}], "beaker")
    yield checked('{"a": 1}  (--format schedproof)', [{"a": 1}], format="schedproof")
    yield checked(HEADER, [HEADER], format="csv")
    yield checked(HEADER, [HEADER], variant="other")
    yield checked(HEADER, [HEADER], system="slurm")
    yield checked(HEADER, [HEADER], log_version="1.5")
    yield command("validate", "hived", "missing.jsonl")
    yield command("validate", "hived", "folder", files={"folder/x": ""})
    yield Case("schedproof validate hived 'a\\0b'", lambda: check_trace("hived", Path("a\0b")))
    yield _header(schedproof=2)
    yield _header(system=7)
    yield _header(system="beaker")
    yield _header(objects=None)
    yield _header(variant="other")
    yield _header(objects={"Node": ["n"]})
    yield _header(objects={"PodGroup": ["g"], "Cell": [f"c{i}" for i in range(1001)]})
    yield _header(objects={"PodGroup": ["g", "g"]})
    yield _header(rigid={"PodGroup": {"colour": {}}})
    yield _header(rigid={"PodGroup": {"outranks": {"x": []}}})
    yield _header(rigid={"PodGroup": {"outranks": {"g": ["x"]}}})
    yield _header(rigid={"PodGroup": {"outranks": {"g": ["g"]}}})
    yield _header(extra=1)
    for record in (
        {"action": 3}, {"action": "explode"}, {"event": "PodGroup.e99"}, {"object": "g"}, {"event": "crash", "object": "g"},
        {"action": "crash", "event": "crash"}, {"parameters": {"p": "g"}}, {"action": "crash", "parameters": {"p": "g"}},
        {"action": "complete", "parameters": {"p": "x"}}, {"action": "complete", "parameters": {"p": None}},
        {"action": "allocate", "parameters": {"K": "c"}}, {"state": {"Node": {}}}, {"state": {"Cell": {"x": {}}}},
        {"event": "PodGroup.e2", "object": "g", "parameters": {"p": "h"}},
        {"state": {"Cell": {"c": {"owner": "g"}}}}, {"state": {"Cell": {"c": {"state": "Gone"}}}},
        {"state": {"Cell": {"c": {"user": 3}}}}, {}, {"when": 12}, {"objects": {"Node": ["n"]}}, {"objects": {"Cell": ["c"]}},
        {"time": True}, {"crash": True, "action": "crash"}, {"objects": {"PodGroup": [f"g{i}" for i in range(1001)]}},
        {"objects": {"PodGroup": ["p"]}, "rigid": {"PodGroup": {"outranks": {"p": ["p"]}}}},
    ):  # fmt: skip
        yield _record(record)
    yield checked({"time": 1}, [HEADER, {"time": 2, "state": {}}, {"time": 1, "state": {}}])
    yield checked({"time": "2026-02-01"}, [HEADER, {"time": 2, "state": {}}, {"time": "2026-02-01", "state": {}}])
    yield checked({"time": "noon"}, [HEADER, {"time": "noon", "state": {}}])
    yield checked(
        {"time": 1e400}, json.dumps(HEADER) + '\n{"time": 1e300, "state": {}}\n{"time": -1e999, "state": {}}\n'
    )
    for value, _ in itf.WRONG:
        yield Case(short(value), lambda value=value: decode(value, "x"))
    yield Case("encode(1.5)", lambda: encode(1.5))
    yield Case("Record.of({'#a': 1})", lambda: encode(Record.of({"#a": 1})))
    for document, _ in itf.MISTAKES:
        yield _itf(document)
    for text, _ in locks.BAD.values():
        yield _lock(text)
    for line in (
        {"resourceLogs": [7]}, mapping.nested({"arrayValue": {"values": True}}), mapping.nested({"kvlistValue": {"values": [{"value": {}}]}}),
        {"resourceLogs": [{"resource": 7}]}, mapping.batch({"schedproof.header": "{"}), mapping.batch({"schedproof.record": json.dumps(mapping.STEP)}),
        mapping.batch({"other": 1}), {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"intValue": "x"}}]}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"a": 1, "b": 2}}]}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": 7}]}]}]},
    ):  # fmt: skip
        yield checked(line, [line])
    yield checked({"beaker": 1}, [{"beaker": 1}], "beaker", format="beaker", variant="batch")
    yield checked("(empty)", "x\n", "yunikorn", format="yunikorn-statelog", variant="v0.12.2", log_version="1.5")
    yield checked("(empty)", "x\n", "yunikorn-merge", format="locks", log_version="1.5")
    late = {"rigid": {"PodGroup": {"outranks": {"h": ["g"]}}}}
    yield checked(late, [OPEN, {"objects": {"PodGroup": ["g", "h"]}}, late])
    yield checked("1111...", '{"vars": [], "states": [], "x": ' + "1" * 5000 + "}", format="itf")
    yield checked("[[[[...", json.dumps(HEADER) + "\n" + "[" * 100_000 + "\n")
    states = [{name: value for name, value in state.items() if name != "action"} for state in itf.STATES]
    yield Case(
        "(states without action)",
        lambda: itf.check(itf.trace(states, vars=[v for v in itf.VARS if v != "action"]), Path.cwd()),
    )
    yield _itf(itf.trace(vars=[1]))
    take = '{"thread": "t", "op": "acquire", "class": "%s", "lock": "a", "mode": "read"}'
    yield Case(take % "Node", lambda: _locks(locks.REPAIRED, take % "Queue" + "\n" + take % "Node"))
    yield Case(take % "M", lambda: _locks(locks.NO_ORDER, take % "M"))
    yield Case("(empty)", lambda: _locks(locks.REPAIRED, ""))
    yield Case(take % "M", lambda: _locks(NOTHING, take % "M"))
    yield Case(
        "schedproof locks sentence-245.yaml --log locks.jsonl",
        lambda: _locks(read(locks.FOLDER / "deadlocks" / "sentence-245.yaml"), take % "A"),
    )
    for name, (content, _) in dumps.REFUSED.items():
        if name not in ("too large", "zeros"):
            shown = content.decode("latin-1").strip().partition("\n")[0]
            yield Case(
                f"{shown} ({name})" if name != "empty" else "(empty dump)", lambda content=content: _dump(content)
            )
    text = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": 7}}]}]}]}
    yield checked(text, [text])
    both = {**HEADER, "objects": {"PodGroup": ["g", "h"], "Cell": ["c"]}}
    yield _record({"event": "PodGroup.e2", "object": "g", "parameters": {"p": "h"}}, both)
    toy = System("lamps", "", {"plain": lamps()}, "plain")
    yield Case(
        '{"crash": true}',
        lambda: check_records(toy, {"schedproof": 1, "system": "lamps", "objects": {"Lamp": ["l"]}}, [{"crash": True}]),
    )


def _dump(content: bytes) -> object:
    written({"dump.txt": content})
    return check_locks_log(locks.NO_ORDER, Path("dump.txt"))


def _locks(description: Locks, text: str) -> object:
    written({"locks.jsonl": text + "\n"})
    return check_log(description, Path("locks.jsonl"))

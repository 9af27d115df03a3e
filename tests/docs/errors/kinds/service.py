"""Errors of the service: over HTTP and JSON-RPC."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

from schedproof.service import strict
from schedproof.service.checking import _records
from schedproof.service.listening import bound
from schedproof.service.opening import opened
from schedproof.service.rpc import Rpc
from schedproof.service.token import read_token
from tests.docs.errors.case import Case
from tests.docs.errors.kinds.traces import short


def _parsed(raw: bytes, shown: str = "") -> Case:
    return Case(shown or raw.decode("utf-8", "backslashreplace"), lambda: strict.parse(raw))


def _session(asked: object) -> Case:
    return Case(f"POST /sessions {short(asked)}", lambda: opened(asked))


def _call(call: object) -> Case:
    def go() -> object:
        answer = asyncio.run(Rpc(None).answer(json.dumps(call).encode()))  # type: ignore[arg-type]
        return json.loads(answer or b"{}")["error"]["message"]

    return Case(short(call), go)


def cases() -> Iterator[Case]:
    yield _parsed(b"\xff")
    yield _parsed(b'{"a": ')
    yield _parsed(b"[" * 100_000, "[[[[...")
    yield _parsed(b"[" * 70 + b"]" * 70, "[[[[...]]]]")
    yield _parsed(b"1" * 5000, "1111...")
    yield _parsed(b'{"a": NaN}')
    yield _parsed(b'{"a": 1e999}')
    yield _parsed(b'{"a": 1, "a": 2}')
    hived: dict[str, object] = {"system": "hived"}
    for asked in ([], {}, {"system": 7}, {"system": "hivd"}, {**hived, "variant": "x"}, {**hived, "scope": {"Cells": 1}}, {**hived, "scope": {"Cell": 65}},
                  {**hived, "scope": {"Cell": True}}, {**hived, "objects": {}}, {"system": "beaker"}, {**hived, "schedproof": 2}):  # fmt: skip
        yield _session(asked)
    call = {"jsonrpc": "2.0", "id": 1}
    yield _call(7)
    yield _call({"id": 1, "method": "systems"})
    yield _call({**call, "id": []})
    yield _call(call)
    yield _call({**call, "method": "systems", "params": 7})
    yield _call({**call, "method": "systems", "params": [7]})
    yield _call({**call, "method": "session.fly"})
    yield _call({**call, "method": "session.report", "params": {"session": "x", "more": 1}})
    yield _call({**call, "method": "session.report", "params": {"session": 7}})
    yield _call({**call, "method": "session.records", "params": {"session": "x", "records": 7}})
    yield _call({**call, "method": "session.records", "params": {"session": "x", "records": [], "after": -1}})
    yield Case("POST /sessions/ID/records {}", lambda: list(_records(b"{}", lines=False)))
    yield Case("POST /sessions/ID/records [", lambda: list(_records(b"[", lines=False)))
    yield Case("--host no.such.host.invalid", lambda: bound("no.such.host.invalid", 0))
    yield Case("--host 192.0.2.1", lambda: bound("192.0.2.1", 0))
    yield Case("--token-file missing", lambda: read_token("missing"))

    def short_token() -> object:
        Path("token").write_text("abc")
        return read_token("token")

    yield Case("--token-file token  # abc", short_token)

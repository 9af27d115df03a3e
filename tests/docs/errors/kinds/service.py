"""Errors of the service: over HTTP and JSON-RPC."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from schedproof.service import strict
from schedproof.service.catalogue import systems
from schedproof.service.checking import _records
from schedproof.service.listening import bound
from schedproof.service.mapped import MappedLines, Mappings, read_mappings
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


MAPPING = "schedproof-mapping: 1\nsystem: hived\nlines:\n- {when: \"msg == 'crashed'\", crash: true}\n"


def _with_mappings(shown: str, mapped: Callable[[Mappings], object], **files: str) -> Case:
    """A case of a server with mappings."""

    def go() -> object:
        for path, content in files.items():
            file = Path(f"{path.replace('_', '/')}.yaml")
            file.parent.mkdir(exist_ok=True)
            file.write_text(content, "utf-8")
        return mapped(read_mappings([f"{path.replace('_', '/')}.yaml" for path in files], systems()))

    return Case(shown, go)


def _mapped() -> Iterator[Case]:
    for asked in ({"mapping": "ap"}, {"mapping": "app", "scope": {}}, {"mapping": "app", "system": "beaker"}):
        yield _with_mappings(
            f"POST /sessions {short(asked)}", lambda mappings, asked=asked: opened(asked, mappings), app=MAPPING
        )  # type: ignore[misc]
    for line, shown in ((7, "[7]"), (b"\xff", "\\xff")):
        yield _with_mappings(
            f"POST /sessions/ID/records {shown}",
            lambda mappings, line=line: MappedLines(mappings["app"]).records(line),  # type: ignore[misc]
            app=MAPPING,
        )
    none: Callable[[Mappings], object] = lambda mappings: ""  # noqa: E731
    yield _with_mappings(
        "schedproof serve --mapping app.yaml --mapping old/app.yaml", none, app=MAPPING, old_app=MAPPING
    )
    other = MAPPING.replace("system: hived", "system: hivd")
    yield _with_mappings("schedproof serve --mapping app.yaml  # system: hivd", none, app=other)


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
    yield _session({"mapping": "app"})
    yield from _mapped()
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

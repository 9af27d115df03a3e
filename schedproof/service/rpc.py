"""The service as JSON-RPC 2.0: each message gets one answer or none. ``stdio`` reads and writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .answers import Answer, Kind
from .catalogue import catalogue
from .sessions import Sessions
from .strict import NotJson, parse

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603

CODES = {
    Kind.MALFORMED: INVALID_PARAMS,
    Kind.BAD_SESSION: INVALID_PARAMS,
    Kind.UNKNOWN: -32001,
    Kind.BAD_RECORD: -32002,
    Kind.CONFLICT: -32003,
    Kind.FULL: -32004,
    Kind.BUSY: -32005,
    Kind.ENDING: -32006,
    Kind.TOO_BIG: -32007,
    Kind.FAULT: INTERNAL,
}
"""The error codes: those of the specification, and -32001 to -32007 for errors that clients may distinguish."""

MOST_CALLS = 100
"""The limit for the calls in one batch."""

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "systems": (),
    "session.create": ("system", "variant", "scope", "mapping", "schedproof", "objects", "rigid", "unlogged", "start"),
    "session.records": ("session", "records", "after"),
    "session.report": ("session",),
    "session.events": ("session", "most"),
    "session.close": ("session",),
}
"""The methods, with the names of their parameters."""


class Wrong(Exception):
    """Something that is not a call, or a call with wrong parameters."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Rpc:
    """Answers messages with ``sessions``."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    async def answer(self, line: bytes) -> bytes | None:
        """The answer to one message, a call or a batch of calls, without its newline; None for notifications."""
        try:
            request = parse(line)
        except NotJson as error:
            return _bytes(_error(None, PARSE_ERROR, str(error)))
        if not isinstance(request, list):
            response = await self._call(request)
            return None if response is None else _bytes(response)
        if not request:
            return _bytes(_error(None, INVALID_REQUEST, "a batch has at least one call"))
        if len(request) > MOST_CALLS:
            return _bytes(_error(None, INVALID_REQUEST, f"a batch has at most {MOST_CALLS} calls; send several"))
        answers = [answer for call in request if (answer := await self._call(call)) is not None]
        return _bytes(answers) if answers else None

    async def _call(self, call: object) -> dict[str, Any] | None:
        """Executes one call. A notification has the same effects, but no answer."""
        try:
            method, parameters = _read(call)
        except Wrong as error:
            name = call.get("id") if isinstance(call, dict) and _is_id(call.get("id")) else None
            return _error(name, error.code, str(error))
        assert isinstance(call, dict)
        try:
            answer = await self._do(method, parameters)
        except Wrong as error:
            response = _error(call.get("id"), error.code, str(error))
        else:
            response = _result(call.get("id"), answer)
        return response if "id" in call else None

    async def _do(self, method: str, given: object) -> Answer:
        if method not in PARAMETERS:
            raise Wrong(NO_METHOD, f"unknown method {method[:60]!r}; choose from {', '.join(PARAMETERS)}")
        known = PARAMETERS[method]
        if not isinstance(given, dict):
            raise Wrong(
                INVALID_PARAMS, f"parameters are not an object; write {{...}} with {', '.join(known) or 'none'}"
            )
        if unknown := [name for name in given if name not in known]:
            raise Wrong(
                INVALID_PARAMS,
                f"unknown parameter {unknown[0][:60]!r} of {method}; choose from {', '.join(known) or 'none'}",
            )
        if method == "systems":
            return Answer(Kind.DONE, catalogue(self.sessions.nursery.mappings))
        if method == "session.create":
            return await self.sessions.create(json.dumps(given).encode())
        name = given.get("session")
        if not isinstance(name, str):
            raise Wrong(INVALID_PARAMS, f"{method}: 'session' is not a text; write the id that session.create returned")
        match method:
            case "session.records":
                records, after = given.get("records"), _number(given, "after", 0)
                if not isinstance(records, list):
                    raise Wrong(INVALID_PARAMS, "session.records: 'records' is not a list; write a list of records")
                return await self.sessions.records(name, json.dumps(records).encode(), lines=False, after=after)
            case "session.report":
                return await self.sessions.report(name)
            case "session.events":
                return await self.sessions.events(name, _number(given, "most", 1))
            case _:
                return await self.sessions.close(name)


def too_long(limit: int) -> bytes:
    """The answer to a line that is too long."""
    says = f"a message has at most {limit} bytes; send the records in several"
    return _bytes(_error(None, CODES[Kind.TOO_BIG], says))


def _read(call: object) -> tuple[str, object]:
    """The method and the parameters of a call.

    Raises:
        Wrong: it is not a call.
    """
    if not isinstance(call, dict):
        raise Wrong(INVALID_REQUEST, 'a call is not an object; write {"jsonrpc": "2.0", "id": 1, "method": "systems"}')
    if call.get("jsonrpc") != "2.0":
        raise Wrong(INVALID_REQUEST, '"jsonrpc" is not "2.0"; write "jsonrpc": "2.0"')
    if not _is_id(call.get("id")):
        raise Wrong(INVALID_REQUEST, '"id" is not a text or a number; write one of these')
    if not isinstance(call.get("method"), str):
        raise Wrong(INVALID_REQUEST, f'"method" is missing; choose from {", ".join(PARAMETERS)}')
    parameters = call.get("params", {})
    if not isinstance(parameters, dict | list):
        raise Wrong(INVALID_REQUEST, '"params" is not an object; write {...}')
    return call["method"], parameters


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _number(given: Mapping[str, Any], name: str, least: int) -> int | None:
    value = given.get(name)
    if value is not None and (type(value) is not int or value < least):
        raise Wrong(INVALID_PARAMS, f"{name!r} is not such a number; write a whole number, {least} or more")
    return value


def _result(name: object, answer: Answer) -> dict[str, Any]:
    if answer.done:
        return {"jsonrpc": "2.0", "id": name, "result": dict(answer.body)}
    more = {key: value for key, value in answer.body.items() if key != "message"}
    if answer.retry_after is not None:
        more["retry_after"] = answer.retry_after
    return _error(name, CODES[answer.kind], answer.body["message"], {"error": answer.kind, **more})


def _error(name: object, code: int, message: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    more = {} if data is None else {"data": dict(data)}
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message, **more}}


def _bytes(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()

"""The service over HTTP: its resources and their answers. ``/openapi.json`` describes them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from schedproof import __version__
from schedproof.diagrams.player.live_page import live_page

from . import shapes
from .answers import Answer, Kind
from .catalogue import catalogue
from .gate import Receive, Scope, Send
from .limits import MOST_EVENTS, Limits
from .nursery import Nursery
from .sessions import Sessions
from .streams import ALLOW, Streams, TooManyStreams

STATUS = {
    Kind.DONE: 200,
    Kind.MALFORMED: 400,
    Kind.BAD_SESSION: 422,
    Kind.BAD_RECORD: 422,
    Kind.CONFLICT: 409,
    Kind.UNKNOWN: 404,
    Kind.BUSY: 429,
    Kind.FULL: 503,
    Kind.TOO_BIG: 413,
    Kind.ENDING: 503,
    Kind.FAULT: 500,
}

JSON, LINES, EVENTS = "application/json", "application/x-ndjson", "text/event-stream"

PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

ABOUT = """Create a session for a system and a number of objects, post what happens as records, and get the verdict: whether some run of
the model explains them all, and what may happen next. Every error has one line that says what to do instead. A client that did not get an answer asks
the session how many `records` it has checked, and sends the rest, with `after` to be sure."""

Live = Annotated[str, Path(description="the session's name for viewers", max_length=64)]
Name = Annotated[str, Path(alias="id", description="the session's id", max_length=64)]

After = Annotated[
    int | None, Query(ge=0, description="refuse the records unless the session has checked so many before")
]
Most = Annotated[int | None, Query(ge=1, le=MOST_EVENTS, description="so many at most")]


class Json(JSONResponse):
    """A response in ASCII: messages quote text of clients, which may contain lone surrogates."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


class EventStream(StreamingResponse):
    """A response of server-sent events. It always leaves ``counted``, also if the client leaves before the first event."""

    media_type = EVENTS

    def __init__(self, events: AsyncIterator[bytes], counted: ExitStack) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._counted:
            await super().__call__(scope, receive, send)


class Unread(Exception):
    """The server does not accept the body of a request."""

    def __init__(self, status: int, error: str, message: str) -> None:
        super().__init__(message)
        self.status, self.error = status, error


def application(sessions: Sessions, *, has_token: bool = False) -> FastAPI:
    """The HTTP application. It starts and ends ``sessions``.

    Args:
        sessions: the sessions that it serves.
        has_token: whether all clients have a token, so that one may list the sessions of the others.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with sessions:
            yield

    app = FastAPI(
        title="schedproof",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,  # these pages would load scripts from other servers
        redoc_url=None,
        redirect_slashes=False,
    )
    _resources(app, sessions, catalogue(sessions.nursery.mappings))
    _live(app, sessions, has_token)
    app.exception_handler(Unread)(_unread)
    app.exception_handler(HTTPException)(_no_resource)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(Exception)(_fault)
    app.openapi = lambda: description(app)  # type: ignore[method-assign]
    return app


def _resources(app: FastAPI, sessions: Sessions, there_is: Mapping[str, Any]) -> None:
    limits = sessions.limits

    @app.get("/health", response_model=shapes.Health, tags=["server"], operation_id="health")
    async def health() -> Json:
        """Whether the server can do its work: 200 if it can, else 503. Needs no token."""
        health_report = {"ok": sessions.alive, "sessions": len(sessions), "most_sessions": limits.sessions}
        return Json(health_report, 200 if sessions.alive else 503)

    @app.get("/systems", response_model=shapes.Catalogue, tags=["server"], operation_id="systems")
    async def systems() -> Json:
        """What there is to create sessions for: systems, variants, sorts, actions."""
        return Json(there_is)

    @app.post(
        "/sessions", status_code=201, response_model=shapes.Created, tags=["sessions"], operation_id="create_session",
        responses=_problems(400, 413, 415, 422, 503), openapi_extra=_body({JSON: _ref("Asked")}),
    )  # fmt: skip
    async def create(request: Request) -> Response:
        """A new session, for a system and a scope or with a header of the plain format."""
        _kind(request, JSON)
        answer = await sessions.create(await _read(request, limits))
        if answer.done:
            answer = replace(answer, body={**answer.body, "live": f"/live/{sessions.live_name(answer.body['id'])}"})
        response = _json_of(answer, 201)
        if answer.done:
            response.headers["Location"] = f"/sessions/{answer.body['id']}"
        return response

    many: dict[str, dict[str, Any]] = {
        JSON: {"type": "array", "items": _ref("Record")},
        LINES: {"type": "string", "description": "a record a line"},
    }

    @app.post(
        "/sessions/{id}/records", response_model=shapes.Taken, tags=["sessions"], operation_id="post_records",
        responses=_problems(400, 404, 409, 415, 429, 503) | _problems(413, 422, shape=shapes.BadRecord),
        openapi_extra=_body(many),
    )  # fmt: skip
    async def records(request: Request, name: Name, after: After = None) -> Response:
        """Hands records to the session, in order. Those before one that is none, or that does not conform, stay taken."""
        lines = _kind(request, JSON, LINES) == LINES
        return _json_of(await sessions.records(name, await _read(request, limits), lines=lines, after=after))

    @app.get(
        "/sessions/{id}", response_model=shapes.Report, tags=["sessions"], operation_id="report",
        responses=_problems(404, 422, 429, 503),
    )  # fmt: skip
    async def report(name: Name) -> Response:
        """The whole report: the verdict and, after a nonconformance, the steps that came closest and what they break."""
        return _json_of(await sessions.report(name))

    @app.get(
        "/sessions/{id}/events", response_model=shapes.Allowed, tags=["sessions"], operation_id="allowed_events",
        responses=_problems(404, 422, 429, 503),
    )  # fmt: skip
    async def events(name: Name, most: Most = None) -> Response:
        """What may happen next in some state that explains all records so far. Nothing, after a nonconformance."""
        return _json_of(await sessions.events(name, most))

    @app.delete(
        "/sessions/{id}", status_code=204, response_class=Response, tags=["sessions"], operation_id="close_session",
        responses=_problems(404, 422, 503),
    )  # fmt: skip
    async def close(name: Name) -> Response:
        """Ends the session, also in the middle of a request."""
        answer = await sessions.close(name)
        return Response(status_code=204) if answer.done else _json_of(answer)


def _live(app: FastAPI, sessions: Sessions, has_token: bool) -> None:
    streams = Streams(sessions.limits)

    @app.get("/live", response_class=HTMLResponse, tags=["live"], operation_id="live")
    async def page_of_all() -> HTMLResponse:
        """A page that lists the sessions. Needs no token: the page asks for it."""
        return HTMLResponse(live_page(), headers=PAGE_HEADERS)

    @app.get("/live/{live}", response_class=HTMLResponse, tags=["live"], operation_id="live_of_session")
    async def page(live: Live) -> HTMLResponse:
        """A page that shows a session while records arrive. Needs no token: the page asks for it."""
        return HTMLResponse(live_page(), headers=PAGE_HEADERS)

    @app.get(
        "/views", response_model=shapes.Views, tags=["live"], operation_id="views",
        responses={403: {"model": shapes.Problem, "description": WHY[403]}},
    )  # fmt: skip
    async def views() -> Response:
        """The sessions by their names for viewers, if clients need a token."""
        if not has_token:
            says = "a server without a token lists no sessions; open the address 'live' of a new session, or add --token-file"
            return Json({"error": "forbidden", "message": says}, 403)
        return Json({"views": sessions.live()})

    @app.get(
        "/views/{live}", tags=["live"], operation_id="view", response_class=StreamingResponse,
        responses=_stream() | _problems(404, 422, 503),
    )  # fmt: skip
    async def view(request: Request, live: Live) -> Response:
        """Server-sent events: what the session is now, and again after each change, until it ends. Read-only."""
        session = sessions.watched(live)
        if session is None:
            return Json({"error": Kind.UNKNOWN, "message": "unknown session, or it has ended"}, 404)
        counted = ExitStack()
        try:
            counted.enter_context(streams.one_more(session))
        except TooManyStreams as error:
            return Json({"error": Kind.FULL, "message": str(error)}, 503, {"Retry-After": "10"})
        allow = request.scope.get(ALLOW, lambda seconds: None)
        return EventStream(streams.events(session, allow), counted)


def described(limits: Limits) -> dict[str, Any]:
    """The OpenAPI description of a server with these limits."""
    return description(application(Sessions(Nursery(limits), limits)))


def description(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description of ``app``."""
    if not app.openapi_schema:
        openapi = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        components = openapi["components"]
        components["schemas"] |= shapes.of_traces()
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        openapi["security"] = [{}, {"token": []}]  # a server on a loopback address may need no token
        app.openapi_schema = openapi
    return app.openapi_schema


async def _read(request: Request, limits: Limits) -> bytes:
    """The body, if it is not too big and arrives in time.

    Raises:
        Unread: it is too big, late or incomplete.
    """
    too_big = Unread(413, Kind.TOO_BIG, f"a body has at most {limits.body} bytes; send the records in several requests")
    length = request.headers.get("content-length", "")
    announced = int(length[:18]) if length.isdigit() else 0
    if announced > limits.body and (announced > 2 * limits.body or "expect" in request.headers):
        raise too_big
    received, size = bytearray(), 0
    try:
        async with asyncio.timeout(limits.content):
            async for part in request.stream():
                size += len(part)
                if size <= limits.body:
                    received += part
                elif size > 2 * limits.body:
                    break
                # Up to twice the limit the rest is read and dropped: many clients read the answer only after sending
                # all.
    except TimeoutError:
        raise Unread(408, "too-slow", f"the body took more than {limits.content:g} s; send less at a time") from None
    except ClientDisconnect:
        raise Unread(400, Kind.MALFORMED, "the body ends too early; send all of it") from None
    if size > limits.body:
        raise too_big
    return bytes(received)


def _kind(request: Request, *known: str) -> str:
    """The body's content type. A browser needs a preflight request to send these, and the server refuses that.

    Raises:
        Unread: it has another type.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind not in known:
        raise Unread(415, "unsupported", f"the body has another Content-Type; send {' or '.join(known)}")
    return kind


def _json_of(answer: Answer, status: int = 200) -> Json:
    headers = {} if answer.retry_after is None else {"Retry-After": str(answer.retry_after)}
    if answer.done:
        return Json(dict(answer.body), status, headers)
    return Json({"error": answer.kind, **answer.body}, STATUS[answer.kind], headers)


async def _unread(request: Request, error: Exception) -> Json:
    assert isinstance(error, Unread)
    # The rest of the body is not read, so the connection must close after the answer.
    return Json({"error": error.error, "message": str(error)}, error.status, {"Connection": "close"})


async def _no_resource(request: Request, error: Exception) -> Json:
    assert isinstance(error, HTTPException)
    kind = "not-found" if error.status_code in (404, 405) else "fault"
    says = f"there is no {request.method} {request.url.path[:80]}; /openapi.json says what there is"
    return Json({"error": kind, "message": says}, error.status_code, error.headers)


async def _invalid(request: Request, error: Exception) -> Json:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return Json({"error": Kind.MALFORMED, "message": f"{first['loc'][-1]}: {first['msg']}"}, 422)


async def _fault(request: Request, error: Exception) -> Json:
    return Json({"error": Kind.FAULT, "message": "an error of the service itself; its log has more"}, 500)


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _stream() -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {EVENTS: {"schema": _ref("EventStream")}}}}


def _body(content: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "requestBody": {"required": True, "content": {kind: {"schema": schema} for kind, schema in content.items()}}
    }


WHY = {
    400: "the body is not valid JSON",
    403: "the server has no token",
    404: "there is no such session",
    409: "the session has not validated as many records as `after` says",
    413: "the body is too big, or it has more records than can be validated in time",
    415: "the content type is not supported",
    422: "a name or a record is wrong",
    429: "too many requests to this session at once",
    503: "too many sessions or live views, or the server is ending",
}


def _problems(*codes: int, shape: type[shapes.Problem] = shapes.Problem) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": shape, "description": WHY[code]} for code in codes}

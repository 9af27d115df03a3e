"""The server as an HTTP process: one POST for each kind of request, with the request's fields as a JSON object."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, get_args

import uvicorn
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from . import requests
from .errors import IllegalMove, Malformed, Refused, StoreError
from .requests import Report
from .server import Asks
from .wire import Fault, Refusal, parsed, plain, read_json

ENDING_SECONDS = 10
"""For how many seconds a server that is ended waits for the rest of a request. It always finishes a transaction."""

KINDS: tuple[type[Any], ...] = get_args(requests.Request)


def application(server: Asks) -> FastAPI:
    """Returns the HTTP application of a server.

    It answers 200 with a report, 409 with a refusal, 422 to a malformed request, and 503 if the request may be sent
    again.
    """
    app = FastAPI(title="Jobmon's reference server")
    for kind in KINDS:
        app.post(f"/{kind.__name__}", response_model=None)(_endpoint(server, kind))
    app.exception_handler(Refused)(_refused)
    app.exception_handler(StoreError)(_unavailable)
    app.exception_handler(IllegalMove)(_at_fault)
    app.exception_handler(Malformed)(_malformed)
    return app


def serve(server: Asks, port: int, ready: Callable[[str], None] = lambda url: None) -> None:
    """Answers on the loopback interface until SIGINT or SIGTERM.

    It then finishes its present requests, and raises the signal again.

    Args:
        server: carries out the requests.
        port: on 127.0.0.1.
        ready: called with the URL when the server accepts requests.

    Raises:
        Malformed: the port is not available.
    """
    config = uvicorn.Config(
        application(server), log_level="warning", access_log=False, timeout_graceful_shutdown=ENDING_SECONDS
    )
    with _listening(port) as listening:
        ready(f"http://127.0.0.1:{port}")
        uvicorn.Server(config).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    """Returns a socket whose protocol is named as TCP: only then does asyncio send short answers at once."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise Malformed(f"port {port} of 127.0.0.1 cannot be had: {error.strerror}; give another --port") from error
    return listening


def _endpoint(server: Asks, kind: type[Any]) -> Callable[..., Any]:
    async def answer(request: Request) -> JSONResponse:
        asked = parsed(kind, read_json(await request.body()))
        report: Report = await run_in_threadpool(server.ask, asked)
        return JSONResponse(plain(report))

    answer.__doc__ = kind.__doc__
    return answer


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return JSONResponse(plain(Refusal(error.reason, error.state, error.for_good)), 409)


async def _unavailable(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse(plain(Fault(str(error))), 503)


async def _at_fault(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse(plain(Fault(f"a fault of the server: {error}")), 422)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse(plain(Fault(str(error))), 422)

"""``schedproof serve``: sessions over HTTP, or as JSON-RPC on standard input and output."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination, OutputFile, json_option
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.service.catalogue import systems
from schedproof.service.limits import Limits
from schedproof.service.token import VARIABLE, BadToken, read_token

DEFAULT = Limits()

HOST, PORT = "127.0.0.1", 8470


@click.command()
@click.option(
    "--host",
    metavar="H",
    default=HOST,
    show_default=True,
    help="Where to listen; elsewhere than on this machine a token is needed.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="0 for any that is free.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="Has the token that clients bring; else SCHEDPROOF_TOKEN of the environment, if it is set.",
)
@click.option(
    "--stdio", is_flag=True, help="JSON-RPC 2.0 on standard input and output, one message a line, instead of HTTP."
)
@click.option(
    "--openapi",
    metavar="FILE",
    type=OutputFile(),
    help="Write the OpenAPI description, - for standard output, and do not serve.",
)
@click.option(
    "--max-sessions",
    type=click.IntRange(1, 10_000),
    metavar="N",
    default=DEFAULT.sessions,
    show_default=True,
    help="Sessions at once.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1, 1024),
    metavar="MIB",
    default=DEFAULT.body >> 20,
    show_default=True,
    help="Size of one request's body.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0.01, 86_400),
    metavar="S",
    default=DEFAULT.seconds,
    show_default=True,
    help="Processor time of a session for one request; six times as much of the clock.",
)
@click.option(
    "--max-memory",
    type=click.IntRange(16, 1 << 20),
    metavar="MIB",
    default=DEFAULT.memory >> 20,
    show_default=True,
    help="Memory of one session.",
)
@click.option(
    "--max-idle",
    type=click.FloatRange(0.1, 10**7),
    metavar="S",
    default=DEFAULT.idle,
    show_default=True,
    help="A session that nobody asks anything for so long ends.",
)
@json_option
def serve(
    host: str,
    port: int,
    token_file: str | None,
    stdio: bool,
    openapi: Destination | None,
    max_sessions: int,
    max_body: int,
    max_seconds: float,
    max_memory: int,
    max_idle: float,
    json_file: Destination | None,
) -> int:
    """Judge records as they come: many sessions at once, each in a process of its own.

    GET /openapi.json of the running server describes it. It ends with Ctrl-C or SIGTERM. With --json, where it listens is
    written as JSON once it does.
    """
    limits = replace(
        DEFAULT, sessions=max_sessions, body=max_body << 20, seconds=max_seconds, patience=6 * max_seconds,
        memory=max_memory << 20, idle=max_idle, connections=max(DEFAULT.connections, 4 * max_sessions),
    )  # fmt: skip
    if os.name != "posix":
        raise UserError(
            "serve needs processes that can be copied and limited, as Linux and macOS have them; run it there"
        )
    discovery.own(Path.cwd())  # a manifest that is none is told before anybody is served
    choose.problems()
    systems()
    if openapi is not None:
        openapi.write_json(_web().described(limits))
        return Exit.OK
    if stdio:
        if (host, port, token_file, json_file) != (HOST, PORT, None, None):
            raise UserError("--stdio does not listen on a port; leave out --host, --port, --token-file and --json")
        from schedproof.service.nursery import Nursery
        from schedproof.service.stdio import talk

        with Nursery(limits) as nursery:
            talk(nursery, limits)
        return Exit.OK
    _http(limits, host, port, token_file, json_file)
    return Exit.OK


def _http(limits: Limits, host: str, port: int, token_file: str | None, json_file: Destination | None) -> None:
    try:
        from schedproof.service import listening
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    from schedproof.service.nursery import Nursery
    from schedproof.service.sessions import Sessions

    with Nursery(limits) as nursery:
        try:
            token = read_token(token_file)
            bound = listening.bound(host, port)
        except (BadToken, listening.Unbound) as error:
            raise UserError(str(error)) from None
        with bound:
            if token is None and not listening.is_loopback(bound):
                raise UserError(
                    f"other computers can connect to {host}; give a token that clients must send, with --token-file FILE or in "
                    f"{VARIABLE}, or listen on {HOST}"
                )
            url = listening.url(bound)

            def ready() -> None:
                if json_file is not None:
                    json_file.write_json({"url": url, "host": host, "port": bound.getsockname()[1], "pid": os.getpid()})
                if json_file is None or not json_file.is_stdout:
                    click.echo(f"schedproof serves at {url}{'' if token is None else ', with a token'}; Ctrl-C ends it")
                sys.stdout.flush()

            listening.serve(Sessions(nursery, limits), bound, token=token, ready=ready)


def _web() -> ModuleType:
    try:
        from schedproof.service import web
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    return web


def _missing(error: ModuleNotFoundError) -> UserError:
    return UserError(f"HTTP needs {error.name}, which is not installed: pip install fastapi uvicorn, or use --stdio")

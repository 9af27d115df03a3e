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
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option
from schedproof.cli.output import Destination, OutputFile
from schedproof.cli.renamed import Option
from schedproof.model.registry import discovery
from schedproof.model.registry.errors import UserError
from schedproof.service.catalogue import systems
from schedproof.service.limits import Limits
from schedproof.service.mapped import Mappings, read_mappings
from schedproof.service.token import VARIABLE, BadToken, read_token

DEFAULT = Limits()

HOST, PORT = "127.0.0.1", 8470


@click.command(epilog=ending("serve --port 8470", "serve --stdio", ok="it was ended by Ctrl-C or SIGTERM"))
@click.option("--host", metavar="ADDRESS", default=HOST, show_default=True,
              help="Listen on this address; one that other machines can reach needs a token.")  # fmt: skip
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535), default=PORT, show_default=True,
              help="Listen on this port; 0 is any free port.")  # fmt: skip
@click.option(
    "--token-file", metavar="FILE", help="Read the token of the clients from FILE.  [default: $SCHEDPROOF_TOKEN]"
)
@click.option("--mapping", "mapping_files", multiple=True, metavar="FILE",
              help="Sessions may name this mapping, and take lines of a log as they are; may be repeated.")  # fmt: skip
@click.option("--stdio", is_flag=True,
              help="Serve JSON-RPC 2.0 on standard input and output, one message a line, and no HTTP.")  # fmt: skip
@click.option("--openapi", metavar="FILE", type=OutputFile(),
              help="Write the OpenAPI description, and do not serve; - is standard output.")  # fmt: skip
@click.option("--max-sessions", type=click.IntRange(1, 10_000), metavar="N", default=DEFAULT.sessions, show_default=True,
              help="Sessions at the same time.")  # fmt: skip
@click.option("--max-body", type=click.IntRange(1, 1024), metavar="MIB", default=DEFAULT.body >> 20, show_default=True,
              help="Size of the body of one request.")  # fmt: skip
@click.option("--max-memory", type=click.IntRange(16, 1 << 20), metavar="MIB", default=DEFAULT.memory >> 20, show_default=True,
              help="Memory of one session.")  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(0.01, 86_400), metavar="SECONDS", default=DEFAULT.seconds, show_default=True,
              help="Processor time of a session for one request; elapsed time may be six times as much.")  # fmt: skip
@click.option("--max-streams", type=click.IntRange(0, 10_000), metavar="N", default=DEFAULT.streams, show_default=True,
              help="Live views open at the same time.")  # fmt: skip
@click.option("--idle-timeout", cls=Option, former=["--max-idle"], type=click.FloatRange(0.1, 10**7), metavar="SECONDS",
              default=DEFAULT.idle, show_default=True, help="End a session that had no request for SECONDS.")  # fmt: skip
@json_option
def serve(
    host: str,
    port: int,
    token_file: str | None,
    mapping_files: tuple[str, ...],
    stdio: bool,
    openapi: Destination | None,
    max_sessions: int,
    max_body: int,
    max_memory: int,
    max_seconds: float,
    max_streams: int,
    idle_timeout: float,
    json_file: Destination | None,
) -> int:
    """Validate records while they arrive, over HTTP or JSON-RPC.

    Each session validates one log, in a process of its own with limits of time and memory. GET /openapi.json describes the
    HTTP interface, and GET /live is a page that shows sessions as records arrive. With --json, the server writes its address to FILE when it is ready.
    """
    limits = replace(
        DEFAULT, sessions=max_sessions, body=max_body << 20, seconds=max_seconds, patience=6 * max_seconds,
        memory=max_memory << 20, idle=idle_timeout, streams=max_streams,
        connections=max(DEFAULT.connections, 4 * max_sessions) + max(0, max_streams - DEFAULT.streams),
    )  # fmt: skip
    if os.name != "posix":
        raise UserError("serve: this system cannot fork and limit processes; run it on Linux or macOS")
    discovery.systems_of_folder(Path.cwd())  # an invalid manifest is reported before the first request
    choose.problems()
    mappings = read_mappings(mapping_files, systems())
    if openapi is not None:
        openapi.write_json(_web().described(limits))
        return Exit.OK
    if stdio:
        if (host, port, token_file, json_file) != (HOST, PORT, None, None):
            raise UserError("--stdio: it listens on no port; leave out --host, --port, --token-file and --json")
        from schedproof.service.nursery import Nursery
        from schedproof.service.stdio import talk

        with Nursery(limits, mappings) as nursery:
            talk(nursery, limits)
        return Exit.OK
    _http(limits, mappings, host, port, token_file, json_file)
    return Exit.OK


def _http(
    limits: Limits,
    mappings: Mappings,
    host: str,
    port: int,
    token_file: str | None,
    json_file: Destination | None,
) -> None:
    try:
        from schedproof.service import listening
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    from schedproof.service.nursery import Nursery
    from schedproof.service.sessions import Sessions

    with Nursery(limits, mappings) as nursery:
        try:
            token = read_token(token_file)
            bound = listening.bound(host, port)
        except (BadToken, listening.Unbound) as error:
            raise UserError(str(error)) from None
        with bound:
            if token is None and not listening.is_loopback(bound):
                raise UserError(
                    f"--host: other machines can connect to {host} without a token; add --token-file FILE, set "
                    f"{VARIABLE}, or leave out --host"
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
    return UserError(
        f"serve: HTTP needs {error.name}, which is not installed; pip install fastapi uvicorn, or write --stdio"
    )

"""The server and the agents as processes: ``python -m schedproof.impl.systems.jobmon``."""

from __future__ import annotations

import math
import os
import signal
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .connection import Connection
from .errors import Contended, CutOff, Malformed, SchedulerError, StoreError, Unreachable
from .exits import OF_ENDS, Exit
from .guide import epilog
from .loop import Heartbeat, Interrupts, Leased, Observed, terminated_as_interrupted
from .loop import run as run_agent
from .records import Leases

if TYPE_CHECKING:
    from .requests import Report, Request
    from .sql_store import SqlStore


class Seconds(click.FloatRange):
    """A number of seconds, at most 1e9 (about thirty years): clocks and databases accept neither more nor ``nan``."""

    def __init__(self, least: float, *, min_open: bool = False) -> None:
        super().__init__(least, 1e9, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return seconds


url = click.option("--url", required=True, help="The server's address, http://127.0.0.1:PORT.")
poll = click.option("--poll", type=Seconds(0.001), default=0.05, show_default=True, help="Seconds between looks.")
beat = click.option(
    "--heartbeat",
    type=Seconds(0.001),
    help="Seconds between heartbeats.  [default: a third of the lease that the server gives]",
)
patience = click.option(
    "--patience",
    type=Seconds(0),
    default=60.0,
    show_default=True,
    help="Seconds to ask a server that does not answer.",
)


@click.group(help=__doc__)
def main() -> None:
    """Runs the command line."""


@main.command()
@click.option("--database", required=True, help="sqlite:///FILE or postgresql://USER@HOST/NAME.")
@click.option("--port", type=click.IntRange(1, 65535), required=True, help="On 127.0.0.1.")
@click.option(
    "--run-lease",
    type=Seconds(0, min_open=True),
    default=Leases.run,
    show_default=True,
    help="Seconds without a heartbeat after which a client's run may be reaped.",
)
@click.option(
    "--instance-lease",
    type=Seconds(0, min_open=True),
    default=Leases.instance,
    show_default=True,
    help="Seconds without a heartbeat after which an attempt is looked after.",
)
def server(database: str, port: int, run_lease: float, instance_lease: float) -> None:
    """Answers requests until it is ended, and can be started again at any time.

    Ctrl-C and SIGTERM end it with exit status 0: it finishes the requests in work, and leaves all in the database file. When it
    comes back, a lease counts from its start at the earliest: clients and workers that could not reach it have that time to renew theirs.
    """
    from .server import Server
    from .sql_store import SqlStore

    try:
        from .web import serve
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error}; install schedproof[jobmon]") from error
    with suppress(KeyboardInterrupt), terminated_as_interrupted(), _opened(SqlStore, database) as store:
        if store.in_memory:
            raise Malformed(
                f"{database} is in memory, and gone with the server; give sqlite:///FILE or postgresql://..."
            )

        def ready(url: str) -> None:
            click.echo(f"jobmon serves at {url}, with {store.url}; Ctrl-C or SIGTERM ends it")
            sys.stdout.flush()

        serve(Server(store, leases=Leases(run_lease, instance_lease)), port, ready)


def _opened(kind: type[SqlStore], database: str) -> SqlStore:
    try:
        return kind(database)
    except Contended:
        raise
    except StoreError as error:  # A store that fails at the start is the user's to mend.
        raise Malformed(str(error)) from error


@main.command(epilog=epilog())
@url
@poll
@beat
@patience
@click.option(
    "--resume",
    type=click.Choice(["no", "cold", "hot"]),
    default="no",
    show_default=True,
    help="What becomes of commands that an earlier run left, or another one runs: see below.",
)
@click.argument("workflow", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def client(url: str, poll: float, heartbeat: float | None, patience: float, resume: str, workflow: Path) -> None:
    """Runs the workflow in a JSON file, and says how it ended; interrupted, it stops the run.

    Standard output has how it ended, and a line for each task that failed. Standard error has how far it is: one line that changes
    on a terminal, else a line for each change, and at most one a second.
    """
    try:
        sys.exit(_run_client(url, poll, heartbeat, patience, resume, workflow))
    except Malformed:
        raise
    except Unreachable as error:
        raise CutOff(
            f"{error}; see whether a server runs there, then run this again, with --resume hot or cold if it had begun"
        ) from error
    except SchedulerError as error:
        raise CutOff(str(error)) from error
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)


def _run_client(url: str, poll: float, heartbeat: float | None, patience: float, resume: str, workflow: Path) -> Exit:
    from .client import RESUMES, Client, Resume
    from .outcome import failures, reaped
    from .progress import ProgressLine
    from .requests import ReadRun
    from .workflow_file import read_workflow

    interrupts = Interrupts(signal.SIGINT, signal.SIGTERM)
    spec = read_workflow(workflow)
    with ProgressLine() as line:

        def waits(url: str) -> None:
            interrupts.waits_for(url)
            line.waits(url)

        server = Leased(Observed(Connection(url, patience=patience, waits=waits), line))
        client_agent = Client(server, spec, _token(), resume=Resume(resume))
        run_agent(client_agent, poll, Heartbeat(server, heartbeat), interrupts, client_agent.stop)
        left = None
        if client_agent.over in OF_ENDS and client_agent.over != "done" and client_agent.memory.run is not None:
            with suppress(SchedulerError):  # The end is known; only the details of failed tasks may be missing.
                left = server.ask(ReadRun(client_agent.memory.run))
    if client_agent.over is not None and client_agent.over == client_agent.memory.failed:
        raise Malformed(f"{workflow}: {client_agent.over}")
    if client_agent.over not in OF_ENDS:
        raise CutOff(client_agent.over)
    click.echo(client_agent.over)
    if left is not None and client_agent.over == "failed":
        for each in failures(left):
            click.echo(each)
        if client_agent.was_reaped:
            click.echo(f"{reaped(left)}; {RESUMES}")
    return Exit.CUT_OFF if client_agent.was_reaped else OF_ENDS[client_agent.over]


@main.command()
@url
@poll
@beat
@patience
@click.option("--log", type=click.Path(path_type=Path), help="The file that workers and commands write to.")
def distributor(url: str, poll: float, heartbeat: float | None, patience: float, log: Path | None) -> None:
    """Brings task instances to this machine, until it is ended."""
    from .distributor import Distributor
    from .local_cluster import LocalCluster

    _expect_linux()
    if log is not None:
        _expect_writable(log)
    interrupts = Interrupts(signal.SIGINT, signal.SIGTERM)
    server = Leased(Connection(url, patience=patience, waits=interrupts.waits_for))
    pace = Heartbeat(server, heartbeat)

    def worker(instance: int) -> list[str]:
        options = [f"--url={url}", f"--poll={poll}", f"--patience={patience}"]
        if pace.given is not None:
            options.append(f"--heartbeat={pace.given}")
        return [sys.executable, "-m", __package__, "worker", *options, str(instance)]

    cluster = LocalCluster(worker, log=log)
    run_agent(Distributor(server, cluster, _token()), poll, pace, interrupts)


@main.command()
@url
@poll
@beat
@patience
@click.argument("instance", type=int)
def worker(url: str, poll: float, heartbeat: float | None, patience: float, instance: int) -> None:
    """Runs the command of one task instance, for a distributor: only the job that it launched is let start."""
    from .cluster import Ending
    from .jobs import own_job
    from .local_cluster import EXCEEDED
    from .local_commands import LocalCommands
    from .worker import Worker

    _expect_linux()
    commands = LocalCommands()
    server = Leased(Connection(url, patience=patience))
    worker_agent = Worker(server, commands, instance, str(own_job()))

    def end(number: int, frame: object) -> None:
        """Kills the command and exits at once.

        It raises nothing: an exception could interrupt any step halfway.
        """
        commands.kill()
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    try:
        run_agent(worker_agent, poll, Heartbeat(server, heartbeat))
    except Unreachable:
        if worker_agent.memory.ending is Ending.RESOURCE_ERROR:
            sys.exit(EXCEEDED)
        raise
    finally:
        commands.kill()  # on every way out
    if worker_agent.memory.granted is None:
        raise SchedulerError(worker_agent.over)


@main.command()
@url
@poll
@patience
def reaper(url: str, poll: float, patience: float) -> None:
    """Sees to runs and instances that are late, until it is ended; it says on standard error which runs it reaped, and why."""
    from .outcome import reaped
    from .reaper import Reaper
    from .requests import ReapRun

    def says(request: Request, report: Report) -> None:
        if isinstance(request, ReapRun) and report.changed:
            print(reaped(report), file=sys.stderr, flush=True)

    interrupts = Interrupts(signal.SIGINT, signal.SIGTERM)
    reaping = Reaper(Observed(Connection(url, patience=patience, waits=interrupts.waits_for), says))
    run_agent(reaping, poll, interrupts=interrupts)


def _expect_linux() -> None:
    if sys.platform != "linux":
        raise click.ClickException("jobs are processes of Linux here: distributors and workers run nowhere else")
    from .places import sees_itself

    if not sees_itself():
        raise click.ClickException("/proc shows processes of another namespace; mount that of this one (mount -t proc)")


def _expect_writable(log: Path) -> None:
    try:
        log.open("ab").close()
    except OSError as error:
        raise Malformed(
            f"--log {log} cannot be written: {error.strerror}; give a file in a directory that is there"
        ) from error


def _token() -> str:
    """Returns a name that no other process has."""
    return str(uuid.uuid4())


def run() -> None:
    """Runs the command line, and prints an error in one line.

    The exit status is 2 if the user must correct something, 5 if a client was cut off, else 1.
    """
    try:
        main()
    except SchedulerError as error:
        print(f"Error: {error}", file=sys.stderr)
        exits = {Malformed: Exit.MISTAKE, CutOff: Exit.CUT_OFF}
        sys.exit(exits.get(type(error), 1))


if __name__ == "__main__":
    run()

"""The server and the agents as processes: ``python -m schedproof.impl.jobmon``."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import click

from .agent import Agent
from .connection import Connection
from .errors import JobmonError, Malformed, Unreachable
from .records import Leases


class Seconds(click.FloatRange):
    """Up to some thirty years: clocks and databases know neither more nor ``nan``."""

    def __init__(self, least: float, *, min_open: bool = False) -> None:
        super().__init__(least, 1e9, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return found


url = click.option("--url", required=True, help="The server's address, http://127.0.0.1:PORT.")
poll = click.option("--poll", type=Seconds(0.001), default=0.05, show_default=True, help="Seconds between looks.")
lease = click.option(
    "--heartbeat", type=Seconds(0.001), default=30.0, show_default=True, help="Seconds between heartbeats."
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
    """The command line."""


@main.command()
@click.option("--database", required=True, help="sqlite:///FILE or postgresql://USER@HOST/NAME.")
@click.option("--port", type=click.IntRange(1, 65535), required=True, help="On 127.0.0.1.")
@click.option("--run-lease", type=Seconds(0, min_open=True), default=Leases.run, show_default=True)
@click.option("--instance-lease", type=Seconds(0, min_open=True), default=Leases.instance, show_default=True)
def server(database: str, port: int, run_lease: float, instance_lease: float) -> None:
    """Answers requests until it is ended, and can be started again at any time."""
    from .server import Server
    from .sql_store import SqlStore

    try:
        from .web import serve
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error}; install schedproof[jobmon]") from error
    with SqlStore(database) as store:
        if store.in_memory:
            raise Malformed(
                f"{database} is in memory, and gone with the server; give sqlite:///FILE or postgresql://..."
            )
        serve(Server(store, leases=Leases(run_lease, instance_lease)), port)


@main.command()
@url
@poll
@lease
@patience
@click.option("--resume", type=click.Choice(["no", "cold", "hot"]), default="no", show_default=True)
@click.argument("workflow", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def client(url: str, poll: float, heartbeat: float, patience: float, resume: str, workflow: Path) -> None:
    """Runs the workflow in a JSON file, and says how it ended; interrupted, it stops the run."""
    from .client import Client, Resume
    from .workflow_file import read_workflow

    mine = Client(Connection(url, patience=patience), read_workflow(workflow), _token(), resume=Resume(resume))
    signal.signal(signal.SIGINT, lambda *_: mine.stop())
    _run(mine, poll, heartbeat)
    click.echo(mine.over)
    sys.exit(0 if mine.over in ("done", "made room", "stopped") else 1)


@main.command()
@url
@poll
@lease
@patience
@click.option("--log", type=click.Path(dir_okay=False, path_type=Path), help="Where workers and commands write to.")
def distributor(url: str, poll: float, heartbeat: float, patience: float, log: Path | None) -> None:
    """Brings task instances to this machine, until it is ended."""
    from .distributor import Distributor
    from .local_cluster import LocalCluster

    _expect_linux()

    def worker(instance: int) -> list[str]:
        options = [f"--url={url}", f"--poll={poll}", f"--heartbeat={heartbeat}", f"--patience={patience}"]
        return [sys.executable, "-m", __package__, "worker", *options, str(instance)]

    cluster = LocalCluster(worker, log=log)
    _run(Distributor(Connection(url, patience=patience), cluster, _token()), poll, heartbeat)


@main.command()
@url
@poll
@lease
@patience
@click.argument("instance", type=int)
def worker(url: str, poll: float, heartbeat: float, patience: float, instance: int) -> None:
    """Runs the command of one task instance, if the server lets it."""
    from .cluster import Ending
    from .local_cluster import EXCEEDED
    from .local_commands import LocalCommands
    from .processes import own_identity
    from .worker import Worker

    _expect_linux()
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)  # started by hand: the group that is killed is to be its own
    commands = LocalCommands()
    mine = Worker(Connection(url, patience=patience), commands, instance, own_identity())
    try:
        _run(mine, poll, heartbeat)
    except Unreachable:
        commands.kill()
        if mine.memory.ending is Ending.RESOURCE_ERROR:
            sys.exit(EXCEEDED)
        raise


@main.command()
@url
@poll
@patience
def reaper(url: str, poll: float, patience: float) -> None:
    """Sees to runs and instances that are late, until it is ended."""
    from .reaper import Reaper

    _run(Reaper(Connection(url, patience=patience)), poll, 1.0)


def _run(agent: Agent, poll: float, heartbeat: float) -> None:
    """One step after the other, and heartbeats in between, until there is nothing more to do."""
    due = time.monotonic() + heartbeat
    while agent.over is None:
        if time.monotonic() >= due:
            agent.heartbeat()
            due = time.monotonic() + heartbeat
        if agent.over is None and agent.step() is None:
            time.sleep(min(poll, max(0.0, due - time.monotonic())))


def _expect_linux() -> None:
    if sys.platform != "linux":
        raise click.ClickException("jobs are processes of Linux here: distributors and workers run nowhere else")


def _token() -> str:
    """What no other process is called."""
    return str(uuid.uuid4())


def run() -> None:
    """The command line; what goes wrong is said in one line: 2 if the user has to mend it, else 1."""
    try:
        main()
    except JobmonError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, Malformed) else 1)


if __name__ == "__main__":
    run()

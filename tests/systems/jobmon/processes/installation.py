"""Jobmon's server and agents as processes of their own, killed and paused at random and started again (for tests)."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from schedproof.impl.systems.jobmon.connection import Connection
from schedproof.impl.systems.jobmon.processes import processes
from schedproof.impl.systems.jobmon.records import Records
from schedproof.impl.systems.jobmon.requests import FindDead
from schedproof.impl.systems.jobmon.sql_store import SqlStore

LEASE, HEARTBEAT, POLL = 1.5, 0.25, 0.02
WITNESS_PROGRAM = Path(__file__).with_name("witness.py")
MODULE = ("-m", "schedproof.impl.systems.jobmon")

WITHIN = ("", "timeout 600", "setsid --fork --wait")
"""Words before a command by which it gets a process group, or a session, of its own."""

KILLED = ("server", *("client", "distributor", "reaper") * 2, *("worker", "command") * 4)
"""The server less often than others: whenever it comes back, nobody is taken for dead for one lease."""
PAUSED = ("client", "distributor", "worker", "command")


class Installation:
    """A server, agents and the witness in a directory; ``program`` are the words for the interpreter that run them."""

    def __init__(
        self, directory: Path, *, program: tuple[str, ...] = MODULE, database: str | None = None, lease: float = LEASE
    ) -> None:
        self.directory = directory
        self._program = program
        self._lease = lease
        self.patience = 20.0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.database = database or f"sqlite:///{directory / 'jobmon.db'}"
        self.witness = directory / "witness"
        self.witness.touch()
        self.agents: dict[str, subprocess.Popen[str]] = {}
        self._log = (directory / "log").open("a")

    # Starting.

    def start(self, name: str, kind: str, *words: str, program: tuple[str, ...] = ()) -> None:
        """Starts an agent, in place of one of the same name that is dead; by another program if one is given."""
        command = [sys.executable, *(program or self._program), kind, *words]
        self.agents[name] = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True)

    def start_server(self) -> None:
        """Its leases are short."""
        leases = (f"--run-lease={self._lease}", f"--instance-lease={self._lease}")
        self.start("server", "server", f"--database={self.database}", f"--port={self.port}", *leases)

    def start_distributor(self, name: str, *, program: tuple[str, ...] = ()) -> None:
        """On this machine."""
        log = f"--log={self.directory / 'log'}"
        self.start(name, "distributor", *self._options(), f"--heartbeat={HEARTBEAT}", log, program=program)

    def start_reaper(self) -> None:
        """There is one."""
        self.start("reaper", "reaper", *self._options())

    def start_client(self, name: str, workflow: Path, resume: str = "no") -> None:
        """A client that runs a workflow."""
        self.start(name, "client", *self._options(), f"--heartbeat={HEARTBEAT}", f"--resume={resume}", str(workflow))

    def _options(self) -> tuple[str, ...]:
        return (f"--url={self.url}", f"--poll={POLL}", f"--patience={self.patience}")

    def await_server(self) -> None:
        """Until it answers."""
        Connection(self.url, patience=30).ask(FindDead())

    def write_workflow(self, name: str, tasks: int, ticks: int, attempts: int = 100, within: str = "") -> Path:
        """A workflow whose every third task waits for the one before it; ``within`` are words before each command."""
        entries = []
        for number in range(tasks):
            task = f"{name}.{number}"
            command = f"{within} {sys.executable} -I -S {WITNESS_PROGRAM} {self.witness} {task} {ticks}"
            upstream = [f"{name}.{number - 1}"] if number % 3 == 2 else []
            entries.append({"name": task, "command": command, "upstream": upstream, "max_attempts": attempts})
        path = self.directory / f"{name}.json"
        path.write_text(json.dumps({"name": name, "tasks": entries}))
        return path

    # Looking.

    def records(self) -> Records:
        """All that the database holds."""
        with SqlStore(self.database) as store:
            return store.snapshot()

    def lines(self) -> list[str]:
        """What commands wrote."""
        return self.witness.read_text().splitlines()

    def pids(self, kind: str) -> list[int]:
        """The workers, or the commands, of this installation."""
        mark = f"--url={self.url}" if kind == "worker" else str(self.witness)
        pids = []
        for each in processes():
            with suppress(OSError):
                words = Path(f"/proc/{each.pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
                if mark in words and (kind == "worker") is ("worker" in words):
                    pids.append(each.pid)
        return sorted(pids)

    def close(self) -> None:
        """Kills all that was started, commands and workers included."""
        for agent in self.agents.values():
            agent.kill()
            agent.communicate()
        for kind in ("worker", "command"):
            for pid in self.pids(kind):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._log.close()


@contextmanager
def installation(
    directory: Path,
    *,
    program: tuple[str, ...] = MODULE,
    database: str | None = None,
    distributors: int = 2,
    lease: float = LEASE,
    kind: type[Installation] = Installation,
) -> Iterator[Installation]:
    """An installation with a server that answers, distributors and a reaper."""
    jobmon = kind(directory, program=program, database=database, lease=lease)
    try:
        jobmon.start_server()
        jobmon.await_server()
        for number in range(distributors):
            jobmon.start_distributor(f"distributor {number + 1}")
        jobmon.start_reaper()
        yield jobmon
    finally:
        jobmon.close()


def until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether it comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Chaos:
    """Kills and pauses of random processes, as ``seed`` says, while clients run one workflow after the other."""

    def __init__(self, jobmon: Installation, seed: int, *, clients: int = 2, tasks: int = 6, ticks: int = 25) -> None:
        self._jobmon = jobmon
        self._random = random.Random(seed)
        self._tasks, self._ticks = tasks, ticks
        self._workflows: dict[str, Path] = {}
        self._made = 0
        self._paused: list[tuple[float, int]] = []
        self.done: Counter[str] = Counter()
        for number in range(clients):
            self._next_workflow(f"client {number + 1}")

    def run(self, kills: int, pause: float) -> None:
        """Kills that many processes, one after each pause at most."""
        while sum(n for what, n in self.done.items() if what.startswith("killed")) < kills:
            time.sleep(self._random.uniform(0, pause))
            self._continue_paused()
            what = self._random.random()
            if what < 0.2:
                self._pause(self._random.choice(PAUSED))
            elif what < 0.27:
                self._rival()
            else:
                self._kill(self._random.choice(KILLED))
            self._start_again(more=True)

    def come_to_rest(self, seconds: float) -> bool:
        """Whether all workflows are done in time, when nothing more is killed."""

        def at_rest() -> bool:
            self._continue_paused()
            self._start_again(more=False)
            return not self._workflows and not any(name.endswith("rival") for name in self._jobmon.agents)

        return until(at_rest, seconds)

    def _next_workflow(self, client: str) -> None:
        self._made += 1
        within = self._random.choice(WITHIN)
        self._workflows[client] = self._jobmon.write_workflow(f"w{self._made}", self._tasks, self._ticks, within=within)
        self._jobmon.start_client(client, self._workflows[client])

    def _rival(self) -> None:
        """Somebody else wants to run a workflow that a client runs."""
        client = self._random.choice(sorted(self._workflows))
        name = f"{client}'s rival"
        if name not in self._jobmon.agents:
            self._jobmon.start_client(name, self._workflows[client], self._random.choice(["cold", "hot"]))
            self.done["rivals"] += 1

    def _victims(self, kind: str) -> list[int]:
        if kind in ("worker", "command"):
            return self._jobmon.pids(kind)
        alive = {name: agent for name, agent in self._jobmon.agents.items() if agent.poll() is None}
        return sorted(agent.pid for name, agent in alive.items() if name.startswith(kind))

    def _kill(self, kind: str) -> None:
        victims = self._victims(kind)
        if victims:
            with suppress(ProcessLookupError):
                os.kill(self._random.choice(victims), signal.SIGKILL)
                self.done[f"killed {kind}"] += 1

    def _pause(self, kind: str) -> None:
        """Makes it late."""
        victims = self._victims(kind)
        if victims:
            victim = self._random.choice(victims)
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGSTOP)
                self._paused.append((time.monotonic() + self._random.uniform(0.5, 1.5) * LEASE, victim))
                self.done[f"paused {kind}"] += 1

    def _continue_paused(self) -> None:
        now = time.monotonic()
        for until_when, pid in self._paused:
            if until_when <= now:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        self._paused = [each for each in self._paused if each[0] > now]

    def _start_again(self, *, more: bool) -> None:
        for name, agent in list(self._jobmon.agents.items()):
            if agent.poll() is None:
                continue
            output = agent.communicate()[0].strip()
            if name == "server":
                self._jobmon.start_server()
            elif name == "reaper":
                self._jobmon.start_reaper()
            elif name.startswith("distributor"):
                self._jobmon.start_distributor(name)
            elif name.endswith("rival"):
                del self._jobmon.agents[name]
            elif output != "done":
                resume = self._random.choice(["cold", "hot"])
                self._jobmon.start_client(name, self._workflows[name], resume)
            else:
                self.done["finished workflows"] += 1
                del self._jobmon.agents[name], self._workflows[name]
                if more:
                    self._next_workflow(name)

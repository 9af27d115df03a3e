"""Workers and commands that are killed at random moments: ``python benchmarks/cluster_kills.py``.

A search of HiveD by workers on this machine saves checkpoints. Meanwhile workers are killed with SIGKILL, at moments drawn between
its beginning and its end. Then commands are killed in the same way, whose workers end with them, and started again at once.
Each search is compared with one process: states, transitions by action, depth, states by depth, and deadlocks.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import psutil
from cluster import is_worker
from rich.console import Console
from rich.table import Table

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.cluster import Address, RemoteWorkers, connected
from schedproof.proofs.compiled import Reached, explore
from schedproof.proofs.exploration.limits import LostWorker, Saving


@dataclass(frozen=True)
class Search:
    """One search with kills.

    Attributes:
        what: what was killed.
        moments: the seconds after its beginning at which that was.
        seconds: how long it took, with what was done again.
        exact: it counted what one process counts.
    """

    what: str
    moments: Sequence[float]
    seconds: float
    exact: bool


def counted(reached: Reached) -> tuple[Any, ...]:
    """All that is compared."""
    return (
        reached.stopped, reached.state_count, reached.per_action(), reached.depth, reached.up_to(), reached.stuck_count,
    )  # fmt: skip


def killed_at(moments: Sequence[float], victims: Callable[[], list[psutil.Process]], rng: random.Random) -> list[float]:
    """Kills a victim at each of some moments, from now on, in another thread; returns the list of those at which it did."""
    began, done = time.perf_counter(), list[float]()

    def kill() -> None:
        for moment in moments:
            time.sleep(max(0.0, began + moment - time.perf_counter()))
            with suppress(psutil.Error, IndexError):
                rng.choice(victims()).kill()
                done.append(time.perf_counter() - began)

    threading.Thread(target=kill, daemon=True).start()
    return done


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    """The workers that a process has started."""
    workers = []
    for each in process.children(recursive=True):
        with suppress(psutil.Error):
            if is_worker(each) and each.status() != psutil.STATUS_ZOMBIE:
                workers.append(each)
    return workers


def with_lost_workers(
    instance: Instance, workers: RemoteWorkers, every: float, usual: float, kills: int, rng: random.Random
) -> tuple[Search, Reached]:
    """A search during which workers are killed, with as many kills as fall into it."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        done = killed_at(sorted(rng.uniform(0, usual) for _ in range(kills)), lambda: workers_of(psutil.Process()), rng)
        reached = explore(instance, workers=workers, saving=Saving(Path(folder), every))
        took = time.perf_counter() - began
        return Search("worker", tuple(done), took, exact=False), reached


def with_killed_commands(scope: str, every: float, usual: float, rng: random.Random) -> tuple[Search, dict[str, Any]]:
    """A command that is killed once at a random moment after its workers have begun, and started again; and what it counts."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [
            sys.executable, "-m", "schedproof", "explore", "hived", "--scope", scope, "--no-symmetry", "--counts-only",
            "--cluster", "local:2", "--checkpoint", folder, "--checkpoint-every", str(every), "--json", "-",
        ]  # fmt: skip
        began = time.perf_counter()
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not list(Path(folder).glob("*/states-*")):
                time.sleep(0.02)
            moment = rng.uniform(0, usual)
            time.sleep(moment)
            process.kill()
        text = subprocess.run(arguments, capture_output=True, check=True, text=True).stdout
        return Search("command", (moment,), time.perf_counter() - began, exact=False), json.loads(text)


@click.command()
@click.option("--kills", type=click.IntRange(1), default=30, show_default=True, help="Workers to kill.")
@click.option("--each", type=click.IntRange(1), default=2, show_default=True, help="Kills in one search.")
@click.option("--commands", type=click.IntRange(0), default=3, show_default=True, help="Commands to kill.")
@click.option("--groups", type=click.IntRange(1), default=5, show_default=True, help="Pod groups of HiveD.")
@click.option("--cells", type=click.IntRange(1), default=5, show_default=True, help="Cells of HiveD.")
@click.option("--every", type=click.FloatRange(0), default=1.0, show_default=True, help="Seconds between checkpoints.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the moments and victims.")
def main(kills: int, each: int, commands: int, groups: int, cells: int, every: float, seed: int) -> None:
    """Kill workers and commands during searches of HiveD as written, and compare what these count with one process."""
    rng = random.Random(seed)
    [instance] = instances(system("hived").variants["as-written"], {"PodGroup": groups, "Cell": cells})
    expected = explore(instance)
    searches, notes = list[Search](), list[str]()
    with connected(Address(workers=2), notes.append) as workers, tempfile.TemporaryDirectory() as folder:
        explore(instance, workers=workers, limit=100_000)
        began = time.perf_counter()
        explore(instance, workers=workers, saving=Saving(Path(folder), every))
        usual = time.perf_counter() - began
        left = kills
        while left > 0:
            try:
                search, reached = with_lost_workers(instance, workers, every, usual, min(each, left), rng)
            except LostWorker as error:
                raise click.ClickException(f"a search ended: {error}") from error
            if not search.moments:
                continue
            left -= len(search.moments)
            searches.append(Search(search.what, search.moments, search.seconds, counted(reached) == counted(expected)))
            click.echo(_row(searches[-1]), err=True)
    for _ in range(commands):
        search, counts = with_killed_commands(f"PodGroup={groups},Cell={cells}", every, usual, rng)
        same = (counts["states"], counts["transitions"], counts["depth"], counts["complete"]) == (
            expected.state_count, expected.transition_count, expected.depth, True,
        )  # fmt: skip
        searches.append(Search(search.what, search.moments, search.seconds, same))
        click.echo(_row(searches[-1]), err=True)
    table = Table("killed", "searches", "kills", "exact", "s without a kill", "s with kills, median", "replaced")
    for what in ("worker", "command"):
        its = [search for search in searches if search.what == what]
        if its:
            table.add_row(
                what, str(len(its)), str(sum(len(s.moments) for s in its)), str(sum(s.exact for s in its)),
                f"{usual:.1f}", f"{statistics.median(s.seconds for s in its):.1f}",
                str(len(notes)) if what == "worker" else "",
            )  # fmt: skip
    Console(width=160).print(table)
    sys.exit(0 if all(search.exact for search in searches) else 1)


def _row(search: Search) -> str:
    at = ", ".join(f"{moment:.1f}" for moment in search.moments)
    return f"{search.what} killed at {at} s: {'exact' if search.exact else 'WRONG'}, {search.seconds:.1f} s"


if __name__ == "__main__":
    main()

"""The Beaker scheduler's loops as threads and processes, on a database at ``url`` (for tests)."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from threading import Event, Thread

import pytest

from schedproof.impl.systems.beaker import BeakerStore, Daemon, Job, Lab, RecipeState, Refused, Usage, Web
from tests.systems.beaker.impl.bench import Bench, job

DAEMON = """
import sys, time
from schedproof.impl.systems.beaker import Daemon
from schedproof.impl.systems.beaker.sql_store import SqlStore
store = SqlStore(sys.argv[1])
Daemon(store, interval=0.01).start()
print("up", flush=True)
time.sleep(600)
"""


def labs_at_work(store: BeakerStore, stopped: Event) -> Thread:
    """A thread that installs, runs and completes whatever waits, like labs that take no time."""
    lab = Lab(store)
    moves = {"waiting": lab.installs, "installing": lab.runs, "running": lab.completes}

    def work() -> None:
        while not stopped.is_set():
            for recipe in store.snapshot().recipes:
                if recipe.state in moves:
                    try:
                        moves[recipe.state](recipe.name)
                    except Refused:
                        continue
            stopped.wait(0.005)

    return Thread(target=work)


def until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def completed(store: BeakerStore) -> bool:
    return all(not r.unfinished for r in store.snapshot().recipes)


def twenty_jobs() -> list[Job]:
    """For five systems, A to E."""
    kinds: list[list[str]] = [["AB"], ["A", "B"], ["C", "D", "@"], ["ABC", "CE"]]
    jobs = []
    for n in range(20):
        name = f"j{n:02}"
        recipes = [f"@{name}.0" if systems == "@" else systems for systems in kinds[n % 4]]
        jobs.append(job(n % 3, **{name: recipes}))
    return jobs


class Daemons:
    """Twenty jobs on five systems."""

    @pytest.mark.long
    def test_twenty_jobs_on_five_systems_complete(self, store: BeakerStore) -> None:
        web, stopped = Web(store), Event()
        for name in "ABCDE":
            web.add_system(name, "lab")
        labs = labs_at_work(store, stopped)
        with Daemon(store, interval=0.01):
            labs.start()
            try:
                for each in twenty_jobs():
                    web.submit(each)
                assert until(lambda: completed(store)), Bench(store).states()
            finally:
                stopped.set()
                labs.join()
        world = store.snapshot()
        assert len(world.recipe_sets) == 20
        hosts = [r for r in world.recipes if r.host is None]
        assert {r.state for r in hosts} == {RecipeState.COMPLETED}
        # A guest may still be on its way when its host completes.
        assert {r.state for r in world.recipes} <= {RecipeState.COMPLETED, RecipeState.ABORTED}
        # Each host had one system, and no system was given to two at a time.
        entries = store.usage()
        assert sum(e.usage is Usage.SCHEDULED for e in entries) == len(hosts)
        assert sum(e.usage is Usage.RUNNING for e in entries) == len(hosts)

    @pytest.mark.long
    def test_a_killed_daemon_needs_no_special_processing(self, store: BeakerStore, url: str) -> None:
        """Killed over and over, at moments that nobody chose, it still brings everything to its end."""
        web, stopped = Web(store), Event()
        for name in "ABCDE":
            web.add_system(name, "lab")
        for each in twenty_jobs():
            web.submit(each)
        labs = labs_at_work(store, stopped)
        kills = 0
        try:
            for number, delay in enumerate((0.0, 0.02, 0.05, 0.1, 60)):
                if number == 2:
                    labs.start()  # until then nothing is completed, however fast the daemon is
                process = subprocess.Popen([sys.executable, "-c", DAEMON, url], stdout=subprocess.PIPE, text=True)
                assert process.stdout and process.stdout.readline() == "up\n"
                until(lambda: completed(store), delay)
                kills += not completed(store)
                process.send_signal(signal.SIGKILL)
                process.communicate()
            assert completed(store), Bench(store).states()
        finally:
            stopped.set()
            if labs.is_alive():
                labs.join()
        assert kills >= 2
        hosts = [r for r in store.snapshot().recipes if r.host is None]
        assert {r.state for r in hosts} == {RecipeState.COMPLETED}

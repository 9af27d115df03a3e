"""Virtual threads that keep their carriers: lock files with a permit for each carrier, and a real program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from schedproof.model.locks import parse
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.kinds import Kind
from tests.support.jdk import VIRTUAL, newest_jdk
from tests.support.needs import needs_virtual_threads
from tests.support.rows import each_row

PROGRAM = Path(__file__).parent / "programs" / "Virtual.java"
LIMIT = 120
"""The seconds that the compiler or the program may take."""

UNPINNED, PINNED = "[lock cache: [acquire carriers: []]]", "[acquire carriers: [lock cache: []]]"
"""A thread that parks without its carrier and needs one to go on, and one that keeps it."""

SCENARIOS = {
    # The name in the program: the threads, and the number of carriers.
    "pinned": ((UNPINNED, PINNED, PINNED), 2),
    "one pinned": ((UNPINNED, PINNED), 2),
    "not pinned": ((UNPINNED, UNPINNED, UNPINNED), 2),
    "pinned, three carriers": ((UNPINNED, PINNED, PINNED), 3),
}
STAND = {"pinned"}
"""Those that stand still: as many pinned threads as carriers wait for one that holds the lock and has no carrier."""


@each_row("name", SCENARIOS)
def test_pinned_threads_stand_still_if_they_keep_all_carriers(name: str) -> None:
    threads, carriers = SCENARIOS[name]
    text = f"objects: {{cache: reentrant}}\ncounters: {{carriers: semaphore {carriers}}}\nthreads:\n"
    text += "".join(f"  t{number}: {steps}\n" for number, steps in enumerate(threads))
    kinds = {problem.kind for problem in explore_all(parse(text, "made.yaml")).problems}
    assert kinds == ({Kind.HELD} if name in STAND else set())


@pytest.mark.long
@needs_virtual_threads
def test_the_real_program_stands_still_where_the_model_does(tmp_path: Path) -> None:
    """Class initializers pin their thread in all versions (JEP 491), monitors until version 23 (JEP 444)."""
    kit = newest_jdk()
    assert kit is not None
    version, home = kit
    assert version >= VIRTUAL
    subprocess.run([home / "bin" / "javac", "-d", tmp_path, PROGRAM], check=True, timeout=LIMIT)

    def run(name: str, carriers: int) -> str:
        pool = [f"-Djdk.virtualThreadScheduler.{each}={carriers}" for each in ("parallelism", "maxPoolSize")]
        command = [home / "bin" / "java", *pool, "-XX:TieredStopAtLevel=1", "-cp", tmp_path, "Virtual", name]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout.strip()

    for name, (_, carriers) in SCENARIOS.items():
        assert run(name.split(",")[0], carriers) == ("stands" if name in STAND else "ends"), name
    assert run("in monitors", 2) == ("stands" if version < 24 else "ends")

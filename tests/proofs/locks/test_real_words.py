"""Each word in real programs of Go, Java and C: they stand still where the model does, and nowhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.kinds import Kind
from tests.proofs.locks.scenarios import GO, JAVA, POSIX, Scenario
from tests.support.needs import needs_gcc, needs_go, needs_java

PROGRAMS = Path(__file__).parent / "programs"
LIMIT = 120
"""The seconds that a compiler or a program may take."""

ALL = {
    f"{of}: {name}": each for of, table in (("Go", GO), ("Java", JAVA), ("C", POSIX)) for name, each in table.items()
}
PANICS = {
    "sent to a closed one": "panic: send on closed channel",
    "closed twice": "panic: close of closed channel",
    "a sender meets the end": "panic: send on closed channel",
    "group below zero": "panic: sync: negative WaitGroup counter",
    "group, reused too early": "panic: sync: WaitGroup is reused before previous Wait has returned",
    "released, not locked": "fatal error: sync: unlock of unlocked mutex",
}


def has_its_kind(scenario: Scenario, *engines: int | None) -> None:
    """The model of a scenario stands still as it says, or never."""
    for pays in engines:
        explored = explore_all(scenario.locks(), pays=pays)
        kinds = {problem.kind for problem in explored.problems}
        assert explored.complete
        assert (scenario.kind in kinds) if scenario.kind is not None else not kinds


def test_the_model_stands_still_as_scenarios_say() -> None:
    for scenario in ALL.values():
        has_its_kind(scenario, None)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_each_scenario_stands_still_as_it_says(name: str) -> None:
    has_its_kind(ALL[name], None, 0)


def test_names_say_which_scenarios_end() -> None:
    assert all(name.endswith("ends") == (scenario.kind is None) for name, scenario in ALL.items())


def outcomes(program: list[str], names: Mapping[str, Scenario]) -> dict[str, tuple[int, str]]:
    """The exit code of each scenario of a program, and what it writes to standard error."""

    def run(name: str) -> tuple[int, str]:
        done = subprocess.run([*program, name], capture_output=True, text=True, timeout=LIMIT)
        return done.returncode, done.stderr

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(names, pool.map(run, names), strict=True))


@pytest.mark.long
@needs_go
def test_the_go_program_stands_still_where_the_model_does(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "words.go", tmp_path)
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-o", str(tmp_path / "words"), str(tmp_path / "words.go")]
    subprocess.run(build, env=environment, check=True, timeout=LIMIT)
    for name, (code, says) in outcomes([str(tmp_path / "words")], GO).items():
        kind = GO[name].kind
        if not GO[name].always and code == 0:
            continue
        assert (code == 0) == (kind is None), (name, says)
        if kind is not None:
            expected = PANICS[name] if kind is Kind.FATAL else "all goroutines are asleep - deadlock!"
            assert expected in says, name


EXCEPTIONS = {Kind.NOT_HELD: "IllegalMonitorStateException"}
DETECTED = {"monitors AB", "locks AB"}
"""The circles that the virtual machine's own detector can see: those of monitors and locks with an owner."""


@pytest.mark.long
@needs_java
def test_the_java_program_stands_still_where_the_model_does(tmp_path: Path) -> None:
    subprocess.run(["javac", "-d", str(tmp_path), str(PROGRAMS / "Words.java")], check=True, timeout=LIMIT)
    run = ["java", "-XX:TieredStopAtLevel=1", "-cp", str(tmp_path), "Words", *JAVA]
    printed = subprocess.run(run, capture_output=True, text=True, timeout=LIMIT, check=True).stdout.splitlines()
    for line, (name, scenario) in zip(printed, JAVA.items(), strict=True):
        stands = "stands, detected" if name in DETECTED else "stands"
        how = "ends" if scenario.kind is None else EXCEPTIONS.get(scenario.kind, stands)
        if scenario.kind is Kind.LEAKED:
            how = "stands"
        assert line in ({f"{name}: {how}"} | (set() if scenario.always else {f"{name}: ends"}))


@pytest.mark.long
@needs_gcc
def test_the_c_program_stands_still_where_the_model_does(tmp_path: Path) -> None:
    build = ["gcc", "-pthread", "-o", str(tmp_path / "words"), str(PROGRAMS / "words.c")]
    subprocess.run(build, check=True, timeout=LIMIT)
    for name, (code, _) in outcomes([str(tmp_path / "words")], POSIX).items():
        assert code == (0 if POSIX[name].kind is None else -14), name

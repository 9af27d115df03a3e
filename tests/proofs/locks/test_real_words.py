"""Each word in real programs of Go, Java and C: they stand still where the model does, and nowhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Serve
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.kinds import Kind
from tests.proofs.locks.go_writer import go_program
from tests.proofs.locks.made_words import KindMaker
from tests.proofs.locks.scenarios import GO, JAVA, POSIX, Scenario
from tests.support.needs import needs_gcc, needs_go, needs_java

PROGRAMS = Path(__file__).parent / "programs"
LIMIT = 120
"""The seconds that a compiler or a program may take."""

ALL = {
    f"{of}: {name}": each for of, table in (("Go", GO), ("Java", JAVA), ("C", POSIX)) for name, each in table.items()
}
ASLEEP = "all goroutines are asleep - deadlock!"
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


def outcomes(program: str, arguments: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, str]]:
    """The exit code of each scenario of a program, and what it writes to standard error."""

    def run(given: Sequence[str]) -> tuple[int, str]:
        done = subprocess.run([program, *given], capture_output=True, text=True, timeout=LIMIT)
        return done.returncode, done.stderr

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(arguments, pool.map(run, arguments.values()), strict=True))


@pytest.mark.long
@needs_go
def test_the_go_program_stands_still_where_the_model_does(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "words.go", tmp_path)
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-o", str(tmp_path / "words"), str(tmp_path / "words.go")]
    subprocess.run(build, env=environment, check=True, timeout=LIMIT)
    for name, (code, says) in outcomes(str(tmp_path / "words"), {each: [each] for each in GO}).items():
        kind = GO[name].kind
        if not GO[name].always and code == 0:
            continue
        assert (code == 0) == (kind is None), (name, says)
        if kind is not None:
            expected = PANICS[name] if kind is Kind.FATAL else ASLEEP
            assert expected in says, name


def by_kind(seeds: range) -> Iterator[tuple[str, Locks, set[Kind]]]:
    """Random programs of messages with kinds, of which all threads end, and their problems in the model."""
    for seed in seeds:
        locks = KindMaker(seed).locks()
        if not any(isinstance(step, Serve) for thread in locks.threads.values() for step in thread.steps):
            yield str(seed), locks, {problem.kind for problem in explore_all(locks).problems}


@pytest.mark.long(seconds=60)
@needs_go
def test_random_go_programs_stand_still_as_in_the_model(tmp_path: Path) -> None:
    """Each run is one interleaving: the model must know its standstill or panic. Most programs are fine in the model."""
    made = list(by_kind(range(2000, 2600)))
    fine, wrong = ([each for each in made if bool(each[2]) == faulty] for faulty in (False, True))
    cases = {name: (locks, kinds) for name, locks, kinds in [*fine, *wrong[:15]]}
    (tmp_path / "made.go").write_text(go_program({name: locks for name, (locks, _) in cases.items()}), "utf-8")
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-o", str(tmp_path / "made"), str(tmp_path / "made.go")]
    subprocess.run(build, env=environment, check=True, timeout=LIMIT)
    for number in range(4):
        runs = outcomes(str(tmp_path / "made"), {name: [name, str(number)] for name in cases})
        for name, (code, says) in runs.items():
            kinds, panics = cases[name][1], "closed channel" in says
            assert panics or (ASLEEP in says) == (code != 0), (name, says)
            assert code == 0 or (Kind.FATAL in kinds if panics else bool(kinds - {Kind.FATAL})), (name, kinds, says)
    assert len(fine) > 15 and any(code for code, _ in runs.values())


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
    for name, (code, _) in outcomes(str(tmp_path / "words"), {each: [each] for each in POSIX}).items():
        assert code == (0 if POSIX[name].kind is None else -14), name

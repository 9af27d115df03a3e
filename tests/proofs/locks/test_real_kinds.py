"""Each kind of deadlock in a real Go program: the runtime's own detector finds those that the model has, and no others."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from schedproof.model.locks import parse
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.kinds import Kind
from tests.proofs.locks.scenarios import GO, JAVA, POSIX
from tests.support.needs import needs_go
from tests.support.places import ROOT
from tests.support.rows import each_row

PROGRAM = Path(__file__).parent / "programs" / "kinds.go"
LIMIT = 120
"""The seconds that the compiler or the program may take."""

OBJECTS = "objects: {a: mutex, b: mutex, r: rw, s: rw}\nchannels: {full: 1, meet: 0}\nthreads:\n"
ASLEEP, FATAL = "all goroutines are asleep - deadlock!", "fatal error: sync: unlock of unlocked mutex"


class Scenario(NamedTuple):
    """The threads of a scenario of the program, and the kind of its deadlock; None if it ends."""

    threads: tuple[str, ...]
    kind: Kind | None


SCENARIOS = {
    "AB": Scenario(("[lock a: [lock b: []]]", "[lock b: [lock a: []]]"), Kind.REVERSED),
    "AB, ends": Scenario(("[lock a: [lock b: []]]", "[lock b: [], lock a: []]"), None),
    "AB of readers, with writers": Scenario(
        ("[rlock r: [rlock s: []]]", "[rlock s: [rlock r: []]]", "[wlock r: []]", "[wlock s: []]"), Kind.REVERSED
    ),
    "AB of readers, ends": Scenario(("[rlock r: [rlock s: []]]", "[rlock s: [rlock r: []]]"), None),
    "RR": Scenario(("[rlock r: [rlock r: []]]", "[wlock r: []]"), Kind.READ_AGAIN),
    "RR, ends": Scenario(("[rlock r: [rlock r: []]]", "[rlock r: []]"), None),
    "SELF": Scenario(("[lock a, lock a]",), Kind.SELF),
    "SELF of a reader": Scenario(("[rlock r, wlock r]",), Kind.SELF),
    "CH": Scenario(("[lock a: [send meet]]", "[lock a: [], receive meet]"), Kind.MESSAGE),
    "CH, ends": Scenario(("[lock a: [send full]]", "[lock a: [], receive full]"), None),
    "LK": Scenario(("[lock a]", "[lock a: []]"), Kind.LEAKED),
    "MSG": Scenario(("[receive full]",), Kind.NO_MESSAGE),
    "UNLOCK": Scenario(("[lock a: [], unlock a]",), Kind.NOT_HELD),
}


@each_row("name", SCENARIOS)
def test_the_model_has_the_deadlock_of_the_scenario(name: str) -> None:
    threads, kind = SCENARIOS[name]
    text = OBJECTS + "".join(f"  t{number}: {steps}\n" for number, steps in enumerate(threads))
    kinds = {problem.kind for problem in explore_all(parse(text, "made.yaml")).problems}
    assert (kind in kinds) if kind is not None else not kinds


@pytest.mark.long
@needs_go
def test_the_real_program_deadlocks_where_the_model_does(tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    program = tmp_path / "kinds"
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-o", str(program), str(tmp_path / PROGRAM.name)]
    subprocess.run(build, env=environment, check=True, timeout=LIMIT)
    for name, (_, kind) in SCENARIOS.items():
        done = subprocess.run([str(program), name], capture_output=True, text=True, timeout=LIMIT)
        assert (done.returncode == 0) == (kind is None), name
        if kind is not None:
            assert (FATAL if kind is Kind.NOT_HELD else ASLEEP) in done.stderr, name


def test_kinds_scenarios_and_the_program_fit() -> None:
    others = {scenario.kind for table in (GO, JAVA, POSIX) for scenario in table.values()}
    assert {scenario.kind for scenario in SCENARIOS.values()} | others == {*Kind, None}
    assert all(f'case "{name}":' in PROGRAM.read_text() for name in SCENARIOS)


def test_the_page_names_every_scenario() -> None:
    page = (ROOT / "docs" / "reference" / "lock-files.md").read_text("utf-8")
    assert [name for name in SCENARIOS if f"`{name}`" not in page] == []

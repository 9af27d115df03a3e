"""Deadlocks of Go projects: each broken form has the deadlock of its public thread, each fixed form has none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from schedproof.model.locks import read
from schedproof.model.registry import manifest
from schedproof.proofs.locks.explore import Problem, explore_all
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.model_check import LocksChecked, model_check
from schedproof.proofs.traces.dumps.check import check_locks_log
from schedproof.proofs.traces.dumps.report import DumpReport
from schedproof.proofs.traces.reports.report import LogVerdict
from tests.docs.commands import in_a_copy
from tests.docs.pages import follow
from tests.support.needs import needs_go
from tests.support.places import ROOT

FOLDER = ROOT / "examples" / "deadlocks"
LIMIT = 120
"""The seconds that the compiler or a program may take."""


class Expected(NamedTuple):
    """What the public thread of a bug says.

    Args:
        kind: the kind of the deadlock.
        circle: the threads that wait for each other; of a lock that is never released, its holder.
        on: the locks and channels of the circle.
        also: the checks that fail too, of which no thread of the file shows the deadlock, or that are more general.
        still: the checks that fail in the fixed form.
    """

    kind: Kind
    circle: frozenset[str]
    on: frozenset[str]
    also: frozenset[str]
    still: frozenset[str] = frozenset()


def expected(kind: Kind, circle: str, on: str, also: str = "", still: str = "") -> Expected:
    """The same from words."""
    return Expected(kind, *(frozenset(words.split()) for words in (circle, on, also, still)))


ORDER, RELOCKED, WAITS = "derived-order-is-acyclic", "no-lock-is-acquired-again", "nothing-is-held-while-waiting"

EXPECTED = {
    # WaitE holds the lock of the groups while it waits for its tasks, and a task that calls NewGroup wants it.
    "cockroach-165218": expected(Kind.HELD, "test test.1", "tasks groups", WAITS),
    # Issue 63761: the stopper's lock is held while a closer wants a replica's; the lease holds it and wants the stopper's.
    "cockroach-63867": expected(Kind.REVERSED, "stop lease", "stopper replica", ORDER),
    # The request that ends with an error keeps the client's lock for reading; Close waits to write it.
    "etcd-5509": expected(Kind.LEAKED, "get", "client", ORDER),
    # Status can hang for ever, because there is no event loop to answer.
    "etcd-6857": expected(Kind.NO_MESSAGE, "status", "status"),
    # "a mutex leak": the timer's function returns with the lock, and the others wait for it.
    "grpc-3017": expected(Kind.LEAKED, "timer", "cache"),
    # The channel is full, the worker holds the lock, and the manager who would empty the channel wants the lock.
    "kubernetes-10182": expected(Kind.MESSAGE, "worker manager", "updates statuses", WAITS, WAITS),
    # distribute holds the read lock and sends; the listener that would receive is not started, since run waits behind a writer.
    "kubernetes-136509": expected(Kind.MESSAGE, "distribute resync run", "add listeners", WAITS, WAITS),
    # Stuck in SetDefaultCPUSet, while another goroutine is in GetCPUSetOrDefault: a read lock in a read lock.
    "kubernetes-62464": expected(Kind.READ_AGAIN, "reconcile remove", "state", RELOCKED),
    # The monitor has a result and wants the container's lock, whose holder sends it the stop.
    "moby-28462": expected(Kind.MESSAGE, "monitor state_changed", "stop container", WAITS, "no-deadlock"),
    # Who waits for the activation is not woken again once it has failed.
    "moby-30408": expected(Kind.NO_SIGNAL, "wait_active", "activated"),
    # The probe's goroutine, the first that the monitor starts, sends to a monitor that has returned.
    "moby-33781": expected(Kind.NO_MESSAGE, "monitor.1", "results"),
    # The tear-down of an error path, where the lock is held.
    "moby-36114": expected(Kind.SELF, "add_disks", "machine", RELOCKED),
    # Thread A holds the device's lock and blocks on the global one, thread B the other way round.
    "moby-4951": expected(Kind.REVERSED, "unmount status", "devices device", ORDER),
    # The write lock is held, and notify takes the read lock.
    "syncthing-4829": expected(Kind.SELF, "clear_addresses", "mapping", RELOCKED),
}


Deadlock = tuple[Kind, frozenset[str], frozenset[str]]
"""A deadlock: its kind, its threads, its locks and channels."""

REMAINS: dict[str, set[Deadlock]] = {
    # The probe that nobody waits for: found and fixed seven months later, as 33781.
    "moby-28462": {EXPECTED["moby-33781"][:3]},
}
"""What the fixed form of a file still has, and the broken one too."""


def names() -> list[str]:
    """The bugs whose files are there."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml") if not path.stem.endswith("-fixed"))


@cache
def checked(name: str) -> LocksChecked:
    """All checks of a file."""
    return model_check(read(FOLDER / f"{name}.yaml"))


def problems(name: str) -> tuple[Problem, ...]:
    """The deadlocks of a file."""
    explored = checked(name).explored
    assert explored is not None and explored.complete and explored.states > 1
    return explored.problems


def deadlocks(name: str) -> set[Deadlock]:
    """The same, each once."""
    return {(p.kind, frozenset(p.threads), frozenset(p.on)) for p in problems(name)}


def fails(name: str) -> set[str]:
    """The checks that fail."""
    return {a.check.name for a in checked(name).answers if a.problem}


def test_every_file_is_one_of_a_bug_in_two_forms() -> None:
    assert names() == sorted(EXPECTED)
    files = {path.name for path in FOLDER.glob("*.yaml")}
    assert files == {f"{name}{form}.yaml" for name in EXPECTED for form in ("", "-fixed")}


def test_the_manifest_names_every_file() -> None:
    (variant,) = manifest.read(FOLDER / "schedproof.toml")["go-deadlocks"].variants.values()
    assert {each.file for each in variant.locks} == {file.name for file in FOLDER.glob("*.yaml")}
    assert all(f"{each.name}.yaml" == each.file and not each.only for each in variant.locks)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_broken_form_has_the_deadlock_of_its_thread(name: str) -> None:
    bug = EXPECTED[name]
    assert deadlocks(name) == {bug[:3], *REMAINS.get(name, ())}
    assert fails(name) == {"no-deadlock", *bug.also} == checked(name).locks.refuted
    assert checked(name).ok


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fixed_form_has_no_deadlock(name: str) -> None:
    fixed = f"{name}-fixed"
    assert deadlocks(fixed) == REMAINS.get(name, set())
    assert fails(fixed) == set(EXPECTED[name].still) == checked(fixed).locks.refuted
    # Neither has a check that decides nothing.
    assert checked(fixed).ok and all(a.verdict is checked(fixed).expected(a) for a in checked(fixed).answers)


def test_the_second_deadlock_of_etcd_is_in_the_derived_order() -> None:
    """Two requests and a Close: one request holds the client's lock, the other one the remote client's."""
    (answer,) = [a for a in checked("etcd-5509").answers if a.check.name == ORDER]
    assert "a circle of 2 locks: client > remote > client" in answer.problem
    assert "close, which acquires wlock client" in answer.problem
    locks = read(FOLDER / "etcd-5509.yaml")
    twice = explore_all(replace(locks, together=(3,)))
    assert Kind.REVERSED in {p.kind for p in twice.problems}


# --- the README


@pytest.mark.long
def test_the_commands_of_the_readme_print_what_it_shows(tmp_path: Path) -> None:
    folder = tmp_path / "deadlocks"
    shutil.copytree(FOLDER, folder)
    follow((folder / "README.md").read_text("utf-8"), folder, in_a_copy)


def table() -> Mapping[str, list[str]]:
    """The rows of the README's table, by the name of the file."""
    rows = re.findall(r"^\| `([\w-]+)` \|(.*)\|$", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split(" | ")] for name, cells in rows}


def columns(name: str) -> list[str]:
    """The columns *deadlock*, *also* and *fixed* of a bug."""
    shown, remains = (
        "; ".join(f"{p.kind}: {' and '.join(p.threads)} on {', '.join(sorted(p.on))}" for p in problems(each))
        for each in (name, f"{name}-fixed")
    )
    also, still = ([f"`{check}`" for check in sorted(fails(each))] for each in (name, f"{name}-fixed"))
    also.remove("`no-deadlock`")
    return [shown, ", ".join(also), remains or ("no deadlock" if still else "clean")]


def test_the_table_is_what_the_command_finds() -> None:
    rows = table()
    assert list(rows) == sorted(EXPECTED)
    for name, cells in rows.items():
        assert cells[2:] == columns(name), f"{name}: write | {' | '.join(columns(name))} |"


def test_each_file_and_row_name_the_public_thread() -> None:
    for name, cells in table().items():
        number = name.rpartition("-")[2]
        assert re.search(rf"\[[^\]]*\]\(https://github\.com/[\w-]+/[\w-]+/pull/{number}\)", cells[0]), name
        text = (FOLDER / f"{name}.yaml").read_text("utf-8")
        assert f"pull request {number}" in text and re.search(r"fixed by ([0-9a-f]{8}|pull request \d+)", text), name


# --- programs that hang


class Shown(NamedTuple):
    """What a dump of the program must say: by goroutine of the circle, the method that waits, and that which may hold a lock.

    Args:
        waits: in the steps of the circle, what each goroutine waits for.
        holds: in the same steps, by which method the next one may hold it.
    """

    waits: frozenset[str]
    holds: frozenset[str]


HOLDER = r"which goroutine \d+ may hold and waits"

LISTED = {
    "cockroach-165218": f"to lock Groups .*, {HOLDER} for a wait group",
    "kubernetes-10182": f"to write Statuses .*, {HOLDER} to send a message",
    "moby-28462": f"to lock Container .*, {HOLDER} to send a message",
    "moby-30408": r"for a condition \(moby_30408\.go",
}
"""What a goroutine waits for, in a program whose circle is not one of locks only."""

PROGRAMS = {
    "cockroach-63867": Shown(frozenset({"to read Replica", "to read Stopper"}), frozenset({"AcquireLease", "Stop"})),
    "kubernetes-62464": Shown(frozenset({"to read State", "to write State"}), frozenset({"GetCPUSetOrDefault"})),
    "moby-36114": Shown(frozenset({"to lock Machine"}), frozenset({"AddDisks"})),
    "moby-4951": Shown(frozenset({"to lock Devices", "to lock Device"}), frozenset({"Unmount", "Status"})),
    "syncthing-4829": Shown(frozenset({"to read Mapping"}), frozenset({"ClearAddresses"})),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Go programs, compiled so that stacks have addresses."""
    path = tmp_path_factory.mktemp("deadlocks") / "deadlocks"
    environment = {**os.environ, "GOFLAGS": "", "GOTOOLCHAIN": "local", "GO111MODULE": "on"}
    build = ["go", "build", "-gcflags=-N -l", "-o", str(path), "."]
    subprocess.run(build, cwd=FOLDER / "programs", env=environment, check=True, timeout=LIMIT)
    return path


def hangs(name: str, program: Path, folder: Path) -> DumpReport:
    """What the stacks of a broken program say; the fixed one ends."""
    fixed = subprocess.run([program, name, "fixed"], capture_output=True, text=True, timeout=LIMIT, check=True)
    assert fixed.stderr == "ended\n"
    broken = subprocess.run([program, name], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert broken.returncode == 2 and "all goroutines are asleep - deadlock!" in broken.stderr
    dump = folder / "stacks.txt"
    dump.write_text(broken.stderr)
    report = check_locks_log(read(FOLDER / f"{name}.yaml"), dump)
    assert isinstance(report, DumpReport) and report.verdict is LogVerdict.VIOLATES
    return report


@pytest.mark.long
@needs_go
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_hangs_in_the_circle_of_its_file(name: str, program: Path, tmp_path: Path) -> None:
    report = hangs(name, program, tmp_path)
    assert len(report.circles) == 1, report.text()
    circle, shown = report.circles[0], PROGRAMS[name]
    # As many goroutines as threads in the circle of the file, on the types that the locks of the file have.
    assert len(circle.names) == len(EXPECTED[name].circle)
    steps = "\n".join(circle.steps)
    assert set(re.findall(r"waits (to \w+ \w+)", steps)) == shown.waits
    assert set(re.findall(r"may hold \((\w+)", steps)) == shown.holds
    assert {of.casefold() for of in re.findall(r"to \w+ (\w+)", steps)} == EXPECTED[name].on
    assert report.comparison.unknown == () and not report.comparison.undescribed


@pytest.mark.long
@needs_go
@pytest.mark.parametrize("name", LISTED)
def test_a_program_hangs_in_more_than_locks(name: str, program: Path, tmp_path: Path) -> None:
    """No stack says who would take a message, or end a wait: the report lists who waits, and who may hold what it waits for."""
    report = hangs(name, program, tmp_path)
    assert report.circles == ()
    lines = [line for line in report.text() if re.match(rf"goroutine \d+ waits {LISTED[name]}", line)]
    assert len(lines) == 1, report.text()


def test_every_program_is_tested() -> None:
    registered = set()
    for path in (FOLDER / "programs").glob("*.go"):
        registered |= set(re.findall(r'programs\["([\w-]+)"\] =', path.read_text("utf-8")))
    assert registered == {*LISTED, *PROGRAMS} <= EXPECTED.keys()

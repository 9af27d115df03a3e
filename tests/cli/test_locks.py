"""``schedproof locks``: its exit codes, and that text, JSON and pictures agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from tests.support.needs import needs_dot
from tests.support.places import MODELS
from tests.support.rows import each_row

DEADLOCKS = MODELS / "yunikorn_merge" / "deadlocks"
GOOD = "objects: {a: mutex, b: mutex}\nthreads:\n  one: [lock a: [lock b: []]]\n  two: [lock a: [lock b: []]]\n"
BAD = "objects: {a: mutex, b: mutex}\nthreads:\n  one: [lock a: [lock b: []]]\n  two: [lock b: [lock a: []]]\n"
REFUTED = "refuted: [no-deadlock, derived-order-is-acyclic]\n"
ORDER = "classes: {A: {}, B: {in: A}}\norder: [A > B in it]\n"

Result = tuple[int, str, str]


@pytest.fixture
def run_locks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on a text: exit code, standard output, standard error."""

    def run(text: str, *options: str | Path) -> Result:
        file = tmp_path / "file.yaml"
        file.write_text(text)
        code = main(["locks", str(file), *map(str, options)])
        return code, *capsys.readouterr()

    return run


def test_exit_codes(run_locks: Any) -> None:
    assert run_locks(GOOD)[0] == 0
    assert run_locks(BAD)[0] == 1
    assert run_locks(BAD + REFUTED)[0] == 0
    assert run_locks(BAD + "refuted: [no-deadlock]\n")[0] == 1, "the derived order has the same circle"
    assert run_locks(GOOD + "refuted: [no-deadlock]\n")[0] == 1, (
        "what is expected to fail and does not is not as expected"
    )
    assert run_locks("objects: {A: mutex}\n")[0] == 2
    assert run_locks(GOOD, "--max-states", "3")[0] == 3
    assert run_locks(GOOD, "--max-states", "0")[0] == 2
    assert run_locks(BAD + REFUTED, "--max-states", "3")[0] == 3


def test_a_deadlock_that_is_found_before_the_limit_is_one(run_locks: Any) -> None:
    # Its end is three states away; the limit cuts off what comes after.
    code, out, _ = run_locks("objects: {a: mutex}\nthreads: {one: [lock a: [lock a: []]]}\n", "--max-states", "2")
    assert code == 1 and "SELF" in out


def test_the_text_has_verdict_and_interleaving(run_locks: Any) -> None:
    code, out, err = run_locks(BAD)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert any("no-deadlock" in line and "refuted in 2 steps" in line and "NOT EXPECTED" in line for line in lines)
    assert "AB: locks in reversed order: one and two on b, a" in lines
    assert "  1. one: lock a (file.yaml:3)" in lines
    assert "  2. two: lock b (file.yaml:4)" in lines
    assert "     one waits: lock b; two holds it by lock" in lines
    assert "     two waits: lock a; one holds it by lock" in lines
    assert "  Threads: one, two. Locks and channels: mutex a, mutex b." in lines
    assert "  Initial state: no lock is held, and every channel is empty." in lines
    assert "  Property no-deadlock is violated: one and two can never continue." in lines
    assert "  1. one: holds lock a (file.yaml:3) and acquires lock b (file.yaml:3)" in lines
    assert "  Property derived-order-is-acyclic is violated: a circle of 2 locks: a > b > a" in lines
    assert lines[-1] == "NOT as expected: 2 of 3 checks"


def test_undetermined_says_where_it_stopped(run_locks: Any) -> None:
    _, out, _ = run_locks(GOOD, "--max-states", "3")
    assert "undetermined: stopped after 3 states" in out and "UNDETERMINED" in out


CHECK = {"name", "kind", "line", "expected", "verdict", "method", "scope", "seconds"}
DEADLOCK = {"kind", "threads", "on", "interleaving", "waits", "holds"}


@each_row("file", sorted(DEADLOCKS.glob("*.yaml")), ids=lambda file: file.stem)
def test_text_and_json_agree(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["locks", str(file)])
    out = capsys.readouterr().out
    assert main(["locks", str(file), "--json", "-"]) == code
    data = json.loads(capsys.readouterr().out)
    assert set(data) == {"name", "checks", "unchecked", "ok", "states", "moves", "deadlocks"}
    assert all(f"\n  {phrase}" in out for phrase in data["unchecked"])
    assert data["name"] == file.stem
    assert data["ok"] is (code == 0)
    rows = {line.split()[0]: line for line in reversed(out.splitlines()) if line}  # the table is above the rest
    for check in data["checks"]:
        assert set(check) - {"note", "problem", "steps", "remarks", "remedies"} == CHECK
        assert ("steps" in check) == (check["verdict"] == "refuted")
        assert check["name"] in rows and check["expected"] in rows[check["name"]]
        if check["verdict"] == "refuted":
            steps = len(check["steps"])
            assert f"refuted in {steps} step" in rows[check["name"]]
        assert check["verdict"] in ("proved", "refuted")
    refuted_others = sum(check["verdict"] == "refuted" and check["name"] != "no-deadlock" for check in data["checks"])
    assert len(data["deadlocks"]) == out.count("\n  1. ") - refuted_others
    for deadlock in data["deadlocks"]:
        assert set(deadlock) == DEADLOCK
        for step in deadlock["interleaving"]:
            assert set(step) == {"thread", "does", "on", "waits", "line"}
            says = f"{step['thread']}: {step['does']} {step['on']}{', and has to wait' if step['waits'] else ''} ("
            assert says in out
        for wait in deadlock["waits"]:
            assert set(wait) == {"thread", "does", "on", "for"}
            assert f"{wait['thread']} waits: {wait['does']} {wait['on']}; " in out
        for hold in deadlock["holds"]:
            assert set(hold) == {"thread", "by", "lock"}


def test_a_fix_is_as_expected_and_a_deadlock_is_not() -> None:
    for file in DEADLOCKS.glob("*.yaml"):
        assert main(["locks", str(file), "--json", "/dev/null"]) == (0 if file.stem.endswith("-fixed") else 1)


@pytest.mark.parametrize("kind", ["dot", "mermaid"])
def test_a_picture_of_a_deadlock_names_who_takes_part(run_locks: Any, tmp_path: Path, kind: str) -> None:
    code, out, _ = run_locks(BAD, "--picture", "-", "--format", kind)
    assert code == 1
    for name in ("one", "two", "held", "waits"):
        assert name in out
    assert "digraph" in out if kind == "dot" else "flowchart" in out or "graph" in out
    suffix = {"dot": "dot", "mermaid": "mmd"}[kind]
    target = tmp_path / f"picture.{suffix}"
    code, text, _ = run_locks(BAD, "--picture", target)
    assert code == 1 and "AB" in text
    assert target.read_text().strip() == out.strip()


def test_a_picture_of_an_order_has_its_ranks(run_locks: Any) -> None:
    code, out, _ = run_locks(ORDER, "--picture", "-", "--format", "dot")
    assert code == 0 and "rank 1" in out and "rank 2" in out and "in it" in out


@needs_dot
@pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_drawn(run_locks: Any, tmp_path: Path, suffix: str, begins: bytes) -> None:
    target = tmp_path / f"picture.{suffix}"
    assert run_locks(BAD, "--picture", target)[0] == 1
    assert target.read_bytes().startswith(begins)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--format", "dot"], "--format: has no effect without --picture"),
        (["--picture", "picture"], "add --format, and choose from"),
        (["--picture", "x.dot", "--json", "x.dot"], "both write to"),
        (["--picture", "/no/such/folder/x.dot"], "does not exist; create it first"),
        (["--json", "/no/such/folder/x"], "does not exist; create it first"),
        (["--max-states", "many"], "--max-states"),
        (["--picture", "-", "--format", "gif"], "--format"),
        (["--lanes", "--mermaid"], "--lanes: has no effect with --mermaid; leave it out"),
        (["--mermaid", "--json", "-"], "--mermaid: has no effect beside another result on standard output"),
        (["--lanes", "--log", "x"], "--lanes: has no effect with --log"),
    ],
)
def test_wrong_options_are_refused(run_locks: Any, options: list[str], says: str) -> None:
    code, out, err = run_locks(BAD, *options)
    assert (code, out) == (2, "")
    assert says in err and err.count("\n") == 1


def test_nothing_to_draw_is_said_and_nothing_is_written(run_locks: Any, tmp_path: Path) -> None:
    target = tmp_path / "picture.dot"
    code, _, err = run_locks(GOOD, "--picture", target)
    assert code == 2 and "neither a deadlock nor an order to draw" in err and not target.exists()


def test_json_names_the_receiver_of_a_message(run_locks: Any) -> None:
    text = "objects: {a: mutex}\nchannels: {c: 0}\nthreads:\n  one: [send c, lock a]\n  two: [receive c]\n"
    (deadlock,) = json.loads(run_locks(text, "--json", "-")[1])["deadlocks"]
    assert "two" in deadlock["interleaving"][0].values()


def test_remedies_are_in_text_and_json(run_locks: Any) -> None:
    _, out, _ = run_locks(BAD)
    remedies = json.loads(run_locks(BAD, "--json", "-")[1])["checks"][0]["remedies"]
    assert len(remedies) == 2 and all(f": {changes[0]}." in out for changes in remedies)
    assert "  Remedy: " in out and "  Or: " in out


def test_a_remedy_of_several_changes_is_a_list(run_locks: Any) -> None:
    """Two circles without a common place: one change in each of them."""
    two = BAD.replace("b: mutex", "b: mutex, c: mutex, d: mutex")
    _, out, _ = run_locks(two + "  three: [lock c: [lock d: []]]\n  four: [lock d: [lock c: []]]\n")
    lines = out.splitlines()
    first = lines.index("  Remedy, 2 changes:")
    programs = {line.split(" acquires ")[0].strip() for line in lines[first + 1 : first + 3]}
    assert len(programs & {"one", "two"}) == len(programs & {"three", "four"}) == 1
    assert sum(line.startswith("  Or, 2 changes:") for line in lines) == 3


def test_lanes_replace_the_steps(run_locks: Any) -> None:
    code, out, _ = run_locks(BAD, "--lanes")
    assert code == 1 and "   one         two\n" in out and "  1. " not in out
    assert out.count("lock a ...") == 2, "of the circle and of the deadlock"


def test_a_sequence_diagram_is_all_that_is_printed(run_locks: Any) -> None:
    code, out, _ = run_locks(BAD, "--mermaid")
    assert code == 1 and out.startswith("---\ntitle: ") and "sequenceDiagram" in out and "check " not in out
    operations = "classes: {A: {}, B: {}}\noperations:\n  x(A a, B b): [wlock a: [wlock b: []]]\n  y(A a, B b): [wlock b: [wlock a: []]]\n"
    code, out, _ = run_locks(operations, "--mermaid")
    assert code == 1 and "a circle of locks: a1 > b1 > a1" in out and "each waits for the next" in out
    code, out, err = run_locks(GOOD, "--mermaid")
    assert (code, out) == (2, "") and "neither a deadlock nor a circle to draw; leave out --mermaid" in err


DUMP = """goroutine 41 [sync.RWMutex.Lock]:
sync.(*RWMutex).Lock(0xc00011c0c8)
\t/usr/local/go/src/sync/rwmutex.go:153 +0x6a
example.org/objects.(*Queue).Set(0xc00011c0a0)
\t/src/objects/queue.go:212 +0x45
example.org/objects.(*Queue).Apply(0xc00011c000, 0xc00011c0a0)
\t/src/objects/queue.go:180 +0x7d

goroutine 77 [sync.RWMutex.Lock]:
sync.(*RWMutex).Lock(0xc00011c028)
\t/usr/local/go/src/sync/rwmutex.go:153 +0x6a
example.org/objects.(*Queue).Count(0xc00011c000)
\t/src/objects/queue.go:655 +0x4e
example.org/objects.(*Queue).Allocate(0xc00011c0a0)
\t/src/objects/queue.go:601 +0x88
"""


def test_a_dump_needs_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the same circle as with a file of its types, and compares nothing."""
    dump, types = tmp_path / "stacks.txt", tmp_path / "types.yaml"
    dump.write_text(DUMP)
    types.write_text("classes: {Queue: {}}\n")
    assert main(["locks", str(types), "--log", str(dump)]) == 1
    with_types = capsys.readouterr().out.splitlines()
    assert main(["locks", "--log", str(dump)]) == 1
    without = capsys.readouterr().out.splitlines()
    assert without[0].startswith("stacks: violates") and without[1:] == with_types[1:]
    assert without[1] == "possible circle: goroutine 41 > goroutine 77 > goroutine 41"


def test_without_a_dump_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locks"]) == 2
    assert "FILE is missing; name a lock file, or add --log" in capsys.readouterr().err

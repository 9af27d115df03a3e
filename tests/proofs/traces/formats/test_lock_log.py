"""Logs of acquisitions: what the validator says of each kind of mistake, of bad input, and of logs without an order."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.model.locks import parse, read
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.rank import check_order
from schedproof.proofs.traces import LogVerdict, check_trace
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.formats import lock_log
from schedproof.proofs.traces.formats.lock_log import check_log
from tests.support.places import MODELS, REFERENCE
from tests.support.rows import each_row

FOLDER = MODELS / "yunikorn_merge"
REPAIRED = read(FOLDER / "locks" / "repaired.yaml")
NO_ORDER = parse("classes: {L: {}, M: {lock: mutex}}\nobjects: {a: L}\nthreads: {t: [rlock a: []]}\n", "mine.yaml")

CLASSES = {
    "c": "Cluster",
    "p": "Partition",
    "root": "Queue",
    "root.a": "Queue",
    "root.b": "Queue",
    "app": "Application",
    "n": "Node",
}


def record(text: str) -> dict[str, object]:
    """``t1 +r root.a``: thread, what it does (+r, +w, -), the lock."""
    thread, what, lock = text.split()
    fields: dict[str, object] = {"thread": thread, "op": "release" if what == "-" else "acquire", "lock": lock}
    fields["class"] = CLASSES.get(lock, "L")
    if what != "-":
        fields["mode"] = {"+r": "read", "+w": "write"}[what]
    if "." in lock:
        fields["in"] = lock.rpartition(".")[0]
    return fields


def log(folder: Path, *lines: str) -> Path:
    file = folder / "locks.jsonl"
    file.write_text("".join(json.dumps(record(line)) + "\n" for line in lines))
    return file


CONFORM = {
    "from the outside in": ["t +w c", "t +w p", "t +w root", "t +w root.a", "t +w app", "t +w n", "t - n", "t - c"],
    "two threads share a read": ["t +r root", "u +r root", "t - root", "u - root"],
    "one after the other": ["t +w root", "t - root", "u +w root", "u - root"],
    "let go and taken again": ["t +w root.a", "t - root.a", "t +r root", "t +r root.a", "t - root", "t - root.a"],
    "released in any order": ["t +w p", "t +w n", "t - p", "t - n"],
}
VIOLATE = {
    # what is wrong by hand: (lines, record, words of the reason)
    "the inner before the outer": (["t +w root.a", "t +w root"], 2, "t holds Queue root.a (wlock) since record 1"),
    "siblings": (["t +r root.a", "t +r root.b"], 2, "the order is Cluster < Partition < Queue"),
    "an application before a partition": (["t +w app", "u +w p", "t +r p"], 3, "t holds Application app"),
    "not the last, but one before": (["t +r p", "t +r n", "t +r root"], 3, "t holds Node n"),
    "again": (["t +r root", "t +r root"], 2, "acquires it again"),
    "again for writing": (["t +w root", "t +r root"], 2, "acquires it again"),
    "not held": (["t +r root", "u - root"], 2, "u releases root, which it does not hold"),
    "released twice": (["t +r root", "t - root", "t - root"], 3, "does not hold"),
    "a writer beside a reader": (["t +r root", "u +w root"], 2, "the lock does not exclude them"),
    "a reader beside a writer": (["t +w root", "u +r root"], 2, "the lock does not exclude them"),
}


@pytest.mark.parametrize("name", CONFORM)
def test_what_keeps_to_the_order_conforms(name: str, tmp_path: Path) -> None:
    report = check_trace("yunikorn-merge", log(tmp_path, *CONFORM[name]))
    assert report.verdict is LogVerdict.CONFORMS
    assert (report.variant, report.format, report.records) == ("merged", "locks", len(CONFORM[name]))


@pytest.mark.parametrize("name", VIOLATE)
def test_what_does_not_violates(name: str, tmp_path: Path) -> None:
    lines, number, words = VIOLATE[name]
    report = check_trace("yunikorn-merge", log(tmp_path, *lines), format="locks")
    assert report.verdict is LogVerdict.VIOLATES and report.first_nonconformance is not None
    assert (report.first_nonconformance.record, report.first_nonconformance.line) == (number, number)
    assert words in report.first_nonconformance.reason


def test_what_is_held_at_the_end_is_noted(tmp_path: Path) -> None:
    report = check_trace("yunikorn-merge", log(tmp_path, "t +w p", "t +w root"))
    assert report.verdict is LogVerdict.CONFORMS
    assert report.note == "still held at the end: p by t (line 1), root by t (line 2)"


def test_a_whole_path_says_how_deep_a_lock_is(tmp_path: Path) -> None:
    """root.a.x is deeper than root.b, though nothing but root.b is logged beside it."""
    deep = {**record("t +w root.b"), "lock": "root.a.x", "in": ["root", "root.a"]}
    for first, second, verdict in (
        (record("t +w root.b"), deep, "conforms"),
        (deep, record("t +w root.b"), "violates"),
    ):
        file = tmp_path / "locks.jsonl"
        file.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
        assert check_log(REPAIRED, file).verdict == verdict


def test_without_an_order_a_circle_violates(tmp_path: Path) -> None:
    lines = ["t +w x", "t +w y", "t - y", "t - x", "u +w y", "u +w z", "u - z", "u - y", "v +w z", "v +w x"]
    report = check_log(NO_ORDER, log(tmp_path, *lines))
    assert report.verdict is LogVerdict.VIOLATES and report.first_nonconformance is not None
    assert report.first_nonconformance.record == 10
    assert "y was acquired under x by t (line 2); z was acquired under y by u (line 6): a circle" in (
        report.first_nonconformance.reason
    )
    assert check_log(NO_ORDER, log(tmp_path, *lines[:-1])).verdict is LogVerdict.CONFORMS


def test_random_logs_are_checked_as_by_every_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the definition: of all pairs that one thread holds at once, the later comes after the earlier."""
    checked = check_order(REPAIRED)  # of one order once, not for each log
    monkeypatch.setattr(lock_log, "check_order", lambda _: checked)
    order = list(dict.fromkeys(CLASSES.values()))
    places = {lock: (order.index(of), lock.count(".")) for lock, of in CLASSES.items()}
    seen = set()
    for seed in range(300):
        rng = random.Random(seed)
        held: dict[str, list[str]] = {"t": [], "u": []}
        lines: list[str] = []
        wrong = None
        for number in range(1, 13):
            thread = rng.choice(["t", "u"])
            if held[thread] and rng.random() < 0.5:
                lock = rng.choice(held[thread])
                held[thread].remove(lock)
                lines.append(f"{thread} - {lock}")
                continue
            lock = rng.choice(list(CLASSES))
            other = "u" if thread == "t" else "t"
            lines.append(f"{thread} +w {lock}")
            if any(places[one] >= places[lock] for one in held[thread]) or lock in held[other]:
                wrong = number
                break
            held[thread].append(lock)
        report = check_log(REPAIRED, log(tmp_path, *lines))
        violates = report.first_nonconformance.record if report.first_nonconformance is not None else None
        assert violates == wrong, lines
        seen.add(wrong is None)
    assert seen == {True, False}


BAD = {
    "not json": ("{", "line 1: not JSON"),
    "no class": ('{"thread": "t", "op": "acquire", "lock": "a", "mode": "read"}', '"class" is missing'),
    "unknown class": ('{"thread": "t", "op": "acquire", "class": "Pod", "lock": "a", "mode": "read"}', "unknown class 'Pod'"),
    "no mode": ('{"thread": "t", "op": "acquire", "class": "Node", "lock": "a"}', '"mode" is missing'),
    "wrong mode": ('{"thread": "t", "op": "acquire", "class": "Node", "lock": "a", "mode": "x"}', '"mode"'),
    "wrong op": ('{"thread": "t", "op": "take", "class": "Node", "lock": "a", "mode": "read"}', '"op"'),
    "unknown field": ('{"thread": "t", "op": "release", "class": "Node", "lock": "a", "who": 1}', 'unknown field "who"; choose from thread, op'),
    "in no tree": ('{"thread": "t", "op": "acquire", "class": "Node", "lock": "a", "mode": "read", "in": "b"}', "never in another"),
    "in itself": ('{"thread": "t", "op": "acquire", "class": "Queue", "lock": "a", "mode": "read", "in": "a"}', "in itself"),
}  # fmt: skip


@each_row("name", BAD)
def test_bad_records_are_reported_with_their_line(name: str, tmp_path: Path) -> None:
    text, words = BAD[name]
    file = tmp_path / "locks.jsonl"
    file.write_text(text + "\n")
    with pytest.raises(TraceError) as refused:
        check_log(REPAIRED, file)
    assert words in str(refused.value) and "line 1" in str(refused.value) and "\n" not in str(refused.value)


def test_a_lock_is_one_thing(tmp_path: Path) -> None:
    file = tmp_path / "locks.jsonl"
    file.write_text(json.dumps(record("t +r n")) + "\n" + json.dumps({**record("t +r n"), "class": "Cluster"}) + "\n")
    with pytest.raises(TraceError, match="line 2: n was a Node before"):
        check_log(REPAIRED, file)


def test_a_mutex_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "locks.jsonl"
    file.write_text(json.dumps({**record("t +r a"), "class": "M"}) + "\n")
    with pytest.raises(TraceError, match="mutex"):
        check_log(NO_ORDER, file)


def test_no_log_is_held_against_an_order_with_a_circle(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="its order has a cycle"):
        check_log(read(FOLDER / "deadlocks" / "sentence-245.yaml"), log(tmp_path, "t +r a"))


@pytest.mark.parametrize(("lines", "code"), [(["t +w p", "t +w n"], 0), (["t +w n", "t +w p"], 1)])
def test_both_commands(lines: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = log(tmp_path, *lines)
    assert main(["validate", "yunikorn-merge", str(file), "--format", "locks"]) == code
    first = capsys.readouterr().out
    assert main(["locks", str(FOLDER / "locks" / "repaired.yaml"), "--log", str(file)]) == code
    # check also shows the lines of the log that matter.
    expected = first.partition("the lines of the log that matter")[0]
    lines = capsys.readouterr().out.splitlines()[1:]
    differences = [line for line in lines if line.startswith(("seen, but", "described, but"))]
    assert [line for line in lines if line not in differences] == expected.splitlines()[1:]
    assert ["seen, but not described: Node > Partition" in line for line in differences] == [True, False][code == 0 :]


def test_a_log_and_a_picture_are_two_things(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = log(tmp_path, "t +w p")
    description = str(FOLDER / "locks" / "repaired.yaml")
    assert main(["locks", description, "--log", str(file), "--picture", str(tmp_path / "x.dot")]) == 2
    assert "--picture, --log: a log has no picture" in capsys.readouterr().err


def test_the_example_of_the_readme_conforms(tmp_path: Path) -> None:
    text = (REFERENCE / "trace-formats.md").read_text("utf-8").split("## Logs of locks")[1].split("\n## ")[0]
    file = tmp_path / "locks.jsonl"
    file.write_text(text.split("```json\n")[1].split("```")[0])
    report = check_trace("yunikorn-merge", file, format="locks")
    assert report.verdict is LogVerdict.CONFORMS and report.records == 2


def test_the_example_of_the_description_deadlocks() -> None:
    """The page on lock files begins with a file of a few lines."""
    text = (REFERENCE / "lock-files.md").read_text("utf-8")
    (problem,) = explore_all(parse(text.split("```yaml\n")[1].split("```")[0], "example.yaml")).problems
    assert problem.kind is Kind.REVERSED and problem.threads == ("config", "scheduler") and len(problem.steps) == 2

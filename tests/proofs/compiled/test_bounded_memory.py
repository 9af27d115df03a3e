"""Explorations that do not fit into memory, are interrupted, or killed: what they say is what they would have said."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedproof.cli import main
from schedproof.cli.commands import explore as explore_command
from schedproof.model.lang import Model
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import instances, with_bound
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.compiled import Reached, checkpoint, files, part
from schedproof.proofs.compiled.files import Column, Damaged, SortedRuns, pick, sift, squeeze
from schedproof.proofs.compiled.part import Part
from schedproof.proofs.compiled.table import entry
from schedproof.proofs.exploration.limits import CheckpointError, Saving
from schedproof.proofs.verdict import Verdict
from tests.proofs.compiled.test_beside_interpreted import instance_of
from tests.support.elections import ELECTION
from tests.support.needs import needs_proc
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.support.toys import WORKSHOP

SCOPE = {"PodGroup": 3, "Cell": 3}
MIXED = systems()["yunikorn-merge"].variants["two-copy"]
"""Its states take many words."""


def everything(reached: Reached) -> dict[str, Any]:
    """What an exploration has found, down to where each state was found from."""
    return {
        "counts": (
            reached.stopped,
            reached.state_count,
            reached.representatives,
            reached.transition_count,
            reached.depth,
        ),
        "actions": reached.per_action(),
        "starts": [each.starts for each in reached.parts],
        "origins": [origins(each) for each in reached.parts],
        "seen": [each.seen.tolist() for each in reached.parts],
    }


def origins(each: Part) -> list[tuple[int, int]]:
    """Where each of a part's states was found from, and by which choice."""
    if each.disk is None or not each.spilled:
        return [each.origin(place) for place in range(each.count)]
    for place in range(0, each.count, max(1, each.count // 20)):
        assert each.origin(place) == (
            each.disk.parents.read(place, place + 1)[0],
            each.disk.choices.read(place, place + 1)[0],
        )
    parents, choices = each.disk.parents.read(0, each.count), each.disk.choices.read(0, each.count)
    return list(zip(parents.tolist(), choices.tolist(), strict=True))


CASES = [
    pytest.param(AS_WRITTEN, SCOPE, id="hived"),
    pytest.param(WORKSHOP, {"Worker": 2, "Tool": 1}, id="workshop"),
    pytest.param(MIXED, {}, id="yunikorn-merge"),
    pytest.param(ELECTION, {"Node": 3}, id="election"),
]


class TestFiles:
    """In which states are that do not fit."""

    @pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.long(one_in=32)), 2])
    @pytest.mark.parametrize("symmetry", [False, True])
    @pytest.mark.parametrize(("model", "scope"), thinned(CASES, 2))
    def test_what_is_found_is_the_same(
        self, model: Model, scope: dict[str, int], symmetry: bool, threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(part, "ROOM", 64)
        monkeypatch.setattr(part, "FIRST", 32)
        monkeypatch.setattr(part, "WINDOW", 16)
        monkeypatch.setattr(files, "AT_ONCE", 8)
        instance = instance_of(model, scope)
        whole = compiled.explore(instance, symmetry=symmetry, threads=threads)
        parts = compiled.explore(instance, symmetry=symmetry, threads=threads, memory=1)
        assert whole.in_memory and not parts.in_memory
        assert everything(parts) == everything(whole)

    def test_verdicts_and_runs_are_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(part, "FIRST", 32)
        how = Exploring(Engine.COMPILED)
        whole = {r.name: r for r in model_check(AS_WRITTEN, SCOPE, how=how)}
        monkeypatch.setattr(Exploring, "_room", lambda self: 1)
        for name, result in {
            r.name: r for r in model_check(AS_WRITTEN, SCOPE, how=Exploring(Engine.COMPILED, memory=1 << 50))
        }.items():
            if result.verdict is Verdict.UNDETERMINED:
                assert "checking properties that need the full graph takes more than" in result.note
                assert result.kind in ("can happen", "always can reach", "leads to")
            else:
                assert result == whole[name]

    @pytest.mark.parametrize("seeded", thinned(["nothing is known", "all is known"], 2, first=1))
    def test_a_wrong_comparison_is_noticed(self, seeded: str, monkeypatch: pytest.MonkeyPatch) -> None:
        answer = np.zeros if seeded == "nothing is known" else np.ones
        monkeypatch.setattr(SortedRuns, "known", lambda self, keys, count: answer(count, np.bool_))
        monkeypatch.setattr(part, "FIRST", 32)
        instance = instance_of(AS_WRITTEN, SCOPE)
        wrong = compiled.explore(instance, memory=1, limit=10_000)
        assert everything(wrong) != everything(compiled.explore(instance))

    def test_the_folder_is_gone_with_what_was_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr(part, "FIRST", 32)
        reached = compiled.explore(instance_of(AS_WRITTEN, SCOPE), memory=1)
        assert len(reached.path(1000)) > 0
        assert sorted(p.name.split("-")[0] for p in next(tmp_path.iterdir()).iterdir()) == [
            "choices",
            "parents",
            "states",
        ]
        del reached
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.long(one_in=12)
    @needs_proc
    def test_the_limit_is_kept(self, tmp_path: Path) -> None:
        """The peak of the process, as the system has it: not ``ru_maxrss``, which begins with that of the starting process."""
        limit, json_file = 450, tmp_path / "found.json"
        script = (
            "import re, sys; from schedproof.cli import main; code = main(sys.argv[1:]); "
            "print(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1], file=sys.stderr); sys.exit(code)"
        )
        done = run(
            [
                sys.executable,
                "-P",
                "-c",
                script,
                *("PodGroup=5,Cell=5" if "=" in each else each for each in LARGE),
                "--memory",
                f"{limit}M",
                "--json",
                str(json_file),
            ]
        )
        assert done.returncode == 0
        assert json.loads(json_file.read_text())["states"] == 5_768_317  # as without a limit, and as SPIN counts
        assert int(done.stderr) <= limit * 1024

    def test_too_little_to_begin_with_is_undetermined(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explore", "hived", "--memory", "1M"]) == 3
        assert "stopped at the limit of 1 MiB of memory: at least 1 state," in capsys.readouterr().out
        assert main(["explore", "hived", "--memory", "much"]) == 2
        assert "'much' is not an amount of memory; write, for example, 500M or 2G" in capsys.readouterr().err
        for size in ("0", "9999999999G", "9" * 20):
            assert main(["explore", "hived", "--memory", size]) == 2
            assert f"'{size}' is too much or too little memory" in capsys.readouterr().err


class TestParts:
    """Of files, each held against the plainest way to say the same."""

    @each_row("seed", range(20))
    def test_columns(self, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "AT_ONCE", 4)
        dice, width, first = random.Random(seed), 1 + seed % 3, seed % 5
        column, rows, marks = Column(tmp_path / "column", np.uint64, width, first), list[int](), []
        for _ in range(10):
            more = [dice.getrandbits(64) for _ in range(width * dice.randrange(5))]
            column.add(np.array(more, np.uint64))
            rows += more
            marks.append((column.mark, len(rows)))
        assert column.end == first + len(rows) // width
        assert column.read(first, column.end).tolist() == rows
        mark, length = dice.choice(marks)
        reopened = Column(tmp_path / "column", np.uint64, width, first)
        reopened.back_to(mark)
        assert reopened.read(first, reopened.end).tolist() == rows[:length]
        reopened.add(np.array([7] * width, np.uint64))
        assert reopened.read(first, reopened.end).tolist() == rows[:length] + [7] * width

    @pytest.mark.parametrize("damage", ["short", "flipped", "gone"])
    def test_damaged_columns(self, damage: str, tmp_path: Path) -> None:
        path = tmp_path / "column"
        column = Column(path, np.uint32)
        column.add(np.arange(100, dtype=np.uint32))
        content = bytearray(path.read_bytes())
        content[200] ^= 1
        path.write_bytes({"short": content[:399], "flipped": content, "gone": b""}[damage])
        with pytest.raises(Damaged, match="too short" if damage != "flipped" else "is not what was written"):
            Column(path, np.uint32).back_to(column.mark)

    @each_row("words", [1, 2, 3])
    @each_row("seed", range(10))
    def test_runs_know_what_was_added(
        self, words: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also where many entries have the same first word, which differs in nearly all that are ever found."""
        monkeypatch.setattr(files, "AT_ONCE", 3)
        dice = random.Random(seed)
        runs, known = SortedRuns(tmp_path, 0, words), set[tuple[int, ...]]()

        def sorted_entries(rows: set[tuple[int, ...]]) -> Any:
            mixed = sorted(rows, key=lambda row: (row[0], dice.random()))
            return np.array(mixed, np.uint64).reshape(-1), mixed

        for _ in range(12):
            rows = {tuple(dice.randrange(1, 8 if words > 1 else 60) for _ in range(words)) for _ in range(15)}
            keys, order = sorted_entries(rows)
            assert runs.known(keys, len(order)).tolist() == [row in known for row in order]
            keys, order = sorted_entries(rows - known)
            runs.add(keys, len(order))
            known |= rows
            assert len(list(tmp_path.iterdir())) <= 1 + np.log2(len(known))
        runs.remove()
        assert list(tmp_path.iterdir()) == []

    @each_row("words", [1, 2])
    @each_row("seed", range(10))
    def test_what_is_old_is_taken_out_and_the_order_is_kept(self, words: int, seed: int) -> None:
        dice = random.Random(seed)
        rows = list({tuple(dice.randrange(4000) for _ in range(words)) for _ in range(300)})
        states = np.array(rows, np.uint64).reshape(-1)
        entries = [(int(entry(states, i * words, words)), *row[1:]) for i, row in enumerate(rows)]
        keys, gap = list[int](), [0] * words
        for each in sorted(entries):
            keys += [*each, *(gap * dice.randrange(3))]
        table = np.array(keys, np.uint64)
        assert squeeze(table, words) == len(rows)
        old = np.array([dice.random() < 0.5 for _ in rows])
        is_old = dict(zip(sorted(entries), old.tolist(), strict=True))
        parents = np.arange(len(rows), dtype=np.uint32)
        choices = parents.astype(np.uint16)
        new = [i for i, each in enumerate(entries) if not is_old[each]]
        left = sift(table, len(rows), words, 1, old, states, parents, choices, len(rows))
        assert left == len(new)
        assert parents[:left].tolist() == choices[:left].tolist() == new
        assert states[: left * words].tolist() == [n for i in new for n in rows[i]]
        assert pick(table, len(rows), words, old) == len(new)
        assert table[: left * words].tolist() == [n for each in sorted(entries) if not is_old[each] for n in each]


def halted(turns: int) -> Callable[[], str]:
    """Stops after so many turns."""
    left = [turns]

    def ask() -> str:
        left[0] -= 1
        return "interrupted" if left[0] < 0 else ""

    return ask


class TestCheckpoints:
    """A search that goes on where another one was."""

    @pytest.mark.parametrize("memory", [None, 1])
    @pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.long(one_in=32)), 2])
    @pytest.mark.parametrize("symmetry", [False, True])
    @pytest.mark.parametrize(("model", "scope"), thinned(CASES, len(CASES)))
    def test_nothing_is_lost_wherever_it_stopped(
        self,
        model: Model,
        scope: dict[str, int],
        symmetry: bool,
        threads: int,
        memory: int | None,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(part, "ROOM", 64)
        monkeypatch.setattr(part, "FIRST", 32)
        monkeypatch.setattr(part, "WINDOW", 16)
        instance = instance_of(model, scope)
        options: dict[str, Any] = {"symmetry": symmetry, "threads": threads}
        whole = everything(compiled.explore(instance, **options))
        kept, stops = Saving(tmp_path), 0
        while True:
            reached = compiled.explore(instance, **options, memory=memory, saving=kept, halt=halted(2 + 2 * stops))
            if not reached.stopped:
                break
            stops += 1
        assert stops >= 2
        assert everything(reached) == whole
        resumed = compiled.explore(instance, **options, memory=memory, saving=kept, halt=halted(1))
        assert everything(resumed) == whole, "what is complete is not begun again"
        if symmetry is False and memory is None:
            assert compiled.graph_of(resumed).size == whole["counts"][1]

    @pytest.mark.long
    def test_verdicts_after_a_stop_are_those_of_one_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(part, "ROOM", 64)
        whole = model_check(AS_WRITTEN, SCOPE, how=Exploring(Engine.COMPILED))
        verdicts = [r.verdict for r in whole]
        open_, runs = len(verdicts), 0
        while True:
            how = Exploring(checkpoint=Saving(tmp_path), halt=halted(40))
            results = model_check(AS_WRITTEN, SCOPE, how=how)
            runs += 1
            now = [r.verdict for r in results]
            assert all(v in (was, Verdict.UNDETERMINED) for v, was in zip(now, verdicts, strict=True))
            assert now.count(Verdict.UNDETERMINED) <= open_
            open_ = now.count(Verdict.UNDETERMINED)
            if results == whole:
                break
        assert runs > 3

    @pytest.mark.parametrize("damage", ["short", "flipped", "gone", "half", "other number", "no text", "old"])
    def test_what_is_damaged_is_refused(self, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(part, "ROOM", 64)
        instance, kept = instance_of(AS_WRITTEN, SCOPE), Saving(tmp_path)
        assert compiled.explore(instance, saving=kept, halt=halted(20)).stopped
        [folder] = tmp_path.iterdir()
        states, summary = folder / "states-0", folder / "checkpoint.json"
        content, text = bytearray(states.read_bytes()), summary.read_text()
        content[100] ^= 4
        match damage:
            case "short":
                states.write_bytes(content[:-8])
            case "flipped":
                states.write_bytes(content)
            case "gone":
                states.unlink()
            case "half":
                summary.write_text(text[: len(text) // 2])
            case "other number":
                count = json.loads(text)["content"]["parts"][0]["count"]
                summary.write_text(text.replace(str(count), str(count + 1)))
            case "no text":
                summary.write_bytes(b"\xff\xfe")
            case "old":
                summary.write_text("{}")
        with pytest.raises(CheckpointError, match=r"the checkpoint is damaged; remove '.*', and begin again"):
            compiled.explore(instance, saving=kept)

    @pytest.mark.parametrize(
        "change",
        [
            {"at": 10**30}, {"at": -5}, {"size": -1}, {"base": 10**6}, {"base": 0, "size": 0}, {"starts": []}, {"starts": ["a"]},
            {"count": 3.5}, {"totals": ["a"]}, {"totals": []}, {"seen": []}, {"seen": [10**30]}, {"marks": "x"}, {"marks": []},
            {"more": 1},
        ],
    )  # fmt: skip
    def test_numbers_that_no_search_has_are_refused(
        self, change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also where the digest says that they are what was written."""
        monkeypatch.setattr(part, "ROOM", 64)
        instance, kept = instance_of(AS_WRITTEN, SCOPE), Saving(tmp_path)
        assert compiled.explore(instance, saving=kept, halt=halted(20)).stopped
        [summary] = tmp_path.glob("*/checkpoint.json")
        content = json.loads(summary.read_text())["content"]
        content["parts"][0] |= change
        summary.write_text(json.dumps({"digest": checkpoint._digest(content), "content": content}))
        with pytest.raises(CheckpointError, match=r"the checkpoint is damaged"):
            compiled.explore(instance, saving=kept)

    @pytest.mark.long
    def test_each_configuration_has_a_folder_of_its_own(self, tmp_path: Path) -> None:
        """Also where they begin alike."""
        model = systems()["yunikorn-merge"].variants["merged"]
        every = list(instances(model, dict(model.default_scope)))
        for _ in range(2):
            counts = [compiled.explore(each, saving=Saving(tmp_path)).state_count for each in every]
            assert counts == [compiled.explore(each).state_count for each in every]
        assert len(list(tmp_path.iterdir())) == len(every) == 5

    def test_what_follows_the_last_save_counts_as_never_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(part, "ROOM", 64)
        instance, kept = instance_of(AS_WRITTEN, SCOPE), Saving(tmp_path)
        assert compiled.explore(instance, saving=kept, halt=halted(20)).stopped
        [folder] = tmp_path.iterdir()
        for path in folder.glob("*-0"):
            with path.open("ab") as file:
                file.write(b"half a st")
        (folder / "new").write_text("{")
        (folder / "run-0-7").write_bytes(b"left by a search that was killed")
        assert everything(compiled.explore(instance, saving=kept)) == everything(compiled.explore(instance))

    def test_what_is_of_something_else_is_refused(self, tmp_path: Path) -> None:
        kept = Saving(tmp_path)
        instance = instance_of(AS_WRITTEN, SCOPE)
        assert compiled.explore(instance, saving=kept, threads=2, halt=halted(2)).stopped
        with pytest.raises(CheckpointError, match="was written by 2 threads or workers; go on with as many"):
            compiled.explore(instance, saving=kept)
        changed = dataclasses.replace(AS_WRITTEN, rules=AS_WRITTEN.rules[1:])
        with pytest.raises(CheckpointError, match="the model or schedproof has changed since"):
            compiled.explore(instance_of(changed, SCOPE), saving=kept, threads=2)
        other = compiled.explore(instance_of(AS_WRITTEN, {"PodGroup": 2, "Cell": 2}), saving=kept)
        assert other.state_count == 47, "another scope has a folder of its own"

    @pytest.mark.parametrize("name", ["lock", "new", "checkpoint.json", "states-0", "choices-0"])
    def test_a_link_in_the_place_of_a_file_is_not_followed(self, name: str, tmp_path: Path) -> None:
        kept, instance = Saving(tmp_path / "kept"), instance_of(AS_WRITTEN, SCOPE)
        assert compiled.explore(instance, saving=kept, halt=halted(2)).stopped
        (folder,) = kept.folder.iterdir()
        other = tmp_path / "other"
        other.write_text("not ours")
        for file in [*folder.glob(name)] or [folder / name]:
            file.unlink(missing_ok=True)
            file.symlink_to(other)
        with suppress(CheckpointError, OSError):
            compiled.explore(instance, saving=kept)
        assert other.read_text() == "not ours"

    def test_each_bound_has_a_folder_of_its_own(self, tmp_path: Path) -> None:
        for high in (2, 3):
            instance = instance_of(with_bound(ELECTION, {("Node", "term"): high}), {})
            reached = compiled.explore(instance, saving=Saving(tmp_path))
            resumed = compiled.explore(instance, saving=Saving(tmp_path), halt=halted(1))
            assert everything(resumed) == everything(reached)
            assert reached.frontier_count == compiled.explore(instance).frontier_count
        assert len(list(tmp_path.iterdir())) == 2

    def test_one_process_at_a_time(self, tmp_path: Path) -> None:
        kept, instance = Saving(tmp_path), instance_of(AS_WRITTEN, SCOPE)
        asked: list[CheckpointError] = []

        def meanwhile() -> str:
            with pytest.raises(CheckpointError, match="is in use by another process") as error:
                compiled.explore(instance, saving=kept)
            asked.append(error.value)
            return ""

        assert compiled.explore(instance, saving=kept, halt=meanwhile).complete
        assert asked

    @pytest.mark.parametrize(("threads", "kept"), thinned([(2, True), (1, False), (2, False), (1, True)], 4))
    def test_a_full_disk_ends_it_and_what_was_saved_is_good(
        self, threads: int, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(part, "ROOM", 64)
        monkeypatch.setattr(part, "FIRST", 32)
        instance = instance_of(AS_WRITTEN, SCOPE)
        saving = Saving(tmp_path, every=0) if kept else None
        write, left, one_at_a_time = os.pwrite, [8_000], threading.Lock()

        def little(file: int, data: Any, at: int) -> int:
            """Like a disk with so many bytes left: what still fits is written."""
            with one_at_a_time:
                if left[0] == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                written = write(file, data[: left[0]], at)
                left[0] -= written
                return written

        monkeypatch.setattr(os, "pwrite", little)
        reached = compiled.explore(instance, threads=threads, memory=1, saving=saving)
        assert reached.stopped.startswith("stopped by the disk (No space left on device, '")
        assert 1 < reached.state_count < 1512
        for number in range(threads):
            for place in range(reached.parts[number].count):
                reached.path(place * threads + number)  # every state still has a run
        monkeypatch.setattr(os, "pwrite", write)
        del reached
        whole = everything(compiled.explore(instance, threads=threads))
        assert everything(compiled.explore(instance, threads=threads, memory=1, saving=saving)) == whole


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


LARGE = ["explore", "hived", "--scope", "PodGroup=5,Cell=4", "--no-symmetry", "--counts-only"]


class TestCommand:
    """The same from outside."""

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("number", "why"), thinned([(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")], 2)
    )
    def test_a_signal_ends_it_with_what_was_found(self, number: int, why: str, tmp_path: Path) -> None:
        json_file = tmp_path / "found.json"
        command = [
            sys.executable,
            "-P",
            "-m",
            "schedproof",
            *("PodGroup=6,Cell=6" if "=" in each else each for each in LARGE),
            "--json",
            str(json_file),
        ]
        process = subprocess.Popen(
            [*command, "--checkpoint", str(tmp_path / "kept")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until(lambda: any(tmp_path.glob("kept/*/lock")))
        time.sleep(1)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 3
        assert f"{why}: at least " in out and "Traceback" not in err
        assert "the same command resumes it" in err
        assert json.loads(json_file.read_text())["stopped"] == why
        assert list(tmp_path.glob("kept/*/checkpoint.json"))

    @pytest.mark.long
    def test_killed_again_and_again_it_comes_to_the_same_end(self, tmp_path: Path) -> None:
        command = [sys.executable, "-P", "-m", "schedproof", *LARGE]
        json_file = tmp_path / "found.json"
        command += ["--checkpoint", str(tmp_path / "kept"), "--checkpoint-every", "0", "--json", str(json_file)]
        kills, dice = 0, random.Random(1)
        while True:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            seen = sorted(stamp(p) for p in tmp_path.glob("kept/*/checkpoint.json"))
            if kills < 3:
                until(lambda: sorted(stamp(p) for p in tmp_path.glob("kept/*/checkpoint.json")) != seen)  # noqa: B023
                time.sleep(dice.random() / 5)
                process.kill()
                kills += 1
            _, err = process.communicate(timeout=300)
            assert process.returncode in (0, -signal.SIGKILL), err
            if process.returncode == 0:
                break
        result = json.loads(json_file.read_text())
        assert (result["states"], result["complete"]) == (724_198, True)
        assert result["transitions"] == 6_706_257

    def test_what_ends_while_properties_are_checked_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The states are counted by then, and that is not all that was asked for."""
        ask = halted(12)
        monkeypatch.setattr(explore_command, "stoppable", lambda: nullcontext(ask))
        arguments = ["explore", "hived", "--no-symmetry", "--checkpoint", str(tmp_path / "kept")]
        assert main([*arguments, "--json", str(tmp_path / "found.json")]) == 3
        result, printed = json.loads((tmp_path / "found.json").read_text()), capsys.readouterr()
        assert (result["complete"], result["states"], result["stopped"]) == (True, 1512, "interrupted")
        assert "interrupted while properties were checked" in printed.out
        assert "the same command resumes it" in printed.err

    @pytest.mark.long
    def test_a_file_that_may_not_grow(self, tmp_path: Path) -> None:
        def little() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        command = [sys.executable, "-P", "-m", "schedproof", *LARGE, "--checkpoint", str(tmp_path / "kept")]
        done = run(command, preexec_fn=little)
        assert done.returncode == 3
        assert "stopped by the disk (File too large" in done.stdout and "Traceback" not in done.stderr

    def test_wrong_use(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explore", "hived", "--engine", "interpreted", "--checkpoint", str(tmp_path)]) == 2
        assert "--checkpoint: the interpreter cannot save its progress" in capsys.readouterr().err
        assert main(["explore", "hived", "--memory", "9" * 400]) == 2
        assert "is not an amount of memory; write, for example, 500M" in capsys.readouterr().err
        for every in ("nan", "inf"):
            assert main(["explore", "hived", "--checkpoint", str(tmp_path), "--checkpoint-every", every]) == 2
            assert f"--checkpoint-every: {every} is not a finite number" in capsys.readouterr().err
        assert main(["explore", "hived", "--checkpoint-every", "5"]) == 2
        assert "--checkpoint-every: has no effect without --checkpoint" in capsys.readouterr().err
        assert main(["explore", "hived", "--checkpoint", "/dev/null/x"]) == 2
        assert "cannot write checkpoints to '/dev/null/x'" in capsys.readouterr().err


def stamp(path: Path) -> int:
    """When it was written; 0 if it is not there."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def until(true: Callable[[], bool]) -> None:
    """Waits."""
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)

"""Searches by workers, without Ray: the same numbers and verdicts as in one process, also after workers were lost."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import random
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from schedproof.model.semantics import Instance, instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.checking import engine
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.cluster import Address, RemoteWorkers, worker
from schedproof.proofs.compiled.files import Column
from schedproof.proofs.compiled.table import entry
from schedproof.proofs.exploration import limits
from schedproof.proofs.exploration.limits import CheckpointError, LostWorker, Saving
from schedproof.proofs.verdict import Verdict
from tests.proofs.cluster.local_hosts import LocalHosts
from tests.proofs.cluster.same import VARIANTS, assert_same_numbers, end_of, numbers, smallest, verdicts
from tests.support.elections import ELECTION
from tests.support.rows import each_row
from tests.support.sample import seed_of_today, thinned, todays


def hived(groups: int = 3, cells: int = 3) -> Instance:
    """An instance of HiveD."""
    [instance] = instances(AS_WRITTEN, {"PodGroup": groups, "Cell": cells})
    return instance


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets of a few states, so that a depth takes many turns; and few states are remembered, so that others replace them."""
    monkeypatch.setattr(worker, "BATCH", 64 * 24)
    monkeypatch.setattr(worker, "LATELY", 64 * 24)


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "variant"), thinned(VARIANTS, len(VARIANTS), first=VARIANTS.index(("hived", "as-written")))
)
def test_the_same_verdicts_of_every_variant(system: str, variant: str) -> None:
    model, instance = smallest(system, variant)
    workers = RemoteWorkers(LocalHosts(2))
    assert_same_numbers(instance, workers)
    assert verdicts(model, workers=workers) == verdicts(model)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.usefixtures("small_batches")
def test_any_number_of_workers_finds_the_same(count: int, symmetry: bool) -> None:
    reached = assert_same_numbers(hived(), RemoteWorkers(LocalHosts(count)), symmetry=symmetry)
    assert sum(part.count for part in reached.parts) == reached.representatives
    assert all(part.count for part in reached.parts)


@pytest.mark.long
def test_the_graph_is_that_of_one_process() -> None:
    spread = compiled.graph_of(compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(3))))
    alone = compiled.graph_of(compiled.explore(hived()))
    for one, other in ((spread.words, alone.words), (spread.targets, alone.targets), (spread.offsets, alone.offsets)):
        assert (one == other).all()


@pytest.mark.long
def test_integers_are_cut_by_workers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = RemoteWorkers(LocalHosts(3))
    [instance] = instances(ELECTION, {"Node": 3})
    assert assert_same_numbers(instance, workers).frontier_count > 10
    assert verdicts(ELECTION, workers=workers) == verdicts(ELECTION)
    # They keep no graph of it: its steps beyond the bound would be missing.
    monkeypatch.setattr(engine, "GATHERED", 0)
    kept = {
        name: note for name, verdict, _, note, _ in verdicts(ELECTION, workers=workers) if verdict == "undetermined"
    }
    assert kept == {
        "elected": "the workers of a cluster keep a graph without the steps beyond the bounds of integers; give smaller bounds"
    }


# --- What is not sent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_place", [False, True])
def test_only_states_that_were_sent_are_withheld(in_place: bool) -> None:
    """Beside a set; states that differ in any word are sent. A part's own bucket is its own output."""
    rng = random.Random(seed_of_today("withheld"))
    words, slots = 3, 8
    recent, sent = np.zeros(slots * words, np.uint64), set[tuple[int, ...]]()
    withheld = 0
    for _ in range(200):
        rows = [tuple(rng.randrange(1, 3) for _ in range(words)) for _ in range(rng.randrange(8))]
        values = np.array([row[0] for row in rows], np.uint64)
        states = np.array([n for row in rows for n in row], np.uint64)
        whence = np.arange(len(rows), dtype=np.uint64)
        out, out_whence = np.zeros((len(rows) + 1) * words, np.uint64), np.full(len(rows) + 1, 99, np.uint64)
        first = 0 if in_place else 1
        if in_place:
            out, out_whence = states, whence
        filled = worker.withhold(values, states, whence, len(rows), words, recent, out, out_whence, first)
        kept = [tuple(int(n) for n in out[i * words : (i + 1) * words]) for i in range(first, filled)]
        assert [rows[int(i)] for i in out_whence[first:filled]] == kept
        assert in_place or out_whence[0] == 99, "what was there is kept"
        assert set(rows) <= sent | set(kept)
        sent |= set(kept)
        withheld += len(rows) - len(kept)
    assert withheld > 100


def test_what_arrives_is_read_where_it_is() -> None:
    """Unless compiled code cannot read it there, since it does not begin at a whole word."""
    data = bytearray(8 * 4 + 1)
    for at in (0, 1):
        arrived = np.frombuffer(data, np.uint64, 4, at)
        arrived[:] = range(4)
        arrived.flags.writeable = False
        array = worker._as_writable(arrived)
        assert array.flags.writeable
        assert array.flags.aligned
        assert (array.ctypes.data == arrived.ctypes.data) is arrived.flags.aligned
        assert array.tolist() == [0, 1, 2, 3]
    assert len(worker._as_writable(np.empty(0, np.uint64))) == 0


def _by_entry_only(
    values: Any, states: Any, whence: Any, end: int, words: int, recent: Any, out_states: Any, out_whence: Any, filled: int
) -> int:  # fmt: skip
    """Seeded: takes states for the same whose remainders are."""
    for i in range(end):
        at = int(values[i] % np.uint64(64)) * words
        if recent[at] == 0:
            recent[at] = 1
            out_states[filled * words : (filled + 1) * words] = states[i * words : (i + 1) * words]
            out_whence[filled] = whence[i]
            filled += 1
    return filled


def test_entries_are_computed_from_states() -> None:
    """As the sender had them: of one word and of three."""
    rng = np.random.default_rng(0)
    for words in (1, 3):
        states = rng.integers(0, 1 << 62, 5 * words, dtype=np.uint64)
        values = np.zeros(5, np.uint64)
        worker.entries(states, words, values)
        assert values.tolist() == [int(entry(states, i * words, words)) for i in range(5)]


def test_a_filter_that_confuses_states_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "withhold", _by_entry_only)
    with pytest.raises(AssertionError):
        assert_same_numbers(hived(), RemoteWorkers(LocalHosts(2)))


# --- Workers that are lost ---------------------------------------------------------------------------------------------


def calls_of_a_search(folder: Path) -> int:
    """How many calls a search with checkpoints makes."""
    hosts = LocalHosts(2)
    compiled.explore(hived(), workers=RemoteWorkers(hosts), saving=Saving(folder / "all", 0))
    return hosts.calls


@pytest.mark.parametrize("times", [3, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.usefixtures("small_batches")
def test_two_lost_workers_change_no_number(times: int, tmp_path: Path) -> None:
    """At moments drawn for today."""
    rng, alone, calls = (
        random.Random(seed_of_today("lost")),
        numbers(compiled.explore(hived())),
        calls_of_a_search(tmp_path),
    )
    for n in range(times):
        hosts, notes = LocalHosts(2, rng.sample(range(5, calls), 2)), list[str]()
        workers = RemoteWorkers(hosts, notes.append)
        reached = compiled.explore(hived(), workers=workers, saving=Saving(tmp_path / str(n), 0))
        assert numbers(reached) == alone
        assert hosts.replaced == len(notes) >= 1
        assert all("goes on from the last checkpoint" in line for line in notes)


@pytest.mark.long(seconds=10)
@pytest.mark.usefixtures("small_batches")
def test_a_worker_lost_at_any_call_changes_no_number(tmp_path: Path) -> None:
    alone, calls = numbers(compiled.explore(hived())), calls_of_a_search(tmp_path)
    for call in todays(range(3, calls + 1), 3):
        hosts = LocalHosts(2, [call])
        reached = compiled.explore(hived(), workers=RemoteWorkers(hosts), saving=Saving(tmp_path / str(call), 0))
        assert numbers(reached) == alone, call
        assert hosts.replaced == 1


@pytest.mark.long
def test_what_was_sent_is_forgotten_with_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded: a worker that still knows what it has sent does not send it to the new one."""
    kept: list[Any] = []
    right = worker.PartWorker.__init__

    def init(self: Any, task: worker.Task) -> None:
        right(self, task)
        if len(kept) < 2:
            kept.append(self._recent)
        self._recent = kept[task.me]

    monkeypatch.setattr(worker.PartWorker, "__init__", init)
    workers = RemoteWorkers(LocalHosts(2, [40]))
    reached = compiled.explore(hived(), workers=workers, saving=Saving(tmp_path, 0))
    assert numbers(reached) != numbers(compiled.explore(hived()))


def test_without_a_checkpoint_a_lost_worker_ends_the_search() -> None:
    with pytest.raises(LostWorker, match=r"^worker [12] of 2 was lost, and .* with --checkpoint DIRECTORY"):
        compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(2, [30])))


def test_workers_that_are_lost_again_and_again_end_it(tmp_path: Path) -> None:
    hosts = LocalHosts(2, range(30, 200))
    with pytest.raises(LostWorker, match="this happened 4 times since the last checkpoint"):
        compiled.explore(hived(), workers=RemoteWorkers(hosts), saving=Saving(tmp_path, 1000))
    reached = compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(2)), saving=Saving(tmp_path, 1000))
    assert numbers(reached) == numbers(compiled.explore(hived()))


def test_a_full_disk_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a worker, too; and with more room the search goes on."""
    writes, right = itertools.count(), Column.add

    def add(self: Column, numbers: Any) -> None:
        if next(writes) > 30:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        right(self, numbers)

    with monkeypatch.context() as patch:
        patch.setattr(Column, "add", add)
        reached = compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(2)), saving=Saving(tmp_path, 0))
    assert reached.stopped.startswith("stopped by the disk (No space left on device, '")
    assert not reached.complete
    resumed = compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(2)), saving=Saving(tmp_path, 0))
    assert numbers(resumed) == numbers(compiled.explore(hived()))


def test_a_search_in_one_process_goes_on_with_workers(tmp_path: Path) -> None:
    """The parts are the same, so are their files."""
    first = compiled.explore(hived(), threads=2, saving=Saving(tmp_path, 0), limit=100)
    assert not first.complete
    reached = compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(2)), saving=Saving(tmp_path, 0))
    assert numbers(reached) == numbers(compiled.explore(hived()))
    with pytest.raises(CheckpointError, match="was written by 2 threads or workers; go on with as many"):
        compiled.explore(hived(), workers=RemoteWorkers(LocalHosts(3)), saving=Saving(tmp_path, 0))


def test_states_are_freed_with_the_result() -> None:
    """When the next search begins."""
    hosts = LocalHosts(2)
    workers = RemoteWorkers(hosts)
    kept = compiled.explore(hived(), workers=workers)
    freed = compiled.explore(hived(), workers=workers)
    assert hosts.searches(0) == hosts.searches(1) == [0, 1]
    del freed
    gc.collect()
    compiled.explore(hived(), workers=workers)
    assert hosts.searches(0) == hosts.searches(1) == [0, 2]
    assert kept.path(0) is not None


# --- Bounded memory ------------------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """States get as little memory as can be; returns the folder of temporary files."""
    monkeypatch.setattr(limits, "LEAST", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("symmetry", thinned([True, False], 2))
@pytest.mark.parametrize("count", thinned([2, 1], 2))
@pytest.mark.usefixtures("small_batches")
def test_states_that_do_not_fit_go_to_files(count: int, symmetry: bool, few: Path) -> None:
    """Which have no names: a killed worker leaves nothing behind."""
    instance = hived(4, 4)
    alone = compiled.explore(instance, symmetry=symmetry)
    reached = compiled.explore(instance, symmetry=symmetry, workers=RemoteWorkers(LocalHosts(count)), memory=1)
    assert not reached.in_memory
    assert numbers(reached) == numbers(alone)
    assert list(few.iterdir()) == []
    for me, part in enumerate(reached.parts):
        for place in range(0, part.count, max(1, part.count // 5)):
            run = reached.path(place * count + me)
            assert len(run) == reached._depth(place * count + me)
            end_of(instance, run)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_remembered_is_memory_that_is_used(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of HiveD, whose states have one word."""
    used: dict[int, int] = {}
    for most in (1 << 13, 1 << 24):
        monkeypatch.setattr(worker, "LATELY", most)
        monkeypatch.setattr(worker, "room", lambda memory, bytes_, most=most: used.setdefault(most, bytes_))
        monkeypatch.setattr(
            worker.psutil, "Process", lambda: SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=0))
        )
        RemoteWorkers(LocalHosts(count)).crew(compiled.explore(hived()).program, None, None, 1 << 30)
    assert used[1 << 24] - used[1 << 13] == (1 << 24) - (1 << 13)


@pytest.mark.parametrize("words", [1, 2, 3, 4, 7, 8, 1 << 23])
def test_what_is_remembered_has_a_limit_for_states_of_any_width(words: int) -> None:
    """By halves: a state's place is found by a mask. Of a state that is wider than the memory one is remembered."""
    states = worker.remembered_states(words)
    assert states & (states - 1) == 0
    assert states == 1 or 8 * words * states <= worker.LATELY
    assert 8 * words * 2 * states > worker.LATELY


@pytest.mark.long
@pytest.mark.usefixtures("small_batches", "few")
def test_lost_workers_change_no_number_on_files_either(tmp_path: Path) -> None:
    notes = list[str]()
    workers = RemoteWorkers(LocalHosts(2, [40, 90]), notes.append)
    reached = compiled.explore(hived(4, 4), workers=workers, saving=Saving(tmp_path / "kept", 0), memory=1)
    assert len(notes) == 2
    assert not reached.in_memory
    assert numbers(reached) == numbers(compiled.explore(hived(4, 4)))


@pytest.mark.usefixtures("few")
@pytest.mark.long
def test_a_search_that_stops_counts_no_state_twice() -> None:
    """States that were not compared with the files may be known before: they do not count."""
    whole = compiled.explore(hived(4, 4))
    reached = compiled.explore(hived(4, 4), workers=RemoteWorkers(LocalHosts(2)), memory=1, limit=20_000)
    assert not reached.complete
    known = {
        end_of(hived(4, 4), reached.path(place * 2 + me))
        for me in (0, 1)
        for place in range(0, reached.parts[me].count, 50)
    }
    assert len(known) == sum(len(range(0, part.count, 50)) for part in reached.parts)
    assert reached.state_count < whole.state_count


@pytest.mark.usefixtures("few")
def test_the_full_graph_needs_states_in_memory() -> None:
    """Properties of states and steps need them nowhere."""
    scope, names = {"PodGroup": 4, "Cell": 4}, ["free-cell", "preempting-ends"]
    how = Exploring(Engine.COMPILED, symmetry=False, workers=RemoteWorkers(LocalHosts(2)), memory=1)
    safe, live = model_check(AS_WRITTEN, scope, only=names, how=how)
    [expected] = model_check(AS_WRITTEN, scope, only=names[:1], how=Exploring(Engine.COMPILED))
    assert safe.verdict is expected.verdict
    assert live.verdict is Verdict.UNDETERMINED
    assert live.note == (
        "all 77,356 states were explored, but the full graph needs them in memory, and some are in files; give each worker "
        "more memory, or add workers"
    )


# --- Addresses -----------------------------------------------------------------------------------------------------------


@each_row(
    ("text", "address"),
    [
        ("local", Address()), ("local:2", Address(workers=2)), ("ray-head:6379", Address("ray-head", 6379)),
        ("192.0.2.10:1", Address("192.0.2.10", 1)), ("[2001:db8::1]:6379", Address("2001:db8::1", 6379)),
    ],
)  # fmt: skip
def test_addresses(text: str, address: Address) -> None:
    assert Address.of(text) == address
    assert str(address) == text

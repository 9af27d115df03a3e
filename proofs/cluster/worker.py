"""A worker: a process that has one part of each search, with the compiled steps, and exchanges buckets with the others."""

from __future__ import annotations

import ctypes
import hashlib
import os
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

import schedproof
from schedproof.proofs.compiled.crew import Optimized
from schedproof.proofs.compiled.kernel import AHEAD
from schedproof.proofs.compiled.layout import Words
from schedproof.proofs.compiled.llvm import Machine
from schedproof.proofs.compiled.part import Disk, Part, Saved, room_of
from schedproof.proofs.compiled.quotient import Quotient
from schedproof.proofs.compiled.steps import Shape
from schedproof.proofs.compiled.table import U, entry, prefetch
from schedproof.proofs.exploration.limits import LostWorker, room
from schedproof.proofs.inner_loops import inner_loop

from .graph_part import GraphPart
from .load import WorkerStanding
from .room import Room

BATCH = 4 << 20
"""A worker sends its buckets when one has this many bytes, or when no state is left: small messages cost more a byte."""

LATELY = 64 << 20
"""The bytes in which a worker remembers states that it has sent or taken. With more of them it sends fewer bytes."""

ENGINE = "cluster", "compiled", "exploration"
"""The folders with the code that workers run."""

Bucket = tuple[Words, NDArray[np.uint64]]
"""States and predecessors, as :func:`schedproof.proofs.compiled.kernel.expand` writes them. The receiver computes the entries."""


@dataclass(frozen=True)
class Task:
    """A worker's part of a search, to be sent to it: it needs no model.

    Args:
        text: the function ``steps`` as LLVM assembly.
        shape: the sizes of its arrays.
        parts, me: the number of parts, and which one this is.
        quotient: the renamings; None without symmetry.
        folder: the folder for checkpoints; None without them.
        memory: the bytes that the process may use; None for no limit.
    """

    text: str
    shape: Shape
    parts: int
    me: int
    quotient: Quotient | None
    folder: Path | None
    memory: int | None = None


@dataclass(frozen=True)
class Tally:
    """What is known of a part without its states; the attributes are those of :class:`Part`.

    Attributes:
        spilled: whether some states are only in files.
        sent, withheld: the bytes sent to other workers, and the states that were not sent since they had been sent lately.
    """

    count: int
    base: int
    size: int
    starts: Sequence[int]
    totals: Sequence[int]
    seen: NDArray[np.int64]
    memory: int
    spilled: bool
    sent: int
    withheld: int


class PartWorker:
    """One part of one search.

    Raises:
        OSError: the files of the part cannot be made.
    """

    def __init__(self, task: Task) -> None:
        words, self._me = task.shape.words, task.me
        self._each = 8 * (words + 1)
        self._memory = task.memory
        remembered = remembered_states(words) * words
        room_out = BATCH // self._each + room_of(task.shape, task.parts)
        used = psutil.Process().memory_info().rss + (task.parts - 1) * room_out * self._each + 8 * remembered
        self._part = Part(
            task.shape,
            task.parts,
            task.me,
            # What arrives can only be read, and a quotient has a buffer.
            None if task.quotient is None else Quotient(*(_writable(each) for each in task.quotient)),
            disk=None if task.folder is None else Disk.at(task.folder, task.me, words),
            budget=None if task.memory is None else room(task.memory, used),
            folder=lambda: Path(tempfile.gettempdir()),
            files_kept=False,
        )
        self._code = Optimized(task.text, lambda states: Machine([task.text], states=states))
        self._at = 0
        self._recent: Words = np.zeros(remembered, np.uint64)
        # By part, what is to be sent. The buckets of the part are smaller, and stay in the processor's cache.
        self._out = [
            (np.empty(room_out * words, np.uint64), np.empty(room_out, np.uint64))
            if q != task.me
            else (np.empty(0, np.uint64), np.empty(0, np.uint64))
            for q in range(task.parts)
        ]
        self._sent = self._withheld = 0
        self._seconds = 0.0

    def begin(self, value: int, state: Words) -> None:
        """Takes the initial state, whose table entry is ``value``."""
        self._part.take(np.array([value], np.uint64), _writable(state), np.zeros(1, np.uint64), 1)

    def expand(self, states: int, *arrived: Bucket) -> tuple[Bucket | WorkerStanding | None, ...]:
        """Takes buckets that have arrived, and expands states until a bucket has ``BATCH`` bytes.

        Returns:
            For each part its bucket, None for the worker itself; and at the end the standing.
        """
        began = time.perf_counter()
        self._take(arrived)
        part, address, me = self._part, self._code.address(states), self._me
        counts, others = part.counts[0], [q for q in range(part.parts) if q != me]
        filled = [0] * part.parts
        while self._at < part.size and max(filled) * self._each < BATCH:
            counts[:] = 0
            self._at = part.expand(address, self._at, 0)
            self._take_own(counts[me])
            for q in others:
                before = filled[q]
                filled[q] = withhold(
                    part.values[0, q], part.states[0, q], part.whence[0, q], counts[q], part.shape.words, self._recent,
                    *self._out[q], before,
                )  # fmt: skip
                self._withheld += int(counts[q]) - (filled[q] - before)
        self._sent += sum(filled) * self._each
        buckets = (None if q == me else self._bucket(q, filled[q]) for q in range(part.parts))
        self._seconds += time.perf_counter() - began
        return (*buckets, self._standing)

    @property
    def _standing(self) -> WorkerStanding:
        return WorkerStanding.by(self._part, self._at, self._sent, self._seconds)

    def _bucket(self, q: int, count: int) -> Bucket:
        states, whence = self._out[q]
        return states[: count * self._part.shape.words], whence[:count]

    def _take_own(self, count: int) -> None:
        """Takes the part's own bucket. Most of its states were taken lately, and the memory is smaller than the table."""
        part, words = self._part, self._part.shape.words
        values, states, whence = part.values[0, self._me], part.states[0, self._me], part.whence[0, self._me]
        new = withhold(values, states, whence, count, words, self._recent, states, whence, 0)
        entries(states, words, values[:new])
        part.take(values, states, whence, new)

    def _take(self, arrived: Sequence[Bucket]) -> None:
        for sent, whence in arrived:
            states, values = _as_writable(sent), np.empty(len(whence), np.uint64)
            entries(states, self._part.shape.words, values)
            self._part.take(values, states, _as_writable(whence), len(whence))

    def settle(self, *arrived: Bucket) -> None:
        """Takes the last buckets of a depth, and makes the counts exact."""
        self._take(arrived)
        self._part.settle()

    def deepen(self) -> WorkerStanding:
        """Begins the next depth."""
        self._part.deepen()
        self._at = 0
        return self._standing

    def save(self) -> Saved:
        """The progress, when all is settled."""
        return self._part.save(self._at)

    def restore(self, saved: Saved) -> WorkerStanding:
        """Goes back to a saved progress; the part is new, and so are the states that it remembers to have sent."""
        self._part.restore(saved)
        self._at = saved.at
        return self._standing

    def room(self, life: int) -> Room:
        """The memory for a graph; ``life`` is the number of states of the longest life cycle."""
        return Room.of(self._part, self._memory, life)

    def link(self, text: str, shape: Shape, states: int) -> None:
        """Begins the graph of a complete search; arguments as for :class:`.graph_part.GraphPart`."""
        self._graph = GraphPart(self._part, text, shape, states)

    def graph(self, method: str, *arguments: Any) -> Any:
        """Calls a method of the part of the graph."""
        return getattr(self._graph, method)(*arguments)

    def tally(self) -> Tally:
        """What is known of the part without its states."""
        p = self._part
        return Tally(
            p.count,
            p.base,
            p.size,
            list(p.starts),
            list(p.totals),
            p.seen.copy(),
            p.memory,
            p.spilled,
            self._sent,
            self._withheld,
        )

    def drop_uncompared(self) -> None:
        """See :meth:`Part.drop_uncompared`."""
        self._part.drop_uncompared()

    def origin(self, place: int) -> tuple[int, int]:
        """See :meth:`Part.origin`."""
        return self._part.origin(place)

    def table_size(self) -> tuple[int, int]:
        """The length of the table's array, and its number of places."""
        keys, places = self._part.table()
        return len(keys), places

    def table_rows(self, first: int, last: int) -> Words:
        """A section of the table's array."""
        return self._part.table()[0][first:last]


class Host:
    """The object that runs in a worker's process: its parts by search."""

    def __init__(self) -> None:
        self._searches: dict[int, PartWorker] = {}

    def fingerprint(self) -> str:
        """See :func:`fingerprint`."""
        return fingerprint()

    def introduction(self) -> tuple[str, str]:
        """Its fingerprint; and its process and machine, to find what it logs."""
        return fingerprint(), f"process {os.getpid()} on {socket.gethostname()}"

    def perform(self, function: Callable[[Any], Any], task: Any) -> Any:
        """What a function answers to a task that needs no states."""
        return function(task)

    def open(self, search: int, task: Task, ended: Sequence[int] = ()) -> None:
        """Begins a search, or begins it anew, and frees those that ``ended``."""
        for number in (search, *ended):
            self._searches.pop(number, None)  # before a new part takes its memory
        self._searches[search] = PartWorker(task)

    def do(self, search: int, method: str, *arguments: Any) -> Any:
        """Calls a method of the part of a search.

        Raises:
            LostWorker: the part was in a process that was lost.
        """
        if search not in self._searches:
            raise LostWorker("the states of an earlier search were lost with a worker; run the command again")
        return getattr(self._searches[search], method)(*arguments)


@cache
def fingerprint() -> str:
    """A hash of the version and of all code that workers run: it must be the same in all of them."""
    digest = hashlib.sha256(schedproof.__version__.encode())
    proofs = Path(__file__).parent.parent
    folders = (sorted((proofs / name).glob("*.py")) for name in ENGINE)
    for path in (proofs / "inner_loops.py", *(path for its in folders for path in its)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def remembered_states(words: int) -> int:
    """The number of states of some words that fit in :data:`LATELY` bytes, as a power of two, and at least 1."""
    return 1 << (max(1, LATELY // (8 * words)).bit_length() - 1)


def _writable(array: Any) -> Any:
    """A copy of an array; other values are returned as they are."""
    return np.array(array) if isinstance(array, np.ndarray) else array


def _as_writable(array: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same memory as an array that can be written, for compiled code, which is made for such arrays and only reads it."""
    if not len(array) or not array.flags.aligned:
        return np.array(array)
    return np.ctypeslib.as_array((ctypes.c_uint64 * len(array)).from_address(array.ctypes.data))


@inner_loop
def entries(states: Any, words: int, values: Any) -> None:
    """Computes the table entries of states."""
    for i in range(len(values)):
        values[i] = entry(states, i * words, words)


@inner_loop
def withhold(
    values: Any, states: Any, whence: Any, end: int, words: int, recent: Any, out_states: Any, out_whence: Any, filled: int
) -> int:  # fmt: skip
    """Adds the rows of a bucket to what is to be sent or taken, except states that were so lately, and remembers those.

    The memory keeps one state for each remainder of entries; its number of states is a power of two. Whole states are compared,
    so only a state that its owner knows, or is about to take, is left out.

    Args:
        values, states, whence: the bucket, of which the first ``end`` rows count.
        recent: the memory.
        out_states, out_whence: the result, of which ``filled`` rows exist; the bucket itself if there are none.

    Returns:
        The number of rows of the result.
    """
    last = U(len(recent) // words - 1)
    for i in range(end):
        if i + AHEAD < end:
            prefetch(recent, (values[i + AHEAD] & last) * U(words))
        at = np.int64(values[i] & last) * words
        same = recent[at] == values[i]
        for k in range(1, words):
            same = same and recent[at + k] == states[i * words + k]
        if same:
            continue
        recent[at] = values[i]
        for k in range(1, words):
            recent[at + k] = states[i * words + k]
        for k in range(words):
            out_states[filled * words + k] = states[i * words + k]
        out_whence[filled] = whence[i]
        filled += 1
    return filled

"""Files for states that do not fit into memory: columns in the order of discovery, and sorted runs of table entries."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.inner_loops import inner_loop

from .layout import Words
from .table import U, entry, place_of

AT_ONCE = 1 << 16
"""The number of rows per read."""


class Damaged(OSError):
    """A file does not contain the data that was written to it."""


@dataclass(frozen=True)
class Mark:
    """The end of a column at some time, and the CRC-32 checksum of its content up to there."""

    end: int
    checksum: int


class Column:
    """An append-only array in a file.

    Args:
        kind: the type of its numbers.
        width: the numbers in a row.
        first: the number of its first row.
        kept: the file stays after this process; otherwise it has no name, and is gone however the process ends.
    """

    def __init__(
        self, path: Path, kind: type[np.generic], width: int = 1, first: int = 0, *, kept: bool = True
    ) -> None:
        self.path, self.end = path, first
        self._kind, self._width, self._first = np.dtype(kind), width, first
        self._checksum = 0
        if kept:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        else:
            with tempfile.TemporaryFile(dir=path.parent, buffering=0) as file:
                self._file = os.dup(file.fileno())

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            os.close(self._file)

    @property
    def mark(self) -> Mark:
        """The present end and checksum."""
        return Mark(self.end, self._checksum)

    def add(self, numbers: NDArray[Any]) -> None:
        """Appends rows.

        Raises:
            OSError: the disk is full or cannot be written; the number of rows is then unchanged.
        """
        if not numbers.size:
            return
        left, at = numbers.data.cast("B"), self._place(self.end)
        checksum = zlib.crc32(left, self._checksum)
        while left:
            try:
                written = os.pwrite(self._file, left, at)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            if written == 0:
                raise OSError(errno.EIO, "nothing is written", str(self.path))
            left, at = left[written:], at + written
        self._checksum = checksum
        self.end += numbers.size // self._width

    def read(self, first: int, last: int) -> NDArray[Any]:
        """The numbers of rows ``first`` to ``last`` (exclusive), as a flat array.

        Raises:
            Damaged: the file is too short.
        """
        numbers = np.empty((last - first) * self._width, self._kind)
        if not numbers.size:
            return numbers
        left, at = numbers.data.cast("B"), self._place(first)
        while left:
            count = os.preadv(self._file, [left], at)
            if count == 0:
                raise Damaged(f"'{self.path}' is too short")
            left, at = left[count:], at + count
        return numbers

    def back_to(self, mark: Mark) -> None:
        """Discards the rows after ``mark``.

        Raises:
            Damaged: the rows before ``mark`` are not what was written.
        """
        self.end, self._checksum = self._first, 0
        for first in range(self._first, mark.end, AT_ONCE):
            self.end = min(first + AT_ONCE, mark.end)
            self._checksum = zlib.crc32(self.read(first, self.end).data, self._checksum)
        if self.mark != mark:
            raise Damaged(f"'{self.path}' is not what was written")
        os.ftruncate(self._file, self._place(mark.end))

    def sync(self) -> None:
        """Forces the rows to disk, so that they survive a crash of the machine."""
        os.fsync(self._file)

    def _place(self, row: int) -> int:
        return (row - self._first) * self._width * self._kind.itemsize


class Scratch:
    """A temporary folder that is deleted with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="schedproof-"))
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, True)


class SortedRuns:
    """Table entries in sorted files.

    A new run merges with earlier runs that are at most twice as large, so their number stays small.

    Args:
        kept: as for :class:`Column`.
    """

    def __init__(self, folder: Path, part: int, words: int, *, kept: bool = True) -> None:
        self._folder, self._part, self._words, self._kept = folder, part, words, kept
        self._runs: list[Column] = []
        self._made = 0
        for left in folder.glob(f"run-{part}-*") if kept else ():  # left by a killed search
            left.unlink()

    def known(self, keys: Words, count: int) -> NDArray[np.bool_]:
        """For each of ``count`` sorted entries, whether a run contains it."""
        old = np.zeros(count, np.bool_)
        for run in self._runs:
            at = 0
            for chunk in _chunks(run):
                at = _find_known(keys, count, self._words, chunk, at, old)
        return old

    def add(self, keys: Words, count: int) -> None:
        """Adds a run of ``count`` sorted entries, none of which is in another run."""
        if not count:
            return
        new = self._new()
        new.add(keys[: count * self._words])
        while self._runs and self._runs[-1].end <= 2 * new.end:
            last, both = self._runs.pop(), self._new()
            for entries in _merged(last, new, self._words):
                both.add(entries)
            for one in (last, new):
                one.path.unlink(missing_ok=True)
            new = both
        self._runs.append(new)

    def remove(self) -> None:
        """Deletes all runs."""
        for run in self._runs:
            run.path.unlink(missing_ok=True)
        self._runs.clear()

    def _new(self) -> Column:
        self._made += 1
        return Column(self._folder / f"run-{self._part}-{self._made}", np.uint64, self._words, kept=self._kept)


def _chunks(run: Column) -> Iterator[Words]:
    for first in range(0, run.end, AT_ONCE):
        yield run.read(first, min(first + AT_ONCE, run.end))


def _merged(one: Column, other: Column, words: int) -> Iterator[Words]:
    """The entries of both columns, sorted."""
    ways, left = (_chunks(one), _chunks(other)), [np.empty((0, words), np.uint64) for _ in range(2)]
    while True:
        for i, way in enumerate(ways):
            if not len(left[i]):
                left[i] = next(way, left[i].reshape(-1)).reshape(-1, words)
        if not len(left[0]) or not len(left[1]):
            break
        last = min(rows[-1, 0] for rows in left)
        ends = [int(np.searchsorted(rows[:, 0], last, side="right")) for rows in left]
        both = np.concatenate([rows[:end] for rows, end in zip(left, ends, strict=True)])
        left = [rows[end:] for rows, end in zip(left, ends, strict=True)]
        yield both[np.argsort(both[:, 0], kind="stable")].reshape(-1)
    for rows, way in zip(left, ways, strict=True):
        if len(rows):
            yield np.ascontiguousarray(rows).reshape(-1)
        yield from way


@inner_loop
def _find_known(keys: Any, count: int, words: int, run: Any, at: int, old: Any) -> int:
    """Marks which of ``count`` sorted entries, from ``at`` on, a chunk of a run contains; returns where the next chunk starts."""
    for j in range(0, len(run), words):
        value = run[j]
        while at < count and keys[at * words] < value:
            at += 1
        i = at
        while i < count and keys[i * words] == value:
            same = True
            for k in range(1, words):
                if keys[i * words + k] != run[j + k]:
                    same = False
                    break
            if same:
                old[i] = True
            i += 1
    return at


@inner_loop
def squeeze(keys: Any, words: int) -> int:
    """Moves a table's entries together, in order; returns their number."""
    n = 0
    for i in range(0, len(keys), words):
        if keys[i] != 0:
            for k in range(words):
                keys[n + k] = keys[i + k]
            n += words
    return n // words


@inner_loop
def pick(keys: Any, count: int, words: int, old: Any) -> int:
    """Moves the entries that are not ``old`` together; returns their number."""
    n = 0
    for i in range(count):
        if not old[i]:
            for k in range(words):
                keys[n * words + k] = keys[i * words + k]
            n += 1
    return n


@inner_loop
def sift(
    keys: Any, count: int, words: int, parts: int, old: Any, states: Any, parents: Any, choices: Any, rows: int
) -> int:
    """Keeps the states that are not ``old``, out of ``rows`` states in the order of discovery.

    All of them are among the ``count`` sorted entries.

    Returns:
        The number of kept states.
    """
    n = 0
    for r in range(rows):
        value = entry(states, r * words, words)
        i = _rank(keys, count, words, value, np.int64(place_of(value, U(parts), U(count))))
        while True:
            same = True
            for k in range(1, words):
                if keys[i * words + k] != states[r * words + k]:
                    same = False
                    break
            if same:
                break
            i += 1
        if not old[i]:
            for k in range(words):
                states[n * words + k] = states[r * words + k]
            parents[n] = parents[r]
            choices[n] = choices[r]
            n += 1
    return n


@inner_loop
def _rank(keys: Any, count: int, words: int, value: Any, guess: int) -> int:
    """The index of the first sorted entry that is not less than ``value``, searched from ``guess``."""
    low, high, step = guess, guess, 1
    while low > 0 and keys[low * words] >= value:
        high = low
        low = max(0, low - step)
        step *= 2
    step = 1
    while high < count and keys[high * words] < value:
        low = high + 1
        high = min(count, high + step)
        step *= 2
    while low < high:
        middle = (low + high) // 2
        if keys[middle * words] < value:
            low = middle + 1
        else:
            high = middle
    return low

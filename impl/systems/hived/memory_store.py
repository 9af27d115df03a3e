"""A deterministic store for exploration: rows in a dictionary, and a hook around each write."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .store import PodRow, by_pod

Hook = Callable[[PodRow], None]


class Crash(BaseException):
    """What a hook raises to end the process at that point.

    Not an Exception: a dying process runs no error handling, so nothing may catch this by mistake.
    """


class InMemoryStore:
    """Rows that survive the scheduler but not the process of the test.

    ``before`` is called with the row before each write, ``after`` when it is durable; either may
    raise :class:`Crash`.
    """

    def __init__(self, before: Hook | None = None, after: Hook | None = None) -> None:
        self.before = before
        self.after = after
        self._rows: dict[tuple[str, str], PodRow] = {}

    def rows(self) -> Sequence[PodRow]:
        """All rows, by group and pod."""
        return by_pod(list(self._rows.values()))

    def put(self, row: PodRow) -> None:
        """Writes a row between the two hooks."""
        if self.before:
            self.before(row)
        self._write(row)
        if self.after:
            self.after(row)

    def _write(self, row: PodRow) -> None:
        self._rows[row.group, row.pod] = row

    def crash(self) -> None:
        """The process dies: nothing is lost, since nothing is buffered."""

    def snapshot(self) -> Hashable:
        """All that the store holds, as a value that can be compared and given to :meth:`restore`."""
        return frozenset(self._rows.values())

    def restore(self, snapshot: Any) -> None:
        """Goes back to what a snapshot holds."""
        self._rows = {(row.group, row.pod): row for row in snapshot}

"""The embedded store: one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from schedproof.impl.errors import Refused, StoreError

from .store import GroupSpec, Placement, PodRow, PodStatus, by_pod

SCHEMA = """
CREATE TABLE IF NOT EXISTS pod (
    pod_group  TEXT NOT NULL,
    pod        TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('submitted', 'bound', 'deleted')),
    spec       TEXT NOT NULL,
    placement  TEXT,
    PRIMARY KEY (pod_group, pod),
    CHECK ((status = 'bound') = (placement IS NOT NULL))
)
"""


class SqliteStore:
    """Pod rows in the SQLite file ``path``; each :meth:`put` is one transaction, synced to disk.

    Use it as a context manager, or call :meth:`close`.

    Raises:
        StoreError: ``path`` cannot be opened, or is not such a file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        with self._said("opened"):
            # Calls are sequential under the scheduler's lock, but may come from several threads.
            self._connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            with self._said("opened"):
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute(SCHEMA)
        except StoreError:
            self._connection.close()
            raise

    def rows(self) -> Sequence[PodRow]:
        """All rows, by group and pod.

        Raises:
            StoreError: the file cannot be read, or a row is not one that this class wrote.
        """
        with self._said("read"):
            found = self._connection.execute("SELECT pod_group, pod, status, spec, placement FROM pod").fetchall()
        return by_pod([self._row(*values) for values in found])

    def put(self, row: PodRow) -> None:
        """Writes a row; it is on disk when this returns.

        Raises:
            StoreError: the row is not written.
        """
        spec = json.dumps({"priority": row.spec.priority, "pods": row.spec.pods})
        placement = None if row.placement is None else json.dumps(row.placement)
        with self._said("written"):
            self._connection.execute(
                "INSERT OR REPLACE INTO pod VALUES (?, ?, ?, ?, ?)",
                (row.group, row.pod, row.status.value, spec, placement),
            )

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _row(self, group: str, pod: str, status: str, spec: str, placement: str | None) -> PodRow:
        try:
            said = json.loads(spec)
            cells: Placement | None = None
            if placement is not None:
                cells = tuple((str(name), tuple(str(c) for c in held)) for name, held in json.loads(placement))
            return PodRow(
                pod,
                PodStatus(status),
                GroupSpec(group, int(said["priority"]), tuple(str(name) for name in said["pods"])),
                cells,
            )
        except (ValueError, KeyError, TypeError, Refused) as error:
            raise StoreError(f"{self.path}: the row of pod {group}/{pod} cannot be read: {error}") from error

    @contextmanager
    def _said(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be {what}: {error}") from error

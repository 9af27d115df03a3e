"""The store on a database, SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import select

from schedproof.impl.errors import Contended, StoreError
from schedproof.impl.sql import IN_MEMORY, Database

from .records import Condition, Usage, World
from .sql_statements import SqlTransaction, read_world, replace_world
from .store import UsageEntry, now
from .tables import METADATA, SYSTEM_USAGE


class SqlStore(Database):
    """The records in the database at ``url`` (see :class:`..sql.Database`). ``clock`` tells the times of the system usage.

    Raises:
        StoreError: the URL is wrong, the database cannot be opened, or it was made by another version.
    """

    def __init__(self, url: str = IN_MEMORY, *, clock: Callable[[], datetime] = now) -> None:
        super().__init__(url, METADATA, failed=StoreError, contended=Contended)
        self._clock = clock

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """One transaction (see :class:`.store.Store`)."""
        with self.begun() as connection:
            yield SqlTransaction(connection, self._clock)

    def snapshot(self) -> World:
        """All records."""
        return self.read(lambda connection: read_world(connection, finished=True))

    def restore(self, snapshot: World) -> None:
        """Goes back to a snapshot; other clients see it happen at once."""
        with self.begun() as connection:
            replace_world(connection, snapshot, self._clock())

    def usage(self, system: str | None = None) -> Sequence[UsageEntry]:
        """The system usage of one system, or of all, oldest first."""
        entries = select(SYSTEM_USAGE).order_by(SYSTEM_USAGE.c.id)
        if system is not None:
            entries = entries.where(SYSTEM_USAGE.c.system == system)
        rows = self.read(lambda connection: connection.execute(entries).all())
        return [
            UsageEntry(
                row.system, Usage(row.usage), Condition(row.condition), _aware(row.started), _maybe(row.finished)
            )
            for row in rows
        ]


def _aware(at: datetime) -> datetime:
    """SQLite keeps no time zones; what is written there is UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _maybe(at: datetime | None) -> datetime | None:
    return None if at is None else _aware(at)

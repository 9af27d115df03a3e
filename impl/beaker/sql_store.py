"""The store on a database, through SQLAlchemy: SQLite, or PostgreSQL when the URL says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from threading import RLock
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from .errors import Contended, StoreError
from .records import Condition, Usage, World
from .sql_statements import SqlTransaction, read_world, replace_world
from .store import T, UsageEntry, now, retried
from .tables import METADATA, SYSTEM_USAGE

IN_MEMORY = "sqlite://"
BUSY_SECONDS = 30
"""How long a transaction on a SQLite file waits for another one to end."""


class SqlStore:
    """The records in the database at ``url``; the tables are made if they are not there.

    ``sqlite:///path`` is a file, ``sqlite://`` the memory of this process,
    ``postgresql://user@host/name`` a PostgreSQL database (with the extra ``postgresql``). Every
    transaction is serializable: on SQLite they come one after the other (BEGIN IMMEDIATE), on
    PostgreSQL one that would not fit any such order fails with Contended. Use it as a context
    manager, or call :meth:`close`. ``clock`` tells the times of the system usage.

    Raises:
        StoreError: the URL is wrong, or the database cannot be opened.
    """

    def __init__(self, url: str = IN_MEMORY, *, clock: Callable[[], datetime] = now) -> None:
        self._clock = clock
        where = _url(url)
        self.url = where.render_as_string(hide_password=True)
        shared = where.get_backend_name() == "sqlite" and where.database in (None, "", ":memory:")
        # A database in memory has one connection, so its transactions take turns here.
        self._turn: RLock | nullcontext[None] = RLock() if shared else nullcontext()
        try:
            self._engine = _engine(where, shared)
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreError(
                f"{self.url}: no driver for this kind of database ({error}); "
                "use sqlite:///file, or install schedproof[postgresql] for postgresql://..."
            ) from error
        try:
            with self._said("opened"):
                METADATA.create_all(self._engine)
        except StoreError:
            self._engine.dispose()
            raise

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """One transaction (see :class:`.store.Store`)."""
        with self._begun() as connection:
            yield SqlTransaction(connection, self._clock)

    def snapshot(self) -> World:
        """All records."""
        return self._read(lambda connection: read_world(connection, finished=True))

    def restore(self, snapshot: World) -> None:
        """Goes back to a snapshot; other clients see it happen at once."""
        with self._begun() as connection:
            replace_world(connection, snapshot, self._clock())

    def usage(self, system: str | None = None) -> Sequence[UsageEntry]:
        """The system usage of one system, or of all, oldest first."""
        entries = select(SYSTEM_USAGE).order_by(SYSTEM_USAGE.c.id)
        if system is not None:
            entries = entries.where(SYSTEM_USAGE.c.system == system)
        rows = self._read(lambda connection: connection.execute(entries).all())
        return [
            UsageEntry(
                row.system, Usage(row.usage), Condition(row.condition), _aware(row.started), _maybe(row.finished)
            )
            for row in rows
        ]

    def _read(self, read: Callable[[Connection], T]) -> T:
        def once() -> T:
            with self._begun() as connection:
                return read(connection)

        return retried(once)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _begun(self) -> Iterator[Connection]:
        with self._turn, self._said("used"), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _said(self, what: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            if isinstance(error, DBAPIError) and _is_contention(error):
                raise Contended(f"{self.url}: another transaction came in between; try again") from error
            cause = getattr(error, "orig", None) or error
            raise StoreError(f"{self.url} cannot be {what}: {cause}") from error


def _url(url: str) -> URL:
    try:
        where = make_url(url)
    except ArgumentError as error:
        raise StoreError(
            f"{url!r} is no database URL; give sqlite:///file, sqlite:// or postgresql://user@host/name"
        ) from error
    return where.set(drivername="postgresql+psycopg") if where.drivername == "postgresql" else where


def _engine(where: URL, shared: bool) -> Engine:
    if where.get_backend_name() != "sqlite":
        return create_engine(where, isolation_level="SERIALIZABLE")
    options: dict[str, Any] = {"poolclass": StaticPool} if shared else {}
    engine = create_engine(where, connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS}, **options)
    event.listen(engine, "connect", _opened)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def _opened(connection: Any, record: object) -> None:
    """Takes transactions out of the driver's hands, which would begin them too late."""
    connection.isolation_level = None
    for pragma in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _is_contention(error: DBAPIError) -> bool:
    if getattr(error.orig, "sqlstate", None) in ("40001", "40P01"):  # serialization failure, deadlock
        return True
    return "database is locked" in str(error.orig)


def _aware(at: datetime) -> datetime:
    """SQLite keeps no time zones; what is written there is UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _maybe(at: datetime | None) -> datetime | None:
    return None if at is None else _aware(at)

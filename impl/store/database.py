"""A database, through SQLAlchemy: SQLite or PostgreSQL, by its URL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from threading import RLock
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from schedproof.impl.errors import Contended, StoreError

from .retry import retried

IN_MEMORY = "sqlite://"
BUSY_SECONDS = 30
"""The seconds that a transaction on a SQLite file waits for another one to end."""

CLOSING_MILLISECONDS = 1000
"""The milliseconds that closing waits for readers of the SQLite file. Then they may go on with what is in the WAL."""

_SERIALIZATION, _DEADLOCK, _UNIQUE_VIOLATION = "40001", "40P01", "23505"
_DUPLICATE_TABLE, _DUPLICATE_OBJECT = "42P07", "42710"
CONTENTION = frozenset({_SERIALIZATION, _DEADLOCK, _UNIQUE_VIOLATION, _DUPLICATE_TABLE, _DUPLICATE_OBJECT})
"""PostgreSQL's error codes when another transaction was first to commit, to take a key, or to make the same tables."""


class Database:
    """The database at ``url`` with its ``tables``, which are created if missing.

    ``sqlite:///path`` is a file, ``sqlite://`` the memory of this process, ``postgresql://user@host/name`` a PostgreSQL
    database (with the extra ``postgresql``). Every transaction is serializable. SQLite runs them one after the other
    (BEGIN IMMEDIATE); on PostgreSQL a transaction that fits no such order raises Contended.

    Raises:
        StoreError: the URL is wrong, the database cannot be opened, or its tables have other columns; later, if it
            cannot be used.
    """

    def __init__(self, url: str, tables: MetaData) -> None:
        where = self._parsed(url)
        self.url = where.render_as_string(hide_password=True)
        self.in_memory = _is_in_memory(where)
        self._is_file = where.get_backend_name() == "sqlite" and not self.in_memory
        self._is_closed = False
        # A database in memory has one connection, so its transactions take turns here.
        self._turn: RLock | nullcontext[None] = RLock() if self.in_memory else nullcontext()
        with self._translated_errors("opened"):
            self._engine = _engine(where, self.in_memory)

        def opened() -> None:
            with self._translated_errors("opened"), self._engine.begin() as connection:
                self._expect_same_columns(connection, tables)
                tables.create_all(connection)

        try:
            retried(opened)
        except BaseException:  # an interrupt here leaves nothing in the WAL either
            self.close()
            raise

    @contextmanager
    def begun(self) -> Iterator[Connection]:
        """One transaction, committed at the end of the ``with`` block and rolled back by an exception."""
        if self._is_closed:
            raise StoreError(f"{self.url} cannot be used: it is closed")
        with self._turn, self._translated_errors("used"), self._engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Closes all connections, for good. Afterwards a SQLite file has all writes: its WAL is empty."""
        if self._is_file and not self._is_closed:
            # The last connection to a file does this by itself. If others have it open, this call does its part.
            with suppress(SQLAlchemyError, sqlite3.Error), closing(self._engine.raw_connection()) as connection:
                cursor = connection.cursor()
                cursor.execute(f"PRAGMA busy_timeout = {CLOSING_MILLISECONDS}")
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._is_closed = True
        self._engine.dispose()

    def _expect_same_columns(self, connection: Connection, tables: MetaData) -> None:
        """Refuses existing tables with other columns: they may be of an earlier version, or of another program."""
        inspector = inspect(connection)
        for table in tables.sorted_tables:
            if not inspector.has_table(table.name):
                continue
            actual_columns, expected_columns = (
                {column["name"] for column in inspector.get_columns(table.name)},
                set(table.columns.keys()),
            )
            if actual_columns != expected_columns:
                missing = "".join(f", without {name}" for name in sorted(expected_columns - actual_columns))
                extra = "".join(f", with {name}" for name in sorted(actual_columns - expected_columns))
                raise StoreError(
                    f"{self.url} was made by another version: it has a table {table.name}{missing}{extra}; give another database"
                )

    def _parsed(self, url: str) -> URL:
        try:
            where = make_url(url)
            where.render_as_string().encode()
        except (ArgumentError, ValueError) as error:
            raise StoreError(
                f"{url!r} is not a database URL; give sqlite:///file or postgresql://user@host/name"
            ) from error
        return where.set(drivername="postgresql+psycopg") if where.drivername == "postgresql" else where

    @contextmanager
    def _translated_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (ModuleNotFoundError, NoSuchModuleError) as error:
            raise StoreError(
                f"{self.url}: no driver for this kind of database ({error}); "
                "use sqlite:///file, or install schedproof[postgresql] for postgresql://..."
            ) from error
        except (SQLAlchemyError, OverflowError, UnicodeError) as error:
            # Drivers raise the last two for values that they cannot represent.
            if isinstance(error, DBAPIError) and _is_contention(error):
                raise Contended(f"{self.url}: another transaction came in between; try again") from error
            cause = getattr(error, "orig", None) or error
            raise StoreError(f"{self.url} cannot be {what}: {' '.join(str(cause).split())}") from error


def among(column: str, values: Iterable[str]) -> str:
    """The condition that a column has one of the values."""
    return f"{column} IN ({', '.join(repr(str(value)) for value in sorted(values))})"


def _is_in_memory(where: URL) -> bool:
    if where.get_backend_name() != "sqlite":
        return False
    return where.database in (None, "", ":memory:", "file::memory:") or where.query.get("mode") == "memory"


def _engine(where: URL, in_memory: bool) -> Engine:
    if where.get_backend_name() != "sqlite":
        return create_engine(where, isolation_level="SERIALIZABLE")
    options: dict[str, Any] = {"poolclass": StaticPool} if in_memory else {}
    engine = create_engine(where, connect_args={"check_same_thread": False, "timeout": BUSY_SECONDS}, **options)
    event.listen(engine, "connect", _opened)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def _opened(connection: Any, record: object) -> None:
    """Turns off the driver's own transactions, which would begin too late."""
    connection.isolation_level = None
    for pragma in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _is_contention(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in CONTENTION or "database is locked" in str(error.orig)

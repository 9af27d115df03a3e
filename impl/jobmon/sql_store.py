"""The store on a database, through SQLAlchemy: SQLite, or PostgreSQL when the URL says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from threading import RLock
from types import TracebackType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Table, create_engine, event, insert, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from .errors import Contended, StoreError
from .records import Records, Task, TaskAudit, TaskInstance, Workflow, WorkflowRun
from .store import Condition, R, UpTo, retried
from .tables import METADATA, TASK, TASK_AUDIT, TASK_INSTANCE, WORKFLOW, WORKFLOW_RUN
from .wire import parsed

IN_MEMORY = "sqlite://"
BUSY_SECONDS = 30
"""How long a transaction on a SQLite file waits for another one to end."""

_TABLES: dict[type[Any], Table] = {
    Workflow: WORKFLOW,
    WorkflowRun: WORKFLOW_RUN,
    Task: TASK,
    TaskInstance: TASK_INSTANCE,
    TaskAudit: TASK_AUDIT,
}


class SqlStore:
    """The records in the database at ``url``; the tables are made if they are not there.

    ``sqlite:///path`` is a file, ``sqlite://`` the memory of this process, ``postgresql://user@host/name`` a PostgreSQL
    database (with the extra ``postgresql``). Every transaction is serializable: on SQLite they come one after the other
    (BEGIN IMMEDIATE), on PostgreSQL one that would not fit any such order fails with Contended. Use it as a context
    manager, or call :meth:`close`.

    Raises:
        StoreError: the URL is wrong, or the database cannot be opened.
    """

    def __init__(self, url: str = IN_MEMORY) -> None:
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
        with self._turn, self._said("used"), self._engine.begin() as connection:
            yield SqlTransaction(connection)

    def snapshot(self) -> Records:
        """All records."""

        def once() -> Records:
            with self.transaction() as t:
                return Records(
                    t.find(Workflow), t.find(WorkflowRun), t.find(Task), t.find(TaskInstance), t.find(TaskAudit)
                )

        return retried(once)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _said(self, what: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            if isinstance(error, DBAPIError) and _is_contention(error):
                raise Contended(f"{self.url}: another transaction came in between; try again") from error
            cause = getattr(error, "orig", None) or error
            raise StoreError(f"{self.url} cannot be {what}: {cause}") from error


class SqlTransaction:
    """A :class:`.store.Transaction` on a connection that has begun one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, kind: type[R], number: int) -> R | None:
        """The record of that number."""
        table = _TABLES[kind]
        row = self._connection.execute(select(table).where(table.c.id == number)).one_or_none()
        return None if row is None else _record(kind, row)

    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        """The records that meet the conditions."""
        table = _TABLES[kind]
        wanted = [_meets(table.c[name], condition) for name, condition in conditions.items()]
        rows = self._connection.execute(select(table).where(*wanted).order_by(table.c.id))
        return tuple(_record(kind, row) for row in rows)

    def add(self, record: R) -> R:
        """Adds a record under a number that the database chooses."""
        columns = {name: value for name, value in _columns(record).items() if name != "id"}
        result = self._connection.execute(insert(_TABLES[type(record)]), columns)
        (number,) = result.inserted_primary_key or (0,)
        return replace(record, id=number)

    def update(self, old: R, new: R) -> None:
        """Writes ``new`` if the columns that change still are as they were read."""
        table, before, after = _TABLES[type(old)], _columns(old), _columns(new)
        changed = [name for name in before if before[name] != after[name]]
        same = [_meets(table.c[name], before[name]) for name in changed if not isinstance(before[name], tuple)]
        statement = update(table).where(table.c.id == old.id, *same).values({name: after[name] for name in changed})
        if self._connection.execute(statement).rowcount != 1:
            raise Contended(f"{type(old).__name__} {old.id} is not as it was read; nothing is written, try again")


def _columns(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _record(kind: type[R], row: Row[Any]) -> R:
    return parsed(kind, row._mapping)


def _meets(column: ColumnElement[Any], condition: Condition) -> ColumnElement[bool]:
    if isinstance(condition, UpTo):
        return column <= condition.most
    if isinstance(condition, frozenset):
        return column.in_(sorted(condition))
    return column.is_not_distinct_from(condition)


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
    if getattr(error.orig, "sqlstate", None) in ("40001", "40P01", "23505"):
        return True  # serialization failure, deadlock; a key that another one was faster to take
    return "database is locked" in str(error.orig)

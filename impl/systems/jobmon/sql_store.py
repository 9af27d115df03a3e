"""The store on a database, SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, insert, select, update

from schedproof.impl.sql import IN_MEMORY, Database

from .errors import Contended, StoreError
from .records import Records, Task, TaskAudit, TaskInstance, Workflow, WorkflowRun
from .store import Condition, R, UpTo
from .tables import METADATA, TASK, TASK_AUDIT, TASK_INSTANCE, WORKFLOW, WORKFLOW_RUN
from .wire import parsed

_TABLES: dict[type[Any], Table] = {
    Workflow: WORKFLOW,
    WorkflowRun: WORKFLOW_RUN,
    Task: TASK,
    TaskInstance: TASK_INSTANCE,
    TaskAudit: TASK_AUDIT,
}


class SqlStore(Database):
    """The records in the database at ``url`` (see :class:`..sql.Database`).

    Raises:
        StoreError: the URL is wrong, the database cannot be opened, or it was made by another version.
    """

    def __init__(self, url: str = IN_MEMORY) -> None:
        super().__init__(url, METADATA, failed=StoreError, contended=Contended)

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """One transaction (see :class:`.store.Store`)."""
        with self.begun() as connection:
            yield SqlTransaction(connection)

    def snapshot(self) -> Records:
        """All records."""

        def all_of(connection: Connection) -> Records:
            find = SqlTransaction(connection).find
            return Records(find(Workflow), find(WorkflowRun), find(Task), find(TaskInstance), find(TaskAudit))

        return self.read(all_of)


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

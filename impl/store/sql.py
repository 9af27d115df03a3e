"""The store in a database, with a table for each kind of records."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from sqlalchemy import JSON, ColumnElement, Connection, Table, bindparam, delete, insert, select, update

from schedproof.impl.errors import Contended, SchedulerError, StoreError

from .database import Database
from .protocol import Condition, NotIn, R, S, Schema, Store, Transaction, UpTo, ValuesOf
from .retry import retried

Row = Mapping[str, Any]


class KindTable:
    """The table of a kind of records.

    Args:
        record: the records' type.
        table: its primary key is the kind's key.
        to_row: record -> its columns; by default its attributes.
        to_record: row -> its record; by default made from the columns by the types of its fields.
        members: tables of pairs (key, member) for fields that are sets. They are written when a record is added.
    """

    def __init__(
        self,
        record: type[Any],
        table: Table,
        *,
        to_row: Callable[[Any], Row] = vars,
        to_record: Callable[[Row], Any] | None = None,
        members: Mapping[str, Table] = types.MappingProxyType({}),
    ) -> None:
        self.table = table
        self.key = list(table.primary_key)
        self.members = members
        self.to_row = to_row
        self.to_record = to_record or _reader(record)
        old = {c.name: c.is_not_distinct_from(bindparam(f"old_{c.name}", type_=c.type)) for c in table.columns}
        # JSON has no equality on PostgreSQL.
        same = [condition for name, condition in old.items() if not isinstance(table.c[name].type, JSON)]
        new = {c.name: bindparam(f"new_{c.name}", type_=c.type) for c in table.columns}
        self.update = update(table).where(*same).values(new)

    def columns(self, record: Any) -> dict[str, Any]:
        """The columns of a record."""
        row = self.to_row(record)
        return {column.name: row[column.name] for column in self.table.columns}


class SqlStore(Database, Store[S]):
    """The records in the database at ``url`` (see :class:`.database.Database`).

    Args:
        schema: the kinds of records.
        tables: one for each kind, in the same order.

    Raises:
        StoreError: the URL is wrong, the database cannot be opened, or it was made by another version.
    """

    def __init__(self, url: str, schema: Schema[S], *tables: Table | KindTable) -> None:
        Store.__init__(self, schema)
        self._tables = {
            kind.record: table if isinstance(table, KindTable) else KindTable(kind.record, table)
            for kind, table in zip(schema.kinds, tables, strict=True)
        }
        (metadata,) = {to.table.metadata for to in self._tables.values()}
        Database.__init__(self, url, metadata)

    @contextmanager
    def _committed(self) -> Iterator[Transaction]:
        with self.begun() as connection:
            yield SqlTransaction(self.schema, connection, self._tables, self.url)

    def snapshot(self) -> S:
        def once() -> S:
            with self._committed() as transaction:  # it writes nothing, so no hook is called
                return self.schema.gather(transaction.find)

        return retried(once)


class SqlTransaction(Transaction):
    """A transaction that ``connection`` has begun."""

    def __init__(
        self, schema: Schema[Any], connection: Connection, tables: Mapping[type[Any], KindTable], url: str
    ) -> None:
        super().__init__(schema)
        self._connection = connection
        self._tables = tables
        self._url = url

    def get(self, kind: type[R], *key: int | str) -> R | None:
        records = self._select(kind, [c == value for c, value in zip(self._tables[kind].key, key, strict=True)])
        return records[0] if records else None

    def find(self, kind: type[R], **conditions: Condition) -> tuple[R, ...]:
        return tuple(self._select(kind, self._where(kind, conditions)))

    def add(self, record: R) -> R:
        kind, to = self.schema.of[type(record)], self._tables[type(record)]
        columns = to.columns(record)
        if kind.is_numbered:
            del columns["id"]
        result = self._connection.execute(insert(to.table), columns)
        if kind.is_numbered:
            record = replace(record, id=result.inserted_primary_key[0])  # type: ignore[type-var, index]
        for name, pairs in to.members.items():
            owner, member = pairs.columns
            (key,) = kind.key_of(record)
            if rows := [{owner.name: key, member.name: value} for value in sorted(getattr(record, name))]:
                self._connection.execute(insert(pairs), rows)
        self.written.append(record)
        return record

    def update(self, old: R, new: R) -> None:
        to = self._tables[type(old)]
        values = {f"old_{name}": value for name, value in to.columns(old).items()}
        values |= {f"new_{name}": value for name, value in to.columns(new).items()}
        if self._connection.execute(to.update, values).rowcount != 1:
            kind = self.schema.of[type(old)]
            raise Contended(f"{kind.describe(*kind.key_of(old))} is not as it was read; nothing is written, try again")
        self.written.append(new)

    def clear(self) -> None:
        for kind in reversed(self.schema.kinds):
            to = self._tables[kind.record]
            for table in (*to.members.values(), to.table):
                self._connection.execute(delete(table))

    def _where(self, kind: type[Any], conditions: Mapping[str, Condition]) -> list[ColumnElement[bool]]:
        table = self._tables[kind].table
        return [self._meets(table.c[name], condition) for name, condition in conditions.items()]

    def _meets(self, column: ColumnElement[Any], condition: Condition) -> ColumnElement[bool]:
        match condition:
            case UpTo(most):
                return column <= most
            case NotIn(values):
                return column.not_in(sorted(values))
            case ValuesOf(kind, name, conditions):
                table = self._tables[kind].table
                return column.in_(select(table.c[name]).where(*self._where(kind, conditions)))
            case frozenset():
                return column.in_(sorted(condition))
        return column.is_not_distinct_from(condition)

    def _select(self, record: type[R], where: Sequence[ColumnElement[bool]]) -> list[R]:
        kind, to = self.schema.of[record], self._tables[record]
        query = select(to.table).where(*where)
        rows = self._connection.execute(query.order_by(*to.key) if kind.is_numbered else query).mappings().all()
        members = {name: self._members(to, pairs, where) for name, pairs in to.members.items()}
        records: list[R] = []
        for row in rows:
            key = [row[column.name] for column in to.key]
            try:
                sets = {name: frozenset(of[key[0]]) for name, of in members.items()}
                records.append(to.to_record({**row, **sets}))
            except (ValueError, KeyError, TypeError, SchedulerError) as error:
                raise StoreError(f"{self._url}: the {kind.describe(*key)} cannot be read: {error}") from error
        # Sorted here, because databases sort names in different ways.
        return records if kind.is_numbered else sorted(records, key=kind.key_of)

    def _members(self, to: KindTable, pairs: Table, where: Sequence[ColumnElement[bool]]) -> dict[Any, set[Any]]:
        query = select(pairs)
        if where:
            query = query.where(next(iter(pairs.columns)).in_(select(*to.key).where(*where)))
        members_of: defaultdict[Any, set[Any]] = defaultdict(set)
        for key, member in self._connection.execute(query):
            members_of[key].add(member)
        return members_of


def _reader(record: type[Any]) -> Callable[[Row], Any]:
    """A function that makes records of rows, by the types of their fields."""
    hints = get_type_hints(record)
    converters = {field.name: _converter(hints[field.name]) for field in fields(record)}

    def read(row: Row) -> Any:
        values = ((name, row[name], convert) for name, convert in converters.items())
        return record(**{n: v if convert is None or v is None else convert(v) for n, v, convert in values})

    return read


def _converter(hint: Any) -> Callable[[Any], Any] | None:
    """A converter from the driver's type to a field's type; None if they are the same."""
    if isinstance(hint, types.UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is tuple:
        return _tuples
    if hint is datetime:
        return _aware
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def _aware(at: datetime) -> datetime:
    """Adds UTC to a time without a zone: SQLite keeps no time zones, and the store writes UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)

"""The store in a database, SQLite or PostgreSQL, and its tables.

The schema itself forbids two runs that hold one workflow, and two unfinished instances of one task.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    text,
)

from schedproof.impl.store import sql
from schedproof.impl.store.database import IN_MEMORY, among

from .records import (
    HOLDING,
    UNFINISHED,
    InstanceState,
    Records,
    RunState,
    TaskState,
    WorkflowState,
)
from .store import SCHEMA

METADATA = MetaData()

NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers only columns of type INTEGER, which hold large numbers there; PostgreSQL needs BIGINT for those."""


def _status(kind: type[StrEnum], name: str = "status", *, nullable: bool = False) -> Column[str]:
    return Column(name, String(1), CheckConstraint(among(name, kind)), nullable=nullable)


def _number() -> Column[int]:
    return Column("id", NUMBER, primary_key=True)


WORKFLOW = Table(
    "workflow",
    METADATA,
    _number(),
    Column("name", String, nullable=False, unique=True),
    _status(WorkflowState),
    Column("status_date", Float, nullable=False),
)

WORKFLOW_RUN = Table(
    "workflow_run",
    METADATA,
    _number(),
    Column("workflow_id", ForeignKey("workflow.id"), nullable=False, index=True),
    Column("token", String, nullable=False, unique=True),
    _status(RunState),
    Column("status_date", Float, nullable=False),
    Column("heartbeat_date", Float, nullable=False),
)

TASK = Table(
    "task",
    METADATA,
    _number(),
    Column("workflow_id", ForeignKey("workflow.id"), nullable=False, index=True),
    Column("name", String, nullable=False),
    Column("command", String, nullable=False),
    Column("upstream", JSON, nullable=False),
    Column("resources", JSON, nullable=False),
    Column("queue", String, nullable=False),
    Column("num_attempts", NUMBER, nullable=False),
    Column("max_attempts", NUMBER, nullable=False),
    _status(TaskState),
    Column("status_date", Float, nullable=False),
    UniqueConstraint("workflow_id", "name", name="a_name_for_one_task"),
    CheckConstraint("num_attempts BETWEEN 0 AND max_attempts", name="attempts_are_limited"),
)

TASK_INSTANCE = Table(
    "task_instance",
    METADATA,
    _number(),
    Column("task_id", ForeignKey("task.id"), nullable=False, index=True),
    Column("workflow_id", ForeignKey("workflow.id"), nullable=False, index=True),
    Column("workflow_run_id", ForeignKey("workflow_run.id"), nullable=False, index=True),
    _status(InstanceState),
    Column("status_date", Float, nullable=False),
    Column("resources", JSON, nullable=False),
    Column("queue", String, nullable=False),
    Column("report_by_date", Float),
    Column("doomed", Boolean, nullable=False),
    Column("fenced", Boolean, nullable=False),
    Column("distributor", String),
    Column("token", String),
    Column("distributor_id", String),
    Column("process_group_id", String),
    CheckConstraint("status NOT IN ('R', 'T', 'D', 'Z') OR process_group_id IS NOT NULL", name="somebody_runs_it"),
    CheckConstraint("status NOT IN ('O', 'X') OR distributor_id IS NOT NULL", name="a_job_that_is_known"),
)

TASK_AUDIT = Table(
    "task_status_audit",
    METADATA,
    _number(),
    Column("task_id", ForeignKey("task.id"), nullable=False, index=True),
    Column("workflow_id", ForeignKey("workflow.id"), nullable=False),
    _status(TaskState, "previous_status", nullable=True),
    _status(TaskState, "new_status"),
    Column("entered_at", Float, nullable=False),
    Column("exited_at", Float),
)

_HELD, _ON_ITS_WAY = text(among("status", HOLDING)), text(among("status", UNFINISHED))
Index("one_run_has_it", WORKFLOW_RUN.c.workflow_id, unique=True, sqlite_where=_HELD, postgresql_where=_HELD)
Index("one_attempt", TASK_INSTANCE.c.task_id, unique=True, sqlite_where=_ON_ITS_WAY, postgresql_where=_ON_ITS_WAY)
Index("unfinished", TASK_INSTANCE.c.status, sqlite_where=_ON_ITS_WAY, postgresql_where=_ON_ITS_WAY)


class SqlStore(sql.SqlStore[Records]):
    """The records in the database at ``url`` (see :class:`schedproof.impl.store.database.Database`).

    Raises:
        StoreError: the URL is wrong, the database cannot be opened, or another version made it.
    """

    def __init__(self, url: str = IN_MEMORY) -> None:
        super().__init__(url, SCHEMA, WORKFLOW, WORKFLOW_RUN, TASK, TASK_INSTANCE, TASK_AUDIT)

"""The kinds of records that the server keeps, and a store in memory; :mod:`.sql_store` is the one in a database."""

from __future__ import annotations

from schedproof.impl.store import Kind, Schema, memory

from .records import Records, Task, TaskAudit, TaskInstance, Workflow, WorkflowRun

SCHEMA = Schema(
    Records,
    Kind(Workflow, "workflows", unique="name"),
    Kind(WorkflowRun, "runs", unique="token"),
    Kind(Task, "tasks"),
    Kind(TaskInstance, "instances"),
    Kind(TaskAudit, "audits"),
)


class MemoryStore(memory.MemoryStore[Records]):
    """The records as one value."""

    def __init__(self) -> None:
        super().__init__(SCHEMA)

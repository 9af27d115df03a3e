"""The store in one SQLite file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sqlalchemy import CheckConstraint, Column, MetaData, String, Table
from sqlalchemy.engine import URL

from schedproof.impl.store.database import among
from schedproof.impl.store.sql import KindTable, Row, SqlStore

from .store import SCHEMA, GroupSpec, Placement, PodRow, Pods, PodStatus, PodStore

METADATA = MetaData()

POD = Table(
    "pod",
    METADATA,
    Column("pod_group", String, primary_key=True),
    Column("pod", String, primary_key=True),
    Column("status", String, CheckConstraint(among("status", PodStatus)), nullable=False),
    Column("spec", String, nullable=False),
    Column("placement", String),
    CheckConstraint("(status = 'bound') = (placement IS NOT NULL)"),
)


def _to_row(row: PodRow) -> dict[str, Any]:
    return {
        "pod_group": row.group,
        "pod": row.pod,
        "status": row.status,
        "spec": json.dumps({"priority": row.spec.priority, "pods": row.spec.pods}),
        "placement": None if row.placement is None else json.dumps(row.placement),
    }


def _to_record(row: Row) -> PodRow:
    spec = json.loads(row["spec"])
    placement: Placement | None = None
    if row["placement"] is not None:
        placement = tuple((str(name), tuple(str(c) for c in held)) for name, held in json.loads(row["placement"]))
    return PodRow(
        row["pod"],
        PodStatus(row["status"]),
        GroupSpec(row["pod_group"], int(spec["priority"]), tuple(str(name) for name in spec["pods"])),
        placement,
    )


class SqliteStore(SqlStore[Pods], PodStore):
    """Pod rows in the SQLite file ``path``. Each :meth:`put` is one transaction, synced to disk.

    Raises:
        StoreError: ``path`` cannot be opened, or is not a file of such a store.
    """

    def __init__(self, path: Path | str) -> None:
        url = URL.create("sqlite", database=str(path)).render_as_string()
        super().__init__(url, SCHEMA, KindTable(PodRow, POD, to_row=_to_row, to_record=_to_record))

"""The durable store: one row for each pod object, and no other data.

The rows represent the pod objects of the API server. A bound pod carries the placement of its whole group, as HiveD's
pod annotation does. So any bound pod suffices to recover the placement of its group (document, line 31: "updating pod
annotation (pod binding)"). The states of the state machines are never written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.errors import Refused
from schedproof.impl.hashed import hashed_once
from schedproof.impl.store import Hook, Kind, MemoryStore, Schema, Store

Placement = tuple[tuple[str, tuple[str, ...]], ...]
"""The cells of each pod of a group: (pod, cells) pairs in the order of the group's pods."""


class PodStatus(StrEnum):
    """The status of a pod in its row."""

    SUBMITTED = "submitted"
    BOUND = "bound"
    DELETED = "deleted"


@dataclass(frozen=True)
class GroupSpec:
    """A pod group as the annotations of its pods describe it.

    Attributes:
        priority: a higher number outranks a lower one.

    Raises:
        Refused: there are no pods, or a pod is named twice.
    """

    name: str
    priority: int
    pods: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.pods:
            raise Refused(f"group {self.name} has no pods; name at least one")
        if len(set(self.pods)) != len(self.pods):
            raise Refused(f"group {self.name} names a pod twice: {', '.join(self.pods)}")


@dataclass(frozen=True)
class PodRow:
    """One pod object. ``placement`` is that of the whole group, and is set only while the pod is bound."""

    pod: str
    status: PodStatus
    spec: GroupSpec
    placement: Placement | None = None

    @property
    def group(self) -> str:
        """The group that the pod belongs to."""
        return self.spec.name


@hashed_once
@dataclass(frozen=True)
class Pods:
    """All rows, ordered by group and pod."""

    pods: tuple[PodRow, ...] = ()


SCHEMA = Schema(Pods, Kind(PodRow, "pods", key=("group", "pod"), title="row of pod"))


class PodStore(Store[Pods]):
    """A store of pod rows."""

    def rows(self) -> Sequence[PodRow]:
        """Returns all rows, ordered by group and then as the group's spec lists its pods.

        Raises:
            StoreError: the store cannot be read.
        """
        rows = self.snapshot().pods
        return sorted(rows, key=lambda r: (r.group, r.spec.pods.index(r.pod) if r.pod in r.spec.pods else -1, r.pod))

    def put(self, row: PodRow) -> None:
        """Writes a row and replaces an earlier row of the same pod. The row is durable when this returns.

        Raises:
            StoreError: the row is not written.
        """
        with self.transaction() as transaction:
            transaction.put(row)


class InMemoryStore(MemoryStore[Pods], PodStore):
    """The rows as one value in memory, for explorations."""

    def __init__(self, before: Hook | None = None, after: Hook | None = None) -> None:
        super().__init__(SCHEMA, before=before, after=after)

"""The data structure of every picture; renderers translate it to a format.

It knows no system, model or output format.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace

from schedproof.model.lang import Durability


class NodeKind(enum.Enum):
    """The kind of thing that a node stands for."""

    STATE = "state"
    EVENT = "event"
    ACTION = "action"
    CRASH = "crash"
    GROUP = "group"
    """Several states from each of which an arrow of one event starts."""
    PAIR = "pair"
    """The state of an object and the state of the object that it refers to."""
    OWNER = "owner"
    """An object or thread that can hold resources and wait for them."""
    RESOURCE = "resource"


class EdgeKind(enum.Enum):
    """The meaning of an arrow."""

    TRANSITION = "takes an object from state to state"
    CAUSES = "causes"
    PREVENTS = "happens only where that one does not"
    HELD_BY = "is held by"
    WAITS_FOR = "waits for"
    SENDS = "sends to"
    MAY_ACQUIRE = "may be held while that one is acquired"
    ASIDE = "as its picture says"


class Mark(enum.Enum):
    """How a node or an arrow differs from the picture that it is compared with."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True)
class Node:
    """A node of one :class:`NodeKind`.

    Args:
        name: unique in its picture.
        label: the text that a reader sees; ``details`` are smaller lines below it.
        durability: what a crash does to a state; None if this does not apply.
        initial, final: for states.
        members: of a group, the names of its states.
        alarm: whether to draw the node as a warning; ``Diagram.alarm`` explains it.
    """

    name: str
    label: str
    kind: NodeKind
    details: tuple[str, ...] = ()
    durability: Durability | None = None
    initial: bool = False
    final: bool = False
    mark: Mark = Mark.SAME
    members: tuple[str, ...] = ()
    alarm: bool = False


@dataclass(frozen=True)
class Edge:
    """An arrow; ``labels`` are the events that it stands for, ``notes`` the lines of the document that have them."""

    source: str
    target: str
    kind: EdgeKind
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    mark: Mark = Mark.SAME
    alarm: bool = False


@dataclass(frozen=True)
class Cluster:
    """Nodes that belong together, by name."""

    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Diagram:
    """A picture. Its parts are written out in their order.

    Attributes:
        since: the name of the picture that ADDED and REMOVED refer to, if any.
        note: how to read the picture.
        alarm: the explanation of the warnings in the legend.
        boxed: whether to draw a box around each cluster; otherwise colours distinguish clusters.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...] = ()
    since: str | None = None
    note: str = ""
    alarm: str = ""
    boxed: bool = False


def compared(new: Diagram, old: Diagram, since: str) -> Diagram:
    """``new`` with its differences from ``old`` marked; nodes and arrows that only ``old`` has are added as REMOVED.

    Nodes are the same if they have the same name. Arrows are the same if they join the same nodes and have the same
    kind and labels. Call this before :func:`merged`.
    """
    old_nodes, new_nodes = {n.name for n in old.nodes}, {n.name for n in new.nodes}
    gone_nodes = tuple(replace(n, mark=Mark.REMOVED) for n in old.nodes if n.name not in new_nodes)
    old_edges, new_edges = {_identity(e) for e in old.edges}, {_identity(e) for e in new.edges}
    gone_edges = tuple(replace(e, mark=Mark.REMOVED) for e in old.edges if _identity(e) not in new_edges)
    inside = {c.name: c.nodes for c in new.clusters}
    for cluster in old.clusters:
        known = inside.get(cluster.name, ())
        inside[cluster.name] = (*known, *(n for n in cluster.nodes if n not in known and n not in new_nodes))
    return replace(
        new,
        nodes=tuple(n if n.name in old_nodes else replace(n, mark=Mark.ADDED) for n in new.nodes) + gone_nodes,
        edges=tuple(e if _identity(e) in old_edges else replace(e, mark=Mark.ADDED) for e in new.edges) + gone_edges,
        clusters=tuple(Cluster(name, nodes) for name, nodes in inside.items() if nodes),
        since=since,
    )


def _identity(edge: Edge) -> tuple[str, str, EdgeKind, tuple[str, ...]]:
    return edge.source, edge.target, edge.kind, edge.labels


def merged(diagram: Diagram) -> Diagram:
    """``diagram`` with one arrow for all parallel arrows of the same kind and mark, with all labels in order."""
    together: dict[tuple[str, str, EdgeKind, Mark], Edge] = {}
    for edge in diagram.edges:
        key = (edge.source, edge.target, edge.kind, edge.mark)
        if key in together:
            first = together[key]
            edge = replace(first, labels=_joined(first.labels, edge.labels), notes=_joined(first.notes, edge.notes))
        together[key] = edge
    return replace(diagram, edges=tuple(together.values()))


def _joined(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *second]))

"""The one representation of a picture; renderers only spell it out.

Nothing here knows a system, a model or an output format.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace

from schedproof.model.lang import Durability


class NodeKind(enum.Enum):
    """What a node stands for."""

    STATE = "state"
    EVENT = "event"
    ACTION = "action"
    CRASH = "crash"
    GROUP = "group"
    """Several states, where arrows of one event start at each of them."""
    PAIR = "pair"
    """The state of an object and the state of what it refers to."""
    OWNER = "owner"
    """What can hold resources and wait for them."""
    RESOURCE = "resource"


class EdgeKind(enum.Enum):
    """What an arrow says."""

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
    """What :class:`NodeKind` lists.

    Args:
        name: unique in its picture.
        label: what a reader sees; ``details`` are smaller lines below it.
        durability: what a crash does to a state; None where that is no question.
        initial, final: for states.
        members: of a group, the names of its states.
        alarm: this is what the picture warns of; its ``Diagram.alarm`` says of what.
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
    """An arrow; ``labels`` are the events that it stands for, ``notes`` where the document says so."""

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
    """A picture. The order of its parts is the order in which they are written out.

    ``since`` names what ADDED and REMOVED refer to, if the picture is compared with another.
    ``note`` is how to read it, and ``alarm`` what the legend says of what is drawn as a warning. ``boxed``: a
    box is drawn around each cluster; else clusters are told apart by colour.
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
    """``new`` with its differences from ``old`` marked; what only ``old`` has is put back as REMOVED.

    Nodes are the same if they have the same name, arrows if they join the same nodes and are of one
    kind and label; call this before :func:`merged`.
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
    """One arrow for all parallel arrows of the same kind and mark, with the labels of each in order."""
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

"""Wait-for graphs: owners, the resources that they hold or wait for, and the circle that is a deadlock.

A graph knows owners, their parts and resources by name only, so one picture serves locks, recipe sets and systems.
An owner needs all its waiting parts served. A part needs only one of its alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx

from schedproof.model.lang import Term, Var
from schedproof.model.lang.waiting import Waiting
from schedproof.model.semantics import Instance, Moment, State, search

from .errors import DiagramError
from .representation import Diagram, Edge, EdgeKind, Node, NodeKind

NOTHING = "(nothing)"
"""The name of the node that a part waits for if no resource can serve it."""


@dataclass(frozen=True)
class Hold:
    """``owner`` holds ``resource`` by its ``part``."""

    owner: str
    part: str
    resource: str


@dataclass(frozen=True)
class Wait:
    """``part`` of ``owner`` waits for one of ``alternatives``; it waits forever if there are none."""

    owner: str
    part: str
    alternatives: tuple[str, ...]


@dataclass(frozen=True)
class WaitGraph:
    """All holds and all waits in one state."""

    holds: tuple[Hold, ...]
    waits: tuple[Wait, ...]

    def blocked(self) -> frozenset[str]:
        """The owners that can never proceed, if an owner releases a resource only after it proceeds.

        It is the greatest set of owners that each have a part all of whose alternatives are held in the set.
        """
        holders: dict[str, set[str]] = {}
        for hold in self.holds:
            holders.setdefault(hold.resource, set()).add(hold.owner)
        blocked = {wait.owner for wait in self.waits}

        def hopeless(wait: Wait) -> bool:
            return all(holders.get(resource, set()) & blocked for resource in wait.alternatives)

        while True:
            kept = {wait.owner for wait in self.waits if wait.owner in blocked and hopeless(wait)}
            if kept == blocked:
                return frozenset(blocked)
            blocked = kept

    def circle(self) -> frozenset[tuple[str, str]]:
        """The arrows of the circles: (owner, resource) that it waits for, (resource, owner) that holds it.

        A part that another resource can still serve is not in a circle.
        A part that no resource can serve has an arrow to :data:`NOTHING`.
        """
        blocked = self.blocked()
        holders: dict[str, set[str]] = {}
        for hold in self.holds:
            if hold.owner in blocked:
                holders.setdefault(hold.resource, set()).add(hold.owner)
        graph: nx.DiGraph[str] = nx.DiGraph()
        dead_ends = set()
        for wait in self.waits:
            if all(resource in holders for resource in wait.alternatives):
                graph.add_edges_from((_owner(wait.owner), _resource(resource)) for resource in wait.alternatives)
                if not wait.alternatives:
                    dead_ends.add((wait.owner, NOTHING))
        for resource, owners in holders.items():
            graph.add_edges_from((_resource(resource), _owner(owner)) for owner in owners)
        part_of = {node: n for n, nodes in enumerate(nx.strongly_connected_components(graph)) for node in nodes}
        inside = {(a[1:], b[1:]) for a, b in graph.edges if part_of[a] == part_of[b]}
        return frozenset(inside | dead_ends)


def _owner(name: str) -> str:
    return f"o{name}"


def _resource(name: str) -> str:
    return f"r{name}"


def observed(instance: Instance, state: State, waiting: Waiting) -> WaitGraph:
    """The wait-for graph of a state according to ``waiting``, with the names of the objects."""

    def solutions(formula: Term, known: Mapping[Var, int], *choose: Var) -> list[tuple[int, ...]]:
        moment = Moment(state, {v.name: value for v, value in known.items()})
        plan = search(instance, {v.name: v for v in known}, choose, [formula])
        return [tuple(moment.bound[v.name] for v in choose) for _ in plan.solutions(moment)]

    def name(variable: Var, number: int) -> str:
        return str(instance.show(variable.type, number))

    j, r, s = waiting.owner, waiting.part, waiting.resource
    holds = tuple(
        Hold(name(j, owner), name(r, part), name(s, resource))
        for owner, part, resource in solutions(waiting.holds, {}, j, r, s)
    )
    waits = tuple(
        Wait(
            name(j, owner),
            name(r, part),
            tuple(name(s, resource) for (resource,) in solutions(waiting.serves, {j: owner, r: part}, s)),
        )
        for owner, part in solutions(waiting.waits, {}, j, r)
    )
    return WaitGraph(holds, waits)


def wait_for(graph: WaitGraph, title: str, notes: Mapping[str, str] | None = None, *, doomed: bool = False) -> Diagram:
    """The picture of ``graph``: arrows from a resource to its holder, and from an owner to what it waits for.

    Args:
        graph: the wait-for graph.
        title: of the picture.
        notes: a small line below the name of an owner or a resource, or after the name of a part.
        doomed: whether a circle can no longer be avoided from here.

    Raises:
        DiagramError: no object holds anything or waits.
    """
    if not graph.holds and not graph.waits:
        raise DiagramError(
            f"{title}: no object holds or waits for another, so nothing can be drawn; choose another state"
        )
    note_of = dict(notes or {})
    blocked, circle = graph.blocked(), graph.circle()
    inside = {end for arrow in circle for end in arrow}

    def part(name: str) -> str:
        return f"{name} ({note_of[name]})" if note_of.get(name) else name

    def details(name: str) -> tuple[str, ...]:
        return tuple(line for line in (note_of.get(name, ""), "can never go on" if name in blocked else "") if line)

    owners = dict.fromkeys([h.owner for h in graph.holds] + [w.owner for w in graph.waits])
    resources = dict.fromkeys([h.resource for h in graph.holds] + [s for w in graph.waits for s in w.alternatives])
    nodes = [Node(name, name, NodeKind.OWNER, details(name), alarm=name in inside) for name in owners]
    nodes += [Node(name, name, NodeKind.RESOURCE, details(name), alarm=name in inside) for name in sorted(resources)]
    edges = [
        Edge(h.resource, h.owner, EdgeKind.HELD_BY, (f"held by {part(h.part)}",), alarm=(h.resource, h.owner) in circle)
        for h in graph.holds
    ]
    for wait in graph.waits:
        several = f" for any of {len(wait.alternatives)}" if len(wait.alternatives) > 1 else ""
        edges += [
            Edge(
                wait.owner, resource, EdgeKind.WAITS_FOR, (f"{part(wait.part)} waits{several}",),
                alarm=(wait.owner, resource) in circle,
            )
            for resource in wait.alternatives or (NOTHING,)
        ]  # fmt: skip
    if NOTHING in inside or any(edge.target == NOTHING for edge in edges):
        nodes.append(Node(NOTHING, "nothing", NodeKind.RESOURCE, ("can serve this",), alarm=True))
    ring = any(NOTHING not in arrow for arrow in circle)
    dead = any(NOTHING in arrow for arrow in circle)
    alarm = " and ".join(["each waits for the next, in a circle"] * ring + ["what waits here is never served"] * dead)
    if not circle:
        title += " (no circle yet: it can no more be avoided)" if doomed else " (no circle: no one waits for ever)"
    return Diagram(title, tuple(nodes), tuple(edges), alarm=alarm)

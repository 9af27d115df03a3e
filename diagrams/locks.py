"""Pictures of locks: the order in which they may be acquired, and a deadlock as a circle of waiting threads."""

from __future__ import annotations

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Where
from schedproof.proofs.locks.explore import Problem
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.rank import Order

from .representation import Diagram, Edge, EdgeKind, Node, NodeKind


def order_graph(locks: Locks, order: Order) -> Diagram:
    """The lock classes of ``locks``, with an arrow from each to the classes that may be acquired under it."""
    rows = {id(edge.row) for edge in order.circle}
    on_circle = {name for edge in order.circle for name in (edge.row.holding, edge.row.acquired)}
    named = {name for row in locks.order for name in (row.holding, row.acquired)}
    ranked = [name for name in locks.classes if name in named]
    if (rank := order.rank) is not None:
        ranked.sort(key=lambda name: rank.numbers[name])
    nodes = tuple(
        Node(name, name, NodeKind.RESOURCE, _place(order, ranked, name), alarm=name in on_circle) for name in ranked
    )
    edges = tuple(
        Edge(
            row.holding,
            row.acquired,
            EdgeKind.MAY_ACQUIRE,
            (f"{row.where} it" if row.where is not Where.ANYWHERE else "any",),
            (f"line {row.line}",) if row.line is not None else (),
            alarm=id(row) in rows,
        )
        for row in locks.order
    )
    note = "" if order.rank is None else f"no circle, in trees of any depth: {order.rank.text}"
    return Diagram(f"{locks.name}: who may be acquired under whom", nodes, edges, note=note, alarm="a circle")


def _place(order: Order, ranked: list[str], name: str) -> tuple[str, ...]:
    if order.rank is None:
        return ()
    ends = order.rank.direction(name)
    return (f"rank {ranked.index(name) + 1}", *([f"the {ends[0]} first"] if ends else []))


def deadlock_graph(problem: Problem, title: str) -> Diagram:
    """The locks held and waited for at the last state of an interleaving; the circle is drawn as the alarm.

    From a lock that a thread waits for, an arrow leads to its holder, or to the writer that is about to acquire it.
    From a channel, arrows lead to the threads that could end the wait.
    """
    threads = dict.fromkeys([*(w.thread for w in problem.waits), *(h.thread for h in problem.holds), *problem.threads])
    things = dict.fromkeys([*(w.on for w in problem.waits), *(h.on for h in problem.holds)])
    circle = set(problem.threads)
    edges: dict[tuple[str, str, str], Edge] = {}
    for waiting in problem.waits:
        # Threads outside of the circle wait for a lock that is never released; the picture must show them.
        inside = (waiting.thread in circle or problem.kind is Kind.LEAKED) and bool(circle & set(waiting.whom))
        add = Edge(
            _thread(waiting.thread), _thing(waiting.on), EdgeKind.WAITS_FOR, (f"waits: {waiting.how}",), alarm=inside
        )
        edges[add.source, add.target, waiting.how] = add
    for holding in problem.holds:
        inside = any(
            holding.thread in w.whom
            and w.on == holding.on
            and holding.thread in circle
            and (w.thread in circle or problem.kind is Kind.LEAKED)
            for w in problem.waits
        )
        add = Edge(
            _thing(holding.on), _thread(holding.thread), EdgeKind.HELD_BY, (f"held: {holding.how}",), alarm=inside
        )
        edges[add.source, add.target, "held"] = add
    for waiting in problem.waits:
        holders = {h.thread for h in problem.holds if h.on == waiting.on}
        for other in waiting.whom:
            if other in holders:
                continue
            says = "only it can see to that" if waiting.how in ("send", "receive") else "about to write"
            inside = {waiting.thread, other} <= circle
            add = Edge(_thing(waiting.on), _thread(other), EdgeKind.HELD_BY, (says,), alarm=inside)
            edges[add.source, add.target, says] = add
    red = {end for edge in edges.values() if edge.alarm for end in (edge.source, edge.target)}
    nodes = [Node(_thread(n), n, NodeKind.OWNER, alarm=_thread(n) in red) for n in threads]
    nodes += [Node(_thing(n), n, NodeKind.RESOURCE, alarm=_thing(n) in red) for n in things]
    return Diagram(
        f"{title}: {problem.headline}",
        tuple(nodes),
        tuple(edges.values()),
        alarm=_alarm(problem),
    )


def _thread(name: str) -> str:
    return f"thread {name}"


def _thing(name: str) -> str:
    return f"lock {name}"


def _alarm(problem: Problem) -> str:
    leaked = problem.kind is Kind.LEAKED
    return "who has ended never lets go of it" if leaked else "each waits for the next, in a circle"

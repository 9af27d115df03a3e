"""The orders that a lock file describes, as pairs of classes: by its order, or by its programs if it has none."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Kind

from .model_check import programs_acquire


def described_orders(locks: Locks) -> Mapping[tuple[str, str], str]:
    """By class that is held and class that is acquired, where the file describes it; "" if it follows from others.

    A lock without a class is its own class.

    Raises:
        LocksError: the programs cannot be run.
    """
    if locks.order:
        rows = {(row.holding, row.acquired): str(row.place) for row in reversed(locks.order)}
        if not locks.closed:
            return rows
        graph: nx.DiGraph[str] = nx.DiGraph(list(rows))
        reached = {
            (name, other): rows.get((name, other), "")
            for name in graph
            for follower in graph.successors(name)
            for other in {follower, *nx.descendants(graph, follower)}
        }
        return dict(sorted(reached.items()))
    orders: dict[tuple[str, str], str] = {}
    for instance in programs_acquire(locks):
        classes = {name: name if one.of in list(Kind) else one.of for name, one in instance.objects.items()}
        for one in instance.acquisitions:
            for held, _ in one.held:
                if held != one.lock:
                    orders.setdefault((classes[held], classes[one.lock]), str(one.place))
    return orders

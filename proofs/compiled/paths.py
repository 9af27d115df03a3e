"""Searches on a graph in compressed rows: node ``n`` has the edges from ``offsets[n]`` to ``offsets[n + 1]``.

For each edge, ``targets`` has its target and ``choices`` the number of its choice. ``allowed`` says for each choice whether
its edges count. Sets of nodes are arrays of truth values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NONE = -1


@njit(nogil=True, cache=True)
def turned(offsets: Any, targets: Any, choices: Any, allowed: Any) -> Any:
    """The reversed edges: offsets, and for each edge its source."""
    nodes = len(offsets) - 1
    back = np.zeros(nodes + 1, np.int64)
    for e in range(len(targets)):
        if allowed[choices[e]]:
            back[targets[e] + 1] += 1
    for n in range(nodes):
        back[n + 1] += back[n]
    sources = np.empty(back[nodes], np.uint32)
    free = back[:-1].copy()
    for n in range(nodes):
        for e in range(offsets[n], offsets[n + 1]):
            if allowed[choices[e]]:
                to = targets[e]
                sources[free[to]] = n
                free[to] += 1
    return back, sources


@njit(nogil=True, cache=True)
def reaching(back: Any, sources: Any, goal: Any) -> Any:
    """The nodes that can reach one of ``goal``, from reversed edges."""
    reached = goal.copy()
    stack = np.empty(len(goal), np.uint32)
    size = 0
    for n in range(len(goal)):
        if goal[n]:
            stack[size] = n
            size += 1
    while size > 0:
        size -= 1
        to = stack[size]
        for e in range(back[to], back[to + 1]):
            n = sources[e]
            if not reached[n]:
                reached[n] = True
                stack[size] = n
                size += 1
    return reached


@njit(nogil=True, cache=True)
def avoiding(offsets: Any, targets: Any, depths: Any, start: Any, goal: Any) -> Any:
    """Shortest runs that pass a node of ``start`` and no node of ``goal`` afterwards.

    Returns:
        By node: the length of the run (-1: there is none), its last edge (-1: the run ends in ``start``), and the source of
        that edge.
    """
    nodes = len(offsets) - 1
    lengths = np.full(nodes, NONE, np.int32)
    edges = np.full(nodes, NONE, np.int64)
    whence = np.zeros(nodes, np.uint32)
    now, later = np.empty(nodes, np.uint32), np.empty(nodes, np.uint32)
    size, length, first = 0, 0, 0
    for n in range(nodes):
        if start[n]:
            lengths[n] = depths[n]
    while True:
        # Nodes are numbered by depth: the ``start`` nodes of this depth come next.
        while first < nodes and depths[first] <= length:
            if start[first]:
                now[size] = first
                size += 1
            first += 1
        if size == 0 and first == nodes:
            return lengths, edges, whence
        more = 0
        for i in range(size):
            n = now[i]
            for e in range(offsets[n], offsets[n + 1]):
                to = targets[e]
                if not goal[to] and lengths[to] == NONE:
                    lengths[to] = length + 1
                    edges[to], whence[to] = e, n
                    later[more] = to
                    more += 1
        now, later, size = later, now, more
        length += 1


@njit(nogil=True, cache=True)
def components(offsets: Any, targets: Any, choices: Any, allowed: Any, inside: Any) -> Any:
    """The strongly connected components of the nodes ``inside`` (Tarjan's algorithm), by node; -1 outside."""
    nodes = len(offsets) - 1
    component_of = np.full(nodes, NONE, np.int64)
    index = np.zeros(nodes, np.int64)
    low = np.zeros(nodes, np.int64)
    at = np.zeros(nodes, np.int64)
    open_nodes = np.empty(nodes, np.uint32)
    path = np.empty(nodes, np.uint32)
    opened = counted = number = 0
    for root in range(nodes):
        if not inside[root] or index[root] != 0:
            continue
        path[0], length = root, 1
        while length > 0:
            n = path[length - 1]
            if index[n] == 0:
                counted += 1
                index[n] = low[n] = counted
                at[n] = offsets[n]
                open_nodes[opened] = n
                opened += 1
            deeper = False
            while at[n] < offsets[n + 1]:
                e = at[n]
                to = targets[e]
                if allowed[choices[e]] and inside[to]:
                    if index[to] == 0:
                        path[length] = to
                        length += 1
                        deeper = True
                        break
                    if component_of[to] == NONE:
                        low[n] = min(low[n], low[to])
                at[n] += 1
            if deeper:
                continue
            if low[n] == index[n]:
                while True:
                    opened -= 1
                    member = open_nodes[opened]
                    component_of[member] = number
                    if member == n:
                        break
                number += 1
            length -= 1
    return component_of


@njit(nogil=True, cache=True)
def fair(
    offsets: Any, targets: Any, choices: Any, allowed: Any, weak: Any, strong: Any, parts: Any, order: Any, first: int
) -> Any:
    """The components in which a fair run can stay.

    Args:
        allowed, weak, strong: by choice.
        parts: by node, its component (-1: none).
        order: the nodes sorted by component; those in a component start at ``first``.

    Returns:
        Two sets of nodes. The first has the nodes of fair components. The second has the nodes to search again: those of
        components that only strong fairness excludes, without states that enable a neglected strongly fair choice.
    """
    is_fair, rest = np.zeros(len(parts), np.bool_), np.zeros(len(parts), np.bool_)
    enabled, used = np.zeros(len(allowed), np.int64), np.zeros(len(allowed), np.bool_)
    begin = first
    while begin < len(order):
        part, end = parts[order[begin]], begin
        while end < len(order) and parts[order[end]] == part:
            n = order[end]
            for e in range(offsets[n], offsets[n + 1]):
                c = choices[e]
                enabled[c] += 1
                if allowed[c] and parts[targets[e]] == part:
                    used[c] = True
            end += 1
        starved = missed = False
        for i in range(begin, end):
            n = order[i]
            for e in range(offsets[n], offsets[n + 1]):
                c = choices[e]
                if not used[c]:
                    starved = starved or (weak[c] and enabled[c] == end - begin)
                    missed = missed or strong[c]
        for i in range(begin, end):
            n = order[i]
            if not starved and not missed:
                is_fair[n] = True
            elif not starved:
                stays = True
                for e in range(offsets[n], offsets[n + 1]):
                    stays = stays and (used[choices[e]] or not strong[choices[e]])
                rest[n] = stays
        for i in range(begin, end):
            for e in range(offsets[order[i]], offsets[order[i] + 1]):
                enabled[choices[e]], used[choices[e]] = 0, False
        begin = end
    return is_fair, rest


@njit(nogil=True, cache=True)
def longest_prefix(offsets: Any, targets: Any, values: Any, life: Any) -> int:
    """The number of states of ``life`` that an object can go through in this order, from node 0 on, and no others.

    Args:
        values: by node, the object's state.
    """
    if values[0] != life[0]:
        return 0
    nodes, furthest = len(offsets) - 1, 1
    seen = np.zeros(nodes * len(life), np.bool_)
    stack = np.empty(nodes * len(life), np.int64)
    seen[0], stack[0], size = True, 0, 1
    while size > 0:
        size -= 1
        position, n = stack[size] // nodes, stack[size] % nodes
        furthest = max(furthest, position + 1)
        if furthest == len(life):
            break
        for e in range(offsets[n], offsets[n + 1]):
            to = targets[e]
            if values[to] == values[n]:
                node = position * nodes + to
            elif values[to] == life[position + 1]:
                node = (position + 1) * nodes + to
            else:
                continue
            if not seen[node]:
                seen[node] = True
                stack[size] = node
                size += 1
    return furthest

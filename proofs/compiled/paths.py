"""Searches on a graph in compressed rows: node ``n`` has the edges from ``offsets[n]`` to ``offsets[n + 1]``.

For each edge, ``targets`` has its target and ``choices`` the number of its choice. ``allowed`` says for each choice whether
its edges count. Sets of nodes are arrays of truth values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.inner_loops import inner_loop

NONE = -1


@inner_loop
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


@inner_loop
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


def packed(sets: Sequence[NDArray[np.bool_]], nodes: int) -> NDArray[Any]:
    """By node, a bit for each of up to 64 sets of nodes; in as few bytes as that takes, which stay in the processor's cache."""
    kind: Any = np.uint8 if len(sets) <= 8 else np.uint16 if len(sets) <= 16 else np.uint64
    bits: NDArray[Any] = np.zeros(nodes, kind)
    for place, members_of in enumerate(sets):
        bits |= members_of.astype(kind) << kind(place)
    return bits


def members(bits: NDArray[Any], place: int) -> NDArray[np.bool_]:
    """The nodes that have a bit."""
    nodes: NDArray[np.bool_] = (bits & bits.dtype.type(1 << place)) != 0
    return nodes


MOST_SWEEPS = 16
"""The limit of passes over all nodes: a path that zigzags through the numbers needs one for each turn."""


@inner_loop
def spread(offsets: Any, targets: Any, choices: Any, allowed: Any, bits: Any, full: Any) -> bool:
    """Gives each node the bits of all nodes that it can reach, for up to 64 sets of goals at once.

    It sweeps over the nodes, first from the last to the first: most edges lead to a greater number.

    Args:
        bits: by node, the bits of the sets that it is in; changed in place.
        full: all bits.

    Returns:
        Whether it finished within ``MOST_SWEEPS`` sweeps; if not, bits are missing.
    """
    nodes, every = len(offsets) - 1, allowed.all()
    for sweep in range(MOST_SWEEPS):
        changed = False
        for i in range(nodes):
            n = i if sweep % 2 else nodes - 1 - i
            before = bits[n]
            if before == full:
                continue
            now = before
            for e in range(offsets[n], offsets[n + 1]):
                if every or allowed[choices[e]]:
                    now |= bits[targets[e]]
                    if now == full:
                        break
            if now != before:
                bits[n], changed = now, True
        if not changed:
            return True
    return False


@inner_loop
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
        now[:size].sort()  # of several last edges, the one from the least node counts, as in the interpreted engine
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


@inner_loop
def trim(offsets: Any, targets: Any, choices: Any, allowed: Any, weak: Any, strong: Any, regions: Any) -> None:
    """Removes nodes from regions, up to 64 at once, most of those in which no fair run can stay; other arguments as for :func:`fair`.

    A node that leads to no other one of a region is a component of its own, and so is one that leads only to such nodes that were
    removed. They are removed if no fair run can stay in them. If a region has no cycles, some sweeps remove nearly all, and
    each looks at few edges of a node. They end when they have looked at three times as many edges as the nodes have.

    Args:
        regions: by node, the bits of the regions that it is in.
    """
    nodes, every = len(offsets) - 1, allowed.all()
    edges_left, upwards, removes = 0, False, True
    for n in range(nodes):
        if regions[n]:
            edges_left += 3 * (offsets[n + 1] - offsets[n] + 1)
    while edges_left > 0 and removes:
        removes = False
        for i in range(nodes):
            n = i if upwards else nodes - 1 - i
            before = regions[n]
            if before == 0:
                continue
            left = before ^ before
            for e in range(offsets[n], offsets[n + 1]):
                edges_left -= 1
                if targets[e] != n and (every or allowed[choices[e]]):
                    left |= before & regions[targets[e]]
                    if left == before:
                        break
            if left != before and not _can_stay(offsets, targets, choices, allowed, weak, strong, n):
                regions[n], removes = left, True
        upwards = not upwards


@inner_loop
def _can_stay(offsets: Any, targets: Any, choices: Any, allowed: Any, weak: Any, strong: Any, n: int) -> bool:
    """Whether a fair run can stay in a node: every fair choice that is enabled there is taken, and leads back."""
    for e in range(offsets[n], offsets[n + 1]):
        c = choices[e]
        if (weak[c] or strong[c]) and not (allowed[c] and targets[e] == n):
            return False
    return True


OUTSIDE = np.uint32((1 << 32) - 1)
"""The component of a node outside; those inside have smaller numbers, but greater than any number of nodes."""


@inner_loop
def fair(offsets: Any, targets: Any, choices: Any, allowed: Any, weak: Any, strong: Any, inside: Any) -> Any:
    """The strongly connected components of the nodes ``inside`` in which a fair run can stay.

    Components are found by Pearce's algorithm ("A space-efficient algorithm for finding strongly connected components",
    2016), with one number for each node: 0 before it is visited, then the least number on the path that it reaches, and at
    the end its component. Each component is checked as soon as it is complete.

    Args:
        allowed, weak, strong: by choice. A node may have several edges of a choice; those of a fair one do not lead back to it then.

    Returns:
        Two sets of nodes, and the component of each node. The first has the nodes of fair components. The second has the nodes to
        search again: those of components that only strong fairness excludes, without states that enable a neglected
        strongly fair choice.
    """
    nodes, every = len(offsets) - 1, allowed.all()
    is_fair, rest = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
    enabled, used = np.zeros(len(allowed), np.int64), np.zeros(len(allowed), np.bool_)
    last = np.full(len(allowed), -1, np.int64)
    numbers = np.zeros(nodes, np.uint32)
    size = 0
    for n in range(nodes):
        if inside[n]:
            size += 1
        else:
            numbers[n] = OUTSIDE
    path, at, is_root = np.empty(size, np.uint32), np.empty(size, np.int64), np.empty(size, np.bool_)
    closed = np.empty(size, np.uint32)  # nodes of incomplete components that the path has left
    top, index, component = 0, 1, OUTSIDE - np.uint32(1)
    for first in range(nodes):
        if numbers[first] != 0:
            continue
        path[0], at[0], is_root[0], length = first, offsets[first], True, 1
        numbers[first], index = index, index + 1
        while length > 0:
            n, e = path[length - 1], at[length - 1]
            end, least, deeper = offsets[n + 1], numbers[n], False
            while e < end:
                if every or allowed[choices[e]]:
                    to = targets[e]
                    number = numbers[to]
                    if number == 0:
                        deeper = True
                        break
                    if number < least:
                        least, is_root[length - 1] = number, False
                e += 1
            numbers[n], at[length - 1] = least, e
            if deeper:  # this edge is looked at again after the return
                path[length], at[length], is_root[length] = to, offsets[to], True
                numbers[to], index = index, index + 1
                length += 1
                continue
            length -= 1
            if not is_root[length]:
                closed[top] = n
                top += 1
                continue
            begin = top
            while begin > 0 and numbers[closed[begin - 1]] >= least:
                begin -= 1
                numbers[closed[begin]] = component
            numbers[n] = component
            closed[top] = n
            index -= top + 1 - begin
            _check(
                offsets,
                targets,
                choices,
                allowed,
                weak,
                strong,
                numbers,
                closed,
                begin,
                top + 1,
                enabled,
                used,
                last,
                is_fair,
                rest,
            )
            top, component = begin, component - np.uint32(1)
    return is_fair, rest, numbers


@inner_loop
def _check(
    offsets: Any, targets: Any, choices: Any, allowed: Any, weak: Any, strong: Any, parts: Any, members: Any, begin: int,
    end: int, enabled: Any, used: Any, last: Any, is_fair: Any, rest: Any,
) -> None:  # fmt: skip
    """Checks whether a fair run can stay in a component: its members are those from ``begin`` to ``end``.

    Args:
        enabled, used: buffers by choice, 0 before and after.
        last: by choice, the last node in which it was found enabled.
        is_fair, rest: the sets of nodes that :func:`fair` returns.
    """
    part, starved, missed = parts[members[begin]], False, False
    if end - begin == 1:
        is_fair[members[begin]] = _can_stay(offsets, targets, choices, allowed, weak, strong, members[begin])
        return
    for i in range(begin, end):
        n = members[i]
        for e in range(offsets[n], offsets[n + 1]):
            c = choices[e]
            if last[c] != n:
                enabled[c], last[c] = enabled[c] + 1, n
            if allowed[c] and parts[targets[e]] == part:
                used[c] = True
    for i in range(begin, end):
        n = members[i]
        for e in range(offsets[n], offsets[n + 1]):
            c = choices[e]
            if not used[c]:
                starved = starved or (weak[c] and enabled[c] == end - begin)
                missed = missed or strong[c]
    for i in range(begin, end):
        n = members[i]
        if not starved and not missed:
            is_fair[n] = True
        elif not starved:
            keeps = True
            for e in range(offsets[n], offsets[n + 1]):
                if strong[choices[e]] and not used[choices[e]]:
                    keeps = False
            rest[n] = keeps
    for i in range(begin, end):
        n = members[i]
        for e in range(offsets[n], offsets[n + 1]):
            enabled[choices[e]] = 0
            used[choices[e]] = False


@inner_loop
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

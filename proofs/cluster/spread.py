"""Inner loops of searches on a graph whose nodes are spread over workers.

Node ``i`` of worker ``me`` has the number ``i * parts + me``. A search has a stack of nodes. ``emit`` takes nodes from it, and
writes a message for each of their edges: the number at the other end, and a value. What a message does is up to its owner: the
functions ``take_...`` change arrays by node, and put nodes on the stack.

``state`` has the node that is being emitted (-1: none), its next edge, the number of nodes on the stack, and of those for later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedproof.proofs.compiled.kernel import call
from schedproof.proofs.compiled.table import U, entry, find, part_of, place_of
from schedproof.proofs.inner_loops import inner_loop

NODE, EDGE, SIZE, LATER = 0, 1, 2, 3
"""The indices of ``state``."""

NONE = 0xFFFFFFFF
"""The number of no node."""


@inner_loop
def ask(
    address: int, states: Any, first: int, rows: int, words: int, parts: int, offsets: Any, targets: Any, choices: Any,
    out: Any, chosen: Any, seen: Any, questions: Any, counts: Any,
) -> int:  # fmt: skip
    """Takes the steps of states, and asks the owners of the targets for their numbers.

    Args:
        states: ``rows`` states; the first is node ``first``.
        offsets, targets, choices: the edges, complete before ``first``. A target is its owner, until that has answered.
        questions: by owner, the states to ask for.

    Returns:
        The number of states whose steps were taken: fewer than ``rows`` if the questions to an owner are full.
    """
    state_at, out_at, chosen_at, seen_at = states.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    room, most, p = questions.shape[1] // words, len(chosen), U(parts)
    for n in range(rows):
        for q in range(parts):
            if counts[q] + most > room:
                return n
        e = offsets[first + n]
        steps = call(address, state_at + 8 * words * n, out_at, chosen_at, seen_at, n)
        for i in range(steps):
            owner = np.int64(part_of(entry(out, i * words, words), p))
            targets[e], choices[e] = owner, chosen[i]
            for k in range(words):
                questions[owner, counts[owner] * words + k] = out[i * words + k]
            counts[owner] += 1
            e += 1
        offsets[first + n + 1] = e
    return rows


@inner_loop
def answer(
    keys: Any, places: int, words: int, parts: int, me: int, ranks: Any, degrees: Any, states: Any, end: int
) -> Any:
    """The numbers of ``end`` states of this worker; each counts as one more edge to its node in ``degrees``."""
    numbers = np.empty(end, np.uint32)
    for i in range(end):
        value = entry(states, i * words, words)
        node = ranks[find(keys, states, i * words, words, value, U(place_of(value, U(parts), U(places))))]
        degrees[node] += 1
        numbers[i] = node * parts + me
    return numbers


@inner_loop
def fill(targets: Any, first: int, last: int, numbers: Any, starts: Any) -> None:
    """Replaces the owners of the edges ``first`` to ``last`` by the numbers that these have sent: ``starts`` has where theirs begin."""
    for e in range(first, last):
        q = np.int64(targets[e])
        targets[e] = numbers[starts[q]]
        starts[q] += 1


@inner_loop
def turn(
    offsets: Any, targets: Any, choices: Any, node: int, edge: int, parts: int, me: int, nodes: Any, sources: Any, by: Any,
    counts: Any,
) -> tuple[int, int]:  # fmt: skip
    """Sends edges to the owners of their targets, from an edge of a node on, until what goes to an owner is full.

    Returns:
        The next node and edge.
    """
    room = nodes.shape[1]
    while node < len(offsets) - 1:
        while edge < offsets[node + 1]:
            q = targets[edge] % parts
            if counts[q] == room:
                return node, edge
            nodes[q, counts[q]] = targets[edge] // parts
            sources[q, counts[q]] = node * parts + me
            by[q, counts[q]] = choices[edge]
            counts[q] += 1
            edge += 1
        node += 1
    return node, edge


@inner_loop
def turned(free: Any, sources: Any, choices: Any, nodes: Any, whence: Any, by: Any, end: int) -> None:
    """Adds edges to the reversed ones of the nodes that they lead to; ``free`` has the next place of each node."""
    for i in range(end):
        at = free[nodes[i]]
        sources[at], choices[at] = whence[i], by[i]
        free[nodes[i]] += 1


@inner_loop
def emit(
    offsets: Any, others: Any, choices: Any, allowed: Any, values: Any, parts: int, me: int, nodes: int, stack: Any,
    state: Any, queued: Any, recent: Any, numbers: Any, payloads: Any, counts: Any,
) -> None:  # fmt: skip
    """Takes nodes from the stack until it is empty, or the messages to a worker are full.

    Args:
        offsets, others, choices: the edges of each node, or the reversed ones.
        allowed: by choice, whether its edges count.
        values: by node, what to send; if it is empty, a stack's number of a node is ``nodes * value + node``.
        queued: by node, whether it is on the stack; empty if no rule asks.
        recent: messages that were sent lately, and need not be sent again; empty to send every message, but none from a node
            to itself.
        numbers, payloads, counts: the messages by worker.
    """
    room, slots = numbers.shape[1], recent.shape[0]
    while True:
        if state[NODE] < 0:
            if state[SIZE] == 0:
                return
            state[SIZE] -= 1
            state[NODE] = stack[state[SIZE]]
            state[EDGE] = offsets[state[NODE] % nodes]
            if len(queued) > 0:  # not when a node goes on: messages may have put it on the stack again meanwhile
                queued[state[NODE] % nodes] = False
        n = state[NODE] % nodes
        value = np.uint32(values[n]) if len(values) > 0 else np.uint32(state[NODE] // nodes)
        e = state[EDGE]
        while e < offsets[n + 1]:
            number = others[e]
            q = number % parts
            if allowed[choices[e]]:
                if counts[q] == room:
                    state[EDGE] = e
                    return
                if slots > 0:
                    slot = number % slots
                    fresh = recent[slot, 0] != number or recent[slot, 1] != value
                    recent[slot, 0], recent[slot, 1] = number, value
                else:
                    fresh = number != n * parts + me
                if fresh:
                    numbers[q, counts[q]], payloads[q, counts[q]] = number, value
                    counts[q] += 1
            e += 1
        state[NODE] = -1


@inner_loop
def take_reach(numbers: Any, payloads: Any, end: int, parts: int, stack: Any, state: Any, mark: Any) -> None:
    """Marks nodes."""
    for k in range(end):
        i = numbers[k] // parts
        if not mark[i]:
            mark[i] = True
            stack[state[SIZE]] = i
            state[SIZE] += 1


@inner_loop
def take_layer(
    numbers: Any, payloads: Any, end: int, parts: int, stack: Any, state: Any, mark: Any, depths: Any
) -> None:
    """Marks nodes that are one step nearer to the initial state than the sender."""
    for k in range(end):
        i = numbers[k] // parts
        if not mark[i] and depths[i] + 1 == payloads[k]:
            mark[i] = True
            stack[state[SIZE]] = i
            state[SIZE] += 1


@inner_loop
def take_length(
    numbers: Any, payloads: Any, end: int, parts: int, later: Any, state: Any, lengths: Any, goal: Any
) -> None:
    """Notes the length of a shortest run to nodes outside ``goal``; they come on the stack with the next length."""
    for k in range(end):
        i = numbers[k] // parts
        if lengths[i] < 0 and not goal[i]:
            lengths[i] = np.int64(payloads[k]) + 1
            later[state[LATER]] = i
            state[LATER] += 1


@inner_loop
def take_life(
    numbers: Any, payloads: Any, end: int, parts: int, stack: Any, state: Any, seen: Any, values: Any, life: Any
) -> None:
    """Goes on with a life at a node: its object is in the same state of the life, or in the next one."""
    for k in range(end):
        i, position = np.int64(numbers[k] // parts), np.int64(payloads[k])
        if values[i] != life[position]:
            position += 1
            if position == len(life) or values[i] != life[position]:
                continue
        if not seen[position, i]:
            seen[position, i] = True
            stack[state[SIZE]] = position * len(values) + i
            state[SIZE] += 1


@inner_loop
def take_count(numbers: Any, payloads: Any, end: int, parts: int, inside: Any, degrees: Any) -> None:
    """Counts edges between nodes ``inside``."""
    for k in range(end):
        i = numbers[k] // parts
        if inside[i]:
            degrees[i] += 1


@inner_loop
def take_trim(
    numbers: Any, payloads: Any, end: int, parts: int, stack: Any, state: Any, inside: Any, degrees: Any, alone: Any
) -> None:
    """Removes nodes without an edge that is left."""
    for k in range(end):
        i = numbers[k] // parts
        if inside[i]:
            degrees[i] -= 1
            if degrees[i] == 0:
                inside[i], alone[i] = False, True
                stack[state[SIZE]] = i
                state[SIZE] += 1


@inner_loop
def take_label(
    numbers: Any, payloads: Any, end: int, parts: int, stack: Any, state: Any, inside: Any, labels: Any, queued: Any
) -> None:
    """Notes the greatest number of a node from which a node can be reached."""
    for k in range(end):
        i = numbers[k] // parts
        if inside[i] and payloads[k] > labels[i]:
            labels[i] = payloads[k]
            if not queued[i]:
                queued[i] = True
                stack[state[SIZE]] = i
                state[SIZE] += 1


@inner_loop
def take_component(
    numbers: Any, payloads: Any, end: int, parts: int, stack: Any, state: Any, inside: Any, labels: Any, components: Any
) -> None:
    """Notes the component of nodes that have its label, and can reach the node of that number."""
    for k in range(end):
        i = numbers[k] // parts
        if inside[i] and components[i] == NONE and labels[i] == payloads[k]:
            components[i] = labels[i]
            stack[state[SIZE]] = i
            state[SIZE] += 1


@inner_loop
def fair_alone(
    offsets: Any, targets: Any, choices: Any, allowed: Any, owed: Any, parts: int, me: int, nodes: Any
) -> None:
    """Keeps only those of ``nodes`` in which a fair run can stay for ever; each is a component of its own."""
    for n in range(len(offsets) - 1):
        if not nodes[n]:
            continue
        for e in range(offsets[n], offsets[n + 1]):
            c = choices[e]
            if owed[c] and not (allowed[c] and targets[e] == n * parts + me):
                nodes[n] = False


@inner_loop
def keys_of(
    offsets: Any, choices: Any, counts: Any, components: Any, width: int, first: int, room: int, keys: Any
) -> tuple[int, int]:
    """The pairs of a component and a choice (as ``component * width + choice``) of the edges of nodes from ``first`` on.

    Args:
        counts: by choice, whether to include its edges.
        components: by node, its component, or NONE.
        room: the length of ``keys``, which receives the pairs.

    Returns:
        The next node, and the number of pairs.
    """
    n, size = first, 0
    while n < len(offsets) - 1 and size + (offsets[n + 1] - offsets[n]) <= room:
        if components[n] != NONE:
            for e in range(offsets[n], offsets[n + 1]):
                if counts[choices[e]]:
                    keys[size] = np.int64(components[n]) * width + choices[e]
                    size += 1
        n += 1
    return n, size


@inner_loop
def use(
    offsets: Any, targets: Any, choices: Any, counts: Any, components: Any, node: int, edge: int, parts: int, numbers: Any,
    payloads: Any, by: Any, ends: Any,
) -> tuple[int, int]:  # fmt: skip
    """As :func:`turn`: sends the component of each node along edges that count, with the choice."""
    room = numbers.shape[1]
    while node < len(offsets) - 1:
        if components[node] == NONE:
            node += 1
            edge = offsets[node]
            continue
        while edge < offsets[node + 1]:
            c = choices[edge]
            if counts[c]:
                q = targets[edge] % parts
                if ends[q] == room:
                    return node, edge
                numbers[q, ends[q]], payloads[q, ends[q]], by[q, ends[q]] = targets[edge], components[node], c
                ends[q] += 1
            edge += 1
        node += 1
    return node, edge


@inner_loop
def keep_served(offsets: Any, choices: Any, components: Any, width: int, missed: Any, nodes: Any) -> None:
    """Keeps only those of ``nodes`` in which no missed choice of their component is enabled.

    Args:
        missed: sorted pairs of a component and a choice, as those of :func:`keys_of`.
    """
    for n in range(len(nodes)):
        if nodes[n]:
            for e in range(offsets[n], offsets[n + 1]):
                key = np.int64(components[n]) * width + choices[e]
                at = np.searchsorted(missed, key)
                if at < len(missed) and missed[at] == key:
                    nodes[n] = False

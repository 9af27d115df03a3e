"""The inner loops of the compiled search: the steps of :mod:`.semantics` on packed states, breadth first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .automata import FINISHED, NOT_HELD, READ, READER, RECEIVE, RELEASE, SEND, WRITE, WRITER

U = np.uint64
_A, _B, _S32, _ONE = U(0xFF51AFD7ED558CCD), U(0xC4CEB9FE1A85EC53), U(32), U(1)

COUNT, NEXT, MOVES, CUT, SUSPECTS = range(5)
"""Of the numbers that a search keeps: states, the next one to expand, steps, whether states were left out, suspects."""

AT_END = 62
"""The bit of a suspect in which nothing moves; the others are those of threads."""


@njit(cache=True, nogil=True)
def search(
    tables: Any,
    fields: Any,
    states: Any,
    parents: Any,
    slots: Any,
    suspects: Any,
    numbers: Any,
    until: int,
    limit: int,
    reduced: bool,
    serves: bool,
    first: bool,
) -> Any:
    """Expands states, in their order, as far as state ``until``.

    Args:
        states, parents: by number its words, and the number of the state that it comes from.
        slots: a hash table of states: one more than their numbers; 0: empty. Its length is a power of two.
        suspects: numbers of states that may be a problem, each with the threads that it depends on, as bits.
        numbers: changed in place.
        limit: no more states than so many are kept.
        reduced: a thread that can release goes first, alone.
        serves: threads may be stuck for ever while others move.
        first: stop at the first suspect.

    Returns:
        The arrays ``states``, ``parents``, ``slots`` and ``suspects``, which may have grown.
    """
    words, threads = fields.words, len(fields.base)
    nodes, movers = np.empty(threads, np.int64), np.empty(threads, np.int64)
    out = np.empty(64 * words, np.uint64)
    while numbers[NEXT] < min(numbers[COUNT], until):
        state = numbers[NEXT]
        numbers[NEXT] += 1
        for t in range(threads):
            nodes[t] = fields.base[t] + _number(fields, states, state, t)
        alone = _releasing(tables, nodes) if reduced else -1
        found, moving, out = _successors(tables, fields, states, state, nodes, movers, alone, out)
        numbers[MOVES] += found
        count = numbers[COUNT]
        if (count + found) * words > states.size:
            states = _longer(states, 2 * (count + found) * words)
            parents = _longer(parents, 2 * (count + found))
        if 2 * (count + found) > slots.size:
            slots = _rehashed(states, words, count, 4 * slots.size)
        for i in range(found):
            slot = _slot(slots, states, out, i, words)
            if slots[slot] != 0:
                continue
            if count >= limit:
                numbers[CUT] = 1
                continue
            for w in range(words):
                states[count * words + w] = out[i * words + w]
            parents[count] = state
            count += 1
            slots[slot] = count
        numbers[COUNT] = count
        about = 0
        for t in range(threads):
            if tables.kind[nodes[t]] == NOT_HELD:
                about |= 1 << t
        if alone < 0 and (moving == 0 or serves):
            about |= _at_end(tables, nodes, moving)
        if about != 0:
            n = numbers[SUSPECTS]
            if 2 * n == suspects.size:
                suspects = _longer(suspects, 4 * n)
            suspects[2 * n], suspects[2 * n + 1] = state, about
            numbers[SUSPECTS] = n + 1
            if first:
                break
    return states, parents, slots, suspects


@njit(cache=True, nogil=True)
def add(states: Any, slots: Any, numbers: Any, state: Any) -> None:
    """Puts in an initial state, unless it is there; there is room for it."""
    words, count = state.size, numbers[COUNT]
    slot = _slot(slots, states, state, 0, words)
    if slots[slot] == 0:
        for w in range(words):
            states[count * words + w] = state[w]
        numbers[COUNT] = count + 1
        slots[slot] = count + 1


@njit(cache=True, nogil=True)
def _number(fields: Any, states: Any, state: int, field: int) -> Any:
    word = states[state * fields.words + fields.word[field]]
    return np.int64((word >> fields.shift[field]) & fields.mask[field])


@njit(cache=True, nogil=True)
def _longer(array: Any, size: int) -> Any:
    more = np.empty(size, array.dtype)
    more[: array.size] = array
    return more


# --- the hash table


@njit(cache=True, nogil=True)
def _slot(slots: Any, states: Any, out: Any, i: int, words: int) -> Any:
    """The slot of state ``i`` of ``out``, or the empty one that it belongs to."""
    value = U(0)
    for w in range(words):
        value = (value ^ out[i * words + w]) * _A
        value = (value ^ (value >> _S32)) * _B
    slot = np.int64((value ^ (value >> _S32)) & U(slots.size - 1))
    while slots[slot] != 0:
        at = (np.int64(slots[slot]) - 1) * words
        same = True
        for w in range(words):
            same &= states[at + w] == out[i * words + w]
        if same:
            break
        slot = (slot + 1) & (slots.size - 1)
    return slot


@njit(cache=True, nogil=True)
def _rehashed(states: Any, words: int, count: int, size: int) -> Any:
    slots = np.zeros(size, np.uint32)
    for n in range(count):
        slots[_slot(slots, states, states, n, words)] = n + 1
    return slots


# --- the steps


@njit(cache=True, nogil=True)
def _releasing(tables: Any, nodes: Any) -> int:
    """The first thread that can release something, or -1."""
    for t in range(nodes.size):
        if tables.kind[nodes[t]] == RELEASE:
            return t
    return -1


@njit(cache=True, nogil=True)
def _successors(
    tables: Any, fields: Any, states: Any, state: int, nodes: Any, movers: Any, alone: int, out: Any
) -> Any:
    """Every step from a state, or only those of thread ``alone``: how many, who takes part, and the states after."""
    threads, found, moving = nodes.size, 0, 0
    writes, reads, announced = 0, 0, 0
    for t in range(threads):
        writes |= tables.writes[nodes[t]]
        reads |= tables.reads[nodes[t]]
        if tables.kind[nodes[t]] == WRITER:
            announced |= 1 << tables.target[nodes[t]]
    for t in range(threads):
        if alone >= 0 and t != alone:
            continue
        kind, target, before = tables.kind[nodes[t]], tables.target[nodes[t]], found
        movers[0] = t
        if kind in (READ, WRITE):
            bit = 1 << target
            taken = (writes | announced) & bit != 0
            waits = taken if kind == READ else reads & bit != 0
            if taken and kind == WRITE:
                continue
            if waits:
                out = _room(out, (found + 1) * fields.words)
                _copy(fields, states, state, out, found)
                _change(fields, out, found, t, nodes[t] - fields.base[t], tables.asleep[nodes[t]])
                found += 1
            else:
                found, out = _advanced(tables, fields, states, state, nodes, movers, 1, out, found)
        elif kind == RELEASE:
            many = _woken(tables, fields, nodes, t, movers)
            found, out = _advanced(tables, fields, states, state, nodes, movers, many, out, found)
        elif kind == RECEIVE:
            messages = _number(fields, states, state, threads + target)
            if messages > 0:
                found, out = _advanced(tables, fields, states, state, nodes, movers, 1, out, found)
                for i in range(before, found):
                    _change(fields, out, i, threads + target, messages, messages - 1)
        elif kind == SEND and fields.capacity[target] == 0:
            for other in range(threads):
                if tables.kind[nodes[other]] == RECEIVE and tables.target[nodes[other]] == target:
                    movers[1] = other
                    moving |= 1 << other
                    found, out = _advanced(tables, fields, states, state, nodes, movers, 2, out, found)
        elif kind == SEND:
            messages = _number(fields, states, state, threads + target)
            if messages < fields.capacity[target] or fields.capacity[target] < 0:
                found, out = _advanced(tables, fields, states, state, nodes, movers, 1, out, found)
                for i in range(before, found):
                    _change(fields, out, i, threads + target, messages, messages + 1)
        if found > before:
            moving |= 1 << t
    return found, moving, out


@njit(cache=True, nogil=True)
def _woken(tables: Any, fields: Any, nodes: Any, thread: int, movers: Any) -> int:
    """Who goes on when a thread releases: itself and whom it wakes, in ``movers``."""
    node, many = nodes[thread], 1
    target = tables.target[node]
    bit = 1 << target
    wakes = READER  # those outside are in, before any other writer
    if tables.writes[node] & bit == 0:
        wakes = WRITER
        if tables.reads[fields.base[thread] + tables.then[tables.first[node]]] & bit != 0:
            return many  # it has read it more than once
        for t in range(nodes.size):
            if t != thread and tables.reads[nodes[t]] & bit != 0:
                return many
    for t in range(nodes.size):
        if tables.kind[nodes[t]] == wakes and tables.target[nodes[t]] == target:
            movers[many] = t
            many += 1
    return many


@njit(cache=True, nogil=True)
def _advanced(
    tables: Any, fields: Any, states: Any, state: int, nodes: Any, movers: Any, many: int, out: Any, found: int
) -> Any:
    """The first ``many`` of ``movers`` have got what they asked for: each way on, the last one's choices first."""
    ways = 1
    for k in range(many):
        ways *= tables.first[nodes[movers[k]] + 1] - tables.first[nodes[movers[k]]]
    out = _room(out, (found + ways) * fields.words)
    for way in range(ways):
        _copy(fields, states, state, out, found)
        rest = way
        for k in range(many - 1, -1, -1):
            t = movers[k]
            begin = tables.first[nodes[t]]
            choices = tables.first[nodes[t] + 1] - begin
            _change(fields, out, found, t, nodes[t] - fields.base[t], tables.then[begin + rest % choices])
            rest //= choices
        found += 1
    return found, out


@njit(cache=True, nogil=True)
def _room(out: Any, size: int) -> Any:
    return out if size <= out.size else _longer(out, 2 * size)


@njit(cache=True, nogil=True)
def _copy(fields: Any, states: Any, state: int, out: Any, to: int) -> None:
    for w in range(fields.words):
        out[to * fields.words + w] = states[state * fields.words + w]


@njit(cache=True, nogil=True)
def _change(fields: Any, out: Any, i: int, field: int, old: int, new: int) -> None:
    out[i * fields.words + fields.word[field]] ^= U(old ^ new) << fields.shift[field]


# --- who can never go on, as kinds.for_ever


@njit(cache=True, nogil=True)
def _at_end(tables: Any, nodes: Any, moving: int) -> Any:
    """The threads that what is wrong in a state depends on, as bits; 0: nothing is."""
    stuck, done, leaks = 0, 0, False
    for t in range(nodes.size):
        if tables.kind[nodes[t]] == FINISHED:
            done |= 1 << t
            leaks |= tables.writes[nodes[t]] | tables.reads[nodes[t]] != 0
        elif moving >> t & 1 == 0:
            stuck |= 1 << t
    changed = True
    while changed:
        changed = False
        for t in range(nodes.size):
            if stuck >> t & 1 and not _hopeless(tables, nodes, t, stuck, done):
                stuck ^= 1 << t
                changed = True
    for t in range(nodes.size):
        if tables.rests[nodes[t]]:
            stuck &= ~(1 << t)
    if stuck == 0 and not (leaks and moving == 0):
        return 0
    return stuck | done | (0 if moving else 1 << AT_END)


@njit(cache=True, nogil=True)
def _hopeless(tables: Any, nodes: Any, thread: int, stuck: int, done: int) -> bool:
    """A thread waits for one that is stuck or done, or for messages that only such could see to."""
    kind, target = tables.kind[nodes[thread]], tables.target[nodes[thread]]
    if kind in (RECEIVE, SEND):
        comes = tables.sends if kind == RECEIVE else tables.receives
        for t in range(nodes.size):
            if t != thread and stuck >> t & 1 == 0 and comes[nodes[t]] >> target & 1:
                return False
        return True
    if kind in (RELEASE, NOT_HELD):
        return False
    for t in range(nodes.size):
        if (stuck | done) >> t & 1:
            node = nodes[t]
            reading = tables.reads[node] >> target & 1
            writing = tables.writes[node] >> target & 1 or (
                tables.kind[node] == WRITER and tables.target[node] == target
            )
            if (kind == WRITER and reading) or (kind != WRITER and (writing or (kind == WRITE and reading))):
                return True
    return False

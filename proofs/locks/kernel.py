"""The inner loops of the compiled search: the steps of :mod:`.semantics` on packed states, breadth first.

All functions share these arguments. ``table`` and ``then`` are those of :class:`.automata.Automata`.
``fields`` is that of :class:`.automata.Packing`. ``nodes`` has for each thread its row of ``table``.
Sets of threads and of locks are bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedproof.proofs.inner_loops import inner_loop

from .automata import (
    ACT,
    AFTER,
    ALIKE,
    ASLEEP,
    BASE,
    BODY,
    CAPACITY,
    CHANGES,
    EVERYONE,
    FATAL,
    FINISHED,
    FIRST,
    GIVES,
    GUARDS,
    KIND,
    LAST,
    LEAVE,
    MASK,
    MEETS,
    NAP,
    NEEDS,
    NOT_HELD,
    PARK,
    READ,
    READ_FREE,
    READ_PAST,
    READER,
    READS,
    RECEIVE,
    RELEASE,
    RESTS,
    SEND,
    SHIFT,
    STEP,
    TARGET,
    WAKES,
    WAYS,
    WORD,
    WRITE,
    WRITER,
    WRITES,
)

U = np.uint64
ZERO = np.int64(0)
"""Where a loop begins that calls other functions: for the literal 0 numba would compile all of these once more."""

_A, _B, _S32 = U(0xFF51AFD7ED558CCD), U(0xC4CEB9FE1A85EC53), U(32)

COUNT, NEXT, MOVES, CUT, SUSPECTS = range(5)
"""The numbers that a search keeps: states, the next state to expand, steps, whether states were left out, suspects."""

AT_END = 62
"""The bit of a suspect in which no thread moves; the other bits are threads."""


@inner_loop
def search(
    table: Any,
    then: Any,
    fields: Any,
    threads: int,
    states: Any,
    parents: Any,
    slots: Any,
    suspects: Any,
    numbers: Any,
    until: int,
    limit: int,
    reduced: bool,
    serves: bool,
    renamed: bool,
) -> Any:
    """Expands states in order, up to state number ``until``.

    Args:
        states, parents: for each state its words, and the number of its predecessor.
        slots: a hash table of states: state number plus one, or 0 for empty. Its length is a power of two.
        suspects: numbers of states that may have a problem, each with the threads that the problem depends on.
        numbers: counters that change in place: COUNT, NEXT, MOVES, CUT and SUSPECTS.
        limit: the most states to keep.
        reduced: a thread that can release goes first, alone.
        serves: threads may be stuck forever while others move.
        renamed: keep one of the states that differ only in the names of threads; stop at the first suspect.

    Returns:
        The arrays ``states``, ``parents``, ``slots`` and ``suspects``, which may have grown.
    """
    nodes, movers, owners = (np.empty(threads, np.int64), np.empty(threads, np.int64), np.empty(threads, np.int64))
    out = np.empty((64, states.shape[1]), np.uint64)
    while numbers[NEXT] < min(numbers[COUNT], until):
        state, count = numbers[NEXT], numbers[COUNT]
        numbers[NEXT] += 1
        for t in range(threads):
            nodes[t] = fields[t, BASE] + _number(fields, states, state, t)
        alone = _releasing(table, nodes) if reduced else -1
        new, moving, out = _successors(table, then, fields, nodes, states, state, alone, movers, out)
        numbers[MOVES] += new
        if count + new > len(states):
            states = _longer(states, 2 * (count + new))
            parents = _longer(parents, 2 * (count + new))
        size = len(slots)
        while size < 2 * (count + new):
            size *= 2
        if size > len(slots):
            slots = rehashed(states, count, size)
        for i in range(new):
            if renamed:
                _order(fields, threads, out, i, owners)
            slot = _slot(slots, states, out, i)
            if slots[slot, 0] != 0:
                continue
            if count >= limit:
                numbers[CUT] = 1
                continue
            for w in range(states.shape[1]):
                states[count, w] = out[i, w]
            parents[count, 0] = state
            count += 1
            slots[slot, 0] = count
        numbers[COUNT] = count
        about, ended = ZERO, ZERO
        for t in range(threads):
            if table[nodes[t], KIND] == NOT_HELD:
                about |= 1 << t
            if _ends(table, then, fields, nodes, states, state, t):
                ended |= 1 << t
        about |= ended
        if alone < 0 and (moving == 0 or serves):
            about |= _at_end(table, nodes, moving, ended)
        if about != 0:
            n = numbers[SUSPECTS]
            if n == len(suspects):
                suspects = _longer(suspects, 2 * n)
            suspects[n, 0], suspects[n, 1] = state, about
            numbers[SUSPECTS] = n + 1
            if renamed:
                break
    return states, parents, slots, suspects


@inner_loop
def _number(fields: Any, states: Any, state: int, field: int) -> Any:
    """The number of a thread or a channel in a state."""
    return np.int64(states[state, fields[field, WORD]] >> U(fields[field, SHIFT])) & fields[field, MASK]


@inner_loop
def _longer(array: Any, size: int) -> Any:
    more = np.empty((size, array.shape[1]), array.dtype)
    for n in range(len(array)):  # loops compile in a fraction of the time of an assignment
        for k in range(array.shape[1]):
            more[n, k] = array[n, k]
    return more


# --- the hash table


@inner_loop
def _slot(slots: Any, states: Any, out: Any, i: int) -> Any:
    """The slot of state ``i`` of ``out``, or the empty slot for it."""
    value = U(0)
    for w in range(states.shape[1]):
        value = (value ^ out[i, w]) * _A
        value = (value ^ (value >> _S32)) * _B
    slot = np.int64((value ^ (value >> _S32)) & U(len(slots) - 1))
    while slots[slot, 0] != 0:
        known = np.int64(slots[slot, 0]) - 1
        same = True
        for w in range(states.shape[1]):
            same &= states[known, w] == out[i, w]
        if same:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@inner_loop
def rehashed(states: Any, count: int, size: int) -> Any:
    """A hash table with ``size`` slots of the first ``count`` states, which must be distinct."""
    slots = np.zeros((size, 1), np.uint32)
    for n in range(count):
        slots[_slot(slots, states, states, n), 0] = n + 1
    return slots


# --- the steps


@inner_loop
def _releasing(table: Any, nodes: Any) -> int:
    """The first thread that can release a lock, or -1."""
    for t in range(len(nodes)):
        if table[nodes[t], KIND] == RELEASE:
            return t
    return -1


@inner_loop
def _successors(
    table: Any, then: Any, fields: Any, nodes: Any, states: Any, state: int, alone: int, movers: Any, out: Any
) -> Any:
    """Every step from a state, or only those of thread ``alone``: their number, the threads, the states after."""
    threads, count, moving = len(nodes), ZERO, ZERO
    writes, reads, announced = 0, 0, 0
    for t in range(threads):
        writes |= table[nodes[t], WRITES]
        reads |= table[nodes[t], READS]
        if table[nodes[t], KIND] == WRITER:
            announced |= 1 << table[nodes[t], TARGET]
    for t in range(threads):
        if alone >= 0 and t != alone:
            continue
        kind, target = table[nodes[t], KIND], table[nodes[t], TARGET]
        movers[0], many, sleeps, meets, change, past = t, 0, False, False, 0, False
        if kind == ACT:
            acting, count, out = _acted(table, then, fields, nodes, states, state, t, movers, out, count)
            moving |= acting
            continue
        if kind == READ_PAST:
            # Beside a writer that waits there are two steps: the thread passes it, or waits for it.
            if writes >> target & 1 == 0:
                many, past = 1, announced >> target & 1 != 0
        elif kind in (READ, WRITE, READ_FREE):
            held = (writes | announced) >> target & 1 != 0
            sleeps = (kind == READ and held) or (kind == WRITE and reads >> target & 1 != 0)
            many = 1 if kind == READ or not held else 0
        elif kind in (STEP, NAP):
            many = 1
        elif kind in (RELEASE, LEAVE):
            many = _woken(table, then, fields, nodes, t, movers)
        elif kind == RECEIVE and _number(fields, states, state, threads + target) > 0:
            many, change = 1, -1
        elif kind == SEND:
            capacity = fields[threads + target, CAPACITY]
            meets = capacity == 0
            if capacity < 0 or _number(fields, states, state, threads + target) < capacity:
                many, change = 1, 1
        for other in range(threads if meets else 2 if past else 1):
            if meets:
                many = 2 if table[nodes[other], KIND] == RECEIVE and table[nodes[other], TARGET] == target else 0
                movers[1] = other
            sleeps |= past and other == 1
            if many > 0:
                moving |= 1 << t
                moving |= 1 << other if meets else 0
                count, out = _advanced(
                    table, then, fields, nodes, states, state, movers, many, sleeps, change, out, count
                )
    return count, moving, out


@inner_loop
def _passes(then: Any, fields: Any, threads: int, states: Any, state: int, way: int) -> bool:
    """Whether the guards of a way hold."""
    for k in range(then[way + GUARDS]):
        at = way + BODY + 3 * k
        number = _number(fields, states, state, threads + then[at])
        if number < then[at + 1] or number > then[at + 2]:
            return False
    return True


@inner_loop
def _able(table: Any, then: Any, fields: Any, nodes: Any, states: Any, state: int, thread: int) -> bool:
    """Whether a thread can take a way by itself, so that the last ones are left out."""
    node = nodes[thread]
    for k in range(table[node, WAYS]):
        way = then[table[node, FIRST] + k]
        if then[way + MEETS] < 0 and not then[way + LAST] and _passes(then, fields, len(nodes), states, state, way):
            return True
    return False


@inner_loop
def _ends(table: Any, then: Any, fields: Any, nodes: Any, states: Any, state: int, thread: int) -> bool:
    """Whether the whole program can end with the next step of a thread."""
    node = nodes[thread]
    if table[node, KIND] != ACT:
        return False
    for k in range(table[node, WAYS]):
        way = then[table[node, FIRST] + k]
        if then[way + FATAL] and _passes(then, fields, len(nodes), states, state, way):
            return True
    return False


@inner_loop
def _acted(
    table: Any, then: Any, fields: Any, nodes: Any, states: Any, state: int, t: int, movers: Any, out: Any, count: int
) -> Any:
    """The steps of thread ``t`` at ways: the threads that move, the number of states after, and these."""
    moving, threads = 0, len(nodes)
    able = _able(table, then, fields, nodes, states, state, t)
    for k in range(table[nodes[t], WAYS]):
        way = then[table[nodes[t], FIRST] + k]
        if then[way + FATAL] or (then[way + LAST] and able) or not _passes(then, fields, threads, states, state, way):
            continue
        meets, wakes = then[way + MEETS], then[way + WAKES]
        if meets >= 0 and meets & 1:
            continue  # a receiver moves with its sender
        # First who wakes everyone or nobody, then each partner of a message, and each thread that alone is woken.
        everyone = then[way + EVERYONE] != 0
        if meets < 0:
            moving |= 1 << t
        movers[0], many = t, 1
        for other in range(threads if wakes >= 0 else 0):
            if table[nodes[other], KIND] in (PARK, NAP) and table[nodes[other], TARGET] == wakes:
                movers[many] = other
                many += 1
        alone = meets < 0 and (everyone or many == 1)
        for other in range(1 if alone else threads):
            if other == t and not alone:
                continue
            kind = table[nodes[other], KIND]
            partner = meets >= 0 and kind == ACT
            woken = meets < 0 and kind in (PARK, NAP) and table[nodes[other], TARGET] == wakes
            for j in range(table[nodes[other], WAYS] if partner else 1 if alone or woken else 0):
                its = -1
                if partner:
                    its = then[table[nodes[other], FIRST] + j]
                    if then[its + MEETS] != meets + 1 or not _passes(then, fields, threads, states, state, its):
                        continue
                    moving |= 1 << t | 1 << other
                if not alone:
                    movers[1], many = other, 2
                count, out = _after_ways(table, then, fields, nodes, states, state, movers, many, way, its, out, count)
    return moving, count, out


@inner_loop
def _after_ways(
    table: Any,
    then: Any,
    fields: Any,
    nodes: Any,
    states: Any,
    state: int,
    movers: Any,
    many: int,
    way: int,
    its: int,
    out: Any,
    count: int,
) -> Any:
    """The states after the first of ``movers`` takes ``way``, the second ``its`` (if not -1), and the others wake up."""
    ways = then[way + AFTER]
    for k in range(1, many):
        ways *= then[its + AFTER] if its >= 0 else table[nodes[movers[k]], WAYS]
    if count + ways > len(out):
        out = _longer(out, 2 * (count + ways))
    for number in range(ways):
        for w in range(states.shape[1]):
            out[count, w] = states[state, w]
        rest = number
        for k in range(many - 1, -1, -1):
            node = nodes[movers[k]]
            first, choices = table[node, FIRST], table[node, WAYS]
            if k == 0 or its >= 0:
                route = way if k == 0 else its
                first = route + BODY + 3 * (then[route + GUARDS] + then[route + CHANGES])
                choices = then[route + AFTER]
            _change(fields, out, count, movers[k], node - fields[movers[k], BASE], then[first + rest % choices])
            rest //= choices
        _count(then, fields, len(nodes), out, count, way)
        if its >= 0:
            _count(then, fields, len(nodes), out, count, its)
        count += 1
    return count, out


@inner_loop
def _count(then: Any, fields: Any, threads: int, out: Any, i: int, way: int) -> None:
    """Changes the counters in state ``i`` of ``out``."""
    for k in range(then[way + CHANGES]):
        at = way + BODY + 3 * (then[way + GUARDS] + k)
        old = _number(fields, out, i, threads + then[at])
        _change(fields, out, i, threads + then[at], old, then[at + 1] * old + then[at + 2])


@inner_loop
def _woken(table: Any, then: Any, fields: Any, nodes: Any, thread: int, movers: Any) -> int:
    """Puts into ``movers`` the releasing thread and the threads that it wakes; returns their number."""
    node, many = nodes[thread], 1
    lock = table[node, TARGET]
    wakes = READER  # waiting readers get the lock before any other writer
    if table[node, WRITES] >> lock & 1 == 0:
        wakes = WRITER
        if table[fields[thread, BASE] + then[table[node, FIRST]], READS] >> lock & 1:
            return many  # the thread has acquired the read lock more than once
        for t in range(len(nodes)):
            if t != thread and table[nodes[t], READS] >> lock & 1:
                return many
    for t in range(len(nodes)):
        if table[nodes[t], KIND] == wakes and table[nodes[t], TARGET] == lock:
            movers[many] = t
            many += 1
    return many


@inner_loop
def _advanced(
    table: Any,
    then: Any,
    fields: Any,
    nodes: Any,
    states: Any,
    state: int,
    movers: Any,
    many: int,
    sleeps: bool,
    change: int,
    out: Any,
    count: int,
) -> Any:
    """The states after the first ``many`` of ``movers`` get what they asked for, for each choice of their next nodes.

    The choices of the last mover vary first.

    Args:
        sleeps: the only mover waits instead.
        change: the change of the number of messages in the first mover's channel.
    """
    ways = 1
    if not sleeps:
        for k in range(many):
            ways *= table[nodes[movers[k]], WAYS]
    if count + ways > len(out):
        out = _longer(out, 2 * (count + ways))
    for way in range(ways):
        for w in range(states.shape[1]):
            out[count, w] = states[state, w]
        rest = way
        for k in range(many - 1, -1, -1):
            t = movers[k]
            node = nodes[t]
            after = table[node, ASLEEP]
            if not sleeps:
                after = then[table[node, FIRST] + rest % table[node, WAYS]]
                rest //= table[node, WAYS]
            _change(fields, out, count, t, node - fields[t, BASE], after)
        if change != 0:
            channel = len(nodes) + table[nodes[movers[0]], TARGET]
            messages = _number(fields, states, state, channel)
            _change(fields, out, count, channel, messages, messages + change)
        count += 1
    return count, out


@inner_loop
def _change(fields: Any, out: Any, i: int, field: int, old: int, new: int) -> None:
    """Replaces the number of a thread or a channel in state ``i`` of ``out``."""
    out[i, fields[field, WORD]] ^= U(old ^ new) << U(fields[field, SHIFT])


@inner_loop
def _order(fields: Any, threads: int, out: Any, i: int, owners: Any) -> None:
    """Sorts threads with the same program, as :func:`.symmetry.representative` does; ``owners`` are sorted with them."""
    for t in range(threads):
        other = fields[t, ALIKE]
        while other >= 0:
            own_number, other_number = _number(fields, out, i, t), _number(fields, out, i, other)
            if other_number < own_number:
                _change(fields, out, i, t, own_number, other_number)
                _change(fields, out, i, other, other_number, own_number)
                owners[t], owners[other] = owners[other], owners[t]
            other = fields[other, ALIKE]


# --- threads that can never continue, as in continuing.Graph


@inner_loop
def gathered(
    table: Any,
    then: Any,
    fields: Any,
    threads: int,
    states: Any,
    slots: Any,
    bits: Any,
    first: int,
    last: int,
    reduced: bool,
    renamed: bool,
    moves: bool,
) -> Any:
    """Adds to the bits of states those of the states after them, from the last state to the first.

    Args:
        states, slots: all reachable states, and their hash table.
        bits: the bits of each state.
        first, last: the number of the first state, and that after the last one.
        reduced, renamed: as in the search.
        moves: also add the threads that move there, or need not continue.

    Returns:
        Whether some bits have changed.
    """
    nodes, movers, owners = (np.empty(threads, np.int64), np.empty(threads, np.int64), np.empty(threads, np.int64))
    out = np.empty((64, states.shape[1]), np.uint64)
    changed, every = False, (1 << threads) - 1
    for state in range(last - 1, first - 1, -1):
        now = bits[state]
        if now == every:
            continue
        for t in range(threads):
            nodes[t] = fields[t, BASE] + _number(fields, states, state, t)
            if moves and (table[nodes[t], KIND] == FINISHED or table[nodes[t], RESTS]):
                now |= 1 << t
        alone = _releasing(table, nodes) if reduced else -1
        new, moving, out = _successors(table, then, fields, nodes, states, state, alone, movers, out)
        if moves:
            now |= moving
        for i in range(new):
            for t in range(threads):
                owners[t] = t
            if renamed:
                _order(fields, threads, out, i, owners)
            later = bits[np.int64(slots[_slot(slots, states, out, i), 0]) - 1]
            for t in range(threads):
                now |= (later >> t & 1) << owners[t]
        if now != bits[state]:
            bits[state], changed = now, True
    return changed


# --- threads of which one state shows that they can never continue, as in kinds.for_ever


@inner_loop
def _at_end(table: Any, nodes: Any, moving: int, ended: int) -> Any:
    """The threads that the problem of a state depends on; no bits if the state has none.

    ``ended``: the threads that can end the program.
    """
    stuck, done, leaks = ZERO, ZERO, False
    for t in range(len(nodes)):
        if table[nodes[t], KIND] == FINISHED:
            done |= 1 << t
            leaks |= table[nodes[t], WRITES] | table[nodes[t], READS] != 0
        elif (moving | ended) >> t & 1 == 0:
            stuck |= 1 << t
    changed = True
    while changed:
        changed = False
        for t in range(len(nodes)):
            if stuck >> t & 1 and not _hopeless(table, nodes, t, stuck, done):
                stuck ^= 1 << t
                changed = True
    for t in range(len(nodes)):
        if table[nodes[t], RESTS]:
            stuck &= ~(1 << t)
    if stuck == 0 and not (leaks and moving == 0):
        return 0
    return stuck | done | (0 if moving else 1 << AT_END)


@inner_loop
def _hopeless(table: Any, nodes: Any, thread: int, stuck: int, done: int) -> bool:
    """Whether a thread waits for one that is stuck or done, or for what only such threads could bring about."""
    kind, target = table[nodes[thread], KIND], table[nodes[thread], TARGET]
    if kind in (RECEIVE, SEND, ACT, PARK):
        for t in range(len(nodes)):
            if t != thread and stuck >> t & 1 == 0 and table[nodes[t], GIVES] & table[nodes[thread], NEEDS]:
                return False
        return True
    if kind in (RELEASE, LEAVE, NOT_HELD):
        return False
    for t in range(len(nodes)):
        if (stuck | done) >> t & 1:
            node = nodes[t]
            reading = table[node, READS] >> target & 1 != 0
            writing = table[node, WRITES] >> target & 1 != 0
            writing |= table[node, KIND] == WRITER and table[node, TARGET] == target
            if reading if kind == WRITER else writing or (reading and kind == WRITE):
                return True
    return False

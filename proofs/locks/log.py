"""Checks a log of a running program's acquisitions against the order of a lock description.

The program logs an acquisition after it happens, and a release before it happens. So a log never shows a deadlock.
But it shows every acquisition that could be part of one.
With an order, that is an acquisition against the order, given what the thread holds.
Without an order, it is an acquisition that closes a circle with earlier ones (as in Linux's lockdep). So it is for
locks that are ordered by key, if the description does not have both: a log does not have the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx

from schedproof.model.locks import Locks
from schedproof.model.locks.language import Kind, Mode, OrderRow

from .rank import Rank


@dataclass(frozen=True)
class Acquisition:
    """One record: ``thread`` has acquired a lock, or is about to release it.

    Args:
        number, line: the number of the record, and of its line in the file.
        of: the lock's class.
        inside: the locks of that class that contain the lock, the outermost first, as far as the log has them.
        mode: None for a release.
    """

    number: int
    line: int
    thread: str
    lock: str
    of: str
    inside: tuple[str, ...]
    mode: Mode | None


@dataclass(frozen=True)
class Wrong:
    """The first record with an error: the reason, and the row of the order that it contradicts, if there is one."""

    record: Acquisition
    reason: str
    row: OrderRow | None = None


Orders = Sequence[tuple[Acquisition, Acquisition]]
"""Acquisitions of which the second was made while the first was held."""


@dataclass(frozen=True)
class Logged:
    """The result of a log.

    Args:
        records: the number of records.
        wrong: the first error, if there is one.
        held: the locks that are still held at the end.
        orders: for each two classes the first acquisition of one under the other.
    """

    records: int
    wrong: Wrong | None
    held: tuple[Acquisition, ...]
    orders: Orders = ()


@dataclass
class _Holders:
    """The locks that are held, by thread and by lock, in the order of acquisition."""

    by_thread: dict[str, list[Acquisition]] = field(default_factory=dict)
    by_lock: dict[str, list[Acquisition]] = field(default_factory=dict)


def validate_log(locks: Locks, rank: Rank | None, records: Iterable[Acquisition]) -> Logged:
    """Checks ``records`` against the order of ``locks``. Memory grows with the locks, not with the records.

    Args:
        locks: the description.
        rank: the rank of the order. None if there is no order, or no acyclic one: then the check searches for circles.
        records: the log.
    """
    holders = _Holders()
    inside: dict[str, str] = {}
    under: nx.DiGraph[str] = nx.DiGraph()
    orders: dict[tuple[str, str], tuple[Acquisition, Acquisition]] = {}
    count = 0
    for record in records:
        count += 1
        for outer, inner in pairwise((*record.inside, record.lock)):
            inside[inner] = outer
        own_locks = holders.by_thread.setdefault(record.thread, [])
        its = holders.by_lock.setdefault(record.lock, [])
        if record.mode is None:
            held = next((one for one in reversed(own_locks) if one.lock == record.lock), None)
            if held is None:
                reason = f"{record.thread} releases {record.lock}, which it does not hold"
                return Logged(count, Wrong(record, reason), (), [*orders.values()])
            own_locks.remove(held)
            its.remove(held)
            continue
        for one in own_locks:
            orders.setdefault((one.of, record.of), (one, record))
        wrong = _against(locks, rank, inside, under, record, own_locks, its)
        if wrong is not None:
            return Logged(count, wrong, (), [*orders.values()])
        own_locks.append(record)
        its.append(record)
    still_held = tuple(one for own_locks in holders.by_thread.values() for one in own_locks)
    return Logged(count, None, still_held, [*orders.values()])


def _against(
    locks: Locks,
    rank: Rank | None,
    inside: dict[str, str],
    under: nx.DiGraph[str],
    record: Acquisition,
    own_locks: list[Acquisition],
    its: list[Acquisition],
) -> Wrong | None:
    for held in own_locks:
        since = (
            f"{record.thread} holds {held.of} {held.lock} ({held.mode}) since record {held.number} (line {held.line})"
        )
        if held.lock == record.lock:
            return Wrong(record, f"{since}, and acquires it again; locks are not re-entrant")
        goes_up = _goes_up(locks, rank, inside, held, record)
        if rank is not None and goes_up is not None:
            if not goes_up:
                row = next((r for r in locks.order if (r.holding, r.acquired) == (record.of, held.of)), None)
                return Wrong(record, f"{since}, and acquires {record.of} {record.lock}; the order is {rank.text}", row)
        elif under.has_node(record.lock) and under.has_node(held.lock) and nx.has_path(under, record.lock, held.lock):
            way = nx.shortest_path(under, record.lock, held.lock)
            reasons = "; ".join(
                f"{b} was acquired under {a} by {under.edges[a, b]['thread']} (line {under.edges[a, b]['line']})"
                for a, b in pairwise(way)
            )
            return Wrong(record, f"{since}, and acquires {record.lock}; but {reasons}: a circle")
        if not under.has_edge(held.lock, record.lock):
            under.add_edge(held.lock, record.lock, thread=record.thread, line=record.line)
    for other in its:
        if record.mode is not Mode.READ or other.mode is not Mode.READ:
            reason = (
                f"{record.thread} has acquired {record.of} {record.lock} ({record.mode}), which {other.thread} holds "
                f"({other.mode}) since record {other.number} (line {other.line}): the lock does not exclude them, or the log is out of order"
            )
            return Wrong(record, reason)
    return None


def _goes_up(
    locks: Locks, rank: Rank | None, inside: dict[str, str], held: Acquisition, record: Acquisition
) -> bool | None:
    """Whether a lock comes after one that is held; None if there is no order, or their keys are unknown."""
    if rank is None:
        return None
    if held.of != record.of:
        return rank.numbers[held.of] < rank.numbers[record.of]
    if held.of in rank.keyed:
        keys = {name: key for key, name in enumerate(locks.objects)}
        if not {held.lock, record.lock} <= keys.keys():
            return None
        return rank.signs[held.of] * keys[held.lock] < rank.signs[held.of] * keys[record.lock]
    return rank.signs[held.of] * _depth(inside, held.lock) < rank.signs[held.of] * _depth(inside, record.lock)


def _depth(inside: dict[str, str], lock: str) -> int:
    depth, outer = 0, inside.get(lock)
    while outer is not None:
        depth, outer = depth + 1, inside.get(outer)
    return depth


def mode_of(locks: Locks, of: str, word: str) -> Mode | None:
    """The mode that a log calls "read" or "write"; None if locks of the class lack that mode."""
    if locks.classes[of].kind is Kind.MUTEX:
        return Mode.LOCK if word == "write" else None
    return Mode.READ if word == "read" else Mode.WRITE


__all__ = ["Acquisition", "Logged", "Orders", "Wrong", "mode_of", "validate_log"]

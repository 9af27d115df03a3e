"""A brute-force check of HiveD traces: the validator's independent second opinion.

It shares no code with the package.  It is written from the state-machine document, its figures and the reading
rules of the trace format, and it looks for speed nowhere: a state names every group's state and every cell's state,
user and reserver outright, and each call is explained, or not, by a search through *all* steps that the reading
rules allow for it, filtered by what the record shows.  Nothing is pruned.  The search is finite without a bound on its
depth because it remembers the states it has seen: a Schedule call takes at most e1 then e2, over 2^cells - 1 choices
of cells; a deletion visits at most 2^cells sets of cells taken from the victim by e9.

The semantics is the literal one: a Pending group may choose any non-empty set of cells and does not remember it; every
cell of it that is not Free must be held by a group that it outranks (a Used cell is held by its user, a Reserved or
Reserving one by its reserver).

Places where the reading rules leave room are marked ``Reading:`` in the comments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

PENDING, PREEMPTING, ALLOCATED, BEING_PREEMPTED, DELETED = (
    "Pending",
    "Preempting",
    "Allocated",
    "BeingPreempted",
    "Deleted",
)
FREE, USED, RESERVING, RESERVED = "Free", "Used", "Reserving", "Reserved"

OPPORTUNISTIC = -1
"""The priority at which a group without virtual placement, or a lazily preempted one, runs (rule 5)."""

SCHEDULING_CALLS = frozenset({"Schedule", "AddAllocatedPod"})
DELETION_CALLS = frozenset({"DeleteAllocatedPod", "DeleteUnallocatedPod"})
REPLAY_CALLS = frozenset({"Restart", "AddNode", "AddUnallocatedPod", "AddAllocatedPod"})
ALLOCATED_POD_STATES = frozenset({"binding", "bound"})


class Cell(NamedTuple):
    """A leaf cell: its state, the group that uses it, the group that reserves it."""

    state: str
    user: str | None
    reserver: str | None


EMPTY = Cell(FREE, None, None)


class State(NamedTuple):
    """Every group's state and every cell, in a fixed order, as (name, value) pairs."""

    groups: tuple[tuple[str, str], ...]
    cells: tuple[tuple[str, Cell], ...]


Outranks = Callable[[str, str], bool]
Step = tuple[str, State]


def initial(groups: Iterable[str], cells: Iterable[str]) -> State:
    """Every group Pending, every cell Free."""
    return State(tuple((name, PENDING) for name in sorted(groups)), tuple((name, EMPTY) for name in sorted(cells)))


def _frozen(groups: Mapping[str, str], cells: Mapping[str, Cell]) -> State:
    return State(tuple(sorted(groups.items())), tuple(sorted(cells.items())))


# --- The steps of the document ---------------------------------------------------------------------------------------


def scheduling_steps(state: State, group: str, outranks: Outranks) -> Iterator[Step]:
    """Every e0, e1 and e2 of the group, with every non-empty set of cells that e0 or e1 may choose."""
    groups, cells = dict(state.groups), dict(state.cells)
    if groups[group] == PENDING:
        for size in range(1, len(cells) + 1):
            for chosen in combinations(cells, size):
                if all(_may_take(group, cells[name], outranks) for name in chosen):
                    yield _allocation_step(state, group, chosen)
    if groups[group] == PREEMPTING:
        reserved = [name for name, cell in cells.items() if cell.reserver == group]
        if all(cells[name].state == RESERVED for name in reserved):
            for name in reserved:
                cells[name] = Cell(USED, group, None)
            groups[group] = ALLOCATED
            yield "e2", _frozen(groups, cells)


def _may_take(group: str, cell: Cell, outranks: Outranks) -> bool:
    holder = cell.user if cell.state == USED else cell.reserver
    return holder is None or outranks(group, holder)


def _allocation_step(state: State, group: str, chosen: tuple[str, ...]) -> Step:
    """e0 where all chosen cells are Free or Reserved, else e1, with the e5 and e6 of other groups that it triggers."""
    groups, cells = dict(state.groups), dict(state.cells)
    at_once = all(cells[name].state in (FREE, RESERVED) for name in chosen)
    overwritten: set[str] = set()
    for name in chosen:
        old_state, user, reserver = cells[name]
        if reserver is not None:
            overwritten.add(reserver)
        if at_once:
            cells[name] = Cell(USED, group, None)
        elif old_state in (FREE, RESERVED):
            cells[name] = Cell(RESERVED, None, group)
        else:
            cells[name] = Cell(RESERVING, user, group)
            if old_state == USED and user is not None:
                groups[user] = BEING_PREEMPTED
    # The chosen cells name the new group by now, so what still names a cancelled one are "all the other" cells of e5.
    for loser in overwritten:
        groups[loser] = PENDING
        _withdraw(cells, loser)
    groups[group] = ALLOCATED if at_once else PREEMPTING
    return ("e0" if at_once else "e1"), _frozen(groups, cells)


def _withdraw(cells: dict[str, Cell], preemptor: str) -> None:
    """The cells that the preemptor reserves go back: Reserving to Used by the victim, Reserved to Free (e5, e7)."""
    for name, cell in cells.items():
        if cell.reserver == preemptor:
            cells[name] = Cell(USED, cell.user, None) if cell.state == RESERVING else EMPTY


def deletion_steps(state: State, group: str) -> Iterator[Step]:
    """Every e3, e4, e7 and e8 of the group, and every e9 of a Reserving cell that it uses."""
    groups, cells = dict(state.groups), dict(state.cells)
    now = groups[group]
    being_taken = [name for name, cell in cells.items() if cell.state == RESERVING and cell.user == group]
    groups[group] = DELETED
    if now == ALLOCATED or (now == BEING_PREEMPTED and not being_taken):
        left = {name: EMPTY if cell.state == USED and cell.user == group else cell for name, cell in cells.items()}
        yield ("e3" if now == ALLOCATED else "e4"), _frozen(groups, left)
    if now == PREEMPTING:
        left = dict(cells)
        _withdraw(left, group)
        yield "e7", _frozen(groups, left)
    if now == PENDING:
        yield "e8", _frozen(groups, cells)
    for name in being_taken:
        yield "e9", _frozen(dict(state.groups), cells | {name: Cell(RESERVED, None, cells[name].reserver)})


def crash(state: State) -> State:
    """e_c on every group and every cell at once."""
    group_after = {PREEMPTING: PENDING, BEING_PREEMPTED: ALLOCATED}
    groups = {name: group_after.get(at, at) for name, at in state.groups}
    cells = {
        name: EMPTY if cell.state == RESERVED else Cell(USED, cell.user, None) if cell.state == RESERVING else cell
        for name, cell in state.cells
    }
    return _frozen(groups, cells)


def all_steps(state: State, outranks: Outranks) -> Iterator[Step]:
    """Every step of every group and cell, and one e_c: the whole machine, for comparing its size with other models."""
    for group, _ in state.groups:
        yield from scheduling_steps(state, group, outranks)
        yield from deletion_steps(state, group)
    yield "ec", crash(state)


# --- Reading a trace -------------------------------------------------------------------------------------------------


def check(lines: Iterable[str]) -> tuple[str, int | None]:
    """Check a trace in the HiveD sample format.

    Returns ("conforms", None), or ("violates", i) with the ``i`` of the first record that no permitted steps explain.
    Raises ValueError where there is no header first, and KeyError where a record lacks a field of the format.
    """
    header, *records = [json.loads(line) for line in lines if line.strip()]
    if header.get("header") is not True:
        raise ValueError("the first line of a HiveD trace must be its header")
    trace = _Reader(header, records)
    for record in records:
        if not trace.explains(record):
            return "violates", int(record["i"])
    return "conforms", None


class _Reader:
    """The one state that the records so far leave possible, and what it takes to read the next record.

    One state is enough: a record shows every cell and every group in the table, and rule 2 settles Pending or Deleted for
    the others.
    """

    def __init__(self, header: dict[str, Any], records: list[dict[str, Any]]) -> None:
        self.header_priority: dict[str, int] = {group["name"]: group["prio"] for group in header["groups"]}
        names = set(self.header_priority)
        for record in records:
            names |= set(record["state"]["groups"]) | {pod["group"] for pod in record["pods"].values()}
        # Reading: rule 1 compares "after each call", so the header's own state only names the leaf cells.
        self.state = initial(names, header["state"]["leaf"])
        self.table: dict[str, Any] = header["state"]["groups"]
        self.epoch = 0
        self.replaying = False
        self.had_pod: set[str] = set()

    def explains(self, record: dict[str, Any]) -> bool:
        """Go on by one record; False if it does not conform."""
        table, pods = record["state"]["groups"], record["pods"]
        table_before, self.table = self.table, table
        self.had_pod |= {pod["group"] for pod in pods.values()} | set(table)
        if record["result"]["kind"] == "panic":  # Reading: also within a replay, where nothing is compared.
            return False
        # Reading: a rise is one over the record just before.  (A fall, which only swapped records show, means nothing.)
        rises, self.epoch = record["epoch"] > self.epoch, record["epoch"]
        if rises:
            self.state = self._recovered(pods)
            self.replaying = True
        # Reading: the replay is recognised by the calls' names alone, and takes no step: e_c did all of the recovery.
        self.replaying = self.replaying and record["op"] in REPLAY_CALLS
        if self.replaying:
            return True
        self._renew(pods)
        outranks = self._outranks(record["args"].get("group"), table_before, table)
        for end in self._reachable(record, outranks):
            if self._matches(end, record):
                self.state = end
                self._renew(pods)  # What remains of a group that was Deleted with waiting pods (rule 2).
                return True
        return False

    def _recovered(self, pods: Mapping[str, Any]) -> State:
        """e_c, and an Allocated group none of whose pods was bound is Pending, its cells Free (rule 4).

        Reading: "at the crash" is the record at which the epoch rises, which shows the pods that the API server knows.
        Reading: it holds of what e_c makes Allocated too: a Being preempted group is no more durable than another.
        """
        after = crash(self.state)
        durable = {pod["group"] for pod in pods.values() if pod["state"] == "bound"}
        lost = {name for name, at in after.groups if at == ALLOCATED and name not in durable}
        groups = {name: PENDING if name in lost else at for name, at in after.groups}
        cells = {name: EMPTY if cell.user in lost else cell for name, cell in after.cells}
        return _frozen(groups, cells)

    def _renew(self, pods: Mapping[str, Any]) -> None:
        """A Deleted group's name with a pod is a new group (rule 2).

        Reading: it is new before the steps of the first call whose record shows the pod.
        """
        alive = {pod["group"] for pod in pods.values()}
        groups = {name: PENDING if at == DELETED and name in alive else at for name, at in self.state.groups}
        self.state = _frozen(groups, dict(self.state.cells))

    def _outranks(self, caller: str | None, before: Mapping[str, Any], after: Mapping[str, Any]) -> Outranks:
        """Rule 5, with priorities as of this call.

        Reading: the call's group runs at what the table shows after the call, which is when the call has placed it.
        Another group's priority may fall within the call, by lazy preemption, so the lower of the two counts.
        """

        def shown(group: str) -> list[int]:
            return [_running_priority(table[group]) for table in (after, before) if group in table]

        def priority(group: str) -> int:
            values = shown(group) or [self.header_priority[group]]
            return values[0] if group == caller else min(values)

        return lambda one, other: priority(one) > priority(other)

    def _reachable(self, record: Mapping[str, Any], outranks: Outranks) -> Iterator[State]:
        """Every state that the permitted steps of the call reach, the present one first (rule 3)."""
        op, group = record["op"], record["args"].get("group")
        seen, waiting = {self.state}, [self.state]
        while waiting:
            state = waiting.pop(0)
            yield state
            steps: Iterable[Step] = ()
            if op in SCHEDULING_CALLS:
                steps = scheduling_steps(state, group, outranks)
            elif op in DELETION_CALLS:
                steps = deletion_steps(state, group)
            for _, after in steps:
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)

    def _matches(self, end: State, record: Mapping[str, Any]) -> bool:
        leaves, table = record["state"]["leaf"], record["state"]["groups"]
        if any(cell != _seen(leaves[name]) for name, cell in end.cells):
            return False
        before = dict(self.state.groups)
        return all(
            at == table[name]["state"]
            if name in table
            else self._matches_absent(name, before[name], at, record["pods"])
            for name, at in end.groups
        )

    def _matches_absent(self, group: str, before: str, at: str, pods: Mapping[str, Any]) -> bool:
        """Whether a group that is not in the table may be in the state `at` (rule 2).

        Reading: compared like any other, so a Pending group whose last pod vanishes without a deletion call does not conform.
        """
        states = [pod["state"] for pod in pods.values() if pod["group"] == group]
        if not states:
            return at == (DELETED if group in self.had_pod else PENDING)
        if at == DELETED:
            may_go = before in (ALLOCATED, BEING_PREEMPTED)
            return may_go and not any(state in ALLOCATED_POD_STATES for state in states)
        return at == PENDING


def _seen(leaf: Mapping[str, Any]) -> Cell:
    return Cell(leaf["state"], leaf.get("using"), leaf.get("reserving"))


def _running_priority(entry: Mapping[str, Any]) -> int:
    placed = entry.get("pod_vcells") is not None and not entry.get("lazy_preempted_by")
    return int(entry["prio"]) if placed else OPPORTUNISTIC

"""The brute-force check against published counts, the sample traces, and traces whose verdict is derived by argument."""

from __future__ import annotations

import ast
import copy
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row
from tests.systems.hived.traces import brute_force as brute_hived
from tests.systems.hived.traces.brute_force import Cell, State, all_steps, check, initial, scheduling_steps

SAMPLES = SHARED / "traces" / "hived"
CONFORMING = [
    "r-basic-2",
    "r-crash-0",
    "s-01-life-no-preemption",
    "s-02-life-preemption",
    "s-05-overwrite-reserving",
    "s-06-overwrite-reserved-and-reserving",
    "s-09-crash-while-preempting",
    "s-24-two-preemptors-one-victim",
]
OVERWRITE, CRASH, EQUALS = CONFORMING[5], CONFORMING[6], CONFORMING[7]
CANCELLED = "s-17-cancel-one-of-two-pods"

Record = dict[str, Any]


# --- The machine itself ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "cells", "states", "transitions"), [(2, 2, 47, 158), (3, 2, 354, 1579), (3, 3, 1512, 7706)]
)
def test_the_steps_span_the_published_state_counts(groups: int, cells: int, states: int, transitions: int) -> None:
    seen_states, events = _explore(groups, cells)
    assert (seen_states, sum(events.values())) == (states, transitions)


def test_the_steps_have_the_published_counts_at_two_by_two() -> None:
    _, events = _explore(2, 2)
    assert events == {"e0": 19, "e1": 7, "e2": 8, "e3": 29, "e4": 14, "e7": 15, "e8": 11, "e9": 8, "ec": 47}


def test_reserved_cells_alone_are_allocated_at_once() -> None:
    """Document, PG e0.  Two groups never get there, and no total distinguishes it from an e1, so it has its own test."""
    state = State((("g0", "Preempting"), ("g1", "Pending")), (("c0", Cell("Reserved", None, "g0")),))
    expected = State((("g0", "Pending"), ("g1", "Allocated")), (("c0", Cell("Used", "g1", None)),))
    assert list(scheduling_steps(state, "g1", lambda one, other: one > other)) == [("e0", expected)]


def _explore(groups: int, cells: int) -> tuple[int, Counter[str]]:
    start = initial([f"g{n}" for n in range(groups)], [f"c{n}" for n in range(cells)])
    seen, waiting, events = {start}, [start], Counter[str]()
    while waiting:
        for event, after in all_steps(waiting.pop(), lambda one, other: one > other):
            events[event] += 1
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return len(seen), events


def test_the_check_uses_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(brute_hived.__file__).read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert modules and {name.split(".")[0] for name in modules} <= sys.stdlib_module_names


# --- Small traces made here ------------------------------------------------------------------------------------------


class Trace:
    """A trace of the format with only the fields that the reading rules speak of; each call shows all it wants seen.

    Cells are written like ``c0=Reserving:g0:g1`` (state, user, reserver); what is not named is Free.  Table entries are
    ``g0=Allocated``, pods ``g0.1-p0=bound``.
    """

    def __init__(self, cells: int = 2, **priorities: int) -> None:
        self.names = [f"c{n}" for n in range(cells)]
        self.priorities = priorities
        header = {
            "header": True,
            "groups": [{"name": name, "prio": priority} for name, priority in priorities.items()],
            "state": {"groups": {}, "leaf": {name: {"state": "Free"} for name in self.names}},
        }
        self.lines: list[Record] = [header]
        self.epoch = 0

    def call(
        self, op: str, group: str | None = None, *, table: str = "", cells: str = "", pods: str = "", kind: str = "ok"
    ) -> Trace:
        leaf: dict[str, Record] = {name: {"state": "Free"} for name in self.names}
        for part in cells.split():
            name, _, what = part.partition("=")
            state, user, reserver = (what + "::").split(":")[:3]
            leaf[name] = (
                {"state": state} | ({"using": user} if user else {}) | ({"reserving": reserver} if reserver else {})
            )
        groups = {
            name: {"state": state, "prio": self.priorities[name], "pod_vcells": []}
            for name, _, state in (part.partition("=") for part in table.split())
        }
        pod_states = {
            uid: {"group": uid.split(".")[0], "state": state}
            for uid, _, state in (part.partition("=") for part in pods.split())
        }
        self.epoch += op == "Restart"
        args = {"group": group} if group else {}
        record: Record = {"i": len(self.lines), "epoch": self.epoch, "op": op, "args": args, "result": {"kind": kind}}
        self.lines.append(record | {"state": {"groups": groups, "leaf": leaf}, "pods": pod_states})
        return self

    @property
    def last(self) -> Record:
        return self.lines[-1]

    @property
    def verdict(self) -> tuple[str, int | None]:
        return check(json.dumps(line) for line in self.lines)


def allocated(pods: str = "g0.1-p0=bound", **priorities: int) -> Trace:
    """g0 Allocated on c0 and c1, by record 2."""
    trace = Trace(**(priorities or {"g0": 1, "g1": 2}))
    waiting = " ".join(pod.partition("=")[0] + "=waiting" for pod in pods.split())
    trace.call("AddUnallocatedPod", "g0", pods=waiting)
    return trace.call("AddAllocatedPod", "g0", table="g0=Allocated", cells="c0=Used:g0 c1=Used:g0", pods=pods)


CONFORMS = ("conforms", None)


def test_a_deleted_group_comes_back_only_with_a_pod() -> None:
    deleted = allocated().call("DeleteAllocatedPod", "g0")
    assert deleted.verdict == CONFORMS
    back = copy.deepcopy(deleted).call("AddUnallocatedPod", "g0", pods="g0.2-p0=waiting")
    back.call("AddAllocatedPod", "g0", table="g0=Allocated", cells="c1=Used:g0", pods="g0.2-p0=binding")
    assert back.verdict == CONFORMS
    # Deleted is final: without a pod there is no new group, and the old one may not be Allocated again.
    assert deleted.call("AddAllocatedPod", "g0", table="g0=Allocated", cells="c1=Used:g0").verdict == ("violates", 4)


def test_allocated_pods_hold_an_allocated_group_waiting_do_not() -> None:
    waits = allocated("g0.1-p0=bound").call("DeleteAllocatedPod", "g0", pods="g0.1-p1=waiting")
    # What remains is a new Pending group: e8 of a deletion call deletes it, and nothing else does.
    assert copy.deepcopy(waits).call("DeleteUnallocatedPod", "g0").verdict == CONFORMS
    assert waits.call("Bind", "g0").verdict == ("violates", 4)
    assert allocated().call("DeleteAllocatedPod", "g0", pods="g0.1-p1=binding").verdict == ("violates", 3)


def test_a_pending_group_is_deleted_by_a_deletion_call_only() -> None:
    pending = Trace(g0=1).call("AddUnallocatedPod", "g0", pods="g0.1-p0=waiting")
    assert copy.deepcopy(pending).call("DeleteUnallocatedPod", "g0").verdict == CONFORMS
    assert copy.deepcopy(pending).call("Bind", "g0").verdict == ("violates", 2)


def test_a_preemptor_is_deleted_with_its_last_pod_not_before() -> None:
    reserving = "c0=Reserving:g0:g1 c1=Reserving:g0:g1"
    back = "c0=Used:g0 c1=Used:g0"
    trace = allocated().call("AddUnallocatedPod", "g1", table="g0=Allocated", cells=back, pods="g0.1-p0=bound")
    trace.call("Schedule", "g1", table="g0=BeingPreempted g1=Preempting", cells=reserving, pods="g0.1-p0=bound")
    withdrawn = copy.deepcopy(trace)
    withdrawn.call("DeleteUnallocatedPod", "g1", table="g0=BeingPreempted", cells=back, pods="g0.1-p0=bound")
    assert withdrawn.verdict == CONFORMS
    early = copy.deepcopy(trace)
    pods = "g0.1-p0=bound g1.1-p1=waiting"
    early.call("DeleteUnallocatedPod", "g1", table="g0=BeingPreempted", cells=back, pods=pods)
    assert early.verdict == ("violates", 5)
    # e7 gives the cells back to the victim, which stays Being preempted: the figure has no other arrow but ec.
    undone = trace.call("DeleteUnallocatedPod", "g1", table="g0=Allocated", cells=back, pods="g0.1-p0=bound")
    assert undone.verdict == ("violates", 5)


def test_e2_waits_for_every_cell_and_e9_is_the_victims_deletion() -> None:
    both = "c0=Reserving:g0:g1 c1=Reserving:g0:g1"
    one = "c0=Reserved::g1 c1=Reserving:g0:g1"
    table, pods = "g0=BeingPreempted g1=Preempting", "g0.1-p0=bound g1.1-p0=waiting"
    trace = allocated().call("Schedule", "g1", table=table, cells=both, pods=pods)
    assert copy.deepcopy(trace).call("Schedule", "g1", table=table, cells=one, pods=pods).verdict == ("violates", 4)
    assert copy.deepcopy(trace).call("DeleteUnallocatedPod", "g1", table=table, cells=one, pods=pods).verdict == (
        "violates",
        4,
    )
    trace.call("DeleteAllocatedPod", "g0", table=table, cells=one, pods=pods)
    assert trace.verdict == CONFORMS
    hasty = copy.deepcopy(trace).call(
        "AddAllocatedPod", "g1", table="g0=BeingPreempted g1=Allocated", cells="c0=Used:g1 c1=Used:g1", pods=pods
    )
    assert hasty.verdict == ("violates", 5)
    trace.call(
        "DeleteAllocatedPod",
        "g0",
        table="g1=Preempting",
        cells="c0=Reserved::g1 c1=Reserved::g1",
        pods="g1.1-p0=waiting",
    )
    trace.call("AddAllocatedPod", "g1", table="g1=Allocated", cells="c0=Used:g1 c1=Used:g1", pods="g1.1-p0=binding")
    assert trace.verdict == CONFORMS


def test_overwriting_one_cell_gives_back_all_the_others() -> None:
    """Document, PG e5: the others of the cancelled preemptor go to the victim or become Free."""
    trace = Trace(cells=4, g0=1, g1=2, g2=3)
    trace.call("AddAllocatedPod", "g0", table="g0=Allocated", cells="c0=Used:g0 c1=Used:g0", pods="g0.1-p0=bound")
    trace.call(
        "Schedule",
        "g1",
        table="g0=BeingPreempted g1=Preempting",
        cells="c0=Reserving:g0:g1 c1=Reserving:g0:g1 c2=Reserved::g1",
        pods="g0.1-p0=bound g1.1-p0=preempting",
    )
    table, pods = "g0=BeingPreempted g2=Preempting", "g0.1-p0=bound g1.1-p0=waiting g2.1-p0=preempting"
    given_back = copy.deepcopy(trace).call(
        "Schedule", "g2", table=table, cells="c0=Reserving:g0:g2 c1=Used:g0 c3=Reserved::g2", pods=pods
    )
    assert given_back.verdict == CONFORMS
    kept = ["c1=Reserving:g0:g1", "c1=Used:g0 c2=Reserved::g1", "c1=Used:g1", "c1=Reserved::g1"]
    for rest in kept:
        wrong = copy.deepcopy(trace).call("Schedule", "g2", table=table, cells="c0=Reserving:g0:g2 " + rest, pods=pods)
        assert wrong.verdict == ("violates", 3), rest
    # The same by e0 over the Reserved cell: the two Reserving cells return to g0.
    at_once = trace.call(
        "AddAllocatedPod",
        "g2",
        table="g0=BeingPreempted g2=Allocated",
        cells="c0=Used:g0 c1=Used:g0 c2=Used:g2",
        pods=pods,
    )
    assert at_once.verdict == CONFORMS


@each_row(
    ("preemptor", "victim", "change", "expected"),
    [
        (2, 1, "", CONFORMS),
        (1, 2, "", ("violates", 3)),
        (2, 2, "", ("violates", 3)),
        (2, 1, "g1 after: no pod_vcells", ("violates", 3)),
        (1, 2, "g0 before: no pod_vcells", CONFORMS),
        (1, 2, "g0 after: lazily preempted", CONFORMS),
        (-1, 2, "g0 after: lazily preempted", ("violates", 3)),
    ],
)
def test_who_may_preempt_whom(preemptor: int, victim: int, change: str, expected: tuple[str, int | None]) -> None:
    trace = allocated(g0=victim, g1=preemptor)
    before = trace.last["state"]["groups"]
    trace.call(
        "Schedule",
        "g1",
        table="g0=BeingPreempted g1=Preempting",
        cells="c0=Reserving:g0:g1 c1=Used:g0",
        pods="g0.1-p0=bound g1.1-p0=waiting",
    )
    after = trace.last["state"]["groups"]
    if change == "g1 after: no pod_vcells":
        del after["g1"]["pod_vcells"]
    if change == "g0 before: no pod_vcells":
        del before["g0"]["pod_vcells"]
    if change == "g0 after: lazily preempted":
        after["g0"]["lazy_preempted_by"] = "g1"
    assert trace.verdict == expected


def test_a_group_without_a_bound_pod_does_not_survive_a_crash() -> None:
    for state, kept in (("bound", True), ("binding", False)):
        trace = allocated(f"g0.1-p0={state}")
        for op in ("Restart", "AddNode"):
            trace.call(op, pods=f"g0.1-p0={state}")  # Here cells look Free, but nothing is compared.
        empty = copy.deepcopy(trace).call("UpdateNode", pods=f"g0.1-p0={state}")
        full = trace.call("UpdateNode", table="g0=Allocated", cells="c0=Used:g0 c1=Used:g0", pods=f"g0.1-p0={state}")
        violates = ("violates", 5)
        assert (full.verdict, empty.verdict) == ((CONFORMS, violates) if kept else (violates, CONFORMS))


def test_a_crash_ends_preemptions_and_only_where_the_epoch_rises() -> None:
    before = allocated().call(
        "Schedule",
        "g1",
        table="g0=BeingPreempted g1=Preempting",
        cells="c0=Reserving:g0:g1 c1=Used:g0",
        pods="g0.1-p0=bound g1.1-p0=preempting",
    )
    pods, table, cells = "g0.1-p0=bound g1.1-p0=waiting", "g0=Allocated", "c0=Used:g0 c1=Used:g0"
    trace = copy.deepcopy(before).call("Restart", pods=pods).call("AddNode", pods=pods)
    assert copy.deepcopy(trace).call("Bind", "g0", table=table, cells=cells, pods=pods).verdict == CONFORMS
    still = copy.deepcopy(trace).call("Bind", "g0", table="g0=BeingPreempted", cells=cells, pods=pods)
    assert still.verdict == ("violates", 6)
    # The same records without a new epoch: no crash, so the reservation may not vanish.
    assert before.call("AddNode", table=table, cells=cells, pods=pods).verdict == ("violates", 4)


def test_a_panic_violates_even_where_nothing_is_compared() -> None:
    assert Trace(g0=1).call("AddNode", kind="panic").verdict == ("violates", 1)
    assert allocated().call("Restart").call("AddNode", kind="panic").verdict == ("violates", 4)


def test_a_search_through_eight_cells_and_five_groups_ends() -> None:
    """Nothing explains the last record, so every choice of cells is tried: 255 for e0 and e1, each with its e2."""
    trace = Trace(cells=8, g0=1, g1=2, g2=3, g3=4, g4=5)
    everything = [f"c{n}=Used:g0" for n in range(8)]
    trace.call("AddAllocatedPod", "g0", table="g0=Allocated", cells=" ".join(everything), pods="g0.1-p0=bound")
    table, pods = "g0=BeingPreempted g4=Preempting", "g0.1-p0=bound g4.1-p0=waiting"
    half = [f"c{n}=Reserving:g0:g4" for n in range(4)] + everything[4:]
    assert copy.deepcopy(trace).call("Schedule", "g4", table=table, cells=" ".join(half), pods=pods).verdict == CONFORMS
    wrong = trace.call("Schedule", "g4", table=table, cells=" ".join([*half[:7], "c7=Reserving:g0:g3"]), pods=pods)
    assert wrong.verdict == ("violates", 2)


def test_a_trace_without_header_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        check([json.dumps(allocated().lines[1])])


# --- The samples and changed copies of them --------------------------------------------------------------------------


def sample(name: str) -> list[Record]:
    """The header and the records of a sample; record i stands at index i."""
    path = SAMPLES / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def verdict(records: list[Record]) -> tuple[str, int | None]:
    return check(json.dumps(record) for record in records)


def show(record: Record, address: str, state: str, using: str | None = None, reserving: str | None = None) -> None:
    """Rewrite what the record shows of a leaf cell."""
    leaf = record["state"]["leaf"][address]
    for key in ("using", "reserving"):
        leaf.pop(key, None)
    leaf["state"] = state
    leaf.update({key: who for key, who in (("using", using), ("reserving", reserving)) if who})


@needs_shared
@each_row("name", CONFORMING)
def test_a_conforming_sample_conforms(name: str) -> None:
    assert verdict(sample(name)) == CONFORMS


@needs_shared
def test_the_sample_does_not_conform_where_a_pod_cancels_all() -> None:
    assert verdict(sample(CANCELLED)) == ("violates", 10)


@needs_shared
def test_it_is_the_waiting_pod_that_makes_it_violate() -> None:
    """Without g1's second pod, e7 explains record 10: the victim gets its cells back and stays Being preempted."""
    trace = sample(CANCELLED)[:11]
    del trace[10]["pods"]["g1.1-p1"]
    assert verdict(trace) == CONFORMS


# In the overwrite sample: g0 (1) uses n0/0; record 8: g1 (5) takes it (Reserving) and n0/1 (Free -> Reserved);
# record 11: g2 (10) overwrites both; record 12: g0's only pod goes; record 14: g2 is Allocated on both.


@needs_shared
def test_only_an_allocated_group_may_come_to_use_a_free_cell() -> None:
    trace = sample(OVERWRITE)
    show(trace[8], "n0/1", "Used", using="g1")  # g1 becomes Preempting in this call: e1 makes Free cells Reserved
    assert verdict(trace) == ("violates", 8)


@needs_shared
def test_a_pending_group_uses_no_cell() -> None:
    trace = sample(OVERWRITE)
    show(trace[7], "n0/1", "Used", using="g1")  # g1 is not in the table at record 7: Pending
    assert verdict(trace) == ("violates", 7)


@needs_shared
@pytest.mark.parametrize("who", ["g0", "g2"])
def test_a_reservation_belongs_to_the_preemptor(who: str) -> None:
    trace = sample(OVERWRITE)
    show(trace[8], "n0/1", "Reserved", reserving=who)
    assert verdict(trace) == ("violates", 8)


@needs_shared
def test_the_user_of_a_reserving_cell_is_who_used_it() -> None:
    trace = sample(OVERWRITE)
    show(trace[8], "n0/0", "Reserving", using="g2", reserving="g1")
    assert verdict(trace) == ("violates", 8)


@needs_shared
def test_a_victim_is_being_preempted_once_its_cell_is_reserved() -> None:
    trace = sample(OVERWRITE)
    trace[8]["state"]["groups"]["g0"]["state"] = "Allocated"
    assert verdict(trace) == ("violates", 8)


@needs_shared
def test_an_overwritten_preemptor_loses_its_state() -> None:
    trace = sample(OVERWRITE)
    trace[11]["state"]["groups"]["g1"] = trace[10]["state"]["groups"]["g1"]
    assert verdict(trace) == ("violates", 11)


@needs_shared
@pytest.mark.parametrize(
    ("state", "reserving"), [("Used", None), ("Reserving", "g2"), ("Free", None)], ids=["used", "reserving", "free"]
)
def test_a_deleted_victim_leaves_its_cell_to_the_preemptor(state: str, reserving: str | None) -> None:
    trace = sample(OVERWRITE)
    show(trace[12], "n0/0", state, using=None if state == "Free" else "g0", reserving=reserving)
    assert verdict(trace) == ("violates", 12)


@needs_shared
def test_a_group_going_deleted_frees_its_cells() -> None:
    trace = sample(CONFORMING[0])  # record 18: g1's last pod goes, and with it both cells of n1
    address = next(name for name, leaf in trace[17]["state"]["leaf"].items() if leaf.get("using") == "g1")
    show(trace[18], address, "Used", using="g1")
    assert verdict(trace) == ("violates", 18)


@needs_shared
def test_a_victim_stays_being_preempted_when_its_preemptor_goes() -> None:
    trace = sample(CONFORMING[1])  # record 54: the preemptor's last pod goes (e7)
    assert trace[53]["state"]["groups"]["g1"]["state"] == "BeingPreempted"
    trace[54]["state"]["groups"]["g1"]["state"] = "Allocated"
    assert verdict(trace) == ("violates", 54)


@needs_shared
def test_equal_priorities_do_not_overwrite() -> None:
    """g2 takes over g1's two Reserving cells in place of g0's other two: the document wants a higher priority."""
    trace = sample(EQUALS)[:17]
    after = trace[16]["state"]
    preemptor = after["groups"].pop("g1")
    for address in ("n0/0", "n0/1"):
        show(trace[16], address, "Reserving", using="g0", reserving="g2")
    for address in ("n1/0", "n1/1"):
        show(trace[16], address, "Used", using="g0")
    assert preemptor["prio"] == after["groups"]["g2"]["prio"]
    assert verdict(trace) == ("violates", 16)
    after["groups"]["g2"]["prio"] += 1
    assert verdict(trace) == CONFORMS
    del after["groups"]["g2"]["pod_vcells"]  # Opportunistic: runs at -1, whatever its own priority.
    assert verdict(trace) == ("violates", 16)


# In the crash sample: record 12: g1 preempts g0's two cells; 13-17: crash and replay; 18 and 19: g1 schedules again;
# 20 and 21: g0's two pods go; 23: g1 is Allocated.


@needs_shared
def test_what_a_replay_shows_is_not_compared_but_what_follows_is() -> None:
    trace = sample(CRASH)
    for record in trace[13:18]:
        show(record, "n0/0", "Reserved", reserving="g0")
    assert verdict(trace) == CONFORMS
    show(trace[18], "n0/0", "Reserved", reserving="g0")
    assert verdict(trace) == ("violates", 18)


@needs_shared
def test_a_reservation_does_not_outlive_a_crash() -> None:
    trace = sample(CRASH)
    trace[18]["state"] = trace[12]["state"]  # As if nothing had been lost: g1 may have preempted anew, by e1...
    assert verdict(trace) == CONFORMS
    trace[18]["op"] = "Bind"  # ...but not in a call that takes no step.
    assert verdict(trace) == ("violates", 18)


@needs_shared
def test_an_allocation_without_a_bound_pod_is_lost_in_a_crash() -> None:
    trace = sample(CRASH)
    for pod in trace[13]["pods"].values():
        pod["state"] = "waiting"
    assert verdict(trace) == ("violates", 18)


@needs_shared
def test_cells_may_become_reserved_one_pod_at_a_time() -> None:
    """The document's e9 is per cell; that the real code does both at the last pod is no demand."""
    trace = sample(CRASH)
    show(trace[20], "n0/0", "Reserved", reserving="g1")
    assert verdict(trace) == CONFORMS
    show(trace[19], "n0/0", "Reserved", reserving="g1")  # But no pod of g0 is deleted in record 19.
    assert verdict(trace) == ("violates", 19)


@needs_shared
@each_row(
    ("name", "dropped", "expected"),
    [
        (OVERWRITE, 5, CONFORMS),  # Bind: no step
        (OVERWRITE, 6, CONFORMS),  # AddUnallocatedPod: g1 was Pending before its first pod and is so after
        (OVERWRITE, 8, ("violates", 9)),  # e1 is missing, and AddUnallocatedPod takes no step
        (OVERWRITE, 11, ("violates", 12)),  # the overwriting is missing, and a deletion of g0 can't make it up
        (OVERWRITE, 12, ("violates", 13)),  # e9 and e4 of g0 are missing; record 13 schedules g2
        (OVERWRITE, 14, ("violates", 15)),  # e2 is missing, and Bind takes no step
        (OVERWRITE, 15, CONFORMS),  # nothing follows
        (CRASH, 13, CONFORMS),  # the next record of the replay raises the epoch just as well
        (CONFORMING[0], 10, ("violates", 11)),  # e8 of g4 is missing: it had a pod and has none
    ],
)
def test_a_dropped_record_shows_where_its_step_is_missing(
    name: str, dropped: int, expected: tuple[str, int | None]
) -> None:
    trace = sample(name)
    del trace[dropped]
    assert verdict(trace) == expected


@needs_shared
def test_swapped_records_are_named_by_their_own_number() -> None:
    trace = sample(OVERWRITE)
    trace[7], trace[8] = trace[8], trace[7]
    # Record 8 comes first and is explained by e1; record 7 then shows that preemption undone, by a call for g1.
    assert verdict(trace) == ("violates", 7)
    trace = sample(OVERWRITE)
    trace[6], trace[7] = trace[7], trace[6]
    # Record 7 shows g1's pod and no step; record 6 shows the same: which of them came first can't be seen.
    assert verdict(trace) == CONFORMS

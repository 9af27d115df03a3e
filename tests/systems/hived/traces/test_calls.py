"""The validator on recorded runs of HiveD: the samples, and each reading rule on a run made for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedproof.model.lang import Change
from schedproof.model.semantics import Instance
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.systems.hived.traces.calls import HivedReading
from schedproof.proofs.systems.hived.traces.calls_reader import read_hived
from schedproof.proofs.traces import LogVerdict, ValidationReport, check_trace
from schedproof.proofs.traces.files.lines import as_objects, read_text
from schedproof.proofs.traces.formats.format import ModelLog
from tests.support import places
from tests.support.growth import assert_grows_less
from tests.support.needs import needs_shared
from tests.support.places import DATA
from tests.support.rows import each_row
from tests.systems.hived.traces import brute_force as brute_hived
from tests.systems.hived.traces.runs import Run

LOGS = DATA / "hived"
SHARED = places.SHARED / "traces" / "hived"
NONCONFORMING = "s-17-cancel-one-of-two-pods"


def checked(run: Run, tmp_path: Path, variant: str | None = None) -> ValidationReport:
    """The validator's report; the brute-force check must say the same."""
    report = check_trace("hived", run.write(tmp_path / "run.jsonl"), variant)
    if variant is None:
        assert brute_hived.check(run.lines()) == (str(report.verdict), violates_at(report))
    return report


def violates_at(report: ValidationReport) -> int | None:
    """The nonconforming record; None if the trace conforms."""
    assert report.verdict is not LogVerdict.UNDETERMINED
    assert (report.verdict is LogVerdict.VIOLATES) == (report.first_nonconformance is not None)
    return report.first_nonconformance.record if report.first_nonconformance else None


class TestSamples:
    @each_row("path", sorted(LOGS.glob("*.jsonl")), ids=lambda p: p.stem)
    def test_copied_samples(self, path: Path) -> None:
        assert violates_at(check_trace("hived", path)) == (10 if path.stem == NONCONFORMING else None)

    @needs_shared
    def test_each_shared_sample(self) -> None:
        paths = sorted(SHARED.glob("*.jsonl"))
        assert len(paths) == 9
        for path in paths:
            assert violates_at(check_trace("hived", path)) == (10 if path.stem == NONCONFORMING else None), path.stem

    def test_why_s17_violates(self) -> None:
        report = check_trace("hived", LOGS / f"{NONCONFORMING}.jsonl")
        nonconformance = report.first_nonconformance
        assert nonconformance is not None and (nonconformance.record, nonconformance.line) == (10, 11)
        closest = nonconformance.candidates[0]
        assert closest.steps == ("delete_preempting(p=g1)",)
        assert [(d.object, d.field, d.model, d.observed) for d in closest.differs] == [
            ("g1", "state", "Deleted", "Pending")
        ]
        assert closest.requirement is not None and closest.requirement.line == 119
        assert "g1.1-p1 is still waiting" in closest.requirement.says
        still = next(c for c in nonconformance.candidates if not c.steps)
        assert len(still.differs) == 5  # the group, and state and reserver of both cells
        assert still.requirement is not None and "only e5 or ec" in still.requirement.says

    def test_the_contract_of_check(self) -> None:
        answer = check_trace("hived", LOGS / f"{NONCONFORMING}.jsonl").as_json()
        assert (answer["variant"], answer["verdict"], answer["records"]) == ("as-written", "violates", 12)
        assert answer["first_departure"]["record"] == 10 and "e7 needs all pods" in answer["first_departure"]["reason"]
        assert "first_departure" not in check_trace("hived", LOGS / "s-02-life-preemption.jsonl").as_json()
        json.dumps(answer)

    def test_forced_format_is_the_recognised_one(self) -> None:
        path = LOGS / "s-02-life-preemption.jsonl"
        assert check_trace("hived", path, format="hived") == check_trace("hived", path)


class TestTheSamplesExerciseTheModel:
    """A model that lacks what a sample does must no longer explain it."""

    @pytest.mark.parametrize(
        ("dropped", "sample", "record"),
        [
            ("e0 uses Free cells", "s-02-life-preemption", 5),
            ("e1 reserves Used cells", "s-02-life-preemption", 12),
            ("vacate, preempting-ends", "s-02-life-preemption", 16),
            ("e2 uses its cells", "s-02-life-preemption", 18),
            ("e3 frees its cells", "s-02-life-preemption", 20),
            ("e3 cancels the preemptor", "s-05-overwrite-reserving", 16),
            ("crash takes every Cell", "s-09-crash-while-preempting", 18),
            ("crash takes every PodGroup", "s-09-crash-while-preempting", 18),
            ("e7 returns its Reserving cells", "r-crash-0", 54),
        ],
    )
    def test_without(self, dropped: str, sample: str, record: int) -> None:
        change = Change(why="a seeded fault", repairs=[], drops=dropped.split(", "))
        model = AS_WRITTEN.amend("seeded", "a model with a seeded fault", [change], refuted=AS_WRITTEN.refuted)
        reading = HivedReading(model, read_hived(as_objects(read_text(LOGS / f"{sample}.jsonl"))))
        validation = ModelLog(reading.instance, reading.records(), len(reading.trace.calls)).check()
        assert validation.nonconformance is not None and validation.nonconformance.record == record

    def test_repaired_lets_a_victims_cells_go_together(self) -> None:
        # s-02: the victim's cells go in the call that deletes its last pod, as the repair has it.
        assert violates_at(check_trace("hived", LOGS / "s-02-life-preemption.jsonl", "repaired")) is None

    def test_repaired_frees_the_victim(self) -> None:
        # r-crash-0, record 54: the preemptor is gone and the real victim stays BeingPreempted.
        report = check_trace("hived", LOGS / "r-crash-0.jsonl", "repaired")
        assert violates_at(report) == 54
        assert report.first_nonconformance is not None
        assert "preemption-ongoing" in [p.property for p in report.first_nonconformance.requirements]


class TestReadingRules:
    """Runs of two groups ("low" 1, "high" 5) on two cells ("a", "b"), argued one by one."""

    def start(self, **groups: int) -> Run:
        return Run(groups or {"low": 1, "high": 5}, ["a", "b"])

    def test_steps_only_for_the_group_of_the_call(self, tmp_path: Path) -> None:
        run = self.start().pods(low="waiting").pods(high="waiting")
        run.call("Schedule", "high", low=("Allocated", "Uu"))
        report = checked(run, tmp_path)
        assert violates_at(report) == 3
        assert report.first_nonconformance is not None
        assert "a call about high explains steps of high only" in report.first_nonconformance.reason

    @each_row("op", ["Bind", "AddNode", "UpdateNode", "AddUnallocatedPod", "Restart"])
    def test_other_calls_explain_no_step(self, op: str, tmp_path: Path) -> None:
        run = self.start().pods(low="waiting").call(op, "low", low=("Allocated", "Uu"))
        assert violates_at(checked(run, tmp_path)) == 2

    def test_priority_is_that_of_the_table(self, tmp_path: Path) -> None:
        def run(**more: object) -> Run:
            trace = self.start(low=1, high=5).pods(low="bound", high="waiting")
            trace.call("AddAllocatedPod", "low", low=("Allocated", "U."), **more)
            return trace.call("Schedule", "high", low=("BeingPreempted", "X."), high=("Preempting", "x."), **more)

        assert violates_at(checked(run(), tmp_path)) is None
        assert violates_at(checked(run(priorities={"low": 5}), tmp_path)) == 3  # equals outrank neither way
        assert violates_at(checked(run(priorities={"high": 0}), tmp_path)) == 3
        assert violates_at(checked(run(opportunistic=["high"]), tmp_path)) == 3  # -1 whatever it says
        assert violates_at(checked(run(priorities={"low": 7}, opportunistic=["low"]), tmp_path)) is None
        assert violates_at(checked(run(priorities={"low": 7}, lazy=["low"]), tmp_path)) is None

    def test_a_refused_preemption_names_the_guard(self, tmp_path: Path) -> None:
        run = self.start(low=5, high=5).pods(low="bound", high="waiting")
        run.call("AddAllocatedPod", "low", low=("Allocated", "U."))
        run.call("Schedule", "high", low=("BeingPreempted", "X."), high=("Preempting", "x."))
        nonconformance = checked(run, tmp_path).first_nonconformance
        assert nonconformance is not None
        assert (
            nonconformance.candidates[0].steps == ("preempt(p=high, K={a})",)
            and not nonconformance.candidates[0].differs
        )
        assert nonconformance.candidates[0].refused[0].line == 63
        assert "c = a: Used user low" in nonconformance.candidates[0].refused[0].says
        assert "preemptor-outranks-victim" in [p.property for p in nonconformance.requirements]

    def test_no_pod_left_is_deleted_and_stays_so(self, tmp_path: Path) -> None:
        run = self.start().pods(low="waiting")
        run.pods(low=None).call("DeleteUnallocatedPod", "low")
        assert violates_at(checked(run, tmp_path)) == 2  # the pod went in a call that explains no step
        run = self.start().pods(low="waiting").call("DeleteUnallocatedPod", "low", gone_groups=["low"])
        assert violates_at(checked(run, tmp_path)) is None
        run.call("Schedule", "low", low=("Allocated", "U."))
        assert violates_at(checked(run, tmp_path)) == 3  # Deleted is final without new pods

    def test_pods_that_come_back_are_a_new_group(self, tmp_path: Path) -> None:
        run = self.start().pods(low="waiting").call("DeleteUnallocatedPod", "low", gone_groups=["low"])
        run.pods(low="waiting").call("Schedule", "low", low=("Allocated", "U."))
        assert violates_at(checked(run, tmp_path)) is None

    def test_a_group_that_was_in_the_table_has_had_a_pod(self, tmp_path: Path) -> None:
        run = self.start().call("AddAllocatedPod", "low", low=("Allocated", "U."))
        run.call("DeleteAllocatedPod", "low", low=None)  # Deleted, not waiting for its first pod
        assert violates_at(checked(run, tmp_path)) is None

    def test_waiting_pods_do_not_hold_an_allocated_group(self, tmp_path: Path) -> None:
        run = self.start().pods(low="bound").call("AddAllocatedPod", "low", low=("Allocated", "U."))
        run.pods("low-2", low="waiting")
        deleted = run.copy().call("DeleteAllocatedPod", "low", low=None, gone_pods=["low-1"])
        assert violates_at(checked(deleted, tmp_path)) is None
        kept = run.copy().call("DeleteAllocatedPod", "low", low=None, gone_pods=["low-2"])
        report = checked(kept, tmp_path)
        assert violates_at(report) == 4
        assert (
            report.first_nonconformance is not None
            and "e3 needs all allocated pods" in report.first_nonconformance.reason
        )

    def test_a_victims_cells_go_pod_by_pod_or_all_at_once(self, tmp_path: Path) -> None:
        run = self.start().pods(low="bound", high="waiting").call("AddAllocatedPod", "low", low=("Allocated", "Uu"))
        run.call("Schedule", "high", low=("BeingPreempted", "Xx"), high=("Preempting", "xx"))
        one = run.copy().call("DeleteAllocatedPod", "low", low=("BeingPreempted", ".x"), high=("Preempting", "rx"))
        assert violates_at(checked(one, tmp_path)) is None
        both = run.copy().call("DeleteAllocatedPod", "low", low=None, high=("Preempting", "rr"), gone_groups=["low"])
        assert violates_at(checked(both, tmp_path)) is None

    def test_a_panic_violates(self, tmp_path: Path) -> None:
        run = self.start().pods(low="waiting").call("Schedule", "low", panic="index out of range")
        report = checked(run, tmp_path)
        assert violates_at(report) == 2
        assert report.first_nonconformance is not None and "index out of range" in report.first_nonconformance.reason

    def test_a_crash_restores_what_is_durable(self, tmp_path: Path) -> None:
        run = self.start().pods(low="bound", high="waiting").call("AddAllocatedPod", "low", low=("Allocated", "Uu"))
        run.call("Schedule", "high", low=("BeingPreempted", "Xx"), high=("Preempting", "xx"))
        run.crash().call("AddAllocatedPod", "low", low=("Allocated", "Uu"), high=None)
        assert violates_at(checked(run.copy().call("Bind", None), tmp_path)) is None
        lost = run.copy().call("Bind", None, low=None)
        assert violates_at(checked(lost, tmp_path)) == 6
        undone = run.copy().call("Bind", None, low=("BeingPreempted", "Uu"))
        assert violates_at(checked(undone, tmp_path)) == 6

    def test_what_was_not_bound_is_pending_after_a_crash(self, tmp_path: Path) -> None:
        run = self.start().pods(low="binding").call("AddAllocatedPod", "low", low=("Allocated", "U."))
        run.pods(low="waiting", crash=True)
        assert violates_at(checked(run.copy().call("Bind", None, low=None), tmp_path)) is None
        assert violates_at(checked(run.copy().call("Bind", None, low=("Allocated", "U.")), tmp_path)) == 4

    def test_replay_takes_no_step(self, tmp_path: Path) -> None:
        # The replay restores; a group that was Pending at the crash is not allocated by it.
        run = self.start().pods(low="waiting").crash()
        run.call("AddAllocatedPod", "low", low=("Allocated", "U.")).call("Bind", None)
        assert violates_at(checked(run, tmp_path)) == 4


def preempted(cells: int) -> Run:
    """A victim with all cells, its preemption, and its end in one call."""
    run = Run({f"g{i}": i for i in range(5)}, [f"n{i}" for i in range(cells)]).pods(g0="bound", g4="waiting")
    run.call("AddAllocatedPod", "g0", g0=("Allocated", "U" * cells))
    run.call("Schedule", "g4", g0=("BeingPreempted", "X" * cells), g4=("Preempting", "x" * cells))
    return run.call("DeleteAllocatedPod", "g0", g0=None, g4=("Preempting", "r" * cells), gone_groups=["g0"])


def test_twice_the_cells_take_less_than_eight_times(tmp_path: Path) -> None:
    """Twice the cells have sixteen times the sets of cells; the search must not go through them."""

    def work(cells: int) -> None:
        run = preempted(cells)
        assert violates_at(checked(run, tmp_path)) is None
        run.call("Schedule", "g4", g4=("Allocated", "U" * (cells - 1) + "."))
        assert violates_at(checked(run, tmp_path)) == 5

    assert_grows_less(work, 4, 8, than=8)


def test_a_trace_without_records_says_so(tmp_path: Path) -> None:
    report = check_trace("hived", Run({"low": 1}, ["a"]).write(tmp_path / "run.jsonl"))
    assert (report.verdict, report.records) == ("undetermined", 0) and "nothing was checked" in report.note


def test_names_come_from_the_trace() -> None:
    reading = HivedReading(AS_WRITTEN, read_hived(as_objects(read_text(LOGS / "s-05-overwrite-reserving.jsonl"))))
    instance: Instance = reading.instance
    assert list(instance.object_names("PodGroup")) == ["g0", "g1", "g2"]
    assert list(instance.object_names("Cell")) == ["n0/0", "n0/1"]

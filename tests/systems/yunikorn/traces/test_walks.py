"""The validator on walks of YuniKorn's Application: recorded ones, and what those do not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedproof.proofs.traces import LogVerdict, check_trace
from tests.support.needs import needs_shared
from tests.support.places import DATA, SHARED
from tests.systems.yunikorn.traces.questions import broken, check, nonconformance, releases

LOGS = DATA / "yunikorn"
RECORDED = SHARED / "traces" / "yunikorn" / "application-v0.12.2.jsonl"


@needs_shared
def test_recorded_walks_conform_and_break_properties_as_known() -> None:
    """The steps were found by reading the walks beside lines 19 to 22 of the document."""
    report = check_trace("yunikorn", RECORDED)
    assert report.verdict is LogVerdict.CONFORMS and report.records == 180
    broken_at = [
        (b.line - 1, b.says.split(",")[1].split(":")[0].strip(), b.requirement.property) for b in report.breaks
    ]
    assert broken_at == [
        (1, "step 4", "starting-has-one-allocation"),  # none: the first container has gone
        (2, "step 7", "starting-has-one-allocation"),
        (2, "step 10", "more-allocations-make-it-running"),  # a placeholder that does not complete the gang
        (3, "step 2", "accepted-has-no-allocation"),  # placeholders are allocated while it is Accepted
        (3, "step 6", "starting-has-one-allocation"),  # two placeholders
        (4, "step 6", "starting-has-one-allocation"),
        (7, "step 4", "accepted-has-no-allocation"),
        (7, "step 6", "starting-has-one-allocation"),  # two placeholders and a real one
        (10, "step 2", "accepted-has-no-allocation"),
        (10, "step 3", "completing-has-nothing"),  # a placeholder is still there
    ]


def test_a_broken_property_names_property_step_and_line() -> None:
    report = check_trace("yunikorn", LOGS / "walks-recorded.jsonl")
    first = report.breaks[0]
    assert first.says == "walk 2, step 7: removeAllocation u-0 leaves it Starting"
    assert (first.requirement.property, first.requirement.line) == ("starting-has-one-allocation", 20)
    assert "exactly one allocation confirmed" in first.requirement.sentence
    assert any("walk 2, step 7" in line and "line 20" in line for line in report.text())
    assert report.as_json()["broken_promises"][0]["promise"]["line"] == 20


def walk(*steps: tuple[str, str, str], style: str = "Soft", total: int = 0, **last: Any) -> str:
    """Steps as (op, key, state); a key with ``!`` is a placeholder's. ``last`` is seen after the last step."""
    shown: list[dict[str, Any]] = []
    for op, key, state in steps:
        marked = {"placeholder": True} if "!" in key else {}
        shown.append({"op": op, "state": state, **({"key": key.replace("!", "")} if key else {}), **marked})
    shown[-1] |= last
    return json.dumps({"gangStyle": style, "placeholderAsk": total, "steps": shown})


ONE = [("addAsk", "a", "Accepted"), ("allocate", "a/u", "Starting"), ("removeAllocation", "u", "Completing")]
GANG = [("addAsk", "p!", "Accepted"), ("addAsk", "q!", "Accepted"), ("allocate", "p/u!", "Accepted")]


class TestWalks:
    """What the recorded ones do not show: Resuming, Failing, Failed, Completed, Expired."""

    def test_completed_and_expired(self, tmp_path: Path) -> None:
        report = check(walk(*ONE, ("stateTimeout", "", "Completed"), ("stateTimeout", "", "Expired")), tmp_path)
        assert releases(report) == [] and not report.breaks

    def test_a_soft_gang_resumes(self, tmp_path: Path) -> None:
        steps = [*GANG, ("placeholderTimeout", "", "Resuming"), ("removeAllocation", "u", "Accepted")]
        report = check(walk(*steps, total=2, pending=0, asks=0), tmp_path)
        assert releases(report) == []
        assert broken(report) == [
            (3, "accepted-has-no-allocation", 19),
            (5, "nothing-left-completes", 22),  # its asks were dropped, and now it has no container either
        ]

    def test_a_hard_gang_fails(self, tmp_path: Path) -> None:
        steps = [*GANG, ("placeholderTimeout", "", "Failing"), ("removeAllocation", "u", "Failed"), ("stateTimeout", "", "Expired")]  # fmt: skip
        report = check(walk(*steps, total=2, style="Hard"), tmp_path)
        assert releases(report) == []
        assert broken(report) == [
            (3, "accepted-has-no-allocation", 19),
            (6, "only-the-completed-expire", 24),
            (6, "failed-is-final", 26),
        ]

    @pytest.mark.parametrize(
        ("steps", "last", "record", "reason"),
        [
            ([("addAsk", "a", "Starting")], {}, 1, "no sequence of model steps explains what is observed"),
            ([*ONE[:2], ("removeAllocation", "u", "Starting")], {}, 3, "Completing in the model, Starting observed"),
            ([*ONE, ("stateTimeout", "", "Expired")], {}, 4, "Completed in the model, Expired observed"),
            ([ONE[0], ("stateTimeout", "", "Accepted")], {}, 2, "run_out needs a.timer = armed"),
            ([ONE[0], ("removeAllocation", "u", "Completing")], {}, 2, "Accepted in the model, Completing observed"),
            ([*GANG, ("placeholderTimeout", "", "Failing")], {"total": 2}, 4, "Resuming in the model, Failing observed"),
            ([*GANG, ("placeholderTimeout", "", "Accepted")], {"total": 2}, 4, "Resuming in the model, Accepted observed"),
            (ONE[:2], {"pending": 1}, 2, "pending is 0 in the model, 1 observed"),
            (ONE[:2], {"allocations": 2}, 2, "allocations is 1 in the model, 2 observed"),
            (ONE[:2], {"stateTimer": False}, 2, "timer is armed in the model, off observed"),
            (GANG, {"total": 2, "placeholderTimer": False}, 3, "armed in the model, off observed"),
            (ONE[:2], {"stateUpdates": None}, 2, "it was Accepted, and the core did not notify the resource manager"),
            (ONE[:2], {"stateUpdates": ["Running:runApplication"]}, 2, "sent the resource manager Running:runApplication, but the table"),
            (ONE[:2], {"stateUpdates": ["Starting:failApplication"]}, 2, "sent the resource manager Starting:failApplication, but the table"),
        ],
    )  # fmt: skip
    def test_nonconformances(
        self, steps: list[tuple[str, str, str]], last: dict[str, Any], record: int, reason: str, tmp_path: Path
    ) -> None:
        report = check(walk(*steps, **last), tmp_path)
        assert nonconformance(report)[0] == record and reason in nonconformance(report)[2], nonconformance(report)

    def test_a_reason_may_stand_for_the_event(self, tmp_path: Path) -> None:
        steps = [*GANG, ("placeholderTimeout", "", "Resuming")]
        report = check(walk(*steps, total=2, stateUpdates=["Resuming:ResourceReservationTimeout"]), tmp_path)
        assert releases(report) == []

    def test_the_total_counts_only_when_it_is_met_exactly(self, tmp_path: Path) -> None:
        """Three placeholders of a gang of two: the second one moves it on, and so does the second time."""
        asks = [("addAsk", f"{key}!", "Accepted") for key in "pqr"]
        moved = [("allocate", "p/u!", "Accepted"), ("allocate", "q/v!", "Starting"), ("allocate", "r/w!", "Starting")]
        removals = [("removeAllocation", "w", "Starting"), ("removeAllocation", "v", "Starting")]
        steps = [*asks, *moved, *removals, ("addAsk", "s!", "Starting"), ("allocate", "s/x!", "Running")]
        shown = json.loads(walk(*steps, total=2))
        for step, count in zip(shown["steps"], [0, 0, 0, 1, 2, 3, 2, 1, 1, 2], strict=True):
            step["allocatedPlaceholder"] = count
        assert releases(check(json.dumps(shown), tmp_path)) == []
        shown["placeholderAsk"] = 3
        assert nonconformance(check(json.dumps(shown), tmp_path))[0] == 5

    def test_the_walk_that_violates_is_named(self, tmp_path: Path) -> None:
        """Walks are runs of their own; records are counted through."""
        good, bad = walk(*ONE), walk(ONE[0], ("allocate", "a/u", "Running"))
        record, line, reason = nonconformance(check(f"{good}\n{bad}\n", tmp_path))
        assert (record, line) == (5, 2) and reason.startswith("walk of line 2, step 2: allocate a/u leaves it Running")

    def test_the_removal_of_what_is_gone(self, tmp_path: Path) -> None:
        """It takes nothing away; whether it looks for what is left is open, where there is something to look at."""
        asks = [("addAsk", "a", "Accepted"), ("addAsk", "p!", "Accepted"), ("removeAsk", "a", "Accepted")]
        for state, total in (("Accepted", 2), ("Completing", 2)):
            for ask in ("a", "never-there"):
                steps = [*asks, ("allocate", "p/u!", "Accepted"), ("removeAsk", ask, state)]
                assert releases(check(walk(*steps, total=total, asks=1, allocations=1), tmp_path)) == []
        waiting = [*asks, ("removeAsk", "a", "Completing")]
        assert nonconformance(check(walk(*waiting, total=2), tmp_path))[0] == 4
        assert (
            nonconformance(check(walk(*ONE[:2], ("removeAllocation", "never-there", "Completing")), tmp_path))[0] == 3
        )
        nothing = [*ONE[:2], ("removeAsk", "a", "Starting"), ("removeAsk", "a", "Completing")]
        assert nonconformance(check(walk(*nothing), tmp_path))[0] == 4
        assert nonconformance(check(walk(*asks, asks=2), tmp_path))[0] == 3

    def test_asks_after_the_end_are_counted_and_no_more(self, tmp_path: Path) -> None:
        end = [*ONE, ("stateTimeout", "", "Completed"), ("addAsk", "b", "Completed"), ("allocate", "b/v", "Completed")]
        assert releases(check(walk(*end, pending=0, allocated=1, asks=2), tmp_path)) == []
        assert "asks is 2 in the model, 1 observed" in nonconformance(check(walk(*end, asks=1), tmp_path))[2]

    def test_the_repaired_model_does_not_explain_what_it_repairs(self, tmp_path: Path) -> None:
        """Completing with a placeholder left (line 22)."""
        steps = [GANG[0], ("allocate", "p/u!", "Accepted"), ("removeAsk", "p", "Completing")]
        assert releases(check(walk(*steps, total=2), tmp_path)) == []
        assert nonconformance(check(walk(*steps, total=2), tmp_path, variant="repaired"))[0] == 3

    def test_releases(self, tmp_path: Path) -> None:
        assert releases(check(walk(*ONE), tmp_path, log_version="0.12.2")) == []
        with pytest.raises(ValueError, match=r"walks are calls of the Application of 0\.12"):
            check(walk(*ONE), tmp_path, log_version="1.5")

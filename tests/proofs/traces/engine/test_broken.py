"""What is said of a table when a step is observed to end otherwise; each case read off HiveD's figures."""

from typing import Any

import pytest

from schedproof.model.semantics import Instance
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.traces import LogVerdict, check_records
from schedproof.proofs.traces.engine import broken
from schedproof.proofs.traces.engine.broken import broken_table
from tests.support.rows import each_row

HIVED = Instance(AS_WRITTEN, {"PodGroup": 1, "Cell": 1})
HEADER = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["low"], "Cell": ["a", "b"]}}
ALLOCATED = {"action": "allocate", "parameters": {"p": "low", "K": ["a"]}}
FREE, USED, RESERVED, RESERVING = "Free", "Used", "Reserved", "Reserving"


@each_row(
    ("before", "reached", "observed", "says", "line"),
    [
        # e2 (line 187) takes a Used cell to Reserving.
        (USED, RESERVING, USED, "c0 stays Used, though e2 takes it to Reserving", 187),
        # Only e1 (line 181) frees a Used cell.
        (USED, RESERVING, FREE, "c0 goes from Used to Free, which only e1 does, and nothing here fires it", 181),
        (USED, USED, FREE, "c0 goes from Used to Free, which only e1 does, and nothing here fires it", 181),
        # e7 (line 229) frees a Reserved cell, and so does a crash.
        (
            RESERVED,
            USED,
            FREE,
            "c0 goes from Reserved to Free, which only e7 or ec does, and nothing here fires it",
            229,
        ),
        # No arrow leads from Free to Reserving.
        (FREE, USED, RESERVING, "c0 goes from Free to Reserving, where Cell's table has no row", 135),
    ],
)
def test_it_names_the_observed_move(before: str, reached: str, observed: str, says: str, line: int) -> None:
    cell = HIVED.slot("Cell")
    names = [s.name for s in AS_WRITTEN.machine("Cell").states]

    def state(of_cell: str) -> tuple[int, ...]:
        contradiction = list(HIVED.initial())
        contradiction[cell] = names.index(of_cell)
        return tuple(contradiction)

    contradiction = broken_table(HIVED, state(before), state(reached), {cell: names.index(observed)})
    assert contradiction is not None
    assert (contradiction.says, contradiction.line) == (says, line)


def test_it_says_nothing_of_what_is_as_reached_or_not_observed() -> None:
    start = HIVED.initial()
    assert broken_table(HIVED, start, start, {}) is None
    assert broken_table(HIVED, start, start, dict(enumerate(start))) is None


class TestPropertiesOfWhatIsObserved:
    """Facts of the document: only an Allocated or BeingPreempted group is associated with a Used cell (line 145)."""

    def broken(self, **record: object) -> list[tuple[str | None, str]]:
        report = check_records("hived", HEADER, [ALLOCATED, record]).first_nonconformance
        assert report is not None and report.record == 2
        return [(r.property, r.says) for r in report.requirements]

    def test_what_is_not_observed_is_as_in_the_model(self) -> None:
        still = {"Cell": {"a": {"state": "Used"}}}
        ((name, says),) = self.broken(action="delete_allocated", parameters={"p": "low"}, state=still)
        assert name == "used-cell"
        assert says.endswith("(violated for c = a; what is not observed is as in the model)")

    def test_nothing_is_said_of_a_step_that_is_not_possible(self) -> None:
        """What would be after it is made up."""
        freed = {"Cell": {"a": {"state": "Free"}}}
        assert self.broken(action="allocate", parameters={"p": "low", "K": ["b"]}, state=freed) == []

    def test_nor_with_more_objects_than_a_report_has_time_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(broken, "MOST_TUPLES", 1)
        still = {"Cell": {"a": {"state": "Used"}}}
        assert self.broken(action="delete_allocated", parameters={"p": "low"}, state=still) == []


TWO_GROUPS = {**HEADER, "variant": "repaired", "objects": {"PodGroup": ["low", "high"], "Cell": ["a", "b"]}}
SECOND_ALLOCATION = {"action": "allocate", "parameters": {"p": "high", "K": ["a"]}}


class TestForbiddenSteps:
    """A record that a guard refuses: what the step would have violated."""

    def test_the_property_that_it_would_violate_is_named(self) -> None:
        """A cell given to a second group: the cell has no row for it, so the group would be Allocated without cells."""
        report = check_records("hived", TWO_GROUPS, [ALLOCATED, SECOND_ALLOCATION])
        shown = report.first_nonconformance
        assert shown is not None and shown.requirements == []
        assert [p.property for p in shown.if_taken] == ["allocated-has-cells"]
        assert "(violated for p = high)" in shown.if_taken[0].says
        assert any(line.startswith("the forbidden step would violate allocated-has-cells") for line in shown.text())
        assert [p["property"] for p in shown.as_json()["promises_if_taken"]] == ["allocated-has-cells"]

    def test_what_the_observation_shows_counts(self) -> None:
        """If the record shows that the second group uses the cell, no property of that group is violated."""
        seen = {"state": {"Cell": {"a": {"user": "high"}}}}
        report = check_records("hived", TWO_GROUPS, [ALLOCATED, {**SECOND_ALLOCATION, **seen}])
        shown = report.first_nonconformance
        assert shown is not None
        assert "(violated for p = high)" not in " ".join(p.says for p in shown.if_taken)

    def test_a_step_that_the_model_allows_is_not_forbidden(self) -> None:
        seen = {"state": {"PodGroup": {"low": {"state": "Pending"}}}}
        shown = check_records("hived", HEADER, [{**ALLOCATED, **seen}]).first_nonconformance
        assert shown is not None and list(shown.if_taken) == []


class TestThePartThatMatters:
    def test_it_violates_the_model_for_the_same_reason(self) -> None:
        """Either field alone violates the model, but the report names both, and so does the shortened log."""
        state = {"PodGroup": {"low": {"state": "Pending"}}, "Cell": {"a": {"user": "high"}}}
        report = check_records("hived", TWO_GROUPS, [{**ALLOCATED, "state": state}], shorten=True)
        header, *rest = report.shortened
        short = check_records("hived", header, rest).first_nonconformance
        assert short is not None and report.first_nonconformance is not None
        properties = [p.property for p in report.first_nonconformance.requirements]
        assert [p.property for p in short.requirements] == properties == ["pending-holds-nothing", "used-cell"]
        assert rest[0]["state"] == state

    @pytest.mark.parametrize(
        "wrong",
        [
            {
                "action": "delete_allocated",
                "parameters": {"p": "low"},
                "state": {"Cell": {"a": {"state": "Used"}}},
            },
            {"state": {"PodGroup": {"low": {"state": "Pending"}}}},  # two properties: its cell, which it does not name
        ],
    )
    def test_it_has_only_objects_that_count(self, wrong: dict[str, Any]) -> None:
        """The second group and its cell have nothing to do with the first one's, which frees nothing at its end."""
        start = {
            "PodGroup": {"low": {"state": "Allocated"}, "high": {"state": "Allocated"}},
            "Cell": {"a": {"state": "Used", "user": "low"}, "b": {"state": "Used", "user": "high"}},
        }
        objects = {"PodGroup": ["low", "high"], "Cell": ["a", "b"]}
        rigid = {"PodGroup": {"outranks": {"high": ["low"]}}}
        whole = {"schedproof": 1, "system": "hived", "objects": objects, "rigid": rigid, "start": start}
        header, *rest = check_records("hived", whole, [wrong], shorten=True).shortened
        assert rest == [wrong]
        assert header["objects"] == {"PodGroup": ["low"], "Cell": ["a"]}
        assert header["rigid"] == {"PodGroup": {"outranks": {}}}
        assert header["start"] == {
            "PodGroup": {"low": {"state": "Allocated"}},
            "Cell": {"a": {"state": "Used", "user": "low"}},
        }

    def test_its_records_keep_their_parameters(self) -> None:
        records = [ALLOCATED, SECOND_ALLOCATION]
        report = check_records("hived", TWO_GROUPS, records, shorten=True)
        assert report.shortened[-1] == SECOND_ALLOCATION


def test_records_that_show_nothing_check_nothing() -> None:
    report = check_records("hived", HEADER, [{"time": 1}, {"time": 2}])
    assert (report.verdict, report.records) == (LogVerdict.UNDETERMINED, 2)
    assert report.note == "no record has an action, an event or a state, so nothing was checked"
    assert check_records("hived", HEADER, [{"time": 1}, ALLOCATED]).verdict is LogVerdict.CONFORMS

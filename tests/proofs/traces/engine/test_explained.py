"""The run that explains a trace's last records: each step replayed, and each record held against it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from schedproof.model.registry.discovery import system
from schedproof.model.semantics import Stepper
from schedproof.proofs.traces import LogVerdict
from schedproof.proofs.traces.engine import origins
from schedproof.proofs.traces.engine.explained import ExplainedRecord, ExplainedRun, Explanations
from schedproof.proofs.traces.engine.watch import Watch
from tests.proofs.traces.engine.test_long_logs import LISTED, OPEN, Run
from tests.support.sample import thinned

HIVED = {"schedproof": 1, "system": "hived", "objects": {"PodGroup": ["g", "h"], "Cell": ["a", "b"]}}


def watch(header: dict[str, Any] = HIVED) -> Watch:
    return Watch(system("hived"), None, header)


def explained(watched: Watch) -> ExplainedRun:
    explanations = Explanations.of(watched.header)
    explanations.learn(watched.kept)
    return explanations.run(watched.kept)


def words(run: ExplainedRun) -> list[str]:
    """The steps of a run: an action with its objects, and the number of its record, with a star if it has none."""
    return [
        f"{record.number}{'*' if step.is_unlogged else ''} {step.choice.action} "
        + " ".join(
            str(record.objects.instance.show(v.type, dict(step.choice.parameters)[v.name]))
            for v in record.objects.model.action(step.choice.action).parameters
        )
        for record in run.records
        for step in record.steps
    ]


def fits(record: ExplainedRecord, given: dict[str, Any]) -> Iterator[str]:
    """What a record says that its steps or the state after them do not."""
    logged = [step for step in record.steps if not step.is_unlogged]
    if "action" in given:
        yield from () if [step.choice.action for step in logged] == [given["action"]] else ["another action"]
        types = {v.name: v.type for v in record.objects.model.action(given["action"]).parameters}
        for name, value in given["parameters"].items():
            if record.objects.instance.show(types[name], dict(logged[0].choice.parameters)[name]) != value:
                yield f"another {name}"
    described = record.objects.instance.describe(record.after)
    for sort, objects in given.get("state", {}).items():
        for name, fields in objects.items():
            for field, value in fields.items():
                if described[sort][name][field] != value:
                    yield f"another {sort}.{name}.{field}"


def blurred(records: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """Records that leave out some parameters and some of the state, so that several states may explain them."""
    for record in records:
        if "parameters" in record and rng.random() < 0.2:
            record["parameters"].pop(rng.choice([*record["parameters"], ""]), None)
        if "state" in record and rng.random() < 0.3:
            del record["state"]["Cell"]
    return records


@pytest.mark.parametrize("seed", thinned(range(4), 4))
@pytest.mark.parametrize("header", [OPEN, LISTED], ids=["open", "listed"])
def test_each_step_is_one_and_fits_its_record(seed: int, header: dict[str, Any]) -> None:
    run, watched = Run(seed, header is LISTED), watch(header)
    given = blurred(run.records(60), random.Random(seed))
    explanations = Explanations.of(watched.header)
    for record in given:
        if watched.take(record).verdict is not LogVerdict.CONFORMS:
            break
        if watched.records % 12:
            continue
        explanations.learn(watched.kept)
        run_so_far = explanations.run(watched.kept)
        state = run_so_far.state
        for each in run_so_far.records:
            stepper = Stepper(each.objects.unnamed)
            state = each.before
            for step in each.steps:
                assert step.before == state and stepper.enabled(state, step.choice)
                state = stepper.step(state, step.choice).after
            assert state == each.after
            assert list(fits(each, given[each.number - 1])) == []
        assert state in watched.candidates.states
        assert [each.number for each in run_so_far.records] == list(
            range(run_so_far.records_before + 1, watched.records + 1)
        )
    assert watched.records > 20 and len(run_so_far.records) > 10, "the comparison says something"


def test_unlogged_steps_are_in_the_run() -> None:
    watched = watch()
    watched.take({"action": "allocate", "parameters": {"p": "g", "K": ["a"]}})
    # By the document, g is Deleted only by e3, from Allocated (line 85).
    watched.take({"state": {"PodGroup": {"g": {"state": "Deleted"}}}, "unlogged": 1})
    run_so_far = explained(watched)
    assert words(run_so_far) == ["1 allocate g ['a']", "2* delete_allocated g"]
    assert (run_so_far.is_only_one, run_so_far.states) == (True, 1)


def test_several_runs_that_fit() -> None:
    watched = watch()
    watched.take({"action": "allocate", "parameters": {"p": "g"}})
    run_so_far = explained(watched)
    # g may have a, b, or both.
    assert (run_so_far.is_only_one, run_so_far.states) == (False, 3)
    watched.take({"state": {"Cell": {"a": {"state": "Free"}}}})
    run_so_far = explained(watched)
    assert words(run_so_far) == ["1 allocate g ['b']"] and run_so_far.is_only_one, "a later record says which"


def test_the_run_begins_where_its_records_are_kept() -> None:
    watched = watch()
    for _ in range(3 * origins.MOST_RECORDS):
        watched.take({"state": {"PodGroup": {"g": {"state": "Pending"}}}})
    run_so_far = explained(watched)
    assert run_so_far.records_before + len(run_so_far.records) == watched.records == 3 * origins.MOST_RECORDS
    assert len(run_so_far.records) == origins.MOST_RECORDS - 1
    part = run_so_far.last(2)
    assert [each.number for each in part.records] == [watched.records - 1, watched.records]
    assert part.records_before == watched.records - 2


def test_too_many_states_have_no_run() -> None:
    watched = Watch(system("hived"), None, {**HIVED, "objects": {"PodGroup": ["g"], "Cell": list("abcdefg")}})
    watched.take({"action": "allocate"})
    assert len(watched.candidates.states) > origins.MOST_STATES
    run_so_far = explained(watched)
    assert (run_so_far.records, run_so_far.records_before, run_so_far.states) == ((), 1, 0)
    # The next record shows which of them it was; the lanes begin there.
    cells = {name: {"state": "Used" if name == "a" else "Free"} for name in "abcdefg"}
    watched.take({"state": {"Cell": cells}})
    run_so_far = explained(watched)
    assert (list(run_so_far.records), run_so_far.records_before, run_so_far.states) == ([], 2, 1)
    watched.take({"action": "delete_allocated", "parameters": {"p": "g"}})
    assert words(explained(watched)) == ["3 delete_allocated g"]


def test_the_run_ends_before_a_nonconforming_record() -> None:
    watched = watch()
    watched.take({"action": "allocate", "parameters": {"p": "g", "K": ["a"]}})
    watched.take({"action": "allocate", "parameters": {"p": "h", "K": ["a"]}})
    assert watched.validation.verdict is LogVerdict.VIOLATES
    assert words(explained(watched)) == ["1 allocate g ['a']"]


def test_an_interruption_costs_one_record_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(BaseException):
        pass

    watched = watch()
    for _ in range(6):
        watched.take({"state": {"PodGroup": {"g": {"state": "Pending"}}}})
    explanations, link = Explanations.of(watched.header), Explanations._link
    late = [4, 2, 2]  # the record at which a call is interrupted

    def interrupted(self: Explanations, earlier: Any, later: Any) -> Any:
        if late and later.number == late[0]:
            late.pop(0)
            raise Late
        return link(self, earlier, later)

    monkeypatch.setattr(Explanations, "_link", interrupted)
    while late:
        with pytest.raises(Late):
            explanations.learn(watched.kept)
    explanations.learn(watched.kept)
    # The second call began with record 4; the third with record 2, which took all of it.
    assert explanations.run(watched.kept).records_before == 2

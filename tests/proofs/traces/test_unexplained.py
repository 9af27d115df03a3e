"""A nonconformance leads to the line: which row would explain a change, what could have fired it, and what was false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from schedproof.model.semantics import Choice, IllFormed, Instance, Stepper, Undefined
from schedproof.model.semantics import State as Values
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.traces.engine.candidates import Observation
from schedproof.proofs.traces.engine.watch import Watch
from schedproof.proofs.traces.reports import unexplained as reports
from schedproof.proofs.traces.reports.report import (
    ExplainingRow,
    NonconformanceReport,
    UnexplainedChange,
    Way,
    explained,
)
from schedproof.proofs.traces.reports.unexplained import unexplained
from schedproof.proofs.traces.reports.wording import show_choice
from tests.support.queue_model import MODEL, SYSTEM
from tests.support.random_models import random_model
from tests.support.sample import thinned

HEADER = {"schedproof": 1, "system": "queue", "objects": {"Worker": ["w1", "w3"], "Entry": ["web", "db"]}}


def action(name: str, **parameters: str) -> dict[str, Any]:
    return {"action": name, "parameters": parameters}


def settled(entry: str, state: str = "Settled") -> dict[str, Any]:
    return {"state": {"Entry": {entry: {"state": state}}}}


def report(*records: Mapping[str, Any]) -> NonconformanceReport:
    """The report on the last record."""
    watch = Watch(SYSTEM, MODEL, HEADER)
    for record in records:
        assert watch.open
        watch.take(record)
    nonconformance = watch.validation.nonconformance
    assert nonconformance is not None and nonconformance.record == len(records)
    return nonconformance


def lines(of: NonconformanceReport) -> list[str]:
    """The text on the only change, without places."""
    (change,) = of.unexplained
    return [line.strip().partition(" (support/")[0] for line in change.text()]


CHANGED = [action("take", w="w3", e="web"), action("change", e="web")]


def test_a_condition_of_the_action_is_named_with_its_record() -> None:
    shown = report(*CHANGED, action("age", w="w3"), settled("web"))
    assert lines(shown) == [
        "what would explain web.state from Changed to Settled:",
        "row settle from Changed",
        "finish(w=w3) by the rule 'what is finished is settled' needs not (w.old): w3.old is true since record 3 (line 3)",
    ]


def test_a_condition_of_a_rule_is_named() -> None:
    """w3 may finish, but it is at web."""
    shown = report(
        *CHANGED, action("take", w="w1", e="db"), action("change", e="db"), action("age", w="w1"), settled("db")
    )
    assert lines(shown)[2] == (
        "finish(w=w3), whose rule 'what is finished is settled' needs w.at = e: w3.at is web since record 1 (line 1)"
    )


def test_a_step_that_is_possible_is_named() -> None:
    shown = report(*CHANGED, settled("web"))
    assert lines(shown)[2] == (
        "finish(w=w3) by the rule 'what is finished is settled' is possible here and explains all that is observed, "
        "but the record names no step"
    )
    other = report(*CHANGED, {**action("age", w="w3"), **settled("web")})
    assert lines(other)[2].endswith("explains all that is observed, but the record says age(w=w3)")
    both = {"state": {"Entry": {"web": {"state": "Settled"}}, "Worker": {"w3": {"old": True}}}}
    assert (
        report(*CHANGED, both)
        .unexplained[0]
        .text()[2]
        .endswith("is possible here; log it, or allow it as an unlogged step")
    )


def test_the_choice_that_leads_to_the_object_is_named() -> None:
    """Both workers have the same first condition false, but w1 is at another entry."""
    both = [*CHANGED, action("take", w="w1", e="db"), action("age", w="w1"), action("age", w="w3")]
    assert lines(report(*both, settled("web")))[2] == (
        "finish(w=w3) by the rule 'what is finished is settled' needs not (w.old): w3.old is true since record 5 (line 5)"
    )


def test_more_false_conditions_are_counted() -> None:
    """The worker is idle, old, and at no entry."""
    instance = Instance(MODEL, {"Worker": 1, "Entry": 1})
    values = list(instance.initial())
    values[instance.slot("Worker", "old")] = values[instance.slot("Entry")] = 1
    observed = Observation({instance.slot("Entry"): 2})
    (change,) = unexplained(instance, tuple(values), tuple(values), observed, "observation")
    (way,) = change.rows[0].ways
    assert way.needs == "w Busy" and way.others == 2
    assert ": w0.state is Idle, and 2 more conditions (" in way.text()


def test_the_possible_choice_that_explains_most_is_named() -> None:
    shown = report({"state": {"Worker": {"w1": {"state": "Busy", "at": "db"}}}})
    assert (
        lines(shown)[2]
        == "take(w=w1, e=db) is possible here and explains all that is observed, but the record names no step"
    )


def test_too_many_choices_are_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.proofs.traces.reports.unexplained.MOST_TRIED", 1)
    shown = report({"state": {"Worker": {"w1": {"state": "Busy"}}}})
    assert lines(shown)[2] == "take has too many choices to say what it needs for take on w1"


def test_an_attribute_of_an_object_whose_state_is_not_observed() -> None:
    """The step takes it to another state, which the record does not show."""
    shown = report({**action("take", w="w1", e="web"), "state": {"Worker": {"w1": {"at": "db"}}}})
    assert lines(shown)[1:] == [
        "row take from Idle",
        "take(w=w1, e=db) is possible here and explains all that is observed, but the record says take(w=w1, e=web)",
    ]
    none = report(*CHANGED[:1], {"state": {"Worker": {"w3": {"at": "db"}}}})
    assert none.unexplained[0].text()[0].endswith("no row from Busy sets at to that value")  # rest sets none


def test_a_step_that_the_format_forbids_has_its_reason() -> None:
    instance = Instance(MODEL, {"Worker": 1, "Entry": 1})
    before = instance.initial()
    observed = Observation({instance.slot("Worker"): 1})
    (change,) = unexplained(instance, before, before, observed, "a pod", {"take(w=w0, e=e0)": "its pod waits"})
    assert change.text()[2].strip() == "take(w=w0, e=e0) is possible in the model, but its pod waits"


def test_a_change_without_a_row_says_what_the_table_has() -> None:
    (change,) = report(settled("web")).unexplained
    assert change.text() == [
        "nothing would explain web.state from New to Settled: no row of Entry's table leads from New to Settled: only from Changed"
    ]
    (back,) = report(*CHANGED, settled("web", "New")).unexplained
    assert back.text()[0].endswith("no row of Entry's table leads from Changed to New: none leads there")


def change_of(name: str, needs: str, before: str = "Free") -> UnexplainedChange:
    way = Way(f"take({name})", [], "", needs, [], {}, "", 0, "m.py:3", None)
    return UnexplainedChange(name, "state", before, "Used", [ExplainingRow("use from Free", "m.py:2", None, [way])])


def test_equal_blocks_are_merged() -> None:
    """With the name of each object, or without; what differs in anything else stays a block of its own."""
    missing = UnexplainedChange("c5", "state", "Free", "Used", [], "no row leads there")
    changes = [
        change_of("c0", "c0 Free"), change_of("c1", "c1 Free"), change_of("c2", "c1 Free"), change_of("c3", "c3 Free", "Lost"),
        replace(change_of("c0", "c0 Free"), object="c4"), missing, replace(missing, object="c6"),
    ]  # fmt: skip
    assert explained(changes) == [
        "what would explain c0.state and c4.state from Free to Used:",
        "  row use from Free (m.py:2):",
        "    take(c0) needs c0 Free (m.py:3)",
        "  the same for c1, in place of c0",
        "what would explain c2.state from Free to Used:",
        "  row use from Free (m.py:2):",
        "    take(c2) needs c1 Free (m.py:3)",
        "what would explain c3.state from Lost to Used:",
        "  row use from Free (m.py:2):",
        "    take(c3) needs c3 Free (m.py:3)",
        "nothing would explain c5.state and c6.state from Free to Used: no row leads there",
    ]


def test_an_attribute_is_explained_by_the_row_that_sets_it() -> None:
    shown = report({"state": {"Worker": {"w1": {"old": True}}}})
    (change,) = shown.unexplained
    assert change.text() == ["nothing would explain w1.old from false to true: no row from Idle sets old to that value"]
    stays = {"state": {"Worker": {"w1": {"state": "Idle", "old": True}}}}
    assert report(stays).unexplained[0].text()[0].endswith("no row from Idle to Idle sets old to that value")
    shown = report(*CHANGED[:1], {"state": {"Worker": {"w3": {"state": "Idle", "at": "web"}, "w1": {"at": "web"}}}})
    assert [(c.object, c.field) for c in shown.unexplained] == [("w3", "state"), ("w1", "at")]


def test_a_quantifier_that_nothing_satisfies_has_its_words() -> None:
    assert lines(report(settled("web", "Changed")))[2] == "change(e=web) needs some w: w.at = e (e = web)"


def test_places_are_lines_of_the_model() -> None:
    (change,) = report(*CHANGED, action("age", w="w3"), settled("web")).unexplained
    (row,) = change.rows
    (way,) = row.ways
    settle, finish = MODEL.rows[-1], MODEL.actions[-1]
    assert row.place == settle.place.in_folder() and way.place == finish.when[1].place.in_folder()
    assert row.place.startswith("support/queue_model.py:")


def test_the_place_of_a_way_is_that_of_the_condition() -> None:
    """The guard of ``allocate`` has several lines."""
    instance = Instance(AS_WRITTEN, {"PodGroup": 1, "Cell": 1})
    values = list(instance.initial())
    values[instance.slot("Cell")] = 1
    observed = Observation({instance.slot("PodGroup"): 2})
    (change,) = unexplained(instance, tuple(values), tuple(values), observed, "observation")
    allocate = AS_WRITTEN.action("allocate")
    (way,) = [way for row in change.rows for way in row.ways if way.step.startswith("allocate(")]
    assert way.needs and way.place in {each.place.in_folder() for each in allocate.when}
    assert way.place != allocate.place.in_folder()


def test_the_parts_are_in_the_json() -> None:
    (change,) = report(*CHANGED, action("age", w="w3"), settled("web")).as_json()["unexplained"]
    (way,) = change["rows"][0]["ways"]
    assert (change["object"], change["field"], change["before"], change["observed"]) == (
        "web", "state", "Changed", "Settled",
    )  # fmt: skip
    assert way["step"] == "finish(w=w3)" and way["needs"] == "not (w.old)" and way["objects"] == {"w": "w3"}
    assert way["reads"] == [{"object": "w3", "field": "old", "value": True, "since": {"record": 3, "line": 3}}]


def test_the_closest_of_some_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MOST_TRIED", 2)
    shown = report(
        *CHANGED, action("take", w="w1", e="db"), action("change", e="db"), action("age", w="w1"), settled("db")
    )
    (way,) = shown.unexplained[0].rows[0].ways
    assert way.needs and way.note == reports.CUT and way.text().endswith(f"; {way.note})")


# --- of random models: what is called possible is, and what is refused is not


def steps_of(instance: Instance, state: Values) -> Iterator[tuple[Choice, Any]]:
    stepper = Stepper(instance)
    for each in instance.model.actions:
        try:
            choices = list(stepper.choices(state, each))
        except Undefined:
            continue
        for choice in choices:
            with suppress(IllFormed, Undefined):
                yield choice, stepper.step(state, choice)


@pytest.mark.parametrize("seed", thinned(range(24), 16))
def test_ways_of_random_models_are_true(seed: int) -> None:
    """Compared with all steps of the state: a way is possible exactly if the action fires the row's event there."""
    instance, chance = random_model(seed).instance(), Random(seed)
    states = explore(instance, symmetry=False, limit=200).states
    for state in chance.sample(states, min(len(states), 5)):
        steps = list(steps_of(instance, state))
        for _, step in chance.sample(steps, min(len(steps), 5)):
            observed = Observation(dict(enumerate(step.after)))
            for change in unexplained(instance, state, state, observed, "observation"):
                _check(instance, change, steps, step)


def _check(instance: Instance, change: UnexplainedChange, steps: Sequence[tuple[Choice, Any]], real: Any) -> None:
    sort = next(s.name for s in instance.model.sorts if change.object in instance.object_names(s.name))
    number = list(instance.object_names(sort)).index(change.object)
    assert change.rows, "the change was made, so a row makes it"
    assert (
        change.field != "state"
        or real.choice.action
        in {way.step.partition("(")[0] for row in change.rows for way in row.ways if not way.needs}
        or any(row.others for row in change.rows)
    )
    for row in change.rows:
        event = row.row.partition(" from ")[0]
        firing = {
            choice.action: show_choice(instance, choice)
            for choice, step in steps
            if number in step.fired.get((sort, event), {})
        }
        for way in row.ways:
            name = way.step.partition("(")[0]
            if way.needs or way.note.startswith("fires nothing"):
                assert name not in firing, (way, firing)
            elif "not well-formed" not in way.note:
                assert name in firing, way

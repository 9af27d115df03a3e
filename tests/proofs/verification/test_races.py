"""Races, on a job that a person stops while a worker ends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import (  # fmt: skip
    Action,
    Attribute,
    BoolType,
    Event,
    IntRange,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    given,
    variable,
)
from schedproof.proofs.verification import races as module
from schedproof.proofs.verification.races import Order, races

Job = Sort("Job", "j")
j = variable(Job, "j")


def action(name: str, *states: str, line: int | None = None, crash: bool = False) -> Action:
    when = [j.is_(*states)] if states else []
    return Action(name, [j], when, [j.fires(name)], f"{name} {{j}}", line, crash=crash)


START, END = action("start", "Waiting", line=3), action("end", "Running", line=4)
STOP, STOP_SOON = action("stop", "Running"), action("stop", "Waiting", "Running")
RAISE, SWAP, CRASH = action("raise_it", "Running"), action("swap", "Running"), action("crash", "Running", crash=True)


def jobs(*actions: Action) -> Model:
    names = {each.name for each in actions}
    rows = [
        Row(Job, "start", "Waiting", "Running"),
        Row(Job, "end", "Running", "Done"),
        Row(Job, "stop", "Running", "Stopped"),
        Row(Job, "stop", "Waiting", "Stopped"),
        Row(Job, "raise_it", "Running", "Running", rank=1),
        Row(Job, "swap", "Running", "Running", rank=2),
        Row(Job, "crash", "Running", "Waiting"),
    ]
    rows = [row for row in rows if row.event in names]
    return Model(
        system="jobs",
        variant="as-written",
        about="jobs that end or are stopped",
        machines=[
            Machine(
                Job,
                [State(name) for name in dict.fromkeys(["Waiting", *(row.target for row in rows)])],
                [Attribute("rank", IntRange(0, 2))],
            )
        ],
        rows=rows,
        actions=actions,
        rules=[],
        properties=[],
        default_scope={"Job": 1},
    )


def test_one_excludes_the_other() -> None:
    (race,) = races(jobs(START, END, STOP))
    assert (race.actions, race.lines, race.order, race.steps) == (("end", "stop"), (4, None), Order.WHICH, 1)
    assert race.text == "end (line 4) and stop: whichever comes first excludes the other (after 1 step)"
    assert race.as_json()["steps"] == 1


def test_what_only_one_order_allows_is_no_race() -> None:
    """A job is stopped before or after its start, but does not start after it is stopped."""
    assert races(jobs(START, STOP_SOON)) == []


def test_either_order_with_another_end() -> None:
    (race,) = races(jobs(START, RAISE, SWAP))
    assert (race.actions, race.order) == (("raise_it", "swap"), Order.RESULT)


def test_steps_of_two_objects_do_not_race() -> None:
    """Another job's end changes nothing, and which of two equal jobs is started first does not count."""
    two = races(jobs(START, END), {"Job": 2})
    assert two == []


def test_two_objects_may_race_by_one_action() -> None:
    """Two jobs take one lock; a job that may take one of two locks does not race with itself."""
    Lock = Sort("Lock", "l")  # noqa: N806
    lock = variable(Lock, "l")
    free = jobs(START)
    takes = Action(
        "take", [j, lock], [j.is_("Waiting"), lock.is_("Free")], [j.fires("start"), lock.fires("hold")], "", line=3
    )
    model = replace(
        free,
        machines=[*free.machines, Machine(Lock, [State("Free"), State("Held")])],
        rows=[*free.rows, Row(Lock, "hold", "Free", "Held")],
        actions=[takes],
        default_scope={"Job": 2, "Lock": 1},
    )
    (race,) = races(model)
    assert (race.actions, race.order, race.steps) == (("take", "take"), Order.WHICH, 0)
    assert race.text.startswith("take (line 3) and take of another object: whichever comes first excludes the other")
    assert races(model, {"Job": 1, "Lock": 2}) == []


def test_one_action_in_either_order_is_no_race() -> None:
    """Each job becomes the last: which of two that are equal is last does not exclude the other."""
    last = Sort("Last", "x")
    x = variable(last, "x")
    free = jobs(START)
    model = replace(
        free,
        machines=[
            *free.machines,
            Machine(last, [State("There")], [Attribute("job", Ref(Job))], [Event("note", {"job": Ref(Job)})]),
        ],
        rows=[*free.rows, Row(last, "note", "There", "There", job=given("job"))],
        actions=[Action("start", [j, x], [j.is_("Waiting")], [j.fires("start"), x.fires("note", job=j)], "")],
        configurations=lambda sizes: [{("Job", "early"): [True, False]}],
        default_scope={"Job": 2, "Last": 1},
    )
    (machine, *others) = model.machines
    apart = replace(machine, attributes=[*machine.attributes, Attribute("early", BoolType(), rigid=True)])
    assert races(replace(model, machines=[apart, *others])) == []


def test_a_crash_races_with_everything_and_does_not_count() -> None:
    assert races(jobs(START, END, CRASH)) == []


def test_only_the_first_states_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATES", 1)
    assert races(jobs(START, END, STOP)) == []


def test_two_races_of_hived_at_the_beginning(hived_races: list[module.Race]) -> None:
    """Lines 51 and 129: two groups want one cell, and a Pending group is allocated, or its pods are deleted."""
    first, second = hived_races[:2]
    assert first.actions == ("allocate", "allocate") and first.steps == 0
    assert second.actions == ("allocate", "delete_pending") and second.steps == 0


@pytest.fixture
def hived_races() -> list[module.Race]:
    from schedproof.model.systems.hived.variants import AS_WRITTEN

    return races(AS_WRITTEN, {"PodGroup": 2, "Cell": 1})

"""Races, on a job that a person stops while a worker ends it."""

from __future__ import annotations

import pytest

from schedproof.model.lang import Action, Attribute, IntRange, Machine, Model, Row, Sort, State, variable
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


def test_a_crash_races_with_everything_and_does_not_count() -> None:
    assert races(jobs(START, END, CRASH)) == []


def test_only_the_first_states_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATES", 1)
    assert races(jobs(START, END, STOP)) == []


def test_a_race_of_hived_at_the_beginning(hived_races: list[module.Race]) -> None:
    """Lines 51 and 129: a Pending group is allocated, or its pods are deleted."""
    assert hived_races[0].actions == ("allocate", "delete_pending") and hived_races[0].steps == 0


@pytest.fixture
def hived_races() -> list[module.Race]:
    from schedproof.model.systems.hived.variants import AS_WRITTEN

    return races(AS_WRITTEN, {"PodGroup": 2, "Cell": 1})

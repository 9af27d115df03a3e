"""Requests in two steps: what one step does two do, what falls then, and that a check in the second step is the repair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, State, Step
from schedproof.model.semantics.instance import fitted
from schedproof.model.systems.jobmon import SHIPPED
from schedproof.model.systems.jobmon.read_then_write import (
    CHECK_THEN_WRITE,
    READ_THEN_WRITE,
    RUNS_CHECK_THEN_WRITE,
    RUNS_READ_THEN_WRITE,
)
from schedproof.model.systems.jobmon.shipped import tables
from schedproof.model.systems.jobmon.shipped.configurations import LATE, Configuration
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned

TASK = Configuration("a task of one run, and nothing is late", 1, (1,), 1, begun=True, mortal=(), punctual=LATE)
FAILS = replace(TASK, about="a task of one run, whose worker may be late", punctual=("WorkflowRun",))
RUN = Configuration("two runs, the first of which runs", 2, begun=True, mortal=())
REQUESTS = ("worker_request", "distributor_request", "client_request", "resume_request", "reaper_request")


def place(model: Model, configuration: Configuration) -> Instance:
    rigid = configuration.rigid
    return Instance(model, fitted(dict.fromkeys((m.sort.name for m in model.machines), 9), rigid), rigid)


def at_rest(exploration: Exploration) -> set[str]:
    """Its states in which no request waits to be written, without the requests."""
    return set(_described(exploration))


def _described(exploration: Exploration) -> Iterator[str]:
    for state in exploration.states:
        objects: dict[str, Any] = exploration.instance.describe(state)
        fields = [each for objects_of_sort in objects.values() for each in objects_of_sort.values()]
        if all(each.get(request, "nothing") == "nothing" for each in fields for request in REQUESTS):
            yield str(
                {
                    sort: {
                        name: {key: value for key, value in each.items() if key not in REQUESTS}
                        for name, each in of_sort.items()
                    }
                    for sort, of_sort in objects.items()
                }
            )


@pytest.mark.parametrize(
    ("model", "configuration"),
    [
        pytest.param(READ_THEN_WRITE, FAILS, id="instances"),
        pytest.param(CHECK_THEN_WRITE, FAILS, id="instances, checked"),
        pytest.param(RUNS_READ_THEN_WRITE, RUN, id="runs", marks=pytest.mark.long),
        pytest.param(RUNS_CHECK_THEN_WRITE, RUN, id="runs, checked", marks=pytest.mark.long),
    ],
)
def test_two_steps_do_what_one_does(model: Model, configuration: Configuration) -> None:
    """Requests that follow each other are those of one step: each state of what is shipped is one of the variant."""
    states = at_rest(explore(place(SHIPPED, configuration), symmetry=False))
    assert len(states) > 50
    assert states <= at_rest(explore(place(model, configuration), symmetry=False))


def moves(model: Model, configuration: Configuration, sort: str) -> set[tuple[str, str]]:
    """The states between which objects of a sort move in a step."""
    instance = place(model, configuration)
    slot, names = instance.slot(sort), [state.name for state in model.machine(sort).states]
    many = instance.sizes[sort]
    seen: set[tuple[str, str]] = set()

    def note(state: State, number: int, step: Step) -> None:
        for who in range(many):
            seen.add((names[state[slot + who]], names[step.after[slot + who]]))

    explore(instance, symmetry=False, on_step=note)
    return {(source, target) for source, target in seen if source != target}


OF_THE_TABLE = {(row.source, row.target) for row in tables.WORKFLOW_RUN_TABLE} | {("Absent", "Registered")}


@pytest.mark.long
def test_only_a_second_check_keeps_to_the_table() -> None:
    """A resume that was checked while the run ran is written when it has ended."""
    assert ("Error", "ColdResume") in moves(RUNS_READ_THEN_WRITE, RUN, "WorkflowRun") - OF_THE_TABLE
    assert moves(RUNS_CHECK_THEN_WRITE, RUN, "WorkflowRun") <= OF_THE_TABLE


def verdicts(model: Model, configuration: Configuration, *names: str) -> dict[str, Verdict]:
    asked = replace(model, configurations=lambda sizes: [configuration.rigid], refuted=frozenset())
    return {result.name: result.verdict for result in model_check(asked, {}, only=names)}


@pytest.mark.parametrize(
    ("reads", "checks", "configuration", "names"),
    thinned(
        [
            pytest.param(
                READ_THEN_WRITE,
                CHECK_THEN_WRITE,
                FAILS,
                ["done-is-final", "done-workflows-have-done-tasks", "failed-tasks-wait-for-a-resume"],
                id="instances",
            ),
            pytest.param(
                RUNS_READ_THEN_WRITE,
                RUNS_CHECK_THEN_WRITE,
                RUN,
                ["runs-end-for-good", "workflow-is-the-image-of-its-run", "one-live-run"],
                id="runs",
            ),
        ],
        2,
    ),
)
def test_falls_in_two_steps_alone(reads: Model, checks: Model, configuration: Configuration, names: list[str]) -> None:
    assert set(names) <= reads.refuted - SHIPPED.refuted
    assert verdicts(SHIPPED, configuration, *names) == dict.fromkeys(names, Verdict.PROVED)
    assert verdicts(reads, configuration, *names) == dict.fromkeys(names, Verdict.REFUTED)
    assert verdicts(checks, configuration, *names) == dict.fromkeys(names, Verdict.PROVED)

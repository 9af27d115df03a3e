"""Bugs that an implementer of the repaired Jobmon might make, each caught by the property that is there for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from schedproof.model.lang import Action, Model, Row, Rule, Term, given, me
from schedproof.model.systems.jobmon import REPAIRED
from schedproof.model.systems.jobmon.repaired.instances import LEFT_OF_IT, LOST_FOR_GOOD
from schedproof.model.systems.jobmon.shipped.client import GOES_ON, RUN
from schedproof.model.systems.jobmon.shipped.couplings import ATTEMPTS_LEFT
from schedproof.model.systems.jobmon.shipped.distributor import GOES_ON as DISTRIBUTES
from schedproof.model.systems.jobmon.shipped.machines import NEXT_ATTEMPT, d, i, r, t
from schedproof.model.systems.jobmon.sorts import Task
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.jobmon.model.partly_repaired import HUNGRY, LATE, LATE_TWICE, RUNS, SMALL, checked, put_back


def action(name: str) -> Action:
    [named] = [action for action in REPAIRED.actions if action.name == name]
    return named


def asking(name: str, *when: Term) -> Model:
    """An action that asks for something else."""
    return put_back([replace(action(name), when=when)])


def not_asking(**numbers: tuple[int, ...]) -> Model:
    """Actions that leave out what they have to ask: the conjuncts of these numbers, from 1."""
    return put_back(
        [
            replace(action(name), when=[part for n, part in enumerate(action(name).when, 1) if n not in left_out])
            for name, left_out in numbers.items()
        ]
    )


def start_without_leave() -> Model:
    """The wrapper starts its command, and reports that to the server if the server accepts it."""
    return put_back([replace(action("start"), when=[i.job.is_("Submitted")], fires=[i.job.fires("start")])])


def tries_again_whatever() -> Model:
    """A task that has failed waits again, though it may have no attempt left."""
    retry = Rule("fail makes a task wait", i.fires("fail"), [], i.task.fires("retry"))
    return put_back([retry], drops=["fail makes a task Registering", "fail makes a task ErrorFatal"])


def retries_what_is_triaged() -> Model:
    """A task waits for its next attempt as soon as nothing is heard of the last."""
    retry = Rule("lost at once", i.fires("miss_heartbeat"), [i.is_("Running"), ATTEMPTS_LEFT], i.task.fires("retry"))
    return put_back([retry])


def resources_lost() -> Model:
    row = Row(Task, "queue_with_more", "AdjustingResources", "Queued", **NEXT_ATTEMPT)
    return put_back([row])


def more_for_any_error() -> Model:
    return put_back([Row(Task, "queue", "Registering", "Queued", resources=me.resources + 1, **NEXT_ATTEMPT)])


def attempts_not_counted() -> Model:
    return put_back([Row(Task, "queue", "Registering", "Queued", instance=given("instance"))])


def reaper_without_launched() -> Model:
    states = ("Registered", "Linking", "Bound", "Running")
    return asking("reap", r.overdue, r.is_(*states))


def reaper_that_leaves_the_workflow() -> Model:
    return put_back([], drops=["be_reaped fails the workflow"])


def resume_that_leaves_what_is_queued() -> Model:
    return put_back([], drops=["resume_hot ends what is queued"])


def distributors_that_stay_dead() -> Model:
    return asking("distributor_starts", d.is_("NotStarted"))


def nobody_is_handed_back() -> Model:
    kept = [action for action in REPAIRED.actions if action.name != "hand_back"]
    return replace(put_back([]), actions=kept)


def takes_what_is_late() -> Model:
    return asking("take_job", DISTRIBUTES, LOST_FOR_GOOD | (i.is_("Triaging") & i.overdue), LEFT_OF_IT)


def late_client() -> Model:
    guard = [GOES_ON, t.workflow == RUN.workflow, t.is_("Registering"), i.is_("Absent")]
    return asking("queue", *guard)


@dataclass(frozen=True)
class Bug:
    what: str
    make: Callable[[], Model]
    prop: str
    configuration: str


def agent(name: str) -> str:
    return f"the-{name}-moves-only-its-own"


BUGS = [
    Bug("a late report is accepted", lambda: not_asking(report_success=(3,)), agent("worker"), SMALL),
    Bug("a wrapper starts without leave", start_without_leave, "live-jobs-are-running-or-triaged", SMALL),
    Bug("a wrapper starts when its lease is over", lambda: not_asking(start=(3,)), agent("worker"), SMALL),
    Bug("what is doomed is started", lambda: not_asking(start=(4,)), "what-is-to-end-goes-no-further", SMALL),
    Bug("what is doomed is launched", lambda: not_asking(launch=(6,)), "what-is-to-end-goes-no-further", SMALL),
    Bug("triage without the kill", lambda: not_asking(triage_lost=(4,)), "one-live-instance", LATE_TWICE),
    Bug(
        "what is doomed is over before its command",
        lambda: not_asking(end_doomed=(4,)),
        "live-jobs-are-running-or-triaged",
        LATE,
    ),
    Bug(
        "a retry while the last attempt is triaged",
        retries_what_is_triaged,
        "open-instances-are-the-latest",
        LATE_TWICE,
    ),
    Bug("a worker that nobody hears of is given up for good", nobody_is_handed_back, "finished-work-counts", SMALL),
    Bug("a fenced worker is heard of again", lambda: not_asking(beat=(3,)), "what-is-lost-stays-lost", SMALL),
    Bug("what is late is taken away at once", takes_what_is_late, "jobs-are-left-to-their-workers", SMALL),
    Bug("a fence where nothing is late", lambda: not_asking(fence=(3,)), "what-is-lost-stays-lost", SMALL),
    Bug("a resume that does not wait", lambda: not_asking(register=(4, 5)), "halted-before-a-new-run", LATE),
    Bug("a resume leaves what is queued", resume_that_leaves_what_is_queued, "queued-by-a-run-that-runs", SMALL),
    Bug("two runs at a time", lambda: not_asking(plan_cold=(4,), register=(3,)), "one-run-on-its-way", RUNS),
    Bug("the reaper looks not everywhere", reaper_without_launched, "runs-can-end", RUNS),
    Bug("the reaper does not fail the workflow", reaper_that_leaves_the_workflow, "workflows-rest-without-a-run", RUNS),
    Bug("a task that has no attempt left waits", tries_again_whatever, "waiting-tasks-have-attempts-left", SMALL),
    Bug("attempts are not counted", attempts_not_counted, "attempts-are-counted", SMALL),
    Bug("resources are not scaled", resources_lost, "resources-grow-on-resource-errors", HUNGRY),
    Bug("resources grow after any error", more_for_any_error, "resources-stay-otherwise", SMALL),
    Bug("the server takes control too early", lambda: not_asking(lose_running=(2,)), agent("server"), SMALL),
    Bug("a distributor launches too late", lambda: not_asking(launch=(5,)), agent("distributor"), SMALL),
    Bug("a late client queues", late_client, "only-the-live-run-queues", SMALL),
    Bug("distributors are not started again", distributors_that_stay_dead, "instances-can-end", SMALL),
    Bug("a run is done before its tasks", lambda: not_asking(finish_run=(4,)), "done-workflows-have-done-tasks", SMALL),
]


SLOW = (LATE, LATE_TWICE, HUNGRY)


@pytest.mark.parametrize(
    "bug",
    [
        *thinned([pytest.param(bug, id=bug.what) for bug in BUGS if bug.configuration not in SLOW], 12),
        *[
            pytest.param(bug, id=bug.what, marks=pytest.mark.long(one_in=12))
            for bug in BUGS
            if bug.configuration in SLOW
        ],
    ],
)
def test_a_seeded_bug_breaks_the_property_that_is_there_for_it(bug: Bug) -> None:
    results = checked(bug.make(), [bug.prop], bug.configuration)
    assert results[bug.prop].verdict is Verdict.REFUTED
    assert checked(REPAIRED, [bug.prop], bug.configuration)[bug.prop].verdict is Verdict.PROVED

"""Jobmon's reference server and agents beside the repaired model: what they do are its steps."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from schedproof import impl
from schedproof.impl.systems.jobmon import legal
from schedproof.impl.systems.jobmon.client import Resume
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.records import InstanceState, RunState, TaskState, WorkflowState
from schedproof.impl.systems.jobmon.world import Kind, Sides
from schedproof.model.lang.infer import sort_of
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.jobmon.repaired import REPAIRED
from schedproof.model.systems.jobmon.shipped.tables import (
    COUPLING,
    TASK_INSTANCE_STATES,
    TASK_STATES,
    WORKFLOW_RUN_STATES,
    WORKFLOW_STATES,
)
from schedproof.proofs.refinement.simulation import SimulationReport
from schedproof.proofs.systems.jobmon.refinement.check import check_simulation
from schedproof.proofs.systems.jobmon.refinement.configurations import Configuration, May
from schedproof.proofs.systems.jobmon.refinement.properties import REFINEMENTS, JobmonRefinement
from schedproof.proofs.verification.auxiliary import Refined, auxiliary
from tests.support.sample import thinned
from tests.systems.jobmon.agents.seeded import BUGS, FOR_PROCESSES
from tests.systems.jobmon.refinement import deviations as seeded

NOTHING_BAD = May(bad=0)
RESUMES = {resume: (Resume.NO, resume) for resume in (Resume.COLD, Resume.HOT)}

ONE = Configuration("a task of two attempts; one bad thing at any moment")
ENDS = Configuration("commands end in any way", may=May(bad=0, endings=frozenset(Ending)))
COLD = Configuration("a second client resumes cold", (1,), RESUMES[Resume.COLD], runs=2, may=NOTHING_BAD)
TWO_TASKS = Configuration("two tasks", (1, 1), may=NOTHING_BAD)
TWO_DISTRIBUTORS = Configuration("two distributors", (1,), distributors=2, instances=1, may=NOTHING_BAD)
REFUSED = Configuration("the cluster takes no job; one bad thing", may=May(refusing=True))
RESTARTED = Configuration(
    "a client whose task failed comes back",
    (1,),
    runs=2,
    may=May(trouble=frozenset({Kind.RESTART}), endings=frozenset({Ending.ERROR})),
)
LATE = Configuration(
    "an instance is late, and resumed cold", (1,), RESUMES[Resume.COLD], runs=2, may=May(whom=("instance",))
)
RUN_LATE = Configuration("a run is late", may=May(trouble=frozenset({Kind.RUN_LAPSES})))
SERVER_BACK = Configuration(
    "leases run out, and the server is started again",
    (1,),
    instances=1,
    may=May(bad=2, trouble=frozenset({Kind.RUN_LAPSES, Kind.INSTANCE_LAPSES, Kind.SERVER_RESTARTS})),
)

SMALL = [ENDS, TWO_TASKS, TWO_DISTRIBUTORS, REFUSED, RESTARTED, SERVER_BACK]
LONG = [
    Configuration("one bad thing, and commands end in any way", may=May(endings=frozenset(Ending))),
    *(Configuration(f"{how}, one bad thing", (1,), both, runs=2, may=May()) for how, both in RESUMES.items()),
    Configuration("two distributors, one bad thing", (1,), distributors=2, instances=1),
    Configuration("two bad things", (1,), instances=1, may=May(bad=2)),
    Configuration("two bad things, two attempts", may=May(bad=2)),
]


def in_the_model(report: SimulationReport) -> None:
    assert report.ok, report.text
    assert report.states >= report.images / 8 > 1
    assert "do what their model does" in report.text


def refined() -> list[JobmonRefinement]:
    refinements = [it for it in REFINEMENTS if isinstance(it, JobmonRefinement)]
    assert refinements == list(REFINEMENTS)
    return refinements


@pytest.mark.long
@pytest.mark.parametrize("configuration", thinned([TWO_TASKS, TWO_DISTRIBUTORS], 2), ids=lambda it: it.about)
def test_what_server_and_agents_do_is_in_the_model(configuration: Configuration) -> None:
    in_the_model(check_simulation(configuration))


@pytest.mark.long(seconds=21, one_in=12)
def test_what_they_do_is_nearly_all_that_the_model_can_do() -> None:
    """In one test, so that the configurations are explored once."""
    reports = {it.name: it.check() for it in refined()} | {it.about: check_simulation(it) for it in SMALL}
    for report in reports.values():
        in_the_model(report)
    deaths = {name for name, report in reports.items() if report.crash_points}
    assert deaths == {"server-and-agents-refine-model-one", REFUSED.about}
    actions = {action for report in reports.values() for action in report.action_counts}
    assert {action.name for action in REPAIRED.actions} - actions == NEVER


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("configuration", LONG, ids=lambda it: it.about)
def test_the_same_in_larger_configurations(configuration: Configuration) -> None:
    in_the_model(check_simulation(configuration))


def test_all_of_the_configurations_are_verified() -> None:
    assert [it.refinement for it in auxiliary(systems()["jobmon"], REPAIRED) if isinstance(it, Refined)] == refined()


def test_every_agent_dies_at_every_point() -> None:
    """There is a death of each agent in each state without deaths in which it may die."""
    calm = check_simulation(Configuration("one", may=NOTHING_BAD))
    deaths = check_simulation(Configuration("one", may=May(trouble=frozenset({Kind.CRASH}))))
    in_the_model(deaths)
    # The distributor and the reaper live in every state, the client in all but those after its end.
    assert 2 * calm.states < deaths.crash_points <= 4 * calm.states


NEVER = {
    "leave",  # a client that hears of its run's end asks for nothing more: whether it is there is not compared then
    "queue_with_as_much",  # more scalings than the model counts are not looked at
    "err_run",  # a client that cannot go on, since what its user wrote raises an error
    "beat_launched",  # it renews what is not late, which changes nothing in the model
}


# --- what it must notice


def server(kind: type[seeded.Server]) -> Sides:
    return Sides(server=kind)


CAUGHT: dict[str, tuple[Sides, Configuration, str, str]] = {
    # name: (with the bug, where, the last act, what differs)
    "a late report is accepted": (server(seeded.LateReportsCount), ONE, "End", "TaskInstance 0 Done"),
    "a late word of a kill is accepted": (server(seeded.LateKillsCount), LATE, "Killed", "TaskInstance 0 ErrorFatal"),
    "what is doomed is launched": (server(seeded.WhatIsDoomedStarts), COLD, "Launched", "TaskInstance 0 Launched"),
    "what is claimed is claimed again": (server(seeded.AnyMayClaim), TWO_DISTRIBUTORS, "d2 steps", "IllegalMove"),
    "a task stays behind its instance": (server(seeded.TasksStayBehind), ONE, "Start", "Task 0 Launched"),
    "attempts are not counted": (server(seeded.AttemptsAreNotCounted), ONE, "QueueTask", "Task 0.attempts 0"),
    "resources are not scaled": (server(seeded.ResourcesStay), ENDS, "attempt 2", "Task 0.resources 0"),
    "the reaper leaves what is queued": (
        server(seeded.QueuedOnesOutliveTheirRun),
        ONE,
        "ReapRun",
        "TaskInstance 0 Queued",
    ),
    "a run that had no workflow aborts it": (server(seeded.ReapedInAnyCase), ONE, "ReapRun", "Workflow 0 Aborted"),
    "a run makes room at once": (server(seeded.DoesNotWaitForTheRest), COLD, "WindUp", "WorkflowRun 0 Terminated"),
    "two runs are created": (server(seeded.SeveralRuns), COLD, "CreateRun", "WorkflowRun 1 Registered"),
    "an advance renews no lease": (server(seeded.AdvancesAreNoHeartbeats), ONE, "AdvanceRun", "overdue True"),
    "a failed task stays failed": (server(seeded.FailedTasksStay), RESTARTED, "CreateRun", "Task 0 ErrorFatal"),
    "a cold resume leaves what runs": (server(seeded.LeavesTheDoomed), COLD, "AskResume", "0.doomed False"),
    "a late client queues": (server(seeded.LateClientsQueue), RUN_LATE, "QueueTask", "Task 0 Queued"),
    "what is late is handed back": (
        Sides(server=seeded.HandsBackWhatIsLate, distributor=seeded.HandsBackAnything),
        ONE,
        "HandBack",
        "TaskInstance 0 Running",
    ),
    "what is heard of again is terminated": (
        Sides(distributor=seeded.TriagedMeansLost),
        ONE,
        "FindWork",
        "the job of TaskInstance 0 is terminated",
    ),
    "what is not submitted is launched": (
        Sides(distributor=seeded.LaunchesBeforeItSubmits),
        ONE,
        "Launched",
        "TaskInstance 0 Launched",
    ),
    "an error is reported as success": (Sides(worker=seeded.AllIsWell), ENDS, "End", "TaskInstance 0 Done"),
    "a command starts before its launch": (Sides(worker=seeded.DoesNotAskTwice), ONE, "job 0 steps", "Job 0 Running"),
    "there is no grace": (FOR_PROCESSES["gives no grace"], SERVER_BACK, "ReapRun", "has started less than a lease ago"),
    "starts in any state": (BUGS["starts in any state"], ONE, "job 0 steps", "Job 0 Running"),
    "retries while triaging": (BUGS["retries while triaging"], ONE, "Lapse", "TaskInstance 0 UnknownError"),
    "queues while triaging": (BUGS["queues while triaging"], ONE, "Lapse", "Task 0 Registering"),
    "does not wait": (BUGS["does not wait"], ONE, "JobOver", "Job 0 Submitted"),
    "does not kill": (BUGS["does not kill"], ONE, "JobOver", "Job 0 Submitted"),
    "starts unasked": (BUGS["starts unasked"], ONE, "job 0 steps", "Job 0 Running"),
}


def test_every_seeded_bug_is_tried() -> None:
    assert set(BUGS) <= set(CAUGHT)
    used = {type_ for sides, *_ in CAUGHT.values() for type_ in vars(sides).values()}
    assert {value for value in vars(seeded).values() if getattr(value, "__module__", "") == seeded.__name__} <= used


@pytest.mark.parametrize("name", thinned(CAUGHT, 18))
def test_a_bug_is_caught(name: str) -> None:
    sides, configuration, act, differs = CAUGHT[name]
    report = check_simulation(configuration, sides)
    assert report.mismatch is not None
    assert "DIFFER" in report.text and "reached by:" in report.text
    assert act in report.mismatch.path[-1], report.text
    assert re.search(re.escape(differs), report.mismatch.reason + report.mismatch.actual), report.text


def test_the_way_to_a_mismatch_can_be_followed() -> None:
    report = check_simulation(ONE, server(seeded.AttemptsAreNotCounted))
    assert report.mismatch is not None
    assert report.mismatch.path[:3] == [
        "c1 steps: Register(name w)",
        "c1 steps: CreateRun(workflow 1, cold True)",
        "c1 steps: AdvanceRun(run 1, to L)",
    ]
    assert (report.mismatch.expected, report.mismatch.actual) == ("Task 0.attempts 1", "Task 0.attempts 0")


# --- two accounts of one machine


def imports(file: Path) -> set[str]:
    """What a file imports, by full names as far as it says them, without what is for type checkers only."""
    modules = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules.add("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules


def test_the_implementation_shares_nothing_with_the_model() -> None:
    [folder] = [Path(path) / "systems" / "jobmon" for path in impl.__path__]
    files = sorted(folder.glob("*.py"))
    assert len(files) > 20
    for file in files:
        for name in imports(file):
            is_ours = name.split(".")[0] == "schedproof"
            assert not name.startswith("..") and (not is_ours or f"{name}.".startswith("schedproof.impl.")), (
                file,
                name,
            )


NAMES = {
    "TaskInstance": (legal.INSTANCE_MOVES, InstanceState, TASK_INSTANCE_STATES),
    "Task": (legal.TASK_MOVES, TaskState, TASK_STATES),
    "WorkflowRun": (legal.RUN_MOVES, RunState, WORKFLOW_RUN_STATES),
    "Workflow": (legal.WORKFLOW_MOVES, WorkflowState, WORKFLOW_STATES),
}


def pairs(sort: str) -> set[tuple[str, str]]:
    """The moves of the model's table that are used: rows of events that some action or rule fires."""
    fires = [fire for action in REPAIRED.actions for fire in action.fires] + [rule.fires for rule in REPAIRED.rules]
    fired = {(sort_of(REPAIRED, fire.of, {}), fire.event) for fire in fires}
    rows = [row for row in REPAIRED.rows if row.sort.name == sort and (sort, row.event) in fired]
    return {(row.source, row.target) for row in rows if row.source != row.target and row.source != "Absent"}


@pytest.mark.parametrize("sort", NAMES)
def test_the_tables_are_those_of_the_model(sort: str) -> None:
    moves, kind, names = NAMES[sort]
    assert {str(state) for state in kind} <= set(names)
    implemented = {(names[a], names[b]) for a, targets in moves.items() for b in targets}
    assert implemented == pairs(sort)


def test_a_workflow_goes_with_its_run_as_in_the_model() -> None:
    assert {WORKFLOW_RUN_STATES[run]: WORKFLOW_STATES[flow] for run, flow in legal.OF_RUN.items()} == COUPLING

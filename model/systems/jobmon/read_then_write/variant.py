"""The variants: requests in two steps, and with the check where the server writes."""

from collections.abc import Iterator, Mapping

from schedproof.model.lang import Change, Rigid
from schedproof.model.systems.jobmon.shipped import SHIPPED
from schedproof.model.systems.jobmon.shipped.configurations import CONFIGURATIONS, Configuration, fitting
from schedproof.model.systems.jobmon.shipped.distributor import DISTRIBUTOR_ACTIONS
from schedproof.model.systems.jobmon.shipped.machines import i
from schedproof.model.systems.jobmon.shipped.properties import moves_only, names
from schedproof.model.systems.jobmon.shipped.worker import WORKER_ACTIONS

from . import instances as of
from . import runs

CONTROL = [
    moves_only(
        "distributor",
        [*names(DISTRIBUTOR_ACTIONS), "write_for_distributor"],
        i.is_("Queued", "Instantiated", "Launched", "Triaging", "NoHeartbeat", "KillSelf"),
        "queued, instantiated or launched, or waits for word of its job",
    ),
    moves_only(
        "worker", [*names(WORKER_ACTIONS), "write_for_worker"], i.is_("Launched", "Running"), "launched or running"
    ),
]

FALLEN = frozenset(
    {
        # one request writes over the end that another one has written
        "done-iff-an-instance-is-done",
        "done-is-final",
        "done-workflows-have-done-tasks",
        "failed-tasks-wait-for-a-resume",
        # an error is reported twice, and the second report writes when the task has been queued again
        "waiting-tasks-have-attempts-left",
        "attempts-within-the-maximum",
    }
)
FALLEN_RUNS = frozenset(
    {
        # likewise
        "done-is-final",
        "runs-end-for-good",
        "workflow-is-the-image-of-its-run",
        # a run that has ended goes on beside the next one
        "one-live-run",
    }
)
"""The properties that hold if a request is one step."""


INSTANCES_IN_TWO_STEPS = Change(
    why="The server checks a request about an instance, and locks and writes it later, without checking it again.",
    repairs=[],
    adds=[
        *(*of.OF_INSTANCES.rows, *of.TASK_ROWS),
        *(*of.WAITING, *of.BOUNDED, *of.CHECKS, *of.WRITE.values(), of.server_dies),
        *(*of.WRITES_RULES, *of.answers(), of.FORGETS),
        *(*of.REQUESTS, *CONTROL),
    ],
)
RUNS_IN_TWO_STEPS = Change(
    why="The server checks a request about a run, and writes it later, without checking it again.",
    repairs=[],
    adds=[
        *(*runs.OF_RUNS.rows, *runs.WORKFLOW_ROWS),
        *(*runs.WAITING, *runs.CHECKS, *runs.WRITE.values(), runs.server_dies),
        *(*runs.WRITES_RULES, *runs.answers(), runs.FORGETS),
        *runs.REQUESTS,
    ],
    drops=["a distributor is started"],
)


ONE_RUN, RESUMED = CONFIGURATIONS[1], CONFIGURATIONS[6]


def one_run_or_resumed(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields two configurations in which all falls: with two runs that nothing bounds, there are too many states."""
    return fitting([ONE_RUN, RESUMED], sizes)


def two_runs_as_well(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields those and two runs of a workflow without tasks, where few requests pass the check."""
    return fitting([CONFIGURATIONS[0], ONE_RUN, RESUMED], sizes)


QUEUED_TOO_OFTEN = Configuration(
    "one run, and a task that has two attempts, and a third instance",
    *(1, (2,), 3),
    begun=True,
    mortal=(),
    fallible=False,
    punctual=("WorkflowRun",),
)
RUN_IS_LATE = Configuration(
    "one run, which may be late, and a task that has one attempt",
    *(1, (1,), 1),
    begun=True,
    mortal=(),
    fallible=False,
)


def with_two_more(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields configurations in which all falls that does in what is shipped, and two more."""
    return fitting([CONFIGURATIONS[0], RESUMED, RUN_IS_LATE, QUEUED_TOO_OFTEN], sizes)


READ_THEN_WRITE = SHIPPED.amend(
    "read-then-write",
    "what runs, with requests about instances in two steps: the server reads and checks, and then writes",
    [INSTANCES_IN_TWO_STEPS],
    refuted=SHIPPED.refuted | FALLEN,
    assumes=SHIPPED.assumes,
    machines=[of.OF_INSTANCES.waiting],
    configurations=with_two_more,
    default_scope={"TaskInstance": 3, "Job": 3},
)
RUNS_READ_THEN_WRITE = SHIPPED.amend(
    "runs-read-then-write",
    "what runs, with requests about runs in two steps: the server reads and checks, and then writes",
    [RUNS_IN_TWO_STEPS],
    refuted=SHIPPED.refuted | FALLEN_RUNS,
    machines=[runs.OF_RUNS.waiting],
    configurations=one_run_or_resumed,
)

CHECKED_WHERE_WRITTEN = Change(
    name="an-instance-is-written-without-a-check",
    wrong="The server checks a request about an instance, and writes it later over what others have written meanwhile.",
    shown="done-is-final",
    avoids=["get_no_id"],
    why="The server checks its tables in the transaction that writes, after it has locked the instance and its task.",
    repairs=sorted(FALLEN),
    adds=[*of.OF_INSTANCES.refusals, *of.CHECKED_AGAIN],
)
RUNS_CHECKED_WHERE_WRITTEN = Change(
    name="a-run-is-written-without-a-check",
    wrong="The server checks a request about a run, and writes it later over what others have written meanwhile.",
    shown="one-live-run",
    why="The server checks its tables in the transaction that writes, after it has locked the run and its workflow.",
    repairs=sorted(FALLEN_RUNS),
    adds=[*runs.OF_RUNS.refusals, *runs.CHECKED_AGAIN],
)

CHECK_THEN_WRITE = READ_THEN_WRITE.amend(
    "check-then-write",
    "what runs, with requests about instances in two steps, and a check in the transaction that writes",
    [CHECKED_WHERE_WRITTEN],
    refuted=SHIPPED.refuted,
    assumes=SHIPPED.assumes,
)
RUNS_CHECK_THEN_WRITE = RUNS_READ_THEN_WRITE.amend(
    "runs-check-then-write",
    "what runs, with requests about runs in two steps, and a check in the transaction that writes",
    [RUNS_CHECKED_WHERE_WRITTEN],
    refuted=SHIPPED.refuted,
    assumes=SHIPPED.assumes,
    configurations=two_runs_as_well,
)

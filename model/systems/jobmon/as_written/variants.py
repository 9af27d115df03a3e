"""The variants: the document as it is written, and repaired."""

from dataclasses import replace

from schedproof.model.lang import Model
from schedproof.model.systems.jobmon.sorts import DOCUMENT

from .configurations import configurations
from .machines import MACHINES, TABLE, TASK_INSTANCE
from .progress import LIFE_CYCLES, PROGRESS
from .properties import SAFETY
from .repairs import REPAIRS
from .runs import RUN_ACTIONS, RUN_RULES
from .tasks import TASK_ACTIONS, TASK_RULES

AS_WRITTEN = Model(
    system="jobmon",
    variant="as-written",
    about="the document, with the figures that its prose was written for (2021)",
    document=DOCUMENT,
    machines=MACHINES,
    rows=TABLE,
    actions=[*TASK_ACTIONS, *RUN_ACTIONS],
    rules=[*TASK_RULES, *RUN_RULES],
    properties=[*SAFETY, *PROGRESS, *LIFE_CYCLES],
    configurations=configurations,
    default_scope={"Workflow": 2, "WorkflowRun": 3, "Task": 2, "TaskInstance": 3},
    refuted=frozenset(
        {
            # other agents set states in an agent's box
            "only-the-owner-moves",
            "only-the-owner-moves-workflows",
            # an error of a task that is Launched
            "task-is-the-image-of-its-instance",
            "errors-are-triaged",
            "workflow-is-the-image-of-its-run",
            "run-errors-are-triaged",
            "signals-can-be-taken-up",
            "workflow-signals-can-be-taken-up",
            # an instance that is taken for lost still runs, or has not halted yet
            "one-live-instance",
            "halted-tasks-have-halted",
            "one-live-run",
            "halted-runs-have-halted",
            "halted-before-a-new-run",
            # both the server and the reconciler decide
            "resources-grow-on-resource-errors",
            # agents die
            "somebody-can-go-on",
            "registering-ends",
            "instantiating-ends",
            "everything-can-end",
            "workflows-can-end",
            "everything-ends",
            "workflows-end",
        }
    ),
    # a configuration has one instance more for each that is stopped; when all are, none is left to take up the task
    assumes={"triaging-ends": ["TaskInstance.stoppable"]},
)

REPAIRED = AS_WRITTEN.amend(
    "as-written-repaired",
    "the document with the changes that its properties need",
    REPAIRS,
    refuted=frozenset(),
    # see triaging-ends above
    assumes={
        "signals-can-be-taken-up": ["TaskInstance.stoppable"],
        "triaging-ends": ["TaskInstance.stoppable"],
        "everything-can-end": ["TaskInstance.stoppable"],
        "everything-ends": ["TaskInstance.stoppable"],
        "workflow-signals-can-be-taken-up": ["WorkflowRun.stoppable"],
        "workflows-can-end": ["WorkflowRun.stoppable"],
        "workflows-end": ["WorkflowRun.stoppable"],
    },
    # Nothing reaches this state any more.
    machines=[
        replace(
            TASK_INSTANCE,
            states=[replace(state, unreachable=state.name == "AdjustingResources") for state in TASK_INSTANCE.states],
        )
    ],
)

"""The variants: the document as it is written, and repaired."""

from ...lang import Model
from .machines import DOCUMENT, MACHINES, TABLE
from .progress import LIFE_CYCLES, PROGRESS
from .promises import SAFETY
from .runs import RUN_ACTIONS, RUN_RULES
from .situations import situations
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
    topologies=situations,
    default_scope={"Workflow": 1, "WorkflowRun": 3, "Task": 2, "TaskInstance": 3},
    refuted=frozenset(),
)

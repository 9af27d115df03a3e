"""The document's machines as text and figures have them, and what runs in v0.12.2."""

from functools import partial

from ..lang import Change, Model
from . import shipped
from .events import CORE_ACTIONS, CORE_RULES
from .machines import CORE_AXIOMS, CORE_MACHINES, CORE_TABLE, DOCUMENT
from .objects import NODES, QUEUES
from .promises import APPLICATIONS, LIVES, PHASES
from .situations import situations

AS_WRITTEN = Model(
    system="yunikorn",
    variant="as-written",
    about="text and figures, read literally; what drives the machines as far as the text says it",
    document=DOCUMENT,
    machines=CORE_MACHINES,
    rows=CORE_TABLE,
    actions=CORE_ACTIONS,
    rules=CORE_RULES,
    properties=[*PHASES, *APPLICATIONS, *LIVES, *QUEUES, *NODES],
    axioms=CORE_AXIOMS,
    topologies=situations,
    default_scope={"Partition": 1, "Queue": 2, "Application": 1, "Ask": 4, "Wakeup": 2, "GangTimer": 1, "Node": 2},
    refuted=frozenset(
        {
            "starting-has-one-allocation",
            "nothing-left-completes",
            "completed-after-its-time",
            "only-the-completed-expire",
            "failed-is-final",
            "failing-has-something-left",
            "removed-queues-drain",
            "removed-partitions-drain",
        }
    ),
)

AS_SHIPPED = Change(
    why="What runs in v0.12.2, by its tables and by what fires which event (facts 1 to 3).",
    repairs=[],
    drops=[
        *shipped.NEVER_DONE,
        *shipped.REPLACED,
        "resuming-has-no-real-allocation",  # what the others rest on: a swap makes one
        # nobody is rejected, and nothing is ever Stopped: nothing is promised of it
        "rejected-is-final",
        "rejected-when-it-is-added",
        "rejected-has-nothing",
        "draining-partitions-refuse-additions",
        "draining-partitions-are-final",
        "stopped-queues-are-not-scheduled",
        "stopped-partitions-are-not-scheduled",
        "stopped-queues-can-go",
    ],
    adds=[*shipped.PHASES, *shipped.ROWS, *shipped.ACTIONS, *shipped.RULES],
)

V0_12_2 = AS_WRITTEN.amend(
    "v0.12.2",
    "the tables and triggers of the release that the document describes",
    [AS_SHIPPED],
    refuted=frozenset(
        {
            "accepted-has-no-allocation",
            "starting-has-one-allocation",
            "more-allocations-make-it-running",
            "completing-has-nothing",
            "nothing-left-completes",
            "completed-after-its-time",
            "completed-has-nothing",
            "only-the-completed-expire",
            "failed-is-final",
            "failing-has-something-left",
            "failing-ends",
            "a-gang-fails-before-it-runs",
            "failed-has-nothing",
            "resuming-ends",
            "applications-can-end",
            "life-rejected",
            "life-of-a-queue",
            "life-of-a-partition",
            "removed-partitions-drain",
            "draining-queues-refuse-additions",
            "unschedulable-nodes-are-not-used",
        }
    ),
    machines=[shipped.ASK_SHIPPED],
    topologies=partial(situations, shipped=True),
)

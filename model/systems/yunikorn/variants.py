"""The variants: the document's machines as text and figures have them, v0.12.2, and v0.12.2 repaired."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from schedproof.model.lang import Change, Model, Property, Row, exists

from . import core_v0_12_2
from . import events as ev
from . import repairs as fix
from .configurations import CONFIGURATIONS, FAILS_LATE, configurations
from .effects_and_causes import EFFECTS_AND_CAUSES
from .events import CORE_ACTIONS, CORE_RULES
from .machines import CORE_AXIOMS, CORE_MACHINES, CORE_TABLE, DOCUMENT, a, k, p
from .mistakes import FAILING_WITH_NOTHING_LEFT, STARTING_WITHOUT_ITS_ALLOCATION
from .objects import NODES, QUEUES
from .possible_steps import possible_steps
from .properties import APPLICATIONS, LIVES, PHASES
from .shim_machines import SHIM_BESIDE, SHIM_MACHINES, SHIM_MACHINES_SHIPPED, SHIM_TABLE, SHIM_TABLE_FIGURE
from .sorts import Application, Ask, GangTimer, Wakeup
from .weakened_properties import PHASES as OF_REPAIRED
from .weakened_properties import WEAKER

AS_WRITTEN = Model(
    system="yunikorn",
    variant="as-written",
    about="text and figures, read literally; what drives the machines as far as the text says it",
    document=DOCUMENT,
    machines=[*CORE_MACHINES, *SHIM_MACHINES],
    rows=[*CORE_TABLE, *SHIM_TABLE_FIGURE],
    actions=CORE_ACTIONS,
    rules=CORE_RULES,
    properties=[*PHASES, *APPLICATIONS, *LIVES, *QUEUES, *NODES],
    axioms=CORE_AXIOMS,
    configurations=configurations,
    default_scope={"Partition": 1, "Queue": 2, "Application": 1, "Ask": 4, "Wakeup": 2, "GangTimer": 1, "Node": 2},
    refuted=frozenset(
        {
            "starting-has-one-allocation",
            "nothing-left-completes",
            "completed-after-its-time",
            "only-the-completed-expire",
            "failed-is-final",
            "failing-has-something-left",
            "stopped-queues-drain",
            "stopped-partitions-drain",
            "draining-queues-go",
            "draining-partitions-go",
        }
    ),
)

MODEL_EVENTS = frozenset({"submit", "timer_ran", "delete", "forget", "discard"})
"""Events of the model that are in no table of the document."""

TABLES: Mapping[str, frozenset[str]] = {
    machine.sort.name: frozenset(row.event for row in rows if row.sort == machine.sort) - MODEL_EVENTS
    for machines, rows in ((CORE_MACHINES, CORE_TABLE), (SHIM_MACHINES, SHIM_TABLE))
    for machine in machines
    if machine.sort not in (Ask, Wakeup, GangTimer)  # the document has no machine for these
}
"""The events of the document's machines, by sort."""

STARTED_AND_STOPPED = [
    *("started-queues-are-active", "stopped-queues-are-stopped"),
    *("started-partitions-are-active", "stopped-partitions-are-stopped"),
]

AS_SHIPPED = Change(
    why="The code of v0.12.2: its tables, and which code fires which event (facts 1, 2, 3 and 4).",
    repairs=[],
    drops=[
        *core_v0_12_2.NEVER_DONE,
        *core_v0_12_2.REPLACED,
        "resuming-has-no-real-allocation",  # an auxiliary invariant; in v0.12.2 a swap makes a real allocation
        # v0.12.2 rejects nothing and stops nothing, so these properties are vacuous
        "rejected-is-final",
        "rejected-when-it-is-added",
        "rejected-has-nothing",
        "removal-drains-partitions",
        "removed-partitions-fail-applications",
        "draining-partitions-refuse-additions",
        "draining-partitions-are-final",
        "draining-partitions-go",
        "stopped-queues-are-not-scheduled",
        "stopped-partitions-are-not-scheduled",
        "stopped-queues-can-go",
        *STARTED_AND_STOPPED,
    ],
    adds=[
        *core_v0_12_2.PHASES,
        *core_v0_12_2.GANGS,
        *core_v0_12_2.OF_SWAPS,
        core_v0_12_2.SWEEP,
        *core_v0_12_2.ROWS,
        *SHIM_TABLE,
        *SHIM_BESIDE,
        *core_v0_12_2.ACTIONS,
        *core_v0_12_2.RULES,
    ],
)

V0_12_2 = AS_WRITTEN.amend(
    "v0.12.2",
    "the tables and triggers of the release that the document describes; the resource manager may do anything",
    [AS_SHIPPED],
    refuted=frozenset(
        {
            "accepted-has-no-allocation",
            "only-the-cycle-is-scheduled",
            "starting-has-one-allocation",
            "more-allocations-make-it-running",
            "completing-has-nothing",
            "nothing-left-completes",
            "completed-after-its-time",
            "completed-has-nothing",
            "only-the-completed-expire",
            "failed-is-final",
            "failing-has-something-left",
            "failing-begins-the-cleanup",
            "failing-ends",
            "a-gang-fails-before-it-runs",
            "failed-has-nothing",
            "resuming-ends",
            "applications-can-end",
            "life-rejected",
            "life-of-a-queue",
            "life-of-a-partition",
            "removed-queues-drain",
            "removed-partitions-drain",
            "only-empty-partitions-go",
            "draining-queues-refuse-additions",
            "draining-queues-go",
            "unschedulable-nodes-are-not-used",
            "unschedulable-nodes-get-nothing",
        }
    ),
    machines=[core_v0_12_2.QUEUE_SHIPPED, core_v0_12_2.ASK_SHIPPED, *SHIM_MACHINES_SHIPPED],
    configurations=partial(configurations, shipped=True),
)


def required(*names: str) -> list[Property]:
    """Returns properties of the document that v0.12.2 satisfies vacuously."""
    return [AS_WRITTEN.property(name) for name in names]


A_TIME_OUT_IS_OF_ONE_STAY = Change(
    name="old-time-outs-fire",
    wrong="A time-out of an earlier stay in Completing ends a later stay at once.",
    why=(
        "The time-out of a state is cancelled when the application leaves the state, and a gang's time-out when its "
        "last placeholder is gone. v0.12.2 compares only the name of the state. So a time-out of an earlier stay in "
        "Completing ends a later stay at once (line 23)."
    ),
    repairs=["completed-after-its-time"],
    adds=[fix.LAPSE, *fix.LAPSES, *fix.GANG_LAPSES, *OF_REPAIRED],
)

COMPLETING_HAS_NOTHING = Change(
    name="completed-with-placeholders",
    wrong="An application completes while placeholders are allocated, and a later swap gives it a container.",
    shown="completed-has-nothing",
    why=(
        "An application completes when it has no pending ask, no swap under way and no allocation, placeholders "
        "included (line 22). Leftover placeholders are released first. In v0.12.2 it completes while placeholders "
        "are left, and a later swap gives a container to a Completed application."
    ),
    repairs=["completing-has-nothing", "completed-has-nothing", "completed-after-its-time", "nothing-left-completes"],
    drops=fix.PLACEHOLDERS_IN_COMPLETING,
    adds=fix.NOTHING_LEFT,
)

ALLOCATIONS_COUNT = Change(
    name="placeholders-count-in-some-states",
    wrong="Text and code count placeholders as allocations in some states and not in others.",
    shown="accepted-has-no-allocation",
    why=(
        "Every real allocation moves its application on, also the first one that replaces a placeholder; in "
        "Starting, a placeholder does so too (line 20). Before Starting, placeholders do not count: a gang is "
        "Accepted until it has all of them (line 19). So it can be Starting without a real allocation, or with "
        "none left if its pods end early."
    ),
    repairs=["more-allocations-make-it-running"],
    weakens={
        "accepted-has-no-allocation": ["accepted-has-no-real-allocation"],
        "starting-has-one-allocation": ["starting-has-at-most-one-real-allocation"],
    },
    drops=["a swap moves its application on, but not the first"],
    adds=[*fix.ALLOCATIONS_COUNT, *WEAKER],
    mistakes=[STARTING_WITHOUT_ITS_ALLOCATION],
)

FAILING_IS_CLEANED_UP = Change(
    name="failing-waits-for-placeholders-only",
    wrong="A failing application waits for its last placeholder only: it is Failed with allocations left, or never if it had no placeholder.",
    shown="failed-has-nothing",
    asks=exists(k, (k.application == a) & ~k.placeholder & k.is_("allocated")),
    why=(
        "A failing application drops its asks, releases all its allocations, and is Failed when they are gone (lines "
        "25 and 26). v0.12.2 waits only for the last placeholder. So an application with real allocations is Failed "
        "too early, and one without placeholders is never Failed."
    ),
    repairs=["failed-has-nothing", "failing-begins-the-cleanup", "failing-ends", "applications-can-end"],
    weakens={"failing-has-something-left": ["failing-ends"]},
    drops=["without its last placeholder a Failing application has failed"],
    adds=fix.FAILING_ENDS,
    mistakes=[FAILING_WITH_NOTHING_LEFT],
)

PARTITIONS_DRAIN = Change(
    name="partitions-go-without-draining",
    wrong="A partition that the configuration leaves out is deleted in the same step, with all that is in it; it is never Draining.",
    shown="removed-partitions-drain",
    asks=exists(k, (k.application.queue.partition == p) & k.is_("allocated")),
    why=(
        "A removed partition is Draining until its applications have ended (line 51). They fail (line 25); one that "
        "was Resuming fails as soon as it can. v0.12.2 deletes the partition, and takes each application out of it in "
        "the state in which it is then; a Completing one is Completed at once (facts 1.2 and 2)."
    ),
    repairs=["removed-partitions-drain", "only-empty-partitions-go", "completed-after-its-time"],
    drops=core_v0_12_2.WITH_THE_PARTITION,
    adds=[
        *fix.PARTITIONS_DRAIN,
        *required(
            *("removal-drains-partitions", "removed-partitions-fail-applications"),
            *("draining-partitions-refuse-additions", "draining-partitions-are-final"),
        ),
    ],
)

A_GANG_THAT_HAS_BEGUN_GOES_ON = Change(
    name="a-gang-fails-after-it-has-begun",
    wrong="The time-out of the placeholders fails a gang that is Accepted, even if it has a real allocation.",
    shown="a-gang-fails-before-it-runs",
    # A time-out that waits for long is another defect.
    asks=a.is_("Accepted"),
    prompt=["gang_wakes"],
    why=(
        "The time-out of placeholders fails an application, or makes it resume, only if it has no real "
        "allocation (line 25) and none is about to be confirmed. Otherwise it only releases the placeholders. The "
        "repair of placeholders-count-in-some-states keeps the property too: with a real allocation, no gang is "
        "Accepted."
    ),
    repairs=["a-gang-fails-before-it-runs"],
    drops=["a gang that has not begun drops its asks", "a gang that has not begun releases its placeholders"],
    adds=fix.GANGS,
)

WHAT_RESUMES_ASKS_ON = Change(
    why=(
        "A gang that resumes gives up its placeholders, and keeps its real asks. v0.12.2 drops the asks too "
        "(fact 1.3). Then nothing is left of the gang (line 22), and it completes, unless the resource manager "
        "sends asks again in time."
    ),
    repairs=[],
    adds=[fix.DROPPED_BY_RESUMING, fix.PLACEHOLDERS_ARE_DROPPED],
)

WHAT_IS_REMOVED_IS_CLEARED = Change(
    why=(
        "The resource manager can remove an application. All its asks and allocations are removed at once, and "
        "it ends like an application with nothing left (lines 22 and 26). The model of v0.12.2 leaves this out."
    ),
    repairs=[],
    drops=["asks-are-of-known-applications"],
    adds=[*fix.REMOVAL, fix.REMOVED, fix.OPEN_ASKS],
)

RESUMING_ENDS = Change(
    name="resuming-waits-for-no-placeholder",
    wrong="A Resuming application without placeholders waits for its last one for ever.",
    shown="resuming-ends",
    why=(
        "A Resuming application goes on when it has no placeholder left, even if it had none from the start. "
        "v0.12.2 waits for a last placeholder even if there was none (fact 1.2). The repair of old-time-outs-fire keeps "
        "the property too: no time-out takes effect after the last placeholder has gone."
    ),
    repairs=["resuming-ends", "applications-can-end"],
    drops=["without placeholders a Resuming application goes on"],
    adds=fix.RESUMING_ENDS,
)

WHAT_RESUMES_WITH_NOTHING_COMPLETES = Change(
    name="a-gang-resumes-with-nothing-left",
    wrong="A gang that resumes with nothing left stays Accepted for ever, and a Draining queue waits for it.",
    shown="draining-queues-go",
    why=(
        "A Resuming application that has nothing left completes (line 22). The figure has an arrow from Resuming to "
        "Accepted only. So the application is Accepted with nothing, and a queue or partition that is removed waits "
        "for it."
    ),
    repairs=["nothing-left-completes", "draining-queues-go"],
    drops=["resume_ends"],
    adds=[*fix.RESUMES_WITH_NOTHING, fix.PARTITIONS_GO],
)

ONLY_USABLE_NODES_ARE_USED = Change(
    name="unschedulable-nodes-get-allocations",
    wrong="An ask that requires a node, or replaces a placeholder on it, gets the node even if it is not schedulable.",
    shown="unschedulable-nodes-are-not-used",
    why=(
        "Allocations are only on schedulable nodes (line 64), also those with a required node. A swap is cancelled if "
        "its node is no longer schedulable when the placeholder is gone, and at once if its node is removed."
    ),
    repairs=["unschedulable-nodes-are-not-used", "unschedulable-nodes-get-nothing"],
    drops=fix.SWAPS_OF_A_NODE,
    adds=fix.USABLE_NODES,
)

# It keeps the conditions of the change before on the same actions.
THE_CYCLE_IS_FOR_WHAT_IS_IN_IT = Change(
    name="what-is-not-scheduled-gets-allocations",
    wrong="The core does not look at the state of an application before it allocates.",
    shown="only-the-cycle-is-scheduled",
    why=(
        "Only applications in the scheduling cycle (lines 19 to 21) get allocations. An application that is "
        "failing, has ended, or is in a removed partition gets no asks."
    ),
    repairs=["only-the-cycle-is-scheduled"],
    adds=fix.CYCLE,
)

ADDITIONS_ARE_REFUSED = Change(
    name="draining-queues-accept",
    wrong="A queue that is Draining still accepts applications.",
    why="A Draining queue or partition refuses new applications (line 51).",
    repairs=["draining-queues-refuse-additions"],
    adds=[fix.SUBMIT],
)

THE_REFUSED_ARE_REJECTED = Change(
    name="no-application-is-rejected",
    wrong="A refused application is deleted while it is New; it never has the state Rejected.",
    why="A refused application is Rejected (line 27). v0.12.2 deletes it, and only notifies the shim (fact 1.2).",
    repairs=["life-rejected"],
    adds=[ev.reject, *required("rejected-is-final", "rejected-when-it-is-added", "rejected-has-nothing")],
)

STOPPED_IS_USED = Change(
    name="nothing-stops-a-queue",
    wrong="Nothing fires Start and Stop, so no queue and no partition is ever Stopped.",
    why="Queues and partitions can be stopped and started again (lines 50, 55 and 56).",
    repairs=["life-of-a-queue", "life-of-a-partition"],
    drops=[core_v0_12_2.NOTHING_IS_STOPPED.name],
    adds=[
        *fix.STOPS,
        *required("stopped-queues-are-not-scheduled", "stopped-partitions-are-not-scheduled"),
        *required(*STARTED_AND_STOPPED),
    ],
)

STOPPED_OBJECTS_DRAIN = Change(
    name="stopped-objects-go-without-draining",
    wrong="A Stopped object may be removed as it is (line 50), although an object is Draining before it is removed (line 51).",
    shown="stopped-queues-drain",
    why=(
        "A Stopped queue or partition can get Remove, and is Draining before it is removed (lines 50 and 51). "
        "The code of v0.12.2 has no arrow from Stopped to Draining, but stops nothing (fact 2)."
    ),
    repairs=["stopped-queues-drain", "stopped-partitions-drain"],
    adds=[*fix.STOPPED_OBJECTS_DRAIN, *required("stopped-queues-can-go")],
)

DYNAMIC_QUEUES_DRAIN = Change(
    name="dynamic-queues-go-without-draining",
    wrong="The sweep takes an empty dynamic queue off the tree while it is Active.",
    why=(
        "The sweep gives Remove to an empty dynamic queue, and takes it off the tree when it is Draining (line 51). "
        "In v0.12.2 a dynamic queue ignores Remove, and the sweep takes it while it is Active (fact 2)."
    ),
    repairs=["removed-queues-drain"],
    adds=fix.DYNAMIC_QUEUES,
)

FAILED_IS_FINAL = Change(
    name="a-failed-application-expires",
    wrong="Failed is a final state in the text, and the figure has an arrow from it to Expired.",
    shown="failed-is-final",
    why=(
        "A Failed application stays Failed (line 26), and only Completed applications expire (line 24), although the "
        "figure shows more. After a while only the record of the application is deleted; its state does not change."
    ),
    repairs=["failed-is-final", "only-the-completed-expire"],
    drops=["Application.expire from Failed", "Application.timer_ran from Failed", "a time-out ends Failed"],
    adds=[Row(Application, "fail", "Failing", "Failed", line=26, timer="off")],
)

OF_THE_CORE = [
    A_TIME_OUT_IS_OF_ONE_STAY,
    COMPLETING_HAS_NOTHING,
    ALLOCATIONS_COUNT,
    FAILING_IS_CLEANED_UP,
    PARTITIONS_DRAIN,
    A_GANG_THAT_HAS_BEGUN_GOES_ON,
    WHAT_RESUMES_ASKS_ON,
    WHAT_IS_REMOVED_IS_CLEARED,
    RESUMING_ENDS,
    WHAT_RESUMES_WITH_NOTHING_COMPLETES,
    ONLY_USABLE_NODES_ARE_USED,
    THE_CYCLE_IS_FOR_WHAT_IS_IN_IT,
    ADDITIONS_ARE_REFUSED,
    THE_REFUSED_ARE_REJECTED,
    STOPPED_IS_USED,
    STOPPED_OBJECTS_DRAIN,
    DYNAMIC_QUEUES_DRAIN,
    FAILED_IS_FINAL,
]
_REPAIRED_CORE = V0_12_2.amend(
    "repaired",
    "v0.12.2 with the changes that the document's properties need",
    OF_THE_CORE,
    refuted=frozenset(),
    configurations=partial(configurations, shipped=True, among=[*CONFIGURATIONS, FAILS_LATE]),
)
REPAIRED = replace(
    _REPAIRED_CORE,
    properties=[*_REPAIRED_CORE.properties, *EFFECTS_AND_CAUSES, *possible_steps(_REPAIRED_CORE.actions)],
)

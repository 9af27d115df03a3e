"""Core and shim of v0.12.2 as two components that exchange messages, and the same repaired.

The core's own properties are proved where the resource manager may do anything. Here the properties say what each
component relies on the other to do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from schedproof.model.lang import Change, Model

from . import core_v0_12_2
from . import repairs as fix
from .channel import CHANNELS
from .components import SHIM_ACTIONS, SHIM_AXIOMS, SHIM_ROWS, apart, shim_rules
from .components import SHIM_MACHINES as SHIM_AND_MESSAGES
from .configurations import WITH_SHIM, configurations
from .process import APART, APPLICATIONS_ARE_RECOVERED, ASK_RECOVERABLE, ONE_PROCESS
from .process import PHASES as OF_ONE_PROCESS
from .properties import PHASES
from .shim_messages import WITH_THE_PARTITION
from .shim_properties import shim_properties
from .shim_repairs import shim_repairs
from .shim_rules import CRASHES
from .variants import OF_THE_CORE, REPAIRED, V0_12_2
from .weakened_properties import PHASES as OF_REPAIRED

RESTS_ON = {p.name for p in (*PHASES, *core_v0_12_2.PHASES, *OF_REPAIRED, fix.OPEN_ASKS)}


def promising(variant: Model, refuted: frozenset[str], assumes: Mapping[str, Sequence[str]]) -> Model:
    """Returns ``variant`` with the properties of the two components, and the core's properties on which these rest.

    Args:
        variant: a model of core and shim.
        refuted: the names of the properties that it violates.
        assumes: the assumptions on which verdicts rest, by property.
    """
    resting = [p for p in variant.properties if p.name in RESTS_ON or p in OF_ONE_PROCESS]
    of_the_shim = shim_properties([action.name for action in variant.actions if action.crash])
    return replace(variant, properties=[*resting, *CHANNELS.properties, *of_the_shim], refuted=refuted, assumes=assumes)


_CREATE_NODE = next(action for action in apart(V0_12_2.actions) if action.name == "create_node")
BY_MESSAGES = Change(
    why="A shim acts for the resource manager, and sends messages (line 6; facts 3 and 4).",
    repairs=[],
    adds=[
        *SHIM_ROWS,
        *apart(V0_12_2.actions),
        *SHIM_ACTIONS,
        *shim_rules(V0_12_2.actions),
        WITH_THE_PARTITION,
        *ONE_PROCESS,
        *OF_ONE_PROCESS,
        replace(_CREATE_NODE, when=[*_CREATE_NODE.when, APPLICATIONS_ARE_RECOVERED]),
    ],
)

COMPONENTS = promising(
    V0_12_2.amend(
        "parties",
        "core and shim of v0.12.2, with the messages between them",
        [BY_MESSAGES],
        refuted=frozenset(),
        machines=[*SHIM_AND_MESSAGES, ASK_RECOVERABLE],
        axioms=SHIM_AXIOMS,
        configurations=partial(configurations, shipped=True, among=WITH_SHIM),
        default_scope={"ShimApplication": 1, "Task": 3, "ShimNode": 1, "ShimScheduler": 1, "Message": 40},
    ),
    refuted=frozenset(
        {
            "released-allocations-are-heard",
            "dropped-asks-are-heard",
            "dropped-asks-start-nothing",
            "failures-are-heard",
            "rejections-are-heard",
            "what-is-to-be-released-goes",
            "no-allocation-without-a-pod",
            "tasks-do-not-wait-for-ever",
            "submitted-can-be-left",
            "reserving-can-be-left",
            "resuming-can-be-left",
            "failing-can-be-left",
            "a-cordon-is-forwarded",
        }
    ),
    assumes={
        # a node or a partition that goes takes its allocations along
        "what-is-to-be-released-goes": ["Node.adjustable", "Partition.adjustable"],
        "no-allocation-without-a-pod": ["Node.adjustable", "Partition.adjustable"],
        # an application that fails is not Submitted or Reserving any more
        "submitted-can-be-left": ["ShimApplication.troubled"],
        "reserving-can-be-left": ["ShimApplication.troubled"],
        "the-shim-gets-to-run": ["Partition.adjustable", "Queue.adjustable", "ShimScheduler.mortal"],
    },
)

THE_REPAIRED_CORE_HEARS = Change(
    why=(
        "The repaired core takes from the shim all requests that it takes from a resource manager. It rejects "
        "applications that it does not add."
    ),
    repairs=[],
    drops=[WITH_THE_PARTITION.name],
    adds=[*apart(REPAIRED.actions), *shim_rules(REPAIRED.actions), fix.rejected(REPAIRED)],
)

EACH_HAS_A_PROCESS = Change(
    why=(
        "Core and shim can run in processes of their own: the shim dies, and the core goes on. In v0.12.2 they are "
        "one process, and the next core begins with nothing (fact 4)."
    ),
    repairs=[],
    drops=[*APART, *[prop.name for prop in OF_ONE_PROCESS]],
    adds=CRASHES,
)

NOTHING_IS_LOST = Change(
    name="full-queues-drop-messages",
    wrong="A message is dropped when its queue is full for too long.",
    shown="submitted-can-be-left",
    why="A sender waits while the queue is full. v0.12.2 drops a message that finds no room for too long (fact 4).",
    repairs=["submitted-can-be-left", "tasks-do-not-wait-for-ever", "no-allocation-without-a-pod"],
    drops=["lose"],
)

COMPONENTS_REPAIRED = promising(
    COMPONENTS.amend(
        "parties-repaired",
        "the repaired core, and a shim with the changes that the two need to count on each other",
        [
            *[replace(change, repairs=[], weakens={}) for change in OF_THE_CORE],
            EACH_HAS_A_PROCESS,
            THE_REPAIRED_CORE_HEARS,
            *shim_repairs(REPAIRED.actions),
            NOTHING_IS_LOST,
        ],
        refuted=frozenset(),
    ),
    refuted=frozenset(),
    # where no node is left, nothing is allocated
    assumes={
        "tasks-do-not-wait-for-ever": ["Node.adjustable"],
        "reserving-can-be-left": ["Node.adjustable"],
    },
)

"""YuniKorn's object states: models of the core and the k8shim, from "Scheduler Object States" and the facts.

Read this package beside the document (yunikorn-object-states-0.12.2.txt).

The core:

- ``machines``: its transition tables; ``events``: the actions and rules that drive them.
- ``properties``: what the document requires of applications; ``objects``: of queues, partitions and nodes.
- ``possible_steps`` and ``effects_and_causes``: what single steps of the repaired core must be able to do, and why they may.
- ``core_v0_12_2``: what v0.12.2 does instead; ``repairs`` and ``weakened_properties``: what has to change.
- ``mistakes``: what is wrong with the text where v0.12.2 is wrong for another reason.
- ``unlocked_timers``: time-outs of v0.12.2 in two steps.
- ``variants``: the model's variants; ``configurations``: the configurations to explore.

The shim, of which the document has only pictures:

- ``shim_machines``: the tables of the pictures and of v0.12.2; ``shim_events``: the actions that drive them.
- ``channel`` and ``shim_messages``: the messages between core and shim.
- ``shim_properties``: what each component relies on the other to do; ``shim_repairs``: what has to change for it.
- ``process``: what v0.12.2's core and shim lose together, and recover.
- ``components`` and ``together``: both components in one model; ``shim_interpretations``: what we had to choose there.

Variables of the core:

- p: partitions; q, u, v: queues; a: applications; k, o, x: asks; n: nodes.
- w: time-outs under way; g: gang timers.

Variables of the shim:

- b, c: applications; t, u: tasks; m: nodes; z: the scheduler.
- e, f, r: messages.
"""

from .together import COMPONENTS, COMPONENTS_REPAIRED
from .unlocked_timers import LOCKED_TIMERS, UNLOCKED_TIMERS
from .variants import AS_WRITTEN, REPAIRED, TABLES, V0_12_2

__all__ = [
    "AS_WRITTEN",
    "COMPONENTS",
    "COMPONENTS_REPAIRED",
    "LOCKED_TIMERS",
    "REPAIRED",
    "TABLES",
    "UNLOCKED_TIMERS",
    "V0_12_2",
]

"""YuniKorn's object states: core and k8shim, read from "Scheduler Object States" and from the facts.

Read this package beside the document (yunikorn-object-states-0.12.2.txt): ``machines`` holds the core's tables,
``events`` what drives them, ``properties`` and ``objects`` what is promised of applications and of queues,
partitions and nodes. ``shipped`` is what v0.12.2 does instead, ``repairs`` and ``weaker`` what has to change,
``variants`` puts it together; ``configurations`` is what explorations look at. The shim has no more than pictures in
the document: ``shim_machines`` has their tables and the real ones, ``shim_events`` what drives them,
``channel`` and ``shim_messages`` what goes between the two, ``shim_properties`` what they count on of each other,
``shim_repairs`` what has to change for it, ``components`` and ``together`` put both in one model.

Letters: p for partitions, q, u, v for queues, a for applications, k, o, x for asks, n for nodes, w for time-outs
under way, g for gang timers; b and c for the shim's applications, t and u for its tasks, m for its nodes, z for its
scheduler, e, f, r for messages.
"""

from .together import COMPONENTS, COMPONENTS_REPAIRED
from .variants import AS_WRITTEN, REPAIRED, TABLES, V0_12_2

__all__ = ["AS_WRITTEN", "COMPONENTS", "COMPONENTS_REPAIRED", "REPAIRED", "TABLES", "V0_12_2"]

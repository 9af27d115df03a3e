"""The sorts: the resource manager's objects, and of each the cache's copy and the scheduler's copy.

Cache and scheduler each keep an object for one thing of the resource manager's (lines 40 to 42 and 163 to 167).
"""

from schedproof.model.lang import Sort

Partition = Sort("Partition", "p")
"""A partition, as the resource manager knows it (line 133); with it its queues are added and removed (139, 141)."""

Application = Sort("Application", "a")
"""An application, as the resource manager knows it (line 44)."""

Ask = Sort("Ask", "k")
"""A request of an application, as the resource manager knows it (line 100)."""

Allocation = Sort("Allocation", "x")
"""A possible allocation for an ask on a node, as the resource manager knows it (line 59)."""

Node = Sort("Node", "n")
"""A node, as the resource manager knows it (line 153)."""

PartitionInfo = Sort("PartitionInfo", "cache_p")
"""Cache: its copy of a partition (line 167)."""

ApplicationInfo = Sort("ApplicationInfo", "cache_a")
"""Cache: its copy of an application (line 163)."""

AllocationInfo = Sort("AllocationInfo", "cache_x")
"""Cache: its copy of an allocation (line 164)."""

NodeInfo = Sort("NodeInfo", "cache_n")
"""Cache: its copy of a node (line 165)."""

SchedulingPartition = Sort("SchedulingPartition", "scheduler_p")
"""Scheduler: its copy of a partition (line 167)."""

SchedulingApplication = Sort("SchedulingApplication", "scheduler_a")
"""Scheduler: its copy of an application (line 163)."""

SchedulingAsk = Sort("SchedulingAsk", "scheduler_k")
"""Scheduler: its copy of an ask; "Cache doesn't store asks" (line 109)."""

SchedulingAllocation = Sort("SchedulingAllocation", "scheduler_x")
"""Scheduler: its copy of an allocation, from its proposal on (line 164)."""

SchedulingNode = Sort("SchedulingNode", "scheduler_n")
"""Scheduler: its copy of a node (line 165)."""

EventQueue = Sort("EventQueue", "queue")
"""A handler's queue of events, in explorations that consider its size (facts 6)."""

Message = Sort("Message", "e")
"""An event under way (line 7)."""

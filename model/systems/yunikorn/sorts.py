"""The sorts of core and shim, and of the messages between them.

Core and shim each keep an object for one thing of the user's: an application, a request of it, a node. The two "can
thus have an independent idea of the state of a similar object" (line 6).
"""

from schedproof.model.lang import Sort

Partition = Sort("Partition", "p")
"""Core: a partition, to which queues and nodes belong (line 45)."""

Queue = Sort("Queue", "q")
"""Core: one queue of the tree (line 44)."""

Application = Sort("Application", "a")
"""Core: an application (line 14)."""

Ask = Sort("Ask", "k")
"""Core: a request of an application, and its allocation if it gets one (line 19)."""

Node = Sort("Node", "n")
"""Core: a node, schedulable or not (line 64)."""

Wakeup = Sort("Wakeup", "w")
"""Core: the function of a state timer that has run out and has not taken effect yet (lines 20, 23 and 24)."""

GangTimer = Sort("GangTimer", "g")
"""Core: the timer of one application's placeholders (line 25)."""

ShimApplication = Sort("ShimApplication", "b")
"""Shim: its object for an application (line 72)."""

Task = Sort("Task", "t")
"""Shim: its object for a pod of an application, real or a placeholder (line 76)."""

ShimNode = Sort("ShimNode", "m")
"""Shim: its object for a node (line 80)."""

ShimScheduler = Sort("ShimScheduler", "z")
"""Shim: its registration with the core; there is one (line 84)."""

Message = Sort("Message", "e")
"""A message under way between core and shim, in either direction."""

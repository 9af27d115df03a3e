"""The scheduler of the proposal to merge cache and scheduler: one object for each thing, under locks.

It is written from the document (D: its lines) and the repaired order of its locks, not from the model. Each operation
chooses its locks, as reference.yaml describes: the cluster's for reading throughout, queues from the root down.

It shares its messages with the core of the object states. That core takes one call at a time; this one takes calls of
any number of threads.
"""

from .health import health
from .objects import ORDER, Allocation, Application, Cluster, Node, Partition, Queue
from .scheduler import MergedScheduler, Proposal

__all__ = [
    "ORDER", "Allocation", "Application", "Cluster", "MergedScheduler", "Node", "Partition", "Proposal", "Queue",
    "health",
]  # fmt: skip

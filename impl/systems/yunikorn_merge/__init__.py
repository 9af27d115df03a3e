"""The scheduler that the document on the merge of cache and scheduler proposes: one object for each thing, under locks.

It is written from the document (D: its lines) and the repaired order of its locks, not from the model. Which locks an operation takes is
its own, and described in reference.yaml: the cluster's for reading all the time, queues from the root down. It shares
its messages with the core of the object states; that one takes one call at a time, this one is for any number of threads.
"""

from .health import health
from .objects import ORDER, Allocation, Application, Cluster, Node, Partition, Queue
from .scheduler import MergedScheduler, Proposal

__all__ = [
    "ORDER", "Allocation", "Application", "Cluster", "MergedScheduler", "Node", "Partition", "Proposal", "Queue",
    "health",
]  # fmt: skip

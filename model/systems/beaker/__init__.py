"""Beaker's recipes, recipe sets and systems, read from the proposal "Event Driven Scheduling".

Read this package beside the document (beaker-event-driven-scheduling.rst): ``machines`` holds the
states, ``events`` what the sections on processing and execution say, ``usage``, ``recipes``, ``races``
and ``life`` the properties (``phases`` what they rest on). What has to change is in ``order`` (first come,
first served), ``seatings`` (what a set leaves its other recipes) and ``repairs``, ``weaker`` says which
properties are kept in a weaker form, ``variants`` puts it together, and ``collisions`` shows why those
properties can not be kept as they stand. ``configurations`` is what explorations look at, ``waits`` what pictures
of deadlocks show. ``batch`` is the scheduler that the proposal replaces, ``shipped`` the one that was built
instead.

Letters: j, k and m stand for recipe sets (jobs), r, q, g, o and w for recipes, s, t and x for systems, l for labs, p for
seatings, e and f for seats. A recipe set's own states are not the document's: they say where "New job"
processing stands.
"""

from .batch import BATCH
from .collisions import BY_PRIORITY, EAGER, STRICT
from .shipped import SHIPPED
from .variants import AS_WRITTEN, INTERLEAVED, REPAIRED

__all__ = ["AS_WRITTEN", "BATCH", "BY_PRIORITY", "EAGER", "INTERLEAVED", "REPAIRED", "SHIPPED", "STRICT"]

"""Beaker's recipes, recipe sets and systems, after the proposal "Event Driven Scheduling".

Read this package beside the document (beaker-event-driven-scheduling.rst):

- ``machines``: the states. ``events``: the sections on processing and execution.
- ``usage``, ``recipes``, ``races``, ``life``: the properties. ``phases``: the invariants that their proofs need.
- ``order`` (first come, first served), ``seatings`` (systems that a set leaves to its other recipes) and ``repairs``:
  the changes.
- ``weakened_properties``: the properties that hold in a weaker form only. ``collisions``: counterexamples to their original form.
- ``variants``: all of this put together.
- ``configurations``: the configurations that are explored. ``waits``: the wait-for graphs in pictures of deadlocks.
- ``interpretations``: where the proposal allows two answers. ``contradictions``: where it gives two.
- ``concurrent``: searches and moves in two steps.
- ``batch``: the scheduler that the proposal replaces. ``shipped``: the one that was built instead.

Variables:

- j, k, m: recipe sets (jobs).
- r, q, g, o, w: recipes.
- s, t, x: systems.
- l: labs.
- p: seatings.
- e, f: seats.

The states of a recipe set are not the document's. They record how far "New job" processing of the set has come.
"""

from .batch import BATCH
from .collisions import BY_PRIORITY, EAGER, STRICT
from .shipped import SHIPPED
from .variants import AS_WRITTEN, INTERLEAVED, REPAIRED

__all__ = ["AS_WRITTEN", "BATCH", "BY_PRIORITY", "EAGER", "INTERLEAVED", "REPAIRED", "SHIPPED", "STRICT"]

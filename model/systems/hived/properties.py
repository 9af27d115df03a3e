"""All properties that the document requires, in the order of its sections.

- ``states``: every sentence of the two sections "States" that defines a state.
- ``crashes``: the notes below them on persistent, volatile and derived states.
- ``conditions``: every "Condition" that says which event occurs only with which other, and the assumption on
  priorities. Conditions that ask for pods to be deleted are actions of the environment.
- ``operations``: every "Operation" that sets the state of all cells of some kind, or of a group.
- ``life``: the sections "Common life cycles", and the states that must stay reachable.

The rest of the document requires nothing. It has introductions, a note on later uses of reservations (line 153), and
one on in-memory data structures (lines 165 to 167). The names of the properties are stable, because scripts use them.
"""

from .conditions import CONDITIONS
from .crashes import CRASHES
from .life import LIFE_CYCLES, PROGRESS, preempting_ends
from .operations import OPERATIONS
from .states import CELL_STATES, GROUP_STATES

__all__ = ["PROPERTIES", "preempting_ends"]

PROPERTIES = [*GROUP_STATES, *CRASHES, *CELL_STATES, *CONDITIONS, *OPERATIONS, *LIFE_CYCLES, *PROGRESS]

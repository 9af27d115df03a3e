"""What the document properties, as properties: all of them, in the order of its sections.

- ``states``: every sentence of the two sections "States" that says what a state is.
- ``crashes``: the notes below them on what is persistent, volatile or derived.
- ``conditions``: every "Condition" that says which event comes only with which other, and the
  assumption on priorities. Those that ask for pods to be deleted are the environment's: actions.
- ``operations``: every "Operation" that says what becomes of all cells of some kind, or of a group.
- ``life``: the sections "Common life cycles", and what the states imply must stay possible.

Nothing is promised by what remains: introductions, the note on later uses of reservations (line
153), and the one on in-memory data structures (lines 165 to 167). The names are stable: scripts
use them.
"""

from .conditions import CONDITIONS
from .crashes import CRASHES
from .life import LIFE_CYCLES, PROGRESS, preempting_ends
from .operations import OPERATIONS
from .states import CELL_STATES, GROUP_STATES

__all__ = ["PROPERTIES", "preempting_ends"]

PROPERTIES = [*GROUP_STATES, *CRASHES, *CELL_STATES, *CONDITIONS, *OPERATIONS, *LIFE_CYCLES, *PROGRESS]

"""The scheduler core of YuniKorn 0.12.2, with the repairs that the properties of its document need.

The core is written from the document (D: its lines), the facts (F: their sections) and the repairs below, not from
the model. Each repair (R) replaces something that v0.12.2 does:

1. A wakeup belongs to the stay that armed its timer; one of an earlier stay does nothing (D23).
2. An application is Completing only if no ask is pending and no allocation is left, placeholders included. If only
   placeholders are left, the core releases them first (D22).
3. An allocation that was swapped in counts like any other: the first one moves Accepted to Starting (D19-20).
4. Failing ends when all asks and allocations are gone; the core releases them all (D25-26). A partition that is
   removed is Draining until its applications have ended (D49-51).
5. The gang's time-out fails only an application without a real allocation (D25).
6. Resuming ends when no placeholder is left, also if there was none.
7. An application that cannot be added is Rejected, and stays so (D27).
8. A Draining queue, and the queues below it, take no additions (D51). A Stopped queue can be removed (D50).
9. An unschedulable node gets nothing new: no swap, and no ask that requires it (D64).
10. Failed and Rejected are final; only the record is deleted (D26-27).
11. A RM that registers again has lost its memory. The core sends it the nodes and allocations that there are, and
    accepts again what it adds again. (v0.12.2 rejects an application that it knows, F 1.2.)
12. An application that resumes keeps its real asks; it gives up only its placeholders.

Each layer is a class that extends the one before: ``ledger`` (records and sums), ``queues``, ``application``,
``allocations``, ``nodes``, ``partition``, ``scheduling`` (:class:`Draft`). Besides, ``core`` is the facade,
``health`` checks the records, and ``canonical`` gives them one form for exploration.
"""

from schedproof.impl.choice import first
from schedproof.impl.errors import Refused

from .canonical import canonical
from .choice import Choice, Option, only
from .core import Core, Listener
from .events import Kind, Outbox, Wakeup
from .health import health
from .records import Allocation, Application, Ask, LogEntry, Node, ObjectState, Partition, Queue, State, Status, World
from .scheduling import Draft
from .tables import APPLICATION, OBJECT

__all__ = [
    "APPLICATION", "OBJECT", "Allocation", "Application", "Ask", "Choice", "Core", "Draft", "Kind",
    "Listener", "LogEntry", "Node", "ObjectState", "Option", "Outbox", "Partition", "Queue", "Refused", "State",
    "Status", "Wakeup", "World", "canonical", "first", "health", "only",
]  # fmt: skip

"""The scheduler core of YuniKorn 0.12.2, with the repairs that the properties of its document need.

It is written from the document (D: its lines), the facts (F: their sections) and the repairs in words,
not from the model. The repairs (R), each against what version 0.12.2 does:

1. A wakeup belongs to the stay that armed its timer; one of an earlier stay does nothing (D23).
2. An application is Completing only if nothing is requested and nothing runs, placeholders included;
   placeholders of one that has nothing else are released first (D22).
3. What was swapped in is an allocation like any other: the first one brings Accepted to Starting (D19-20).
4. Failing ends when all asks and allocations are gone, and they are all made to go (D25-26); a
   partition that is removed is Draining until its applications have ended (D49-51).
5. The gang's time fails only an application without a real allocation (D25).
6. Resuming ends when no placeholder is left, also if there was none.
7. An application that cannot be added is Rejected, and stays so (D27).
8. A Draining queue, and what is below, takes no additions (D51); a Stopped one can be removed (D50).
9. A node that is not schedulable gets nothing new, also no swap and nothing that requires it (D64).
10. Failed and Rejected are final; only their record ends (D26-27).
11. A RM that registers again has lost its memory: it is told which nodes and allocations there are, and what it
    adds again is accepted again. (The shipped one rejects an application that it knows, F 1.2.)
12. What resumes keeps its real asks: only its placeholders are given up.

The layers, each a class that extends the one before: ``ledger`` (records and sums), ``queues``,
``application``, ``allocations``, ``nodes``, ``partition``, ``scheduling`` (:class:`Draft`); ``core`` is
the facade, ``health`` the check of the records, ``canonical`` their form for explorations.
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

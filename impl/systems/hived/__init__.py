"""A reference scheduler for HiveD's pod groups and cells, with crash recovery.

It implements the model's ``repaired`` variant. A victim keeps its cells until its last pod is deleted. It goes back to
Allocated when its last preemptor gives up. The state machines of single objects are generated from the model's tables.
How objects affect each other is hand-written here.
"""

from schedproof.impl.errors import Refused, SchedulerError, StoreError
from schedproof.impl.store import Crash

from .choice import CellChoice, fewest_victims
from .memory import CellRecord, GroupRecord, Memory
from .recovery import Unrecoverable
from .scheduler import Report, Scheduler, What
from .store import GroupSpec, InMemoryStore, Placement, PodRow, PodStatus, PodStore

__all__ = [
    "CellChoice", "CellRecord", "Crash", "GroupRecord", "GroupSpec", "InMemoryStore", "Memory", "Placement", "PodRow",
    "PodStatus", "PodStore", "Refused", "Report", "Scheduler", "SchedulerError", "StoreError",
    "Unrecoverable", "What", "fewest_victims",
]  # fmt: skip

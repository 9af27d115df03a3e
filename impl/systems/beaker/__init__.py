"""A reference scheduler for Beaker: the event-driven proposal with the repairs that its properties need.

Every operation is one transaction on a database (:class:`.sql_store.SqlStore`), and is checked against the content of
the database in that transaction. So the loops (:mod:`.scheduler`, run by :class:`Daemon`), the web interface
(:class:`Web`) and the labs (:class:`Lab`) may act in any order, and a crash loses nothing.

A set of several recipes begins only when each has a system, all of one lab. So it is *seated* (:mod:`.seats`) before it
takes a system. A bipartite matching leaves a system to each of its recipes, and no recipe takes its sibling's. A set
whose seats can no longer serve it is seated again, as long as it holds no system.

The package follows the document and the descriptions of the repairs, not the model.
"""

from schedproof.impl.choice import first
from schedproof.impl.errors import Contended, IllegalMove, Refused, SchedulerError, StoreError

from .choice import Choice, Option, only
from .daemon import Daemon
from .draft import Draft
from .lab import Lab
from .operations import Observer, Operations, Report, What
from .records import Condition, Recipe, RecipeSet, RecipeState, System, Usage, World
from .scheduler import Consistency, InHand, NewJobs, PendingSystems, Provisioning
from .seats import Seats
from .store import BeakerStore, Changes, MemoryStore, UsageEntry
from .view import View
from .web import Job, RecipeSpec, SetSpec, Web

__all__ = [
    "BeakerStore", "Changes", "Choice", "Condition", "Consistency", "Contended", "Daemon", "Draft", "IllegalMove",
    "InHand", "Job", "Lab", "MemoryStore", "NewJobs", "Observer", "Operations", "Option", "PendingSystems",
    "Provisioning", "Recipe", "RecipeSet", "RecipeSpec", "RecipeState", "Refused", "Report", "SchedulerError", "Seats",
    "SetSpec", "StoreError", "System", "Usage", "UsageEntry", "View", "Web", "What", "World", "first", "only",
]  # fmt: skip

"""The store of the reference schedulers' records, in memory or in a database.

- ``protocol``: kinds of records, conditions, transactions, and the hooks around each commit: the crash points.
- ``memory``: all records as one value, for explorations.
- ``sql``: the same in SQLite or PostgreSQL; ``database`` opens it. Only these two import SQLAlchemy.
- ``retry``: tries a transaction again when another one came in between.

A system gives a :class:`Schema` of its records, and for a database a table for each kind.
"""

from .memory import MemoryStore, MemoryTransaction
from .protocol import Condition, Crash, Hook, Kind, NotIn, Schema, Store, Transaction, UpTo, ValuesOf
from .retry import ATTEMPTS

__all__ = [
    "ATTEMPTS", "Condition", "Crash", "Hook", "Kind", "MemoryStore", "MemoryTransaction", "NotIn", "Schema", "Store",
    "Transaction", "UpTo", "ValuesOf",
]  # fmt: skip

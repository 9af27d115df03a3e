"""The store in a database, SQLite or PostgreSQL, and its tables.

The schema itself excludes four illegal states:

- one system on two recipes;
- one seat for two recipes of a set;
- a recipe that holds a system or a seat in a state without one;
- a Broken system in use.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

from schedproof.impl.store import sql
from schedproof.impl.store.database import IN_MEMORY, among
from schedproof.impl.store.sql import KindTable

from .records import FINISHED, OPEN, Condition, Recipe, RecipeState, Usage, World
from .store import SCHEMA, BeakerStore

METADATA = MetaData()


LAB = Table("lab", METADATA, Column("name", String, primary_key=True))

SYSTEM = Table(
    "system",
    METADATA,
    Column("name", String, primary_key=True),
    Column("lab", ForeignKey("lab.name"), nullable=False),
    Column("usage", String, CheckConstraint(among("usage", Usage)), nullable=False),
    Column("condition", String, CheckConstraint(among("condition", Condition)), nullable=False),
    CheckConstraint("condition <> 'Broken' OR usage = 'idle'", name="broken_is_idle"),
    CheckConstraint("condition = 'Automated' OR usage NOT IN ('pending', 'scheduled')", name="only_automated_is_given"),
)

RECIPE_SET = Table(
    "recipe_set",
    METADATA,
    Column("name", String, primary_key=True),
    Column("job", String, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("lab", ForeignKey("lab.name")),
    Column("place", Integer, unique=True),
    CheckConstraint("(lab IS NULL) = (place IS NULL)", name="a_place_with_a_lab"),
)

_HOLDS = among("state", [RecipeState.SCHEDULED, RecipeState.WAITING, RecipeState.INSTALLING, RecipeState.RUNNING])

RECIPE = Table(
    "recipe",
    METADATA,
    Column("name", String, primary_key=True),
    Column("recipe_set", ForeignKey("recipe_set.name"), nullable=False, index=True),
    Column("state", String, CheckConstraint(among("state", RecipeState)), nullable=False),
    Column("host", ForeignKey("recipe.name")),
    Column("system", ForeignKey("system.name"), unique=True),
    Column("seat", ForeignKey("system.name")),
    CheckConstraint(f"(system IS NOT NULL) = (host IS NULL AND {_HOLDS})", name="a_system_while_it_is_needed"),
    CheckConstraint(f"seat IS NULL OR (host IS NULL AND {among('state', sorted(OPEN))})", name="a_seat_while_it_waits"),
    UniqueConstraint("recipe_set", "seat", name="a_seat_for_one"),
)
Index(
    "recipe_unfinished",
    RECIPE.c.recipe_set,
    sqlite_where=RECIPE.c.state.not_in([str(state) for state in sorted(FINISHED)]),
    postgresql_where=RECIPE.c.state.not_in([str(state) for state in sorted(FINISHED)]),
)

VIABILITY = Table(
    "viability",
    METADATA,
    Column("recipe", ForeignKey("recipe.name"), primary_key=True),
    Column("system", ForeignKey("system.name"), primary_key=True),
)

SYSTEM_USAGE = Table(
    "system_usage",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("system", ForeignKey("system.name"), nullable=False, index=True),
    Column("usage", String, nullable=False),
    Column("condition", String, nullable=False),
    Column("started", DateTime(timezone=True), nullable=False),
    Column("finished", DateTime(timezone=True)),
)
"""Lines 249-255. The current entry has no end."""


class SqlStore(sql.SqlStore[World], BeakerStore):
    """The records in the database at ``url`` (see :class:`schedproof.impl.store.database.Database`).

    Raises:
        StoreError: the URL is wrong, the database cannot be opened, or another version created it.
    """

    def __init__(self, url: str = IN_MEMORY) -> None:
        recipe = KindTable(Recipe, RECIPE, members={"viable": VIABILITY})
        super().__init__(url, SCHEMA, LAB, SYSTEM, RECIPE_SET, recipe, SYSTEM_USAGE)

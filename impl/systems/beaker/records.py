"""What the database holds, as plain values: recipe sets, recipes and systems.

Line numbers are those of the document, beaker-event-driven-scheduling.rst.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RecipeState(StrEnum):
    """The states of a recipe (lines 102-127 and 234)."""

    NEW = "new"
    QUEUED = "queued"
    ASSIGNED = "assigned"
    SCHEDULED = "scheduled"
    WAITING = "waiting"
    INSTALLING = "installing"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    ABORTED = "aborted"


class Usage(StrEnum):
    """What a system is used for (lines 163-170)."""

    IDLE = "idle"
    SCHEDULED = "scheduled"
    WAITING = "waiting"
    INSTALLING = "installing"
    RUNNING = "running"
    PENDING = "pending"


class Condition(StrEnum):
    """The nominal condition of a system (line 253)."""

    AUTOMATED = "Automated"
    MANUAL = "Manual"
    BROKEN = "Broken"


OPEN = frozenset({RecipeState.NEW, RecipeState.QUEUED, RecipeState.ASSIGNED})
"""A recipe that still needs a system."""

EXECUTING = frozenset({RecipeState.WAITING, RecipeState.INSTALLING, RecipeState.RUNNING})
"""A recipe of a set that has begun."""

FINISHED = frozenset({RecipeState.COMPLETED, RecipeState.CANCELLED, RecipeState.ABORTED})


@dataclass(frozen=True)
class RecipeSet:
    """A recipe set. ``lab`` and ``place`` are there while it is assigned: from its first system until it begins.

    ``place`` orders the assigned sets: the lower one was assigned first.
    """

    name: str
    job: str
    priority: int
    lab: str | None = None
    place: int | None = None


@dataclass(frozen=True)
class Recipe:
    """A recipe. ``viable`` are the systems that meet its requirements, whatever their condition.

    ``seat`` is the one that its set leaves to it (see :mod:`.seats`), until it has a system or is
    finished. A guest has a ``host`` recipe instead of viable systems; it never has a system of its own.
    """

    name: str
    recipe_set: str
    state: RecipeState = RecipeState.NEW
    host: str | None = None
    system: str | None = None
    viable: frozenset[str] = frozenset()
    seat: str | None = None

    @property
    def unfinished(self) -> bool:
        """Whether it can still run, wait or be ended."""
        return self.state not in FINISHED


@dataclass(frozen=True)
class System:
    """A system of a lab (the systems of one lab controller)."""

    name: str
    lab: str
    usage: Usage
    condition: Condition


@dataclass(frozen=True)
class World:
    """Records as they are at one moment, each kind in the order of the names."""

    recipe_sets: tuple[RecipeSet, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    systems: tuple[System, ...] = ()

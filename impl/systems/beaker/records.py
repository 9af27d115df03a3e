"""The content of the database, as plain values: recipe sets, recipes and systems.

Line numbers are those of the document, beaker-event-driven-scheduling.rst.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schedproof.impl.hashed import hashed_once


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
    """The usage of a system (lines 163-170)."""

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
"""The states of a recipe that still needs a system."""

EXECUTING = frozenset({RecipeState.WAITING, RecipeState.INSTALLING, RecipeState.RUNNING})
"""The states of an unfinished recipe whose set has begun."""

FINISHED = frozenset({RecipeState.COMPLETED, RecipeState.CANCELLED, RecipeState.ABORTED})


@dataclass(frozen=True)
class RecipeSet:
    """A recipe set.

    Attributes:
        priority: a higher number comes first in the queue.
        lab: the lab to which the set is assigned. It is set while the set is assigned: from its first system until it
            begins.
        place: orders the assigned sets: the lower one was assigned first. It is set with ``lab``.
    """

    name: str
    job: str
    priority: int
    lab: str | None = None
    place: int | None = None


@dataclass(frozen=True)
class Recipe:
    """A recipe.

    Attributes:
        host: the host recipe of a guest. A guest has no viable systems and never a system of its own.
        viable: the systems that meet its requirements, in any condition.
        seat: the system that its set leaves to it (see :mod:`.seats`), until it has a system or is finished.
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
        """Whether the recipe can still wait, run or be ended."""
        return self.state not in FINISHED


@dataclass(frozen=True)
class System:
    """A system of a lab; a lab is the systems of one lab controller."""

    name: str
    lab: str
    usage: Usage
    condition: Condition


@hashed_once
@dataclass(frozen=True)
class World:
    """The records at one moment, each kind ordered by name."""

    recipe_sets: tuple[RecipeSet, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    systems: tuple[System, ...] = ()

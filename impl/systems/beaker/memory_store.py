"""A deterministic store for explorations: the records as one value, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from threading import RLock
from typing import TypeVar

from schedproof.impl.errors import Contended, Refused

from .records import Recipe, RecipeSet, System, World
from .store import Changes, UsageEntry, now

R = TypeVar("R", RecipeSet, Recipe, System)


class MemoryStore:
    """Records that live as long as this object; transactions take turns."""

    def __init__(self, *, clock: Callable[[], datetime] = now) -> None:
        self._clock = clock
        self._world = World()
        self._usage: list[UsageEntry] = []
        self._holds: dict[str, int] = {}
        self._turn = RLock()

    @contextmanager
    def transaction(self) -> Iterator[MemoryTransaction]:
        """One transaction (see :class:`.store.Store`)."""
        with self._turn:
            transaction = MemoryTransaction(self._world)
            yield transaction
            self._world = transaction.world
            self._note(transaction.used)

    def snapshot(self) -> World:
        """All records."""
        return self._world

    def restore(self, snapshot: World) -> None:
        """Goes back to a snapshot."""
        with self._turn:
            self._world = snapshot
            self._usage, self._holds = [], {}
            self._note(snapshot.systems)

    def usage(self, system: str | None = None) -> Sequence[UsageEntry]:
        """The system usage of one system, or of all, oldest first."""
        with self._turn:
            return [entry for entry in self._usage if system in (None, entry.system)]

    def _note(self, systems: Sequence[System]) -> None:
        if not systems:
            return
        at = self._clock()
        for system in systems:
            holds = self._holds.get(system.name)
            if holds is not None:
                self._usage[holds] = replace(self._usage[holds], finished=at)
            self._holds[system.name] = len(self._usage)
            self._usage.append(UsageEntry(system.name, system.usage, system.condition, at))


class MemoryTransaction:
    """A :class:`.store.Transaction` that ends with ``world``; ``used`` are the systems that changed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.used: list[System] = []

    def read(self) -> World:
        """All systems, and the recipe sets that have an unfinished recipe."""
        live = {r.recipe_set for r in self.world.recipes if r.unfinished}
        if len(live) == len(self.world.recipe_sets):
            return self.world
        return World(
            tuple(s for s in self.world.recipe_sets if s.name in live),
            tuple(r for r in self.world.recipes if r.recipe_set in live),
            self.world.systems,
        )

    def write(self, changes: Changes) -> None:
        """Writes each change if the record still is as it was read."""
        self.world = World(
            _changed("recipe set", self.world.recipe_sets, changes.recipe_sets),
            _changed("recipe", self.world.recipes, changes.recipes),
            _changed("system", self.world.systems, changes.systems),
        )
        self.used += [new for _, new in changes.systems]


def _changed(what: str, records: tuple[R, ...], changes: Sequence[tuple[R | None, R]]) -> tuple[R, ...]:
    if not changes:
        return records
    by_name = {record.name: record for record in records}
    for old, new in changes:
        at_present = by_name.get(new.name)
        if old is None and at_present is not None:
            raise Refused(f"there is a {what} {new.name} already")
        if at_present != old:
            raise Contended(f"{what} {new.name} is not as it was read; nothing is written, try again")
        by_name[new.name] = new
    if len(by_name) == len(records):
        return tuple(by_name.values())
    return tuple(by_name[name] for name in sorted(by_name))

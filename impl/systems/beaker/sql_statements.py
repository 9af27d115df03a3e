"""The SQL of one transaction: reads of whole records, and writes that hold only if nothing changed in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Executable, Select, Table, bindparam, delete, insert, select, update

from schedproof.impl.errors import Contended, Refused

from .records import FINISHED, Condition, Recipe, RecipeSet, RecipeState, System, Usage, World
from .store import Changes
from .tables import LAB, METADATA, RECIPE, RECIPE_SET, SYSTEM, SYSTEM_USAGE, VIABILITY

_UNFINISHED = select(RECIPE.c.recipe_set).where(RECIPE.c.state.not_in([str(state) for state in sorted(FINISHED)]))
_OPEN_RECIPES = select(RECIPE.c.name).where(RECIPE.c.recipe_set.in_(_UNFINISHED))


def _reads(only_open: bool) -> tuple[Select[Any], ...]:
    systems = select(SYSTEM.c.name, SYSTEM.c.lab, SYSTEM.c.usage, SYSTEM.c.condition)
    c = RECIPE_SET.c
    sets = select(c.name, c.job, c.priority, c.lab, c.place)
    r = RECIPE.c
    recipes = select(r.name, r.recipe_set, r.state, r.host, r.system, r.seat)
    viability = select(VIABILITY.c.recipe, VIABILITY.c.system)
    if only_open:
        sets = sets.where(c.name.in_(_UNFINISHED))
        recipes = recipes.where(r.recipe_set.in_(_UNFINISHED))
        viability = viability.where(VIABILITY.c.recipe.in_(_OPEN_RECIPES))
    return systems, sets, recipes, viability


_READ_OPEN, _READ_ALL = _reads(only_open=True), _reads(only_open=False)


def read_world(connection: Connection, *, finished: bool) -> World:
    """All systems and the recipe sets with an unfinished recipe; with ``finished`` the others too."""
    systems, sets, recipes, viability = (
        connection.execute(read).all() for read in (_READ_ALL if finished else _READ_OPEN)
    )
    viable = _by_recipe(viability)
    # Sorted here, since databases sort names in different ways.
    return World(
        tuple(RecipeSet(*row) for row in sorted(sets, key=_name)),
        tuple(
            Recipe(name, of, RecipeState(state), host, system, viable[name], seat)
            for name, of, state, host, system, seat in sorted(recipes, key=_name)
        ),
        tuple(
            System(name, lab, Usage(usage), Condition(condition))
            for name, lab, usage, condition in sorted(systems, key=_name)
        ),
    )


def _name(row: Sequence[Any]) -> str:
    return str(row[0])


def _by_recipe(pairs: Iterable[Sequence[Any]]) -> defaultdict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for recipe, system in pairs:
        found[recipe].add(system)
    return defaultdict(frozenset, {recipe: frozenset(systems) for recipe, systems in found.items()})


def _old(table: Table, *columns: str) -> list[Any]:
    return [table.c[name].is_not_distinct_from(bindparam(f"old_{name}")) for name in columns]


def _new(*columns: str) -> dict[str, Any]:
    return {name: bindparam(f"new_{name}") for name in columns}


def _conditional(table: Table, *columns: str) -> Executable:
    """An update of a row that must have the old values."""
    return update(table).where(table.c.name == bindparam("of"), *_old(table, *columns)).values(_new(*columns))


_SET, _MOVE, _USE = ("priority", "lab", "place"), ("state", "system", "seat"), ("usage", "condition")
_UPDATE_SET = _conditional(RECIPE_SET, *_SET)
_UPDATE_RECIPE = _conditional(RECIPE, *_MOVE)
_LEAVE_SEAT = _conditional(RECIPE, "seat")
_UPDATE_SYSTEM = _conditional(SYSTEM, *_USE)
_END_USAGE = (
    update(SYSTEM_USAGE)
    .where(SYSTEM_USAGE.c.system == bindparam("of"), SYSTEM_USAGE.c.finished.is_(None))
    .values(finished=bindparam("at"))
)


class SqlTransaction:
    """A :class:`.store.Transaction` on a connection that has begun one."""

    def __init__(self, connection: Connection, clock: Callable[[], datetime]) -> None:
        self._connection = connection
        self._clock = clock

    def read(self) -> World:
        """All systems, and the recipe sets that have an unfinished recipe."""
        return read_world(self._connection, finished=False)

    def write(self, changes: Changes) -> None:
        """Writes each change if the record still is as it was read."""
        self._add(changes)
        for old_set, new_set in changes.recipe_sets:
            self._update(_UPDATE_SET, _SET, old_set, new_set, "recipe set")
        for old_recipe, new_recipe in self._leave_seats(changes):
            self._update(_UPDATE_RECIPE, _MOVE, old_recipe, new_recipe, "recipe")
        for old_system, new_system in changes.systems:
            self._update(_UPDATE_SYSTEM, _USE, old_system, new_system, "system")
        if changes.systems:
            at = self._clock()
            used = [new for _, new in changes.systems]
            self._connection.execute(_END_USAGE, [{"of": system.name, "at": at} for system in used])
            self._connection.execute(insert(SYSTEM_USAGE), usage_rows(used, at))

    def _leave_seats(self, changes: Changes) -> list[tuple[Recipe | None, Recipe]]:
        """What is left to write when every seat that changes is left: siblings may exchange theirs."""
        found: list[tuple[Recipe | None, Recipe]] = []
        for old, new in changes.recipes:
            if old is not None and old.seat not in (None, new.seat):
                left = replace(old, seat=None)
                self._update(_LEAVE_SEAT, ("seat",), old, left, "recipe")
                found.append((left, new))
            else:
                found.append((old, new))
        return found

    def _update(self, statement: Executable, columns: Sequence[str], old: Any, new: Any, what: str) -> None:
        if old is None:
            return
        values = {"of": old.name}
        for name in columns:
            values |= {f"old_{name}": getattr(old, name), f"new_{name}": getattr(new, name)}
        if self._connection.execute(statement, values).rowcount != 1:
            raise Contended(f"{what} {old.name} is not as it was read; nothing is written, try again")

    def _add(self, changes: Changes) -> None:
        sets = [new for old, new in changes.recipe_sets if old is None]
        recipes = [new for old, new in changes.recipes if old is None]
        systems = [new for old, new in changes.systems if old is None]
        if not (sets or recipes or systems):
            return
        labs = {name for (name,) in self._connection.execute(select(LAB.c.name))}
        missing = [{"name": name} for name in sorted({s.lab for s in systems} - labs)]
        if missing:
            self._connection.execute(insert(LAB), missing)
        self._refuse_taken("recipe set", RECIPE_SET, sets)
        self._refuse_taken("recipe", RECIPE, recipes)
        insert_all(self._connection, sets, recipes, systems)

    def _refuse_taken(self, what: str, table: Table, added: Sequence[RecipeSet | Recipe]) -> None:
        """Finished ones are not read by :meth:`read`, but their names are taken."""
        wanted = table.c.name.in_([record.name for record in added])
        if added and (taken := sorted(self._connection.scalars(select(table.c.name).where(wanted)))):
            raise Refused(f"there is a {what} {taken[0]} already")


def insert_all(
    connection: Connection, sets: Sequence[RecipeSet], recipes: Sequence[Recipe], systems: Sequence[System]
) -> None:
    """Inserts records, what others refer to first."""
    rows: list[tuple[Table, list[dict[str, Any]]]] = [
        (SYSTEM, [vars(s) for s in systems]),
        (RECIPE_SET, [vars(s) for s in sets]),
        # A host before its guests.
        (RECIPE, [_recipe_row(r) for r in sorted(recipes, key=lambda r: r.host is not None)]),
        (VIABILITY, [{"recipe": r.name, "system": s} for r in recipes for s in sorted(r.viable)]),
    ]
    for table, values in rows:
        if values:
            connection.execute(insert(table), values)


def _recipe_row(recipe: Recipe) -> dict[str, Any]:
    return {name: getattr(recipe, name) for name in ("name", "recipe_set", "state", "host", "system", "seat")}


def usage_rows(systems: Iterable[System], at: datetime) -> list[dict[str, Any]]:
    """The entries of system usage that begin now."""
    return [
        {"system": s.name, "usage": s.usage, "condition": s.condition, "started": at, "finished": None} for s in systems
    ]


def replace_world(connection: Connection, world: World, at: datetime) -> None:
    """Writes all of ``world`` in place of all that is there."""
    for table in reversed(METADATA.sorted_tables):
        connection.execute(delete(table))
    labs = {s.lab for s in world.systems} | {s.lab for s in world.recipe_sets if s.lab is not None}
    if labs:
        connection.execute(insert(LAB), [{"name": lab} for lab in sorted(labs)])
    insert_all(connection, world.recipe_sets, world.recipes, world.systems)
    if world.systems:
        connection.execute(insert(SYSTEM_USAGE), usage_rows(world.systems, at))

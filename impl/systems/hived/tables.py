"""The state machines of single pod groups and cells, generated from the transition tables.

Only this module of the package imports the model. It uses the tables of the ``repaired`` variant, but no action, rule
or step.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from schedproof.impl.machines import ObjectMachine, create_objects, generate_machine
from schedproof.model.systems.hived import REPAIRED

CellState = tuple[str, str | None, str | None]
"""State, user and reserver of a cell."""

REMEMBERED = 10_000
"""The most answers of machines that are remembered: the names of groups occur in them, and a scheduler meets ever new ones."""


def _objects(sort: str, names: Iterable[str]) -> dict[str, ObjectMachine]:
    declared = REPAIRED.machine(sort)
    return create_objects(generate_machine(declared, REPAIRED.table(sort)), declared, names)


class Machines:
    """One machine for each object. They check events; the scheduler's records keep the states.

    A machine that is put into a state has one answer to an event, so it is asked once.
    """

    def __init__(self, cells: Iterable[str]) -> None:
        self._cells = _objects("Cell", cells)
        self._groups: dict[str, ObjectMachine] = {}
        self._group_after = lru_cache(REMEMBERED)(self._ask_group)
        self._cell_after = lru_cache(REMEMBERED)(self._ask_cell)

    def fire_group(self, name: str, state: str, event: str) -> str:
        """Returns the state of a group after ``event`` in ``state``.

        Raises:
            IllegalEvent: the table has no such row.
        """
        return self._group_after(name, state, event)

    def fire_cell(self, name: str, before: CellState, event: str, **payload: Any) -> CellState:
        """Returns the state, user and reserver of a cell after ``event``.

        Raises:
            IllegalEvent: the table has no such row.
        """
        return self._cell_after(name, before, event, **payload)

    def _ask_group(self, name: str, state: str, event: str) -> str:
        if name not in self._groups:
            self._groups |= _objects("PodGroup", [name])
        machine = self._groups[name]
        machine.restore((state, ()))
        machine.fire(event)
        return machine.state

    def _ask_cell(self, name: str, before: CellState, event: str, **payload: Any) -> CellState:
        state, user, reserver = before
        machine = self._cells[name]
        machine.restore((state, (user, reserver)))
        machine.fire(event, **payload)
        values = machine.values
        return machine.state, _name(values["user"]), _name(values["reserver"])


def _name(value: object) -> str | None:
    return None if value is None else str(value)

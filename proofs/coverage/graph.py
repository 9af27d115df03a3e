"""The explored graph of one configuration; each step has the table rows that its objects take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.semantics import Choice, Instance, State, Step, bounds_of
from schedproof.proofs.exploration.explore import Progress, explore

from .goals import Key


@dataclass(frozen=True)
class Edge:
    """A step: its choice, the number of its target, and by slot of its state the row of each object that moves."""

    choice: Choice
    target: int
    rows: Mapping[int, Key]


@dataclass(frozen=True)
class Graph:
    """The explored states, of which number 0 is the initial one, and the steps from each.

    Attributes:
        complete: false if some states were not found, or their steps were not explored.
        within: the bounds of integers that cut a step, in words; "" if none was cut.
    """

    instance: Instance
    states: Sequence[State]
    edges: Sequence[Sequence[Edge]]
    complete: bool
    within: str = ""

    @property
    def edge_count(self) -> int:
        """The number of steps, including those that change nothing."""
        return sum(len(edges) for edges in self.edges)


def explored(instance: Instance, limit: int | None = None, progress: Progress | None = None) -> Graph:
    """The reachable graph of an instance, without symmetry and with crashes.

    Ill-formed steps are left out: ``verify`` reports them. So are steps beyond the bounds of integers.

    Args:
        limit: stop after this many states.
        progress: see :func:`..explore.explore`.

    Raises:
        ModelError: an integer has no bound.
    """
    rows: list[list[Mapping[int, Key]]] = []
    names = {m.sort.name: [state.name for state in m.states] for m in instance.model.machines}
    slots = {m.sort.name: instance.slot(m.sort.name) for m in instance.model.machines if m.states}

    def note(state: State, source: int, step: Step) -> None:
        while len(rows) <= source:
            rows.append([])
        row_of_slot: dict[int, Key] = {}
        for (sort, event), objects in step.fired.items():
            for number in objects:
                slot = slots[sort] + number
                row_of_slot[slot] = sort, event, names[sort][state[slot]]
        rows[source].append(row_of_slot)

    exploration = explore(instance, symmetry=False, limit=limit, progress=progress, on_step=note)
    rows += [[] for _ in range(len(exploration.states) - len(rows))]
    edges = [
        [Edge(edge.choice, edge.target, row_of_slot) for edge, row_of_slot in zip(out, steps, strict=True)]
        for out, steps in zip(exploration.edges, rows, strict=True)
    ]
    within = bounds_of(instance).text if exploration.cut else ""
    return Graph(instance, exploration.states, edges, exploration.complete, within)

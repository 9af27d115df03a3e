"""The full graph of a compiled exploration, for liveness properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import AlwaysCanReach
from schedproof.model.semantics import Choice, Instance, Moment, State, compile_term
from schedproof.proofs.exploration.explore import Edge, Progress

from . import paths
from .beyond import cut_choices, joined
from .carry import Carried
from .histories import Histories
from .kernel import TOGETHER, check, link
from .layout import Words
from .llvm import Machine, assembly
from .predicates import TRUE, UNDEFINED, Predicate, predicates
from .recorder import Recorder
from .search import Reached, place_in
from .steps import Program, first_choices
from .steps import program as program_of

Nodes = NDArray[np.bool_]
"""A set of states, as truth values by state number."""

Reaching = tuple[dict[str, int], Nodes, Nodes, Nodes]
"""A binding of a property's variables, the states that can reach its goal, those that may reach it, and those of its premise."""

NO_VALUE = -(1 << 62)
"""The value of a slot where there is no state."""

PER_STATE, PER_EDGE = 80, 20
"""Bytes per state and per edge of a graph and its searches; measured, and rounded up."""

CHECKED_AGAIN = 100_000
"""Up to this many states, checking conditions again is faster than compiling the steps without them."""

AT_ONCE = 1 << 16
"""The number of states between two calls of ``progress``."""


@dataclass(frozen=True, eq=False)
class Graph:
    """States and edges by number; state ``n`` has the edges from ``offsets[n]`` to ``offsets[n + 1]``.

    Args:
        words: the packed states.
        depths: for each state its distance from the initial state; states are numbered in this order.
        whence: for each state the last edge of a shortest run to it.
        targets: for each edge the number of its target.
        choices: for each edge the number of its choice.
        beyond: whether the last node is no state, but stands for all states beyond the bounds of integers (:mod:`.beyond`).
        asked: the properties whose goals are searched for together.
        reaching: by property, results that wait for its turn.
    """

    reached: Reached
    words: Words
    depths: NDArray[np.int32]
    whence: NDArray[np.int64]
    offsets: NDArray[np.int64]
    targets: NDArray[np.uint32]
    choices: NDArray[np.uint16]
    beyond: bool = False
    _prepared: dict[str, Machine] = field(default_factory=dict, repr=False)
    asked: list[AlwaysCanReach] = field(default_factory=list, repr=False)
    reaching: dict[str, list[Reaching]] = field(default_factory=dict, repr=False)

    @property
    def instance(self) -> Instance:
        """The explored instance."""
        return self.reached.instance

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.offsets) - 1 - self.beyond

    def enabled(self, state: int) -> set[Choice]:
        """The enabled choices of a state, also those that lead beyond the bounds of integers."""
        return {edge.choice for edge in self.edges[state]}

    def nodes(self, states: Nodes, beyond: bool) -> Nodes:
        """A set of nodes: some states, and the node beyond the bounds of integers if there is one and ``beyond`` is true."""
        return np.append(states, beyond) if self.beyond else states

    def state(self, number: int) -> State:
        """A state in the representation of the interpreted engine."""
        layout = self.reached.program.layout
        first = number * layout.words
        return layout.unpack(tuple(int(w) for w in self.words[first : first + layout.words]))

    @property
    def edges(self) -> _Edges:
        """The edges of each state in the representation of the interpreted engine."""
        return _Edges(self)

    def path(self, number: int) -> list[Choice]:
        """A shortest run from the initial state to a state, as choices."""
        run = []
        while number != 0:
            edge = int(self.whence[number])
            run.append(self.reached.program.choice(int(self.choices[edge])))
            number = int(np.searchsorted(self.offsets, edge, side="right")) - 1
        return run[::-1]

    def choices_of(self, actions: Iterable[str]) -> NDArray[np.bool_]:
        """By the number of a choice, whether its action is one of these."""
        return choices_of(self.reached.program, actions)

    def values(self, slot: int) -> NDArray[np.int64]:
        """The value of a slot in each node; ``NO_VALUE`` beyond the bounds of integers."""
        layout = self.reached.program.layout
        at, mask, low = layout.slots[slot]
        words = self.words[at // 64 :: layout.words][: self.size]
        values = ((words >> np.uint64(at % 64)) & np.uint64(mask)).astype(np.int64) + low
        return np.append(values, NO_VALUE) if self.beyond else values

    def prepare(self, groups: Mapping[str, Sequence[Predicate]]) -> None:
        """Compiles groups of formulas for :meth:`holding`: at once, since each compilation has a fixed cost."""
        machine = Machine([self._assembly(name, group) for name, group in groups.items()], states=self.size)
        self._prepared.update(dict.fromkeys(groups, machine))

    def _assembly(self, name: str, conditions: Sequence[Predicate]) -> str:
        program = self.reached.program
        return assembly(predicates(program.instance, program.layout, conditions, name))

    def holding(self, conditions: Sequence[Predicate], name: str = "holds") -> list[Nodes]:
        """For each formula, the states in which it holds; ``name`` is that of a prepared group with these formulas.

        Raises:
            Undefined: a formula reads an attribute of NONE in a reachable state.
        """
        program = self.reached.program
        machine = self._prepared.get(name) or Machine([self._assembly(name, conditions)], states=self.size)
        truths = np.empty((len(conditions), self.size), np.uint8)
        check(machine.address(name), self.words, program.layout.words, np.empty(len(conditions), np.int64), truths)
        for predicate, row in zip(conditions, truths, strict=True):
            for number in np.flatnonzero(row == UNDEFINED)[:1]:
                holds = compile_term(self.instance, predicate.formula, {v.name: v for v in predicate.over})
                holds(Moment(self.state(int(number)), dict(predicate.bound)))  # raises Undefined with a message
                raise AssertionError("what is undefined in compiled code is defined when it is interpreted")
        return [row == TRUE for row in truths]

    def reach(self, goals: Sequence[Nodes], without: Sequence[str]) -> Iterator[Nodes]:
        """For each of up to 64 goals, the nodes that can reach it without an action of ``without``."""
        bits = paths.packed(goals, len(self.offsets) - 1)
        allowed = ~self.choices_of(without)
        full = bits.dtype.type((1 << len(goals)) - 1)
        if paths.spread(self.offsets, self.targets, self.choices, allowed, bits, full):
            yield from (paths.members(bits, place) for place in range(len(goals)))
            return
        back, sources = paths.turned(self.offsets, self.targets, self.choices, allowed)
        yield from (paths.reaching(back, sources, goal) for goal in goals)


@dataclass(frozen=True)
class _Edges:
    graph: Graph

    def __getitem__(self, state: int) -> Sequence[Edge]:
        g = self.graph
        program, edges = g.reached.program, slice(int(g.offsets[state]), int(g.offsets[state + 1]))
        return [
            Edge(program.choice(int(choice)), int(target))
            for choice, target in zip(g.choices[edges], g.targets[edges], strict=True)
        ]


def choices_of(program: Program, actions: Iterable[str]) -> NDArray[np.bool_]:
    """By the number of a choice, whether its action is one of these."""
    names, counts = set(actions), np.diff(first_choices(program.instance, program.actions))
    return np.repeat([action.name in names for action in program.actions], counts)


def memory_of(reached: Reached, histories: Histories | None = None) -> int:
    """The approximate number of bytes that a graph of an exploration and its searches take."""
    states, edges = reached.representatives, reached.transition_count
    carried = histories.memory(states) if histories is not None else 0
    return carried + states * (8 * reached.program.layout.words + PER_STATE) + edges * PER_EDGE


def unconditional(program: Program, states: int) -> Program:
    """A program with the same steps; without conditions if there are enough states to pay for compiling it."""
    if states <= CHECKED_AGAIN or not program.conditions:
        return program
    return program_of(program.instance, program.actions)


def graph_of(reached: Reached, progress: Progress | None = None, histories: Histories | None = None) -> Graph:
    """The graph of an exploration. With one thread its states have the same numbers as there.

    Args:
        histories: the points of history to follow on the graph.

    Raises:
        ValueError: the exploration is incomplete, used symmetry (a graph would be wrong about single objects), or is partly
            in files.
    """
    if not reached.complete or reached.symmetry is not None or not reached.in_memory:
        raise ValueError("a graph is made of a complete exploration without symmetry that is in memory")
    program, parts = reached.program, reached.parts
    if (recorder := _recorder(reached, histories)) is not None:
        return _recorded(reached, recorder, histories)
    words, count, edges = program.layout.words, reached.state_count, reached.transition_count
    carried: Carried | None = None
    if histories is None:
        machine = unconditional(program, count).machine(count)
    else:
        machine, carried = histories.begin(count)
    graph = Graph(
        reached,
        words=np.empty(count * words, np.uint64),
        depths=np.zeros(count, np.int32),
        whence=np.full(count, paths.NONE, np.int64),
        offsets=np.zeros(count + 1, np.int64),
        targets=np.empty(edges, np.uint32),
        choices=np.empty(edges, np.uint16),
    )
    graph.words[:words] = program.layout.pack(program.instance.initial())
    tables = [part.table() for part in parts]
    keys, places = tuple(keys for keys, _ in tables), np.array([places for _, places in tables])
    numbers = tuple(np.zeros(each.size // words, np.uint32) for each in keys)
    home, place = place_in(tables, graph.words[:words])
    numbers[home][place] = 1
    out, chosen = (np.empty(TOGETHER * program.choices * each, np.uint64) for each in (words, 1))
    seen = np.zeros(program.shape.room if histories is None else histories.room, np.int64)
    met = 1
    for first in range(0, count, AT_ONCE):
        last = min(first + AT_ONCE, count)
        met = link(
            machine.address("steps"), first, last, words, keys, places, numbers, graph.words, graph.depths, graph.whence,
            met, graph.offsets, graph.targets, graph.choices, out, chosen, seen, carried,
        )  # fmt: skip
        if progress is not None:
            progress(count, last, int(graph.depths[last - 1]))
    if histories is not None and carried is not None:
        histories.end(machine, carried, graph.words, graph.offsets, graph.targets, graph.choices)
    return _with_beyond(graph) if reached.frontier_count else graph


def _recorder(reached: Reached, histories: Histories | None) -> Recorder | None:
    """The part that recorded the edges of a search, and what is needed of history; None if there is none."""
    part = reached.parts[0]
    has_edges = isinstance(part, Recorder) and part.records and (histories is None or part.carried is not None)
    return part if isinstance(part, Recorder) and has_edges else None


def _recorded(reached: Reached, part: Recorder, histories: Histories | None) -> Graph:
    """The graph whose edges the search has recorded."""
    depths = np.repeat(np.arange(len(part.starts), dtype=np.int32), np.diff([*part.starts, part.count]))
    graph = Graph(reached, part.words(), depths, part.first_edges(), *part.edges())
    if histories is not None and part.carried is not None:
        carried = part.carried.first(part.count)
        histories.end(None, carried, graph.words, graph.offsets, graph.targets, graph.choices)
    return _with_beyond(graph) if reached.frontier_count else graph


def _with_beyond(graph: Graph) -> Graph:
    """The graph with the steps beyond the bounds of integers."""
    ends, cut = cut_choices(graph.reached.program, graph.words, graph.size)
    offsets, targets, choices, whence = joined(graph.offsets, graph.targets, graph.choices, graph.whence, ends, cut)
    depths = np.append(graph.depths, graph.depths[-1])
    return replace(graph, depths=depths, whence=whence, offsets=offsets, targets=targets, choices=choices, beyond=True)

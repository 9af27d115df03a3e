"""The graph of a complete search by workers, which they keep, and its searches: what every worker does in which turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import LifeCycle
from schedproof.model.semantics import Choice, Instance, Moment, State, compile_term
from schedproof.proofs.compiled.graph import choices_of, unconditional
from schedproof.proofs.compiled.layout import Words
from schedproof.proofs.compiled.llvm import assembly
from schedproof.proofs.compiled.predicates import Predicate, predicates
from schedproof.proofs.compiled.search import Reached
from schedproof.proofs.compiled.table import U, entry, part_of
from schedproof.proofs.exploration.explore import Edge, Progress

AHEAD = 2
"""Turns that are under way while the graph is made."""

Ref = Any


class NoRoom(Exception):
    """A graph does not fit into the memory of a machine; the message says how much it takes."""


class Calls(Protocol):
    """Calls of the parts of one search; see :class:`.crew.Hosts`."""

    def __len__(self) -> int: ...

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Ref]:
        """Calls a method of a worker's part, and returns at once."""

    def results(self, refs: Sequence[Ref]) -> list[Any]:
        """Waits for results."""


class ClusterGraph:
    """States and edges by number: node ``i`` of worker ``p`` of ``parts`` has the number ``i * parts + p``.

    Args:
        reached: the complete exploration, without symmetry.
        calls: its parts.
        progress: called regularly while the graph is made.

    Raises:
        NoRoom: a machine has too little memory for the graph.
        LostWorker: a worker was lost.
    """

    def __init__(self, reached: Reached, calls: Calls, progress: Progress | None = None) -> None:
        self.reached, self._calls = reached, calls
        self._parts = len(calls)
        require_room(reached, calls)
        program = unconditional(reached.program, reached.state_count)
        self._each("link", program.text, program.shape, reached.state_count)
        self._link(progress)
        self.each("turn")
        self.exchange("give")
        self.each("linked")
        self._measure()
        [self.initial] = [n for n in self.each("first") if n is not None]

    @property
    def instance(self) -> Instance:
        """The explored instance."""
        return self.reached.instance

    # --- Calls -----------------------------------------------------------------------------------------------------------

    def _each(self, method: str, *arguments: Any) -> list[Any]:
        return self._calls.results([r for me in range(self._parts) for r in self._calls.call(me, method, *arguments)])

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """The results of a method of all parts of the graph."""
        return self._each("graph", method, *arguments)

    def _rows(self, method: str, arrived: Sequence[Sequence[Ref]], returns: int) -> list[list[Ref]]:
        return [self._calls.call(me, "graph", method, *arrived[me], returns=returns) for me in range(self._parts)]

    def _to(self, rows: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
        """By worker, what the others send to it."""
        everyone = range(self._parts)
        return [[rows[q][me] for q in everyone if q != me] for me in everyone]

    def exchange(self, method: str) -> None:
        """Calls a method of all workers with what the others have sent in the last turn, until none has more."""
        arrived: list[list[Ref]] = [[] for _ in range(self._parts)]
        more = True
        while more:
            rows = self._rows(method, arrived, self._parts + 1)
            more = any(self._calls.results([row[-1] for row in rows]))
            arrived = self._to(rows)
        self._calls.results([row[-1] for row in self._rows(method, arrived, self._parts + 1)])

    def exchange_once(self, methods: Sequence[str]) -> list[Any]:
        """Calls methods of all workers one after the other, each with what the others sent by the one before.

        Returns:
            The results of the last one, which sends nothing.
        """
        arrived: list[list[Ref]] = [[] for _ in range(self._parts)]
        for method in methods[:-1]:
            arrived = self._to(self._rows(method, arrived, self._parts))
        return self._calls.results([row[0] for row in self._rows(methods[-1], arrived, 1)])

    def search(self) -> None:
        """Goes on with a search until no worker has a message."""
        arrived: list[list[Ref]] = [[] for _ in range(self._parts)]
        while True:
            rows = self._rows("go", arrived, self._parts + 1)
            standings = self._calls.results([row[-1] for row in rows])
            if not any(sent or more for sent, more in standings):
                return
            arrived = self._to(rows)

    def deepen(self, depth: int = -1) -> None:
        """Goes on with a search by length, until no node is left; with start nodes up to a depth."""
        length = 0
        while any(self.each("deepen", length if depth >= 0 else -1)) or length <= depth:
            self.search()
            length += 1

    # --- The graph -------------------------------------------------------------------------------------------------------

    def _link(self, progress: Progress | None) -> None:
        """Makes the edges: each worker asks the owners of targets for their numbers."""
        everyone, total = range(self._parts), self.reached.state_count
        turns: deque[list[Ref]] = deque()
        more: deque[list[Ref]] = deque()
        while True:
            while len(turns) < AHEAD:
                asked = self._rows("ask", [[] for _ in everyone], self._parts + 1)
                answers = self._rows("answer", self._to(asked), self._parts)
                filled = self._rows("fill", self._to(answers), 1)
                turns.append([row[0] for row in filled])
                more.append([row[-1] for row in asked])
            linked = sum(self._calls.results(turns.popleft()))
            goes_on = any(self._calls.results(more.popleft()))
            if progress is not None:
                progress(total, linked, self.reached.depth)
            if not goes_on:
                while turns:
                    self._calls.results(turns.popleft())
                return

    def _measure(self) -> None:
        program = self.reached.program
        first = np.array(program.layout.pack(program.instance.initial()), np.uint64)
        home = int(part_of(U(entry(first, 0, len(first))), U(self._parts)))
        self.each("measure", home, first)
        self.search()
        self.deepen()

    def allowed(self, actions: Sequence[str]) -> NDArray[np.bool_]:
        """By the number of a choice, whether its action is one of these."""
        return choices_of(self.reached.program, actions)

    # --- Formulas --------------------------------------------------------------------------------------------------------

    def hold(self, name: str, formulas: Sequence[Predicate]) -> None:
        """Evaluates formulas in all states.

        Raises:
            Undefined: a formula reads an attribute of NONE in a reachable state.
        """
        program = self.reached.program
        text = assembly(predicates(program.instance, program.layout, formulas, name))
        undefined = [each for each in self.each("hold", name, text, len(formulas)) if each is not None]
        if undefined:
            number, words = min(undefined, key=lambda each: int(each[0]))
            predicate = formulas[number]
            holds = compile_term(self.instance, predicate.formula, {v.name: v for v in predicate.over})
            holds(Moment(self._unpack(words), dict(predicate.bound)))  # raises Undefined with a message
            raise AssertionError("what is undefined in compiled code is defined when it is interpreted")

    def _unpack(self, words: Words) -> State:
        return self.reached.program.layout.unpack(tuple(int(w) for w in words))

    # --- Single nodes ----------------------------------------------------------------------------------------------------

    def of_node(self, method: str, number: int) -> Any:
        """The result of a method for a node, from its worker."""
        [result] = self._calls.results(self._calls.call(number % self._parts, "graph", method, number // self._parts))
        return result

    def of_nodes(self, method: str, numbers: Sequence[int], *arguments: Any) -> list[Any]:
        """The results of a method for nodes, in their order; each worker gets those of its nodes together."""
        groups: dict[int, list[int]] = {}
        for number in numbers:
            groups.setdefault(number % self._parts, []).append(number)
        refs = [
            self._calls.call(p, "graph", method, np.array(group, np.int64) // self._parts, *arguments)[0]
            for p, group in groups.items()
        ]
        known: dict[int, Any] = {}
        for group, results in zip(groups.values(), self._calls.results(refs), strict=True):
            known |= zip(group, results, strict=True)
        return [known[number] for number in numbers]

    def choice(self, number: int) -> Choice:
        """A choice by number."""
        return self.reached.program.choice(int(number))

    def edges_of(self, numbers: Sequence[int]) -> list[list[Edge]]:
        """The edges of nodes."""
        return [
            [Edge(self.choice(choice), int(target)) for target, choice in zip(targets, choices, strict=True)]
            for targets, choices in self.of_nodes("rows", numbers)
        ]

    def first_of(self, depth: int, length: int = -1) -> tuple[int, list[Choice]]:
        """The node that one process would have numbered first, of those that ``candidates`` has marked, and its run.

        That process numbers nodes in the order of the edges of their first predecessors. So the first node is found from the
        initial one, by the first edge that leads to a marked node: all nodes that lie on shortest runs to the candidates are.
        """
        self.each("candidates", depth, length)
        self.search()
        node, run = self.initial, list[Choice]()
        for at in range(1, depth + 1):
            [edges] = self.edges_of([node])
            marked = self.of_nodes("marked", [edge.target for edge in edges], at)
            step = next(edge for edge, is_marked in zip(edges, marked, strict=True) if is_marked)
            node = step.target
            run.append(step.choice)
        return node, run


class Rows:
    """Edges of nodes for :func:`schedproof.proofs.exploration.lasso.lasso`, fetched when they are read.

    A lasso reads nodes breadth first inside its loop. So the nodes of the loop that are next are fetched together.

    Args:
        inside: which of some nodes belong to the loop.
    """

    def __init__(self, graph: ClusterGraph, inside: Callable[[Sequence[int]], Sequence[bool]]) -> None:
        self._graph, self._inside = graph, inside
        self._edges: dict[int, list[Edge]] = {}
        self._known: dict[int, bool] = {}

    @property
    def edges(self) -> Rows:
        """The edges by node."""
        return self

    def enabled(self, node: int) -> set[Choice]:
        """The enabled choices of a node: a graph of workers has all of them, since it has no bounds of integers."""
        return {edge.choice for edge in self[node]}

    def __getitem__(self, node: int) -> Sequence[Edge]:
        if node not in self._edges:
            nodes = [node, *(n for n in self._next() if n != node)]
            for number, edges in zip(nodes, self._graph.edges_of(nodes), strict=True):
                self._edges[number] = edges
            self._find({edge.target for number in nodes for edge in self._edges[number]})
        return self._edges[node]

    def __contains__(self, node: object) -> bool:
        assert isinstance(node, int)
        self._find({node})
        return self._known[node]

    def _next(self) -> Iterator[int]:
        """Nodes of the loop whose edges are not known yet."""
        return (n for n, inside in self._known.items() if inside and n not in self._edges)

    def _find(self, nodes: set[int]) -> None:
        new = sorted(nodes - self._known.keys())
        if new:
            self._known |= zip(new, map(bool, self._inside(new)), strict=True)


def require_room(reached: Reached, calls: Calls) -> None:
    """Compares the memory that a graph takes on each machine with what is left there.

    Raises:
        NoRoom: it is too much.
    """
    life = max((len(p.states) for p in reached.instance.model.properties if isinstance(p, LifeCycle)), default=0)
    rooms = calls.results([ref for me in range(len(calls)) for ref in calls.call(me, "room", life)])
    for host in dict.fromkeys(room.host for room in rooms):
        its = [room for room in rooms if room.host == host]
        needed, left = sum(room.needed for room in its), min(room.left for room in its)
        if needed > left:
            raise NoRoom(
                f"all {reached.representatives:,} states were explored, but their graph takes {needed >> 20:,} MiB on the machine "
                f"{host}, which has {left >> 20:,} MiB left"
            )

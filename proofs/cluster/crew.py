"""The search's side of a cluster: a crew whose parts are workers, and what is known here of their parts."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from schedproof.model.errors import SchedproofError
from schedproof.model.lang import Property
from schedproof.proofs.compiled.layout import Words
from schedproof.proofs.compiled.part import MOST_STATES, Saved
from schedproof.proofs.compiled.quotient import quotient
from schedproof.proofs.compiled.search import MOST_LOST, Reached
from schedproof.proofs.compiled.steps import Program
from schedproof.proofs.exploration.explore import Halt, Progress
from schedproof.proofs.exploration.limits import Halted, LostWorker
from schedproof.proofs.exploration.liveness import Answer
from schedproof.proofs.exploration.symmetry import Symmetry

from .graph import ClusterGraph, NoRoom
from .halting import HaltedCalls
from .liveness import answer
from .load import Load, WorkerStanding
from .team import RemoteTeam, TaskHosts
from .worker import Tally, Task

AHEAD = 2
"""Turns of each worker that are under way: while it expands one, the buckets of the one before travel."""

AT_ONCE = 8 << 20
"""The words of a table that are fetched together."""

T = TypeVar("T")

Ref = Any
"""What stands for a result of a worker, until it is there."""


class ClusterError(SchedproofError):
    """A cluster cannot be started or joined, or its workers do not fit this process."""


class Hosts(TaskHosts, Protocol):
    """The processes of the workers; each has a :class:`.worker.Host`."""

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Ref]:
        """Calls a method, and returns at once. Each worker works through its calls in their order.

        Args:
            arguments: values, or results of other calls, which travel from worker to worker.
            returns: how many results the method returns.
        """

    def are_there(self, refs: Sequence[Ref], seconds: float) -> bool:
        """Waits for results or failures, for some seconds at most; returns whether all of them are there."""

    def results(self, refs: Sequence[Ref]) -> list[Any]:
        """Waits for results.

        Raises:
            LostWorker: a worker was lost.
            OSError, MemoryError: as the worker raised it.
        """

    def places(self) -> list[str]:
        """For each worker, its process and machine."""

    def replace_lost(self) -> None:
        """Starts a process in place of each that was lost.

        Raises:
            ClusterError: it does not start.
        """


class RemoteWorkers:
    """The workers of a cluster, for one search after the other.

    Args:
        hosts: their processes.
        on_loss: called with one line when a worker was lost and is replaced.
    """

    def __init__(self, hosts: Hosts, on_loss: Callable[[str], None] = lambda line: None) -> None:
        self._hosts, self._on_loss = hosts, on_loss
        self._numbers = count()
        self._ended: list[int] = []
        self._standings: Sequence[WorkerStanding] = ()

    @property
    def load(self) -> Load | None:
        """What the workers have done in the latest search; None before the first one."""
        return Load(self._standings, self._hosts.places()) if self._standings else None

    def _note(self, standings: Sequence[WorkerStanding]) -> None:
        self._standings = standings

    def __len__(self) -> int:
        return len(self._hosts)

    def crew(self, program: Program, symmetry: Symmetry | None, folder: Path | None, memory: int | None) -> ClusterCrew:
        """A crew for one search; arguments as for :class:`schedproof.proofs.compiled.crew.Workers`."""
        number = next(self._numbers)
        search = _Search(self._hosts, number)
        # Only noted: a finalizer may run at any time, also while Ray works.
        weakref.finalize(search, self._ended.append, number)
        tables = None if symmetry is None else quotient(symmetry, program.layout)
        folder = None if folder is None else folder.resolve()
        tasks = [Task(program.text, program.shape, len(self), me, tables, folder, memory) for me in range(len(self))]
        ended, self._ended[:] = list(self._ended), []
        return ClusterCrew(search, tasks, ended, self._on_loss, self._note)

    def each(self, function: Callable[[Any], T], task: Any) -> list[T]:
        """What a function answers to a task in every worker. If one is lost, it is replaced, and all are asked again.

        Raises:
            LostWorker: one was lost each of :data:`MOST_LOST` times.
            ClusterError: a worker does not start.
        """

        def ask() -> list[T]:
            return self._hosts.results([self._hosts.call(me, "perform", function, task)[0] for me in range(len(self))])

        for _ in range(MOST_LOST - 1):
            try:
                return ask()
            except LostWorker as error:
                self._on_loss(f"{error}: it is replaced, and all are asked again")
                self._hosts.replace_lost()
        return ask()

    def team(self, function: Callable[[Any], tuple[str, Any]], lost: str) -> RemoteTeam:
        """The workers as a team; arguments as for :class:`.team.RemoteTeam`."""
        return RemoteTeam(self._hosts, function, lost, self._on_loss)

    def graph(
        self, reached: Reached, anew: Callable[[], Reached] | None, progress: Progress | None, halt: Halt
    ) -> Answers | str:
        """See :class:`schedproof.proofs.compiled.shared.Cluster`."""
        answers = Answers(self, reached, anew, progress, halt)
        return answers.why_not() or answers

    def replace_lost(self, lost: LostWorker, search: int) -> None:
        """Replaces workers that were lost with the graph of a search. The next search frees what the others have of it.

        Raises:
            ClusterError: a worker does not start.
        """
        self._on_loss(f"{lost}: it is replaced, and the graph is made anew from the checkpoint")
        self._hosts.replace_lost()
        self._ended.append(search)


class Answers:
    """See :class:`schedproof.proofs.compiled.shared.SharedGraph`. After a loss the graph is made anew, if a checkpoint has its states.

    Args:
        workers: the workers that have the graph.
        reached: the complete exploration.
        anew: explores again, from the checkpoint; None if there is no checkpoint.
        progress: called regularly while the graph is made.
        halt: asked every second.
    """

    def __init__(
        self,
        workers: RemoteWorkers,
        reached: Reached,
        anew: Callable[[], Reached] | None,
        progress: Progress | None,
        halt: Halt,
    ) -> None:
        self._workers, self._anew, self._progress, self._halt = workers, anew, progress, halt
        self._reached, self._lost = reached, 0
        self._graph: ClusterGraph | None = None

    def why_not(self) -> str:
        """Makes the graph; returns why it cannot be made, or an empty text.

        Raises:
            LostWorker: a worker was lost, and no checkpoint has its states.
        """
        try:
            self._kept(lambda graph: None)
        except (NoRoom, Halted) as error:
            return str(error)
        return ""

    def answer(self, prop: Property) -> Answer:
        """See ``SharedGraph``.

        Raises:
            LostWorker: also if the graph no longer fits when it is made anew.
            Halted: the check was ended.
        """
        try:
            return self._kept(lambda graph: answer(graph, prop))
        except NoRoom as error:
            raise LostWorker(
                f"a worker was lost with its part of the graph, which cannot be made anew: {error}"
            ) from error

    def _kept(self, ask: Callable[[ClusterGraph], T]) -> T:
        """The result of a question to the graph, which is asked again after a loss."""
        while True:
            [search, *_] = [part.search for part in self._reached.parts if isinstance(part, RemotePart)]
            try:
                calls = HaltedCalls(search, self._halt)
                self._graph = self._graph or ClusterGraph(self._reached, calls, self._progress)
                return ask(self._graph)
            except LostWorker as lost:
                anew = self._renewal(lost)
                self._workers.replace_lost(lost, search.number)
                self._graph = None
                self._reached = anew()

    def _renewal(self, lost: LostWorker) -> Callable[[], Reached]:
        """The exploration after a loss.

        Raises:
            LostWorker: there is no checkpoint, or workers are lost again and again.
        """
        self._lost += 1
        if self._anew is None:
            raise LostWorker(
                f"{lost}, and with it its part of the graph; with --checkpoint DIRECTORY the graph is made anew after that"
            ) from lost
        if self._lost > MOST_LOST:
            raise LostWorker(
                f"{lost}, and this happened {self._lost} times while properties were checked; give each worker more memory, or "
                "choose a smaller scope"
            ) from lost
        return self._anew


@dataclass(frozen=True, eq=False)
class _Search:
    """One search on the workers. They free its states when nothing refers to this object any longer."""

    hosts: Hosts
    number: int

    def __len__(self) -> int:
        return len(self.hosts)

    def are_there(self, refs: Sequence[Ref], seconds: float) -> bool:
        """See ``Hosts``."""
        return self.hosts.are_there(refs, seconds)

    def results(self, refs: Sequence[Ref]) -> list[Any]:
        """See ``Hosts``."""
        return self.hosts.results(refs)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> list[Ref]:
        """Calls a method of the search's part in a worker."""
        return self.hosts.call(worker, "do", self.number, method, *arguments, returns=returns)

    def each(self, method: str) -> list[Any]:
        """The results of a method of all parts."""
        return self.hosts.results([ref for me in range(len(self.hosts)) for ref in self.call(me, method)])


@dataclass(frozen=True)
class RemotePart:
    """A part that a worker has: its numbers are here, its states are asked for."""

    search: _Search = field(repr=False)
    me: int
    tally: Tally
    traced: int = MOST_STATES

    @property
    def spilled(self) -> bool:
        """Whether some states are only in files."""
        return self.tally.spilled

    @property
    def count(self) -> int:
        """The number of states."""
        return self.tally.count

    @property
    def base(self) -> int:
        """The number of the first state of this depth."""
        return self.tally.base

    @property
    def size(self) -> int:
        """The number of states of this depth."""
        return self.tally.size

    @property
    def starts(self) -> Sequence[int]:
        """By depth, the number of the first state."""
        return self.tally.starts

    @property
    def totals(self) -> Sequence[int]:
        """The counts of represented states."""
        return self.tally.totals

    @property
    def seen(self) -> NDArray[np.int64]:
        """The notes of the program."""
        return self.tally.seen

    @property
    def memory(self) -> int:
        """Bytes of the worker's data that grow with the number of states."""
        return self.tally.memory

    def origin(self, place: int) -> tuple[int, int]:
        """The number of the predecessor of a state, and the number of the choice, by which it was found first."""
        [(parent, choice)] = self.search.hosts.results(self.search.call(self.me, "origin", place))
        return parent, choice

    def table(self) -> tuple[Words, int]:
        """A copy of the table, and its number of places."""
        hosts, call = self.search.hosts, self.search.call
        [(length, places)] = hosts.results(call(self.me, "table_size"))
        keys = np.empty(length, np.uint64)
        for first in range(0, length, AT_ONCE):
            last = min(first + AT_ONCE, length)
            [keys[first:last]] = hosts.results(call(self.me, "table_rows", first, last))
        return keys, places


class ClusterCrew:
    """See :class:`schedproof.proofs.compiled.crew.Crew`.

    Buckets travel from worker to worker. The search waits for the standings of the oldest turn only, so that a worker always has
    a turn to go on with.

    Args:
        search: the search.
        tasks: what each worker must know.
        ended: the numbers of searches whose states are no longer needed.
        on_loss: called with one line when a worker was lost and is replaced.
        on_load: called with the latest standings.
    """

    def __init__(
        self,
        search: _Search,
        tasks: Sequence[Task],
        ended: Sequence[int],
        on_loss: Callable[[str], None],
        on_load: Callable[[Sequence[WorkerStanding]], None],
    ) -> None:
        self._search, self._hosts, self._tasks, self._on_loss = search, search.hosts, tasks, on_loss
        self._on_load = on_load
        self._turns: deque[list[Ref]] = deque()
        self._moving: deque[list[list[Ref]]] = deque()
        self._open(ended)

    def _open(self, ended: Sequence[int]) -> None:
        number = self._search.number
        refs = [self._hosts.call(me, "open", number, task, ended)[0] for me, task in enumerate(self._tasks)]
        self._hosts.results(refs)

    def begin(self, home: int, value: int, state: Words) -> None:
        """See ``Crew``."""
        self._hosts.results(self._search.call(home, "begin", value, state))

    def expand(self, states: int) -> list[WorkerStanding]:
        """See ``Crew``."""
        while len(self._turns) < AHEAD:
            self._submit(states)
        return self._noted(self._hosts.results(self._turns.popleft()))

    def _noted(self, standings: list[WorkerStanding]) -> list[WorkerStanding]:
        self._on_load(standings)
        return standings

    def _submit(self, states: int) -> None:
        """Begins one more turn of all workers, with the buckets of the turn that has been waited for."""
        everyone = range(len(self._tasks))
        arrived = self._moving.popleft() if len(self._moving) >= AHEAD else [[] for _ in everyone]
        returns = len(self._tasks) + 1
        rows = [self._search.call(me, "expand", states, *arrived[me], returns=returns) for me in everyone]
        self._turns.append([row[-1] for row in rows])
        self._moving.append([[rows[other][me] for other in everyone if other != me] for me in everyone])

    def settle(self) -> None:
        """See ``Crew``."""
        while self._turns:
            self._hosts.results(self._turns.popleft())
        everyone = range(len(self._tasks))
        left = [[ref for turn in self._moving for ref in turn[me]] for me in everyone]
        self._moving.clear()
        self._hosts.results([ref for me in everyone for ref in self._search.call(me, "settle", *left[me])])

    def deepen(self) -> list[WorkerStanding]:
        """See ``Crew``."""
        return self._noted(self._search.each("deepen"))

    def known(self) -> Sequence[RemotePart]:
        """See ``Crew``."""
        return [RemotePart(self._search, me, tally) for me, tally in enumerate(self._search.each("tally"))]

    def save(self) -> list[Saved]:
        """See ``Crew``."""
        return self._search.each("save")

    def restore(self, saved: Sequence[Saved]) -> list[WorkerStanding]:
        """See ``Crew``."""
        refs = [ref for me, was in enumerate(saved) for ref in self._search.call(me, "restore", was)]
        return self._hosts.results(refs)

    def renew(self, lost: Exception) -> None:
        """See ``Crew``. Also the workers that are left begin anew: they may have states of the lost one's last turns."""
        self._turns.clear()
        self._moving.clear()
        self._on_loss(f"{lost}: it is replaced, and the search goes on from the last checkpoint")
        self._hosts.replace_lost()
        self._open(())

    def end(self, *, stopped: bool) -> None:
        """See ``Crew``."""
        self._turns.clear()
        self._moving.clear()
        if stopped:
            self._search.each("drop_uncompared")

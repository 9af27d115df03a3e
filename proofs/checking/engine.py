"""The choice of the engine for an exploration: interpreted, which starts at once, or compiled first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from schedproof.model.errors import require, require_function
from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Property
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.semantics import Instance
from schedproof.proofs.exploration import liveness
from schedproof.proofs.exploration.explore import AT_LIMIT, Exploration, ExplorationResult, Halt, Progress, explore
from schedproof.proofs.exploration.fairness import creating
from schedproof.proofs.exploration.limits import Enough, Saving, TooWide, room
from schedproof.proofs.exploration.safety import Watch, watch

if TYPE_CHECKING:
    from schedproof.proofs.compiled import Graph, Reached
    from schedproof.proofs.compiled.histories import Histories
    from schedproof.proofs.compiled.shared import Cluster, SharedGraph
    from schedproof.proofs.compiled.steps import Program

PAYS = 5_000
"""Compile for more states than this: compiling takes about half a second, in which the interpreted engine explores as many."""

CHECKED_IN_A_STEP = 10
"""The number of properties that the interpreted engine checks in the time of one step."""

MOST_INTERPRETED, MOST_COMPILED = 1_000_000, 50_000_000
"""Numbers of states that fit into an ordinary machine's memory, with room to spare."""

GATHERED = 4 << 30
"""Bytes of a graph that this process makes of the states of a cluster; the workers keep a larger one."""

A = TypeVar("A")
B = TypeVar("B")


class Engine(StrEnum):
    """The program that explores states."""

    AUTO = "auto"
    """Starts interpreted, and compiles if there are more than about 5,000 states."""
    INTERPRETED = "interpreted"
    """Python that evaluates the model's terms."""
    COMPILED = "compiled"
    """Compiled code that is made from the model."""


@dataclass(frozen=True)
class Exploring:
    """How to explore instances, and how far.

    Args:
        engine: AUTO starts interpreted, and compiles if there are more than about 5,000 states.
        symmetry: explore interchangeable objects once, where only safety is checked.
        crash: take crash actions.
        max_states: stop once there are this many states; the states that are begun then are finished, so there may be more.
        threads: of the compiled engine.
        memory: bytes that the process may use, or each of the ``workers``; the compiled engine moves states that do not fit
            to files.
        checkpoint: where to save checkpoints, to continue from there later; AUTO then uses the compiled engine.
        halt: called regularly; stops the exploration if it returns a reason.
        progress: called regularly with the numbers of states found, of states explored, and of the depth.
        workers: processes of a cluster that explore instead of this one, with the compiled engine.

    Raises:
        ArgumentError: an argument has the wrong type.
        UserError: the engine is unknown, or a number is below 1.
    """

    engine: Engine = Engine.AUTO
    symmetry: bool = True
    crash: bool = True
    max_states: int | None = None
    threads: int = 1
    memory: int | None = None
    checkpoint: Saving | None = None
    halt: Halt | None = None
    progress: Progress | None = None
    workers: Cluster | None = None

    def __post_init__(self) -> None:
        if self.engine not in list(Engine):
            raise unknown("engine", str(self.engine), list(Engine))
        object.__setattr__(self, "engine", Engine(self.engine))
        for name in ("max_states", "threads", "memory"):
            number = getattr(self, name)
            if name == "threads" or number is not None:
                require(name, number, int, f"a whole number from 1, for example {name}=2")
                if number < 1:
                    raise UserError(f"{name} is {number}, and nothing could be explored; write a number from 1")
        for name in ("symmetry", "crash"):
            require(name, getattr(self, name), bool, "True or False")
        for name, example in (("halt", "halt=lambda: ''"), ("progress", "progress=print")):
            require_function(name, getattr(self, name), example)
        if self.checkpoint is not None:
            require("checkpoint", self.checkpoint, Saving, "Saving(Path('folder'))")

    def watch(
        self,
        instance: Instance,
        props: Sequence[Property],
        enough: Enough | None = None,
        states: int = 0,
        record: bool = False,
        histories: Callable[[], Histories | None] = lambda: None,
    ) -> tuple[Exploration | Reached, list[Watch]]:
        """Explores an instance, and checks safety properties on it.

        Args:
            enough: when the search may stop early, because the number of states is not needed.
            states: the expected number of states.
            record: the full graph is needed afterwards, so a compiled search records its edges if it can.
            histories: gives the points of history to follow on these edges.

        Returns:
            The exploration, and each property with its checked conditions.

        Raises:
            TooWide: the compiled engine is required, and the instance is too large for it.
            CheckpointError: a checkpoint cannot be written, is damaged or belongs to something else.
        """

        def interpreted(limit: int | None, total_limit: int | None) -> tuple[Exploration, list[Watch]]:
            return watch(
                instance,
                props,
                symmetry=self.symmetry,
                crash=self.crash,
                limit=limit,
                total_limit=total_limit,
                halt=self._halt,
                progress=self.progress,
                enough=enough,
            )

        def compiled() -> tuple[Reached, list[Watch]]:
            from schedproof.proofs import compiled  # loading takes half a second, and is seldom needed

            return compiled.watch(
                instance,
                props,
                symmetry=self.symmetry,
                crash=self.crash,
                threads=self.threads,
                workers=self.workers,
                limit=self.max_states,
                memory=self._room(),
                saving=self.checkpoint,
                halt=self._halt,
                progress=self.progress,
                enough=enough,
                record=record,
                histories=histories() if record and not self.symmetry else None,
            )

        pays = PAYS * CHECKED_IN_A_STEP // (CHECKED_IN_A_STEP + len(props))
        return self._either(interpreted, compiled, lambda watched: watched[0].stopped, states=states, pays=pays)

    def graph(
        self,
        instance: Instance,
        known: ExplorationResult | None = None,
        states: int = 0,
        code: Program | None = None,
        histories: Callable[[int], Histories | None] = lambda _: None,
    ) -> tuple[ExplorationResult, Exploration | Graph | SharedGraph | str]:
        """Explores an instance in full.

        Args:
            known: an exploration by :meth:`watch` without symmetry, to continue from.
            states: the least number of states; 0 if it is unknown.
            code: compiled steps of the instance, with any checks.
            histories: gives the points of history to follow on a compiled graph with so many states.

        Returns:
            The exploration, and the full graph or the reason why there is none.

        Raises:
            TooWide, CheckpointError: as for :meth:`watch`.
        """

        def interpreted(limit: int | None, total_limit: int | None) -> Exploration:
            return explore(
                instance,
                symmetry=False,
                crash=self.crash,
                limit=limit,
                total_limit=total_limit,
                halt=self._halt,
                progress=self.progress,
            )

        shared = code if self.checkpoint is None else None

        def compiled(code: Program | None = None) -> Reached:
            from schedproof.proofs import compiled

            return compiled.explore(
                instance,
                crash=self.crash,
                threads=self.threads,
                workers=self.workers,
                limit=self.max_states,
                memory=self._room(),
                saving=self.checkpoint,
                halt=self._halt,
                progress=self.progress,
                traced=0,  # the graph records predecessors itself
                code=code or (shared if states <= compiled.CHECKED_AGAIN else None),
                record=True,
                histories=histories(states or MOST_COMPILED),
            )

        if known is None:
            known = self._either(interpreted, compiled, lambda explored: explored.stopped, states=states)
        if not known.complete:
            return known, stopped(known)
        if why := self._halt():
            return known, why
        if isinstance(known, Exploration):
            return known, known
        from schedproof.proofs.compiled import Reached, graph_of, memory_of

        assert isinstance(known, Reached)
        if self.workers is not None and not known.in_memory:
            return known, (
                f"all {known.representatives:,} states were explored, but the full graph needs them in memory, and some are in "
                "files; give each worker more memory, or add workers"
            )
        if self.workers is not None and memory_of(known) > GATHERED:
            if known.frontier_count:
                return known, (
                    "the workers of a cluster keep a graph without the steps beyond the bounds of integers; give smaller bounds"
                )
            # Its workers follow no points of history: the properties that read one are checked on slices.
            anew = partial(compiled, code=known.program) if self.checkpoint is not None else None
            return known, self.workers.graph(known, anew, self.progress, self._halt)
        if self._is_too_much(known):
            assert self.memory is not None
            return (
                known,
                f"checking properties that need the full graph takes more than {self.memory >> 20} MiB of memory",
            )
        points = histories(known.representatives)
        if points is not None and self._is_too_much(known, points):
            points = None  # a search of their slices may take less
        return known, graph_of(known, self.progress, points)

    def _is_too_much(self, known: Reached, points: Histories | None = None) -> bool:
        """Whether a graph of an exploration, with points of history, takes more memory than this process has for it."""
        from schedproof.proofs.compiled import memory_of

        if self.workers is not None:
            return memory_of(known, points) > GATHERED
        if self.memory is None:
            return False
        return not known.in_memory or _used() + memory_of(known, points) > self.memory

    def _halt(self) -> str:
        if self.memory is not None and self.workers is None and _used() > self.memory:
            return f"stopped at the limit of {self.memory >> 20} MiB of memory"
        return self.halt() if self.halt is not None else ""

    def _room(self) -> int | None:
        """Bytes that compiled states may use; with a cluster, those of each worker, which knows what else it uses."""
        if self.memory is None or self.workers is not None:
            return self.memory
        return room(self.memory, _used())

    def _either(
        self,
        interpreted: Callable[[int | None, int | None], A],
        compiled: Callable[[], B],
        stopped: Callable[[A], str],
        *,
        states: int = 0,
        pays: int = PAYS,
    ) -> A | B:
        """The result of the chosen engine for an instance with about ``states`` states.

        Args:
            pays: compile for more states than this.
        """
        if self.engine is Engine.INTERPRETED:
            return interpreted(self.max_states, None)
        if self.engine is Engine.COMPILED or self.checkpoint is not None or self.workers is not None:
            return compiled()
        if self.max_states is not None and self.max_states <= pays:
            return interpreted(self.max_states, None)
        if states <= pays:
            result = interpreted(self.max_states, pays)
            if stopped(result) != AT_LIMIT:
                return result
        try:
            return compiled()
        except TooWide:
            return interpreted(min(self.max_states or MOST_INTERPRETED, MOST_INTERPRETED), None)


def _used() -> int:
    """Bytes of memory that the process uses."""
    import psutil  # only needed for a memory limit, which most explorations lack

    return int(psutil.Process().memory_info().rss)


def code_of(result: ExplorationResult) -> Program | None:
    """The compiled steps of an exploration; None if it was interpreted."""
    return None if isinstance(result, Exploration) else getattr(result, "program", None)


def stopped(result: ExplorationResult) -> str:
    """Why an exploration stopped, and after how many states."""
    states = "1 state" if result.representatives == 1 else f"{result.representatives} states"
    return f"{result.stopped} after {states}"


def prepare(graph: Exploration | Graph | SharedGraph, props: Sequence[Property]) -> None:
    """Prepares a graph for the verdicts of :func:`answer` on several properties."""
    if not isinstance(graph, Exploration):
        from schedproof.proofs import compiled

        if isinstance(graph, compiled.Graph):
            compiled.liveness.prepare(graph, props)


def answer(instance: Instance, graph: Exploration | Graph | SharedGraph, prop: Property) -> liveness.Answer:
    """The verdict of the full graph on a liveness property.

    Raises:
        Undefined: the property reads an attribute of NONE.
    """
    if isinstance(graph, Exploration):
        match prop:
            case LifeCycle():
                return liveness.life_cycle(graph.instance, graph, prop)
            case AlwaysCanReach():
                return liveness.always_can_reach(graph.instance, graph, prop)
            case LeadsTo():
                return liveness.leads_to(graph.instance, graph, prop)
    else:
        from schedproof.proofs import compiled

        if not isinstance(graph, compiled.Graph):
            if isinstance(prop, LeadsTo) and (names := creating(instance.model, prop)):
                # Its workers count each choice for itself: runs that are unfair would be fair.
                return liveness.Open(
                    f"the workers of a cluster check no fairness of {names[0]}, which creates objects; check it without --cluster"
                )
            return graph.answer(prop)
        match prop:
            case LifeCycle():
                return compiled.liveness.life_cycle(graph, prop)
            case AlwaysCanReach():
                return compiled.liveness.always_can_reach(graph, prop)
            case LeadsTo():
                return compiled.liveness.leads_to(graph, prop)
    raise AssertionError(f"no way to check a {type(prop).__name__}")

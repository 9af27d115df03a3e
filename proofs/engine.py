"""Which of the explorations does the work: the interpreted one at once, or the one that is compiled first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from schedproof.model.lang import AlwaysCanReach, LeadsTo, LifeCycle, Property
from schedproof.model.semantics import Instance, ScopeError

from . import liveness
from .explore import Exploration, Found, Progress, explore
from .safety import Watch, watch

if TYPE_CHECKING:
    from .compiled import Graph, Reached

PAYS = 20_000
"""For more states than so many it compiles: that takes a second or several, in which the interpreted exploration goes so far."""

MOST_INTERPRETED, MOST_COMPILED = 1_000_000, 50_000_000
"""States that fit into the memory of an ordinary machine, with room to spare."""

A = TypeVar("A")
B = TypeVar("B")


class TooWide(ScopeError):
    """More choices, greater numbers or more symmetry than compiled code can tell apart."""


class Engine(StrEnum):
    """How states are explored."""

    AUTO = "auto"
    INTERPRETED = "interpreted"
    COMPILED = "compiled"


@dataclass(frozen=True)
class Exploring:
    """How, and how far, instances are explored.

    Args:
        engine: AUTO begins interpreted, and compiles where there are more than ``PAYS`` states.
        symmetry: explore interchangeable objects once, where only safety is judged.
        crash: take crash actions.
        limit: stop after this many states.
        threads: of the compiled exploration.
    """

    engine: Engine = Engine.AUTO
    symmetry: bool = True
    crash: bool = True
    limit: int | None = None
    threads: int = 1
    progress: Progress | None = None

    def watch(self, instance: Instance, props: Sequence[Property]) -> tuple[Exploration | Reached, list[Watch]]:
        """Explores an instance, and judges safety properties on it.

        Raises:
            TooWide: it is to be compiled, and cannot be.
        """

        def interpreted(limit: int | None, total_limit: int | None) -> tuple[Exploration, list[Watch]]:
            return watch(
                instance,
                props,
                symmetry=self.symmetry,
                crash=self.crash,
                limit=limit,
                total_limit=total_limit,
                progress=self.progress,
            )

        def compiled() -> tuple[Reached, list[Watch]]:
            from . import compiled  # it takes half a second, and is seldom needed

            return compiled.watch(
                instance,
                props,
                symmetry=self.symmetry,
                crash=self.crash,
                threads=self.threads,
                limit=self.limit,
                progress=self.progress,
            )

        return self._either(interpreted, compiled, lambda found: found[0].complete)

    def graph(self, instance: Instance, known: Found | None = None) -> tuple[Found, Exploration | Graph | None]:
        """Explores an instance in full, and gives all its states and edges; None if there are more than the limit.

        Args:
            known: what :meth:`watch` has found, to go on from.

        Raises:
            TooWide: it is to be compiled, and cannot be.
        """

        def interpreted(limit: int | None, total_limit: int | None) -> Exploration:
            return explore(
                instance,
                symmetry=False,
                crash=self.crash,
                limit=limit,
                total_limit=total_limit,
                progress=self.progress,
            )

        def compiled() -> Reached:
            from . import compiled

            return compiled.explore(
                instance, crash=self.crash, threads=self.threads, limit=self.limit, progress=self.progress
            )

        if known is None or known.symmetry is not None:
            states = known.state_count if known is not None else 0
            known = self._either(interpreted, compiled, lambda found: found.complete, states)
        if not known.complete:
            return known, None
        if isinstance(known, Exploration):
            return known, known
        from .compiled import Reached, graph_of

        assert isinstance(known, Reached)
        return known, graph_of(known, self.progress)

    def _either(
        self,
        interpreted: Callable[[int | None, int | None], A],
        compiled: Callable[[], B],
        complete: Callable[[A], bool],
        states: int = 0,
    ) -> A | B:
        """What the engine that was chosen finds, where there are surely so many ``states``."""
        if self.engine is Engine.INTERPRETED:
            return interpreted(self.limit, None)
        if self.engine is Engine.COMPILED:
            return compiled()
        if self.limit is not None and self.limit <= PAYS:
            return interpreted(self.limit, None)
        if states <= PAYS:
            found = interpreted(self.limit, PAYS)
            if complete(found):
                return found
        try:
            return compiled()
        except TooWide:
            return interpreted(min(self.limit or MOST_INTERPRETED, MOST_INTERPRETED), None)


def answer(graph: Exploration | Graph, prop: Property) -> liveness.Answer:
    """What a graph says of a property of whole runs.

    Raises:
        Undefined: it reads an attribute of no object.
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
        from .compiled import liveness as compiled

        match prop:
            case LifeCycle():
                return compiled.life_cycle(graph, prop)
            case AlwaysCanReach():
                return compiled.always_can_reach(graph, prop)
            case LeadsTo():
                return compiled.leads_to(graph, prop)
    raise AssertionError(f"no way to judge a {type(prop).__name__}")

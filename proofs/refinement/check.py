"""Whether scheduler and model are the same graph."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...impl.hived import GroupSpec, InMemoryStore, Scheduler
from ...model.hived import REPAIRED
from ...model.semantics import Instance, check_scope
from .abstraction import Abstraction
from .compare import never_taken, no_longer_possible, silent_for_ever
from .explore import SILENT, Exploration, Progress, Stopped
from .mismatch import Mismatch
from .modelside import ModelGraph
from .runner import Runner, SchedulerFactory, StoreFactory, operations


@dataclass(frozen=True)
class RefinementReport:
    """The outcome of :func:`check_refinement`.

    States and edges of the implementation are those explored until the end, or until the first
    mismatch. ``crash_points`` counts every point of every operation explored at which the process
    was killed; points of different operations can be the same state.
    """

    scope: Mapping[str, int]
    pods_per_group: int
    mismatch: Mismatch | None
    states: int
    states_by_kind: Mapping[str, int]
    edges: int
    silent_edges: int
    crash_points: int
    model_states: int
    model_states_covered: int
    model_edges: int
    model_edges_covered: int
    seconds: float

    @property
    def ok(self) -> bool:
        """The two graphs are the same under the abstraction function."""
        return self.mismatch is None

    @property
    def text(self) -> str:
        """The report for a reader."""
        scope = ", ".join(f"{sort}={n}" for sort, n in self.scope.items())
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.states_by_kind.items())
        lines = [
            f"scheduler and model {'are the same graph' if self.ok else 'DIFFER'} at {scope}, {self.pods_per_group} pods per group",
            f"scheduler: {self.states} states ({kinds}), {self.edges} edges ({self.silent_edges} silent), "
            f"{self.crash_points} crash points",
            f"model: {self.model_states_covered} of {self.model_states} states and "
            f"{self.model_edges_covered} of {self.model_edges} edges covered ({self.seconds:.1f} s)",
        ]
        return "\n".join([*lines, *([self.mismatch.text] if self.mismatch else [])])


def check_refinement(
    scope: Mapping[str, int],
    scheduler_factory: SchedulerFactory = Scheduler,
    pods_per_group: int = 2,
    *,
    store_factory: StoreFactory = InMemoryStore,
    priorities: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> RefinementReport:
    """Explores the scheduler and the model's ``repaired`` variant and compares the two graphs.

    The labelled edges of the implementation must be exactly the model's reachable edges, silent
    edges must not go on for ever, and from every state of the implementation, after silent edges
    only, every step of its image must be possible.

    Args:
        scope: the number of objects of each sort.
        scheduler_factory: what to explore; called as ``Scheduler`` is.
        pods_per_group: how many pods each group has.
        store_factory: the store that it writes to.
        priorities: of each group; by default different ones, group i outranks group j when i > j.
        progress: called now and then with the numbers of states and edges found.

    Raises:
        ScopeError: an unknown sort, or an impossible number of objects.
        ValueError: no pods, or not one priority for each group.
    """
    started = time.perf_counter()
    exploration = side_by_side(
        scope, scheduler_factory, pods_per_group, store_factory=store_factory, priorities=priorities, progress=progress
    )
    model = exploration.model
    try:
        exploration.explore()
        mismatch = silent_for_ever(exploration) or no_longer_possible(exploration) or never_taken(exploration)
    except Stopped as stopped:
        mismatch = stopped.mismatch
    kinds = exploration.kinds
    return RefinementReport(
        scope=model.instance.sizes,
        pods_per_group=pods_per_group,
        mismatch=mismatch,
        states=len(kinds),
        states_by_kind={kind: kinds.count(kind) for kind in ("idle", "busy", "down", "recovering")},
        edges=exploration.graph.number_of_edges(),
        silent_edges=sum(1 for *_, label in exploration.graph.edges(keys=True) if label == SILENT),
        crash_points=exploration.crash_points,
        model_states=len(model.steps),
        model_states_covered=len(set(exploration.images) & model.steps.keys()),
        model_edges=sum(len(steps) for steps in model.steps.values()),
        model_edges_covered=len(exploration.covered),
        seconds=time.perf_counter() - started,
    )


def side_by_side(
    scope: Mapping[str, int],
    scheduler_factory: SchedulerFactory = Scheduler,
    pods_per_group: int = 2,
    *,
    store_factory: StoreFactory = InMemoryStore,
    priorities: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Exploration:
    """The exploration of :func:`check_refinement`, same arguments and errors, before it begins."""
    sizes = check_scope(REPAIRED, scope)
    if pods_per_group < 1:
        raise ValueError(f"a group needs at least one pod, not {pods_per_group}")
    ranks = list(range(sizes["PodGroup"])) if priorities is None else list(priorities)
    if len(ranks) != sizes["PodGroup"]:
        raise ValueError(f"{len(ranks)} priorities for {sizes['PodGroup']} groups; give one for each")
    outranks = [frozenset(j for j, other in enumerate(ranks) if other < mine) for mine in ranks]
    instance = Instance(REPAIRED, sizes, {("PodGroup", "outranks"): outranks}, with_history=True)
    pods = tuple(f"p{i}" for i in range(pods_per_group))
    names = instance.object_names("PodGroup")
    specs = [GroupSpec(name, rank, pods) for name, rank in zip(names, ranks, strict=True)]
    cells = list(instance.object_names("Cell"))
    runner = Runner(scheduler_factory, store_factory, cells)
    model = ModelGraph.explore(instance)
    return Exploration(runner, operations(specs, cells), Abstraction(instance, specs), model, progress)

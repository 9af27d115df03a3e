"""Checks that HiveD's scheduler and its model have the same graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.impl.systems.hived import GroupSpec, InMemoryStore, Scheduler
from schedproof.model.semantics import Instance, check_scope
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.report import RefinementReport, compared

from .abstraction import Abstraction
from .explore import Exploration
from .runner import Runner, SchedulerFactory, StoreFactory, operations


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

    Three conditions are checked:

    1. The labelled edges of the implementation are exactly the model's reachable edges.
    2. There is no infinite path of silent edges.
    3. From every state of the implementation, every step of its image is possible after silent edges only.

    Args:
        scope: the number of objects of each sort.
        scheduler_factory: returns the scheduler to explore; called as ``Scheduler`` is.
        pods_per_group: the number of pods of each group.
        store_factory: returns the store to which the scheduler writes.
        priorities: one for each group. By default they differ: group i outranks group j when i > j.
        progress: is called now and then with the numbers of explored states and edges.

    Raises:
        ScopeError: a sort is unknown, or a number of objects is impossible.
        ValueError: there are no pods, or not one priority for each group.
    """

    def begin() -> Exploration:
        return side_by_side(
            scope,
            scheduler_factory,
            pods_per_group,
            store_factory=store_factory,
            priorities=priorities,
            progress=progress,
        )

    return compared(begin, f"{pods_per_group} pods per group")


def side_by_side(
    scope: Mapping[str, int],
    scheduler_factory: SchedulerFactory = Scheduler,
    pods_per_group: int = 2,
    *,
    store_factory: StoreFactory = InMemoryStore,
    priorities: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Exploration:
    """Returns the exploration of :func:`check_refinement`, before it begins. Arguments and errors are the same."""
    sizes = check_scope(REPAIRED, scope)
    if pods_per_group < 1:
        raise ValueError(f"a group needs at least one pod, not {pods_per_group}")
    ranks = list(range(sizes["PodGroup"])) if priorities is None else list(priorities)
    if len(ranks) != sizes["PodGroup"]:
        raise ValueError(f"{len(ranks)} priorities for {sizes['PodGroup']} groups; give one for each")
    outranks = [frozenset(j for j, other in enumerate(ranks) if other < own_rank) for own_rank in ranks]
    instance = Instance(REPAIRED, sizes, {("PodGroup", "outranks"): outranks}, with_history=True)
    pods = tuple(f"p{i}" for i in range(pods_per_group))
    names = instance.object_names("PodGroup")
    specs = [GroupSpec(name, rank, pods) for name, rank in zip(names, ranks, strict=True)]
    cells = list(instance.object_names("Cell"))
    runner = Runner(scheduler_factory, store_factory, cells)
    model = ModelGraph.explore(instance)
    return Exploration(runner, operations(specs, cells), Abstraction(instance, specs), model, progress)

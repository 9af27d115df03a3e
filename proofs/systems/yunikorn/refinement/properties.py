"""The configurations in which the reference core, and core and shim together, are checked against their models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.model.systems.yunikorn import configurations as yunikorn
from schedproof.model.systems.yunikorn.channel import OF_NODES
from schedproof.model.systems.yunikorn.components import Shim
from schedproof.proofs.refinement.property import Progress, Refinement, Report

from .core_and_shim.moves import May


@dataclass(frozen=True, kw_only=True)
class YunikornRefinement(Refinement):
    """YuniKorn's core in one configuration."""

    configuration: yunikorn.Configuration

    def check(self, progress: Progress | None = None) -> Report:
        """Explores core and model, and compares the graphs."""
        from .check import check_refinement  # imported here: a list of properties needs no scheduler

        return check_refinement(self.configuration, progress=progress)


@dataclass(frozen=True, kw_only=True)
class ComponentsRefinement(Refinement):
    """YuniKorn's core and shim in one configuration: each of their moves is steps of the model."""

    configuration: yunikorn.Configuration
    may: May

    def check(self, progress: Progress | None = None) -> Report:
        """Explores core and shim, and searches for the model's steps."""
        from .core_and_shim.check import check_simulation

        return check_simulation(self.configuration, self.may, progress=progress)


def _yunikorn(name: str, configuration: yunikorn.Configuration) -> Refinement:
    says = (
        "the reference core, killed at any point and rebuilt by the resource manager, takes exactly the model's steps "
        f"({configuration.about})"
    )
    rigid = configuration.rigid(shipped=True)
    return YunikornRefinement(
        name=f"core-refines-model-{name}",
        variant="repaired",
        says=says,
        scope={sort: len(values) for (sort, _), values in rigid.items() if values},
        configuration=configuration,
    )


def _components(
    name: str, about: str, may: May, asks: str = "", people: Sequence[str] = (), *, nodes: bool = False
) -> Refinement:
    kinds = OF_NODES if nodes else yunikorn.WORK
    configuration = yunikorn.Configuration(
        about,
        [(asks, "Soft")] if asks else [],
        wakeups=1 if asks else 0,
        adjustable_nodes=nodes,
        people=people,
        shim=Shim(kinds=kinds, scheduler=True, mortal=True, troubled=True),
    )
    rigid = configuration.rigid(shipped=True)
    return ComponentsRefinement(
        name=f"core-and-shim-refine-model-{name}",
        variant="parties-repaired",
        says=f"whatever the reference core and shim do is steps of the model ({about})",
        scope={sort: len(values) for (sort, _), values in rigid.items() if values},
        configuration=configuration,
        may=may,
    )


REFINEMENTS = [
    _yunikorn("asks", yunikorn.Configuration("an application with two asks", [("rr", "Soft")])),
    _yunikorn("hard-gang", yunikorn.Configuration("a hard gang of one with a real ask", [("pr", "Hard")])),
    _yunikorn(
        "soft-gang",
        yunikorn.Configuration(
            "a soft gang of one with a real ask; the partition is removed", [("pr", "Soft")], people=["partition"]
        ),
    ),
    _yunikorn(
        "queues",
        yunikorn.Configuration(
            "queues are stopped, started and removed", [("r", "Soft")], queues=[None, 0], people=["queues"]
        ),
    ),
    _yunikorn(
        "nodes",
        yunikorn.Configuration(
            "two nodes are drained, restored and taken away", [("r", "Soft")], adjustable_nodes=True, nodes=2
        ),
    ),
    _components("ask", "an ask, event by event; the shim dies", May(crashes=1), "r"),
    _components("gang", "a gang of one with a real ask", May(shim_first=True), "pr"),
    _components("partition", "an ask; the partition is removed", May(shim_first=True), "r", ["partition"]),
    _components("node", "a node is cordoned and removed; the shim dies", May(nodes=True, crashes=1), nodes=True),
]

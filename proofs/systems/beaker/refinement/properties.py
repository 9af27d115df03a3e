"""The configurations in which Beaker's reference scheduler is explored beside its model."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.model.systems.beaker.configurations import Configuration
from schedproof.proofs.refinement.property import Progress, Refinement, Report


@dataclass(frozen=True, kw_only=True)
class BeakerRefinement(Refinement):
    """The refinement of Beaker's scheduler in one configuration."""

    configuration: Configuration

    def check(self, progress: Progress | None = None) -> Report:
        """Explores the scheduler and the model, and compares them."""
        from .check import check_refinement  # imported here: listing the properties needs no scheduler

        return check_refinement(self.configuration, progress=progress)


def _refinement(name: str, configuration: Configuration) -> Refinement:
    says = f"the reference scheduler, killed at any point, takes exactly the model's steps ({configuration.about})"
    return BeakerRefinement(
        name=f"scheduler-refines-model-{name}",
        variant="repaired",
        says=says,
        scope=configuration.sizes,
        configuration=configuration,
    )


REFINEMENTS = [
    _refinement("one-recipe", Configuration("one recipe; people do what they can", [["A"]], [0], [0], [0], [0])),
    _refinement("guest", Configuration("a host with its guest, and a sibling", [["A", 0, "B"]], [0, 0], [0])),
    _refinement(
        "two-labs",
        Configuration("a set of two and two labs; a condition changes", [["AC", "AB"]], [0, 0, 1], [], [], [1]),
    ),
    _refinement(
        "two-sets",
        Configuration(
            "two sets of two need the same two systems; a priority changes",
            [["A", "B"], ["A", "B"]],
            [0, 0],
            [],
            [0],
        ),
    ),
]

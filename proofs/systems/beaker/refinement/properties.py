"""In which situations Beaker's reference scheduler is explored beside its model."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.model.systems.beaker.situations import Situation
from schedproof.proofs.refinement.property import Progress, Refinement, Report


@dataclass(frozen=True, kw_only=True)
class BeakerRefinement(Refinement):
    """Beaker's scheduler in one situation."""

    situation: Situation

    def check(self, progress: Progress | None = None) -> Report:
        """Explores both."""
        from .check import check_refinement  # a list of properties needs no scheduler

        return check_refinement(self.situation, progress=progress)


def _refinement(name: str, situation: Situation) -> Refinement:
    says = f"the reference scheduler, killed at any point, takes exactly the model's steps ({situation.about})"
    return BeakerRefinement(
        name=f"scheduler-refines-model-{name}",
        variant="repaired",
        says=says,
        scope=situation.sizes,
        situation=situation,
    )


REFINEMENTS = [
    _refinement("one-recipe", Situation("one recipe; people do what they can", [["A"]], [0], [0], [0], [0])),
    _refinement("guest", Situation("a host with its guest, and a sibling", [["A", 0, "B"]], [0, 0], [0])),
    _refinement(
        "two-labs",
        Situation("a set of two and two labs; a condition changes", [["AC", "AB"]], [0, 0, 1], [], [], [1]),
    ),
    _refinement(
        "two-sets",
        Situation(
            "two sets of two need the same two systems; a priority changes",
            [["A", "B"], ["A", "B"]],
            [0, 0],
            [],
            [0],
        ),
    ),
]

"""The scopes at which HiveD's reference scheduler is explored beside its model."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.proofs.refinement.property import Progress, Refinement, Report


@dataclass(frozen=True, kw_only=True)
class HivedRefinement(Refinement):
    """The refinement of HiveD's scheduler, with ``pods`` pods a group."""

    pods: int

    def check(self, progress: Progress | None = None) -> Report:
        """Explores the scheduler and the model, and compares them."""
        from .check import check_refinement  # imported here: listing the properties needs no scheduler

        return check_refinement(self.scope, pods_per_group=self.pods, progress=progress)


def _refinement(name: str, groups: int, cells: int, pods: int) -> HivedRefinement:
    says = (
        "the reference scheduler, killed at any point and recovered, takes exactly the model's steps "
        f"({pods} pod{'s' * (pods > 1)} a group)"
    )
    scope = {"PodGroup": groups, "Cell": cells}
    return HivedRefinement(name=name, variant="repaired", says=says, scope=scope, pods=pods)


REFINEMENTS = [
    _refinement("scheduler-refines-model", 2, 3, 2),
    # A victim that is freed while other groups are still preempted occurs only with four groups or more.
    _refinement("scheduler-refines-model-at-four-groups", 4, 2, 1),
]

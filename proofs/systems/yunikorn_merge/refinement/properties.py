"""In which situations YuniKorn's merged reference scheduler is explored beside its model."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.model.systems.yunikorn_merge.merged_situations import MERGED_SITUATIONS, MergedSituation
from schedproof.proofs.refinement.property import Progress, Refinement, Report


@dataclass(frozen=True, kw_only=True)
class MergedRefinement(Refinement):
    """YuniKorn's merged scheduler in one situation."""

    situation: MergedSituation

    def check(self, progress: Progress | None = None) -> Report:
        """Explores both."""
        from .check import check_refinement  # a list of properties needs no scheduler

        return check_refinement(self.situation, progress=progress)


def _refinement(situation: MergedSituation) -> Refinement:
    return MergedRefinement(
        name=f"scheduler-refines-model-{'-'.join(situation.about.replace(',', '').split())}",
        variant="merged",
        says=f"the reference scheduler takes exactly the model's steps ({situation.about})",
        scope={sort: len(values) for (sort, _), values in situation.rigid.items() if values},
        situation=situation,
    )


REFINEMENTS = [_refinement(situation) for situation in MERGED_SITUATIONS]

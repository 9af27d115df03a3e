"""The configurations in which YuniKorn's merged reference scheduler is checked against its model."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.model.systems.yunikorn_merge.merged_configurations import MERGED_CONFIGURATIONS, MergedConfiguration
from schedproof.proofs.refinement.property import Progress, Refinement, Report


@dataclass(frozen=True, kw_only=True)
class MergedRefinement(Refinement):
    """YuniKorn's merged scheduler in one configuration."""

    configuration: MergedConfiguration

    def check(self, progress: Progress | None = None) -> Report:
        """Explores scheduler and model, and compares the graphs."""
        from .check import check_refinement  # imported here: a list of properties needs no scheduler

        return check_refinement(self.configuration, progress=progress)


def _refinement(configuration: MergedConfiguration) -> Refinement:
    return MergedRefinement(
        name=f"scheduler-refines-model-{'-'.join(configuration.about.replace(',', '').split())}",
        variant="merged",
        says=f"the reference scheduler takes exactly the model's steps ({configuration.about})",
        scope={sort: len(values) for (sort, _), values in configuration.rigid.items() if values},
        configuration=configuration,
    )


REFINEMENTS = [_refinement(configuration) for configuration in MERGED_CONFIGURATIONS]

"""In which situations Jobmon's reference server and agents are explored beside their model."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.impl.systems.jobmon.client import Resume
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.proofs.refinement.property import Progress, Refinement, Report

from .situations import May, Situation


@dataclass(frozen=True, kw_only=True)
class JobmonRefinement(Refinement):
    """Jobmon's server and agents in one situation: each of their acts is steps of the model."""

    situation: Situation

    def check(self, progress: Progress | None = None) -> Report:
        """Explores them, and looks for the steps."""
        from .check import check_simulation  # a list of properties needs no server

        return check_simulation(self.situation, progress=progress)


def _refinement(name: str, situation: Situation) -> Refinement:
    return JobmonRefinement(
        name=f"server-and-agents-refine-model-{name}",
        variant="repaired",
        says=f"whatever the reference server and agents do is steps of the model ({situation.about})",
        scope=situation.instance().sizes,
        situation=situation,
    )


REFINEMENTS = [
    _refinement("one", Situation("a task of two attempts; one bad thing at any moment")),
    _refinement(
        "resources",
        Situation(
            "a task of two attempts, whose commands end well or have too few resources; a lease runs out",
            may=May(whom=("instance", "run"), endings=frozenset({Ending.DONE, Ending.RESOURCE_ERROR})),
        ),
    ),
    _refinement(
        "cold",
        Situation(
            "a second client resumes cold; the first one is late",
            (1,),
            (Resume.NO, Resume.COLD),
            runs=2,
            may=May(whom=("run 1",)),
        ),
    ),
    _refinement(
        "hot",
        Situation(
            "a second client resumes hot",
            (1,),
            (Resume.NO, Resume.HOT),
            runs=2,
            may=May(bad=0),
        ),
    ),
]

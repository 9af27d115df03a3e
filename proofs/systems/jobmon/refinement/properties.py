"""The refinement properties of Jobmon's reference server and agents, one for each configuration."""

from __future__ import annotations

from dataclasses import dataclass

from schedproof.impl.systems.jobmon.client import Resume
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.proofs.refinement.property import Progress, Refinement, Report

from .configurations import Configuration, May


@dataclass(frozen=True, kw_only=True)
class JobmonRefinement(Refinement):
    """In one configuration, each act of Jobmon's server and agents is a sequence of steps of the model."""

    configuration: Configuration

    def check(self, progress: Progress | None = None) -> Report:
        """Explores server and agents, and searches the steps that match."""
        from .check import check_simulation  # a list of properties must not import the server

        return check_simulation(self.configuration, progress=progress)


def _refinement(name: str, configuration: Configuration) -> Refinement:
    return JobmonRefinement(
        name=f"server-and-agents-refine-model-{name}",
        variant="repaired",
        says=f"whatever the reference server and agents do is steps of the model ({configuration.about})",
        scope=configuration.instance().sizes,
        configuration=configuration,
    )


REFINEMENTS = [
    _refinement("one", Configuration("a task of two attempts; one bad thing at any moment")),
    _refinement(
        "resources",
        Configuration(
            "a task of two attempts, whose commands end well or have too few resources; a lease runs out",
            may=May(whom=("instance", "run"), endings=frozenset({Ending.DONE, Ending.RESOURCE_ERROR})),
        ),
    ),
    _refinement(
        "cold",
        Configuration(
            "a second client resumes cold; the first one is late",
            (1,),
            (Resume.NO, Resume.COLD),
            runs=2,
            may=May(whom=("run 1",)),
        ),
    ),
    _refinement(
        "hot",
        Configuration(
            "a second client resumes hot",
            (1,),
            (Resume.NO, Resume.HOT),
            runs=2,
            may=May(bad=0),
        ),
    ),
]

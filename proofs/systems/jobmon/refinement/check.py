"""Whether all that Jobmon's reference server and agents do are steps of the repaired model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from schedproof.impl.systems.jobmon.world import Sides
from schedproof.proofs.refinement.graph import Progress
from schedproof.proofs.refinement.mismatch import Mismatch

from .explore import Differs, Exploration
from .situations import Situation

REFERENCE = Sides()


@dataclass(frozen=True)
class SimulationReport:
    """Whether every act was steps of the model, and how much was seen.

    ``images`` and ``steps`` are those of the model that they come by; ``taken`` are the steps by action. ``beyond`` are
    the acts after which there are more runs or attempts than were to be looked at.
    """

    about: str
    mismatch: Mismatch | None
    states: int
    acts: int
    crash_points: int
    beyond: int
    images: int
    steps: int
    taken: Mapping[str, int]
    seconds: float

    @property
    def ok(self) -> bool:
        """All that they do is in the model."""
        return self.mismatch is None

    @property
    def text(self) -> str:
        """The report for a reader."""
        lines = [
            f"server and agents {'do what their model does' if self.ok else 'DIFFER from their model'}: {self.about}",
            f"server and agents: {self.states} states, {self.acts} acts, {self.crash_points} deaths, "
            f"{self.beyond} acts beyond what was looked at",
            f"model: {self.images} states and {self.steps} steps come by ({self.seconds:.1f} s)",
        ]
        return "\n".join([*lines, *([self.mismatch.text] if self.mismatch else [])])


def check_simulation(
    situation: Situation,
    sides: Sides = REFERENCE,
    *,
    progress: Progress | None = None,
) -> SimulationReport:
    """Explores server and agents, and looks for each act for the steps of ``repaired`` that it is.

    Args:
        situation: who takes part, and what may go wrong.
        sides: what they are made of.
        progress: called now and then with the numbers of states and acts found.
    """
    started = time.perf_counter()
    exploration = Exploration(situation, sides, progress)
    mismatch = None
    try:
        exploration.explore()
    except Differs as differs:
        mismatch = differs.mismatch
    return SimulationReport(
        about=situation.about,
        mismatch=mismatch,
        states=len(exploration.nodes),
        acts=exploration.acts,
        crash_points=exploration.crashes,
        beyond=exploration.beyond,
        images=len({image for node in exploration.nodes for image in node.images}),
        steps=len(exploration.steps.counted),
        taken=dict(exploration.steps.taken),
        seconds=time.perf_counter() - started,
    )

"""Whether all that YuniKorn's core and shim do together are steps of their model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from schedproof.model.semantics import Instance
from schedproof.model.systems.yunikorn import PARTIES_REPAIRED
from schedproof.model.systems.yunikorn.situations import Situation
from schedproof.proofs.refinement.graph import Progress
from schedproof.proofs.refinement.mismatch import Mismatch

from .explore import Differs, Exploration, Model
from .meaning import Meanings
from .moves import May, Moves
from .names import PodNames
from .party import REFERENCE, Parts, Party
from .waits import waits_for_ever


@dataclass(frozen=True)
class SimulationReport:
    """Whether every move was steps of the model, and nobody waits for ever; and how much was seen.

    ``images`` and ``steps`` are those of the model that the two come by; ``taken`` are the steps by action. ``beyond``
    are the moves after which a name is used for a second time; they end the exploration there.
    """

    about: str
    mismatch: Mismatch | None
    states: int
    moves: int
    crash_points: int
    beyond: int
    images: int
    steps: int
    taken: Mapping[str, int]
    seconds: float

    @property
    def ok(self) -> bool:
        """All that the two do is in the model."""
        return self.mismatch is None

    @property
    def text(self) -> str:
        """The report for a reader."""
        lines = [
            f"core and shim {'do what their model does' if self.ok else 'DIFFER from their model'}: {self.about}",
            f"core and shim: {self.states} states, {self.moves} moves, {self.crash_points} crashes of the shim, "
            f"{self.beyond} moves to a second life of a name",
            f"model: {self.images} states and {self.steps} steps come by ({self.seconds:.1f} s)",
        ]
        return "\n".join([*lines, *([self.mismatch.text] if self.mismatch else [])])


def check_simulation(
    situation: Situation, may: May, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> SimulationReport:
    """Explores core and shim, and looks for each move for the steps of ``parties-repaired`` that it is.

    Args:
        situation: one application with its asks, queues, nodes; its ``shim`` has a scheduler.
        may: what people do, and how often the shim dies.
        parts: what the two are made of.
        progress: called now and then with the numbers of states and moves found.
    """
    started = time.perf_counter()
    exploration = simulated(situation, may, parts, progress=progress)
    mismatch = None
    try:
        exploration.explore()
        mismatch = waits_for_ever(exploration)
    except Differs as differs:
        mismatch = differs.mismatch
    model = exploration.model
    return SimulationReport(
        about=situation.about,
        mismatch=mismatch,
        states=len(exploration.nodes),
        moves=len(exploration.edges),
        crash_points=exploration.crashes,
        beyond=exploration.beyond,
        images=len({image for node in exploration.nodes for image in node.images}),
        steps=len(model.steps),
        taken=dict(model.taken),
        seconds=time.perf_counter() - started,
    )


def simulated(
    situation: Situation, may: May, parts: Parts = REFERENCE, *, progress: Progress | None = None
) -> Exploration:
    """The exploration of :func:`check_simulation`, same arguments, before it begins."""
    names = PodNames(situation)
    rigid = situation.rigid(shipped=True)
    sizes = {sort.name: 1 for sort in PARTIES_REPAIRED.sorts} | {
        sort: len(values) for (sort, _), values in rigid.items()
    }
    instance = Instance(PARTIES_REPAIRED, sizes, rigid)
    meanings = Meanings(instance, names)
    return Exploration(Party(parts, names, may.room), Moves(names, may), meanings, Model(instance, meanings), progress)

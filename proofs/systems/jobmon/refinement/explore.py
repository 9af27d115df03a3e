"""All that server and agents can come to, and the steps of the model that lead there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from schedproof.impl.systems.jobmon.requests import Report, Request
from schedproof.impl.systems.jobmon.world import Act, Kind, Sides, State
from schedproof.model.semantics import State as Image
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.property import Progress
from schedproof.proofs.refinement.simulation import Meaning, ModelSteps, Move, Simulation

from .canonical import canonical
from .configurations import TROUBLE, Configuration
from .meaning import Meanings
from .moves import TAKEN, Seen, of_act, terminated

BEGIN = "distributor_starts"
"""In the world all distributors are there from the start."""


@dataclass(frozen=True)
class At:
    """A state of the world, and how many bad things led there."""

    world: State
    bad: int


class Exploration(Simulation[At, Act]):
    """Every act in every state.

    What is beyond has more objects than the model's instance. A death is an act by which somebody dies.
    """

    differs_at_start = "the two do not begin alike"

    def __init__(self, configuration: Configuration, sides: Sides, progress: Progress | None = None) -> None:
        self._configuration, self._may = configuration, configuration.may
        self._seen: list[tuple[Request, Report]] = []
        self._world = configuration.world(sides, lambda request, report: self._seen.append((request, report)))
        instance = configuration.instance()
        self._meanings = Meanings(instance)
        self._changes = 0
        super().__init__(ModelSteps(instance), progress)

    def begin(self) -> tuple[At, Move]:
        """All distributors have started."""
        return At(self._world.state(), 0), Move((BEGIN,), self.steps.instance.sizes["Distributor"])

    def put(self, at: At) -> None:
        """Back to a state."""
        self._world.restore(at.world)

    def acts(self, at: At) -> Iterator[Act]:
        """What may happen in the configuration."""
        return (act for act in self._world.acts() if self._is_possible(act, at))

    def _is_possible(self, act: Act, at: At) -> bool:
        if act.kind is Kind.COMMAND_ENDS:
            return act.ending in self._may.endings
        if self._is_bad(act, at):
            return at.bad < self._may.bad and act.kind in self._may.trouble and act.who.startswith(self._may.whom)
        return True

    def _is_bad(self, act: Act, at: At) -> bool:
        """Who was killed is started again as a matter of course; who came to an end, since somebody wants it."""
        if act.kind is Kind.RESTART:
            return dict(at.world.agents)[act.who].memory is not None
        return act.kind in TROUBLE or act.kind is Kind.SERVER_RESTARTS

    def do(self, act: Act) -> None:
        """Does it, and notes what was requested."""
        self._seen.clear()
        self._world.do(act)

    def take(self, before: At, act: Act) -> At | None:
        """The world now."""
        world = self._world.state()
        if world == before.world:
            return None
        self._changes += 1
        return At(world, before.bad + self._is_bad(act, before))

    @property
    def moves(self) -> int:
        """Acts that changed something; the one that does not conform counts, too."""
        return self._changes

    def said(self, act: Act) -> str:
        """Who did what, and what was requested."""
        how = f" ({act.ending})" if act.ending is not None else ""
        return f"{act.who} {act.kind}{how}" + "".join(f": {_in_words(request)}" for request, _ in self._seen)

    def move(self, at: At, act: Act, after: At) -> Move:
        """By what was requested."""
        seen: Seen = tuple(self._seen)
        return of_act(act, seen, at.world, after.world)

    def meanings(self, at: At, before: Iterable[Image]) -> Mapping[Image, Meaning]:
        """The same, whatever was before."""
        return dict.fromkeys(before, self._meanings.read(at.world))

    def key(self, at: At) -> Hashable:
        """The world without what matters no more, and how many bad things there were."""
        return canonical(at.world), at.bad

    def is_crash(self, act: Act) -> bool:
        """Somebody is killed."""
        return act.kind is Kind.CRASH

    def is_beyond(self, at: At, before: Iterable[Image]) -> bool:
        """There are more runs or attempts than are looked at."""
        return self._configuration.is_beyond(at.world.records)

    def restrict(self, at: At, act: Act, after: At, images: frozenset[Image]) -> frozenset[Image]:
        """A distributor may terminate a job only if the model lets it."""
        for instance in terminated(act, at.world, after.world):
            images = frozenset(image for image in images if self._may_be_taken(image, instance - 1))
            if not images:
                raise Broken(f"the job of TaskInstance {instance - 1} is terminated, which may go on in the model")
        return images

    def _may_be_taken(self, image: Image, instance: int) -> bool:
        steps = [choice for action in TAKEN for choice, _ in self.steps.of(image, action)]
        return any(dict(choice.parameters).get("i") == instance for choice in steps)

    def name(self, sort: str, number: int) -> str:
        """The sort, and a number."""
        return f"{sort} {number}"


def _in_words(request: Request) -> str:
    values = ", ".join(f"{name} {value}" for name, value in vars(request).items() if name not in ("tasks", "token"))
    return f"{type(request).__name__}({values})"

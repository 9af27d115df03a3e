"""The exploration of server and agents beside the model: for each act, the steps of the model that match it."""

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
from .moves import JOB_STARTS, of_act, terminated
from .parts import Parts, Seen

BEGIN = "distributor_starts"
"""The world starts with all distributors running; the model starts them by this action."""


@dataclass(frozen=True)
class At:
    """A state of the world, and the number of faults before it."""

    world: State
    bad: int


class Exploration(Simulation[At, Act]):
    """Explores every act in every state.

    A state is beyond the exploration if it has more objects than the configuration covers. A death is an act by which
    an agent or a job dies.
    """

    differs_at_start = "the two do not begin alike"

    def __init__(self, configuration: Configuration, sides: Sides, progress: Progress | None = None) -> None:
        self._configuration, self._may = configuration, configuration.may
        self._recorded: list[tuple[Request, Report]] = []
        world = configuration.world(sides, lambda request, report: self._recorded.append((request, report)))
        self._at = self._after = world.state()
        self._seen: Seen = ()
        self._parts = Parts(world, self._recorded)
        instance = configuration.instance()
        self._meanings = Meanings(instance)
        self._read: dict[State, Meaning] = {}
        self._keys: dict[State, Hashable] = {}
        self._changes = 0
        super().__init__(ModelSteps(instance), progress)

    def begin(self) -> tuple[At, Move]:
        """Returns the initial state, in which all distributors have started."""
        return At(self._at, 0), Move((BEGIN,), self.steps.instance.sizes["Distributor"])

    def put(self, at: At) -> None:
        """Puts the world into a state."""
        self._at = at.world

    def acts(self, at: At) -> Iterator[Act]:
        """Yields the acts that the configuration allows."""
        return (act for act in self._parts.acts(at.world) if self._is_possible(act, at))

    def _is_possible(self, act: Act, at: At) -> bool:
        if act.kind is Kind.COMMAND_ENDS:
            return act.ending in self._may.endings
        if self._is_bad(act, at):
            return at.bad < self._may.bad and act.kind in self._may.trouble and act.who.startswith(self._may.whom)
        return True

    def _is_bad(self, act: Act, at: At) -> bool:
        """A restart after a crash is no fault. A restart after an agent has ended is one: a user asks for it."""
        if act.kind is Kind.RESTART:
            return dict(at.world.agents)[act.who].memory is not None
        return act.kind in TROUBLE or act.kind is Kind.SERVER_RESTARTS

    def do(self, act: Act) -> None:
        """Does an act, and records its requests."""
        self._seen = self._recorded  # if it fails, what it has sent so far
        self._after, self._seen = self._parts.do(self._at, act)

    def take(self, before: At, act: Act) -> At | None:
        """Returns the present state; None if the act changed nothing."""
        world = self._after
        if world is before.world:
            return None
        self._changes += 1
        return At(world, before.bad + self._is_bad(act, before))

    @property
    def moves(self) -> int:
        """The number of acts that changed the state; a nonconforming act counts as well."""
        return self._changes

    def description(self, act: Act) -> str:
        """Returns who did what, and which requests were sent."""
        how = f" ({act.ending})" if act.ending is not None else ""
        return f"{act.who} {act.kind}{how}" + "".join(f": {_in_words(request)}" for request, _ in self._seen)

    def move(self, at: At, act: Act, after: At) -> Move:
        """Returns the move that the act's requests stand for."""
        return of_act(act, self._seen, at.world, after.world)

    def meanings(self, at: At, before: Iterable[Image]) -> Mapping[Image, Meaning]:
        """Returns the meaning of a state; it does not depend on the images before."""
        meaning = self._read.get(at.world)
        if meaning is None:
            meaning = self._read[at.world] = self._meanings.read(at.world)
        return dict.fromkeys(before, meaning)

    def key(self, at: At) -> Hashable:
        """Returns the canonical key of the world, with the number of faults."""
        key = self._keys.get(at.world)
        if key is None:
            key = self._keys[at.world] = canonical(at.world)
        return key, at.bad

    def is_crash(self, act: Act) -> bool:
        """Whether the act is a crash of an agent or a job."""
        return act.kind is Kind.CRASH

    def is_beyond(self, at: At, before: Iterable[Image]) -> bool:
        """Whether the state has more runs or instances than the exploration covers."""
        return self._configuration.is_beyond(at.world.records)

    def restrict(self, at: At, act: Act, after: At, images: frozenset[Image]) -> frozenset[Image]:
        """Keeps the images in which the model lets a distributor terminate the jobs that the act terminates."""
        for instance in terminated(act, at.world, after.world):
            images = frozenset(image for image in images if self._may_be_taken(image, instance - 1))
            if not images:
                raise Broken(f"the job of TaskInstance {instance - 1} is terminated, which may go on in the model")
        return images

    def _may_be_taken(self, image: Image, instance: int) -> bool:
        steps = [choice for action in JOB_STARTS for choice, _ in self.steps.of(image, action)]
        return any(dict(choice.parameters).get("i") == instance for choice in steps)

    def name(self, sort: str, number: int) -> str:
        """Returns the sort and a number."""
        return f"{sort} {number}"


def _in_words(request: Request) -> str:
    values = ", ".join(f"{name} {value}" for name, value in vars(request).items() if name not in ("tasks", "token"))
    return f"{type(request).__name__}({values})"

"""Jobmon's agents in a simulated world, each doing its part until nothing is left to do (for tests)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from schedproof.impl.systems.jobmon.client import ClientMemory, WorkflowSpec
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.distributor import DistributorMemory
from schedproof.impl.systems.jobmon.records import InstanceState
from schedproof.impl.systems.jobmon.requests import TaskSpec
from schedproof.impl.systems.jobmon.simulated_cluster import Phase
from schedproof.impl.systems.jobmon.world import Act, ClientSpec, Kind, Sides, World

Endings = Callable[[int], Ending | None]
"""How the command of an instance ends; None if it goes on."""


def always_done(instance: int) -> Ending | None:
    return Ending.DONE


def goes_on(instance: int) -> Ending | None:
    return None


def workflow(*tasks: TaskSpec, **more: object) -> WorkflowSpec:
    """One task of two attempts, if none is given."""
    return WorkflowSpec("w", tasks or (TaskSpec("a", "x", max_attempts=2),), **more)  # type: ignore[arg-type]


@dataclass
class Scenario:
    """A world, how its commands end, and whether the first answer to every request is lost.

    ``before_step`` is called with each act on an agent before it is done.
    """

    world: World
    endings: Endings = always_done
    deaf: bool = False
    before_step: Callable[[Act], None] = lambda act: None
    log: list[tuple[str, str | None]] = field(default_factory=list)

    @classmethod
    def of(
        cls, *tasks: TaskSpec, clients: int = 1, distributors: int = 1, sides: Sides | None = None, **more: object
    ) -> Scenario:
        """Clients "c1", "c2", ... of one workflow."""
        spec = workflow(*tasks, **more)
        names = {f"c{n + 1}": ClientSpec(spec) for n in range(clients)}
        return cls(World(names, distributors, sides or Sides()))

    # What happens.

    def do(self, kind: Kind, who: str, **more: object) -> str | None:
        """An act, which has to be possible."""
        acts = [a for a in self.world.acts() if a.kind is kind and a.who == who and a.choice == 0]
        acts = [a for a in acts if all(getattr(a, name) == value for name, value in more.items())]
        assert acts, f"{who} cannot be asked for: {kind}"
        description = self.world.do(acts[0])
        if description is not None:
            self.log.append((who, description))
        acting = self.world.acting()
        assert len({task for task, _ in acting}) == len(acting), f"two attempts at one task act: {acting}"
        return description

    def step(self, who: str) -> str | None:
        """A step of an agent."""
        if self.deaf:
            self.do(Kind.LOST, who)
        self.before_step(Act(Kind.STEP, who))
        if not self.can(Kind.STEP, who):
            return "died"
        return self.do(Kind.STEP, who)

    def step_until(self, who: str, come: Callable[[], bool]) -> None:
        """Steps of one agent."""
        for _ in range(500):
            if come():
                return
            self.step(who)
        raise AssertionError(f"it does not come to that: {self.states()}")

    def can(self, kind: Kind, who: str) -> bool:
        return any(a.kind is kind and a.who == who for a in self.world.acts())

    def settle(self, *agents: str) -> None:
        """These agents (all that are alive, if none is named) and all jobs go on until nothing moves."""
        quiet = 0
        for _ in range(3000):
            moved = False
            for who in agents or tuple(self.world.slots):
                if self.can(Kind.STEP, who):
                    moved |= self.step(who) is not None
            moved |= self._jobs()
            quiet = 0 if moved else quiet + 1
            if quiet == 3:
                return
        raise AssertionError(f"it does not settle: {self.log[-20:]}")

    def _jobs(self) -> bool:
        moved = False
        for number, job in enumerate(self.world.cluster.jobs):
            who = f"job {number}"
            if job.phase is Phase.SUBMITTED and not job.killed:
                moved |= self.do(Kind.COMES_UP, who) is not None
            elif self.can(Kind.JOB_ENDS, who):
                moved |= self.do(Kind.JOB_ENDS, who) is not None
            elif job.acts and (ending := self.endings(job.instance)) is not None:
                moved |= self.do(Kind.COMMAND_ENDS, who, ending=ending) is not None
            elif self.can(Kind.STEP, who):
                moved |= self.step(who) is not None
        return moved

    def time_passes(self) -> bool:
        """All that live renew their leases; the leases of all others run out. Returns whether any did."""
        for who in [*self.world.slots, *(f"job {n}" for n in range(len(self.world.cluster.jobs)))]:
            if self.can(Kind.HEARTBEAT, who):
                self.do(Kind.HEARTBEAT, who)
        held = self._held()
        ends = (Kind.INSTANCE_LAPSES, Kind.RUN_LAPSES, Kind.GRACE_ENDS)
        lapsing = [a for a in self.world.acts() if a.kind in ends and a.who not in held]
        for act in lapsing:
            self.world.do(act)
        return bool(lapsing)

    def _held(self) -> set[str]:
        held = set()
        records = self.world.store.snapshot()
        for slot in self.world.slots.values():
            if isinstance(slot.memory, ClientMemory) and slot.memory.over is None:
                held.add(f"run {slot.memory.run}")
            if isinstance(slot.memory, DistributorMemory):
                held |= {f"instance {number}" for number, _ in slot.memory.launched}
        for job in self.world.cluster.jobs:
            if job.worker is not None and records.instances[job.instance - 1].status is InstanceState.RUNNING:
                held.add(f"instance {job.instance}")
        return held

    def rest(self) -> None:
        """Everything goes on, and time passes, until there is nothing to come."""
        for _ in range(50):
            self.settle()
            if not self.time_passes():
                return
        raise AssertionError(f"it does not come to rest: {self.log[-20:]}")

    # Reading it.

    def states(self) -> str:
        """Workflow, runs, tasks and instances."""
        r = self.world.store.snapshot()
        kinds = (r.workflows, r.runs, r.tasks, r.instances)
        return " ".join("".join(each.status for each in kind) or "-" for kind in kinds)  # type: ignore[attr-defined]

    def over(self, client: str) -> str | None:
        """How a client ended."""
        memory = self.world.slots[client].memory
        assert isinstance(memory, ClientMemory)
        return memory.over

    def ever_acted(self) -> list[int]:
        """The instances whose command was started, in order."""
        started = [who for who, description in self.log if description == "start the command"]
        return [self.world.cluster.jobs[int(who.removeprefix("job "))].instance for who in started]

    def bring_to(self, states: str, *agents: str) -> None:
        """Steps of these agents and the jobs, one by one, until the states are these."""
        for _ in range(500):
            for who in agents or ("c1", "d1"):
                if self.states() == states:
                    return
                if self.can(Kind.STEP, who):
                    self.step(who)
            if self.states() == states:
                return
            self._jobs()
        raise AssertionError(f"{states} does not come: {self.states()}")

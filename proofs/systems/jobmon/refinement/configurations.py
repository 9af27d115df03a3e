"""What is explored: who takes part, what may go wrong, and the model's instance with as many objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schedproof.impl.systems.jobmon.client import Resume, WorkflowSpec
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.errors import SubmitFailed
from schedproof.impl.systems.jobmon.records import Records, Resources
from schedproof.impl.systems.jobmon.requests import TaskSpec
from schedproof.impl.systems.jobmon.resources import Scaling
from schedproof.impl.systems.jobmon.server import Observer
from schedproof.impl.systems.jobmon.simulated_cluster import SimulatedCluster
from schedproof.impl.systems.jobmon.world import ClientSpec, Kind, Sides, World
from schedproof.model.semantics import Instance, instance_with
from schedproof.model.systems.jobmon.repaired import REPAIRED
from schedproof.model.systems.jobmon.shipped.configurations import Configuration as ModelConfiguration

ASKED_FOR = 1
"""What a task asks for at first; each scaling adds one."""

TROUBLE = frozenset({Kind.LOST, Kind.CRASH, Kind.INSTANCE_LAPSES, Kind.RUN_LAPSES, Kind.STOP, Kind.RESTART})
"""Bad things: to be started again is one only for a client that came to an end. That of the server is asked for by name."""


@dataclass(frozen=True)
class May:
    """What may happen besides.

    ``bad``: so many bad things, of the kinds ``trouble``, which happen to ``whom`` (names begin so). ``endings``: how
    commands end. ``refusing``: the cluster takes no job.
    """

    bad: int = 1
    trouble: frozenset[Kind] = TROUBLE
    whom: tuple[str, ...] = ("",)
    endings: frozenset[Ending] = frozenset({Ending.DONE})
    refusing: bool = False


@dataclass(frozen=True)
class Configuration:
    """A workflow of independent tasks, each with its attempts, and the clients that want it.

    ``runs`` and ``instances``: so many are looked at; what comes after more of them is beyond.
    """

    about: str
    tasks: Sequence[int] = (2,)
    clients: Sequence[Resume] = (Resume.NO,)
    distributors: int = 1
    runs: int = 1
    instances: int = 2
    may: May = field(default_factory=May)

    def world(self, sides: Sides, observer: Observer) -> World:
        """The world in which nobody has done anything yet."""
        tasks = tuple(
            TaskSpec(f"t{number}", "x", resources=(("memory", ASKED_FOR),), max_attempts=most)
            for number, most in enumerate(self.tasks)
        )
        scaling = {task.name: Scaling({"memory": lambda value: value + 1}) for task in tasks}
        spec = WorkflowSpec("w", tasks, scaling)
        again = {Resume.NO: Resume.COLD}
        clients = {
            f"c{number}": ClientSpec(spec, resume, again.get(resume, resume))
            for number, resume in enumerate(self.clients, 1)
        }
        cluster = Refusing() if self.may.refusing else SimulatedCluster()
        restarts = Kind.SERVER_RESTARTS in self.may.trouble
        return World(clients, self.distributors, sides, cluster=cluster, observer=observer, server_restarts=restarts)

    def is_beyond(self, records: Records) -> bool:
        """Whether there are more runs or attempts than are looked at."""
        return len(records.runs) > self.runs or len(records.instances) > self.instances

    def instance(self) -> Instance:
        """The model's instance. It has a distributor and a client for each run: so there is a run for each distributor,
        and one more than are looked at, whose client clears what another one then does not wait for."""
        runs = max(self.runs + 1, self.distributors)
        return instance_with(REPAIRED, ModelConfiguration(self.about, runs, self.tasks, self.instances).rigid)


class Refusing(SimulatedCluster):
    """A cluster that takes no job."""

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Never."""
        raise SubmitFailed("it takes no job")

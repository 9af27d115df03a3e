"""The configurations of the exploration: the components, the faults, and the model's instance with as many objects."""

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
"""The memory that a task asks for at first; each scaling adds one."""

TROUBLE = frozenset({Kind.LOST, Kind.CRASH, Kind.INSTANCE_LAPSES, Kind.RUN_LAPSES, Kind.STOP, Kind.RESTART})
"""The kinds of faults.

A restart is a fault only for a client that has ended. A restart of the server must be added by name.
"""


@dataclass(frozen=True)
class May:
    """What else may happen in a configuration.

    Attributes:
        bad: how many faults may occur.
        trouble: the kinds of these faults.
        whom: prefixes of the names of those that faults affect.
        endings: how commands may end.
        refusing: the cluster accepts no job.
    """

    bad: int = 1
    trouble: frozenset[Kind] = TROUBLE
    whom: tuple[str, ...] = ("",)
    endings: frozenset[Ending] = frozenset({Ending.DONE})
    refusing: bool = False


@dataclass(frozen=True)
class Configuration:
    """A workflow of independent tasks, and the clients that want to run it.

    Attributes:
        tasks: for each task, its maximum number of attempts.
        clients: for each client, how it treats another run.
        runs: how many runs the exploration covers; a state with more is beyond it.
        instances: how many task instances the exploration covers; a state with more is beyond it.
    """

    about: str
    tasks: Sequence[int] = (2,)
    clients: Sequence[Resume] = (Resume.NO,)
    distributors: int = 1
    runs: int = 1
    instances: int = 2
    may: May = field(default_factory=May)

    def world(self, sides: Sides, observer: Observer) -> World:
        """Returns the world before the first step of any agent."""
        tasks = tuple(
            TaskSpec(f"t{number}", "x", resources=(("memory", ASKED_FOR),), max_attempts=most)
            for number, most in enumerate(self.tasks)
        )
        scaling = {task.name: Scaling({"memory": lambda value: value + 1}) for task in tasks}
        spec = WorkflowSpec("w", tasks, scaling)
        second_resume = {Resume.NO: Resume.COLD}
        clients = {
            f"c{number}": ClientSpec(spec, resume, second_resume.get(resume, resume))
            for number, resume in enumerate(self.clients, 1)
        }
        cluster = Refusing() if self.may.refusing else SimulatedCluster()
        restarts = Kind.SERVER_RESTARTS in self.may.trouble
        return World(clients, self.distributors, sides, cluster=cluster, observer=observer, server_restarts=restarts)

    def is_beyond(self, records: Records) -> bool:
        """Whether the records have more runs or task instances than the exploration covers."""
        return len(records.runs) > self.runs or len(records.instances) > self.instances

    def instance(self) -> Instance:
        """Returns the model's instance.

        The model has one distributor and one client for each run. So it needs a run for each distributor. It also needs
        one run more than the exploration covers: the client of that run clears instances that another client then need
        not wait for.
        """
        runs = max(self.runs + 1, self.distributors)
        return instance_with(REPAIRED, ModelConfiguration(self.about, runs, self.tasks, self.instances).rigid)


class Refusing(SimulatedCluster):
    """A cluster that accepts no job."""

    def submit(self, instance: int, resources: Resources, queue: str) -> str:
        """Raises SubmitFailed."""
        raise SubmitFailed("it takes no job")

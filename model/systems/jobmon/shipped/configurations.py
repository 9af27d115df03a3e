"""The configurations that are explored, each with the runs, tasks and attempts that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Rigid

from .machines import MOST


@dataclass(frozen=True)
class Configuration:
    """One or more workflows, with runs and tasks.

    Args:
        about: the configuration in words.
        runs: the maximum number of runs; they belong to the workflows in turn, like the tasks.
        tasks: for each task, its maximum number of attempts.
        instances: the maximum number of instances.
        begun: whether the first run of each workflow already runs in the initial state.
        mortal: the sorts that may die by themselves: "Client" (of any run), "Client0" (of the first run only),
            "Distributor", "Job".
        fallible: commands may fail.
        punctual: the sorts whose heartbeats always arrive in time: "WorkflowRun", "TaskInstance".
        ceiling: the most resources of any queue.
        unheard: the cluster's answers to submissions may be lost.
        workflows: how many workflows there are.

    Raises:
        ValueError: an agent may die although its heartbeats always arrive.
    """

    about: str
    runs: int
    tasks: Sequence[int] = ()
    instances: int = 0
    begun: bool = False
    mortal: Sequence[str] = ("Client", "Distributor", "Job")
    fallible: bool = True
    punctual: Sequence[str] = ()
    ceiling: int = MOST
    unheard: bool = False
    workflows: int = 1

    def __post_init__(self) -> None:
        for sort, who in (("WorkflowRun", "Client"), ("TaskInstance", "Job")):
            if sort in self.punctual and any(each.startswith(who) for each in self.mortal):
                raise ValueError(f"{self.about}: the heartbeats of a {sort} cannot always come if its {who} may die")

    @property
    def rigid(self) -> Rigid:
        """The rigid attributes."""
        begun = [self.begun and number < self.workflows for number in range(self.runs)]
        return {
            ("Workflow", "begun"): [self.begun] * self.workflows,
            ("WorkflowRun", "workflow"): self._in_turn(self.runs),
            ("WorkflowRun", "begun"): begun,
            **{(sort, "run"): list(range(self.runs)) for sort in ("Client", "Distributor")},
            **{(sort, "begun"): begun for sort in ("Client", "Distributor")},
            ("Task", "workflow"): self._in_turn(len(self.tasks)),
            ("Task", "most"): list(self.tasks),
            ("Task", "ceiling"): [self.ceiling for _ in self.tasks],
            ("TaskInstance", "job"): list(range(self.instances)),
            **{
                (sort, "punctual"): [sort in self.punctual] * many
                for sort, many in (("WorkflowRun", self.runs), ("TaskInstance", self.instances))
            },
            ("Job", "fallible"): [self.fallible] * self.instances,
            ("Job", "unheard"): [self.unheard] * self.instances,
            **{
                (sort, "mortal"): [{sort, f"{sort}{number}"} & set(self.mortal) != set() for number in range(many)]
                for sort, many in (("Client", self.runs), ("Distributor", self.runs), ("Job", self.instances))
            },
        }

    def _in_turn(self, many: int) -> list[int]:
        return [number % self.workflows for number in range(many)]


LATE = ("WorkflowRun", "TaskInstance")

CONFIGURATIONS = [
    Configuration("two runs of a workflow without tasks", 2),
    Configuration("one run, and a task that has two attempts", 1, (2,), 2, begun=True, fallible=False),
    Configuration(
        "one run, and a task whose command may fail",
        *(1, (2,), 2),
        begun=True,
        mortal=("Job",),
        punctual=("WorkflowRun",),
    ),
    Configuration(
        "one run, and two tasks that have one attempt each",
        *(1, (1, 1), 2),
        begun=True,
        mortal=(),
        fallible=False,
        punctual=("WorkflowRun",),
    ),
    Configuration(
        "a run that is resumed, and a task whose worker may be late",
        *(2, (1,), 2),
        begun=True,
        mortal=(),
        fallible=False,
        punctual=("WorkflowRun",),
    ),
    Configuration(
        "a run whose client may die, and that is resumed",
        *(2, (1,), 2),
        begun=True,
        mortal=("Client0",),
        fallible=False,
        punctual=("TaskInstance",),
    ),
    Configuration(
        "a run that is resumed when its task runs out of resources",
        *(2, (2,), 2),
        begun=True,
        mortal=(),
        punctual=LATE,
    ),
    Configuration(
        "a run that is resumed, whose distributor and jobs may die",
        *(2, (1,), 1),
        begun=True,
        mortal=("Distributor", "Job"),
        fallible=False,
        punctual=("WorkflowRun",),
    ),
    Configuration(
        "one run, and a task that needs more than any queue has",
        *(1, (2,), 2),
        begun=True,
        mortal=(),
        punctual=LATE,
        ceiling=0,
    ),
    Configuration(
        "one run, and a task whose job may be submitted though nobody knows",
        *(1, (2,), 2),
        begun=True,
        mortal=(),
        fallible=False,
        punctual=LATE,
        unheard=True,
    ),
    Configuration(
        "two workflows, each with a run and a task",
        *(2, (1, 1), 2),
        begun=True,
        mortal=(),
        fallible=False,
        punctual=LATE,
        workflows=2,
    ),
    Configuration(
        "one run, which may be late, and a task that may get more once",
        *(1, (2,), 2),
        begun=True,
        mortal=(),
        punctual=("TaskInstance",),
        ceiling=1,
    ),
]


def configurations(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields the configurations that need no more objects than ``sizes``."""
    yield from fitting(CONFIGURATIONS, sizes)


def fitting(some: Sequence[Configuration], sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """Yields those of ``some`` configurations that need no more objects than ``sizes``."""
    for configuration in some:
        needed = {
            "Workflow": configuration.workflows,
            **dict.fromkeys(("WorkflowRun", "Client", "Distributor"), configuration.runs),
            "Task": len(configuration.tasks),
            **dict.fromkeys(("TaskInstance", "Job"), configuration.instances),
        }
        if all(many <= sizes[sort] for sort, many in needed.items()):
            yield configuration.rigid

"""What explorations look at: small situations, each with the runs, tasks and attempts that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...lang import Rigid


@dataclass(frozen=True)
class Situation:
    """One workflow, with runs and tasks.

    Args:
        runs: how many there can be.
        tasks: for each the attempts that it has at most.
        instances: how many there can be.
        begun: the story begins when the first run runs.
        mortal: what may die by itself: "Client" (of any run), "Client0" (of the first one only), "Distributor", "Job".
        fallible: commands may fail.
        punctual: whose heartbeats always come in time: "WorkflowRun", "TaskInstance".
    """

    about: str
    runs: int
    tasks: Sequence[int] = ()
    instances: int = 0
    begun: bool = False
    mortal: Sequence[str] = ("Client", "Distributor", "Job")
    fallible: bool = True
    punctual: Sequence[str] = ()

    @property
    def rigid(self) -> Rigid:
        """The rigid attributes."""
        begun = [self.begun and number == 0 for number in range(self.runs)]
        return {
            ("Workflow", "begun"): [self.begun],
            ("WorkflowRun", "workflow"): [0] * self.runs,
            ("WorkflowRun", "begun"): begun,
            **{(sort, "run"): list(range(self.runs)) for sort in ("Client", "Distributor")},
            **{(sort, "begun"): begun for sort in ("Client", "Distributor")},
            ("Task", "workflow"): [0 for _ in self.tasks],
            ("Task", "most"): list(self.tasks),
            ("TaskInstance", "job"): list(range(self.instances)),
            **{
                (sort, "punctual"): [sort in self.punctual] * many
                for sort, many in (("WorkflowRun", self.runs), ("TaskInstance", self.instances))
            },
            ("Job", "fallible"): [self.fallible] * self.instances,
            **{
                (sort, "mortal"): [{sort, f"{sort}{number}"} & set(self.mortal) != set() for number in range(many)]
                for sort, many in (("Client", self.runs), ("Distributor", self.runs), ("Job", self.instances))
            },
        }


LATE = ("WorkflowRun", "TaskInstance")

SITUATIONS = [
    Situation("two runs of a workflow without tasks", 2),
    Situation("one run, and a task that has two attempts", 1, (2,), 2, begun=True),
    Situation("one run, and two tasks that have one attempt each", 1, (1, 1), 2, begun=True, mortal=(), fallible=False),
    Situation(
        "a run that is resumed, and a task whose worker may be late",
        *(2, (1,), 2),
        begun=True,
        mortal=(),
        fallible=False,
        punctual=("WorkflowRun",),
    ),
    Situation(
        "a run whose client may die, and that is resumed",
        *(2, (1,), 2),
        begun=True,
        mortal=("Client0",),
        fallible=False,
        punctual=("TaskInstance",),
    ),
    Situation(
        "a run that is resumed when its task runs out of resources",
        *(2, (2,), 2),
        begun=True,
        mortal=(),
        punctual=LATE,
    ),
]


def situations(sizes: Mapping[str, int]) -> Iterator[Rigid]:
    """The situations that need no more objects than ``sizes``."""
    for situation in SITUATIONS:
        needed = {
            **dict.fromkeys(("WorkflowRun", "Client", "Distributor"), situation.runs),
            "Task": len(situation.tasks),
            **dict.fromkeys(("TaskInstance", "Job"), situation.instances),
        }
        if all(many <= sizes[sort] for sort, many in needed.items()):
            yield situation.rigid

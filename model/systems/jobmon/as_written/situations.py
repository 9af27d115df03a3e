"""What explorations look at: a task with a few instances, or a workflow with a few runs, and what may happen to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Rigid


@dataclass(frozen=True)
class Situation:
    """Tasks and workflows, and as many instances and runs as they can need.

    Args:
        tasks: the maximum of attempts of each; ``of_workflow`` says that they are the first workflow's.
        workflows: the maximum of attempts of each.
        stoppable, stoppable_runs: how many instances and runs people may stop: each of them makes one more necessary.
        mortal: agents and their processes may die.
        losable: the reconciler may hold instances for lost that are not; what is gone it always may.
        hungry: commands may have too few resources.
    """

    about: str
    tasks: Sequence[int] = ()
    workflows: Sequence[int] = ()
    of_workflow: bool = False
    stoppable: int = 0
    stoppable_runs: int = 0
    mortal: bool = False
    losable: bool = False
    hungry: bool = False

    @property
    def rigid(self) -> Rigid:
        """The rigid attributes."""
        tasks, workflows = len(self.tasks), len(self.workflows)
        instances = sum(self.tasks) + self.stoppable
        runs = sum(self.workflows) + self.stoppable_runs
        return {
            ("Task", "maximum"): list(self.tasks),
            ("Task", "mortal"): [self.mortal] * tasks,
            ("Task", "losable"): [self.losable] * tasks,
            ("Task", "hungry"): [self.hungry] * tasks,
            ("Task", "workflow"): [0 if self.of_workflow else None] * tasks,
            ("TaskInstance", "stoppable"): [number < self.stoppable for number in range(instances)],
            ("Workflow", "maximum"): list(self.workflows),
            ("Workflow", "mortal"): [self.mortal] * workflows,
            ("WorkflowRun", "stoppable"): [number < self.stoppable_runs for number in range(runs)],
        }


SITUATIONS = [
    Situation("a task is tried twice, and may be lost", tasks=[2], losable=True),
    Situation("agents die", tasks=[2], mortal=True),
    Situation("a task has too few resources", tasks=[3], hungry=True),
    Situation("a task is stopped, and taken up again", tasks=[2], stoppable=1),
    Situation("everything happens to a task", tasks=[2], stoppable=1, mortal=True, losable=True, hungry=True),
    Situation("two tasks, one attempt each", tasks=[1, 1], losable=True),
    Situation("two tasks, and agents die", tasks=[1, 1], mortal=True),
    Situation("two workflows, one run each", workflows=[1, 1]),
    Situation("a workflow is run twice", workflows=[2]),
    Situation("a workflow is halted, and taken up again", workflows=[1], stoppable_runs=1),
    Situation("everything happens to a workflow", workflows=[2], stoppable_runs=1, mortal=True),
    Situation("a workflow has a task", workflows=[1], tasks=[1], of_workflow=True),
]


def situations(sizes: Mapping[str, int], *, among: Sequence[Situation] = SITUATIONS) -> Iterator[Rigid]:
    """The situations that need no more objects than ``sizes``."""
    for situation in among:
        counts = {sort: len(values) for (sort, _), values in situation.rigid.items()}
        if all(number <= sizes[sort] for sort, number in counts.items()):
            yield situation.rigid

"""The configurations that are explored: a task with a few instances or a workflow with a few runs, and their faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Rigid


@dataclass(frozen=True)
class Configuration:
    """Tasks and workflows, with as many instances and runs as they can need.

    Args:
        about: the configuration in words.
        tasks: for each task, its maximum number of attempts.
        workflows: for each workflow, its maximum number of attempts.
        of_workflow: whether the tasks belong to the first workflow.
        stoppable: how many instances users may stop; each of them makes one more instance necessary.
        stoppable_runs: how many runs users may stop; each of them makes one more run necessary.
        mortal: agents and their processes may die.
        losable: the reconciler may take live instances for lost; dead ones it always may.
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


CONFIGURATIONS = [
    Configuration("a task is tried twice, and may be lost", tasks=[2], losable=True),
    Configuration("agents die", tasks=[2], mortal=True),
    Configuration("a task has too few resources", tasks=[3], hungry=True),
    Configuration("a task is stopped, and taken up again", tasks=[2], stoppable=1),
    Configuration("everything happens to a task", tasks=[2], stoppable=1, mortal=True, losable=True, hungry=True),
    Configuration("two tasks, one attempt each", tasks=[1, 1], losable=True),
    Configuration("two tasks, and agents die", tasks=[1, 1], mortal=True),
    Configuration("two workflows, one run each", workflows=[1, 1]),
    Configuration("a workflow is run twice", workflows=[2]),
    Configuration("a workflow is halted, and taken up again", workflows=[1], stoppable_runs=1),
    Configuration("everything happens to a workflow", workflows=[2], stoppable_runs=1, mortal=True),
    Configuration("a workflow has a task", workflows=[1], tasks=[1], of_workflow=True),
]


def configurations(sizes: Mapping[str, int], *, among: Sequence[Configuration] = CONFIGURATIONS) -> Iterator[Rigid]:
    """Yields the configurations that need no more objects than ``sizes``."""
    for configuration in among:
        counts = {sort: len(values) for (sort, _), values in configuration.rigid.items()}
        if all(number <= sizes[sort] for sort, number in counts.items()):
            yield configuration.rigid

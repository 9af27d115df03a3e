"""The model of Jobmon's document beside one that was written by hand: the same states, each as deep, as many steps, the same failures."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.semantics import Instance, State
from schedproof.model.semantics.instance import fitted
from schedproof.model.systems.jobmon.as_written import AS_WRITTEN, REPAIRED
from schedproof.model.systems.jobmon.as_written.situations import SITUATIONS, Situation
from schedproof.proofs.checking.model_check import examine
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.jobmon.model import brute_force as brute

VARIANTS = {model.variant: model for model in (AS_WRITTEN, REPAIRED)}
# The same with other numbers than the situations have.
OTHERS = [
    Situation("three attempts, all that can happen", tasks=[3], losable=True, hungry=True),
    Situation("two workflows that may be halted", workflows=[1, 1], stoppable_runs=1),
    Situation("two instances are stopped", tasks=[1], stoppable=2, losable=True),
    Situation("two runs are halted", workflows=[1], stoppable_runs=2),
]


def setup(situation: Situation, variant: str) -> brute.Setup:
    return brute.Setup(
        tasks=tuple(situation.tasks),
        flows=tuple(situation.workflows),
        of_flow=situation.of_workflow,
        instances=sum(situation.tasks) + situation.stoppable,
        runs=sum(situation.workflows) + situation.stoppable_runs,
        stoppable=situation.stoppable,
        stoppable_runs=situation.stoppable_runs,
        mortal=situation.mortal,
        losable=situation.losable,
        hungry=situation.hungry,
        repaired=variant == "as-written-repaired",
    )


def number(name: Any) -> int | None:
    return None if name is None else int(str(name)[1:])


def world(instance: Instance, state: State) -> brute.World:
    """A state of the model as the hand-written one has it."""
    told = instance.describe(state)

    def of(sort: str) -> list[dict[str, Any]]:
        return list(told.get(sort, {}).values())

    return brute.World(
        tuple(brute.Task(o["state"], number(o["latest"]), o["attempts"], o["resources"]) for o in of("Task")),
        tuple(
            brute.Instance(o["state"], number(o["task"]), o["resources"], o["command"], o["at_hand"])
            for o in of("TaskInstance")
        ),
        tuple(brute.Flow(o["state"], number(o["latest"]), o["attempts"]) for o in of("Workflow")),
        tuple(brute.Run(o["state"], number(o["workflow"]), o["process"], o["at_hand"]) for o in of("WorkflowRun")),
    )


@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
@pytest.mark.parametrize("situation", thinned([*SITUATIONS, *OTHERS], 3), ids=lambda situation: situation.about)
def test_both_have_the_same_states_steps_and_depths(situation: Situation, variant: str) -> None:
    model = VARIANTS[variant]
    rigid = situation.rigid
    sizes = fitted(dict.fromkeys(("Workflow", "WorkflowRun", "Task", "TaskInstance"), 9), rigid)
    instance = Instance(model, sizes, rigid)
    found = explore(instance, symmetry=False)
    hand = brute.explore(setup(situation, variant))
    assert found.ill_formed is None
    mine = {world(instance, state): depth for state, depth in zip(found.states, found.depths, strict=True)}
    assert mine == hand.depth_of
    assert found.transition_count == hand.transitions


@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
def test_both_break_the_same_promises_after_as_many_steps(variant: str) -> None:
    broken: dict[str, int] = {}
    for situation in SITUATIONS:
        for name, steps in brute.explore(setup(situation, variant)).broken.items():
            broken[name] = min(steps, broken.get(name, steps))
    names = [*brute.BAD_STATES, *brute.BAD_STEPS, *brute.GOALS, brute.GO_ON]
    judged = examine(VARIANTS[variant], {}, only=names)
    mine = {r.name: len(r.counterexample.steps) for r in judged if r.verdict is Verdict.REFUTED and r.counterexample}
    assert mine == broken


def test_the_model_by_hand_uses_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(brute.__file__).read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert modules and {name.split(".")[0] for name in modules} <= sys.stdlib_module_names

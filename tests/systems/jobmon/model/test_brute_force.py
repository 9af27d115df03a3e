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
from schedproof.model.systems.jobmon.as_written.configurations import CONFIGURATIONS, Configuration
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.jobmon.model import brute_force as brute

VARIANTS = {model.variant: model for model in (AS_WRITTEN, REPAIRED)}
# The same with other numbers than the configurations have.
OTHERS = [
    Configuration("three attempts, all that can happen", tasks=[3], losable=True, hungry=True),
    Configuration("two workflows that may be halted", workflows=[1, 1], stoppable_runs=1),
    Configuration("two instances are stopped", tasks=[1], stoppable=2, losable=True),
    Configuration("two runs are halted", workflows=[1], stoppable_runs=2),
]


def setup(configuration: Configuration, variant: str) -> brute.Setup:
    return brute.Setup(
        tasks=tuple(configuration.tasks),
        flows=tuple(configuration.workflows),
        of_flow=configuration.of_workflow,
        instances=sum(configuration.tasks) + configuration.stoppable,
        runs=sum(configuration.workflows) + configuration.stoppable_runs,
        stoppable=configuration.stoppable,
        stoppable_runs=configuration.stoppable_runs,
        mortal=configuration.mortal,
        losable=configuration.losable,
        hungry=configuration.hungry,
        repaired=variant == "as-written-repaired",
    )


def number(name: Any) -> int | None:
    return None if name is None else int(str(name)[1:])


def world(instance: Instance, state: State) -> brute.World:
    """A state of the model as the hand-written one has it."""
    described = instance.describe(state)

    def of(sort: str) -> list[dict[str, Any]]:
        return list(described.get(sort, {}).values())

    return brute.World(
        tuple(brute.Task(o["state"], number(o["latest"]), o["attempts"], o["resources"]) for o in of("Task")),
        tuple(
            brute.Instance(o["state"], number(o["task"]), o["resources"], o["command"], o["at_hand"])
            for o in of("TaskInstance")
        ),
        tuple(brute.Flow(o["state"], number(o["latest"]), o["attempts"]) for o in of("Workflow")),
        tuple(brute.Run(o["state"], number(o["workflow"]), o["process"], o["at_hand"]) for o in of("WorkflowRun")),
    )


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
@pytest.mark.parametrize(
    "configuration", thinned([*CONFIGURATIONS, *OTHERS], 3), ids=lambda configuration: configuration.about
)
def test_both_have_the_same_states_steps_and_depths(configuration: Configuration, variant: str) -> None:
    model = VARIANTS[variant]
    rigid = configuration.rigid
    sizes = fitted(dict.fromkeys(("Workflow", "WorkflowRun", "Task", "TaskInstance"), 9), rigid)
    instance = Instance(model, sizes, rigid)
    exploration = explore(instance, symmetry=False)
    hand = brute.explore(setup(configuration, variant))
    assert exploration.ill_formed is None
    depth_of_model = {
        world(instance, state): depth for state, depth in zip(exploration.states, exploration.depths, strict=True)
    }
    assert depth_of_model == hand.depth_of
    assert exploration.transition_count == hand.transitions


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
def test_both_break_the_same_properties_after_as_many_steps(variant: str) -> None:
    broken: dict[str, int] = {}
    for configuration in CONFIGURATIONS:
        for name, steps in brute.explore(setup(configuration, variant)).broken.items():
            broken[name] = min(steps, broken.get(name, steps))
    names = [*brute.BAD_STATES, *brute.BAD_STEPS, *brute.GOALS, brute.GO_ON]
    checked = model_check(VARIANTS[variant], {}, only=names)
    refuted = {
        r.name: len(r.counterexample.steps) for r in checked if r.verdict is Verdict.REFUTED and r.counterexample
    }
    assert refuted == broken


def test_the_model_by_hand_uses_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(brute.__file__).read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert modules and {name.split(".")[0] for name in modules} <= sys.stdlib_module_names

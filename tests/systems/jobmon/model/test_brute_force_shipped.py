"""The models of Jobmon as it runs and repaired beside a hand-written one: the same states, each as deep, as many steps, the same failures."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import AlwaysCanReach, Invariant, Model, StepInvariant
from schedproof.model.semantics import Instance, State
from schedproof.model.semantics.instance import fitted
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED
from schedproof.model.systems.jobmon.shipped import tables
from schedproof.model.systems.jobmon.shipped.configurations import CONFIGURATIONS, LATE, Configuration
from schedproof.model.systems.jobmon.shipped.machines import MOST
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.verdict import Verdict
from tests.support.sample import thinned
from tests.systems.jobmon.model import brute_force_shipped as brute

VARIANTS = {model.variant: model for model in (SHIPPED, REPAIRED)}
OTHERS = [
    # the same with other numbers than the configurations have
    Configuration("a workflow without tasks, whose only run may be late", 1),
    Configuration("two runs without tasks, the first of which runs", 2, begun=True, mortal=("Client0",)),
    Configuration("a task with three attempts, nothing late", 1, (3,), 3, begun=True, mortal=(), punctual=LATE),
    Configuration("a task from the start of its run, and nobody dies", 1, (1,), 1, mortal=(), fallible=False),
    Configuration("a task whose distributor may die", 1, (2,), 2, begun=True, mortal=("Distributor",), fallible=False),
    Configuration(
        "a run that is resumed, whose command may fail and whose worker may be late", 2, (1,), 1, begun=True, mortal=()
    ),
    Configuration(
        "two workflows, one of which has a task, and whose runs may be late",
        *(2, (1,), 1),
        begun=True,
        mortal=(),
        fallible=False,
        punctual=("TaskInstance",),
        workflows=2,
    ),
    Configuration(
        "two workflows, one of which is resumed", *(3, (1, 1), 1), begun=True, mortal=(), punctual=LATE, workflows=2
    ),
    *(
        Configuration(
            f"{about}, {how}", runs, (2,), 2, True, mortal, punctual=punctual, ceiling=ceiling, workflows=flows
        )
        for how, ceiling in (("which may get more", MOST), ("which gets no more", 0))
        for about, runs, mortal, punctual, flows in (
            ("two workflows, one of which has a task", 2, (), LATE, 2),
            ("a task whose client may die", 1, ("Client",), ("TaskInstance",), 1),
        )
    ),
    Configuration("two runs after one that runs", *(3, (1,), 1), begun=True, mortal=(), fallible=False, punctual=LATE),
]
MORE = [
    Configuration(
        "a run that is resumed, whose first distributor may die",
        *(2, (1,), 2),
        begun=True,
        mortal=("Distributor0",),
        fallible=False,
        punctual=LATE,
    ),
]
SHORT = {s.about for s in OTHERS[:4]} | {
    "two runs of a workflow without tasks",
    "one run, and a task that needs more than any queue has",
    "one run, and a task whose job may be submitted though nobody knows",
}


def setup(configuration: Configuration, variant: str) -> brute.Setup:
    """The configuration as the other one has it."""

    def mortal(who: str, many: int) -> frozenset[int]:
        return frozenset(n for n in range(many) if {who, f"{who}{n}"} & set(configuration.mortal))

    return brute.Setup(
        runs=configuration.runs,
        tasks=tuple(configuration.tasks),
        instances=configuration.instances,
        begun=configuration.begun,
        mortal_clients=mortal("Client", configuration.runs),
        mortal_distributors=mortal("Distributor", configuration.runs),
        mortal_jobs=mortal("Job", configuration.instances),
        fallible=configuration.fallible,
        punctual_runs="WorkflowRun" in configuration.punctual,
        punctual_instances="TaskInstance" in configuration.punctual,
        ceiling=configuration.ceiling,
        unheard=configuration.unheard,
        workflows=configuration.workflows,
        repaired=variant == "repaired",
    )


def letters(states: dict[str, str]) -> dict[str, str]:
    return {"Absent": "-", **{name: letter for letter, name in states.items()}}


RUNS, TASKS = letters(tables.WORKFLOW_RUN_STATES), letters(tables.TASK_STATES)
INSTANCES, FLOWS = letters(tables.TASK_INSTANCE_STATES), letters(tables.WORKFLOW_STATES)
CLIENTS = {"NotStarted": "none", "ResumesCold": "cold", "ResumesHot": "hot", "Running": "on", "Gone": "gone"}
JOBS = {
    **{"Absent": "none", "Submitted": "submitted", "Running": "running", "Orphaned": "orphaned"},
    "Stopped": "stopped",
    **{"Succeeded": "ok", "Failed": "error", "OutOfResources": "resource"},
    **{"Reported": "reported", "Killed": "killed", "Refused": "refused"},
}


def number(name: Any) -> int | None:
    return None if name is None else int(str(name)[1:])


def numbers(names: Any) -> frozenset[int]:
    return frozenset(int(str(name)[1:]) for name in names)


def world(instance: Instance, state: State) -> brute.World:
    """A state of the model as the hand-written one has it."""
    described = instance.describe(state)

    def of(sort: str) -> list[dict[str, Any]]:
        return list(described.get(sort, {}).values())

    jobs = [JOBS[o["state"]] for o in of("Job")]
    return brute.World(
        tuple(FLOWS[o["state"]] for o in of("Workflow")),
        tuple(brute.Run(RUNS[o["state"]], o["overdue"]) for o in of("WorkflowRun")),
        tuple(CLIENTS[o["state"]] for o in of("Client")),
        tuple(
            brute.Distributor(CLIENTS[o["state"]], numbers(o.get("listed", ())), numbers(o["held"]))
            for o in of("Distributor")
        ),
        tuple(brute.Task(TASKS[o["state"]], o["attempts"], o["resources"], number(o["instance"])) for o in of("Task")),
        tuple(
            brute.Instance(
                INSTANCES[o["state"]],
                number(o["task"]),
                number(o["run"]),
                o["overdue"],
                o.get("doomed", False),
                o.get("fenced", False),
                job,
            )
            for o, job in zip(of("TaskInstance"), jobs, strict=True)
        ),
    )


def explored(configuration: Configuration, variant: str) -> Exploration:
    """The model there."""
    model, rigid = VARIANTS[variant], configuration.rigid
    sizes = fitted(dict.fromkeys((m.sort.name for m in model.machines), 9), rigid)
    return explore(Instance(model, sizes, rigid), symmetry=False)


def assert_same_graph(exploration: Exploration, hand: brute.Explored) -> None:
    """The same states, each as deep, and as many steps of each action."""
    assert exploration.ill_formed is None
    depth_of_model = {
        world(exploration.instance, state): depth
        for state, depth in zip(exploration.states, exploration.depths, strict=True)
    }
    assert depth_of_model == hand.depth_of
    assert exploration.per_action() == hand.transitions


@pytest.mark.parametrize("variant", thinned(VARIANTS, 4))
@pytest.mark.parametrize(
    "configuration",
    [
        pytest.param(
            s,
            marks=()
            if s.about in SHORT - {"a task with three attempts, nothing late"}
            else pytest.mark.long(one_in=32),
            id=s.about,
        )
        for s in [*[s for s in CONFIGURATIONS if s.about in SHORT], *OTHERS, *MORE]
    ],
)
def test_both_have_the_same_states_steps_and_depths(configuration: Configuration, variant: str) -> None:
    assert_same_graph(explored(configuration, variant), brute.explore(setup(configuration, variant), properties=False))


def checked_by_hand(model: Model) -> list[str]:
    """All properties of states, of steps, and of what can be reached."""
    return [p.name for p in model.properties if isinstance(p, Invariant | StepInvariant | AlwaysCanReach)]


def assert_both_break_the_same(variant: str, configuration: Configuration) -> set[str]:
    """The same properties fall, each after as many steps, on graphs that are the same; by hand it is explored once.

    Returns:
        The properties that fall.
    """
    model, rigid = VARIANTS[variant], configuration.rigid
    hand = brute.explore(setup(configuration, variant))
    assert_same_graph(explored(configuration, variant), hand)
    alone = replace(model, configurations=lambda sizes: [rigid], refuted=frozenset())
    # To begin interpreted, only to see that there are too many states for that, takes longer.
    engine = Engine.COMPILED if len(hand.depth_of) > 10_000 else Engine.INTERPRETED
    checked = model_check(alone, {}, only=checked_by_hand(model), how=Exploring(engine))
    refuted = {
        r.name: len(r.counterexample.steps) for r in checked if r.verdict is Verdict.REFUTED and r.counterexample
    }
    assert refuted == hand.broken
    return set(refuted)


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned(VARIANTS, 2))
def test_both_break_the_same_properties_after_as_many_steps(variant: str) -> None:
    """Where little happens: without tasks, and with one that is queued from the start of its run."""
    broken = [assert_both_break_the_same(variant, configuration) for configuration in (CONFIGURATIONS[0], OTHERS[3])]
    assert (variant == "repaired") is (not any(broken))


@pytest.mark.long(seconds=18, one_in=32)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda configuration: configuration.about)
def test_both_break_the_same_properties_in_each_configuration(configuration: Configuration, variant: str) -> None:
    """In one or another all fall that are expected to, as the model's own findings say (``test_shipped``)."""
    assert assert_both_break_the_same(variant, configuration) <= VARIANTS[variant].refuted


def test_the_model_by_hand_uses_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(brute.__file__).read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert modules and {name.split(".")[0] for name in modules} <= sys.stdlib_module_names

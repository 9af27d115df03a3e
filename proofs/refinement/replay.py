"""Replays runs of a model step by step: on the generated machines, and on a reference scheduler beside its model.

A scheduler chooses its path from one model state to the next, and may do more in between that is no step.
So in each state of the run the replay tries all that the scheduler can do, as the refinement check does.
It continues from every state in which the scheduler took the run's step. All other operations tried must be correct
too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from schedproof.impl.cascade import System as Machines
from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.model.semantics import Choice, Instance, Run, State, Stepper, parameters

from .graph import SILENT, SideBySide
from .mismatch import Mismatch, Stopped
from .modelside import ModelGraph, Normal

Replay = Callable[[Run], Mismatch | None]
"""Replays a run; returns the first difference, or None."""

CONFIGURATION_UNKNOWN = "the run is of no configuration that the scheduler can be put into"


def check_variant(run: Run, model: Model) -> None:
    """Refuses a run of another model than the scheduler's.

    Raises:
        ValueError: the run's system or variant is another.
    """
    expected = run.instance.model
    if (expected.system, expected.variant) != (model.system, model.variant):
        raise ValueError(f"the scheduler is one for {model.system} {model.variant}, not {expected.variant}")


MachineFactory = Callable[[Instance], Machines]


def step_words(instance: Instance, choice: Choice) -> str:
    """A step in words."""
    return ModelGraph(instance, (), {}).say_choice(choice)


def on_machines(run: Run, machines: MachineFactory = Machines.of) -> Mismatch | None:
    """Replays a run on the machines generated from the model; compares all objects after each step."""
    instance, path = run.instance, list[str]()
    try:
        system = machines(instance)
        if (wrong := _differs(instance, run.states[0], system)) is not None:
            return Mismatch("the machines do not begin where the model does", [], *wrong)
        for choice, after in zip(run.choices, run.states[1:], strict=True):
            path.append(step_words(instance, choice))
            shown = parameters(instance, choice)
            system.do(choice.action, **{n: frozenset(v) if isinstance(v, list) else v for n, v in shown.items()})
            if (wrong := _differs(instance, after, system)) is not None:
                return Mismatch("the machines come to another state than the model", path, *wrong)
    except Exception as error:  # a bug may raise any exception
        return Mismatch(f"the machines fail: {type(error).__name__}: {error}", path)
    return None


def _differs(instance: Instance, state: State, system: Machines) -> tuple[str, str] | None:
    """The first object that differs from the state: the expected and the actual fields, as text."""
    described = system.describe()
    for sort, objects in instance.describe(state).items():
        for name, fields in objects.items():
            if not fields:
                continue  # the object has rigid attributes only
            expected = {field: frozenset(v) if isinstance(v, list) else v for field, v in fields.items()}
            actual = {field: value for field, value in described[sort][name].items() if field in expected}
            if actual != expected:
                return f"{name}: {expected}", f"{name}: {actual}"
    return None


def along(run: Run, normal: Normal = lambda state: state) -> ModelGraph:
    """The part of the model's graph along a run: its states as normal forms, with all their steps."""
    stepper = Stepper(run.instance)
    steps = {
        normal(state): tuple((step.choice, normal(step.after)) for step in stepper.steps(state)) for state in run.states
    }
    return ModelGraph(run.instance, normal(run.states[0]), steps)


def follow(exploration: SideBySide, steps: Sequence[tuple[Choice, State]]) -> Mismatch | None:
    """Replays steps of the model on the scheduler of an exploration that has not begun.

    Args:
        exploration: the scheduler beside its model.
        steps: each with the state after it, in the form of the exploration's images.

    Returns:
        The first difference, or None.
    """
    path: list[str] = []
    expanded: set[int] = set()
    try:
        nodes = {exploration.begin()}
        for choice, after in steps:
            next_nodes = _step(exploration, nodes, choice, after, expanded)
            if not next_nodes:
                image = exploration.images[min(nodes)]
                return Mismatch(
                    f"the scheduler does not take {exploration.model.say_choice(choice)}",
                    path,
                    exploration.model.say_state(after),
                    f"nothing leads there from {exploration.model.say_state(image)}",
                )
            nodes = next_nodes
            path.append(exploration.model.say_choice(choice))
    except Stopped as stop:
        return stop.mismatch
    return None


def _step(exploration: SideBySide, nodes: Iterable[int], choice: Choice, after: State, expanded: set[int]) -> set[int]:
    """The nodes after the step. The step starts at the nearest nodes that silent edges reach and that have it."""
    layer, seen = list(nodes), set(nodes)
    while layer:
        reached: set[int] = set()
        silent: list[int] = []
        for node in layer:
            if node not in expanded:
                expanded.add(node)
                exploration.expand(node)
            for _, to, label in exploration.graph.out_edges(node, keys=True):
                if label == choice and exploration.images[to] == after:
                    reached.add(to)
                elif label == SILENT and to not in seen:
                    seen.add(to)
                    silent.append(to)
        if reached:
            return reached
        layer = silent
    return set()


def replays_of(system: System, model: Model) -> dict[str, Replay]:
    """The implementations that can replay a model's runs, by their names in reports.

    The generated machines replay every run of every variant. A reference scheduler replays the runs of the variant that
    it implements if its model's steps are its own; ``replays`` in the system's manifest declares this.
    An implementation that refines its model in one direction only may be unable to take a run that the model chose.
    """
    replays: dict[str, Replay] = {"the generated machines": on_machines}
    if (scheduler := system.replays.get(model.variant)) is not None:
        replays["the reference scheduler"] = scheduler
    return replays

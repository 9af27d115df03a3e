"""Runs of a model, step by step on implementations: on the generated machines, and on a reference scheduler beside its model.

A scheduler chooses how it comes from one of the model's states to the next, and may do more in between that is no step.
So all that it can do is tried in each state of the run, as the exploration side by side would, and the run goes on
wherever the run's step was taken. What is tried besides has to be right as well.
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
"""Replays a run; the first difference, None if there is none."""

CONFIGURATION_UNKNOWN = "the run is of no configuration that the scheduler can be put into"


def check_variant(run: Run, model: Model) -> None:
    """Refuses a run of another model than the scheduler's.

    Raises:
        ValueError: it is one.
    """
    mine = run.instance.model
    if (mine.system, mine.variant) != (model.system, model.variant):
        raise ValueError(f"the scheduler is one for {model.system} {model.variant}, not {mine.variant}")


MachineFactory = Callable[[Instance], Machines]


def say(instance: Instance, choice: Choice) -> str:
    """A step in words."""
    return ModelGraph(instance, (), {}).say_choice(choice)


def on_machines(run: Run, machines: MachineFactory = Machines.of) -> Mismatch | None:
    """Replays a run on the machines that are generated from the model; all objects are compared after each step."""
    instance, path = run.instance, list[str]()
    try:
        system = machines(instance)
        if (wrong := _differs(instance, run.states[0], system)) is not None:
            return Mismatch("the machines do not begin where the model does", [], *wrong)
        for choice, after in zip(run.choices, run.states[1:], strict=True):
            path.append(say(instance, choice))
            shown = parameters(instance, choice)
            system.do(choice.action, **{n: frozenset(v) if isinstance(v, list) else v for n, v in shown.items()})
            if (wrong := _differs(instance, after, system)) is not None:
                return Mismatch("the machines come to another state than the model", path, *wrong)
    except Exception as error:  # whatever a bug raises
        return Mismatch(f"the machines fail: {type(error).__name__}: {error}", path)
    return None


def _differs(instance: Instance, wanted: State, system: Machines) -> tuple[str, str] | None:
    """The first object that is not as in the state: as it should be, and as it is."""
    found = system.describe()
    for sort, objects in instance.describe(wanted).items():
        for name, fields in objects.items():
            if not fields:
                continue  # what never changes
            expected = {field: frozenset(v) if isinstance(v, list) else v for field, v in fields.items()}
            there = {field: value for field, value in found[sort][name].items() if field in expected}
            if there != expected:
                return f"{name}: {expected}", f"{name}: {there}"
    return None


def along(run: Run, normal: Normal = lambda state: state) -> ModelGraph:
    """The part of the model's graph that a run goes along: its states, made normal, with all their steps."""
    stepper = Stepper(run.instance)
    steps = {
        normal(state): tuple((step.choice, normal(step.after)) for step in stepper.steps(state)) for state in run.states
    }
    return ModelGraph(run.instance, normal(run.states[0]), steps)


def follow(exploration: SideBySide, steps: Sequence[tuple[Choice, State]]) -> Mismatch | None:
    """Replays steps of the model on the scheduler of an exploration that has not begun.

    Args:
        steps: each with the state after it, as the images of the exploration are.
    """
    taken: list[str] = []
    expanded: set[int] = set()
    try:
        here = {exploration.begin()}
        for choice, after in steps:
            there = _step(exploration, here, choice, after, expanded)
            if not there:
                image = exploration.images[min(here)]
                return Mismatch(
                    f"the scheduler does not take {exploration.model.say_choice(choice)}",
                    taken,
                    exploration.model.say_state(after),
                    f"nothing leads there from {exploration.model.say_state(image)}",
                )
            here = there
            taken.append(exploration.model.say_choice(choice))
    except Stopped as stop:
        return stop.mismatch
    return None


def _step(exploration: SideBySide, here: Iterable[int], choice: Choice, after: State, expanded: set[int]) -> set[int]:
    """The nodes to which the step leads, from the nearest ones that silent edges lead to and where it is taken."""
    layer, seen = list(here), set(here)
    while layer:
        found: set[int] = set()
        silent: list[int] = []
        for node in layer:
            if node not in expanded:
                expanded.add(node)
                exploration.expand(node)
            for _, to, label in exploration.graph.out_edges(node, keys=True):
                if label == choice and exploration.images[to] == after:
                    found.add(to)
                elif label == SILENT and to not in seen:
                    seen.add(to)
                    silent.append(to)
        if found:
            return found
        layer = silent
    return set()


def replays_of(system: System, model: Model) -> dict[str, Replay]:
    """The implementations that take a model's runs, each with how it is called.

    The generated machines take every run of every variant. A reference scheduler takes the runs of the variant that it
    implements, where its model's steps are its own: the system's manifest says which (``replays``). An implementation that
    refines its model in one direction need not be able to take a run that the model chose.
    """
    found: dict[str, Replay] = {"the generated machines": on_machines}
    if (scheduler := system.replays.get(model.variant)) is not None:
        found["the reference scheduler"] = scheduler
    return found

"""Runs generated machines beside the model's step, on every state and every choice of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from schedproof.impl.cascade import GuardFailed, System
from schedproof.impl.machines import IllegalEvent
from schedproof.model.lang import Action, Model
from schedproof.model.semantics.evaluate import Undefined
from schedproof.model.semantics.instance import Instance, State
from schedproof.model.semantics.step import Choice, Stepper

Described = dict[str, dict[str, dict[str, object]]]


@dataclass
class Counts:
    """What a comparison has seen."""

    states: int = 0
    choices: int = 0
    enabled: int = 0


def frozen(described: Described) -> Described:
    """The same description with sets instead of lists."""
    return {
        sort: {
            name: {field: frozenset(v) if isinstance(v, list) else v for field, v in fields.items()}
            for name, fields in objects.items()
        }
        for sort, objects in described.items()
    }


def changing(instance: Instance, state: State) -> Described:
    """A model state by names, without the sorts that have no states: they have no machines."""
    described = frozen(instance.describe(state))
    return {m.sort.name: described[m.sort.name] for m in instance.model.machines if m.states}


def put(system: System, described: Described) -> None:
    """Puts every object of ``system`` into the described state, through its public snapshot."""
    system.restore(
        tuple(
            (str(fields["state"]), tuple(v for field, v in fields.items() if field != "state"))
            for objects in described.values()
            for fields in objects.values()
        )
    )


def every_choice(instance: Instance, action: Action) -> Iterator[tuple[Choice, dict[str, object]]]:
    """Every choice of parameters from their types alone, enabled or not: encoded, and by names."""
    for values in product(*(instance.domain(v.type) for v in action.parameters)):
        encoded = tuple((v.name, n) for v, n in zip(action.parameters, values, strict=True))
        shown = {v.name: instance.show(v.type, n) for v, n in zip(action.parameters, values, strict=True)}
        yield Choice(action.name, encoded), {n: frozenset(v) if isinstance(v, list) else v for n, v in shown.items()}


def differences(
    system: System, model: Model, counts: Counts | None = None, *, most: int | None = None
) -> Iterator[str]:
    """Where the machines of ``system`` and the steps of ``model`` differ, on all that ``model`` can reach.

    ``most`` limits the comparison to that many states, breadth first.

    The states come from the model's step alone, so that a system that goes wrong is compared on
    every state nevertheless.
    """
    counts = counts if counts is not None else Counts()
    instance = Instance(model, system.instance.sizes, system.instance.rigid, system.instance.with_history)
    stepper = Stepper(instance)
    choices = [(a, list(every_choice(instance, a))) for a in model.actions]
    frontier = [instance.initial()]
    seen = set(frontier)
    for state in frontier:
        if counts.states == most:
            return
        counts.states += 1
        put(system, changing(instance, state))
        start = system.snapshot()
        if system.describe() != changing(instance, state):
            yield f"{state}: the machines cannot be put into this state"
        for action, every in choices:
            enabled = set(stepper.choices(state, action))
            for choice, parameters in every:
                counts.choices += 1
                where = f"{changing(instance, state)}: {choice.action}({parameters})"
                system.restore(start)
                try:
                    system.do(choice.action, **parameters)
                    refused = None
                except (GuardFailed, IllegalEvent, Undefined, ValueError) as problem:
                    refused = problem
                if refused is not None and system.snapshot() != start:
                    yield f"{where}: refused ({refused}), but something has changed"
                if choice not in enabled:
                    if not isinstance(refused, GuardFailed):
                        yield f"{where}: is not enabled, but the machines say {refused or 'done'}"
                    continue
                counts.enabled += 1
                after = stepper.step(state, choice).after
                if after not in seen:
                    seen.add(after)
                    frontier.append(after)
                if refused is not None:
                    yield f"{where}: is enabled, but refused: {refused}"
                elif system.describe() != changing(instance, after):
                    yield f"{where}: ends in {system.describe()}, not {changing(instance, after)}"

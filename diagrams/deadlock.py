"""A deadlock of a model as a wait-for graph: the first state that violates a property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedproof.model.lang import AlwaysCanReach, Model
from schedproof.model.lang.waiting import Waiting
from schedproof.model.semantics import Instance, State
from schedproof.proofs.exploration.explore import Progress

from .errors import DiagramError
from .explored import broken_states, explored_at
from .representation import Diagram
from .waiting import observed, wait_for

WAIT_FOR = "wait-for"
"""The name of these pictures on the command line."""


def deadlock(
    model: Model,
    waiting: Waiting,
    name: str,
    scope: Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> Diagram:
    """The wait-for graph of the state at which a shortest run violates the property ``name``.

    Args:
        model: the model to explore.
        waiting: what "holds" and "waits for" mean in this variant.
        name: the property.
        scope: the number of objects of each sort; by default the model's own.
        progress: called during the exploration.

    Raises:
        ScopeError: the scope is impossible.
        DiagramError: the model lacks the property, exploration does not refute it, or no object waits in that state.
    """
    if name not in {prop.name for prop in model.properties}:
        raise DiagramError(
            f"{model.system} ({model.variant}) has no property {name!r} whose violation could be drawn; "
            f"'schedproof list {model.system}' lists them"
        )
    by_property = deadlocks(model, waiting, [name], scope, progress)
    if name not in by_property:
        at = explored_at(model, scope or {})
        choices = ", ".join(n for n in waiting.deadlocks if n in model.refuted)
        raise DiagramError(
            f"exploration does not refute {name} in {model.system} ({model.variant}) at {at}, so no state can be "
            f"drawn; choose from {choices or 'none'}"
        )
    return by_property[name]


def deadlocks(
    model: Model,
    waiting: Waiting,
    names: Sequence[str],
    scope: Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> dict[str, Diagram]:
    """The pictures of :func:`deadlock` for each of ``names`` that exploration refutes, from one exploration."""
    return {
        name: wait_for(
            observed(instance, state, waiting),
            f"{model.system} ({model.variant}): who waits for whom when {name} is broken",
            _states(instance, state),
            doomed=isinstance(model.property(name), AlwaysCanReach),
        )
        for name, (instance, state) in broken_states(model, scope or {}, names, progress).items()
    }


def _states(instance: Instance, state: State) -> dict[str, str]:
    """The state of each object whose machine has more than one, by the object's name."""
    return {
        name: machine.states[state[instance.slot(machine.sort.name) + number]].name
        for machine in instance.model.machines
        if len(machine.states) > 1
        for number, name in enumerate(instance.object_names(machine.sort.name))
    }

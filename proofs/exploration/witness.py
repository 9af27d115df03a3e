"""The shortest run on which an object goes through the states of a life cycle."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from schedproof.model.lang import LifeCycle
from schedproof.model.semantics import Choice, IllFormed, Instance, State, Stepper, Undefined, stepper_of
from schedproof.proofs.verdict import Counterexample

from .runs import counterexample_of

MOST = 100_000
"""The limit for the pairs of a state and a position in the life cycle, for each object."""

Node = tuple[State, int]
"""A state, and how many states of the life cycle the object has reached."""


def witness(instance: Instance, prop: LifeCycle, most: int = MOST) -> Counterexample | None:
    """A shortest run of the first object that has one; None if none is found among ``most`` nodes for each object."""
    names = [s.name for s in instance.model.machine(prop.sort).states]
    life = [names.index(s) for s in prop.states]
    for number, name in enumerate(instance.object_names(prop.sort.name)):
        run = _run(instance, instance.slot(prop.sort.name) + number, life, most)
        if run is not None:
            says = f"{name} goes through {' -> '.join(prop.states)}"
            return counterexample_of(instance, run, says)
    return None


def _run(instance: Instance, slot: int, life: list[int], most: int) -> list[Choice] | None:
    """A shortest run that takes the field ``slot`` through the values ``life``."""
    stepper, first = stepper_of(instance), (instance.initial(), 0)
    if first[0][slot] != life[0]:
        return None
    came: dict[Node, tuple[Node, Choice] | None] = {first: None}
    queue = deque([first])
    while queue and len(came) <= most:
        node = state, position = queue.popleft()
        if position == len(life) - 1:
            return _back(came, node)
        for choice, after in _steps(stepper, state):
            moved = after[slot] != state[slot]
            if not moved or after[slot] == life[position + 1]:
                then = after, position + moved
                if then not in came:
                    came[then] = node, choice
                    queue.append(then)
    return None


def _steps(stepper: Stepper, state: State) -> Iterator[tuple[Choice, State]]:
    """The well-formed steps from a state."""
    for action in stepper.instance.model.actions:
        try:
            for choice in stepper.choices(state, action):
                try:
                    yield choice, stepper.step(state, choice).after
                except (IllFormed, Undefined):
                    continue
        except Undefined:
            continue


def _back(came: dict[Node, tuple[Node, Choice] | None], node: Node) -> list[Choice]:
    choices = []
    while (before := came[node]) is not None:
        node, choice = before
        choices.append(choice)
    return choices[::-1]

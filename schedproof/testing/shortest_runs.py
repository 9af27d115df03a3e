"""Shortest runs of a model to each of its actions, for lockstep tests."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from schedproof.model.lang import Action
from schedproof.model.semantics import Choice, IllFormed, Instance, State, Undefined, stepper_of

MOST_STATES = 5_000
"""The search ends after this many states, in less than a second. Actions that it has not met have no run."""


def shortest_runs(instance: Instance, actions: Sequence[Action]) -> Mapping[str, Sequence[Choice]]:
    """By name, a shortest run of ``actions`` in which that action is the last step and changes the state."""
    stepper, initial = stepper_of(instance), instance.initial()
    came: dict[State, tuple[State, Choice] | None] = {initial: None}
    runs: dict[str, Sequence[Choice]] = {}
    todo, expanded = deque([initial]), 0
    while todo and expanded < MOST_STATES and len(runs) < len(actions):
        state = todo.popleft()
        expanded += 1
        try:
            steps = list(stepper.steps(state, actions))
        except (IllFormed, Undefined):
            continue  # random steps report it
        for step in steps:
            if step.after != state and step.choice.action not in runs:
                runs[step.choice.action] = [*_run_to(came, state), step.choice]
            if step.after not in came:
                came[step.after] = state, step.choice
                todo.append(step.after)
    return {action.name: runs[action.name] for action in actions if action.name in runs}


def _run_to(came: Mapping[State, tuple[State, Choice] | None], state: State) -> list[Choice]:
    run: list[Choice] = []
    while (origin := came[state]) is not None:
        state, choice = origin
        run.append(choice)
    return run[::-1]

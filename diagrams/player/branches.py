"""The steps that are enabled along a run, and where they lead, to a depth."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import msgspec

from schedproof.model.semantics import Choice, IllFormed, Instance, State, Undefined
from schedproof.proofs.exploration.runs import changes, trace_step
from schedproof.proofs.verdict import TraceStep

from .cascades import Cascades, play
from .data import Branches, EnabledStep, PlayedStep

MOST_DEPTH = 2
"""The most steps away from the run."""

MOST_ENABLED = 4_000
"""The most enabled steps of a page, in all states together. States near the end of the run come first."""


def branches(cascades: Cascades, states: Sequence[State], choices: Sequence[Choice], depth: int) -> Branches:
    """The enabled steps of the states of a run, and of the states up to ``depth - 1`` steps from it.

    Args:
        states: of the run; the first is the initial state.
        choices: of the run.
        depth: the number of steps away from the run, 0 to :data:`MOST_DEPTH`.
    """
    return _Branches(cascades).along(states, choices, depth)


class _Branches:
    """Expands states, each once, and stores each step once: many states enable the same steps."""

    def __init__(self, cascades: Cascades) -> None:
        self._cascades, self._instance = cascades, cascades.stepper.instance
        self._enabled: dict[State, list[tuple[Choice, int, State | None]]] = {}
        self._steps: dict[bytes, tuple[int, PlayedStep]] = {}

    def along(self, states: Sequence[State], choices: Sequence[Choice], depth: int) -> Branches:
        work = deque((state, 1) for state in dict.fromkeys(reversed(states))) if depth else deque()
        number = omitted = 0
        while work:
            state, at = work.popleft()
            if state in self._enabled:
                continue
            if number >= MOST_ENABLED:
                omitted += 1
                continue
            self._enabled[state] = expanded = list(self._expand(state))
            number += len(expanded)
            if at < depth:
                work.extend((after, at + 1) for _, _, after in expanded if after is not None)
        numbers = {state: n for n, state in enumerate(self._enabled)}
        return Branches(
            depth,
            tuple(step for _, step in self._steps.values()),
            tuple(
                tuple(EnabledStep(step, numbers.get(after) if after is not None else None) for _, step, after in each)
                for each in self._enabled.values()
            ),
            tuple(numbers.get(state) for state in states),
            tuple(self._run_step(state, choice) for state, choice in zip(states, choices, strict=False)),
            omitted,
        )

    def _run_step(self, state: State, choice: Choice) -> int | None:
        """The position of the run's own step among the enabled ones."""
        return next((n for n, (each, _, _) in enumerate(self._enabled.get(state, ())) if each == choice), None)

    def _expand(self, state: State) -> Iterator[tuple[Choice, int, State | None]]:
        stepper = self._cascades.stepper
        for action in self._instance.model.actions:
            try:
                choices = stepper.choices(state, action)
            except Undefined:
                continue  # the guard has no value, which is a counterexample of its own
            for choice in choices:
                step = _described(self._instance, self._cascades, state, choice)
                position, played = play(self._cascades, state, choice, step)
                yield choice, self._number(played), None if step.ill_formed else position.state

    def _number(self, step: PlayedStep) -> int:
        return self._steps.setdefault(msgspec.json.encode(step), (len(self._steps), step))[0]


def _described(instance: Instance, cascades: Cascades, state: State, choice: Choice) -> TraceStep:
    try:
        _, changed = changes(cascades.stepper, state, choice)
    except (IllFormed, Undefined) as error:
        return trace_step(instance, choice, state, (), str(error))
    return trace_step(instance, choice, state, changed)

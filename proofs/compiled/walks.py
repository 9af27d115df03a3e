"""Random walks through a state space that is too large to explore."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.model.lang import Property
from schedproof.model.semantics import Choice, Instance
from schedproof.proofs.exploration.safety import Check, Watch, checks_of
from schedproof.proofs.inner_loops import inner_loop

from .kernel import call
from .layout import Words
from .safety import compiled_conditions
from .steps import Program, Seen, first_choices, program
from .table import U, mix

AT_ONCE = 1 << 16
"""The number of steps between two checks of the notes."""

_GOLDEN = U(0x9E3779B97F4A7C15)


@inner_loop
def _walk(
    address: int, initial: Any, length: int, steps: int, state: Any, counters: Any, trail: Any, out: Any, chosen: Any,
    seen: Any, times: Any, weights: Any, cut_at: int,
) -> None:  # fmt: skip
    """Takes ``steps`` steps.

    Args:
        state: the current state.
        counters: the steps so far, the steps of this walk, the finished walks, those of them that ended because nothing
            changes any more, the seed, and the finished walks that only steps beyond the bounds of integers continue.
        trail: the choices of this walk.
        times: by choice, the number of its steps.
        weights: by choice, its share of the probability; none gives all steps the same.
        cut_at: the index in ``seen`` of the number of states with a step beyond the bounds of integers.
    """
    words = len(initial)
    state_at, out_at, chosen_at, seen_at = state.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    done = 0
    while done < steps:
        cut_before = seen[cut_at]
        step_count = call(address, state_at, out_at, chosen_at, seen_at, counters[0])
        over = True
        for i in range(step_count * words):
            if out[i] != state[i % words]:
                over = False
                break
        total = U(step_count)
        if len(weights):
            total = U(0)
            for i in range(step_count):
                total += weights[chosen[i]]
        over = over or total == 0
        if over or counters[1] == length:
            counters[2] += 1
            if over and seen[cut_at] > cut_before:
                counters[5] += 1
            else:
                counters[3] += over
            if counters[1] == 0:
                return
            counters[1] = 0
            for k in range(words):
                state[k] = initial[k]
            continue
        # splitmix64: the n-th number of a seed is a function of n and the seed.
        random = mix(U(counters[4]) + U(counters[0] + 1) * _GOLDEN)
        drawn = ((random >> U(32)) * total) >> U(32)
        index = np.int64(0)
        if len(weights):
            while drawn >= weights[chosen[index]]:
                drawn -= weights[chosen[index]]
                index += 1
        else:
            index = np.int64(drawn)
        for k in range(words):
            state[k] = out[index * words + k]
        times[chosen[index]] += 1
        trail[counters[1]] = chosen[index]
        counters[0] += 1
        counters[1] += 1
        done += 1


@dataclass(frozen=True)
class Walked:
    """The result of random walks.

    Args:
        steps: the number of steps.
        walks: the number of walks.
        ended: the number of walks that reached a state in which nothing changes any more, or no step has a weight.
        cut: the number of walks that ended where only steps beyond the bounds of integers change something.
        action_counts: the number of steps of each action.
        watches: the safety properties; a failed one was violated in a state of a walk, or by a step from one.
        ill_formed: the choice of the first ill-formed step, if there was one.
        runs: for each failure, by the number of its step, the choices that lead to its state.
    """

    instance: Instance
    steps: int
    walks: int
    ended: int
    cut: int
    seconds: float = field(compare=False)
    action_counts: Counter[str]
    watches: Sequence[Watch]
    ill_formed: tuple[int, Choice, str] | None
    runs: dict[int, list[Choice]]

    def path(self, state: int) -> list[Choice]:
        """The run to a state at which something failed."""
        return self.runs[state]


def walk(
    instance: Instance,
    props: Sequence[Property],
    *,
    steps: int,
    length: int,
    seed: int,
    crash: bool = True,
    weights: Mapping[str, int] = {},
    progress: Callable[[int], None] | None = None,
) -> Walked:
    """Walks at random and checks safety properties; each enabled step has the same probability, unless weights are given.

    Args:
        steps: the total number of steps.
        length: the greatest number of steps of a walk; a walk also ends when nothing changes any more.
        seed: equal seeds give equal walks.
        weights: of actions, at most 1,000; 1 for the others. The probability of a step is the weight of its action,
            divided by the sum of those of all enabled steps.
        progress: called regularly with the number of steps.
    """
    watches = [Watch(prop, checks_of(instance, prop, crash=crash)) for prop in props]
    actions = [a for a in instance.model.actions if crash or not a.crash]
    code = program(instance, actions, compiled_conditions(instance, watches, crash=crash))
    walker = _Walker(code, length, seed, weights)
    walker.go(0)  # loads the code, which must not count in the rate
    start = time.perf_counter()
    while walker.steps < steps and not walker.stuck:
        walker.go(min(AT_ONCE, steps - walker.steps))
        if progress is not None:
            progress(walker.steps)
    seconds = time.perf_counter() - start
    for number, check in enumerate(check for each in watches for check in each.checks):
        _fill(check, number, walker)
    return Walked(
        instance,
        walker.steps,
        walker.walks,
        int(walker.counters[3]),
        int(walker.counters[5]),
        seconds,
        walker.per_action(),
        watches,
        walker.ill_formed,
        walker.runs,
    )


def _fill(check: Check, number: int, walker: _Walker) -> None:
    """Copies a program's notes about a condition to a check."""
    at = walker.program.seen.condition(number)
    check.met = bool(walker.seen[at])
    if walker.seen[at + 1]:
        action = walker.program.actions[int(walker.seen[at + 2])].name
        check.failed = (
            int(walker.seen[at + 1]) - 1,
            action if walker.program.conditions[number].actions is not None else None,
        )


class _Walker:
    """Walks with their notes, and the runs to the noted states."""

    def __init__(self, program: Program, length: int, seed: int, weights: Mapping[str, int]) -> None:
        words = program.layout.words
        self.program, self._length = program, length
        self._initial: Words = np.array(program.layout.pack(program.instance.initial()), np.uint64)
        self._state = self._initial.copy()
        self.counters: NDArray[np.int64] = np.array([0, 0, 0, 0, seed, 0], np.int64)
        self._trail: NDArray[np.uint64] = np.zeros(length, np.uint64)
        self._out: Words = np.empty(program.choices * words, np.uint64)
        self._chosen: NDArray[np.uint64] = np.empty(program.choices, np.uint64)
        self.seen: NDArray[np.int64] = np.zeros(program.seen.size, np.int64)
        self._times: NDArray[np.int64] = np.zeros(program.choices, np.int64)
        self.runs: dict[int, list[Choice]] = {}
        firsts = first_choices(program.instance, program.actions)
        of_choices = [
            [weights.get(a.name, 1)] * (b - f) for a, f, b in zip(program.actions, firsts, firsts[1:], strict=False)
        ]
        self._weights = np.array([w for each in of_choices for w in each] if weights else [], np.uint64)
        self._places = [Seen.ill_formed, *(program.seen.condition(n) + 1 for n in range(len(program.conditions)))]

    @property
    def steps(self) -> int:
        """The number of steps taken."""
        return int(self.counters[0])

    @property
    def walks(self) -> int:
        """The number of walks begun."""
        return int(self.counters[2]) + 1

    @property
    def stuck(self) -> bool:
        """Whether nothing changes from the initial state on."""
        return bool(self.counters[3] or self.counters[5]) and self.counters[1] == 0 and self.steps == 0

    def per_action(self) -> Counter[str]:
        """The number of steps of each action."""
        totals: Counter[str] = Counter()
        for number in np.flatnonzero(self._times):
            totals[self.program.choice(int(number)).action] += int(self._times[number])
        return totals

    @property
    def ill_formed(self) -> tuple[int, Choice, str] | None:
        """The first ill-formed step of a walk."""
        number, action = int(self.seen[Seen.ill_formed]), int(self.seen[Seen.ill_formed + 1])
        return (number - 1, Choice(self.program.actions[action].name), "") if number else None

    def go(self, steps: int) -> None:
        """Takes steps; after a new note it repeats them up to the noted state, to record the run."""
        before = self._state.copy(), self.counters.copy(), self._trail.copy()
        known = self.seen[self._places].copy()
        self._take(steps, self.seen, self._times)
        after = self._state.copy(), self.counters.copy(), self._trail.copy()
        for number in sorted({int(n) - 1 for n in self.seen[self._places][known == 0] if n}):
            self._state[:], self.counters[:], self._trail[:] = before
            self._take(number - self.steps, np.zeros_like(self.seen), np.zeros_like(self._times))
            self.runs[number] = [self.program.choice(int(c)) for c in self._trail[: self.counters[1]]]
        self._state[:], self.counters[:], self._trail[:] = after

    def _take(self, steps: int, seen: NDArray[np.int64], times: NDArray[np.int64]) -> None:
        _walk(
            self.program.machine(None).address("steps"), self._initial, self._length, steps, self._state, self.counters, self._trail,
            self._out, self._chosen, seen, times, self._weights, self.program.seen.cut,
        )  # fmt: skip

"""Random runs with random values of rigid attributes: samples beyond the configurations that a model declares.

A proof is about all values that the axioms permit. A model declares a few, and what is true of these only is no lemma: that
nothing is tried twice, or that two machines never run together.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace

from schedproof.model.lang import BoolType, EnumType, Integer, IntRange, Model
from schedproof.model.semantics import Instance, State
from schedproof.model.semantics.evaluate import Undefined
from schedproof.model.semantics.step import IllFormed, stepper_of

from .columns import States
from .configurations import draw_configuration

SIZES = 10
"""How many numbers of objects are tried."""

MOST_OBJECTS = 4
"""The most objects of a sort."""

CONFIGURATIONS, STATES, STEPS = 12, 600, 10
"""For each of them, how many values of the rigid attributes, how many states runs have with each, and the most steps of a run."""

IN_VAIN = 20
"""Runs end when so many in a row have shown no new state."""


class StartStates:
    """Where runs begin, so that some lead far from the initial state: by turns by the control state, and by the objects in it.

    A *control state* has the states of the machines of all objects; of an object whose machine has one state only, its
    attributes. The states that were the first in a control state are as often a beginning as each other. But a task that is tried
    for the third time is in no new control state. So are, by themselves, the states that were the first with a state of a single
    object: that of its machine with its attributes, without references and sets.
    """

    def __init__(self, instance: Instance, start: State) -> None:
        control, objects = list(_control(instance)), list(_objects(instance))
        self._orders = deque([
            _Order(start, lambda state: [tuple([state[at] for at in control])]),
            _Order(start, lambda state: [(sort, *[state[at] for at in slots]) for sort, slots in objects]),
        ])  # fmt: skip

    def add(self, state: State) -> None:
        """Notes a state that was reached."""
        for order in self._orders:
            order.add(state)

    def next(self, chance: random.Random) -> State:
        """The state in which the next run begins."""
        order = self._orders[0]
        self._orders.rotate()
        return order.next(chance)


class _Order:
    """The states that were the first with one of their keys: those in which the fewest runs began come first."""

    def __init__(self, start: State, keys: Callable[[State], Iterable[Hashable]]) -> None:
        self._keys = keys
        self._by_runs = [[start]]
        self._known = set(keys(start))

    def add(self, state: State) -> None:
        if new := set(self._keys(state)) - self._known:
            self._known |= new
            self._by_runs[0].append(state)

    def next(self, chance: random.Random) -> State:
        number = next(n for n, states in enumerate(self._by_runs) if states)
        state = self._by_runs[number].pop(chance.randrange(len(self._by_runs[number])))
        if number + 1 == len(self._by_runs):
            self._by_runs.append([])
        self._by_runs[number + 1].append(state)
        return state


def _control(instance: Instance) -> Iterator[int]:
    """Where a state has what makes a control state."""
    for machine in instance.model.machines:
        sort = machine.sort.name
        names = [""] if len(machine.states) > 1 else [a.name for a in instance.attributes(sort)]
        yield from (instance.slot(sort, name) + n for name in names for n in range(instance.sizes[sort]))


def _objects(instance: Instance) -> Iterator[tuple[str, list[int]]]:
    """For each object its sort, and where a state has the state of its machine and its truth values, words and numbers."""
    for machine in instance.model.machines:
        sort = machine.sort.name
        few = [a.name for a in instance.attributes(sort) if isinstance(a.type, (BoolType, EnumType, Integer, IntRange))]
        first = [instance.slot(sort, name) for name in [*([""] if len(machine.states) > 1 else []), *few]]
        yield from ((sort, [at + n for at in first]) for n in range(instance.sizes[sort]))


def random_runs(
    model: Model, history: frozenset[tuple[str, str]], halt: Callable[[], str], seed: int = 1
) -> Iterator[States]:
    """The states of random runs, for some numbers of objects each; none if the model has no rigid attributes.

    They are the same each time for the same ``seed``.
    """
    chance = random.Random(seed)
    for number in range(SIZES if model.rigid_attributes else 0):
        # Without other objects, runs lead further for those that there are.
        least = number % 2
        sizes = {s.name: 1 if s.single else chance.randint(least, MOST_OBJECTS) for s in model.sorts}
        instance = Instance(model, sizes, {}, bool(history), history=history or None, rigid_in_state=True)
        states: dict[State, None] = {}
        runs = _Runs(instance)
        for configuration in _configurations(instance, chance):
            if configuration.sizes != runs.instance.sizes:  # objects were left out; otherwise all share what runs learn
                runs = _Runs(replace(configuration, rigid={}))
            starts = StartStates(runs.instance, configuration.initial())
            left, in_vain = STATES, 0
            while left > 0 and in_vain < IN_VAIN:
                if halt():
                    return
                run, known = list(runs.next(starts, chance)), len(states)
                states.update(dict.fromkeys(run))
                left -= len(run)
                in_vain = 0 if len(states) > known else in_vain + 1
        if states:
            yield States.of(replace(runs.instance), list(states))  # without the stepper and what it learned


def _configurations(instance: Instance, chance: random.Random) -> Iterator[Instance]:
    """The instance with random values of the rigid attributes that satisfy the axioms; each time with the same objects."""
    first = draw_configuration(instance, chance)
    if first is None:
        return
    yield first
    same = replace(first, rigid={})
    for _ in range(CONFIGURATIONS - 1):
        other = draw_configuration(same, chance, fewer=False)
        if other is not None:
            yield other


class _Runs:
    """Random runs of an instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self._stepper = instance, stepper_of(instance)
        self._offers = self._stepper.offers(instance.model.actions)

    def next(self, starts: StartStates, chance: random.Random) -> Iterator[State]:
        """The states of a run: each time a random action that is enabled, and a random choice of it. It ends where a step is ill-formed."""
        state = starts.next(chance)
        yield state
        for _ in range(STEPS):
            offered = self._offers(state)
            choices = chance.choice(offered)[1] if offered else ()
            if isinstance(choices, Undefined) or not choices:
                return
            try:
                state = self._stepper.step(state, chance.choice(choices)).after
            except (IllFormed, Undefined):
                return
            starts.add(state)
            yield state

"""Random runs with random values of rigid attributes: samples beyond the configurations that a model declares.

A proof is about all values that the axioms permit. A model declares a few, and what is true of these only is no lemma: that
nothing is tried twice, or that two machines never run together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from schedproof.model.lang import Model, Ref, Rigid
from schedproof.model.lang.model import RigidValue
from schedproof.model.semantics import Instance, State
from schedproof.model.semantics.evaluate import Moment, Undefined, compile_term
from schedproof.model.semantics.instance import NO_OBJECT, domain_size
from schedproof.model.semantics.step import IllFormed, stepper_of

from .columns import States

SIZES = 10
"""How many numbers of objects are tried."""

MOST_OBJECTS = 4
"""The most objects of a sort."""

CONFIGURATIONS, RUNS, STEPS = 12, 20, 150
"""For each of them, how many values of the rigid attributes, how many runs with each, and the most steps of a run."""

TRIES = 200
"""So often random values may violate the axioms, one time after another."""


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
        for start in _starts(instance, chance):
            for _ in range(RUNS):
                if halt():
                    return
                states.update(dict.fromkeys(_run(instance, start, chance)))
        if states:
            yield States.of(instance, list(states))


def _starts(instance: Instance, chance: random.Random) -> Iterator[State]:
    """Initial states with random values of the rigid attributes that satisfy the axioms."""
    axioms = [compile_term(instance, axiom, {}) for axiom in instance.model.premises]
    for _ in range(CONFIGURATIONS):
        for _ in range(TRIES):
            start = replace(instance, rigid=_rigid(instance, chance)).initial()
            if all(axiom(Moment(start)) for axiom in axioms):
                yield start
                break
        else:
            return


def _rigid(instance: Instance, chance: random.Random) -> Rigid:
    """A random value of each rigid attribute for each object; the initial one where its type has too many."""
    rigid: dict[tuple[str, str], list[RigidValue]] = {}
    for (sort, name), attribute in instance.model.rigid_attributes.items():
        try:
            domain = instance.domain(attribute.type)
        except TypeError:
            continue
        least = NO_OBJECT if isinstance(attribute.type, Ref) else 0
        drawn = [chance.randrange(least, domain_size(domain)) for _ in range(instance.sizes[sort])]
        values = [n if n == NO_OBJECT else domain[n] for n in drawn]
        rigid[sort, name] = [instance.decoded(attribute.type, value) for value in values]
    return rigid


def _run(instance: Instance, start: State, chance: random.Random) -> Iterator[State]:
    """The states of a run: each time a random action that is enabled, and a random choice of it. It ends where a step is ill-formed."""
    stepper, state = stepper_of(instance), start
    yield state
    for _ in range(STEPS):
        actions = list(instance.model.actions)
        chance.shuffle(actions)
        try:
            choices = next((some for each in actions if (some := stepper.choices(state, each))), ())
            if not choices:
                return
            state = stepper.step(state, chance.choice(choices)).after
        except (IllFormed, Undefined):
            return
        yield state

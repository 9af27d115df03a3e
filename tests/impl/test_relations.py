"""Machines with relations: the model's step, and what a machine computes of its own."""

from __future__ import annotations

from random import Random

import pytest

from schedproof.impl import values
from schedproof.impl.cascade import System
from schedproof.impl.machines import object_machines
from schedproof.model.semantics import Instance, Stepper, instances
from tests.impl.machine_comparison import frozen
from tests.support.keys import KEYS
from tests.support.rows import each_row


def keys(**sizes: int) -> Instance:
    (instance,) = instances(KEYS, sizes)
    return instance


def follows(instance: Instance, many: int) -> int:
    """Steps at random, in the model and in the machines; how many of them the machines did as the model has it."""
    chance = Random(1)
    system = System.of(instance)
    stepper, state = Stepper(instance), instance.initial()
    for number in range(many):
        steps = list(stepper.steps(state))
        staying = [each for each in steps if each.choice.action != "leave"]
        step = chance.choice(staying if staying and number % 8 else steps)
        types = {v.name: v.type for v in instance.model.action(step.choice.action).parameters}
        shown = {name: instance.show(types[name], value) for name, value in step.choice.parameters}
        system.do(step.choice.action, **{n: frozenset(v) if isinstance(v, list) else v for n, v in shown.items()})
        state = step.after
        described = frozen(instance.describe(state))
        for sort, objects in frozen(system.describe()).items():
            for name, fields in objects.items():
                if fields != described[sort][name]:
                    return number
    return many


def test_machines_lock_and_drop_as_the_model_does() -> None:
    assert follows(keys(Node=2, Client=6, Key=3), 40) == 40


def test_a_machine_that_adds_another_tuple_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: where a machine computes its new relation, the objects of a tuple are exchanged."""
    right = values.own_value

    def exchanged(term, me, kept, payload):  # type: ignore[no-untyped-def]
        value = right(term, me, kept, payload)
        return value[::-1] if isinstance(value, tuple) else value

    monkeypatch.setattr(values, "own_value", exchanged)
    assert follows(keys(Node=2, Client=6, Key=3), 40) < 40


def test_a_machine_computes_its_own_relation() -> None:
    node = object_machines(KEYS, "Node", ["n0"])["n0"]
    node.fire("lock", by="ann", key="door")
    node.fire("lock", by="bob", key="safe")
    node.fire("unlock", by="ann", key="door")
    assert node.values == {"held": frozenset({("safe", "bob")})}


@each_row("value", ["door", {"door"}, {("door",)}, {("door", 3)}, {("door", "ann", "bob")}])
def test_what_is_no_relation_is_refused(value: object) -> None:
    kind = KEYS.machine("Node").attributes[0].type
    with pytest.raises(ValueError, match=r"is not a relation; give a set of tuples of names \(Key, Client\)"):
        values.checked(kind, value, "held")
    assert values.checked(kind, [("door", "ann")], "held") == frozenset({("door", "ann")})

"""Machines whose numbers have no bound: the model's step, however far they count."""

from random import Random

import pytest

from schedproof.impl.cascade import GuardFailed, System
from schedproof.impl.machines import object_machines
from schedproof.model.semantics import Instance, Stepper
from tests.support.elections import ELECTION


def test_machines_count_beyond_the_bound_of_explorations() -> None:
    chance, system = Random(1), System(ELECTION, {"Node": 3})
    instance = Instance(ELECTION, {"Node": 3})
    stepper, state = Stepper(instance), instance.initial()
    for _ in range(600):
        step = chance.choice(list(stepper.steps(state)))
        names = {name: f"n{number}" for name, number in step.choice.parameters}
        system.do(step.choice.action, **names)
        state = step.after
        assert system.describe() == instance.describe(state)
    assert max(fields["term"] for fields in system.describe()["Node"].values()) > 100  # type: ignore[type-var]


def test_a_guard_compares_integers_of_any_size() -> None:
    system = System(ELECTION)
    for _ in range(50):
        system.do("stand", n="n0")
    with pytest.raises(GuardFailed):
        system.do("win", n="n1")
    system.do("win", n="n0")
    system.do("follow", n="n1", m="n0")
    assert system.describe()["Node"]["n1"]["term"] == 50


def test_a_machine_refuses_what_is_no_nat() -> None:
    node = object_machines(ELECTION, "Node", ["n0"])["n0"]
    with pytest.raises(ValueError, match="-1 is not a value of type Nat"):
        node.fire("follow", term=-1)
    node.fire("follow", term=10**30)
    assert node.values == {"term": 10**30}

"""Machines with functions: in a cascade they do the model's steps; one alone says that it cannot."""

from random import Random

import pytest

from schedproof.impl.cascade import System
from schedproof.impl.machines import object_machines
from schedproof.model.semantics import Instance, Stepper, instances
from tests.support.messages import NATURALS, RANGES


@pytest.mark.parametrize("model", [RANGES, NATURALS], ids=["ranges", "naturals"])
def test_machines_do_the_steps_of_the_model(model: object) -> None:
    chance = Random(2)
    [instance] = instances(model, {"Node": 3, "Item": 2})  # type: ignore[arg-type]
    assert isinstance(instance, Instance)
    system = System(instance.model, dict(instance.sizes), rigid=instance.rigid)
    stepper, state = Stepper(instance), instance.initial()
    for _ in range(40):
        steps = list(stepper.steps(state))
        if not steps:
            break
        step = chance.choice([each for each in steps if each.choice.action == "send"] or steps)
        letters = {"n": "n", "o": "n", "i": "i"}
        system.do(step.choice.action, **{name: f"{letters[name]}{number}" for name, number in step.choice.parameters})
        state = step.after
        assert system.describe()["Node"] == {
            name: {field: dict(value) if isinstance(value, list) else value for field, value in fields.items()}
            for name, fields in instance.describe(state)["Node"].items()
        }


def test_a_machine_alone_refuses_what_it_cannot_compute() -> None:
    node = object_machines(RANGES, "Node", ["n0", "n1"])["n0"]
    with pytest.raises(Exception, match="depends on other objects"):
        node.fire("send", to="n1", what="i0")

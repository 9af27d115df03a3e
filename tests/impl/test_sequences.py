"""Machines with sequences: in a cascade they do the model's steps; one alone says that it cannot."""

from random import Random

import pytest

from schedproof.impl.cascade import System
from schedproof.impl.machines import object_machines
from schedproof.model.semantics import Stepper, instances
from tests.support.logs import NATURALS, RANGES


@pytest.mark.parametrize("model", [RANGES, NATURALS], ids=["ranges", "naturals"])
def test_machines_do_the_steps_of_the_model(model: object) -> None:
    chance = Random(1)
    [instance] = instances(model, {"Node": 2, "Job": 2})  # type: ignore[arg-type]
    system = System(instance.model, dict(instance.sizes), rigid=instance.rigid)
    stepper, state, longest = Stepper(instance), instance.initial(), 0
    letters = {"n": "n", "o": "n", "j": "j"}
    for _ in range(60):
        steps = [step for step in stepper.steps(state) if step.choice.action != "stop"]
        step = chance.choice(steps)
        system.do(step.choice.action, **{name: f"{letters[name]}{number}" for name, number in step.choice.parameters})
        state = step.after
        described = instance.describe(state)["Node"]
        shown = {
            name: {field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()}
            for name, fields in described.items()
        }
        assert system.describe()["Node"] == shown
        longest = max(longest, *(len(fields["log"]) for fields in described.values()))  # type: ignore[arg-type]
    assert longest == 2


def test_a_machine_alone_refuses_what_it_cannot_compute() -> None:
    node = object_machines(RANGES, "Node", ["n0"])["n0"]
    with pytest.raises(Exception, match="depends on other objects"):
        node.fire("push", job="j0")

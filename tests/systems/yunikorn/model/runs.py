"""Runs of YuniKorn's core, alone or with its shim, step by step by the names of the actions; what is seen of a state."""

from __future__ import annotations

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, Step, Stepper
from schedproof.model.systems.yunikorn.configurations import Configuration


def instance(model: Model, configuration: Configuration) -> Instance:
    """``model`` in ``configuration``: of what this does not speak of, one."""
    rigid = configuration.rigid(shipped=model.variant != "as-written")
    known = {(m.sort.name, a.name) for m in model.machines for a in m.attributes if a.rigid}
    kept = {key: values for key, values in rigid.items() if key in known}
    sizes = {sort.name: 1 for sort in model.sorts} | {sort: len(values) for (sort, _), values in kept.items()}
    return Instance(model, sizes, kept)


class Run:
    """Actions one after the other; each is named alone where there is one choice of its parameters, else with them."""

    def __init__(self, model: Model, configuration: Configuration) -> None:
        self.instance = instance(model, configuration)
        self.stepper = Stepper(self.instance)
        self.state = self.instance.initial()
        self.last: Step | None = None

    def do(self, *actions: str) -> Run:
        """Takes the steps; "end 1" is the action end with 1 as its first parameter, "allocate 1 0" and so on."""
        for call in actions:
            name, *numbers = call.split()
            steps = [s for s in self.stepper.steps(self.state) if s.choice.action == name]
            for position, number in enumerate(numbers):
                steps = [s for s in steps if s.choice.parameters[position][1] == int(number)]
            assert len(steps) == 1, f"{call}: {[s.choice for s in steps] or self.possible()}"
            self.last = steps[0]
            self.state = self.last.after
        return self

    def possible(self) -> set[str]:
        """The actions that can be taken."""
        return {s.choice.action for s in self.stepper.steps(self.state)}

    def of(self, sort: str, number: int = 0) -> str:
        """The state of an object."""
        machine = self.instance.model.machine(sort)
        return machine.states[self.state[self.instance.slot(sort) + number]].name

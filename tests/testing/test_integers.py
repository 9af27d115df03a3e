"""Lockstep with integers without a bound: steps go beyond the bounds of explorations, and no bound is needed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from schedproof.impl.cascade import GuardFailed, System
from schedproof.testing import OutOfStep, Refused, World, lockstep
from tests.support.clocks import ACTIONS, CLOCKS, clocks
from tests.support.sample import thinned


class Clocks:
    """Nodes that count, and show what they have."""

    def __init__(self, world: World) -> None:
        self.nodes = {name: {"time": 0, "seen": 0, "debt": 0} for name in world.objects["Node"]}

    def stored(self, value: int) -> int:
        """A number as it is kept."""
        return value

    def put(self, node: str, field: str, value: int) -> None:
        self.nodes[node][field] = self.stored(value)

    def tick(self, a: str) -> None:
        self.put(a, "time", self.nodes[a]["time"] + 1)

    def sync(self, a: str, b: str) -> None:
        if self.nodes[a]["time"] >= self.nodes[b]["time"]:
            raise Refused(f"{b} is not ahead")
        self.put(a, "time", self.nodes[b]["time"])

    def note(self, a: str) -> None:
        self.put(a, "seen", self.nodes[a]["time"])

    def owe(self, a: str) -> None:
        self.put(a, "debt", self.nodes[a]["debt"] - 1)

    def lower(self, a: str) -> None:
        if self.nodes[a]["seen"] == 0:
            raise Refused(f"{a} has seen nothing")
        self.put(a, "seen", self.nodes[a]["seen"] - 1)

    def observe(self) -> dict[str, Any]:
        return {"Node": {name: {"state": "Up", **values} for name, values in self.nodes.items()}}


class Saturated(Clocks):
    """Numbers stop one beyond the bound of the model's explorations, in either direction."""

    def stored(self, value: int) -> int:
        return max(-3, min(value, 3))


class LateSync(Clocks):
    """Takes the time of another that is not ahead."""

    def sync(self, a: str, b: str) -> None:
        self.put(a, "time", self.nodes[b]["time"])


class Floats(Clocks):
    """Numbers are of another type."""

    def stored(self, value: int) -> Any:
        return float(value)


class Generated:
    """The machines of the model."""

    def __init__(self, world: World) -> None:
        self.system = System(CLOCKS, names=world.objects)

    def __getattr__(self, name: str) -> Any:
        if all(action.name != name for action in ACTIONS):
            raise AttributeError(name)
        return partial(self.system.do, name)

    def observe(self) -> Any:
        return self.system.describe()


def run(implementation: Any, *, refusals: bool = False) -> None:
    refused = GuardFailed if implementation is Generated else Refused
    for model in (CLOCKS, clocks(bound={})):
        run_state_machine_as_test(
            lockstep(model, implementation, refused=refused, refusals=refusals),
            settings=settings(
                suppress_health_check=list(HealthCheck),
                max_examples=12,
                stateful_step_count=30,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
            ),
        )


@pytest.mark.parametrize(
    ("implementation", "refusals"), thinned([(Clocks, True), (Generated, False), (Clocks, False), (Generated, True)], 4)
)
def test_an_implementation_that_counts_on_is_in_step(implementation: Any, refusals: bool) -> None:
    run(implementation, refusals=refusals)


@pytest.mark.parametrize("wrong", [Saturated, Floats])
def test_numbers_that_an_implementation_cuts_are_noticed(wrong: type[Clocks]) -> None:
    with pytest.raises(OutOfStep):
        run(wrong)


def test_a_guard_that_compares_otherwise_is_noticed() -> None:
    with pytest.raises(OutOfStep, match="sync"):
        run(LateSync, refusals=True)


def test_a_generated_machine_refuses_a_nat_below_0() -> None:
    """As the model does, where the step is ill-formed."""
    unguarded = [replace(each, when=[]) if each.name == "lower" else each for each in ACTIONS]
    system = System(clocks(actions=unguarded), {"Node": 1})
    system.do("owe", a="n0")
    with pytest.raises(ValueError, match="seen"):
        system.do("lower", a="n0")
    assert system.describe()["Node"]["n0"] == {"state": "Up", "time": 0, "seen": 0, "debt": -1}

"""The Hypothesis state machine that drives an implementation and its model: see :func:`schedproof.testing.lockstep`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from schedproof.model.lang import Action
from schedproof.model.semantics import Instance

from .lockstep import Agreement, Pair


class LockstepMachine(RuleBasedStateMachine):
    """The common base of the machines of all models; :func:`machine` makes their rules."""

    agreement: Agreement
    instances: Sequence[Instance]
    pair: Pair | None = None
    step_count = 0
    """The number of steps in all runs of one test."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Starts a new implementation in one of the configurations."""
        several = len(self.instances) > 1
        number = data.draw(st.integers(0, len(self.instances) - 1), label="configuration") if several else 0
        self.pair = Pair(self.agreement, self.instances[number])
        self.pair.begin()

    def allows(self, action: Action) -> bool:
        """Whether the model allows the action in the current state, for some parameters."""
        return self.pair is not None and bool(self.pair.allowed(action))

    @precondition(lambda self: not any(self.allows(action) for action in self.agreement.actions))
    @rule()
    def nothing_can_happen(self) -> None:
        """Compares both sides if no action is enabled; Hypothesis needs at least one rule to take."""
        assert self.pair is not None
        self.pair.compare_unchanged()

    def teardown(self) -> None:
        """Counts the steps, and calls the implementation's ``close``, if it has one."""
        if self.pair is None:
            return
        type(self).step_count += self.pair.steps_taken
        close = getattr(self.pair.implementation, "close", None)
        if callable(close):
            close()


def machine(agreement: Agreement, instances: Sequence[Instance], *, refusals: bool) -> type[LockstepMachine]:
    """The machine class of a model: one rule for each action, enabled where the model allows the action."""
    rules: dict[str, Any] = {"agreement": agreement, "instances": instances}
    for action in agreement.actions:
        name = re.sub(r"\W", "_", f"take_{action.name}")
        while name in rules:
            name += "_"
        rules[name] = _taking(action, name)
    if refusals:
        rules["ask_for_what_is_not_allowed"] = _refusing(agreement.actions)
    model = agreement.model
    name = re.sub(r"\W", "_", f"Lockstep_{model.system}_{model.variant}")
    machine_class: Any = type(
        name, (LockstepMachine,), {"__doc__": f"{model.system} {model.variant} in lockstep.", **rules}
    )
    # Hypothesis would explain a failure by lines of the model interpreter: that is slow, and of no help.
    before = machine_class.TestCase.settings
    machine_class.TestCase.settings = settings(
        before, phases=[phase for phase in before.phases if phase is not Phase.explain]
    )
    machine_class.TestCase = _not_idle(machine_class)
    made: type[LockstepMachine] = machine_class
    return made


def _not_idle(machine_class: Any) -> Any:
    """The test case of a machine, which fails if no run takes a step: it would test nothing."""

    class TestCase(machine_class.TestCase):  # type: ignore[misc]
        def runTest(self) -> None:  # noqa: N802
            __tracebackhide__ = True
            machine_class.step_count = 0
            super().runTest()
            if not machine_class.step_count:
                what = f"{machine_class.agreement.model.system} {machine_class.agreement.model.variant}"
                self.fail(
                    f"no step of {what} was taken, so nothing was tested; see what the model allows and what is refused"
                )

    return TestCase


def _taking(action: Action, name: str) -> Callable[..., None]:
    def take(self: LockstepMachine, data: st.DataObject) -> None:
        __tracebackhide__ = True
        pair = self.pair
        assert pair is not None
        allowed = {repr(pair.named(action, given)): given for given in pair.allowed(action)}
        # The names are drawn, so that a failure shows them.
        drawn = data.draw(st.sampled_from(list(allowed)), label=action.name)
        pair.take(action, allowed[drawn])

    take.__name__ = take.__qualname__ = name
    wrapped: Callable[..., None] = precondition(lambda self: self.allows(action))(rule(data=st.data())(take))
    return wrapped


def _refusing(actions: Sequence[Action]) -> Callable[..., None]:
    def ask_for_what_is_not_allowed(self: LockstepMachine, data: st.DataObject) -> None:
        __tracebackhide__ = True
        pair = self.pair
        assert pair is not None
        name = data.draw(st.sampled_from([action.name for action in actions]), label="action")
        action = next(action for action in actions if action.name == name)
        chosen_names = pair.agreement.chooses.get(name, ())
        given = []
        for v in action.parameters:
            if v.name not in chosen_names:
                values = {repr(pair.instance.show(v.type, value)): value for value in pair.instance.domain(v.type)}
                given.append((v.name, values[data.draw(st.sampled_from(list(values)), label=v.name)]))
        if tuple(given) not in pair.allowed(action):
            pair.refuse(action, tuple(given))

    wrapped: Callable[..., None] = rule(data=st.data())(ask_for_what_is_not_allowed)
    return wrapped

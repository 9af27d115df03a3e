"""The Hypothesis state machine that drives an implementation and its model: see :func:`schedproof.testing.lockstep`."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from schedproof.model.lang import Action
from schedproof.model.semantics import Choice, Instance

from .lockstep import Agreement, Pair
from .shortest_runs import shortest_runs

ANYWHERE = "anywhere"
"""The name of the run without steps."""

MOST_NAMED = 8
"""A warning names at most so many actions."""


class LockstepMachine(RuleBasedStateMachine):
    """The common base of the machines of all models; :func:`machine` makes their rules."""

    agreement: Agreement
    instances: Sequence[Instance]
    runs: Callable[[int], Mapping[str, Sequence[Choice]]]
    """Number of a configuration -> name of an action -> a shortest run in which it is the last step."""

    pair: Pair | None = None
    step_counts: ClassVar[Counter[str]] = Counter()
    """How often each action was taken, in all runs of one test."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Starts a new implementation in one of the configurations, perhaps with a shortest run to some action.

        Random steps alone seldom reach an action that needs several others before it.
        """
        several = len(self.instances) > 1
        number = data.draw(st.integers(0, len(self.instances) - 1), label="configuration") if several else 0
        self.pair = Pair(self.agreement, self.instances[number])
        self.pair.begin()
        runs = type(self).runs(number)
        self.pair.follow(runs[data.draw(st.sampled_from(list(runs)), label="first a run to")])

    def allows(self, action: Action) -> bool:
        """Whether the model allows the action in the current state, for some parameters, and it was not tried in vain."""
        return self.pair is not None and bool(self.pair.untried(action))

    @precondition(lambda self: not any(self.allows(action) for action in self.agreement.actions))
    @rule()
    def nothing_can_happen(self) -> None:
        """Compares both sides if no action is left; Hypothesis needs at least one rule to take."""
        assert self.pair is not None
        self.pair.compare_unchanged()

    def teardown(self) -> None:
        """Counts the steps, and calls the implementation's ``close``, if it has one."""
        if self.pair is None:
            return
        type(self).step_counts.update(self.pair.history)
        close = getattr(self.pair.implementation, "close", None)
        if callable(close):
            close()


def machine(agreement: Agreement, instances: Sequence[Instance], *, refusals: bool) -> type[LockstepMachine]:
    """The machine class of a model: one rule for each action, enabled where the model allows the action."""
    runs = cache(lambda number: {ANYWHERE: (), **shortest_runs(instances[number], agreement.actions)})
    rules: dict[str, Any] = {"agreement": agreement, "instances": instances, "runs": staticmethod(runs)}
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
    machine_class.TestCase = _counting(machine_class)
    made: type[LockstepMachine] = machine_class
    return made


def _counting(machine_class: Any) -> Any:
    """The test case of a machine. It fails if no run takes a step, since it tests nothing, and names actions never taken."""

    class TestCase(machine_class.TestCase):  # type: ignore[misc]
        def runTest(self) -> None:  # noqa: N802
            __tracebackhide__ = True
            machine_class.step_counts = Counter()
            super().runTest()
            agreement = machine_class.agreement
            what = f"{agreement.model.system} {agreement.model.variant}"
            never = [action.name for action in agreement.actions if not machine_class.step_counts[action.name]]
            if len(never) == len(agreement.actions):
                self.fail(
                    f"no step of {what} was taken, so nothing was tested; see what the model allows and what is refused"
                )
            if never:
                more = f" and {len(never) - MOST_NAMED} more" if len(never) > MOST_NAMED else ""
                warnings.warn(
                    f"lockstep with {what} took no step of {', '.join(never[:MOST_NAMED])}{more}; "
                    "take more objects (scope) or more runs (max_examples), or leave them out (without)",
                    stacklevel=2,
                )

    return TestCase


def _taking(action: Action, name: str) -> Callable[..., None]:
    def take(self: LockstepMachine, data: st.DataObject) -> None:
        __tracebackhide__ = True
        pair = self.pair
        assert pair is not None
        allowed = {repr(pair.named(action, given)): given for given in pair.untried(action)}
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
        # Each condition is broken in turn: at random, nearly all choices break the first one.
        forbidden = pair.forbidden(action)
        for some in forbidden.values():
            choices = {repr(pair.named(action, given)): given for given in some}
            pair.refuse(action, choices[data.draw(st.sampled_from(list(choices)), label=name)])
        if forbidden:
            return
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

"""Invariants, step invariants and recovery judged on an explored graph."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from schedproof.model.lang import Invariant, Model, Property, Recovery, StepInvariant, Var, after, iff
from schedproof.model.lang.check import common_parameters
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    Moment,
    State,
    Step,
    Stepper,
    Undefined,
    compile_term,
)

from .explore import Exploration, proper_steps
from .trace import run
from .verdict import Counterexample

SAFETY = (Invariant, StepInvariant, Recovery)
"""The kinds that one bad state or step refutes."""


def recovery_steps(model: Model, prop: Recovery) -> list[StepInvariant]:
    """A recovery property as one step invariant of the crash for each part."""
    crashes = [a.name for a in model.actions if a.crash]
    return [
        StepInvariant(
            name=prop.name,
            says=prop.says,
            line=prop.line,
            over=restored.over,
            on=crashes,
            then=iff(after(restored.what), restored.durable),
            place=prop.place,
        )
        for restored in prop.restores
    ]


class Check:
    """One condition of a property, judged at one moment after the other.

    ``met`` turns true when its premise is; ``failed`` is the first state number, and for steps the
    action, where it did not hold.
    """

    def __init__(self, instance: Instance, prop: Invariant | StepInvariant) -> None:
        scope = {v.name: v for v in [*common_parameters(instance.model, getattr(prop, "on", ())), *prop.over]}
        self.prop = prop
        self.met = False
        self.failed: tuple[int, str | None] | None = None
        self._instance = instance
        self._given = compile_term(instance, prop.given, scope) if prop.given is not None else None
        self._then = compile_term(instance, prop.then, scope)

    def concerns(self, action: str) -> bool:
        """The condition is asked of this action's steps."""
        return isinstance(self.prop, StepInvariant) and (not self.prop.on or action in self.prop.on)

    def violated(self, moment: Moment) -> str | None:
        """For which objects the condition does not hold; None if for none."""
        try:
            for m in _bindings(self._instance, self.prop.over, moment):
                if self._given is None or self._given(m):
                    self.met = True
                    if not self._then(m):
                        named = [f"{v.name} = {self._instance.show(v.type, m.bound[v.name])}" for v in self.prop.over]
                        return ", ".join(named) or "the system"
        except Undefined as error:
            return f"an object that is not: {error}"
        return None


def _bindings(instance: Instance, over: Sequence[Var], moment: Moment) -> Iterator[Moment]:
    """``moment`` with each binding of ``over`` in turn (the same object, changed in place)."""
    if not over:
        yield moment
        return
    for value in instance.domain(over[0].type):
        moment.bound[over[0].name] = value
        yield from _bindings(instance, over[1:], moment)


@dataclass(frozen=True)
class Watch:
    """A property and its conditions, judged."""

    prop: Property
    checks: Sequence[Check]
    seconds: float = field(compare=False, default=0.0)

    @property
    def met(self) -> bool:
        """Every condition's premise was true somewhere."""
        return all(check.met for check in self.checks)

    def failed(self) -> Check | None:
        """The condition that failed, nearest to the initial state."""
        failed = [c for c in self.checks if c.failed is not None]
        return min(failed, key=lambda c: c.failed or (0, None), default=None)


def watch(found: Exploration, props: Sequence[Property]) -> list[Watch]:
    """Judges safety properties on all states and steps of ``found``."""
    instance = found.instance
    watches = []
    for prop in props:
        parts = recovery_steps(instance.model, prop) if isinstance(prop, Recovery) else [prop]
        checks = [Check(instance, part) for part in parts if isinstance(part, Invariant | StepInvariant)]
        start = time.perf_counter()
        for check in checks:
            if isinstance(check.prop, Invariant):
                _on_states(found, check)
        watches.append(Watch(prop, checks, time.perf_counter() - start))
    _on_steps(found, [c for w in watches for c in w.checks if isinstance(c.prop, StepInvariant)])
    return watches


def _on_states(found: Exploration, check: Check) -> None:
    for number, state in enumerate(found.states):
        if check.violated(Moment(state)) is not None:
            check.failed = (number, None)
            return


def _on_steps(found: Exploration, checks: Sequence[Check]) -> None:
    if not checks:
        return
    stepper = Stepper(found.instance)
    for number, edges in enumerate(found.edges):
        state = found.states[number]
        for edge in edges:
            open_ = [c for c in checks if c.failed is None and c.concerns(edge.choice.action)]
            if open_:
                step = stepper.step(state, edge.choice)
                for check in open_:
                    if check.violated(_moment(state, step)) is not None:
                        check.failed = (number, edge.choice.action)


def _moment(state: State, step: Step) -> Moment:
    """What a step invariant can see of a step."""
    return Moment(state, dict(step.choice.parameters), step.fired, step.after)


def counterexample(found: Exploration, check: Check) -> Counterexample:
    """A shortest run to the violation.

    The run is found again among real states, since symmetry explores only one of each kind.
    """
    assert check.failed is not None
    number, action = check.failed
    choices, now = real_run(found, number)
    stepper = Stepper(found.instance)
    where = ""
    if action is None:
        where = check.violated(Moment(now)) or ""
    else:
        for step in proper_steps(stepper, now, action):
            where = check.violated(_moment(now, step)) or ""
            if where:
                choices.append(step.choice)
                break
    return Counterexample(run(found.instance, choices), f"{check.prop.says}: not so for {where}")


def ill_formed(found: Exploration) -> Counterexample:
    """A shortest run to a step that the model must not allow."""
    assert found.ill_formed is not None
    number, bad, message = found.ill_formed
    choices, now = real_run(found, number)
    stepper = Stepper(found.instance)
    try:
        for choice in stepper.choices(now, found.instance.model.action(bad.action)):
            try:
                stepper.step(now, choice)
            except (IllFormed, Undefined) as error:
                return Counterexample(run(found.instance, [*choices, choice]), str(error))
    except Undefined as error:
        message = str(error)
    return Counterexample(run(found.instance, choices), message)


def real_run(found: Exploration, number: int) -> tuple[list[Choice], State]:
    """A shortest run to state ``number`` (or a renaming of it), and where it ends."""
    stepper, now = Stepper(found.instance), found.instance.initial()
    choices = found.path(number)
    for choice in choices:
        now = stepper.step(now, choice).after
    return choices, now

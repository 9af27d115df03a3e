"""Invariants, step invariants, recovery and deadlock freedom, checked on an explored graph."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schedproof.model.lang import DeadlockFree, Invariant, Model, Property, Recovery, StepInvariant, after, exists, iff
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.terms import Not, Or, Term, Var, both
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    Moment,
    Remembered,
    State,
    Step,
    Undefined,
    search,
    stepper_of,
)
from schedproof.model.semantics.reasons import counted_text
from schedproof.model.semantics.search import Search
from schedproof.proofs.verdict import Counterexample

from .explore import Exploration, Halt, Progress, Runs, explore, proper_steps
from .limits import Enough
from .relevance import actions_that_meet
from .runs import counterexample_of

SAFETY = (Invariant, StepInvariant, Recovery, DeadlockFree)
"""The kinds of properties that one bad state or step refutes."""


def recovery_steps(model: Model, prop: Recovery) -> list[StepInvariant]:
    """A recovery property as step invariants of the crash, one for each part."""
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


def something_can_happen(model: Model, prop: DeadlockFree) -> Invariant:
    """Deadlock freedom as an invariant: some action's guard holds, for some choice of its parameters.

    It names no object, so symmetry is as sound for it as for other invariants.
    """
    counted = [a for a in model.actions if a.name not in prop.without]
    ways: list[Term] = []
    for action in sorted(counted, key=lambda a: len(a.parameters)):  # cheap guards first
        guard = both(action.when)
        ways.append(exists(action.parameters, guard) if action.parameters else guard)
    return Invariant(
        name=prop.name,
        says=prop.says,
        line=prop.line,
        over=[],
        given=Not(prop.ended) if prop.ended is not None else None,
        then=Or(tuple(ways)),
        place=prop.place,
    )


IN_NO_OBJECT = "in the final state"
"""The place of a violation of a condition without variables."""


class Check:
    """One condition of a property, checked on states or steps one after the other.

    Attributes:
        met: the premise was true somewhere.
        failed: the number of the first violating state; for steps, their source and action.
        violated_in: :meth:`violated` of a state, cached for explorations.
    """

    def __init__(self, instance: Instance, prop: Invariant | StepInvariant, whole: str = IN_NO_OBJECT) -> None:
        self._whole = whole
        self.prop = prop
        self.met = False
        self.failed: tuple[int, str | None] | None = None
        self._instance = instance
        self.violated_in = Remembered(lambda state: self.violated(Moment(state)))

    @cached_property
    def _scope(self) -> dict[str, Var]:
        """The variables that the condition may read."""
        common = common_parameters(self._instance.model, getattr(self.prop, "on", ()))
        return {v.name: v for v in [*common, *self.prop.over]}

    @cached_property
    def _searches(self) -> tuple[Search[Moment], Search[Moment]]:
        """For objects that meet the premise, and for those that violate the condition. Compiled code needs neither."""
        instance, prop = self._instance, self.prop
        scope = self._scope
        given = [prop.given] if prop.given is not None else []
        violated = [*given, Not(prop.then, place=prop.then.place)]
        return search(instance, scope, prop.over, given), search(instance, scope, prop.over, violated)

    def concerns(self, action: str) -> bool:
        """Whether the condition applies to this action's steps, and any of them may meet its premise."""
        return isinstance(self.prop, StepInvariant) and action in actions_that_meet(self._instance.model, self.prop)

    def violated(self, moment: Moment) -> str | None:
        """The place of a violation, such as ``for r = r0``; None if the condition holds."""
        premise, violation = self._searches
        try:
            self.met = self.met or premise.succeeds(moment)
            if violation.succeeds(moment):
                named = [f"{v.name} = {self._instance.show(v.type, moment.bound[v.name])}" for v in self.prop.over]
                return f"for {', '.join(named)}" if named else self._whole
        except Undefined as error:
            return f"because it reads an object that does not exist: {error}"
        return None

    def counted(self, moment: Moment) -> str:
        """What the counts of the condition count where :meth:`violated` found it violated: `` (3 counted: g1, g2, g4)``."""
        if any(v.name not in moment.bound for v in self.prop.over):
            return ""  # it reads an object that does not exist, for some of the values
        text = counted_text(self._instance, moment, [self.prop.then], self._scope)
        return f" ({text})" if text else ""


@dataclass(frozen=True)
class Watch:
    """A property and its checked conditions."""

    prop: Property
    checks: Sequence[Check]
    seconds: float = field(compare=False, default=0.0)

    @property
    def met(self) -> bool:
        """Whether every condition's premise was true somewhere."""
        return all(check.met for check in self.checks)

    def failed(self) -> Check | None:
        """The violated condition that is nearest to the initial state; None if all hold."""
        failed = [c for c in self.checks if c.failed is not None]
        return min(failed, key=lambda c: c.failed or (0, None), default=None)


def checks_of(instance: Instance, prop: Property, *, crash: bool = True) -> list[Check]:
    """The conditions of a property, not yet checked."""
    whole = IN_NO_OBJECT
    if isinstance(prop, DeadlockFree):
        apart = f" apart from {', '.join(prop.without)}" if prop.without else ""
        whole = f"by a deadlock: in the final state no action is enabled{apart}"
    return [Check(instance, part, whole) for part in conditions_of(instance.model, prop, crash=crash)]


def conditions_of(model: Model, prop: Property, *, crash: bool = True) -> list[Invariant | StepInvariant]:
    """The conditions to which a safety property reduces; none for other properties.

    Args:
        crash: crash actions are taken; else they do not count as a way out of a deadlock.
    """
    match prop:
        case Invariant() | StepInvariant():
            return [prop]
        case Recovery():
            return list(recovery_steps(model, prop))
        case DeadlockFree():
            crashes = [] if crash else [a.name for a in model.actions if a.crash]
            return [something_can_happen(model, replace(prop, without=[*prop.without, *crashes]))]
    return []


def watch(
    instance: Instance,
    props: Sequence[Property],
    *,
    symmetry: bool = True,
    crash: bool = True,
    limit: int | None = None,
    total_limit: int | None = None,
    halt: Halt | None = None,
    progress: Progress | None = None,
    enough: Enough | None = None,
) -> tuple[Exploration, list[Watch]]:
    """Explores ``instance``, and checks safety properties on all its states and steps.

    Args:
        enough: when the search may stop early, because the number of states is not needed. Others: see ``explore``.

    Returns:
        The exploration, and each property with its checked conditions.
    """
    checks = {prop.name: checks_of(instance, prop, crash=crash) for prop in props}
    on_steps = [c for each in checks.values() for c in each if isinstance(c.prop, StepInvariant)]
    of_action = {a.name: [c for c in on_steps if c.concerns(a.name)] for a in instance.model.actions}

    def on_step(state: State, number: int, step: Step) -> None:
        for check in of_action[step.choice.action]:
            # A new moment for each check: a search leaves variables bound, which may have the names of parameters.
            if check.failed is None and check.violated(_moment(state, step)) is not None:
                check.failed = (number, step.choice.action)

    checked = 0
    seconds = dict.fromkeys(checks, 0.0)

    def check_states(so_far: Exploration) -> None:
        """Checks invariants on the states that are not yet checked."""
        nonlocal checked
        for name, each in checks.items():
            start = time.perf_counter()
            for check in each:
                if isinstance(check.prop, Invariant) and check.failed is None:
                    _on_states(so_far, check, checked)
            seconds[name] += time.perf_counter() - start
        checked = len(so_far.states)

    def on_depth(so_far: Exploration) -> str:
        assert enough is not None
        check_states(so_far)
        refuted = all(any(check.failed is not None for check in each) for each in checks.values())
        return enough.reason(so_far.depths[-1], len(so_far.states), refuted=refuted)

    exploration = explore(
        instance,
        symmetry=symmetry,
        crash=crash,
        limit=limit,
        total_limit=total_limit,
        halt=halt,
        progress=progress,
        on_step=on_step,
        on_depth=on_depth if enough is not None else None,
    )
    check_states(exploration)
    return exploration, [Watch(prop, checks[prop.name], seconds[prop.name]) for prop in props]


def _on_states(exploration: Exploration, check: Check, first: int) -> None:
    """Checks an invariant on the states from number ``first`` on."""
    for number in range(first, len(exploration.states)):
        if check.violated_in(exploration.states[number]) is not None:
            check.failed = (number, None)
            return


def _moment(state: State, step: Step) -> Moment:
    """The part of a step that a step invariant can read."""
    return Moment(state, dict(step.choice.parameters), step.fired, step.after)


def counterexample(explored: Runs, check: Check) -> Counterexample:
    """A shortest run to the violation.

    It is reconstructed from real states, since symmetry explores representatives only.
    """
    assert check.failed is not None
    number, action = check.failed
    choices, now = real_run(explored, number)
    stepper = stepper_of(explored.instance)
    moment, where = Moment(now), ""
    if action is None:
        where = check.violated(moment) or ""
    else:
        for step in proper_steps(stepper, now, action):
            moment = _moment(now, step)
            where = check.violated(moment) or ""
            if where:
                choices.append(step.choice)
                break
    problem = f"property {check.prop.name} is violated{where and f' {where}'}{check.counted(moment)}"
    return counterexample_of(explored.instance, choices, problem, over=check.prop.over, bound=moment.bound)


def ill_formed(explored: Runs) -> Counterexample:
    """A shortest run to the first ill-formed step."""
    assert explored.ill_formed is not None
    number, bad, message = explored.ill_formed
    choices, now = real_run(explored, number)
    stepper = stepper_of(explored.instance)
    try:
        for choice in stepper.choices(now, explored.instance.model.action(bad.action)):
            try:
                stepper.step(now, choice)
            except (IllFormed, Undefined) as error:
                return counterexample_of(explored.instance, [*choices, choice], str(error))
    except Undefined as error:
        message = f"the guard of {bad.action} has no value: {error}"
    return counterexample_of(explored.instance, choices, message)


def real_run(explored: Runs, number: int) -> tuple[list[Choice], State]:
    """A shortest run to state ``number`` or a renaming of it, and its final state."""
    stepper, now = stepper_of(explored.instance), explored.instance.initial()
    choices = explored.path(number)
    for choice in choices:
        now = stepper.step(now, choice).after
    return choices, now

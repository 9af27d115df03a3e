"""Runs for a reader: names, sentences, and changed fields with their rule and document line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from schedproof.model.lang import Ref, Rule, SetOf, Var
from schedproof.model.lang.disposable import ABSENT
from schedproof.model.lang.rules import filled, placeholders
from schedproof.model.semantics import (
    Causes,
    Choice,
    IllFormed,
    Instance,
    State,
    Stepper,
    Undefined,
    parameters,
    stepper_of,
)
from schedproof.proofs.verdict import Counterexample, FieldChange, TraceStep

from .counterexample_text import shown
from .recorded_run import recorded_run
from .run_facts import Object, beginning, called, ending, introductions, setting


def sentence(instance: Instance, choice: Choice, before: State) -> str:
    """The choice as one plain sentence, from the action's ``says``; sets that the sentence does not name are added.

    Args:
        before: the state before the step, from which the sentence has its fields.
    """
    action = instance.model.action(choice.action)
    types = {v.name: v.type for v in action.parameters}
    values = {n: shown(v) for n, v in parameters(instance, choice).items()}
    for name, value in choice.parameters:
        if isinstance(of := types[name], Ref) and value >= 0:
            values[name] = called(instance, of.sort.name, value)
    named = set(placeholders(action.says))
    sets = [f"{n} = {v}" for n, v in values.items() if isinstance(types[n], SetOf) and n not in named]

    def value_of(name: str) -> str:
        return values[name] if name in values else _field(instance, choice, before, name)

    return filled(action.says, value_of) + (f", with {', '.join(sets)}" if sets else "")


def _field(instance: Instance, choice: Choice, before: State, placeholder: str) -> str:
    """The value of ``p.field`` before a step, in words; "none" if it is a field of no object."""
    variables = {v.name: v for v in instance.model.action(choice.action).parameters}
    first, *fields = placeholder.split(".")
    kind, number = variables[first].type, dict(choice.parameters)[first]
    for name in fields:
        if not isinstance(kind, Ref) or number < 0:
            return shown(None)
        sort = kind.sort.name
        attribute = instance.model.machine(sort).attribute(name)
        if attribute is None:  # the state of its machine, as the check of the model has found
            return instance.model.machine(sort).states[before[instance.slot(sort) + number]].name
        if attribute.rigid and not instance.rigid_in_state:
            number = instance.rigid_values(sort, attribute)[number]
        else:
            number = before[instance.slot(sort, name) + number]
        kind = attribute.type
    if isinstance(kind, Ref) and number >= 0:
        return called(instance, kind.sort.name, number)
    return shown(instance.show(kind, number))


def changes(stepper: Stepper, before: State, choice: Choice) -> tuple[State, tuple[FieldChange, ...]]:
    """The state after a step, and each field that the step changes, with its cause.

    Raises:
        IllFormed, Undefined: the step is not well-formed.
    """
    causes: Causes = {}
    instance = stepper.instance
    fired = stepper.firings(before, choice, causes)
    after = stepper.apply(before, fired)
    changed = []
    for (sort, event), objects in fired.items():
        names = instance.object_names(sort)
        for who in objects:
            cause = causes[sort, event, who]
            by = f"rule {cause.name}" if isinstance(cause, Rule) else f"action {cause.name}"
            old = instance.fields(before, sort, who)
            for name, value in instance.fields(after, sort, who).items():
                was = old[name]
                if was != value:
                    changed.append(
                        FieldChange(names[who], name, was, value, f"{sort}.{event}", by, cause.line, cause.fact)
                    )
    return after, tuple(changed)


def trace_step(
    instance: Instance, choice: Choice, before: State, changed: Sequence[FieldChange], ill_formed: str = ""
) -> TraceStep:
    """A step of a counterexample, from a choice, the state before and the fields that it changes, or why it is ill-formed."""
    action = instance.model.action(choice.action)
    return TraceStep(
        action.name,
        parameters(instance, choice),
        sentence(instance, choice, before),
        action.line,
        changed,
        action.fact,
        ill_formed,
    )


def run(instance: Instance, choices: Sequence[Choice]) -> tuple[TraceStep, ...]:
    """A run from the initial state; an ill-formed last step appears without changes."""
    return _run(instance, choices)[0]


def _run(instance: Instance, choices: Sequence[Choice]) -> tuple[tuple[TraceStep, ...], State]:
    stepper, state, steps = stepper_of(instance), instance.initial(), []
    lives: Counter[str] = Counter()
    for choice in choices:
        changed: Sequence[FieldChange] = ()
        before, why = state, ""
        try:
            state, changed = changes(stepper, state, choice)
        except (IllFormed, Undefined) as error:
            why = str(error)
        step = trace_step(instance, choice, before, changed, why)
        steps.append(replace(step, says=step.says + _later_lives(lives, changed)))
    return tuple(steps), state


def _later_lives(lives: Counter[str], changed: Sequence[FieldChange]) -> str:
    """Which objects of disposable sorts a step creates anew, in words; counts their ``lives``."""
    created = [c.object for c in changed if c.field == "state" and c.before == ABSENT]
    lives.update(created)
    return "".join(f" ({name} for the {ordinal(lives[name])} time)" for name in created if lives[name] > 1)


def ordinal(number: int) -> str:
    """``2nd``, ``3rd``, ``11th``: the short form of an ordinal number."""
    ends = {1: "st", 2: "nd", 3: "rd"} if number % 100 not in (11, 12, 13) else {}
    return f"{number}{ends.get(number % 10, 'th')}"


def counterexample_of(
    instance: Instance,
    choices: Sequence[Choice],
    problem: str,
    *,
    over: Iterable[Var] = (),
    bound: Mapping[str, int] | None = None,
    loops_from: int | None = None,
) -> Counterexample:
    """The counterexample of a run, with the facts that a reader needs.

    The run of a slice is repeated with all history attributes, so that every run shows the same fields.

    Args:
        over: the variables that ``problem`` names.
        bound: their values in it.
        loops_from: the index of the step at which a lasso's loop begins.
    """
    instance = instance.unsliced
    steps, last = _run(instance, choices)
    over, bound = tuple(over), bound or {}
    named = _objects(over, bound)
    # A run without steps and without named objects is about the model itself.
    moved = {name for step in steps for name in [*(c.object for c in step.changes), *_names(step.parameters.values())]}
    end = ending(instance, last, named)
    objects = introductions(instance, moved | {each.object for each in end}, named)
    return Counterexample(
        steps,
        problem,
        loops_from,
        setting=setting(instance, objects),
        end=end,
        objects=objects,
        initial=beginning(instance, objects),
        initial_state=not steps,
        recorded=recorded_run(instance, choices, {v.name: bound[v.name] for v in over if v.name in bound}),
    )


def _objects(over: Iterable[Var], bound: Mapping[str, int]) -> list[Object]:
    return [(v.type.sort.name, bound[v.name]) for v in over if isinstance(v.type, Ref) and v.name in bound]


def _names(values: Iterable[object]) -> Iterable[str]:
    for value in values:
        yield from (str(v) for v in (value if isinstance(value, list) else [value]))

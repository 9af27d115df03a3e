"""An implementation and its model, compared after each step. ``driver.py`` has the Hypothesis rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from schedproof.model.errors import ArgumentError
from schedproof.model.lang import Action, Model
from schedproof.model.semantics import Choice, IllFormed, Instance, State, Undefined, stepper_of
from schedproof.proofs.exploration.counterexample_text import cited, objects, shown
from schedproof.proofs.exploration.runs import changes, sentence
from schedproof.proofs.traces.engine.broken import broken_guard, broken_invariants, conditions_met
from schedproof.proofs.traces.reports.wording import show_choice
from schedproof.proofs.verdict import FieldChange

from .world import OutOfStep, World, fields, number, observed, overlaid, show, world_of

MOST_FORBIDDEN = 300
"""An action with more choices of parameters is asked for parameters at random, of which most break its first condition."""

Given = tuple[tuple[str, int], ...]
"""Parameters of an action with their values, encoded as in a state."""


@dataclass(frozen=True)
class Agreement:
    """The model, the implementation, and what the implementation may choose or refuse.

    Args:
        model: the model that the implementation must follow.
        factory: makes a new implementation from its :class:`World`.
        actions: the actions that are taken.
        chooses: by action, the parameters that the implementation chooses itself; its method returns them.
        may_refuse: actions that the implementation may refuse even where the model allows them.
        refused: the exceptions by which the implementation refuses.
    """

    model: Model
    factory: Callable[[World], Any]
    actions: Sequence[Action]
    chooses: Mapping[str, Sequence[str]]
    may_refuse: frozenset[str]
    refused: tuple[type[Exception], ...]


class Pair:
    """A new implementation and the model's state, with the steps that both have taken."""

    def __init__(self, agreement: Agreement, instance: Instance) -> None:
        self.agreement = agreement
        self.instance = instance
        self._stepper = stepper_of(instance)
        self._steps: list[tuple[str, str]] = []  # action, and the step in words
        self._allowed: dict[str, list[Given]] = {}
        self._forbidden: dict[str, Mapping[int, Sequence[Given]]] = {}
        self._without_effect: set[tuple[str, Given]] = set()
        self.state: State = instance.initial()
        self.implementation = agreement.factory(world_of(instance))
        self.whose = type(self.implementation).__name__

    def begin(self) -> None:
        """Checks that the implementation has all methods, and begins in the model's initial state.

        Raises:
            ArgumentError: the implementation lacks a method.
            OutOfStep: it begins in another state, or shows nothing.
        """
        for name in ["observe", *(action.name for action in self.agreement.actions)]:
            if not callable(getattr(self.implementation, name, None)):
                what = "observe()" if name == "observe" else f"a method for the action {name!r} of the model"
                advice = "write it" if name == "observe" else f"write it, or leave the action out: without=[{name!r}]"
                raise ArgumentError(f"{self.whose} lacks {what}; {advice}")
        if not self._compare("at the beginning"):
            raise self._out(
                f"observe() of {self.whose} shows nothing at the beginning; return the fields that it knows"
            )

    def allowed(self, action: Action) -> list[Given]:
        """The parameters for which the model allows the action now, without those that the implementation chooses."""
        if action.name not in self._allowed:  # asked several times in one state
            chosen_names = self.agreement.chooses.get(action.name, ())
            with self._well_formed():
                choices = list(self._stepper.choices(self.state, action))
            given = (tuple((n, v) for n, v in choice.parameters if n not in chosen_names) for choice in choices)
            self._allowed[action.name] = list(dict.fromkeys(given))
        return self._allowed[action.name]

    def untried(self, action: Action) -> list[Given]:
        """As ``allowed``, without the steps that were taken in this state and did not change it: once is enough."""
        return [given for given in self.allowed(action) if (action.name, given) not in self._without_effect]

    def forbidden(self, action: Action) -> Mapping[int, Sequence[Given]]:
        """The parameters for which the model does not allow the action now, by the first condition that forbids them.

        Empty, if there are more than ``MOST_FORBIDDEN`` choices, or the implementation chooses parameters.
        """
        if action.name in self._forbidden:
            return self._forbidden[action.name]
        domains = [self.instance.domain(v.type) for v in action.parameters]
        groups: dict[int, list[Given]] = {}
        if prod(map(len, domains)) <= MOST_FORBIDDEN and action.name not in self.agreement.chooses:
            allowed = set(self.allowed(action))
            for values in product(*domains):
                given = tuple(zip((v.name for v in action.parameters), values, strict=True))
                if given not in allowed:
                    met = conditions_met(self.instance, self.state, Choice(action.name, given))
                    groups.setdefault(met, []).append(given)
        return self._forbidden.setdefault(action.name, groups)

    def follow(self, run: Sequence[Choice]) -> None:
        """Takes the steps of a run, until the implementation leaves it: by a choice of its own, or by refusing.

        Raises:
            OutOfStep: as ``take``.
        """
        __tracebackhide__ = True
        actions = {action.name: action for action in self.agreement.actions}
        state = self.state
        for choice in run:
            if self.state != state:
                return
            chosen_names = self.agreement.chooses.get(choice.action, ())
            state = self._stepper.step(state, choice).after
            self.take(actions[choice.action], tuple((n, v) for n, v in choice.parameters if n not in chosen_names))

    def named(self, action: Action, given: Given) -> dict[str, object]:
        """The parameters as the implementation gets them: names, lists of names, values."""
        types = {v.name: v.type for v in action.parameters}
        return {name: self.instance.show(types[name], value) for name, value in given}

    @property
    def history(self) -> Sequence[str]:
        """The names of the actions that both sides have taken, in order."""
        return [action for action, _ in self._steps]

    def take(self, action: Action, given: Given) -> None:
        """Takes an action that the model allows, on both sides.

        Raises:
            OutOfStep: the implementation refuses, chooses what the model does not allow, or reaches another state.
        """
        __tracebackhide__ = True
        what = show_choice(self.instance, Choice(action.name, given))
        try:
            answer = self._call(action, given, what)
        except self.agreement.refused as error:
            if action.name not in self.agreement.may_refuse:
                why = f" ({error})" if str(error) else ""
                raise self._out(f"{self.whose} refuses {what}, which the model allows{why}") from error
            self._compare(f"after {what}, which it refused")
            return
        choice = self._choice(action, given, answer)
        before = self.state
        with self._well_formed():
            self.state, changed = changes(self._stepper, before, choice)
        if self.state == before:
            self._without_effect.add((action.name, given))
        else:
            self._allowed, self._forbidden, self._without_effect = {}, {}, set()
        says = f"{sentence(self.instance, choice, before)}  [{show_choice(self.instance, choice)}]"
        self._steps.append((action.name, says))
        self._compare(f"after step {len(self._steps)}, {show_choice(self.instance, choice)}", changed)

    def refuse(self, action: Action, given: Given) -> None:
        """Asks the implementation for an action that the model does not allow. It must refuse and keep its state.

        Raises:
            OutOfStep: it takes the action, or its state changes.
        """
        __tracebackhide__ = True
        what = show_choice(self.instance, Choice(action.name, given))
        try:
            self._call(action, given, what)
        except self.agreement.refused:
            self._compare(f"after {what}, which it refused")
            return
        problem = f"{self.whose} does {what}, which the model does not allow"
        complete = len(given) == len(action.parameters)
        why = broken_guard(self.instance, self.state, Choice(action.name, given)) if complete else []
        raise self._out(problem + "".join(f": {requirement.text()}" for requirement in why))

    def compare_unchanged(self) -> None:
        """Checks that both sides are still in the same state after no step."""
        self._compare("though nothing happened")

    @contextmanager
    def _well_formed(self) -> Iterator[None]:
        """Reports an ill-formed step of the model as such: the implementation is not at fault."""
        try:
            yield
        except (IllFormed, Undefined) as error:
            check = "check it with model_check(model, {}, only=['well-formed'])"
            raise self._out(f"the model {self._name()} is not well-formed: {error}; {check}") from None

    def _call(self, action: Action, given: Given, what: str) -> object:
        try:
            return getattr(self.implementation, action.name)(**self.named(action, given))
        except self.agreement.refused:
            raise
        except Exception as error:
            error.add_note("\n".join([f"{self.whose} failed in {what}", *self._steps_so_far()]))
            raise

    def _choice(self, action: Action, given: Given, answer: object) -> Choice:
        """The step: the given parameters and those that the implementation returned as its choice."""
        names = self.agreement.chooses.get(action.name, ())
        if not names:
            return Choice(action.name, given)
        if not isinstance(answer, Mapping) or set(answer) != set(names):
            expected = ", ".join(f"{name!r}: ..." for name in names)
            raise self._out(
                f"{action.name} of {self.whose} must return what it chose, {{{expected}}}, not {answer!r:.60}"
            )
        types = {v.name: v.type for v in action.parameters}
        of = f"{action.name} of {self.whose} chose"
        chosen = {n: number(self.instance, types[n], value, f"{of} {n}") for n, value in answer.items()}
        values = {**dict(given), **chosen}
        choice = Choice(action.name, tuple((v.name, values[v.name]) for v in action.parameters))
        if not self._stepper.enabled(self.state, choice):
            why = broken_guard(self.instance, self.state, choice)
            problem = f"{self.whose} chose {show_choice(self.instance, choice)}, which the model does not allow"
            raise self._out(problem + "".join(f": {requirement.text()}" for requirement in why))
        return choice

    def _compare(self, when: str, changed: Sequence[FieldChange] = ()) -> Mapping[int, int]:
        """Compares what the implementation shows with the model's state; returns what it shows, by slot."""
        __tracebackhide__ = True
        try:
            seen = observed(self.instance, self.implementation.observe(), self.whose)
        except OutOfStep as error:
            raise self._out(f"{when}: {error}") from None
        different = [slot for slot, value in seen.items() if value != self.state[slot]]
        if not different:
            return seen
        lines = [f"{self.whose} is out of step with {self._name()} {when}:"]
        known = fields(self.instance)
        for slot in sorted(different):
            field = known[slot]
            in_model, in_implementation = (
                shown(show(self.instance, field, value)) for value in (self.state[slot], seen[slot])
            )
            by = [c for c in changed if (c.object, c.field) == (field.object, field.name)]
            why = f" ({by[0].event}, {by[0].cause}{cited(by[0].line, by[0].fact)})" if by else ""
            lines.append(
                f"  {field.object}.{field.name}: {in_model} in the model{why}, {in_implementation} in the implementation"
            )
        whole = overlaid(self.state, seen)
        broken = broken_invariants(self.instance, self.state, whole)
        lines += [f"That violates {requirement.text()}" for requirement in broken]
        raise self._out("\n".join(lines), seen)

    def _name(self) -> str:
        return f"{self.agreement.model.system} {self.agreement.model.variant}"

    def _out(self, problem: str, seen: Mapping[int, int] | None = None) -> OutOfStep:
        return OutOfStep("\n".join([problem, *self._steps_so_far(), *self._states(seen)]))

    def _steps_so_far(self) -> Iterator[str]:
        if self._steps:
            yield "The steps so far:"
            yield from (f"{number:4}. {says}" for number, (_, says) in enumerate(self._steps, 1))

    def _states(self, seen: Mapping[int, int] | None) -> Iterator[str]:
        yield "In the model:"
        yield from (f"    {line}" for line in objects(self.instance.describe(self.state)))
        if seen is not None:
            yield "In the implementation, what observe() shows:"
            observed: dict[str, dict[str, object]] = {}
            for slot, field in sorted(fields(self.instance).items()):
                if slot in seen:
                    observed.setdefault(field.object, {})[field.name] = show(self.instance, field, seen[slot])
            yield from (f"    {line}" for line in objects(observed))

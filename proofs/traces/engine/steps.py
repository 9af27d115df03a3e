"""The steps that a record may mean: an action with all, some or none of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from schedproof.model.lang.rules import Action
from schedproof.model.lang.triggers import caused
from schedproof.model.semantics import Choice, IllFormed, Instance, Moment, State, Stepper, Undefined, compile_term
from schedproof.model.semantics.evaluate import Eval, Firings
from schedproof.model.semantics.instance import domain_size
from schedproof.proofs.traces.reports.report import Requirement
from schedproof.proofs.traces.reports.wording import show_choice

from .broken import cited, guard_met
from .candidates import Path, TooManyStates

MOST_CHOICES = 1 << 12
"""The limit for choices of the parameters that a record leaves out. Beyond it the trace is undetermined."""

MOST_WORK = 300_000
"""The limit for choices tried for one record, over all states that explain the trace so far.

Beyond it the trace is undetermined.
"""

MOST_TRIED = 1 << 8
"""The limit for choices among which an explanation of a nonconformance looks for the nearest."""


@dataclass(frozen=True)
class StepPattern:
    """An action, its known parameters, and an event that it caused, if one is known.

    Attributes:
        action: the action that happened.
        given: the known parameters, encoded.
        event: (sort, event, object number); -1 for any object.
    """

    action: Action
    given: Mapping[str, int] = field(default_factory=dict)
    event: tuple[str, str, int] | None = None

    def causes(self, fired: Firings) -> bool:
        """Whether a step in which ``fired`` happens matches the pattern's event."""
        if self.event is None:
            return True
        happened = fired.get(self.event[:2], {})
        return self.event[2] in happened or (self.event[2] < 0 and bool(happened))


@dataclass
class Steps:
    """The steps of one instance, with the guards compiled once.

    Attributes:
        stepper: computes steps.
        named: the stepper's instance with other names, for messages.
        work: the choices tried since it was set to 0. It bounds a record that leaves too much open: the trace is then
            undetermined after seconds, not hours.
    """

    stepper: Stepper
    named: Instance | None = None
    work: int = 0
    _guards: dict[str, list[Eval]] = field(default_factory=dict)

    @property
    def instance(self) -> Instance:
        """The model with its objects, as messages name them."""
        return self.named or self.stepper.instance

    def some(self, state: State, pattern: StepPattern) -> Iterator[tuple[Choice, State]]:
        """The steps that match the pattern, each with the state after.

        Raises:
            TooManyStates: too many choices of the parameters not given, or too many choices tried for this record.
        """
        action, given = pattern.action, pattern.given
        names = [v.name for v in action.parameters]
        domains = [(given[v.name],) if v.name in given else self.instance.domain(v.type) for v in action.parameters]
        if prod(domain_size(domain) for domain in domains) > MOST_CHOICES:
            raise TooManyStates(f"{action.name} has more than {MOST_CHOICES} choices of the parameters not given")
        guard = self.guard(action)
        for values in product(*domains):
            self.work += 1
            if self.work > MOST_WORK:
                raise TooManyStates(f"more than {MOST_WORK} choices of steps to try")
            moment = Moment(state, dict(zip(names, values, strict=True)))
            try:
                for conjunct in guard:
                    if not conjunct(moment):
                        break
                else:
                    # Few choices pass the guard; only for these an object is made.
                    choice = Choice(action.name, tuple(zip(names, values, strict=True)))
                    step = self.stepper.step(state, choice)
                    if pattern.causes(step.fired):
                        yield choice, step.after
            except (IllFormed, Undefined):
                continue

    def counted_from_zero(self, state: State, pattern: StepPattern) -> Iterator[tuple[Choice, State]]:
        """``some``, with the work counted from zero."""
        self.work = 0
        return self.some(state, pattern)

    def from_zero(
        self, paths: Callable[[State], Iterable[Path]], each: bool = False
    ) -> Callable[[State], Iterable[Path]]:
        """``paths``, with the work counted from zero at its first call, or with ``each`` at every call."""
        begun: list[bool] = []

        def counted(state: State) -> Iterable[Path]:
            if each or not begun:
                begun.append(True)
                self.work = 0
            return paths(state)

        return counted

    def leading_to(self, sort: str, field: str, state: str = "") -> list[Action]:
        """The actions that can set an attribute (``field``), or, if ``field`` is "", take an object to ``state``."""
        model = self.instance.model
        events = {
            (sort, row.event)
            for row in model.table(sort)
            if (row.target == state if not field else any(name == field for name, _ in row.sets))
        }
        return [a for a in model.actions if caused(model, a.name) & events]

    def guard(self, action: Action) -> Sequence[Eval]:
        """The conjuncts of the action's guard, in the order in which they must be evaluated."""
        if action.name not in self._guards:
            scope = {v.name: v for v in action.parameters}
            self._guards[action.name] = [compile_term(self.instance, conjunct, scope) for conjunct in action.when]
        return self._guards[action.name]

    def paths(self, start: Path, pattern: StepPattern) -> Iterator[Path]:
        """``start`` extended by each step that matches the pattern."""
        for choice, after in self.some(start.state, pattern):
            yield Path((*start.steps, show_choice(self.instance, choice)), after)

    def nearest(self, state: State, pattern: StepPattern) -> Iterator[Path]:
        """As ``refused``, but gives missing parameters the values that meet most conditions of the guard."""
        action, given = pattern.action, pattern.given
        domains = [(given[v.name],) if v.name in given else self.instance.domain(v.type) for v in action.parameters]
        if prod(domain_size(domain) for domain in domains) > MOST_TRIED:
            yield from self.refused(state, pattern)
            return
        best: tuple[int, Mapping[str, int]] | None = None
        for values in product(*domains):
            chosen = {v.name: value for v, value in zip(action.parameters, values, strict=True)}
            met, broken = guard_met(self.instance, state, Choice(action.name, tuple(chosen.items())))
            if broken is None:  # the step is possible, but may not cause the event
                yield from self.refused(state, StepPattern(action, chosen, pattern.event))
                return
            if best is None or met > best[0]:
                best = (met, chosen)
        if best is not None:
            yield from self.refused(state, StepPattern(action, best[1], pattern.event))

    def refused(self, state: State, pattern: StepPattern) -> Iterator[Path]:
        """Yields why no step of the pattern is possible."""
        action, given = pattern.action, pattern.given
        document = self.instance.model.document.name
        names = [v.name for v in action.parameters]
        if not all(name in given for name in names):
            if next(self.some(state, pattern), None) is None:
                says = f"no choice of the parameters that are not given makes {action.name} possible"
                yield Path((action.name,), state, (cited(self.instance.model, says, action.line),))
            return
        choice = Choice(action.name, tuple((name, given[name]) for name in names))
        met, broken = guard_met(self.instance, state, choice)
        why = [] if broken is None else [replace(broken, objects=[*broken.objects, *self._owner(pattern.event)])]
        try:
            step = self.stepper.step(state, choice)
            after = step.after
            if broken is None and not pattern.causes(step.fired):
                assert pattern.event is not None
                why = [self._not_caused(pattern.event, choice)]
        except (IllFormed, Undefined):
            after = state
            if broken is None:
                why = [Requirement(None, self._ill_formed(state, choice), document, None)]
        if why:
            yield Path((show_choice(self.instance, choice),), after, tuple(why), met, self._if_taken(state, choice))

    def _ill_formed(self, state: State, choice: Choice) -> str:
        """What is wrong with an ill-formed step, with the names of the objects in the log."""
        named = copy(self.stepper)
        named.instance = self.instance
        try:
            named.effect(choice, state)
        except (IllFormed, Undefined) as error:
            return str(error)
        raise AssertionError(f"{choice} is well-formed")

    def _owner(self, event: tuple[str, str, int] | None) -> list[str]:
        """The name of the object of an event, if it is known."""
        return [self.instance.object_names(event[0])[event[2]]] if event is not None and event[2] >= 0 else []

    def _not_caused(self, event: tuple[str, str, int], choice: Choice) -> Requirement:
        """The objection to a possible step that does not cause the event, with the objects concerned."""
        sort, name, _ = event
        owner = self._owner(event)
        says = f"{choice.action} does not cause {sort}.{name}{''.join(f' of {each}' for each in owner)}"
        action = self.instance.model.action(choice.action)
        types = {v.name: v.type for v in action.parameters}
        shown = [self.instance.show(types[parameter], value) for parameter, value in choice.parameters]
        objects = [str(each) for value in shown for each in (value if isinstance(value, list) else [value])]
        return replace(cited(self.instance.model, says, action.line), objects=[*owner, *objects])

    def _if_taken(self, state: State, choice: Choice) -> State | None:
        """The state after a step that the model forbids. Events without a row change nothing; None if it is undefined."""
        try:
            fired = self.stepper.firings(state, choice)
        except (IllFormed, Undefined):
            return None
        after = list(state)
        for event, objects in fired.items():
            for who, payload in objects.items():
                with suppress(IllFormed, Undefined):
                    changed = self.stepper.apply(state, {event: {who: payload}})
                    for slot, (old, new) in enumerate(zip(state, changed, strict=True)):
                        if old != new:
                            after[slot] = new
        return tuple(after)

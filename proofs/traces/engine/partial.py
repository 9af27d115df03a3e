"""Terms of a partly observed model: unobserved values are guessed, in every possible way.

A log of a database shows its rows, not the processes that write them. Here some fields of a term are known, the others
not. A guess stays fixed until the step is over, so that the same question has the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, TypeVar

from schedproof.model.lang import Model
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import BoolType, Ref
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import Undefined

from .candidates import TooManyStates

T = TypeVar("T")
Obj = tuple[str, int]
"""An object: its sort and its number."""

Field = tuple[str, str, int]
"""A field of an object: sort, attribute ("" for its state), number."""

Values = tuple[Any, ...]
"""The followed fields, in the order of the view: states by name, objects as ``Obj``."""

NOBODY: Obj = ("", -1)
MOST_GUESSES = 5_000
"""The limit for ways to guess the unobserved values that one step reads. Beyond it the trace is undetermined."""


class _Unknown:
    """An unobserved number or set."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = _Unknown()


@dataclass(frozen=True)
class View:
    """The observed part of a model.

    Args:
        model: the model.
        sizes: how many objects of each sort there are. If one object stands for all others, it is the last.
        follows: the fields whose values a state has.
        fixed: the fields that do not change, with their values.
        may_be: objects whose state is not followed, with the states that they may be in. An omitted object may be in
            any.
    """

    model: Model
    sizes: Mapping[str, int]
    follows: tuple[Field, ...]
    fixed: Mapping[Field, Any]
    may_be: Mapping[Obj, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def places(self) -> Mapping[Field, int]:
        """The position of each followed field in a state."""
        return {name: at for at, name in enumerate(self.follows)}

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key: views with equal keys are equal."""
        return (
            tuple(sorted(self.sizes.items())),
            self.follows,
            tuple(sorted(self.fixed.items(), key=repr)),
            tuple(sorted((o, tuple(sorted(states))) for o, states in self.may_be.items())),
        )

    @cached_property
    def states(self) -> Mapping[str, frozenset[str]]:
        """All states of each machine."""
        return {m.sort.name: frozenset(s.name for s in m.states) for m in self.model.machines}


@dataclass
class Guesses:
    """The guesses of one evaluation. The first answers are given; for later questions it takes the first choice."""

    given: tuple[int, ...] = ()
    answers: list[int] = field(default_factory=list)
    many: list[int] = field(default_factory=list)
    known: dict[Any, Any] = field(default_factory=dict)

    def among(self, key: Any, choices: Sequence[Any]) -> Any:
        """One of ``choices``; the same whenever ``key`` is asked again."""
        if key not in self.known:
            at = len(self.answers)
            number = self.given[at] if at < len(self.given) else 0
            self.answers.append(number)
            self.many.append(len(choices))
            self.known[key] = choices[number]
        return self.known[key]


def every_guess(evaluate: Callable[[Guesses], T]) -> Iterator[T]:
    """The results of ``evaluate`` for all combinations of the guesses that it asks for.

    Raises:
        TooManyStates: more than ``MOST_GUESSES`` combinations.
    """
    todo: list[tuple[int, ...]] = [()]
    tried = 0
    while todo:
        tried += 1
        if tried > MOST_GUESSES:
            raise TooManyStates(f"more than {MOST_GUESSES} ways to guess what is not seen")
        guesses = Guesses(todo.pop())
        yield evaluate(guesses)
        for at in range(len(guesses.given), len(guesses.answers)):
            todo += [(*guesses.answers[:at], other) for other in range(1, guesses.many[at])]


@dataclass
class EvaluationContext:
    """A moment of a partly observed model: the state before, the state after (if any), and the guesses."""

    view: View
    before: Values
    bound: dict[str, Any]
    guesses: Guesses
    fired: Mapping[tuple[Obj, str], Any] = field(default_factory=dict)
    after: Values | None = None
    later: bool = False

    def bind(self, more: Mapping[str, Any]) -> EvaluationContext:
        """The same moment with more variables."""
        return EvaluationContext(
            self.view, self.before, {**self.bound, **more}, self.guesses, self.fired, self.after, self.later
        )

    def afterwards(self) -> EvaluationContext:
        """The same moment, evaluated in the state after."""
        return EvaluationContext(self.view, self.before, self.bound, self.guesses, self.fired, self.after, True)

    def objects(self, sort: str) -> list[Obj]:
        return [(sort, number) for number in range(self.view.sizes[sort])]

    def value(self, name: Field) -> Any:
        """The value of a followed field; None if it is not followed."""
        at = self.view.places.get(name)
        if at is None:
            return None
        values = self.after if self.later else self.before
        return None if values is None else values[at]

    def read(self, obj: Obj, attribute: str) -> Any:
        """The value of an attribute; guessed if unobserved."""
        if obj == NOBODY:
            raise Undefined(f"{attribute} of nobody")
        name = (obj[0], attribute, obj[1])
        value = self.view.fixed.get(name)
        if value is None:
            value = self.value(name)
        if value is not None and value is not UNKNOWN:
            return value
        declared = self.view.model.machine(obj[0]).attribute(attribute)
        assert declared is not None, name
        if isinstance(declared.type, Ref):
            return self.guesses.among((name, self.later), self.objects(declared.type.sort.name))
        if isinstance(declared.type, BoolType):
            return self.guesses.among((name, self.later), (True, False))
        return UNKNOWN

    def is_in(self, obj: Obj, states: frozenset[str]) -> bool:
        """Whether an object is in one of ``states``."""
        if obj == NOBODY:
            raise Undefined("the state of nobody")
        now = self.value((obj[0], "", obj[1]))
        if now is not None:
            return now in states
        key, left = (obj, self.later), self.left(obj)
        if left <= states or not left & states:
            return bool(left & states)
        inside = bool(self.guesses.among((key, left, states), (True, False)))
        self.guesses.known[key] = left & states if inside else left - states
        return inside

    def left(self, obj: Obj) -> frozenset[str]:
        """The states that an object which is not followed may be in, given the guesses."""
        guessed: frozenset[str] | None = self.guesses.known.get((obj, self.later))
        return guessed or self.view.may_be.get(obj) or self.view.states[obj[0]]

    def narrow(self, obj: Obj, states: frozenset[str]) -> bool:
        """Restricts an object that is not followed to ``states``; False if that is impossible."""
        self.guesses.known[obj, self.later] = left = self.left(obj) & states
        return bool(left)

    def perhaps(self, term: t.Term) -> bool:
        """The guessed truth of a term that reads an unobserved number or set."""
        named = tuple(self.bound.get(name) for name in sorted(t.free_variables(term)))
        return bool(self.guesses.among((show_term(term), named, self.later), (True, False)))


Reading = Callable[[EvaluationContext], Any]


def compiled(term: t.Term) -> Reading:
    """``term``, compiled for evaluation on a partly observed state."""
    reader: Reading | None = vars(term).get("_partial")
    if reader is None:
        reader = _compile(term)
        object.__setattr__(term, "_partial", reader)  # a term never changes
    return reader


def _compile(term: t.Term) -> Reading:
    match term:
        case t.Var(name):
            return lambda context: context.bound[name]
        case t.Me():
            return lambda context: context.bound["me"]
        case t.Given(name):
            return lambda context: context.bound[f"given {name}"]
        case t.Nothing():
            return lambda context: NOBODY
        case t.Constant(value):
            return lambda context: value
        case t.Attr(of, name):
            whose = compiled(of)
            return lambda context: context.read(whose(context), name)
        case t.Is(of, states):
            who, among = compiled(of), frozenset(states)
            return lambda context: context.is_in(who(context), among)
        case t.After(part):
            inner = compiled(part)
            return lambda context: inner(context.afterwards())
        case t.Fires(of, event, _):
            firing = compiled(of)
            return lambda context: (firing(context), event) in context.fired
        case t.Not(part):
            inner = compiled(part)
            return lambda context: not inner(context)
        case t.And(parts):
            every = [compiled(p) for p in parts]
            return lambda context: all(p(context) for p in every)
        case t.Or(parts):
            some = [compiled(p) for p in parts]
            return lambda context: any(p(context) for p in some)
        case t.Implies(premise, conclusion):
            given, then = compiled(premise), compiled(conclusion)
            return lambda context: not given(context) or then(context)
        case t.Iff(left, right):
            one, other = compiled(left), compiled(right)
            return lambda context: bool(one(context)) == bool(other(context))
        case t.Quantified(universal, variables, body):
            return _quantified(universal, variables, compiled(body))
        case _:
            return _of_values(term)


def _quantified(universal: bool, variables: Sequence[t.Var], inner: Reading) -> Reading:
    names = [v.name for v in variables]
    sorts = [v.type.sort.name for v in variables if isinstance(v.type, Ref)]

    def holds(context: EvaluationContext) -> bool:
        ways = product(*(context.objects(sort) for sort in sorts))
        truths = (inner(context.bind(dict(zip(names, way, strict=True)))) for way in ways)
        return all(truths) if universal else any(truths)

    return holds


def _of_values(term: t.Term) -> Reading:
    """Terms about numbers, objects and sets. If an operand is unobserved, the truth is guessed."""
    match term:
        case t.Equal(left, right):
            how: Callable[[Any, Any], Any] = lambda a, b: a == b  # noqa: E731
        case t.Less(left, right, or_equal):
            how = (lambda a, b: a <= b) if or_equal else (lambda a, b: a < b)
        case t.Has(left, right):
            how = lambda a, b: b in a  # noqa: E731
        case t.Sum(left, right, sign):
            one, other = compiled(left), compiled(right)

            def total(context: EvaluationContext) -> Any:
                a, b = one(context), other(context)
                return UNKNOWN if a is UNKNOWN or b is UNKNOWN else a + sign * b

            return total
        case _:
            return lambda context: UNKNOWN  # constructed sets: no view follows them
    first, second = compiled(left), compiled(right)

    def compared(context: EvaluationContext) -> Any:
        a, b = first(context), second(context)
        return context.perhaps(term) if a is UNKNOWN or b is UNKNOWN else how(a, b)

    return compared

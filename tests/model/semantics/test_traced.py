"""Steps that are remembered by how integers compare give what steps that are computed anew give, for integers of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from random import Random
from typing import Any

import pytest

from schedproof.model.lang import Nat
from schedproof.model.semantics import (
    Choice,
    IllFormed,
    Instance,
    Moment,
    State,
    Stepper,
    Undefined,
    instances,
    step,
    traced,
)
from schedproof.model.semantics.evaluate import compile_term
from schedproof.model.semantics.traced import Case, RememberedWrites, integer_slots
from tests.support.clocks import CLOCKS
from tests.support.random_models import IntegerMaker, random_model
from tests.support.rows import each_row
from tests.support.sample import thinned

SCALES = [1, 3, 10**9, 2**64]


class Steps:
    """The steps of all choices of an instance, computed anew, and remembered."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.stepper = instance, Stepper(instance)
        self.computed = 0
        self.integers = integer_slots(instance)
        self.choices = [
            Choice(action.name, tuple(zip((v.name for v in action.parameters), values, strict=True)))
            for action in instance.model.actions
            for values in product(*(instance.domain(v.type) for v in action.parameters))
        ]
        self.remembered = {choice: remembered(self.counted(choice), self.integers) for choice in self.choices}

    def writes(self, choice: Choice, state: State) -> list[tuple[int, int]] | None:
        action = self.instance.model.action(choice.action)
        scope, moment = {v.name: v for v in action.parameters}, Moment(state, dict(choice.parameters))
        try:
            if not all(compile_term(self.instance, part, scope)(moment) for part in action.when):
                return None
            return self.stepper.effect(choice, state)[1]
        except (IllFormed, Undefined):
            return None

    def counted(self, choice: Choice) -> Callable[[State], list[tuple[int, int]] | None]:
        def writes(state: State) -> list[tuple[int, int]] | None:
            self.computed += 1
            return self.writes(choice, state)

        return writes

    def differences(self, states: Iterator[State]) -> Iterator[tuple[State, Choice]]:
        for state in states:
            for choice in self.choices:
                actual = self.remembered[choice](state)
                if actual != self.writes(choice, state):
                    yield state, choice
                assert actual is None or all(type(value) in (int, bool) for _, value in actual)


def states(instance: Instance, rng: Random, many: int) -> Iterator[State]:
    """States at random: reached ones, whose integers are near to each other at some scale, also equal ones."""
    stepper, state = Stepper(instance), instance.initial()
    slots = sorted(integer_slots(instance))
    natural = {
        instance.slot(m.sort.name, a.name) + n
        for m in instance.model.machines
        for a in instance.attributes(m.sort.name)
        if a.type == Nat
        for n in range(instance.sizes[m.sort.name])
    }
    for _ in range(many):
        try:
            if steps := list(stepper.steps(state)):
                state = rng.choice(steps).after
        except (IllFormed, Undefined):
            state = instance.initial()
        changed, scale = list(state), rng.choice(SCALES)
        for slot in slots if rng.random() < 0.7 else ():
            changed[slot] = scale * rng.choice([-1, 0, 0, 1]) + rng.randrange(-2, 3)
            if slot in natural:
                changed[slot] = abs(changed[slot])
        yield tuple(changed)


def random_differences(seeds: Iterable[int], many: int = 60) -> Iterator[tuple[State, Choice]]:
    for seed in seeds:
        instance = random_model(seed, IntegerMaker).instance()
        if integer_slots(instance):
            yield from Steps(instance).differences(states(instance, Random(seed), many))


FEW = [4, 7]
"""Seeds of which each fault that is seeded below is noticed by one."""


@pytest.mark.parametrize(
    "seeds",
    [FEW, pytest.param([*range(4), 5, 6, *range(8, 30)], marks=pytest.mark.long(one_in=32))],
    ids=["few", "many"],
)
def test_random_steps_are_those_computed_anew(seeds: Sequence[int]) -> None:
    assert list(random_differences(seeds)) == []


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 50), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_rigid_integers_are_tested_as_well(seeds: range) -> None:
    """They are in the state of logs."""
    models = 0
    for seed in seeds:
        model = random_model(seed, IntegerMaker)
        plain = model.instance()
        instance = Instance(plain.model, plain.sizes, plain.rigid, rigid_in_state=True)
        if integer_slots(instance) > integer_slots(plain):
            models += 1
            assert list(Steps(instance).differences(states(instance, Random(seed), 30))) == []
    assert models >= 2


def test_few_cases_are_computed() -> None:
    (instance,) = instances(CLOCKS, {"Node": 3})
    steps = Steps(instance)
    assert list(steps.differences(states(instance, Random(1), 400))) == []
    assert steps.computed < 2 * len(steps.choices)


def test_guards_keep_the_choices_of_some_states_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A live view of a log asks for them at each record."""
    monkeypatch.setattr(step, "MOST_KNOWN", 10)
    (instance,) = instances(CLOCKS, {"Node": 2})
    stepper, action = Stepper(instance), CLOCKS.action("sync")
    start = instance.slot("Node", "time")
    for time in range(50):
        state = list(instance.initial())
        state[start], state[start + 1] = time, 25
        assert len(stepper.choices(tuple(state), action)) == (time != 25)
        assert len(stepper._guards["sync"]._known) <= 10


def remembered(function: Callable[[Any], Any], integers: frozenset[int] = frozenset({0, 1, 2})) -> Callable[[Any], Any]:
    writes, case = RememberedWrites(integers), Case(function)
    return lambda state: writes(state, case)


def test_what_is_no_sum_and_no_comparison_is_not_remembered() -> None:
    uses: list[Callable[[Any], Any]] = [
        lambda s: [(0, s[0] % 3)],
        lambda s: [(0, {5: 1}.get(s[0], 0))],
        lambda s: [(0, 1 if s[0] else 2)],
        lambda s: [(0, len(str(s[0])))],
        lambda s: [(0, s[0] * s[1])],
        lambda s: [(0, s[0] // 2)],
        lambda s: [(0, abs(s[0] - 3))],
        lambda s: [(0, 1 << s[0])],
    ]
    for use in uses:
        cached = remembered(use)
        for state in ((5, 1, 0), (2, 2, 0), (0, 3, 0), (5, 4, 0)):
            assert cached(state) == use(state)


@each_row(
    "function",
    [
        lambda s: [(0, s[0] + s[1] - s[2] - 4)] if s[0] + s[1] < s[2] + 3 else None,
        lambda s: [(0, 2 * s[0] - s[1])] if 2 * s[0] <= s[1] else [(1, -1 * s[2])],
        lambda s: [(2, 5 - s[0])] if 5 - s[0] != s[1] else [],
        lambda s: [(0, s[0] - s[0])] if s[0] - s[0] == 0 else None,
        lambda s: [(0, s[1])] if s[1] >= 0 and s[0] > s[1] >= s[2] else [(0, s[2] + 1)],
    ],
)
def test_sums_and_comparisons_are_remembered_exactly(function: Callable[[Any], Any]) -> None:
    cached = remembered(function)
    for state in product(range(-4, 8), repeat=3):
        assert cached(state) == function(state)


# --- Seeded faults ----------------------------------------------------------------------------------------------------


def faults() -> dict[str, tuple[object, str, Any]]:
    writing, test = traced._writing, traced._test

    compared = traced._Traced._compared
    return {
        "a test without its constant": (traced, "_test", lambda terms, constant, less: test(terms, 0, less)),
        "a strict test for another": (
            traced,
            "_test",
            lambda terms, constant, less: test(terms, constant - less, less),
        ),
        "sums that are written as they were": (
            traced,
            "_writing",
            lambda sums: writing([(place, (), n) for place, _, n in sums]),
        ),
        "equality that is not asked": (
            traced._Traced,
            "_compared",
            lambda self, d, less: compared(self, d, less) if less else int.__int__(d) == 0,
        ),
        "a leaf for every answer": (traced, "_writing", lambda sums: writing(sums[:1])),
    }


@pytest.mark.parametrize("fault", thinned(faults(), 3, first=2))
def test_a_seeded_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*faults()[fault])  # type: ignore[arg-type]
    assert any(random_differences(FEW))


def test_what_is_subtracted_may_be_a_sum() -> None:
    # Each has a constant, of which the sign changes.
    def less(state: Any) -> list[tuple[int, int]]:
        other = state[0] + 3
        return [(0, 10 - other), (1, other * -2), (2, int(state[1] + 1 > other)), (3, state[1] - other)]

    cached = remembered(less, frozenset({0, 1}))
    for first, second in ((0, 0), (5, 9), (5, 7), (7, 5), (-4, 10**20)):
        assert cached((first, second)) == [
            (0, 7 - first), (1, -2 * first - 6), (2, int(second + 1 > first + 3)), (3, second - first - 3),
        ]  # fmt: skip

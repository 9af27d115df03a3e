"""Formulas at random in Promela and TLA+: broken in as many states as they are for us."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from schedproof.model.lang import Invariant, Model, ModelError
from schedproof.model.lang import terms as t
from schedproof.model.lang.check import checked
from schedproof.model.semantics import Instance, State
from schedproof.proofs.compiled.predicates import FALSE, UNDEFINED
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.export import promela, tla
from tests.proofs.compiled.test_terms import OVER, TOOLS, WORKERS, formulas, interpreted
from tests.proofs.export.exported import only
from tests.proofs.export.test_promela import done
from tests.proofs.export.tla_reader import Fun, Reader
from tests.support.needs import needs_spin
from tests.support.toys import WORKSHOP

SIZES = {"Worker": 2, "Tool": 1}
MANY = st.lists(formulas(((WORKERS[0],), (TOOLS[0],)), 3), min_size=40, max_size=40)
ONE = settings(max_examples=1, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
"""Forty formulas at a time are examples enough; they are not made simpler, which would take an hour."""


@cache
def explored() -> tuple[Instance, list[State]]:
    instance = only(WORKSHOP, **SIZES)
    return instance, explore(instance, symmetry=False).states


def broken_in(formula: t.Term) -> int | None:
    """In how many states a formula does not hold of all objects; None, if it is undefined in one."""
    instance, states = explored()
    objects = [{"a": a, "k": k} for a, k in product(range(SIZES["Worker"]), range(SIZES["Tool"]))]
    truths = [interpreted(instance, states, formula, each) for each in objects]
    if any(UNDEFINED in one for one in truths):
        return None
    return sum(FALSE in each for each in zip(*truths, strict=True))


def model_of(conditions: list[t.Term]) -> tuple[Model, list[int]]:
    """The workshop with these formulas as its properties, and the number of states that violate each. Left out are formulas that are
    undefined in a state, or that no model may contain (models do not compare sets)."""
    counts: list[int] = []
    required: list[Invariant] = []
    for formula in conditions:
        one = Invariant(name=f"f{len(counts)}", says="it is so", over=OVER, then=formula)
        with suppress(ModelError):
            checked(replace(WORKSHOP, properties=[one], refuted=frozenset()))
            if (count := broken_in(formula)) is not None:
                required.append(one)
                counts.append(count)
    return replace(WORKSHOP, properties=required, refuted=frozenset()), counts


def by_reader(conditions: list[t.Term]) -> None:
    model, counts = model_of(conditions)
    reader = Reader(tla(only(model, **SIZES), only=None).text)
    seen, work, following = set(), [Fun(reader.initial())], reader.successors()
    while work:
        if (state := work.pop()) not in seen:
            seen.add(state)
            work += [Fun(after) for after in following(state)]
    assert [sum(not reader.evaluate(f"f{n}", state) for state in seen) for n in range(len(counts))] == counts


def by_spin(conditions: list[t.Term], folder: Path) -> None:
    """All together: each state is checked once, and what is broken there counts as one error."""
    model, counts = model_of(conditions)
    (folder / "model.pml").write_text(promela(only(model, **SIZES), only=None).text, "utf-8")
    done(folder, "spin", "-a", "model.pml")
    done(folder, "gcc", "-O0", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c")
    output = done(folder, "./pan", "-m100000", "-c0")
    assert re.findall(r"errors: (\d+)", output) == [str(sum(counts))]
    failed = {int(n) for n in re.findall(r"assertion violated holds_f(\d+)", output)}
    assert failed == {n for n, count in enumerate(counts) if count}


@given(MANY)
@settings(ONE, derandomize=True)
def test_some_formulas_say_something(conditions: list[t.Term]) -> None:
    _, counts = model_of(conditions)
    assert sum(0 < count < len(explored()[1]) for count in counts) > 5


@given(MANY)
@settings(ONE, derandomize=True)
def test_a_reader_of_tla_finds_them_broken_in_as_many_states(conditions: list[t.Term]) -> None:
    by_reader(conditions)


@pytest.mark.long
@needs_spin
@given(conditions=MANY)
@settings(ONE, derandomize=True)
def test_spin_finds_as_many_errors(tmp_path_factory: pytest.TempPathFactory, conditions: list[t.Term]) -> None:
    by_spin(conditions, tmp_path_factory.mktemp("spin"))


@pytest.mark.long
@given(MANY)
@settings(ONE, max_examples=4)
def test_a_reader_of_tla_on_more(conditions: list[t.Term]) -> None:
    by_reader(conditions)


@needs_spin
@pytest.mark.long
@given(conditions=MANY)
@settings(ONE, max_examples=4)
def test_spin_on_more(tmp_path_factory: pytest.TempPathFactory, conditions: list[t.Term]) -> None:
    by_spin(conditions, tmp_path_factory.mktemp("spin"))

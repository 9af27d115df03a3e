"""A compiled tree gives what the walk through the tree gives, or says that it lacks an answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from schedproof.model.semantics import compiled_tree, traced
from schedproof.model.semantics.compiled_tree import MISSING, Node, compiled
from schedproof.model.semantics.traced import Case, RememberedWrites
from tests.model.semantics import test_traced
from tests.proofs.traces.engine import test_known_steps
from tests.support.sample import thinned


@pytest.fixture(params=[8, 1], ids=["branches", "dictionaries"])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees are compiled at their first use; more than so many answers are looked up in a dictionary."""
    monkeypatch.setattr(traced, "WALKS", -1)
    monkeypatch.setattr(compiled_tree, "MOST_WAYS", request.param)


def leaf(value: str) -> Node:
    return -1, 0, None, {}, value


def chosen(ways: dict[int, Node]) -> Node:
    """A question about the first slot."""
    return 0, 0, None, ways, "state[0]"


@pytest.mark.usefixtures("at_once")
def test_random_steps_are_those_computed_anew() -> None:
    assert list(test_traced.random_differences(test_traced.FEW)) == []


@pytest.mark.usefixtures("at_once")
def test_steps_of_several_objects_are_those_computed_anew() -> None:
    differences, sharing = test_known_steps.random_differences(test_known_steps.FEW)
    assert differences == [] and sharing > 30


@pytest.mark.usefixtures("at_once")
def test_an_answer_that_is_missing_is_said_to_be() -> None:
    function = compiled(chosen({3: leaf("[]"), 4: chosen({4: leaf("[(0, state[1] + at[1])]")}), 5: leaf("None")}))
    assert function is not None
    answers = [function((first, 7), (0, 20)) for first in (3, 4, 5, 6)]
    assert answers[:3] == [[], [(0, 27)], None] and answers[3] is MISSING


def test_a_tree_that_is_too_deep_is_not_compiled() -> None:
    tree, depth = leaf("[]"), compiled_tree.DEEPEST
    for _ in range(depth - 1):
        tree = chosen({0: tree})
    assert compiled(tree) is not None and compiled(chosen({0: tree})) is None


def test_a_wide_tree_compiles_whatever_its_depth() -> None:
    """Python refuses a hundred levels of indentation."""
    tree = leaf("[]")
    for _ in range(150):
        tree = chosen({0: tree, 1: leaf("None")})
    function = compiled(tree)
    assert function is not None and function((0,), (0,)) == [] and function((1,), (0,)) is None


def test_a_tree_that_grows_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "WALKS", 2)
    compilations, real = list[object](), traced.compiled
    monkeypatch.setattr(traced, "compiled", lambda tree: compilations.append(tree) or real(tree))
    anew = list[int]()
    case = Case(lambda state: anew.append(state[0]) or [(1, state[0])])
    writes = RememberedWrites(frozenset())
    for value in (0, 1):
        for _ in range(20):
            assert writes((value, 0), case) == [(1, value)]
    assert len(compilations) == 2 and len(anew) == 2


# --- Seeded faults ----------------------------------------------------------------------------------------------------


def guessing(source: str) -> str:
    """The code of a tree that takes the last answer for every other one."""
    return source.replace("return MISSING", "pass")


def unmoved(source: str) -> str:
    """The code of a tree that reads the first object."""
    return source.replace(" = at[1]", " = 0")


@pytest.mark.parametrize("fault", thinned([guessing, unmoved], 2))
def test_a_seeded_fault_is_noticed(fault: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "WALKS", -1)

    def run(code: str, names: dict[str, Any]) -> None:
        exec(fault(code), names)

    monkeypatch.setattr(compiled_tree, "exec", run, raising=False)
    assert test_known_steps.random_differences(test_known_steps.FEW)[0]


def test_states_of_any_values_have_their_own_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced, "WALKS", 0)

    def function(state: Any) -> list[tuple[int, int]] | None:
        return [(0, 2 * state[0] - state[1] + 3)] if state[0] < state[1] - 1 and state[2] in (1, 2) else None

    cached = test_traced.remembered(function, frozenset({0, 1}))
    for state in list(product(range(-3, 4), repeat=3)) * 2:
        assert cached(state) == function(state)

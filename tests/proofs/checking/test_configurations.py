"""What explorations of one model share: compiled steps, and how many states to expect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schedproof.model.registry.discovery import system
from schedproof.model.systems.hived import REPAIRED
from schedproof.proofs.checking.engine import Engine, Exploring
from schedproof.proofs.checking.model_check import _Sizes, model_check
from schedproof.proofs.compiled import graph, steps
from schedproof.proofs.exploration.explore import AT_LIMIT
from tests.proofs.compiled.test_beside_interpreted import instance_of

SMALL = {"PodGroup": 2, "Cell": 2}

SAFE, RUN = "pending-holds-nothing", "cell-life-with-preemption"
"""Neither reads history."""


def programs(monkeypatch: pytest.MonkeyPatch, symmetry: bool, threads: int = 1) -> int:
    """How many programs an examination writes, of all steps of a model without history."""
    written = []
    real = steps.Steps.function
    monkeypatch.setattr(steps.Steps, "function", lambda self: written.append(self) or real(self))
    model_check(REPAIRED, SMALL, only=[SAFE, RUN], how=Exploring(Engine.COMPILED, symmetry=symmetry, threads=threads))
    return len(written)


@pytest.mark.parametrize("symmetry", [True, pytest.param(False, marks=pytest.mark.long(one_in=32))])
def test_steps_are_compiled_once_for_a_search_and_its_graph(symmetry: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {p.name: p.kind for p in REPAIRED.properties if p.name in (SAFE, RUN)} == {
        SAFE: "invariant",
        RUN: "can happen",
    }
    assert programs(monkeypatch, symmetry) == 1


def test_large_graphs_take_steps_that_check_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "CHECKED_AGAIN", 0)
    assert programs(monkeypatch, False, threads=2) == 2
    assert programs(monkeypatch, False) == 1, "one thread records the edges while it checks"


def test_only_what_is_no_larger_says_how_many_states_to_expect() -> None:
    sizes = _Sizes()
    at = {n: instance_of(REPAIRED, {"PodGroup": n, "Cell": 2}) for n in (1, 2, 3)}
    sizes.note(at[2], 70)
    assert [sizes.expected(at[n]) for n in (1, 2, 3)] == [0, 70, 70]
    sizes.note(at[3], 90)
    assert [sizes.expected(at[n]) for n in (1, 2, 3)] == [0, 70, 90]


@pytest.mark.long
def test_configurations_like_a_large_one_begin_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only of the first one it is tried to explore it interpreted."""
    model = system("beaker").variants["by-priority"]
    given_up: list[Any] = []
    real = Exploring._either

    def either(self: Exploring, interpreted: Any, compiled: Any, stopped: Any, **options: Any) -> Any:
        def tried(*limits: Any) -> Any:
            result = interpreted(*limits)
            given_up.append(stopped(result))
            return result

        return real(self, tried, compiled, stopped, **options)

    monkeypatch.setattr(Exploring, "_either", either)
    first = next(iter(model.configurations(model.default_scope)))
    model_check(replace(model, configurations=lambda sizes: [first] * 3), {}, how=Exploring())
    assert given_up == [AT_LIMIT]

"""Explorations of the protocols find as many states and steps as independent programs, and the README has the numbers of states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.protocols.table import SECOND, first_scope, protocols, second_scope, states
from tests.benchmarks.protocols.counted import CELLS, counted, explored
from tests.support.sample import long_case

NAMES = sorted(SECOND)
LARGE = {"chord", "learning-switch-lossy"}
"""Those whose default scope is left to the long tier; the second one is smaller."""


def by_tier(large: set[str]) -> list[Any]:
    """The names, of which those in ``large`` are in the long tier."""
    mark = pytest.mark.long(one_in=32)
    return [long_case(name, mark) if name in large else name for name in NAMES]


def test_all_protocols_are_counted():
    assert list(protocols()) == NAMES
    assert len(NAMES) >= 30


def compare(name: str, sizes: Mapping[str, int], *, steps: bool, shown: str) -> None:
    """Compares the states at a scope, and the steps if asked for; ``shown`` is the number of states in the README."""
    numbers = counted(name, sizes)
    assert shown == f"{numbers[0]:,}"
    assert (explored(name, sizes) if steps else (states(name, sizes), numbers[1])) == numbers


@pytest.mark.parametrize("name", by_tier(LARGE))
def test_states(name):
    compare(name, first_scope(name), steps=name not in LARGE, shown=CELLS[name][6])


@pytest.mark.parametrize("name", by_tier(set(NAMES) - LARGE))
def test_states_at_the_second_scope(name):
    compare(name, second_scope(name), steps=name in LARGE, shown=CELLS[name][8])

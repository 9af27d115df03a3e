"""Explorations of the protocols find as many states and steps as independent programs, and the README has the numbers of states."""

from __future__ import annotations

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
    mark = pytest.mark.long(one_in=8)
    return [long_case(name, mark) if name in large else name for name in NAMES]


def test_all_protocols_are_counted():
    assert list(protocols()) == NAMES
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", by_tier(LARGE))
def test_states(name):
    sizes = first_scope(name)
    number, steps = counted(name, sizes)
    assert explored(name, sizes) == (number, steps)
    assert CELLS[name][6] == f"{number:,}"


@pytest.mark.parametrize("name", by_tier(set(NAMES) - LARGE))
def test_states_at_the_second_scope(name):
    sizes = second_scope(name)
    number, steps = counted(name, sizes)
    if name in LARGE:
        assert explored(name, sizes) == (number, steps)
    else:
        assert states(name, sizes) == number
    assert CELLS[name][8] == f"{number:,}"

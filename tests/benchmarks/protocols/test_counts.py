"""Explorations of the protocols find as many states as independent programs."""

from __future__ import annotations

import pytest

from benchmarks.protocols.table import SECOND, first_scope, protocols, second_scope, states
from tests.benchmarks.protocols.counted import counted_at_first, counted_at_second

NAMES = sorted(SECOND)


def test_all_protocols_are_counted():
    assert list(protocols()) == NAMES
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_states(name):
    assert states(name, first_scope(name), symmetry=False) == counted_at_first(name)


@pytest.mark.long(one_in=8)
@pytest.mark.parametrize("name", NAMES)
def test_states_at_the_second_scope(name):
    assert states(name, second_scope(name)) == counted_at_second(name)

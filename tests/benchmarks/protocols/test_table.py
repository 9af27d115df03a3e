"""The table of the protocols in the README is that of the models; ``test_counts`` checks its numbers of states."""

from __future__ import annotations

import pytest

from benchmarks.protocols.table import COLUMNS, protocols, row
from tests.benchmarks.protocols.counted import CELLS, HEAD


def test_one_row_for_each_protocol():
    assert tuple(HEAD) == COLUMNS
    assert list(CELLS) == list(protocols())


@pytest.mark.parametrize("name", protocols())
def test_row(name):
    *known, first, second = row(name)
    cells = CELLS[name]
    assert [*cells[:6], cells[7]] == [*known, first, second]

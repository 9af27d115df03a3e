"""The table of the protocols in the README is that of the models, with the numbers of the independent programs."""

from __future__ import annotations

import pytest

from benchmarks.protocols.table import COLUMNS, MARK, README, protocols, row
from tests.benchmarks.protocols.counted import counted_at_first, counted_at_second

_, _, TABLE = README.read_text("utf-8").partition(MARK)
HEAD, _, *ROWS = ([each.strip() for each in text.strip("|").split("|")] for text in TABLE.strip().splitlines())
CELLS = dict(zip(protocols(), ROWS, strict=True))


def test_one_row_for_each_protocol():
    assert tuple(HEAD) == COLUMNS
    assert [cells[0] for cells in ROWS] == [row(name)[0] for name in protocols()]


@pytest.mark.parametrize("name", protocols())
def test_row(name):
    cells = CELLS[name]
    *known, first, second = row(name)
    assert cells[:8] == [*known, first, f"{counted_at_first(name):,}", second]


@pytest.mark.long(one_in=8)
@pytest.mark.parametrize("name", protocols())
def test_states_at_the_second_scope(name):
    assert CELLS[name][8] == f"{counted_at_second(name):,}"

"""The number of states of a protocol: by its independent program, and in the README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from benchmarks.protocols.table import MARK, README, module
from tests.benchmarks.protocols.counts import reachable

_, _, TABLE = README.read_text("utf-8").partition(MARK)
HEAD, _, *ROWS = ([each.strip() for each in line.strip("|").split("|")] for line in TABLE.strip().splitlines())
CELLS: Mapping[str, Sequence[str]] = {cells[0].partition("]")[0].lstrip("["): cells for cells in ROWS}
"""The cells of the table, by the name of the protocol."""


def counted(name: str, sizes: Mapping[str, int]) -> int:
    """The number of states that the independent program finds at a scope."""
    program = import_module(f"tests.benchmarks.protocols.counts.{module(name)}")
    return reachable(program.initial(sizes), program.steps, sizes)

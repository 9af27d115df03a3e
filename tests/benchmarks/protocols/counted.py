"""The numbers of states and steps of a protocol: by its independent program, by exploration, and in the README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from benchmarks.protocols.table import MARK, README, module, protocols
from schedproof.model.semantics import instances
from schedproof.proofs.exploration.explore import explore
from tests.benchmarks.protocols.counts import reachable

_, _, TABLE = README.read_text("utf-8").partition(MARK)
HEAD, _, *ROWS = ([each.strip() for each in line.strip("|").split("|")] for line in TABLE.strip().splitlines())
CELLS: Mapping[str, Sequence[str]] = {cells[0].partition("]")[0].lstrip("["): cells for cells in ROWS}
"""The cells of the table, by the name of the protocol."""


def counted(name: str, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The numbers of states, and of pairs of different states with a step, that the independent program finds at a scope."""
    program = import_module(f"tests.benchmarks.protocols.counts.{module(name)}")
    return reachable(program.initial(sizes), program.steps, sizes)


def explored(name: str, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The same numbers by an exploration without symmetry, which finds no ill-formed step."""
    graphs = [explore(each, symmetry=False) for each in instances(protocols()[name], sizes)]
    assert not any(graph.ill_formed for graph in graphs)
    pairs = sum(
        len({edge.target for edge in edges} - {number}) for graph in graphs for number, edges in enumerate(graph.edges)
    )
    return sum(graph.state_count for graph in graphs), pairs

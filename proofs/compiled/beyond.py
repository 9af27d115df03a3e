"""The steps beyond the bounds of integers, as edges of a graph to one more node: *beyond*.

The search does not take such steps. Liveness needs to know of them: what was cut is enabled, and may lead to any goal. The node
has the greatest number and no edges, so no run that avoids it is longer or shorter than without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedproof.proofs.inner_loops import inner_loop

from .code import If, Leave, Local, Set, binary
from .kernel import call
from .layout import Words
from .llvm import Machine, assembly
from .steps import Program, Steps

Numbers = NDArray[np.int64]


class _Cuts(Steps):
    """The writer of a function like ``steps`` that has only the steps beyond the bounds; their targets have no meaning."""

    def _cut(self, done: str) -> None:
        self.terms.emit(If(binary("==", Local("beyond"), 0), [Leave(done)]))
        self.terms.emit(Set("cut", 1))


@inner_loop
def _choices(address: int, states: Any, words: int, out: Any, chosen: Any, seen: Any, ends: Any, cut: Any) -> None:
    """Finds the choices that were cut.

    Args:
        address: of the function.
        out, chosen, seen: buffers for the steps of one state.
        ends: receives by state the number of its choices and of those before it; 0 comes first.
        cut: receives the choices; if it is empty, they are only counted.
    """
    state_at, out_at, chosen_at, seen_at = states.ctypes.data, out.ctypes.data, chosen.ctypes.data, seen.ctypes.data
    for n in range(len(ends) - 1):
        number = call(address, state_at + 8 * words * n, out_at, chosen_at, seen_at, n)
        for i in range(number if len(cut) else 0):
            cut[ends[n] + i] = chosen[i]
        ends[n + 1] = ends[n] + number


def cut_choices(program: Program, states: Words, count: int) -> tuple[Numbers, NDArray[np.uint16]]:
    """The enabled choices that lead beyond the bounds: state ``n`` has those from ``ends[n]`` to ``ends[n + 1]``."""
    writer = _Cuts(program.instance, program.layout, program.actions, ())
    machine = Machine([assembly(writer.function())], states=count)
    out, chosen = (np.empty(program.choices * each, np.uint64) for each in (program.layout.words, 1))
    seen, ends = np.zeros(program.shape.room, np.int64), np.zeros(count + 1, np.int64)
    cut = np.empty(0, np.uint16)
    for size in (0, None):  # counts first
        cut = np.empty(int(ends[-1]) if size is None else size, np.uint16)
        _choices(machine.address("steps"), states, program.layout.words, out, chosen, seen, ends, cut)
    return ends, cut


def joined(
    offsets: Numbers,
    targets: NDArray[np.uint32],
    choices: NDArray[np.uint16],
    whence: Numbers,
    ends: Numbers,
    cut: NDArray[np.uint16],
) -> tuple[Numbers, NDArray[np.uint32], NDArray[np.uint16], Numbers]:
    """A graph with the choices that were cut as edges to one more node.

    Args:
        offsets, targets, choices, whence: as of :class:`.graph.Graph`.
        ends, cut: as :func:`cut_choices` gives them.

    Returns:
        The new ``offsets``, ``targets``, ``choices`` and ``whence``.
    """
    count = len(offsets) - 1
    total = len(targets) + len(cut)
    is_cut = np.zeros(total, np.bool_)
    is_cut[np.arange(len(cut)) + np.repeat(offsets[1:], np.diff(ends))] = True
    to, by = np.full(total, count, np.uint32), np.empty(total, np.uint16)
    to[~is_cut], by[~is_cut], by[is_cut] = targets, choices, cut
    places = np.flatnonzero(~is_cut)
    last = np.where(whence < 0, whence, places[np.maximum(whence, 0)] if len(places) else whence)
    return np.append(offsets + ends, total), to, by, last

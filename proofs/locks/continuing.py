"""Which threads can still continue from each state, by the graph of all states.

A thread that runs for ever, as a server with a timeout, keeps the others from a standstill that shows in one state: who
waits for its message may look as if it could still come. Here a thread can continue from a state if it moves in some
state that is reached from there. What one state shows is in :mod:`.kinds`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from .symmetry import Renaming


class Graph:
    """The steps between states, which are numbered in the order of the search.

    Args:
        threads: the number of threads.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.ends, self.targets, self.named = array("Q", [0]), array("Q"), array("Q")
        self.renamings: dict[Renaming, int] = {tuple(range(threads)): 0}
        self.moving: list[int] = []

    def add(self, moving: int, after: Sequence[tuple[int, Renaming]]) -> None:
        """Adds the next state: the threads that need not continue or move there, as bits, and the states after."""
        self.moving.append(moving)
        for target, renaming in after:
            self.targets.append(target)
            self.named.append(self.renamings.setdefault(renaming, len(self.renamings)))
        self.ends.append(len(self.targets))

    def stuck(self) -> Iterator[tuple[int, int]]:
        """The states from which some threads can never continue, and no further one later: number, and threads as bits."""
        every = (1 << self.threads) - 1
        never = [every & ~bits for bits in self._gathered(self.moving, every)]
        for number, later in enumerate(self._gathered(never, every)) if any(never) else ():
            if never[number] == later != 0:
                yield number, later

    def _gathered(self, first: Sequence[int], every: int) -> list[int]:
        """For each state, the bits of all states that are reached from it, itself included."""
        bits, renamings, changed = list(first), list(self.renamings), True
        while changed:
            changed = False
            for number in range(len(bits) - 1, -1, -1):
                if (now := bits[number]) == every:
                    continue
                for edge in range(self.ends[number], self.ends[number + 1]):
                    later, named = bits[self.targets[edge]], self.named[edge]
                    now |= later if not named else _renamed_back(later, renamings[named])
                if now != bits[number]:
                    bits[number], changed = now, True
        return bits


def _renamed_back(bits: int, renaming: Renaming) -> int:
    """The threads before a renaming, of those after it."""
    return sum(1 << old for old, new in enumerate(renaming) if bits >> new & 1)

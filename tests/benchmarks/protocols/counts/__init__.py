"""Independent counts of the reachable states of the protocols: one short program each, which uses nothing of schedproof.

A state is a frozen set of facts, each a tuple: its name, and numbers of objects. Each module has two functions:

- ``initial(sizes)``: the states in which runs begin.
- ``steps(state, sizes)``: the states after one step.

``sizes`` has the number of objects of each sort. They were written from the description of the protocol, not from our model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

State = frozenset[tuple]
Sizes = Mapping[str, int]


def reachable(
    initial: Iterable[State], steps: Callable[[State, Sizes], Iterable[State]], sizes: Sizes
) -> tuple[int, int]:
    """The number of reachable states, and of pairs of different states with a step from one to the other."""
    seen = set(initial)
    frontier = list(seen)
    pairs = 0
    while frontier:
        state = frontier.pop()
        successors = set(steps(state, sizes)) - {state}
        pairs += len(successors)
        frontier += successors - seen
        seen |= successors
    return len(seen), pairs


def majorities(nodes: int, most: int) -> list[tuple[int, ...]]:
    """The smallest majorities of ``nodes`` nodes, at most ``most`` of them."""
    return list(combinations(range(nodes), nodes // 2 + 1))[:most]

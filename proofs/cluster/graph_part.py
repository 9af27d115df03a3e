"""A worker's part of a graph, with the search for fair loops that avoid a goal: strongly connected components over all workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import graph_edges, spread
from .graph_edges import Buckets, Nodes, Numbers, writable
from .graph_search import SearchPart, least
from .spread import NONE

MOST_USED, MOST_PAIRS = 64, 16
"""Arrays of a component's choices that are kept beside each other, before they are merged."""

KEYS = 1 << 20
"""The number of pairs that are counted at once."""


class GraphPart(SearchPart):
    """The nodes of one worker, with all that :mod:`.liveness` asks of them."""

    def region(self, allowed: Nodes, weak: Nodes, strong: Nodes) -> int:
        """Takes the nodes that were reached for those to find fair loops in; returns how many they are.

        Args:
            allowed, weak, strong: by choice, whether loops may have it, and whether it is fair.
        """
        self._allowed, self._weak, self._strong = (writable(each) for each in (allowed, weak, strong))
        self._inside: Nodes = self._lengths >= 0
        return self.separate()

    def separate(self) -> int:
        """Begins to find the components of the nodes inside; returns how many these are."""
        self._left = self._inside.copy()
        self._components: Numbers = np.full(self.count, NONE, np.uint32)
        self._alone: Nodes = np.zeros(self.count, np.bool_)
        return int(np.count_nonzero(self._left))

    def degrees(self, backward: bool) -> None:
        """Begins to count the edges to each node that is left (from each node: ``backward``)."""
        self._degrees: NDArray[np.int32] = np.zeros(self.count, np.int32)
        self._begin(
            spread.take_count, self._left, self._degrees, allowed=self._allowed, first=np.flatnonzero(self._left),
            backward=backward, once=False,
        )  # fmt: skip

    def trim(self, backward: bool) -> None:
        """Begins to remove nodes without such an edge; each is a component of its own."""
        first = np.flatnonzero(self._left & (self._degrees == 0))
        self._left[first], self._alone[first] = False, True
        self._begin(
            spread.take_trim, self._left, self._degrees, self._alone, allowed=self._allowed, first=first,
            backward=backward, once=False,
        )  # fmt: skip

    def label(self) -> int:
        """Begins to find for each node that is left the greatest number of one from which it can be reached.

        Returns:
            The number of nodes that are left.
        """
        left = np.flatnonzero(self._left)
        self._labels: Numbers = (np.arange(self.count, dtype=np.int64) * self._parts + self._me).astype(np.uint32)
        queued = self._left.copy()
        self._begin(
            spread.take_label, self._left, self._labels, queued, allowed=self._allowed, first=left, values=self._labels,
            queued=queued,
        )  # fmt: skip
        return len(left)

    def collect(self) -> None:
        """Begins to find the components of nodes that no node with a greater number reaches."""
        numbers = (np.arange(self.count, dtype=np.int64) * self._parts + self._me).astype(np.uint32)
        roots = np.flatnonzero(self._left & (self._labels == numbers))
        self._components[roots] = numbers[roots]
        self._begin(
            spread.take_component, self._left, self._labels, self._components, allowed=self._allowed, first=roots,
            values=self._labels, backward=True,
        )  # fmt: skip

    def collected(self) -> int:
        """Removes the nodes whose components are known; returns how many nodes are left."""
        self._left &= self._components == NONE
        return int(np.count_nonzero(self._left))

    # A component is fair by what all of its workers know. That of its number collects it.

    def use(self) -> None:
        """Begins to send to the owners of targets which components use fair choices."""
        self._node = self._edge = 0
        self._used: list[NDArray[np.int64]] = []
        room = graph_edges.BATCH // 10
        self._sent = tuple(np.empty((self._parts, room), kind) for kind in (np.uint32, np.uint32, np.uint16))

    def using(self, *arrived: tuple[Numbers, Numbers, NDArray[np.uint16]]) -> Buckets:
        """Takes and sends such choices; at the end whether there are more."""
        for each in arrived:
            self._take_use(*each)
        counts, owed = np.zeros(self._parts, np.int64), self._allowed & (self._weak | self._strong)
        while self._node < self.count and not (self._others and counts[self._others].max() == self._sent[0].shape[1]):
            self._node, self._edge = spread.use(
                self._offsets, self._targets, self._choices, owed, self._components, self._node, self._edge, self._parts,
                *self._sent, counts,
            )  # fmt: skip
            self._take_use(*(each[self._me, : counts[self._me]] for each in self._sent))
            counts[self._me] = 0
        buckets = (
            None if q == self._me else tuple(each[q, : counts[q]] for each in self._sent) for q in self._everyone
        )
        return *buckets, self._node < self.count

    def _take_use(self, numbers: Numbers, components: Numbers, choices: NDArray[np.uint16]) -> None:
        within = self._components[numbers // np.uint32(self._parts)] == components
        self._used.append(np.unique(components[within].astype(np.int64) * self._width + choices[within]))
        if len(self._used) > MOST_USED:
            self._used = [np.unique(np.concatenate(self._used))]

    def tally(self) -> Buckets:
        """Sends what this worker knows of each component to the worker of its number."""
        self._sent = ()
        members, sizes = np.unique(self._components[self._components != NONE], return_counts=True)
        enabled, times = self._enabled()
        used = np.unique(np.concatenate([np.empty(0, np.int64), *self._used]))
        self._used = []
        parts, width = self._parts, self._width
        tallies = {}
        for q in self._everyone:
            its, pairs, uses = members % parts == q, enabled // width % parts == q, used // width % parts == q
            tallies[q] = (members[its].astype(np.int64), sizes[its], enabled[pairs], times[pairs], used[uses])
        self._own_tally = tallies[self._me]
        return tuple(None if q == self._me else tallies[q] for q in self._everyone)

    def _enabled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of a component and a fair choice, and in how many nodes it is enabled."""
        keys, node = np.empty(max(KEYS, self._width), np.int64), 0
        fair = self._weak | self._strong
        pairs, times = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        while node < self.count:
            node, size = spread.keys_of(
                self._offsets, self._choices, fair, self._components, self._width, node, len(keys), keys
            )
            some, counts = np.unique(keys[:size], return_counts=True)
            pairs.append(some)
            times.append(counts)
            if len(pairs) > MOST_PAIRS:
                merged = _summed(np.concatenate(pairs), np.concatenate(times))
                pairs, times = [merged[0]], [merged[1]]
        return _summed(np.concatenate(pairs), np.concatenate(times))

    def decide(self, *tallies: tuple[NDArray[np.int64], ...]) -> Buckets:
        """Decides on the components of its numbers.

        Returns:
            For each worker, the components in which no fair run can stay, and the pairs of a component and a choice that strong
            fairness misses in others.
        """
        each = list(tallies)
        each.insert(self._me, self._own_tally)
        components, sizes = _summed(*(np.concatenate([tally[k] for tally in each]) for k in (0, 1)))
        pairs, times = _summed(*(np.concatenate([tally[k] for tally in each]) for k in (2, 3)))
        unused = ~np.isin(pairs, np.concatenate([tally[4] for tally in each]))
        of, choice = pairs // self._width, pairs % self._width
        always = times == sizes[np.searchsorted(components, of)] if len(pairs) else np.empty(0, np.bool_)
        starved = np.unique(of[unused & self._weak[choice] & always])
        missed = pairs[unused & self._strong[choice] & ~np.isin(of, starved)]
        decisions = [
            (np.intersect1d(starved, tally[0]), missed[np.isin(missed // self._width, tally[0])]) for tally in each
        ]
        self._own_decision = decisions[self._me]
        return tuple(None if q == self._me else decision for q, decision in enumerate(decisions))

    def conclude(self, *decisions: tuple[NDArray[np.int64], NDArray[np.int64]]) -> tuple[int, int, int]:
        """Notes the fair components, and keeps only the nodes to search again: as :func:`schedproof.proofs.compiled.paths.fair`.

        Returns:
            The number of nodes to search again; and the least length of a run to a fair loop, with the least depth of its node
            (-1: no fair loop is known).
        """
        each = [*decisions, self._own_decision]
        starved = np.concatenate([one[0] for one in each])
        missed = np.concatenate([one[1] for one in each])
        component = self._components.astype(np.int64)
        known = self._components != NONE
        searched_anew = known & np.isin(component, missed // self._width)
        fair = known & ~searched_anew & ~np.isin(component, starved)
        self._fair[fair] = self._components[fair]
        alone = self._alone.copy()
        spread.fair_alone(
            self._offsets,
            self._targets,
            self._choices,
            self._allowed,
            self._weak | self._strong,
            self._parts,
            self._me,
            alone,
        )
        nodes = np.flatnonzero(alone)
        self._fair[nodes] = nodes * self._parts + self._me
        if len(missed):
            spread.keep_served(
                self._offsets, self._choices, self._components, self._width, np.sort(missed), searched_anew
            )
        self._inside = searched_anew
        length = least(self._lengths[self._fair != NONE])
        depth = least(self._depths[(self._fair != NONE) & (self._lengths == length)]) if length >= 0 else -1
        return int(np.count_nonzero(searched_anew)), length, depth

    def loop_of(self, node: int) -> int:
        """The component of a node in which a fair run can stay."""
        return int(self._fair[node])

    def members(self, nodes: NDArray[np.int64], component: int) -> Nodes:
        """Which nodes belong to a fair component."""
        inside: Nodes = self._fair[nodes] == component
        return inside


def _summed(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each key once, with the sum of its counts."""
    once, where = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(once), np.int64)
    np.add.at(sums, where, counts)
    return once, sums

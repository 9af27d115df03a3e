"""How to remove the circles of a derived order: the fewest places at which two locks change their order.

A place is two lines of a program: one acquires a lock, a later one acquires another while the first is held. z3 finds
the smallest sets of places to reverse, so that some order of all locks agrees with every place. If no set does, since
one place acquires two objects in any order, some places must release the first lock before they acquire the second.

Edges that only occur in circles with a gate need not agree, as long as no change opens such a circle: if one does, they
must agree, too, and the search begins anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import z3

from schedproof.model.lang.errors import Place

from .derived import Acquisition, Circles, Gated

MOST = 4
"""The most ways that are listed."""

MILLISECONDS = 5_000
"""The time for the search. Without a result in it no way is listed."""


@dataclass(frozen=True)
class Site:
    """Two lines of a program: the acquisition of a lock, and of another one while the first is held.

    Args:
        program: the operation or thread whose caller holds the first lock; "" if the lines alone are the place, which
            may be run by several programs.
        holding: where the first lock is acquired; None if the caller holds it.
        acquired: where the second one is acquired.
        steps: the texts of both steps, which can be in one line.
    """

    program: str
    holding: Place | None
    acquired: Place
    steps: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Change:
    """A change of one place: reversed, or the first lock is released before the second one is acquired.

    Args:
        site: the place.
        program: the first operation or thread that runs it.
        first, second: the locks as they are acquired there in the file, in one instance.
        releases: whether the first lock must be released.
    """

    site: Site
    program: str
    first: str
    second: str
    releases: bool

    @property
    def text(self) -> str:
        """The change in words."""
        first = f"{self.first} ({self.site.holding or 'of its caller'})"
        second = f"{self.second} ({self.site.acquired})"
        if self.releases:
            return f"{self.program} releases {first} before it acquires {second}"
        return f"{self.program} acquires {second} before {first}"


Edges = Mapping[Site, Sequence[tuple[str, str]]]
"""By place the locks that are held and acquired there, for each instance."""


def mend(circles: Circles, every: Sequence[Acquisition]) -> list[tuple[Change, ...]]:
    """The smallest sets of changes after which no circle is left; at most :data:`MOST`, [] if none is found in time.

    Args:
        circles: the circles of ``every``.
        every: all acquisitions. What is only part of circles with a gate may stay as it is.
    """
    open_edges = {edge for circle in circles.circles for edge in _pairs(circle.locks)}
    gated = {edge for one in circles.gated for edge in _pairs(one.circle.locks)} - open_edges
    edges: dict[Site, list[tuple[str, str]]] = {}
    texts: dict[Site, tuple[str, str, str]] = {}
    for one in every:
        for lock in dict.fromkeys(name for name, _ in one.held):
            if lock == one.lock or one.held_as(one.lock) is not None:
                continue
            holding = one.places.get(lock)
            site = Site(one.name if holding is None else "", holding, one.place, (one.steps.get(lock, ""), one.step))
            edges.setdefault(site, []).append((lock, one.lock))
            texts.setdefault(site, (one.name, f"{one.held_as(lock)} {lock}", f"{one.mode} {one.lock}"))
    while True:
        ways = smallest({site: [pair for pair in pairs if pair not in gated] for site, pairs in edges.items()})
        opened = {pair for way in ways for pair in _opened(edges, way, gated, circles.gated)}
        if not opened:
            break
        gated -= opened
    return [
        tuple(Change(site, *texts[site], releases=site in released) for site in [*reversed_, *released])
        for reversed_, released in ways
    ]


def _opened(
    edges: Edges, way: tuple[list[Site], list[Site]], gated: Collection[tuple[str, str]], by: Sequence[Gated]
) -> set[tuple[str, str]]:
    """Those of the gated edges that changes may bring into a circle without a gate.

    That is a circle with a reversed edge, or one whose gate a change moves.
    """
    turned, released = way
    moved = {lock for site in [*turned, *released] for lock, _ in edges[site]}
    opened = {edge for one in by if one.gate in moved for edge in _pairs(one.circle.locks)}
    reversed_ = {(acquired, holding) for site in turned for holding, acquired in edges[site]}
    kept = {pair for site, pairs in edges.items() if site not in turned and site not in released for pair in pairs}
    graph: nx.DiGraph[str] = nx.DiGraph([*kept, *reversed_])
    for part in nx.strongly_connected_components(graph):
        if any(part.issuperset(edge) for edge in reversed_):
            opened |= {edge for edge in kept if part.issuperset(edge)}
    return opened & {*gated}


def smallest(edges: Edges) -> list[tuple[list[Site], list[Site]]]:
    """The smallest sets of places to reverse, and to release, such that the edges have no circle.

    To release counts only where no set of places to reverse is enough.
    """
    return _search(edges, releases=False) or _search(edges, releases=True)


def _search(edges: Edges, *, releases: bool) -> list[tuple[list[Site], list[Site]]]:
    context = z3.Context()
    ranks = {lock: z3.Int(f"rank of {lock}", context) for pairs in edges.values() for pair in pairs for lock in pair}
    solver = z3.Optimize(ctx=context)
    solver.set("timeout", MILLISECONDS)
    solver.set("ctrl_c", False)  # otherwise z3 swallows an interrupt
    turned = {site: z3.Bool(f"reversed {n}", context) for n, site in enumerate(edges)}
    released = {site: z3.Bool(f"released {n}", context) for n, site in enumerate(edges)}
    for site, pairs in edges.items():
        if not releases:
            solver.add(z3.Not(released[site]))
        solver.add(z3.Not(z3.And(turned[site], released[site])))
        for holding, acquired in dict.fromkeys(pairs):
            up, down = ranks[holding] < ranks[acquired], ranks[acquired] < ranks[holding]
            solver.add(z3.Or(released[site], z3.If(turned[site], down, up)))
    # To release a lock early is a greater change than to acquire it earlier.
    cost = z3.Sum([z3.If(b, 1, 0) for b in turned.values()] + [z3.If(b, 2, 0) for b in released.values()])
    solver.minimize(cost)
    results: list[tuple[list[Site], list[Site]]] = []
    least = None
    while len(results) < MOST and solver.check() == z3.sat:
        model = solver.model()
        value = model.eval(cost, model_completion=True).as_long()
        least = value if least is None else least
        if value > least:
            break
        chosen = [[site for site, b in of.items() if z3.is_true(model.eval(b))] for of in (turned, released)]
        results.append((chosen[0], chosen[1]))
        if not value:
            break
        solver.add(z3.Or([z3.Not(turned[s]) for s in chosen[0]] + [z3.Not(released[s]) for s in chosen[1]]))
    return results


def _pairs(locks: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(locks, [*locks[1:], locks[0]], strict=True))

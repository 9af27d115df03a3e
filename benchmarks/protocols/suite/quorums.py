"""Quorums: sets of nodes of which any two have a node in common."""

from __future__ import annotations

from itertools import combinations

from schedproof.model.lang import Sort, exists, forall, variables
from schedproof.model.lang.terms import Term


def intersecting(quorum: Sort, node: Sort, also: Sort | None = None) -> Term:
    """Every two objects of ``quorum`` (or one of it and one of ``also``) have a common node in their attribute ``members``."""
    (q,), (r,), (n,) = variables(quorum, "q"), variables(also or quorum, "r"), variables(node, "n")
    return forall([q, r], exists(n, q.members.has(n) & r.members.has(n)))


def majorities(nodes: int, quorums: int) -> list[frozenset[int]]:
    """The first ``quorums`` of the smallest majorities of ``nodes`` nodes."""
    return [frozenset(each) for each in combinations(range(nodes), nodes // 2 + 1)][:quorums]

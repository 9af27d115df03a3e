"""Paxos; all nodes are the quorum of the first phase, and some single nodes are those of the second."""

from .paxos import initial, paxos

__all__ = ["initial", "steps"]


def steps(s, sizes):
    yield from paxos(s, sizes, [tuple(range(sizes["Node"]))], [(n,) for n in range(sizes["Second"])])

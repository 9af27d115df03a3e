"""Facts: request(n, m), voted(n), vote(n, m), votes(n, m), chosen(quorum), leads(n)."""

from itertools import product

from . import majorities
from .consensus_epr import initial, voting

__all__ = ["initial", "steps"]


def steps(s, sizes):
    yield from voting(s, sizes)
    for n, quorum in product(range(sizes["Node"]), majorities(sizes["Node"], sizes["Quorum"])):
        if all(("votes", n, m) in s for m in quorum):
            yield frozenset(each for each in s if each[0] != "chosen") | {("chosen", quorum)}
            if ("chosen", quorum) in s:
                yield s | {("leads", n)}

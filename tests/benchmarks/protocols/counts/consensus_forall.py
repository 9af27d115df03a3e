"""Facts: request(n, m), voted(n), vote(n, m), votes(n, m), chosen(quorum), leads(n), decided(n, v)."""

from .consensus_epr import deciding, initial
from .consensus_wo_decide import steps as leading

__all__ = ["initial", "steps"]


def steps(s, sizes):
    yield from leading(s, sizes)
    yield from deciding(s, sizes)

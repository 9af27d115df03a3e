"""As the election on a ring, and sent(n)."""

from .ring_election import initial, receiving

__all__ = ["initial", "steps"]


def steps(s, sizes):
    size = sizes["Node"]
    yield from (s | {("name", n, (n + 1) % size), ("sent", n)} for n in range(size))
    yield from receiving(s, size)

"""Facts: request(n, m), voted(n), vote(n, m), votes(n, m), leads(n), decided(n, v)."""

from itertools import product

from . import majorities


def initial(sizes):
    return [frozenset()]


def voting(s, sizes):
    """The steps until a node has votes."""
    for n, m in product(range(sizes["Node"]), repeat=2):
        yield s | {("request", n, m)}
        if ("request", m, n) in s and ("voted", n) not in s:
            yield s | {("vote", n, m), ("voted", n)}
        if ("vote", m, n) in s:
            yield s | {("votes", n, m)}


def deciding(s, sizes):
    """The steps of leaders."""
    for n, v in product(range(sizes["Node"]), range(sizes["Value"])):
        if ("leads", n) in s and not any(("decided", n, w) in s for w in range(sizes["Value"])):
            yield s | {("decided", n, v)}


def steps(s, sizes):
    yield from voting(s, sizes)
    yield from deciding(s, sizes)
    for n, quorum in product(range(sizes["Node"]), majorities(sizes["Node"], sizes["Quorum"])):
        if all(("votes", n, m) in s for m in quorum):
            yield s | {("leads", n)}

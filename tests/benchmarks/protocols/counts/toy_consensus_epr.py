"""Facts: vote(n, v), decided(v)."""

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    for v in range(sizes["Value"]):
        for n in range(sizes["Node"]):
            if not any(("vote", n, w) in s for w in range(sizes["Value"])):
                yield s | {("vote", n, v)}
        if any(all(("vote", n, v) in s for n in q) for q in majorities(sizes["Node"], sizes["Quorum"])):
            yield s | {("decided", v)}

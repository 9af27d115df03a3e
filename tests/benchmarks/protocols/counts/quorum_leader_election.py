"""Facts: vote(n, m), leads(n)."""

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for n in nodes:
        if not any(each[:2] == ("vote", n) for each in s):
            yield from (s | {("vote", n, m)} for m in nodes)
        if any(all(("vote", m, n) in s for m in quorum) for quorum in majorities(len(nodes), sizes["Quorum"])):
            yield s | {("leads", n)}

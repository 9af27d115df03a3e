"""Facts: vote(n, m), counted(n, m): n has counted the vote of m; leads(n)."""

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for n in nodes:
        if not any(each[:2] == ("vote", n) for each in s):
            yield from (s | {("vote", n, m)} for m in nodes)
        yield from (s | {("counted", n, m)} for m in nodes if ("vote", m, n) in s)
        if any(all(("counted", n, m) in s for m in each) for each in majorities(len(nodes), sizes["Majority"])):
            yield s | {("leads", n)}

"""One node is inside, or all but one. Facts: inside(n), sent(n, m), allowed(n)."""

from itertools import permutations


def initial(sizes):
    nodes = range(sizes["Node"])
    return [frozenset({("inside", 0)}), frozenset(("inside", n) for n in nodes if n)]


def steps(s, sizes):
    for n, m in permutations(range(sizes["Node"]), 2):
        if ("inside", n) in s and ("inside", m) not in s:
            yield s | {("sent", n, m), ("allowed", m)}
        if ("inside", n) not in s and ("inside", m) in s and ("allowed", n) in s:
            yield s | {("sent", n, m)}

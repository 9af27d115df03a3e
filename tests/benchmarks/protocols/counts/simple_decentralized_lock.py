"""Facts: lock(n), message(n, m)."""

from itertools import permutations


def initial(sizes):
    return [frozenset({("lock", 0)})]


def steps(s, sizes):
    for n, m in permutations(range(sizes["Node"]), 2):
        if ("lock", n) in s:
            yield s - {("lock", n)} | {("message", n, m)}
        if ("message", n, m) in s:
            yield s - {("message", n, m)} | {("lock", m)}

"""Facts: pending(d, x, y), a packet of d, from x to y; table(d, x, y), with x = y for each x, as in the source."""

from itertools import product


def initial(sizes):
    nodes = range(sizes["Node"])
    return [frozenset(("table", d, x, x) for d, x in product(nodes, nodes))]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for d in nodes:
        yield s | {("pending", d, d, d)}
    table = frozenset(each for each in s if each[0] == "table")
    for _, d, x, y in s - table:
        learnt = set()
        if d != y and not any(("table", d, y, w) in s for w in nodes if w != y):
            ends = [w for w in nodes if ("table", d, x, w) in s]
            learnt = {("table", d, u, w) for u in nodes if ("table", d, u, y) in s for w in ends}
        for kept in nodes:
            rest = {each for each in s - table if each[1] == kept}
            yield table | learnt | rest | {("pending", d, y, w) for w in nodes}

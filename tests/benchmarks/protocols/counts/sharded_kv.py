"""Facts: new(k), owns(n, k), table(n, k, v), transfer(n, k, v)."""

from itertools import product


def initial(sizes):
    return [frozenset(("new", k) for k in range(sizes["Key"]))]


def steps(s, sizes):
    nodes, values = range(sizes["Node"]), range(sizes["Value"])
    for n, k in product(nodes, range(sizes["Key"])):
        if ("new", k) in s:
            yield s - {("new", k)} | {("owns", n, k)}
        for v in values:
            if ("owns", n, k) in s:
                yield s - {("table", n, k, w) for w in values} | {("table", n, k, v)}
            if ("table", n, k, v) in s:
                for m in nodes:
                    yield s - {("table", n, k, v), ("owns", n, k)} | {("transfer", m, k, v)}
            if ("transfer", n, k, v) in s:
                yield s - {("transfer", n, k, v)} | {("table", n, k, v), ("owns", n, k)}

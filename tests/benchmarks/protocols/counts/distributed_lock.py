"""Epochs are numbers from 1; 0 is before all. Facts: holds(n), epoch(n, e), transfer(e, n), locked(e, n)."""


def initial(sizes):
    return [frozenset({("holds", 0)} | {("epoch", n, 0) for n in range(sizes["Node"])})]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for n in nodes:
        (epoch,) = (each[2] for each in s if each[:2] == ("epoch", n))
        for e in range(epoch + 1, sizes["Epoch"] + 1):
            if ("holds", n) in s:
                for m in nodes:
                    yield s - {("holds", n)} | {("transfer", e, m)}
            if ("transfer", e, n) in s:
                yield s - {("epoch", n, epoch)} | {("epoch", n, e), ("holds", n), ("locked", e, n)}

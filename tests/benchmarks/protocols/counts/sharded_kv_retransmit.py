"""Facts: new(k), owns(n, k), table(n, k, v), used(n, i), and of messages, each with sender, receiver and number: transfer and unacked
with key and value, received, ack."""

from itertools import product


def initial(sizes):
    return [frozenset(("new", k) for k in range(sizes["Key"]))]


def steps(s, sizes):
    nodes, keys, values, numbers = (range(sizes[each]) for each in ("Node", "Key", "Value", "Number"))
    for n, k in product(nodes, keys):
        if ("new", k) in s:
            yield s - {("new", k)} | {("owns", n, k)}
        if ("owns", n, k) in s:
            for v in values:
                yield s - {("table", n, k, w) for w in values} | {("table", n, k, v)}
    for n, m, i in product(nodes, nodes, numbers):
        received, ack = ("received", n, m, i), ("ack", n, m, i)
        if ack in s:
            yield s - {ack}
            yield frozenset(each for each in s if not (each[0] == "unacked" and each[1:4] == (n, m, i)))
        for k, v in product(keys, values):
            transfer, unacked = ("transfer", n, m, i, k, v), ("unacked", n, m, i, k, v)
            if ("table", n, k, v) in s and ("used", n, i) not in s:
                yield s - {("table", n, k, v), ("owns", n, k)} | {("used", n, i), transfer, unacked}
            if unacked in s:
                yield s | {transfer}
            if transfer in s:
                yield s - {transfer}
                yield s | ({ack} if received in s else {received, ("table", m, k, v), ("owns", m, k)})

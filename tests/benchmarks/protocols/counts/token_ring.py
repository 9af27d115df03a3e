"""Nodes stand on the ring in the order of their numbers. Facts: token(n), critical(n), sent(n)."""


def initial(sizes):
    return [frozenset({("token", 0)})]


def steps(s, sizes):
    for n in range(sizes["Node"]):
        if ("token", n) in s:
            yield s - {("token", n)} | {("critical", n)}
            yield s - {("token", n)} | {("sent", n)}
        if ("critical", n) in s:
            yield s - {("critical", n)} | {("token", n)}
        if ("sent", n) in s:
            yield s - {("sent", n)} | {("token", (n + 1) % sizes["Node"])}

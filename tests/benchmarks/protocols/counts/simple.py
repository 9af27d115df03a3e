"""Processes are a circle. Facts: x(p), y(p), done(p)."""


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    for p in range(sizes["Process"]):
        if ("x", p) not in s:
            yield s | {("x", p)}
        elif ("done", p) not in s:
            y = {("y", p)} if ("x", (p - 1) % sizes["Process"]) in s else set()
            yield s | {("done", p)} | y

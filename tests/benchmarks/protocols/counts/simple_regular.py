"""Processes are a circle. Facts: at(p, line), y(p). The register of p is {0}, {0, 1} or {1} at lines 0, 1 and later."""


def initial(sizes):
    return [frozenset(("at", p, 0) for p in range(sizes["Process"]))]


def steps(s, sizes):
    lines = {each[1]: each[2] for each in s if each[0] == "at"}
    for p, line in lines.items():
        after = s - {("at", p, line)} | {("at", p, line + 1)}
        if line < 2:
            yield after
        if line == 2:
            register = {0: {0}, 1: {0, 1}}.get(lines[(p - 1) % len(lines)], {1})
            yield from (after | ({("y", p)} if value else set()) for value in register)

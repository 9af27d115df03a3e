"""Nodes stand round the ring in the order of their numbers; the origin is 0. Facts: active(x), first(x, y), second(x, y), before(x, y),
reach(x)."""

from itertools import permutations, product


def initial(sizes):
    return [frozenset()]


def between(x, y, z, size):
    """From x round the ring, one comes to y before z; all three differ."""
    return 0 < (y - x) % size < (z - x) % size


def remainder(s, x, *names):
    """The state without the facts of those names about x."""
    return frozenset(each for each in s if not (each[0] in names and each[1] == x))


def steps(s, sizes):
    nodes, size = range(sizes["Node"]), sizes["Node"]
    active = {each[1] for each in s if each[0] == "active"}
    reach = {0} | {each[1] for each in s if each[0] == "reach"}
    first, second, before = (
        {each[1]: each[2] for each in s if each[0] == name} for name in ("first", "second", "before")
    )
    if not active:
        for y in nodes[1:]:
            pairs = list(permutations((0, y)))
            yield s | {(name, *pair) for pair in pairs for name in ("first", "before")} | {("active", 0), ("active", y)}
    for x, y in product(nodes, nodes):
        if x not in active and y in active and not between(x, 0, y, size):
            yield remainder(s, x, "second", "before", "first") | {("active", x), ("first", x, y)}
    for x in active:
        y = first[x]
        if y in active:
            z = before.get(y)
            if z is not None and between(x, z, y, size):
                yield remainder(s, x, "first", "second") | {("first", x, z), ("second", x, y)}
            if any(between(a, x, y, size) for a in (nodes if z is None else [z])):
                yield remainder(s, y, "before") | {("before", y, x)}
            yield remainder(s, x, "second") | {("second", x, first[y])}
        elif x in second:
            yield remainder(s, x, "first", "second") | {("first", x, second[x])}
        if x and all(
            (b != x or (a in second and second[a] in active)) and (second.get(a) != x or (b != x and b in active))
            for a, b in first.items()
        ):
            yield remainder(s, x, "active", "first", "second", "before")
    for x, y in first.items():
        z = second.get(x)
        if (y in active and y in reach) or (y not in active and z in active and z in reach):
            yield s | {("reach", x)}
        elif x:
            yield s - {("reach", x)}

"""All nodes are neighbours. Packets go from the first node to the last, or back. Facts: pending(p, x, y), known(d, x),
way(d, x, y): in the tables for d, the way from x goes on to y."""


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    nodes, last = range(sizes["Node"]), sizes["Node"] - 1
    for p in range(sizes["Packet"]):
        begin, end = (0, last) if p % 2 == 0 else (last, 0)
        yield s | {("pending", p, begin, begin)}
        for x in nodes:
            for y in nodes:
                if ("pending", p, x, y) in s:
                    yield from arrives(s, nodes, p, begin, end, x, y)


def arrives(s, nodes, p, begin, end, x, y):
    """The packet arrives at y from x, which learns that the way to its begin goes there, and sends it on."""

    def goes(d, one, two):
        return one == two or ("way", d, one, two) in s

    learnt = set()
    if begin != y and ("known", begin, y) not in s:
        ways = {
            ("way", begin, u, w) for u in nodes for w in nodes if u != w and goes(begin, u, y) and goes(begin, x, w)
        }
        learnt = {("known", begin, y)} | ways
    if ("known", end, y) in s:
        ways = [w for w in nodes if ("way", end, y, w) in s]
        for w in ways:
            if all(goes(end, w, z) for z in ways):
                yield s | learnt | ({("pending", p, y, w)} if end != y else set())
    else:
        flooded = frozenset(each for each in s if each[:3] != ("pending", p, y)) | {
            ("pending", p, y, w) for w in nodes if w not in (x, y)
        }
        yield (flooded if end != y else s) | learnt

"""Facts: requested(n, m), replied(n, m): m has replied to n; holds(n)."""


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for n in nodes:
        others = [m for m in nodes if m != n]
        if all(("replied", n, m) in s for m in others):
            yield s | {("holds", n)}
        if ("holds", n) in s:
            yield s - {("holds", n)} - {("replied", n, m) for m in others}
        for m in others:
            if ("requested", n, m) not in s:
                yield s | {("requested", n, m)}
            elif not {("replied", n, m), ("replied", m, n), ("holds", m)} & s:
                yield s - {("requested", n, m)} | {("replied", n, m)}

"""Nodes stand on the ring, and rank, in the order of their numbers. Facts: name(m, n), the name of m is pending at n; leads(n)."""


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    size = sizes["Node"]
    yield from (s | {("name", n, (n + 1) % size)} for n in range(size))
    yield from receiving(s, size)


def receiving(s, size):
    """A name arrives, and goes on, ends or wins."""
    for each in s:
        if each[0] == "name":
            _, m, n = each
            if m == n:
                yield s - {each} | {("leads", n)}
            elif m > n:
                yield s - {each} | {("name", m, (n + 1) % size)}
            else:
                yield s - {each}

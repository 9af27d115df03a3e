"""Facts: asks(n), granted(n), holds(n), releases(n), server."""


def initial(sizes):
    return [frozenset({("server",)})]


def steps(s, sizes):
    for n in range(sizes["Node"]):
        yield s | {("asks", n)}
        if {("asks", n), ("server",)} <= s:
            yield s - {("asks", n), ("server",)} | {("granted", n)}
        if ("granted", n) in s:
            yield s - {("granted", n)} | {("holds", n)}
        if ("holds", n) in s:
            yield s - {("holds", n)} | {("releases", n)}
        if ("releases", n) in s:
            yield s - {("releases", n)} | {("server",)}

"""Facts: asks(n, k), granted(n, k), holds(n, k), releases(n, k), server(k)."""


def initial(sizes):
    return [frozenset(("server", k) for k in range(sizes["Lock"]))]


def steps(s, sizes):
    for n in range(sizes["Node"]):
        for k in range(sizes["Lock"]):
            yield s | {("asks", n, k)}
            if {("asks", n, k), ("server", k)} <= s:
                yield s - {("asks", n, k), ("server", k)} | {("granted", n, k)}
            if ("granted", n, k) in s:
                yield s - {("granted", n, k)} | {("holds", n, k)}
            if ("holds", n, k) in s:
                yield s - {("holds", n, k)} | {("releases", n, k)}
            if ("releases", n, k) in s:
                yield s - {("releases", n, k)} | {("server", k)}

"""Facts: link(c, s), busy(s)."""


def initial(sizes):
    return [frozenset()]


def steps(state, sizes):
    for c in range(sizes["Client"]):
        for s in range(sizes["Server"]):
            if ("busy", s) not in state:
                yield state | {("link", c, s), ("busy", s)}
            if ("link", c, s) in state:
                yield state - {("link", c, s), ("busy", s)}

"""Facts: chosen(v)."""


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    if not s:
        yield from (frozenset({("chosen", v)}) for v in range(sizes["Value"]))

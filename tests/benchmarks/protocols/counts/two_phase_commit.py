"""Facts: yes(n), no(n), dead(n), commits(n), aborts(n), trouble, go(word)."""


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    decided = ("go", "commit") in s or ("go", "abort") in s
    if not decided and all(("yes", n) in s for n in nodes):
        yield s | {("go", "commit")}
    if not decided and any(("no", n) in s or ("dead", n) in s for n in nodes):
        yield s | {("go", "abort")}
    for n in nodes:
        if ("dead", n) in s:
            continue
        yield s | {("dead", n), ("trouble",)}
        if ("commits", n) not in s and ("aborts", n) not in s:
            if ("no", n) not in s:
                yield s | {("yes", n)}
            if ("yes", n) not in s:
                yield s | {("no", n), ("trouble",), ("aborts", n)}
        if ("go", "commit") in s:
            yield s | {("commits", n)}
        if ("go", "abort") in s:
            yield s | {("aborts", n)}

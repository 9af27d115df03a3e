"""Of two nodes, the last omits all messages or none. Of three, it sends the same lie to all, or omits some messages.

Facts: kind(fault), begins(n), sent(n, m), received(n, m): n from m; accepts(n).
"""

from itertools import combinations, product

SIZES = {"omits_all": (1, 1), "lies_to_all": (2, 2), "omits_some": (1, 2)}
"""The sizes of the quorums for sending, and for accepting."""


def initial(sizes):
    kinds = {2: ["omits_all"], 3: ["lies_to_all", "omits_some"]}[sizes["Node"]]
    return [frozenset({("kind", kind), *begin}) for kind in kinds for begin in ([], [("begins", 0)])]


def steps(s, sizes):
    nodes, faulty = range(sizes["Node"]), sizes["Node"] - 1
    (kind,) = (each[1] for each in s if each[0] == "kind")
    to_send, to_accept = SIZES[kind]

    def to_all(n):
        return {("sent", n, m) for m in nodes}

    def enough(state, n, size):
        return any(all(("received", n, m) in state for m in group) for group in combinations(nodes, size))

    for n in nodes:
        if ("begins", n) in s:
            yield s | to_all(n)
    for n, m in product(nodes, nodes):
        if ("sent", m, n) in s:
            after = s | {("received", n, m)}
            after |= {("accepts", n)} if enough(after, n, to_accept) else set()
            yield after | (to_all(n) if enough(after, n, to_send) else set())
            if n == faulty and kind != "lies_to_all":
                yield after
    if kind == "omits_some" and enough(s, faulty, to_send):
        yield from (s | {("sent", faulty, m)} for m in nodes)
    if kind == "lies_to_all":
        yield s | to_all(faulty)
        yield s | {("accepts", faulty)}
        yield s - {("accepts", faulty)}
        for m in nodes:
            yield s | {("received", faulty, m)}
            yield s - {("received", faulty, m)}

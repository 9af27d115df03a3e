"""All nodes are honest, or all but the last. Node i leads at time i, and transaction i is due at time i, modulo the number of times.

Facts: dishonest(n), sent(n), mined(n, b, t), pending(n, b, t), block(n, b, t): n has confirmed b at t; in(x, b), confirmed(n, x).
"""

from itertools import product


def initial(sizes):
    return [frozenset(), frozenset({("dishonest", sizes["Node"] - 1)})]


def steps(s, sizes):
    nodes, blocks, transactions, times = (range(sizes[each]) for each in ("Node", "Block", "Transaction", "Time"))
    honest = [n for n in nodes if ("dishonest", n) not in s]
    for x, b in product(transactions, blocks):
        yield s | {("in", x, b)}
    for n, x in product(nodes, transactions):
        if n not in honest:
            yield s | {("confirmed", n, x)}
            yield s - {("confirmed", n, x)}
    for n, b, t in product(nodes, blocks, times):
        pending, mined = ("pending", n, b, t), ("mined", n, b, t)
        if n == t:
            yield s | {mined}
            if mined in s and ("sent", n) not in s:
                yield s | {pending}
        if n not in honest:
            yield s | {pending}
            yield s | {("block", n, b, t)}
            yield s - {("block", n, b, t)}
        if pending in s:
            after = s - {pending} - {("block", m, c, t) for m in honest for c in blocks} | {("sent", n)}
            confirmed = {("block", m, b, t) for m in honest}
            content = {x for x in transactions if ("in", x, b) in s}
            if n not in honest:
                yield after
                yield after | confirmed
            elif content == {x for x in transactions if x % len(times) <= t and ("confirmed", n, x) not in s}:
                yield after | confirmed | {("confirmed", m, x) for m in nodes for x in content}

"""Facts: match(r, p), sent(n, r), answer(n, p), received(n, p)."""

from itertools import product


def initial(sizes):
    requests, responses = range(sizes["Request"]), range(sizes["Response"])
    one = frozenset(("match", r, r % len(responses)) for r in requests)
    return {one, frozenset(("match", r, p) for r, p in product(requests, responses))}


def steps(s, sizes):
    for n in range(sizes["Node"]):
        for r in range(sizes["Request"]):
            yield s | {("sent", n, r)}
            for p in range(sizes["Response"]):
                if {("sent", n, r), ("match", r, p)} <= s:
                    yield s | {("answer", n, p)}
        for p in range(sizes["Response"]):
            if ("answer", n, p) in s:
                yield s | {("received", n, p)}

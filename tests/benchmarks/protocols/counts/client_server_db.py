"""Facts: match(r, p), sent(n, r), ask(i, r), client(i, n), result(i, p), answer(n, p), received(n, p)."""

from itertools import product

from .client_server import initial

__all__ = ["initial", "steps"]


def steps(s, sizes):
    nodes, requests, responses, numbers = (range(sizes[each]) for each in ("Node", "Request", "Response", "Number"))
    for n, r in product(nodes, requests):
        yield s | {("sent", n, r)}
        for i in numbers:
            if ("sent", n, r) in s and not any(("client", i, m) in s for m in nodes):
                yield s | {("client", i, n), ("ask", i, r)}
    for i, r, p in product(numbers, requests, responses):
        if {("ask", i, r), ("match", r, p)} <= s:
            yield s | {("result", i, p)}
    for n, p in product(nodes, responses):
        if any({("result", i, p), ("client", i, n)} <= s for i in numbers):
            yield s | {("answer", n, p)}
        if ("answer", n, p) in s:
            yield s | {("received", n, p)}

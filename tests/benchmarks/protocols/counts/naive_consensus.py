"""Facts: vote(n, v), collected(quorum, v), learnt(v)."""

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    for v in range(sizes["Value"]):
        for n in range(sizes["Node"]):
            if not any(("vote", n, w) in s for w in range(sizes["Value"])):
                yield s | {("vote", n, v)}
        for quorum in majorities(sizes["Node"], sizes["Quorum"]):
            if all(("vote", n, v) in s for n in quorum):
                yield s | {("collected", quorum, v)}
            if ("collected", quorum, v) in s:
                yield s | {("learnt", v)}

"""The first round is fast; all nodes are the fast quorum. Facts: as in Paxos, and any(r): all values may be voted for in r."""

from itertools import product

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    nodes, values = range(sizes["Node"]), range(sizes["Value"])
    classic = majorities(sizes["Node"], sizes["Classic"])
    for r in range(sizes["Round"]):
        yield s | {("started", r)}
        for n in nodes:
            if ("started", r) in s and ("past", n, r) not in s:
                yield s | {("joined", n, r)} | {("past", n, t) for t in range(r)}
        if ("any", r) not in s and not any(("proposed", r, v) in s for v in values):
            for quorum in classic:
                if all(("joined", n, r) in s for n in quorum):
                    yield from proposing(s, r, quorum, values)
        for v, n in product(values, nodes):
            may = ("any", r) in s or ("proposed", r, v) in s
            if may and ("past", n, r) not in s and not any(("vote", n, r, w) in s for w in values):
                yield s | {("vote", n, r, v)}
        for v, quorum in product(values, [tuple(nodes)] if r == 0 else classic):
            if all(("vote", n, r, v) in s for n in quorum):
                yield s | {("decided", r, v)}


def proposing(s, r, quorum, values):
    """A round proposes what a fast quorum may have decided, else a last vote, else any value."""
    votes = [each for each in s if each[0] == "vote" and each[1] in quorum and each[2] < r]
    if not votes:
        yield from [s | {("any", r)}] if r == 0 else [s | {("proposed", r, v)} for v in values]
        return
    last = max(each[2] for each in votes)
    choosable = {v for v in values if all(("vote", n, last, v) in s for n in quorum)}
    for v in choosable or {each[3] for each in votes if each[2] == last}:
        yield s | {("proposed", r, v)}

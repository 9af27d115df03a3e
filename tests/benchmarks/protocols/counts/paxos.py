"""Facts: started(r), joined(n, r), past(n, r), proposed(r, v), vote(n, r, v), decided(r, v)."""

from itertools import product

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    quorums = majorities(sizes["Node"], sizes["Quorum"])
    yield from paxos(s, sizes, quorums, quorums)


def paxos(s, sizes, first, second):
    """The steps with the quorums of the two phases."""
    nodes, values = range(sizes["Node"]), range(sizes["Value"])
    for r in range(sizes["Round"]):
        yield s | {("started", r)}
        for n in nodes:
            if ("started", r) in s and ("past", n, r) not in s:
                yield s | {("joined", n, r)} | {("past", n, t) for t in range(r)}
        if not any(("proposed", r, v) in s for v in values):
            for quorum in first:
                if all(("joined", n, r) in s for n in quorum):
                    votes = [each for each in s if each[0] == "vote" and each[1] in quorum and each[2] < r]
                    last = max((each[2] for each in votes), default=None)
                    for v in values if last is None else {each[3] for each in votes if each[2] == last}:
                        yield s | {("proposed", r, v)}
        for v, n in product(values, nodes):
            if ("proposed", r, v) in s and ("past", n, r) not in s:
                yield s | {("vote", n, r, v)}
        for v, quorum in product(values, second):
            if all(("vote", n, r, v) in s for n in quorum):
                yield s | {("decided", r, v)}

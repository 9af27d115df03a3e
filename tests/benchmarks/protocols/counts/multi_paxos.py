"""Facts: started(r), joined(n, r), past(n, r), active(r), proposed(r, i, v), vote(n, i, r, v), decided(r, i, v)."""

from itertools import product

from . import majorities


def initial(sizes):
    return [frozenset()]


def last_votes(s, i, r, quorum):
    """The values of the last votes for an instance before a round, in a quorum."""
    votes = [each for each in s if each[0] == "vote" and each[1] in quorum and each[2] == i and each[3] < r]
    last = max((each[3] for each in votes), default=None)
    return {each[4] for each in votes if each[3] == last}


def steps(s, sizes):
    nodes, instances, values = range(sizes["Node"]), range(sizes["Instance"]), range(sizes["Value"])
    quorums = majorities(sizes["Node"], sizes["Quorum"])
    for r in range(sizes["Round"]):
        yield s | {("started", r)}
        for n in nodes:
            if ("started", r) in s and ("past", n, r) not in s:
                yield s | {("joined", n, r)} | {("past", n, t) for t in range(r)}
        if ("active", r) not in s:
            for quorum in quorums:
                if all(("joined", n, r) in s for n in quorum):
                    yield (
                        s
                        | {("active", r)}
                        | {("proposed", r, i, v) for i in instances for v in last_votes(s, i, r, quorum)}
                    )
        for i, v in product(instances, values):
            if ("active", r) in s and not any(("proposed", r, i, w) in s for w in values):
                yield s | {("proposed", r, i, v)}
            for n in nodes:
                if ("proposed", r, i, v) in s and ("past", n, r) not in s:
                    yield s | {("vote", n, i, r, v)}
            if any(all(("vote", n, i, r, v) in s for n in quorum) for quorum in quorums):
                yield s | {("decided", r, i, v)}

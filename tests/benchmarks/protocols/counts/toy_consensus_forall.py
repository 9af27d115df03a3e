"""Facts: vote(n, v), decided(v), quorum(members)."""

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
                yield frozenset(each for each in s if each[0] != "quorum") | {("decided", v), ("quorum", quorum)}

"""Facts: started(p), follows(a, p), leads(p)."""

from . import majorities


def initial(sizes):
    return [frozenset()]


def steps(s, sizes):
    for p in range(sizes["Proposer"]):
        yield s | {("started", p)}
        for a in range(sizes["Acceptor"]):
            if ("started", p) in s and not any(each[:2] == ("follows", a) for each in s):
                yield s | {("follows", a, p)}
        for quorum in majorities(sizes["Acceptor"], sizes["Quorum"]):
            if all(("follows", a, p) in s for a in quorum):
                yield s | {("leads", p)}

"""Terms are numbers from 1; a node begins at 0. Facts: term(n, t), stands(n, t), vote(n, t, m), leads(n, t)."""

from . import majorities


def initial(sizes):
    return [frozenset(("term", n, 0) for n in range(sizes["Node"]))]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for n in nodes:
        (term,) = (each[2] for each in s if each[:2] == ("term", n))
        rest = s - {("term", n, term)}
        for t in range(1, sizes["Term"] + 1):
            if t > term:
                yield rest | {("term", n, t), ("stands", n, t), ("vote", n, t, n)}
            if t >= term and not any(each[:3] == ("vote", n, t) for each in s):
                yield from (rest | {("term", n, t), ("vote", n, t, m)} for m in nodes if ("stands", m, t) in s)
            for quorum in majorities(sizes["Node"], sizes["Quorum"]):
                if t == term and all(("vote", m, t, n) in s for m in quorum):
                    yield s | {("leads", n, t)}

"""Transaction t, from 1, runs first its operation on key 0, at node 0, and then that on key 1, at node 1: an odd one writes key 0 and reads
key 1, an even one the other way round. Facts: ran(t, step), aborted(t), read(t, key, from).
"""


def initial(sizes):
    return [frozenset()]


def writes(t, key):
    """Whether the operation of the transaction on the key writes."""
    return t % 2 != key


def steps(s, sizes):
    everybody = range(1, sizes["Transaction"])
    aborted = {each[1] for each in s if each[0] == "aborted"}
    committed = {0} | {t for t in everybody if ("ran", t, 1) in s}

    def wrote(t, key):
        return t == 0 or (writes(t, key) and ("ran", t, key) in s)

    for t in everybody:
        if t in aborted or t in committed:
            continue
        key = 1 if ("ran", t, 0) in s else 0
        ran = s | {("ran", t, key)}
        if writes(t, key):
            late = any(("ran", u, key) in s and u not in aborted for u in everybody if u >= t)
            yield s | {("aborted", t)} if late else ran
        else:
            last = max(u for u in range(t + 1) if wrote(u, key) and u not in aborted)
            yield ran | {("read", t, key, last)} if last in committed else s | {("aborted", t)}

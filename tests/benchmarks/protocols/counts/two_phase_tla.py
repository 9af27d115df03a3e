"""Facts: rm(r, state), tm(state), known(r), message(prepared, r), message(commit), message(abort)."""


def initial(sizes):
    return [frozenset({("tm", "init")} | {("rm", r, "working") for r in range(sizes["Resource"])})]


def steps(s, sizes):
    resources = range(sizes["Resource"])
    if ("tm", "init") in s:
        yield s - {("tm", "init")} | {("tm", "aborted"), ("message", "abort")}
        if all(("known", r) in s for r in resources):
            yield s - {("tm", "init")} | {("tm", "committed"), ("message", "commit")}
        for r in resources:
            if ("message", "prepared", r) in s:
                yield s | {("known", r)}
    for r in resources:
        rest = frozenset(each for each in s if each[:2] != ("rm", r))
        if ("rm", r, "working") in s:
            yield rest | {("rm", r, "prepared"), ("message", "prepared", r)}
            yield rest | {("rm", r, "aborted")}
        if ("message", "commit") in s:
            yield rest | {("rm", r, "committed")}
        if ("message", "abort") in s:
            yield rest | {("rm", r, "aborted")}

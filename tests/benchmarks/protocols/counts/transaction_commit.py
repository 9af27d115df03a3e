"""Facts: rm(r, state)."""


def initial(sizes):
    return [frozenset(("rm", r, "working") for r in range(sizes["Resource"]))]


def steps(s, sizes):
    states = {each[2] for each in s}
    for _, r, state in s:
        rest = s - {("rm", r, state)}
        if state == "working":
            yield rest | {("rm", r, "prepared")}
        if state == "prepared" and states <= {"prepared", "committed"}:
            yield rest | {("rm", r, "committed")}
        if state in ("working", "prepared") and "committed" not in states:
            yield rest | {("rm", r, "aborted")}

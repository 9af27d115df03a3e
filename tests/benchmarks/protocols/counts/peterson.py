"""Facts: at(p, line), flag(p), turn(p)."""

LINES = {"idle": "flag", "critical": "leave"}


def initial(sizes):
    return [frozenset({("at", 0, "idle"), ("at", 1, "idle")})]


def steps(s, sizes):
    for p, q in ((0, 1), (1, 0)):
        (line,) = (each[2] for each in s if each[:2] == ("at", p))
        rest = s - {("at", p, line)}
        if line in LINES:
            yield rest | {("at", p, LINES[line])}
        elif line == "flag":
            yield rest | {("at", p, "turn"), ("flag", p)}
        elif line == "turn":
            yield rest - {("turn", p)} | {("at", p, "wait"), ("turn", q)}
        elif line == "wait" and (("flag", q) not in s or ("turn", p) in s):
            yield rest | {("at", p, "critical")}
        elif line == "leave":
            yield rest - {("flag", p)} | {("at", p, "idle")}

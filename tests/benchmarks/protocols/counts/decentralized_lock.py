"""Times are numbers from 1; 0 is before all. Facts: lock(n), time(n, t), message(n, m, t)."""


def initial(sizes):
    return [frozenset({("lock", 0)} | {("time", n, 0) for n in range(sizes["Node"])})]


def steps(s, sizes):
    nodes = range(sizes["Node"])
    for n in nodes:
        (time,) = (each[2] for each in s if each[:2] == ("time", n))
        for t in range(time + 1, sizes["Time"] + 1):
            for m in nodes:
                if ("lock", n) in s:
                    yield s - {("lock", n)} | {("message", n, m, t)}
                if ("message", m, n, t) in s:
                    yield s - {("time", n, time)} | {("time", n, t), ("lock", n)}

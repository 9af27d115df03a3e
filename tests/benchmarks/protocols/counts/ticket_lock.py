"""Two counters, of the next ticket and of the one that is served, up to the number of tickets. Facts: next(k), service(k),
waits(t, k), in(t, k)."""


def initial(sizes):
    return [frozenset({("next", 0), ("service", 0)})]


def steps(s, sizes):
    (ticket,) = (each[1] for each in s if each[0] == "next")
    (service,) = (each[1] for each in s if each[0] == "service")
    busy = {each[1]: each for each in s if each[0] in ("waits", "in")}
    for t in range(sizes["Thread"]):
        place = busy.get(t)
        if place is None and ticket < sizes["Ticket"]:
            yield s - {("next", ticket)} | {("next", ticket + 1), ("waits", t, ticket)}
        elif place and place[0] == "waits" and place[2] <= service:
            yield s - {place} | {("in", t, place[2])}
        elif place and place[0] == "in" and service < sizes["Ticket"]:
            yield s - {place, ("service", service)} | {("service", service + 1)}

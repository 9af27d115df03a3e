"""Facts: state(c, word), request(c, word), answer(c, word), ack(c), list(c), sharer(c), command(word), client(c), granted."""


def initial(sizes):
    return [frozenset(("state", c, "I") for c in range(sizes["Client"]))]


def steps(s, sizes):
    clients = range(sizes["Client"])
    command = next((each[1] for each in s if each[0] == "command"), None)
    current = next((each[1] for each in s if each[0] == "client"), None)
    busy = {("command", command), ("client", current)}
    for c in clients:
        (state,) = (each[2] for each in s if each[:2] == ("state", c))
        request = next((each[2] for each in s if each[:2] == ("request", c)), None)
        answer = next((each[2] for each in s if each[:2] == ("answer", c)), None)
        if request is None and state == "I":
            yield s | {("request", c, "S")}
        if request is None and state != "E":
            yield s | {("request", c, "E")}
        if request and command is None:
            lists = {("list", d) for d in clients if ("sharer", d) in s}
            rest = frozenset(each for each in s if each[0] != "list") - {("request", c, request)}
            yield rest | lists | {("command", request), ("client", c)}
        if ("list", c) in s and answer is None and (command == "E" or (command == "S" and ("granted",) in s)):
            yield s - {("list", c)} | {("answer", c, "inv")}
        if answer == "inv" and ("ack", c) not in s:
            yield s - {("answer", c, "inv"), ("state", c, state)} | {("ack", c), ("state", c, "I")}
        if ("ack", c) in s and command:
            yield s - {("ack", c), ("sharer", c), ("granted",)}
        if current == c and answer is None and ("granted",) not in s:
            if command == "S":
                yield s - busy | {("answer", c, "S"), ("sharer", c)}
            if command == "E" and not any(each[0] == "sharer" for each in s):
                yield s - busy | {("answer", c, "E"), ("sharer", c), ("granted",)}
        if answer in ("S", "E"):
            yield s - {("answer", c, answer), ("state", c, state)} | {("state", c, answer)}

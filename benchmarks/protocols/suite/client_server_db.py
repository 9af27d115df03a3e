"""Clients, a server, and a data base that answers the server; requests to the data base have numbers.

Source: ``client_server_db_ae`` in the suites of mypyvy, SWISS and endive (Feldman et al., TACAS 2017).
Safety: what a client receives matches a request that it sent.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    SetOf,
    Sort,
    State,
    exists,
    forall,
    given,
    me,
    variables,
)

from .client_server import Node, Request, Response, matches, n, p, r

Number = Sort("Number", "i")
(i,) = variables(Number, "i")
(o,) = variables(Node, "o")

MODEL = Model(
    system="client-server-db",
    variant="as-published",
    about="a server asks a data base to answer the requests of clients",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("sent", SetOf(Request)),
                Attribute("answers", SetOf(Response)),
                Attribute("received", SetOf(Response)),
            ],
            [
                Event("send", {"request": Ref(Request)}),
                Event("answer", {"response": Ref(Response)}),
                Event("receive", {"response": Ref(Response)}),
            ],
        ),
        Machine(Request, attributes=[Attribute("matches", SetOf(Response), rigid=True)]),
        Machine(Response),
        Machine(
            Number,
            [State("Up")],
            [
                Attribute("clients", SetOf(Node)),
                Attribute("requests", SetOf(Request)),
                Attribute("results", SetOf(Response)),
            ],
            [
                Event("ask", {"client": Ref(Node), "request": Ref(Request)}),
                Event("result", {"response": Ref(Response)}),
            ],
        ),
    ],
    rows=[
        Row(Node, "send", "Up", "Up", sent=me.sent.with_(given("request"))),
        Row(Node, "answer", "Up", "Up", answers=me.answers.with_(given("response"))),
        Row(Node, "receive", "Up", "Up", received=me.received.with_(given("response"))),
        Row(
            Number,
            "ask",
            "Up",
            "Up",
            clients=me.clients.with_(given("client")),
            requests=me.requests.with_(given("request")),
        ),
        Row(Number, "result", "Up", "Up", results=me.results.with_(given("response"))),
    ],
    actions=[
        Action("new_request", [n, r], [], [n.fires("send", request=r)], "{n} sends {r}"),
        Action(
            "process_request",
            [n, r, i],
            [n.sent.has(r), forall(o, ~i.clients.has(o))],
            [i.fires("ask", client=n, request=r)],
            "the server asks the data base about {r} of {n}, as number {i}",
        ),
        Action(
            "db_process",
            [i, r, p],
            [i.requests.has(r), r.matches.has(p)],
            [i.fires("result", response=p)],
            "the data base answers {r} of number {i} with {p}",
        ),
        Action(
            "process_result",
            [n, i, p],
            [i.results.has(p), i.clients.has(n)],
            [n.fires("answer", response=p)],
            "the server answers {n} with {p}, the result of number {i}",
        ),
        Action("receive_response", [n, p], [n.answers.has(p)], [n.fires("receive", response=p)], "{n} receives {p}"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="matched",
            says="what a client receives matches a request that it sent",
            over=[n, p],
            given=n.received.has(p),
            then=exists(r, n.sent.has(r) & r.matches.has(p)),
        ),
    ],
    default_scope={"Node": 2, "Request": 1, "Response": 1, "Number": 1},
    configurations=matches,
)

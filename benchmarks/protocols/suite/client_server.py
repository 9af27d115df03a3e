"""Clients send requests, and a server answers with a response that matches.

Source: ``client_server_ae`` in the suites of mypyvy, SWISS and endive (Feldman et al., TACAS 2017).
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
    given,
    me,
    variables,
)

Node, Request, Response = Sort("Node", "n"), Sort("Request", "r"), Sort("Response", "p")
(n,), (r,), (p,) = variables(Node, "n"), variables(Request, "r"), variables(Response, "p")


def matches(sizes):
    """Each request has one response; and, if there are several responses, all requests have all of them."""
    requests, responses = range(sizes["Request"]), range(sizes["Response"])
    yield {("Request", "matches"): [frozenset({each % len(responses)}) for each in requests]}
    if len(responses) > 1:
        yield {("Request", "matches"): [frozenset(responses) for _ in requests]}


MODEL = Model(
    system="client-server",
    variant="as-published",
    about="a server answers the requests of clients",
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
    ],
    rows=[
        Row(Node, "send", "Up", "Up", sent=me.sent.with_(given("request"))),
        Row(Node, "answer", "Up", "Up", answers=me.answers.with_(given("response"))),
        Row(Node, "receive", "Up", "Up", received=me.received.with_(given("response"))),
    ],
    actions=[
        Action("new_request", [n, r], [], [n.fires("send", request=r)], "{n} sends {r}"),
        Action(
            "respond",
            [n, r, p],
            [n.sent.has(r), r.matches.has(p)],
            [n.fires("answer", response=p)],
            "the server answers {r} of {n} with {p}",
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
    default_scope={"Node": 1, "Request": 2, "Response": 2},
    configurations=matches,
)

"""Two-phase commit with nodes that may fail.

Source: ``two_phase_commit`` of I4 and DistAI, ``2PC`` of SWISS (from Ivy), ``two_phase_commit`` of endive.
Safety: nodes agree; a commit needs all votes; an abort needs a failure or a vote against.
"""

from schedproof.model.lang import (
    Action,
    Attribute,
    BoolType,
    EnumType,
    Invariant,
    Machine,
    Model,
    Row,
    Sort,
    State,
    exists,
    forall,
    variables,
)

Node, Coordinator = Sort("Node", "n"), Sort("Coordinator", "c", single=True)
n, m = variables(Node, "n m")
(c,) = variables(Coordinator, "c")
undecided = [n.alive, ~n.commits, ~n.aborts]

MODEL = Model(
    system="two-phase-commit",
    variant="as-published",
    about="nodes vote, a coordinator decides, nodes fail",
    machines=[
        Machine(
            Node,
            [State("Up")],
            [
                Attribute("vote", EnumType(("none", "yes", "no"))),
                Attribute("alive", BoolType(), initial=True),
                Attribute("commits", BoolType()),
                Attribute("aborts", BoolType()),
            ],
        ),
        Machine(Coordinator, [State("Waiting"), State("Commit"), State("Abort")], [Attribute("trouble", BoolType())]),
    ],
    rows=[
        Row(Node, "agree", "Up", "Up", vote="yes"),
        Row(Node, "refuse", "Up", "Up", vote="no", aborts=True),
        Row(Node, "fail", "Up", "Up", alive=False),
        Row(Node, "commit", "Up", "Up", commits=True),
        Row(Node, "abort", "Up", "Up", aborts=True),
        *(Row(Coordinator, "note", at, at, trouble=True) for at in ("Waiting", "Commit", "Abort")),
        Row(Coordinator, "commit", "Waiting", "Commit"),
        Row(Coordinator, "abort", "Waiting", "Abort"),
    ],
    actions=[
        Action("vote_yes", [n], [*undecided, n.vote != "no"], [n.fires("agree")], "{n} votes yes"),
        Action(
            "vote_no",
            [n, c],
            [*undecided, n.vote != "yes"],
            [n.fires("refuse"), c.fires("note")],
            "{n} votes no, and aborts",
        ),
        Action("fail", [n, c], [n.alive], [n.fires("fail"), c.fires("note")], "{n} fails"),
        Action(
            "go_commit", [c], [c.is_("Waiting"), forall(n, n.vote == "yes")], [c.fires("commit")], "{c} says commit"
        ),
        Action(
            "go_abort",
            [c],
            [c.is_("Waiting"), exists(n, (n.vote == "no") | ~n.alive)],
            [c.fires("abort")],
            "{c} says abort",
        ),
        Action("commit", [n, c], [n.alive, c.is_("Commit")], [n.fires("commit")], "{n} commits"),
        Action("abort", [n, c], [n.alive, c.is_("Abort")], [n.fires("abort")], "{n} aborts"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="agreement", says="no node commits what a node aborts", over=[n, m], given=n.commits, then=~m.aborts
        ),
        Invariant(
            name="commit-needs-all", says="a commit needs all votes", over=[n, m], given=n.commits, then=m.vote == "yes"
        ),
        Invariant(
            name="abort-needs-reason",
            says="an abort needs a failure or a vote against",
            over=[n, c],
            given=n.aborts,
            then=c.trouble,
        ),
    ],
    default_scope={"Node": 2},
)

"""A leader election whose terms have no bound, as on the page of machines."""

from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Attribute,
    DeadlockFree,
    Event,
    Invariant,
    Machine,
    Model,
    Nat,
    Row,
    Sort,
    State,
    forall,
    given,
    me,
    variables,
)

Node = Sort("Node", "n")
n, m = variables(Node, "n m")

NODE = Machine(
    Node,
    [State("Follower"), State("Candidate"), State("Leader")],
    [Attribute("term", Nat)],
    [Event("follow", {"term": Nat})],
)
ELECTION = Model(
    "election",
    "as-written",
    "nodes elect a leader",
    [NODE],
    [
        Row(Node, "stand", "Follower", "Candidate", term=me.term + 1),
        Row(Node, "stand", "Candidate", "Candidate", term=me.term + 1),
        Row(Node, "win", "Candidate", "Leader"),
        *[Row(Node, "follow", state.name, "Follower", term=given("term")) for state in NODE.states],
    ],
    [
        Action("stand", [n], [~n.is_("Leader")], [n.fires("stand")], "{n} stands for election"),
        Action("win", [n], [n.is_("Candidate"), forall(m, (n == m) | (m.term < n.term))], [n.fires("win")], "{n} wins"),
        Action("follow", [n, m], [n.term < m.term], [n.fires("follow", term=m.term)], "{n} follows {m}"),
    ],
    [],
    [
        Invariant(
            name="one-leader-a-term",
            says="no two nodes lead in one term",
            over=[n, m],
            given=n.is_("Leader") & m.is_("Leader") & (n.term == m.term),
            then=n == m,
        ),
        AlwaysCanReach(name="elected", says="a node can still be elected", over=[n], goal=n.is_("Leader")),
        DeadlockFree(name="lives", says="something can always happen"),
    ],
    {"Node": 2},
    bound={("Node", "term"): 3},
)

"""Nodes elect a leader, which takes the jobs of a queue. Terms are numbers without a bound; heartbeats are messages.

The queue knows the newest term. A leader of an older term can write nothing: its term is a *fencing token*.
"""

from schedproof.model import lang
from schedproof.model.lang import (
    Action,
    Attribute,
    Event,
    Invariant,
    Machine,
    Nat,
    Row,
    Sort,
    State,
    given,
    me,
    variables,
)
from schedproof.model.lang.messages import Channel, Kind
from schedproof.model.lang.timers import TimerKind, Timers

Node, Job, Queue = Sort("Node", "n"), Sort("Job", "j"), Sort("Queue", "q", single=True)
(n, o), (j,), (q,) = variables(Node, "n o"), variables(Job, "j"), variables(Queue, "q")

BEATS = Channel("beat", from_=Node, to=Node, kinds=[Kind("leading", term=Nat)], lossy=True, capacity=1)
(b,) = variables(BEATS.sort, "b")
hears = BEATS.receive(b, "leading", by=n)

TIMERS = Timers(Sort("Timer", "t"), Sort("Call", "c"), [TimerKind("patience", of="node")], {"node": Node})
timer, candidate, in_time = TIMERS.timer, TIMERS.owner("patience"), [TIMERS.call.is_("due")]

leads, is_newest = n.is_("Leader"), n.term == q.term
free = j.is_("Waiting") | (j.is_("Running") & (j.term < q.term))
its = [j.is_("Running"), j.by == n, j.term == n.term]

ACTIONS = [
    Action("boot", [n], [n.is_("Down")], [n.fires("boot")], "{n} boots"),
    Action("die", [n], [~n.is_("Down")], [n.fires("die")], "{n} dies"),
    Action("beat", [n, o], [leads, n != o], [BEATS.send("leading", n, o, term=n.term)], "{n} sends a heartbeat to {o}"),
    Action("follow", [n], [~n.is_("Down"), b.term >= n.term], [hears, n.fires("follow", term=b.term)], "{n} follows"),
    Action("ignore", [n], [n.is_("Down") | (b.term < n.term)], [hears], "{n} ignores a heartbeat of {b.sender}"),
    Action("take", [n, j, q], [leads, is_newest, free], [j.fires("take", by=n, term=n.term)], "{n} takes {j}"),
    Action("finish", [n, j, q], [leads, is_newest, *its], [j.fires("finish")], "{n} finishes {j}"),
    Action("refuse", [n, q], [leads, ~is_newest], [n.fires("follow", term=q.term)], "the queue refuses {n}"),
    *TIMERS.running("patience", "makes it lead"),
    *BEATS.actions,
]
RULES = [
    TIMERS.arming("a node that boots waits for a leader", n.fires("boot"), [], "patience", n),
    TIMERS.arming("a follower waits for the next heartbeat", n.fires("follow"), [], "patience", n),
    TIMERS.stopping("a node that dies waits no longer", n.fires("die"), [], "patience", n),
    TIMERS.function("who waits too long leads", "patience", in_time, candidate.fires("lead", term=q.term + 1)),
    TIMERS.function("the queue grants the next term", "patience", in_time, q.fires("grant")),
    *TIMERS.rules(),
    *BEATS.rules,
]
PROPERTIES = [
    Invariant(
        name="one-leader-a-term",
        says="a term has one leader",
        over=[n, o],
        given=n.is_("Leader") & o.is_("Leader") & (n.term == o.term),
        then=n == o,
    ),
    lang.StepInvariant(
        name="no-step-back",
        says="what was taken in a term is never taken in an older one",
        over=[j],
        then=lang.after(j.term) >= j.term,
    ),
    lang.LeadsTo(
        name="all-is-done",
        says="every job is done, if nodes stop dying",
        over=[j],
        given=j.is_("Waiting"),
        goal=j.is_("Done"),
        without=["die"],
        weak=["boot", "expire_patience", "run_patience", "take", "finish", "refuse"],
    ),
    Invariant(name="granted", says="nodes have terms of the queue", over=[n, q], then=n.term <= q.term),
    Invariant(name="granted-to-takers", says="so have jobs", over=[j, q], then=j.term <= q.term),
    Invariant(name="granted-to-senders", says="so have heartbeats", over=[b, q], then=b.term <= q.term),
    Invariant(
        name="followers-wait",
        says="only a follower waits for a heartbeat",
        over=[timer],
        given=timer.is_("armed", "due"),
        then=timer.node.is_("Follower"),
    ),
    *TIMERS.properties,
    *BEATS.properties,
]

FENCED = lang.Model(
    system="elected-leader",
    variant="fenced",
    about="a queue refuses those who lead no longer",
    machines=[
        Machine(
            Node,
            [State("Down"), State("Follower"), State("Leader")],
            [Attribute("term", Nat)],
            [Event("follow", {"term": Nat}), Event("lead", {"term": Nat})],
        ),
        Machine(
            Job,
            [State("Waiting"), State("Running"), State("Done")],
            [Attribute("by", lang.Ref(Node)), Attribute("term", Nat)],
            [Event("take", {"by": lang.Ref(Node), "term": Nat})],
        ),
        Machine(Queue, [State("There")], [Attribute("term", Nat)]),
        *TIMERS.machines,
        *BEATS.machines,
    ],
    rows=[
        Row(Node, "boot", "Down", "Follower"),
        *[Row(Node, "die", state, "Down", term=0) for state in ("Follower", "Leader")],
        *[Row(Node, "follow", state, "Follower", term=given("term")) for state in ("Follower", "Leader")],
        Row(Node, "lead", "Follower", "Leader", term=given("term")),
        *[Row(Job, "take", state, "Running", by=given("by"), term=given("term")) for state in ("Waiting", "Running")],
        Row(Job, "finish", "Running", "Done"),
        Row(Queue, "grant", "There", "There", term=me.term + 1),
        *TIMERS.rows,
        *BEATS.rows,
    ],
    actions=ACTIONS,
    rules=RULES,
    properties=PROPERTIES,
    default_scope={"Node": 2, "Timer": 2, "Beat": 2},
    bound={(sort, "term"): 2 for sort in ("Queue", "Node", "Job", "Beat")},
    axioms=TIMERS.axioms,
    configurations=lambda sizes: [TIMERS.configuration({"node": sizes["Node"]})],
)

"""Small protocols with the safety property only: leases, a lock server, a commit in two phases, requests that end, and fuses with five switches."""

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Event,
    Invariant,
    Machine,
    Model,
    Ref,
    Row,
    Sort,
    State,
    forall,
    given,
    new,
    variables,
)
from schedproof.model.lang import terms as t

Worker, Lease = Sort("Worker", "w"), Sort("Lease", "l")
(w,) = variables(Worker, "w")
l, m = variables(Lease, "l m")  # noqa: E741

LEASES = Model(
    system="leases",
    variant="plain",
    about="workers and leases",
    machines=[
        Machine(Worker, [State("Idle"), State("Working")]),
        Machine(
            Lease,
            [State("Free"), State("Held")],
            [Attribute("holder", Ref(Worker))],
            [Event("take", {"by": Ref(Worker)})],
        ),
    ],
    rows=[
        Row(Worker, "start", "Idle", "Working"),
        Row(Worker, "finish", "Working", "Idle"),
        Row(Lease, "take", "Free", "Held", holder=given("by")),
        Row(Lease, "free", "Held", "Free", holder=NONE),
    ],
    actions=[
        Action("acquire", [w, l], [w.is_("Idle"), l.is_("Free")], [w.fires("start"), l.fires("take", by=w)], "{w} acquires {l}"),
        Action("release", [w, l], [l.holder == w], [w.fires("finish"), l.fires("free")], "{w} releases {l}"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-lease-each",
            says="a worker never holds two leases",
            over=[w, l, m],
            given=(l.holder == w) & (m.holder == w),
            then=l == m,
        ),
    ],
    default_scope={"Worker": 2, "Lease": 2},
)  # fmt: skip

Process, Lock = Sort("Process", "p"), Sort("Lock", "k", single=True)
p, q = variables(Process, "p q")
(k,) = variables(Lock, "k")

LOCK_SERVER = Model(
    system="lock-server",
    variant="plain",
    about="one server grants one lock by messages",
    machines=[
        Machine(Process, [State("Out"), State("Asking"), State("Granted"), State("In"), State("Leaving")]),
        Machine(Lock, [State("Free"), State("Taken")]),
    ],
    rows=[
        Row(Process, "ask", "Out", "Asking"),
        Row(Process, "grant", "Asking", "Granted"),
        Row(Process, "enter", "Granted", "In"),
        Row(Process, "leave", "In", "Leaving"),
        Row(Process, "left", "Leaving", "Out"),
        Row(Lock, "take", "Free", "Taken"),
        Row(Lock, "free", "Taken", "Free"),
    ],
    actions=[
        Action("ask", [p], [p.is_("Out")], [p.fires("ask")], "{p} asks for the lock"),
        Action("grant", [p, k], [p.is_("Asking"), k.is_("Free")], [p.fires("grant"), k.fires("take")], "{p} is granted the lock"),
        Action("enter", [p], [p.is_("Granted")], [p.fires("enter")], "{p} enters"),
        Action("leave", [p], [p.is_("In")], [p.fires("leave")], "{p} leaves"),
        Action("free", [p, k], [p.is_("Leaving")], [p.fires("left"), k.fires("free")], "the lock of {p} is free"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="mutex", says="at most one process is in", over=[p, q], given=p.is_("In") & q.is_("In"), then=p == q
        ),
    ],
    default_scope={"Process": 2},
)  # fmt: skip

Member, Chief = Sort("Member", "n"), Sort("Chief", "c", single=True)
n, o = variables(Member, "n o")
(c,) = variables(Chief, "c")
commit = Action("commit", [c], [c.is_("Collecting"), forall(n, n.is_("Yes"))], [c.fires("commit")], "{c} commits")
abort = Action("abort", [c], [c.is_("Collecting")], [c.fires("abort")], "{c} aborts")

TWO_PHASE = Model(
    system="two-phase",
    variant="plain",
    about="a chief commits if all members say yes",
    machines=[
        Machine(
            Member,
            [State("Working"), State("Yes"), State("Committed"), State("Aborted")],
            [Attribute("asked", BoolType())],
        ),
        Machine(Chief, [State("Collecting"), State("Committing"), State("Aborting")]),
    ],
    rows=[
        Row(Member, "vote", "Working", "Yes", asked=True),
        Row(Member, "give_up", "Working", "Aborted"),
        Row(Member, "commit", "Yes", "Committed"),
        Row(Member, "abort", "Yes", "Aborted"),
        Row(Member, "abort", "Working", "Aborted"),
        Row(Chief, "commit", "Collecting", "Committing"),
        Row(Chief, "abort", "Collecting", "Aborting"),
    ],
    actions=[
        commit,
        abort,
        Action("vote", [n], [n.is_("Working")], [n.fires("vote")], "{n} says yes"),
        Action("give_up", [n], [n.is_("Working")], [n.fires("give_up")], "{n} gives up"),
        Action("learn_commit", [n, c], [c.is_("Committing"), n.is_("Yes")], [n.fires("commit")], "{n} commits"),
        Action("learn_abort", [n, c], [c.is_("Aborting"), n.is_("Yes", "Working")], [n.fires("abort")], "{n} aborts"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="agreement",
            says="no member commits while another aborts",
            over=[n, o],
            given=n.is_("Committed"),
            then=~o.is_("Aborted"),
        ),
    ],
    default_scope={"Member": 2},
)

__all__ = ["LEASES", "LOCK_SERVER", "TWO_PHASE"]

Request, Server = Sort("Request", "r", disposable=True), Sort("Server", "s")
(r,) = variables(Request, "r")
s, s2 = variables(Server, "s s2")

QUEUE = Model(
    system="queue",
    variant="plain",
    about="servers take requests, which end",
    machines=[
        Machine(Request, [State("Waiting"), State("Running")]),
        Machine(
            Server,
            [State("Idle"), State("Busy")],
            [Attribute("serves", Ref(Request))],
            [Event("take", {"request": Ref(Request)})],
        ),
    ],
    rows=[
        Row(Request, "arrive", "Absent", "Waiting"),
        Row(Request, "start", "Waiting", "Running"),
        Row(Request, "finish", "Running", "Absent"),
        Row(Server, "take", "Idle", "Busy", serves=given("request")),
        Row(Server, "release", "Busy", "Idle", serves=NONE),
    ],
    actions=[
        Action("arrive", [r], [new(r)], [r.fires("arrive")], "{r} arrives"),
        Action("take", [s, r], [s.is_("Idle"), r.is_("Waiting")], [s.fires("take", request=r), r.fires("start")], "{s} takes {r}"),
        Action("finish", [s], [s.is_("Busy")], [s.fires("release"), s.serves.fires("finish")], "{s} finishes"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="one-server",
            says="no two servers serve one request",
            over=[s, s2],
            given=s.is_("Busy") & s2.is_("Busy") & (s.serves == s2.serves),
            then=s == s2,
        ),
    ],
    default_scope={"Request": 3, "Server": 2},
)  # fmt: skip

Fuse = Sort("Fuse", "f")
(f,) = variables(Fuse, "f")
SWITCHES = [f.first, f.second, f.third, f.fourth, f.fifth]

FUSES = Model(
    system="fuses",
    variant="plain",
    about="a switch of a fuse is turned on unless the four others are on; with five, the fuse would blow",
    machines=[Machine(Fuse, [State("Whole"), State("Blown")], [Attribute(each.name, BoolType()) for each in SWITCHES])],
    rows=[
        *[Row(Fuse, f"turn_on_{each.name}", "Whole", "Whole", **{each.name: True}) for each in SWITCHES],
        Row(Fuse, "blow", "Whole", "Blown"),
    ],
    actions=[
        *[
            Action(
                f"turn_on_{each.name}",
                [f],
                [~t.both([other for other in SWITCHES if other is not each])],
                [f.fires(f"turn_on_{each.name}")],
                f"switch {each.name} of {{f}} is turned on",
            )
            for each in SWITCHES
        ],
        Action("blow", [f], [t.both(SWITCHES)], [f.fires("blow")], "{f} blows"),
    ],
    rules=[],
    properties=[Invariant(name="whole", says="no fuse blows", over=[f], then=f.is_("Whole"))],
    default_scope={"Fuse": 1},
)

"""Two small models that together use every construct of the language, most of which HiveD needs not.

``WORKSHOP``: workers take tools, line up for them, mend them and are sent away from them. Attributes,
event parameters and action parameters of every type; two sorts that refer to each other and whose
objects are interchangeable; sets that grow, shrink and are computed; rules that go from object to
object, and one that asks what does not happen.

``MUTEX``: processes and one lock, for what must happen: under weak fairness a process may starve.
"""

from __future__ import annotations

from schedproof.model.lang import (
    NONE,
    Action,
    AlwaysCanReach,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    IntRange,
    Invariant,
    LeadsTo,
    LifeCycle,
    Machine,
    Model,
    Ref,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    StepInvariant,
    after,
    exists,
    forall,
    given,
    iff,
    implies,
    me,
    set_variable,
    those,
    variable,
    variables,
)

Worker, Tool = Sort("Worker", "w"), Sort("Tool", "t")
MOOD, WEAR = EnumType(("calm", "tense")), IntRange(0, 2)

w, v = variables(Worker, "w v")
x, y = variables(Tool, "x y")
S = set_variable(Worker, "S")
careful, mood, n = variable(BoolType(), "careful"), variable(MOOD, "mood"), variable(WEAR, "n")

WORKER = Machine(
    Worker,
    states=[State("Idle"), State("Busy")],
    attributes=[
        Attribute("holds", Ref(Tool)),
        Attribute("tired", BoolType()),
        Attribute("mood", MOOD, initial="tense"),
        Attribute("jobs", IntRange(0, 1)),
        Attribute("knows", SetOf(Tool)),
    ],
    events=[
        Event("take", {"tool": Ref(Tool), "tired": BoolType()}),
        Event("drop", {"mood": MOOD}),
        Event("cheer", {"mood": MOOD}),
    ],
)
TOOL = Machine(
    Tool,
    states=[State("Free"), State("Taken")],
    attributes=[
        Attribute("by", Ref(Worker)),
        Attribute("wear", WEAR, initial=1),
        Attribute("queue", SetOf(Worker)),
    ],
    events=[
        Event("taken", {"by": Ref(Worker), "wear": WEAR}),
        Event("line", {"who": SetOf(Worker)}),
        Event("mend", {"wear": WEAR}),
    ],
)

take = Action(
    "take",
    [w, x, careful],
    when=[w.is_("Idle"), x.is_("Free"), x.wear < 2, w.jobs < 1],
    fires=[w.fires("take", tool=x, tired=~careful)],
    says="{w} takes {x}",
)
drop = Action("drop", [w], [w.is_("Busy")], [w.fires("drop", mood="calm")], "{w} puts its tool down")
line_up = Action(
    "line_up",
    [S, x],
    when=[x.is_("Taken"), exists(v, S.has(v)), forall(v, implies(S.has(v), v.is_("Idle") & ~x.queue.has(v)))],
    fires=[x.fires("line", who=S)],
    says="{S} line up for {x}",
)
mend = Action(
    "mend",
    [x, n, mood],
    when=[x.is_("Free"), n < x.wear],
    fires=[x.fires("mend", wear=n)],
    says="{x} is mended to {n}, which makes those who wait {mood}",
)
kick = Action(
    "kick", [x], [x.is_("Taken"), exists(v, x.queue.has(v))], [x.fires("dropped")], "the holder of {x} must go"
)

WORKSHOP = Model(
    system="workshop",
    variant="toy",
    about="workers and tools",
    document=Document("none.md", "None"),
    machines=[WORKER, TOOL],
    rows=[
        Row(
            Worker,
            "take",
            "Idle",
            "Busy",
            holds=given("tool"),
            tired=given("tired"),
            jobs=me.jobs + 1,
            knows=me.knows.with_(given("tool")),
        ),
        Row(Worker, "drop", "Busy", "Idle", holds=NONE, mood=given("mood"), tired=(me.holds.wear == 2) | me.tired),
        Row(Worker, "kicked", "Busy", "Idle", holds=NONE, mood="tense", jobs=me.jobs - 1),
        Row(Worker, "cheer", "Idle", "Idle", mood=given("mood")),
        Row(
            Tool,
            "taken",
            "Free",
            "Taken",
            by=given("by"),
            wear=given("wear"),
            queue=me.queue.without(given("by")),
        ),
        Row(Tool, "dropped", "Taken", "Free", by=NONE, queue=those(v, me.queue.has(v) & ~v.knows.has(me))),
        Row(Tool, "line", "Taken", "Taken", queue=given("who")),
        Row(Tool, "mend", "Free", "Free", wear=given("wear")),
    ],
    actions=[take, drop, line_up, mend, kick],
    rules=[
        Rule("a worker takes a tool", take, [], x.fires("taken", by=w, wear=x.wear + 1)),
        # The same names as the parameters of "take", but variables of its own.
        Rule("a drop frees the tool", w.fires("drop"), [w.holds == x], x.fires("dropped")),
        # From a tool to its worker and back to its tool, and only if the worker does not go by itself.
        Rule(
            "a dropped tool sends its worker away",
            x.fires("dropped"),
            [x.by == v, v.holds == y, y.is_("Taken"), ~v.fires("drop")],
            v.fires("kicked"),
        ),
        Rule("mending cheers those in line", mend, [x.queue.has(w), w.is_("Idle")], w.fires("cheer", mood=mood)),
    ],
    properties=[
        Invariant(name="held-by-one", says="holding is mutual", over=[w, x], then=iff(w.holds == x, x.by == w)),
        Invariant(
            name="busy-holds", says="a Busy worker holds a tool", over=[w], then=iff(w.is_("Busy"), w.holds != NONE)
        ),
        Invariant(name="taken-by", says="a Taken tool is held", over=[x], then=iff(x.is_("Taken"), x.by != NONE)),
        Invariant(
            name="knows-what-it-holds", says="it knows its tool", over=[w, x], given=w.holds == x, then=w.knows.has(x)
        ),
        Invariant(name="a-job-each", says="a Busy worker has a job", over=[w], given=w.is_("Busy"), then=w.jobs == 1),
        Invariant(name="never-tired", says="(wrong) no worker is tired", over=[w], then=w.tired == False),  # noqa: E712
        StepInvariant(
            name="cheered",
            says="a cheered worker is in that mood",
            over=[w],
            given=w.fires("cheer", mood="calm"),
            then=after(w.mood == "calm"),
        ),
        StepInvariant(
            name="lines-are-as-chosen",
            says="a line is who lined up",
            over=[v],
            on=["line_up"],
            then=iff(S.has(v), after(x.queue.has(v))),
        ),
        StepInvariant(
            name="wear-grows-by-one",
            says="taking wears by one",
            over=[x],
            given=x.fires("taken"),
            then=exists(n, (x.wear == n) & after(x.wear == n + 1)),
        ),
        LifeCycle(
            name="worker-life", says="a worker can take and put down", sort=Worker, states=["Idle", "Busy", "Idle"]
        ),
        AlwaysCanReach(name="can-be-free", says="all tools can become Free", over=[], goal=forall(x, x.is_("Free"))),
        AlwaysCanReach(name="can-wear-out", says="(wrong) a tool can wear out", over=[x], goal=x.wear == 2),
    ],
    default_scope={"Worker": 2, "Tool": 1},
    refuted=frozenset({"never-tired", "can-wear-out"}),
)

Process, Lock = Sort("Process", "p"), Sort("Lock", "l")
p, q = variables(Process, "p q")
lock, other = variables(Lock, "lock other")

MUTEX = Model(
    system="mutex",
    variant="toy",
    about="processes and one lock",
    document=Document("none.md", "None"),
    machines=[
        Machine(Process, states=[State("Away"), State("Trying"), State("Inside")]),
        Machine(
            Lock,
            states=[State("Open"), State("Held")],
            attributes=[Attribute("holder", Ref(Process))],
            events=[Event("close", {"by": Ref(Process)})],
        ),
    ],
    rows=[
        Row(Process, "try", "Away", "Trying"),
        Row(Process, "enter", "Trying", "Inside"),
        Row(Process, "leave", "Inside", "Away"),
        Row(Process, "flee", "Trying", "Away"),
        Row(Lock, "close", "Open", "Held", holder=given("by")),
        Row(Lock, "open", "Held", "Open", holder=NONE),
    ],
    actions=[
        Action("try", [p], [p.is_("Away")], [p.fires("try")], "{p} tries to enter"),
        Action(
            "enter",
            [p, lock],
            [p.is_("Trying"), lock.is_("Open")],
            [p.fires("enter"), lock.fires("close", by=p)],
            "{p} enters",
        ),
        Action("leave", [p, lock], [lock.holder == p], [p.fires("leave"), lock.fires("open")], "{p} leaves"),
        Action("scare", [p], [p.is_("Trying")], [p.fires("flee")], "{p} is scared away"),
    ],
    rules=[],
    properties=[
        Invariant(
            name="inside-holds",
            says="who is inside holds a lock",
            over=[p],
            then=iff(p.is_("Inside"), exists(lock, lock.holder == p)),
        ),
        Invariant(
            name="one-lock-each",
            says="a process holds at most one lock",
            over=[p, lock, other],
            given=(lock.holder == p) & (other.holder == p),
            then=lock == other,
        ),
        Invariant(
            name="held", says="a Held lock has a holder", over=[lock], then=iff(lock.is_("Held"), lock.holder != NONE)
        ),
        LeadsTo(
            name="weakly-fair-entry",
            says="(wrong) a Trying process enters, if all its steps are weakly fair",
            over=[p],
            given=p.is_("Trying"),
            goal=p.is_("Inside"),
            weak=["try", "enter", "leave"],
            without=["scare"],
        ),
        LeadsTo(
            name="strongly-fair-entry",
            says="a Trying process enters, if entering is strongly fair",
            over=[p],
            given=p.is_("Trying"),
            goal=p.is_("Inside"),
            weak=["try", "leave"],
            strong=["enter"],
            without=["scare"],
        ),
        LeadsTo(
            name="entry-of-the-scared",
            says="(wrong) a Trying process enters even if scared for ever",
            over=[p],
            given=p.is_("Trying"),
            goal=p.is_("Inside"),
            weak=["try", "leave"],
            strong=["enter"],
        ),
        LeadsTo(
            name="leaving",
            says="an Inside process leaves",
            over=[p],
            given=p.is_("Inside"),
            goal=p.is_("Away"),
            weak=["leave"],
        ),
        LeadsTo(
            name="two-at-a-door",
            says="(vacuous) where two hold one lock",
            over=[p, q, lock],
            given=(p != q) & (lock.holder == p) & (lock.holder == q),
            goal=lock.is_("Open"),
        ),
    ],
    default_scope={"Process": 2, "Lock": 1},
    refuted=frozenset({"weakly-fair-entry", "entry-of-the-scared"}),
)

"""Nodes with a log of terms and a queue of jobs: sequences of numbers, of enumerations and of objects."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.lang import (
    EMPTY,
    Action,
    Attribute,
    Document,
    EnumType,
    Event,
    IntRange,
    Invariant,
    Machine,
    Model,
    Nat,
    Ref,
    Row,
    Sequence,
    Sort,
    State,
    StepInvariant,
    Type,
    after,
    exists,
    forall,
    given,
    implies,
    length,
    me,
    variable,
    variables,
)

Node, Job = Sort("Node", "n"), Sort("Job", "j")
n, o = variables(Node, "n o")
j = variable(Job, "j")
i, k = variable(Nat, "i"), variable(Nat, "k")
KIND = EnumType(("put", "drop"))


def logging(term: Type) -> Model:
    """The model, whose terms are of this type."""
    return Model(
        system="logs",
        variant="toy",
        about="nodes that copy a log",
        document=Document("none.md", "None"),
        machines=[
            Machine(
                Node,
                [State("Up"), State("Down")],
                [
                    Attribute("term", term),
                    Attribute("log", Sequence(term, at_most=2)),  # type: ignore[arg-type]
                    Attribute("queue", Sequence(Ref(Job), at_most=2)),
                    Attribute("kinds", Sequence(KIND, at_most=1)),
                ],
                [Event("push", {"job": Ref(Job)}), Event("copy", {"of": Ref(Node)})],
            ),
            Machine(Job),
        ],
        rows=[
            Row(Node, "lead", "Up", "Up", term=me.term + 1),
            Row(Node, "write", "Up", "Up", log=me.log.append(me.term), kinds=me.kinds.append("drop")[:1]),
            Row(
                Node,
                "copy",
                "Up",
                "Up",
                log=given("of").log[: length(me.log) + 1],
                term=given("of").term,
                kinds=EMPTY.append("put"),
            ),
            Row(Node, "cut", "Up", "Up", log=me.log[: length(me.log) - 1]),
            Row(Node, "push", "Up", "Up", queue=me.queue.append(given("job"))),
            Row(Node, "pop", "Up", "Up", queue=me.queue[1:]),
            Row(Node, "stop", "Up", "Down", log=EMPTY, queue=me.queue[:0]),
        ],
        actions=[
            Action("lead", [n], [n.is_("Up"), n.term < 2], [n.fires("lead")], "{n} leads"),
            Action(
                "write",
                [n],
                [n.is_("Up"), forall(o, ~(o.log == n.log.append(n.term))), length(n.log) < 2],
                [n.fires("write")],
                "{n} writes",
            ),
            Action(
                "copy",
                [n, o],
                [n.is_("Up"), n.log == o.log[: length(n.log)], n.term <= o.term],
                [n.fires("copy", of=o)],
                "{n} copies {o}",
            ),
            Action("cut", [n], [n.is_("Up"), length(n.log) > 1], [n.fires("cut")], "{n} cuts its log"),
            Action("push", [n, j], [n.is_("Up"), ~n.queue.has(j)], [n.fires("push", job=j)], "{n} gets {j}"),
            Action("pop", [n], [n.is_("Up"), length(n.queue) > 0], [n.fires("pop")], "{n} takes a job"),
            Action("stop", [n], [n.is_("Up")], [n.fires("stop")], "{n} stops"),
        ],
        rules=[],
        properties=[
            Invariant(
                name="sorted",
                says="Terms of a log do not fall.",
                over=[n],
                then=forall([k, i], implies((k < length(n.log)) & (i <= k), n.log[i] <= n.log[k])),
            ),
            Invariant(
                name="current",
                says="No term of a log is above that of its node.",
                over=[n],
                then=forall(i, implies(i < length(n.log), n.log[i] <= n.term)),
            ),
            Invariant(
                name="once",
                says="A job is queued once.",
                over=[n],
                then=forall([k, i], implies((k < length(n.queue)) & (i < k), n.queue[i] != n.queue[k])),
            ),
            Invariant(name="short", says="(wrong) A log has one entry.", over=[n], then=length(n.log) <= 1),
            Invariant(
                name="equal",
                says="(wrong) Logs of one length are the same.",
                over=[n, o],
                given=length(n.log) == length(o.log),
                then=n.log == o.log,
            ),
            Invariant(
                name="in-place",
                says="A job of a queue is at an index.",
                over=[n, j],
                given=n.queue.has(j),
                then=exists(i, (i < length(n.queue)) & (n.queue[i] == j)),
            ),
            Invariant(
                name="first",
                says="(wrong) The first entry is of term 0.",
                over=[n],
                then=implies(length(n.log) > 0, n.log[0] == 0),
            ),
            StepInvariant(
                name="kept",
                says="A write keeps the log, and adds the term.",
                over=[n],
                given=n.fires("write"),
                then=(after(n.log)[: length(n.log)] == n.log) & (after(n.log) == n.log.append(n.term)),
            ),
            StepInvariant(
                name="in-turn",
                says="The first job leaves.",
                over=[n],
                given=n.fires("pop"),
                then=(after(n.queue) == n.queue[1:]) & ~after(n.queue).has(n.queue[0]),
            ),
            StepInvariant(
                name="loses",
                says="(wrong) Only a node that stops loses entries.",
                over=[n],
                given=~n.fires("stop"),
                then=after(length(n.log)) >= length(n.log),
            ),
        ],
        default_scope={"Node": 2, "Job": 1},
        bound={("Node", "term"): 2, ("Node", "log"): 2} if term == Nat else {},
        refuted=frozenset({"short", "equal", "first", "loses"}),
    )


def endless() -> Model:
    """The model with a log that grows without an end."""
    write = Action("write", [n], [n.is_("Up")], [n.fires("write")], "{n} writes")
    return replace(RANGES, actions=[write if a.name == "write" else a for a in RANGES.actions])


RANGES, NATURALS = logging(IntRange(0, 2)), logging(Nat)

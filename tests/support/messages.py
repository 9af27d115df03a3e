"""Nodes that count messages: functions of one object and of two, to numbers, truth values, enumerations and objects."""

from __future__ import annotations

from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    BoolType,
    Document,
    EnumType,
    Event,
    Function,
    IntRange,
    Invariant,
    Machine,
    Model,
    Nat,
    Ref,
    Rigid,
    Row,
    Sort,
    State,
    StepInvariant,
    Type,
    after,
    each,
    given,
    implies,
    me,
    variables,
)

Node, Item = Sort("Node", "n"), Sort("Item", "i")
n, o = variables(Node, "n o")
i, j = variables(Item, "i j")
MOOD = EnumType(("calm", "busy", "lost"))


def weights(sizes: dict[str, int]) -> list[Rigid]:
    """The first node may send two messages to every other, the others one."""
    nodes = range(sizes["Node"])
    return [{("Node", "most"): [dict.fromkeys(nodes, 2 if node == 0 else 1) for node in nodes]}]


def counting(count: Type) -> Model:
    """The model, whose counts of messages are of this type."""
    return Model(
        system="messages",
        variant="toy",
        about="nodes that count messages",
        document=Document("none.md", "None"),
        machines=[
            Machine(
                Node,
                [State("Up"), State("Down")],
                [
                    Attribute("sent", Function(Node, to=count)),  # type: ignore[arg-type]
                    Attribute("most", Function(Node, to=IntRange(1, 2)), rigid=True),
                    Attribute("mood", Function(Node, to=MOOD)),
                    Attribute("from_", Function(Node, Item, to=Ref(Node))),
                    Attribute("known", Function(Item, to=BoolType())),
                ],
                [
                    Event("send", {"to": Ref(Node), "what": Ref(Item)}),
                    Event("hear", {"by": Ref(Node), "what": Ref(Item)}),
                ],
            ),
            Machine(Item),
        ],
        rows=[
            Row(
                Node,
                "send",
                "Up",
                "Up",
                sent=me.sent.with_(given("to"), to=me.sent[given("to")] + 1),
                mood=me.mood.with_(given("to"), to="busy"),
            ),
            Row(
                Node,
                "hear",
                "Up",
                "Up",
                from_=me.from_.with_(me, given("what"), to=given("by")),
                known=me.known.with_(given("what"), to=True),
            ),
            Row(
                Node,
                "forget",
                "Up",
                "Down",
                sent=each(o, 0),
                mood=each(o, "lost").with_(me, to="calm"),
                known=each(i, False),
            ),
        ],
        actions=[
            Action(
                "send",
                [n, o, i],
                [n.is_("Up"), o.is_("Up"), n != o, n.sent[o] < n.most[o]],
                [n.fires("send", to=o, what=i), o.fires("hear", by=n, what=i)],
                "{n} sends {i} to {o}",
            ),
            Action("forget", [n], [n.is_("Up")], [n.fires("forget")], "{n} forgets"),
        ],
        rules=[],
        properties=[
            Invariant(name="few", says="At most two are sent.", over=[n, o], then=n.sent[o] <= 2),
            Invariant(name="one", says="(wrong) One is sent.", over=[n, o], then=n.sent[o] <= 1),
            Invariant(
                name="who-is-known-sent",
                says="What is known is from another node.",
                over=[n, i],
                given=n.known[i],
                then=n.from_[n, i] != NONE,
            ),
            Invariant(
                name="others", says="Only one's own is noted.", over=[n, o, i], given=n != o, then=n.from_[o, i] == NONE
            ),
            Invariant(
                name="busy",
                says="Who sent is busy.",
                over=[n, o],
                given=n.is_("Up"),
                then=implies(n.sent[o] > 0, n.mood[o] == "busy"),
            ),
            StepInvariant(
                name="counts-grow",
                says="A count grows while a node is up.",
                over=[n, o],
                given=after(n.is_("Up")),
                then=after(n.sent[o]) >= n.sent[o],
            ),
        ],
        default_scope={"Node": 2, "Item": 1},
        configurations=weights,
        bound={("Node", "sent"): 2} if count == Nat else {},
        refuted=frozenset({"one"}),
    )


RANGES, NATURALS = counting(IntRange(0, 2)), counting(Nat)

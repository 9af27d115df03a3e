"""What is under way between core and shim: messages, and the order in which they arrive.

The two are "independent and not shared" (line 6): what one does reaches the other as a message, some time later.
A message object stands for one kind of message about one application, ask or node, and is under way or
not: sent again while it is under way it is the same message (what it says does not change). Which there are
is rigid, so an exploration can leave out those that it is not about: what has no message object is not said.

In one direction messages arrive in the order in which they were sent, where they are ``ordered``: there is
one queue (facts, section 4). ``behind`` is that order, kept as sets: those sent before and still under
way. Of messages that one step sends together, those of lower ``rank`` come first.
"""

from collections.abc import Mapping, Sequence

from ..lang import (
    EMPTY,
    NONE,
    Action,
    Attribute,
    BoolType,
    EnumType,
    Event,
    IntRange,
    Invariant,
    Machine,
    Ref,
    Rigid,
    Row,
    Rule,
    SetOf,
    State,
    Term,
    Var,
    exists,
    forall,
    given,
    iff,
    implies,
    me,
    those,
    variables,
)
from ..lang.terms import Fires
from .sorts import Application, Ask, Message, Node

e, f, r = variables(Message, "e f r")

OF_APPLICATIONS = (
    *("SubmitApplication", "RemoveApplication", "ApplicationAccepted", "ApplicationRejected"),
    *("ApplicationResuming", "ApplicationFailing", "ApplicationFailed"),
)
OF_ASKS = (
    *("AddAsk", "WithdrawAsk", "ReleaseAllocation"),
    *("AskRejected", "NewAllocation", "AskReleased", "AllocationReleased"),
)
OF_NODES = ("CreateNode", "DrainNode", "RestoreNode", "DecommissionNode", "NodeAccepted", "NodeRejected")
KINDS = (*OF_APPLICATIONS, *OF_ASKS, *OF_NODES)
TO_CORE = (
    *("SubmitApplication", "RemoveApplication", "AddAsk", "WithdrawAsk", "ReleaseAllocation"),
    *("CreateNode", "DrainNode", "RestoreNode", "DecommissionNode"),
)
TO_SHIM = tuple(kind for kind in KINDS if kind not in TO_CORE)
RANKS = {"AskReleased": 1, "AllocationReleased": 2}
"""A gang's time-out says the new state first, then which asks and then which allocations are released (1.3)."""

MESSAGE = Machine(
    Message,
    line=6,
    states=[State("free"), State("under_way")],
    attributes=[
        Attribute("kind", EnumType(KINDS), rigid=True),
        Attribute("to_core", BoolType(), rigid=True),
        Attribute("application", Ref(Application), rigid=True),
        Attribute("ask", Ref(Ask), rigid=True),
        Attribute("node", Ref(Node), rigid=True),
        Attribute("rank", IntRange(0, 2), rigid=True),
        # Switches of a situation: arrives in its turn; can be lost when the shim's queue is full (section 4).
        Attribute("ordered", BoolType(), rigid=True),
        Attribute("losable", BoolType(), rigid=True),
        Attribute("behind", SetOf(Message)),
    ],
    events=[Event("forget", {"earlier": Ref(Message)})],
)

EARLIER = f.is_("under_way") & f.ordered & me.ordered & iff(f.to_core, me.to_core)

MESSAGE_TABLE = [
    Row(Message, "send", "free", "under_way", line=6, behind=those(f, EARLIER)),
    Row(Message, "arrive", "under_way", "free", line=6, behind=EMPTY),
    Row(Message, "lose", "under_way", "free", fact="4, dispatcher.go:76-171", behind=EMPTY),
    Row(Message, "forget", "under_way", "under_way", line=6, behind=me.behind.without(given("earlier"))),
]

TOGETHER = f.is_("under_way") & f.ordered & e.ordered & iff(f.to_core, e.to_core) & ~f.behind.has(e)
"""``f`` was sent before ``e`` or with it."""

IN_TURN = ~exists(f, e.behind.has(f)) & ~exists(f, TOGETHER & (f.rank < e.rank))


def sending(name: str, on: Action | Fires, when: Sequence[Term], kind: str, about: Term, *, fact: str = "") -> Rule:
    """The rule that ``on`` and ``when`` send a message of ``kind`` about an application, ask or node."""
    of = r.application if kind in OF_APPLICATIONS else r.ask if kind in OF_ASKS else r.node
    return Rule(name, on, [*when, r.kind == kind, of == about, r.is_("free")], r.fires("send"), fact=fact)


def delivery(kind: str, says: str, when: Sequence[Term] = (), *, fact: str = "") -> Action:
    """The action that a message of ``kind`` arrives, when it is its turn; ``says`` may speak of ``{e}``."""
    name = "deliver_" + "".join("_" + c.lower() if c.isupper() else c for c in kind).lstrip("_")
    turn = [e.kind == kind, e.is_("under_way"), IN_TURN]
    return Action(name, [e], when=[*turn, *when], fires=[e.fires("arrive")], says=says, line=6, fact=fact)


lose = Action(
    "lose",
    [e],
    when=[e.is_("under_way"), e.losable],
    fires=[e.fires("lose")],
    says="the shim's queue stays full for too long, and {e} is lost",
    fact="4, dispatcher.go:76-171",
)

CHANNEL_RULES = [
    Rule("what arrives is out of the way", e.fires("arrive"), [f.behind.has(e)], f.fires("forget", earlier=e), line=6),
    Rule(
        "what is lost is out of the way",
        e.fires("lose"),
        [f.behind.has(e), ~f.fires("lose")],
        f.fires("forget", earlier=e),
        line=6,
    ),
]


def lost_with(action: Action, *, to_core: bool) -> Rule:
    """All messages of one direction are lost: they were in the memory of the process that died, or for that."""
    where, side = (e.to_core, "core") if to_core else (~e.to_core, "shim")
    return Rule(
        f"{action.name} loses what is under way to the {side}",
        action,
        [e.is_("under_way"), where],
        e.fires("lose"),
        fact=action.fact,
    )


def _one_of(variable: Var, kinds: Sequence[str]) -> Term:
    found: Term = variable.kind == kinds[0]
    for kind in kinds[1:]:
        found = found | (variable.kind == kind)
    return found


CHANNEL_AXIOMS = [
    forall(e, iff(e.to_core, _one_of(e, TO_CORE))),
    forall(e, iff(e.application != NONE, _one_of(e, OF_APPLICATIONS))),
    forall(e, iff(e.ask != NONE, _one_of(e, OF_ASKS))),
    forall(e, iff(e.node != NONE, _one_of(e, OF_NODES))),
    *[forall(e, implies(e.kind == kind, e.rank == RANKS.get(kind, 0))) for kind in KINDS],
    forall(
        [e, f],
        implies(
            (e.kind == f.kind) & (e.application == f.application) & (e.ask == f.ask) & (e.node == f.node),
            e == f,
        ),
    ),
]

CHANNEL_PROPERTIES = [
    Invariant(
        name="order-of-what-is-under-way",
        says="a message waits only for messages of its direction that are under way",
        over=[e, f],
        given=e.behind.has(f),
        then=e.is_("under_way") & f.is_("under_way") & iff(e.to_core, f.to_core),
    ),
    Invariant(
        name="order-is-an-order",
        says="of two messages at most one waits for the other, and none for itself",
        over=[e, f],
        given=e.behind.has(f),
        then=~f.behind.has(e),
    ),
]


def messages(
    about: Mapping[str, int],
    *,
    kinds: Sequence[str] = KINDS,
    ordered: bool = True,
    overtaking: Sequence[str] = (),
    losable: Sequence[str] = (),
) -> Rigid:
    """The rigid attributes of the messages of a situation.

    Args:
        about: how many there are: {"Application": .., "Ask": .., "Node": ..}; the shim has an object for each.
        kinds: what can be said; all the rest is not.
        ordered: each direction keeps its order, but for the kinds that are ``overtaking``.
        losable: the kinds that can be lost.
    """
    subjects = (("Application", OF_APPLICATIONS), ("Ask", OF_ASKS), ("Node", OF_NODES))
    found = [
        (kind, sort, number)
        for sort, of_it in subjects
        for number in range(about.get(sort, 0))
        for kind in of_it
        if kind in kinds
    ]

    def reference(sort: str) -> list[int | None]:
        return [number if its == sort else None for _, its, number in found]

    return {
        ("Message", "kind"): [kind for kind, _, _ in found],
        ("Message", "to_core"): [kind in TO_CORE for kind, _, _ in found],
        ("Message", "application"): reference("Application"),
        ("Message", "ask"): reference("Ask"),
        ("Message", "node"): reference("Node"),
        ("Message", "rank"): [RANKS.get(kind, 0) for kind, _, _ in found],
        ("Message", "ordered"): [ordered and kind not in overtaking for kind, _, _ in found],
        ("Message", "losable"): [kind in losable for kind, _, _ in found],
    }

"""Messages between components: the channels they go through, and the order in which they arrive.

A message object stands for one kind of message about one subject. It is either free or under way. A second send while
it is under way has no effect: the content is the same. Which message objects exist is rigid, so a configuration can
leave out the messages that an exploration is not about: they are never sent.

Within one channel, messages that are ``ordered`` arrive in the order of sending. ``behind`` stores that order as
sets: the messages sent before and still under way. Of the messages that one step sends, those of lower ``rank`` come
first. Different channels are not ordered relative to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from . import (
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
    Sort,
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
    variable,
    variables,
)
from .terms import Fires

__all__ = ["MOST_ROOM", "Channels", "Kind"]

MOST_ROOM = 3
"""The greatest capacity of a channel. Each capacity has a rule that lists the messages that fill the channel."""


@dataclass(frozen=True)
class Kind:
    """A kind of message.

    Args:
        name: the name.
        channel: the channel that it goes through.
        about: the attribute that names its subject.
        rank: of the messages that one step sends, those of lower rank arrive first.
    """

    name: str
    channel: str
    about: str
    rank: int = 0


@dataclass(frozen=True)
class Channels:
    """The channels of a model and the kinds of messages in them, with their machines, rules, axioms and properties.

    Args:
        sort: the sort of the messages.
        kinds: the kinds of messages, each with its channel.
        subjects: the subjects of messages: attribute -> sort.
        line, fact: where the document introduces the messages.
        lost: the fact that messages can be lost; empty if they cannot.
        queues: the sort of the channels with a capacity, which a configuration gives. A message that finds no room
            moves its channel to the state ``overflown``, so that a model can say how the process reacts.
    """

    sort: Sort
    kinds: Sequence[Kind]
    subjects: Mapping[str, Sort]
    line: int | None = None
    fact: str = ""
    lost: str = ""
    queues: Sort | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the channels."""
        return tuple(dict.fromkeys(kind.channel for kind in self.kinds))

    @cached_property
    def variables(self) -> tuple[Var, Var, Var]:
        """Three variables for messages, e, f and r."""
        e, f, r = variables(self.sort, "e f r")
        return e, f, r

    def kind(self, name: str) -> Kind:
        """The kind of that name."""
        return next(kind for kind in self.kinds if kind.name == name)

    def through(self, *channels: str) -> tuple[str, ...]:
        return tuple(kind.name for kind in self.kinds if kind.channel in channels)

    # --- the machine

    @cached_property
    def machine(self) -> Machine:
        """The machine of a message, which is free to be sent, or under way."""
        return Machine(
            self.sort,
            line=self.line,
            introduced=False,
            states=[State("free", about="not sent"), State("under_way")],
            attributes=[
                Attribute("kind", EnumType(tuple(kind.name for kind in self.kinds)), rigid=True),
                Attribute("channel", EnumType(self.names), rigid=True),
                *[Attribute(name, Ref(sort), rigid=True) for name, sort in self.subjects.items()],
                Attribute(
                    "rank",
                    IntRange(0, max(kind.rank for kind in self.kinds)),
                    rigid=True,
                    about="of the messages that one step sends, those of a lower rank arrive first",
                ),
                Attribute("ordered", BoolType(), rigid=True, about="arrives in the order of sending", assumed=True),
                Attribute("losable", BoolType(), rigid=True, about="may be lost", assumed=False),
                Attribute(
                    "behind", SetOf(self.sort), about="the messages that were sent before it and arrive before it"
                ),
            ],
            events=[Event("forget", {"earlier": Ref(self.sort)})],
        )

    @cached_property
    def table(self) -> list[Row]:
        """The rows of a message, for sending, arrival, loss if it can be lost, and dropping a message from ``behind``."""
        _, f, _ = self.variables
        earlier = f.is_("under_way") & f.ordered & me.ordered & (f.channel == me.channel)
        without_earlier = me.behind.without(given("earlier"))
        losing = [Row(self.sort, "lose", "under_way", "free", fact=self.lost, behind=EMPTY)] if self.lost else []
        return [
            Row(self.sort, "send", "free", "under_way", line=self.line, fact=self.fact, behind=those(f, earlier)),
            Row(self.sort, "arrive", "under_way", "free", line=self.line, fact=self.fact, behind=EMPTY),
            *losing,
            Row(self.sort, "forget", "under_way", "under_way", line=self.line, fact=self.fact, behind=without_earlier),
        ]

    # --- capacity

    @cached_property
    def queue_machine(self) -> Machine:
        """The machine of a channel with a capacity, which is open or overflown."""
        assert self.queues is not None
        return Machine(
            self.queues,
            line=self.line,
            states=[State("open"), State("overflown")],
            attributes=[
                Attribute("channel", EnumType(self.names), rigid=True),
                Attribute("room", IntRange(1, MOST_ROOM), rigid=True),
            ],
        )

    @cached_property
    def queue_table(self) -> list[Row]:
        """The row by which a channel overflows; no row leads back."""
        assert self.queues is not None
        return [Row(self.queues, "overflow", "open", "overflown", line=self.line, fact=self.fact)]

    @cached_property
    def queue_rules(self) -> list[Rule]:
        """The rules by which a message overflows a channel that others fill, one rule for each capacity."""
        assert self.queues is not None
        _, _, r = self.variables
        queue = variable(self.queues, "queue")
        rules = []
        for room in range(1, MOST_ROOM + 1):
            others = variables(self.sort, " ".join(f"other{n}" for n in range(room)))
            distinct = [~(one == two) for n, one in enumerate(others) for two in (r, *others[:n])]
            crowd = [
                condition
                for other in others
                for condition in (
                    other.channel == r.channel,
                    (other.is_("under_way") & ~other.fires("arrive")) | other.fires("send"),
                )
            ]
            full = [queue.channel == r.channel, queue.room == room, queue.is_("open")]
            rules.append(
                Rule(
                    f"a queue with room for {room} overflows",
                    r.fires("send"),
                    [*full, *distinct, *crowd],
                    queue.fires("overflow"),
                    line=self.line,
                    fact=self.fact,
                )
            )
        return rules

    @cached_property
    def overflown(self) -> Term:
        """True if some channel has overflown."""
        assert self.queues is not None
        queue = variable(self.queues, "queue")
        return exists(queue, queue.is_("overflown"))

    # --- actions and rules

    @cached_property
    def in_turn(self) -> Term:
        """True if it is e's turn to arrive."""
        e, f, _ = self.variables
        together = f.is_("under_way") & f.ordered & e.ordered & (f.channel == e.channel) & ~f.behind.has(e)
        return ~exists(f, e.behind.has(f)) & ~exists(f, together & (f.rank < e.rank))

    def sending(
        self,
        name: str,
        on: Action | Fires,
        when: Sequence[Term],
        kind: str,
        about: Term,
        *,
        line: int | None = None,
        fact: str = "",
    ) -> Rule:
        """The rule by which ``on`` and ``when`` send a message of ``kind`` about the object ``about``."""
        _, _, r = self.variables
        subject = getattr(r, self.kind(kind).about)
        chosen = [r.kind == kind, subject == about, r.is_("free")]
        return Rule(name, on, [*when, *chosen], r.fires("send"), line=line, fact=fact)

    def delivery(
        self, kind: str, says: str, when: Sequence[Term] = (), *, line: int | None = None, fact: str = ""
    ) -> Action:
        """The action by which a message of ``kind`` arrives when it is its turn; ``says`` may mention ``{e}``."""
        e, _, _ = self.variables
        name = "deliver_" + "".join("_" + c.lower() if c.isupper() else c for c in kind).lstrip("_")
        turn = [e.kind == kind, e.is_("under_way"), self.in_turn]
        return Action(name, [e], when=[*turn, *when], fires=[e.fires("arrive")], says=says, line=line, fact=fact)

    def lose(self, says: str) -> Action:
        """The action by which a message is lost."""
        e, _, _ = self.variables
        when = [e.is_("under_way"), e.losable]
        return Action("lose", [e], when=when, fires=[e.fires("lose")], says=says, fact=self.lost)

    def lost_with(self, action: Action, channel: str) -> Rule:
        """The rule by which ``action`` loses all messages of one channel.

        They are in the memory of the process that dies, or addressed to it.
        """
        e, _, _ = self.variables
        return Rule(
            f"{action.name} loses what is under way to the {channel}",
            action,
            [e.is_("under_way"), e.channel == channel],
            e.fires("lose"),
            fact=action.fact,
        )

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules that drop a message from the ``behind`` sets of others when it arrives or is lost."""
        e, f, _ = self.variables
        drops_it = f.fires("forget", earlier=e)
        losing = Rule(
            "what is lost is out of the way",
            e.fires("lose"),
            [f.behind.has(e), ~f.fires("lose")],
            drops_it,
            line=self.line,
            fact=self.fact,
        )
        arriving = Rule(
            "what arrives is out of the way",
            e.fires("arrive"),
            [f.behind.has(e)],
            drops_it,
            line=self.line,
            fact=self.fact,
        )
        return [arriving, *([losing] if self.lost else [])]

    # --- formulas

    def one_of(self, variable: Var, kinds: Sequence[str]) -> Term:
        """True if the message is of one of ``kinds``."""
        is_of_kind: Term = variable.kind == kinds[0]
        for kind in kinds[1:]:
            is_of_kind = is_of_kind | (variable.kind == kind)
        return is_of_kind

    @cached_property
    def axioms(self) -> list[Term]:
        """The axioms that a kind determines channel, subject and rank, and has at most one message about a subject."""
        e, f, _ = self.variables
        same: Term = e.kind == f.kind
        for subject in self.subjects:
            same = same & (getattr(e, subject) == getattr(f, subject))
        about = {subject: [k.name for k in self.kinds if k.about == subject] for subject in self.subjects}
        return [
            *[forall(e, iff(e.channel == name, self.one_of(e, self.through(name)))) for name in self.names],
            *[forall(e, iff(getattr(e, subject) != NONE, self.one_of(e, about[subject]))) for subject in about],
            *[forall(e, implies(e.kind == kind.name, e.rank == kind.rank)) for kind in self.kinds],
            forall([e, f], implies(same, e == f)),
        ]

    @cached_property
    def properties(self) -> list[Invariant]:
        """The invariants by which ``behind`` is an order on the messages under way."""
        e, f, _ = self.variables
        return [
            Invariant(
                name="order-of-what-is-under-way",
                says="a message waits only for messages of its channel that are under way",
                over=[e, f],
                given=e.behind.has(f),
                then=e.is_("under_way") & f.is_("under_way") & (e.channel == f.channel),
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
        self,
        about: Mapping[str, int],
        *,
        kinds: Sequence[str] | None = None,
        ordered: bool = True,
        overtaking: Sequence[str] = (),
        losable: Sequence[str] = (),
        room: Mapping[str, int] = {},
    ) -> Rigid:
        """The rigid attributes of the messages of a configuration.

        Args:
            about: the number of objects of each subject's sort: {"application": .., "ask": ..}.
            kinds: the kinds that can be sent; by default all.
            ordered: each channel keeps the order of sending, except for the kinds in ``overtaking``.
            losable: the kinds that can be lost.
            room: the capacity of channels, 1 to 3; the others have no limit.
        """
        kinds_of_messages = [
            (kind, number)
            for subject in self.subjects
            for number in range(about.get(subject, 0))
            for kind in self.kinds
            if kind.about == subject and (kinds is None or kind.name in kinds)
        ]
        sort = self.sort.name
        return {
            (sort, "kind"): [kind.name for kind, _ in kinds_of_messages],
            (sort, "channel"): [kind.channel for kind, _ in kinds_of_messages],
            **{
                (sort, subject): [number if kind.about == subject else None for kind, number in kinds_of_messages]
                for subject in self.subjects
            },
            (sort, "rank"): [kind.rank for kind, _ in kinds_of_messages],
            (sort, "ordered"): [ordered and kind.name not in overtaking for kind, _ in kinds_of_messages],
            (sort, "losable"): [kind.name in losable for kind, _ in kinds_of_messages],
            **self._limits(room),
        }

    def _limits(self, room: Mapping[str, int]) -> Rigid:
        if self.queues is None:
            return {}
        queues = self.queues.name
        return {(queues, "channel"): list(room), (queues, "room"): list(room.values())}

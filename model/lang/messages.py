"""Channels: messages that processes send each other, with what they carry; their order, loss, copies, and how many fit.

A message is an object of a disposable sort: sending creates it, and it ends when it is received or lost. So an exploration has as
many at a time as its scope, a proof any number, and a log a new one for each that is sent.

A *lane* of a channel has an order and a capacity of its own. It goes from one sender to one receiver, unless ``per`` says otherwise.
``behind`` of a message in an ordered lane has the messages that were sent before it and are on their way. When one of them is
received or lost, it is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, get_args

from schedproof.model.errors import choose_from, shown

from . import (
    EMPTY,
    NONE,
    Action,
    Attribute,
    EnumType,
    Event,
    Function,
    Invariant,
    Machine,
    ModelError,
    Place,
    Ref,
    Relation,
    Row,
    Rule,
    SetOf,
    Sort,
    State,
    Term,
    Type,
    Var,
    count,
    exists,
    given,
    implies,
    me,
    new,
    those,
    variable,
    variables,
)
from .arguments import declaration, method
from .declarations import FIELDS
from .disposable import ABSENT, first_value
from .errors import calling_place
from .library import attribute_of, kind_of
from .rules import Effect, Parts
from .terms import Constant, Equal, Fires, Not, conjuncts, free_variables, lift
from .types import Sequence as SequenceType
from .wording import show_term

__all__ = ["LANES", "Channel", "Kind"]

LANES: Mapping[str, tuple[str, ...]] = {
    "pair": ("sender", "receiver"),
    "sender": ("sender",),
    "receiver": ("receiver",),
    "channel": (),
}
"""What a channel has a lane for -> the attributes of a message that name its lane."""

UNDER_WAY = "UnderWay"
"""The state of a message that was sent, and neither received nor lost yet."""

RESERVED = frozenset(
    {
        "kind",
        "sender",
        "receiver",
        "behind",
        "ahead",
        "leaving",
        "sort",
        "event",
        "source",
        "target",
        "line",
        "fact",
        "self",
        "from_",
        "to",
        "name",
        "message",
    }
)
"""Names of attributes, parameters and arguments that the values of a message cannot have."""

TOGETHER = 2
"""The most messages that one action sends through a lane that is ordered."""


@declaration
@dataclass(frozen=True, init=False)
class Kind:
    """A kind of message.

    Args:
        name: the name.
        carries: by name, the types of the values that it carries; a sort is short for a reference.
    """

    name: str
    carries: Mapping[str, Type]
    place: Place = field(compare=False, repr=False)

    def __init__(self, name: str, **carries: Type | Sort) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "place", calling_place())
        if not isinstance(name, str) or not name.isidentifier():
            raise ModelError(
                "kind of message", self.place, f"its name is {shown(name)}", 'write for example Kind("put")'
            )
        types: dict[str, Type] = {}
        for value, kind in carries.items():
            if not isinstance(kind, (Sort, *get_args(Type))) or isinstance(kind, Relation | Function | SequenceType):
                problem = f"{value} is {shown(kind)}, not a sort or a type of one value"
                raise ModelError(
                    f"kind {name}", self.place, problem, f"write for example Kind({name!r}, {value}=Int)", name=value
                )
            if value in RESERVED or value in FIELDS or value.startswith("_"):
                raise ModelError(
                    f"kind {name}",
                    self.place,
                    f"it carries {value}, a name that has another meaning",
                    "write another name",
                    name=value,
                )
            types[value] = Ref(kind) if isinstance(kind, Sort) else kind
        object.__setattr__(self, "carries", types)


@declaration
@dataclass(frozen=True)
class Channel:
    """A channel, with the machine, rows, actions, rules and properties of its messages.

    Args:
        name: the name; the sort of its messages is the same with a capital letter.
        from_, to: the sorts of those who send and receive.
        kinds: the kinds of messages.
        ordered: whether messages of a lane are received in the order in which they were sent.
        lossy: whether a message may be lost at any time.
        dropped: whether messages are lost all at once, by rules of :meth:`dropping`.
        duplicating: whether the channel may send a message again. The copy takes the last place of its lane.
        capacity: the most messages in a lane; no message is sent to one that is full. By default there is no limit.
        per: what has a lane of its own: each ``pair`` of a sender and a receiver, each ``sender``, each ``receiver``, or the ``channel``.
        line, fact: where the document introduces the messages.

    Raises:
        ModelError: an argument is wrong, or two kinds do not fit together.
    """

    name: str
    _: KW_ONLY
    from_: Sort
    to: Sort
    kinds: Sequence[Kind]
    ordered: bool = False
    lossy: bool = False
    dropped: bool = False
    duplicating: bool = False
    capacity: int | None = None
    per: str = "pair"
    line: int | None = None
    fact: str = ""
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ModelError(
                "channel", self.place, f"its name is {shown(self.name)}", 'write for example Channel("inbox", ...)'
            )
        for what, sort in (("from_", self.from_), ("to", self.to)):
            if not isinstance(sort, Sort):
                self._refuse(f"{what} is {shown(sort)}", "write the sort itself", what)
        for what in ("ordered", "lossy", "dropped", "duplicating"):
            if not isinstance(getattr(self, what), bool):
                self._refuse(f"{what} is {shown(getattr(self, what))}", f"write {what}=True", what)
        if self.capacity is not None and (type(self.capacity) is not int or self.capacity < 1):
            self._refuse(
                f"capacity is {shown(self.capacity)}", "write a whole number from 1, or leave it out", "capacity"
            )
        if not isinstance(self.per, str) or self.per not in LANES:
            self._refuse(f"per is {shown(self.per)}", choose_from(self.per, list(LANES)), "per")
        if (
            not isinstance(self.kinds, list | tuple)
            or not self.kinds
            or not all(isinstance(k, Kind) for k in self.kinds)
        ):
            self._refuse(f"kinds is {shown(self.kinds)}", 'write a list, for example [Kind("put")]', "kinds")
        names = [kind.name for kind in self.kinds]
        if doubled := next((n for n in names if names.count(n) > 1), None):
            self._refuse(f"two kinds have the name {doubled}", "rename one", doubled)
        carried: dict[str, tuple[Type, str]] = {}
        for kind in self.kinds:
            for value, type_ in kind.carries.items():
                other, where = carried.setdefault(value, (type_, kind.name))
                if other != type_:
                    problem = f"{value} of {kind.name} is {type_}, and that of {where} is {other}"
                    self._refuse(problem, "give both one type, or one of them another name", value)

    def _refuse(self, problem: str, remedy: str, name: str = "", place: Place | None = None) -> None:
        raise ModelError(f"channel {self.name}", place or self.place, problem, remedy, name=name)

    # --- the machine

    @cached_property
    def sort(self) -> Sort:
        """The disposable sort of its messages."""
        return Sort(self.name[:1].upper() + self.name[1:], self.name, disposable=True, place=self.place)

    @cached_property
    def message(self) -> Var:
        """A variable for a message, ``message``."""
        return variable(self.sort, "message")

    @cached_property
    def _carried(self) -> dict[str, Attribute]:
        """The attributes for what messages carry."""
        types = {name: type_ for kind in self.kinds for name, type_ in kind.carries.items()}
        return {name: Attribute(name, type_, line=self.line, place=self.place) for name, type_ in types.items()}

    @cached_property
    def machines(self) -> list[Machine]:
        """The machine of a message."""
        types: dict[str, Type] = {
            "kind": EnumType(tuple(kind.name for kind in self.kinds)),
            "sender": Ref(self.from_),
            "receiver": Ref(self.to),
        }
        attributes = [Attribute(name, type_) for name, type_ in types.items()] + [*self._carried.values()]
        sent = {attribute.name: attribute.type for attribute in attributes}
        beside: dict[str, Type] = {"ahead": Ref(self.sort), "leaving": SetOf(self.sort)} if self.ordered else {}
        events = [Event("send", {**sent, **beside})]
        if self.ordered:
            about = "the messages of its lane that were sent before it and are on their way"
            attributes.append(Attribute("behind", SetOf(self.sort), about=about))
            events.append(Event("forget", {"earlier": Ref(self.sort)}))
        return [
            Machine(
                self.sort,
                states=[State(UNDER_WAY, about="sent, and neither received nor lost yet")],
                attributes=attributes,
                events=events,
                line=self.line,
                introduced=False,
                needs=[
                    *(("action", each.name) for each in self.actions),
                    *(("rule", each.name) for each in self.rules),
                ],
            )
        ]

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of a message, for sending, receiving and losing it, and for what is no longer before it."""
        sets: dict[str, Any] = {name: given(name) for name in ("kind", "sender", "receiver", *self._carried)}
        if self.ordered:
            earlier = variable(self.sort, "earlier")
            in_lane = self._in_lane(earlier, given("sender"), given("receiver"))
            sets["behind"] = those(earlier, in_lane & ~given("leaving").has(earlier)).with_(given("ahead"))

        def row(event: str, source: str, target: str, **sets: Any) -> Row:
            return Row(self.sort, event, source, target, line=self.line, fact=self.fact, **sets)

        return [
            row("send", ABSENT, UNDER_WAY, **sets),
            row("receive", UNDER_WAY, ABSENT),
            *([row("lose", UNDER_WAY, ABSENT)] if self.lossy or self.dropped else []),
            *(
                [row("forget", UNDER_WAY, UNDER_WAY, behind=me.behind.without(given("earlier")))]
                if self.ordered
                else []
            ),
        ]

    def _in_lane(self, message: Var, sender: Term, receiver: Term) -> Term:
        """Whether a message that is under way is in the lane of a sender and a receiver."""
        ends = {"sender": sender, "receiver": receiver}
        lane: Term = message.is_(UNDER_WAY)
        for key in LANES[self.per]:
            lane = lane & (attribute_of(message, key) == ends[key])
        return lane

    # --- what actions do

    @method
    def send(self, kind: str, from_: Term, to: Term, *, message: Var | None = None, **carries: Any) -> Effect:
        """The effect that a message is sent, among the firings of an action.

        Args:
            kind: the kind.
            from_, to: who sends it, and to whom.
            message: the variable for the new message; by default one with the name of the channel.
            carries: what it carries.

        Raises:
            ModelError: the kind is unknown, or does not carry this.
        """
        place, known = calling_place(), kind_of(f"channel {self.name}", self.kinds, kind).carries
        if message is not None and (not isinstance(message, Var) or message.type != Ref(self.sort)):
            problem = f"message is {message.name if isinstance(message, Var) else shown(message)}, no message of it"
            self._refuse(problem, "write variable(<the sort of the channel>, 'm'), or leave it out", "message", place)
        if unknown := next((each for each in carries if each not in known), None):
            remedy = choose_from(unknown, list(known)) if known else "leave it out"
            self._refuse(f"{kind} carries no {unknown}", remedy, unknown, place)
        if missing := next((each for each in known if each not in carries), None):
            self._refuse(f"{missing} of {kind} is missing", f"write {missing}=...", "", place)
        return _Send(
            self, Constant(kind), lift(from_), lift(to), {n: lift(v) for n, v in carries.items()}, message, place
        )

    @method
    def receive(self, message: Var, kind: str = "", by: Term | None = None) -> Effect:
        """The effect that a message is received, among the firings of an action.

        Args:
            message: a variable for the message. Other firings read what it carries.
            kind: its kind; by default any.
            by: who receives it; by default anybody.

        Raises:
            ModelError: the kind is unknown, or ``message`` is no variable for a message of this channel.
        """
        place = calling_place()
        if not isinstance(message, Var) or message.type != Ref(self.sort):
            problem = f"message is {shown(message) if not isinstance(message, Var) else message.name}, no message of it"
            self._refuse(
                problem, f"write {self.name.upper()}.message, or variable({self.name.upper()}.sort, 'm')", "", place
            )
        when = [message.kind == kind_of(f"channel {self.name}", self.kinds, kind).name] if kind else []
        when += [message.receiver == by] if by is not None else []
        return _Receive(message, "receive", (), [*when, *self.in_turn(message)], place=place)

    @method
    def in_turn(self, message: Var) -> list[Term]:
        """The conditions that no message is to be received before this one; none if the channel has no order."""
        earlier = self._other("earlier", message)
        return [~exists(earlier, message.behind.has(earlier))] if self.ordered else []

    @method
    def room(self, from_: Term, to: Term, messages: int = 1) -> Term:
        """True if as many messages have room in the lane from one to the other.

        Raises:
            ModelError: the channel has no capacity.
        """
        if self.capacity is None:
            self._refuse(
                "it has no capacity",
                "write capacity=2 in the channel",
                "",
                calling_place(),
            )
        assert self.capacity is not None
        ends = lift(from_), lift(to)
        other = self._other(f"other_{self.name}", *ends)
        return count(other, self._in_lane(other, *ends)) <= self.capacity - messages

    def _other(self, name: str, *beside: Term) -> Var:
        """A variable for another message, which no name in the terms beside it is taken for."""
        while any(name in free_variables(term) for term in beside):
            name += "_"
        return variable(self.sort, name)

    @method
    def dropping(
        self,
        name: str,
        on: Action | Fires,
        when: Sequence[Term] = (),
        *,
        from_: Term | None = None,
        to: Term | None = None,
        line: int | None = None,
        fact: str = "",
    ) -> Rule:
        """The rule by which ``on`` and ``when`` lose all messages, or all of a sender or to a receiver.

        Raises:
            ModelError: a part of an ordered lane would be lost.
        """
        message, place = self.message, calling_place()
        if not self.dropped:
            self._refuse("its messages are not dropped", "write dropped=True", "", place)
        ends = {"sender": from_, "receiver": to}
        named = {key for key, end in ends.items() if end is not None}
        reads = any(message.name in free_variables(condition) for condition in when)
        if self.ordered and (reads or not named <= {*LANES[self.per]}):
            remedy = f"name only {' and '.join(LANES[self.per]) or 'neither sender nor receiver'}, and let when read no message"
            self._refuse("a part of an ordered lane would be lost at once", remedy, "", place)
        lost: list[Term] = [attribute_of(message, key) == end for key, end in ends.items() if end is not None]
        lost.append(~message.fires("receive"))  # the same step may receive one
        return Rule(name, on, [*when, *lost], message.fires("lose"), line=line, fact=fact)

    @cached_property
    def actions(self) -> list[Action]:
        """The actions of the channel itself, ``lose_<name>`` if it is lossy and ``duplicate_<name>`` if it is duplicating."""
        message = self.message
        one = "{message.kind} of {message.sender} to {message.receiver}"
        made = []
        if self.lossy:
            lost = Action(
                f"lose_{self.name}",
                [message],
                [],
                [message.fires("lose")],
                f"the {one} is lost",
                self.line,
                fact=self.fact,
            )
            made.append(lost)
        if self.duplicating:
            values = {name: attribute_of(message, name) for name in self._carried}
            copy = _Send(
                self, message.kind, message.sender, message.receiver, values, variable(self.sort, "copy"), self.place
            )
            made.append(
                Action(
                    f"duplicate_{self.name}",
                    [message],
                    [],
                    [copy],
                    f"the {one} is duplicated",
                    self.line,
                    fact=self.fact,
                )
            )
        return made

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules that keep ``behind`` to what is on its way."""
        if not self.ordered:
            return []
        message, later = variables(self.sort, "message later")
        waits = later.behind.has(message)

        def rule(what: str, event: str, *when: Term) -> Rule:
            name = f"no message of {self.name} waits for one that was {what}"
            forgets = later.fires("forget", earlier=message)
            return Rule(name, message.fires(event), [waits, *when], forgets, line=self.line, fact=self.fact)

        stays = [~later.fires("lose")] if self.dropped else []
        lost = [rule("lost", "lose", *stays)] if self.lossy else []
        return [rule("received", "receive", *stays), *lost]

    # --- formulas

    @cached_property
    def properties(self) -> list[Invariant]:
        """The invariants that messages have ends, each lane a total order, and no lane more messages than its capacity."""
        one, two, three = variables(self.sort, "one two three")
        has_ends = (one.sender != NONE) & (one.receiver != NONE)
        made = [
            Invariant(name=f"{self.name}-ends", says="a message has a sender and a receiver", over=[one], then=has_ends)
        ]
        same: Term = two.is_(UNDER_WAY)
        for key in LANES[self.per]:
            same = same & (attribute_of(one, key) == attribute_of(two, key))
        if self.ordered:
            made += [
                Invariant(
                    name=f"{self.name}-order",
                    says="a message waits only for others of its lane, which do not wait for it",
                    over=[one, two],
                    then=implies(one.behind.has(two), same & ~two.behind.has(one)),
                ),
                Invariant(
                    name=f"{self.name}-order-of-all",
                    says="of two messages of a lane, one waits for the other",
                    over=[one, two],
                    then=implies(same & ~(one == two), one.behind.has(two) | two.behind.has(one)),
                ),
                Invariant(
                    name=f"{self.name}-order-of-three",
                    says="a message waits for what a message waits for that it waits for",
                    over=[one, two, three],
                    then=implies(one.behind.has(two) & two.behind.has(three), one.behind.has(three)),
                ),
            ]
        if self.capacity is not None:
            sender, receiver = variable(self.from_, "sender"), variable(self.to, "receiver")
            ends = {"sender": sender, "receiver": receiver}
            number = count(one, self._in_lane(one, sender, receiver))
            made.append(
                Invariant(
                    name=f"{self.name}-capacity",
                    says="no lane has more messages than its capacity",
                    over=[ends[key] for key in LANES[self.per]],
                    then=number <= self.capacity,
                )
            )
        return made


@dataclass(frozen=True, eq=False)
class _Receive(Effect):
    """A message is received."""

    of: Var
    when: Sequence[Term] = ()

    def parts(self, action: Action, before: Sequence[tuple[Effect, Parts]]) -> Parts:
        """The message as a parameter, if it is none yet, and when it can be received: one that is not received as another, too.

        Raises:
            ModelError: the action receives it twice.
        """
        known = any(v.name == self.of.name for v in action.parameters)
        others = [each.of for each, _ in before if isinstance(each, _Receive) and each.of.type == self.of.type]
        if any(other.name == self.of.name for other in others):
            problem = f"it receives {self.of.name} twice"
            raise ModelError(f"action {action.name}", self.place, problem, "write another variable", name=self.of.name)
        when = [*self.when, *(~(other == self.of) for other in others)]
        return Parts([] if known else [self.of], when, Fires(self.of, self.event, (), place=self.place))


class _Send(Effect):
    """A message is sent."""

    def __init__(
        self,
        channel: Channel,
        kind: Term,
        sender: Term,
        receiver: Term,
        carries: Mapping[str, Term],
        message: Var | None,
        place: Place,
    ) -> None:
        new_one = message if message is not None else variable(channel.sort, channel.name)
        first = {n: value for n, each in channel._carried.items() if (value := first_value(each)) is not None}
        payload = {"kind": kind, "sender": sender, "receiver": receiver, **first, **carries}
        super().__init__(new_one, "send", tuple(payload.items()), place=place)
        object.__setattr__(self, "channel", channel)
        object.__setattr__(self, "is_named", message is not None)

    channel: Channel
    is_named: bool

    @property
    def ends(self) -> dict[str, Term]:
        """Who sends it, and to whom."""
        values = dict(self.payload)
        return {key: values[key] for key in ("sender", "receiver")}

    def parts(self, action: Action, before: Sequence[tuple[Effect, Parts]]) -> Parts:
        """A new message as a parameter, and that it has room.

        Raises:
            ModelError: two messages have one variable; or the order of two, or whether both have room, depends on whether
                their ends are the same.
        """
        message = self._new_message(action)
        known = any(v.name == message.name for v in action.parameters)
        together = [
            parts.fires.of
            for each, parts in before
            if isinstance(each, _Send) and each.channel.name == self.channel.name and self._in_lane_of(each, action)
        ]
        if any(parts.fires.of.name == message.name for each, parts in before if isinstance(each, _Send)):
            self._refuse(action, f"it sends {message.name} twice", "write another variable")
        payload = dict(self.payload)
        if self.channel.ordered:
            if len(together) >= TOGETHER:
                problem = (
                    f"it sends {len(together) + 1} messages through a lane of {self.channel.name}, which is ordered"
                )
                self._refuse(action, problem, f"send {TOGETHER} in one action")
            payload["ahead"] = together[-1] if together else NONE
            received = [e.of for e in action.fires if isinstance(e, _Receive) and e.of.type == message.type]
            leaving: Term = EMPTY
            for each in received:
                leaving = leaving.with_(each)
            payload["leaving"] = leaving
        when: list[Term] = [new(message)]
        when += [end != NONE for end in self.ends.values() if not isinstance(end, Var)]
        if self.channel.capacity is not None:
            when.append(self.channel.room(payload["sender"], payload["receiver"], 1 + len(together)))
        return Parts([] if known else [message], when, Fires(message, "send", tuple(payload.items()), place=self.place))

    def _new_message(self, action: Action) -> Var:
        """The variable of the new message, with a number if the action has one of that name."""
        assert isinstance(self.of, Var)
        names = {v.name for v in action.parameters}
        number, name = 1, self.of.name
        while name in names and not self.is_named:
            number += 1
            name = f"{self.of.name}{number}"
        return Var(name, self.of.type, place=self.place)

    def _in_lane_of(self, earlier: _Send, action: Action) -> bool:
        """Whether another message of the same action goes through the same lane."""
        apart = {frozenset(map(show_term, pair)) for c in action.when for pair in _unequal(c)}
        pairs = [(self.ends[key], earlier.ends[key]) for key in LANES[self.channel.per]]
        if all(show_term(a) == show_term(b) for a, b in pairs):
            return True
        if any(frozenset((show_term(a), show_term(b))) in apart for a, b in pairs):
            return False
        if self.channel.ordered or self.channel.capacity is not None:
            a, b = next((a, b) for a, b in pairs if show_term(a) != show_term(b))
            problem = f"{show_term(b)} and {show_term(a)} may be one, so two messages may go through one lane of {self.channel.name}"
            self._refuse(
                action, problem, f"add ~({show_term(b)} == {show_term(a)}) to its conditions, or send them one by one"
            )
        return False

    def _refuse(self, action: Action, problem: str, remedy: str) -> None:
        raise ModelError(f"action {action.name}", self.place, problem, remedy)


def _unequal(condition: Term) -> list[tuple[Term, Term]]:
    """The pairs of which a condition says that they are not equal."""
    return [
        (each.part.left, each.part.right)
        for each in conjuncts(condition)
        if isinstance(each, Not) and isinstance(each.part, Equal)
    ]

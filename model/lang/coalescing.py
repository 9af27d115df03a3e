"""Channels that coalesce messages: what is sent again while it is under way stays one message, so that rules can send.

A message object stands for one kind of message about given objects. It is either free or under way. Which message objects
exist is rigid, so a configuration can leave out the messages that an exploration is not about: they are never sent.
Messages that carry other values, or that must be counted, go through a :class:`.messages.Channel`.

Within one channel, messages that are ``ordered`` arrive in the order of sending. ``behind`` stores that order as
sets: the messages sent before and still under way. Of the messages that one step sends, those of lower ``rank`` come
first. Different channels are not ordered relative to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from itertools import product
from typing import NoReturn

from schedproof.model.errors import choose_from, shown

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
    ModelError,
    Place,
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
from .arguments import declaration, method
from .errors import calling_place
from .library import attribute_of, kind_of
from .messages import Kind
from .rules import Effect, Parts
from .terms import Fires, free_variables, lift

__all__ = ["MOST_ROOM", "CoalescingChannels"]

MOST_ROOM = 3
"""The greatest capacity of a channel. Each capacity has a rule that lists the messages that fill the channel."""

RESERVED = ("channel", "rank", "ordered", "losable")
"""Attributes of messages, beside those that no channel lets a kind carry."""

OTHER_MESSAGE = 'give the sent one another variable: message=variable(<its sort>, "sent")'


@declaration
@dataclass(frozen=True)
class CoalescingChannels:
    """The channels of a model that coalesce messages, with the machines, rows, rules, axioms and properties of the messages.

    Args:
        sort: the sort of the messages of all these channels.
        kinds: the kinds of messages. A kind carries objects only.
        to: by the name of the channel, which is that of the component that receives, or of one of its queues: the names of its kinds.
        ranks: of the messages that one step sends, those of lower rank arrive first. A kind without a rank has 0.
        lossy: whether messages can be lost: those that the configuration names, at any time; and all at once by :meth:`dropping`.
        loss: the fact that messages can be lost.
        queues: the sort of the channels with a capacity, which a configuration gives. A message that finds no room
            moves its channel to the state ``overflown``, so that a model can say how the process reacts.
        line, fact: where the document introduces the messages.

    Raises:
        ModelError: an argument is wrong, or two kinds do not fit together.
    """

    sort: Sort
    _: KW_ONLY
    kinds: Sequence[Kind]
    to: Mapping[str, Sequence[str]]
    ranks: Mapping[str, int] = field(default_factory=dict)
    lossy: bool = False
    loss: str = ""
    queues: Sort | None = None
    line: int | None = None
    fact: str = ""
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    def __post_init__(self) -> None:
        for what, sort in (("sort", self.sort), ("queues", self.queues)):
            if not isinstance(sort, Sort) and (what == "sort" or sort is not None):
                self._refuse(f"{what} is {shown(sort)}", "write the sort itself", what)
        if self.sort.disposable:
            self._refuse("its sort is disposable", "leave out disposable=True", "sort")
        self._check_kinds()
        self._check_channels()
        if not isinstance(self.ranks, Mapping):
            self._refuse(f"ranks is {shown(self.ranks)}", 'write for example ranks={"put": 1}', "ranks")
        for kind, rank in self.ranks.items():
            kind_of(self._element, self.kinds, kind)
            if type(rank) is not int or rank < 0:
                self._refuse(f"the rank of {kind} is {shown(rank)}", "write a whole number from 0", "ranks")

    def _check_kinds(self) -> None:
        of_kinds, kinds = 'write a list, for example [Kind("put", item=Item)]', self.kinds
        if not isinstance(kinds, list | tuple) or not kinds or not all(isinstance(each, Kind) for each in kinds):
            self._refuse(f"kinds is {shown(kinds)}", of_kinds, "kinds")
        names = [kind.name for kind in self.kinds]
        if doubled := next((each for each in names if names.count(each) > 1), None):
            self._refuse(f"two kinds have the name {doubled}", "rename one", doubled)
        carried: dict[str, tuple[object, str]] = {}
        for kind in self.kinds:
            for value, type_ in kind.carries.items():
                if not isinstance(type_, Ref):
                    problem = f"{value} of {kind.name} is {type_}, and messages that coalesce carry objects only"
                    self._refuse(problem, "write a sort, or use a Channel, which carries any value", value)
                if value in RESERVED:
                    problem = f"{kind.name} carries {value}, a name that has another meaning"
                    self._refuse(problem, "write another name", value)
                known, where = carried.setdefault(value, (type_, kind.name))
                if known != type_:
                    problem = f"{value} of {kind.name} is {type_}, and that of {where} is {known}"
                    self._refuse(problem, "give both one type, or one of them another name", value)

    def _check_channels(self) -> None:
        of_channels = 'write for example to={"server": ["put", "close"]}'
        if not isinstance(self.to, Mapping) or not self.to:
            self._refuse(f"to is {shown(self.to)}", of_channels, "to")
        for name, kinds in self.to.items():
            if not isinstance(name, str) or not name.isidentifier():
                self._refuse(f"the name of a channel is {shown(name)}", of_channels, "to")
            if not isinstance(kinds, list | tuple) or not kinds:
                self._refuse(f"the kinds of {name} are {shown(kinds)}", of_channels, "to")
            for kind in kinds:
                kind_of(self._element, self.kinds, kind)
        for kind in self.kinds:
            channels = [name for name, kinds in self.to.items() for each in kinds if each == kind.name]
            if len(channels) != 1:
                problem = f"kind {kind.name} goes to {' and '.join(channels) or 'no channel'}"
                self._refuse(problem, "name it in one channel of to", kind.name)

    @property
    def _element(self) -> str:
        """What errors name."""
        return f"channels of {self.sort}" if isinstance(self.sort, Sort) else "channels"

    def _refuse(self, problem: str, remedy: str, name: str = "", place: Place | None = None) -> NoReturn:
        raise ModelError(self._element, place or self.place, problem, remedy, name=name)

    @cached_property
    def subjects(self) -> Mapping[str, Sort]:
        """The sort of each attribute that says what a message is about."""
        return {
            name: type_.sort for kind in self.kinds for name, type_ in kind.carries.items() if isinstance(type_, Ref)
        }

    def channel_of(self, kind: str) -> str:
        """The channel of a kind.

        Raises:
            ModelError: the kind is unknown.
        """
        known = kind_of(self._element, self.kinds, kind).name
        return next(name for name, kinds in self.to.items() if known in kinds)

    def through(self, *channels: str) -> tuple[str, ...]:
        """The names of the kinds of some channels.

        Raises:
            ModelError: a channel is unknown.
        """
        names = {kind for each in channels for kind in self.to[self._known(each)]}
        return tuple(kind.name for kind in self.kinds if kind.name in names)

    def _known(self, channel: str) -> str:
        if channel not in self.to:
            self._refuse(
                f"unknown channel {shown(channel)}",
                choose_from(str(channel), list(self.to)),
                str(channel),
                calling_place(),
            )
        return channel

    # --- the machines

    @cached_property
    def _letters(self) -> tuple[Var, Var, Var]:
        """Three variables for messages."""
        e, f, r = variables(self.sort, "e f r")
        return e, f, r

    @cached_property
    def machines(self) -> list[Machine]:
        """The machine of a message, which is free to be sent, or under way; and that of a channel with a capacity."""
        losable = (
            [Attribute("losable", BoolType(), rigid=True, about="may be lost", assumed=False)] if self.lossy else []
        )
        message = Machine(
            self.sort,
            line=self.line,
            introduced=False,
            states=[State("free", about="not sent"), State("under_way")],
            attributes=[
                Attribute("kind", EnumType(tuple(kind.name for kind in self.kinds)), rigid=True),
                Attribute("channel", EnumType(tuple(self.to)), rigid=True),
                *[Attribute(name, Ref(sort), rigid=True) for name, sort in self.subjects.items()],
                Attribute(
                    "rank",
                    IntRange(0, max(self.ranks.values(), default=0)),
                    rigid=True,
                    about="of the messages that one step sends, those of a lower rank arrive first",
                ),
                Attribute("ordered", BoolType(), rigid=True, about="arrives in the order of sending", assumed=True),
                *losable,
                Attribute(
                    "behind", SetOf(self.sort), about="the messages that were sent before it and arrive before it"
                ),
            ],
            events=[Event("forget", {"earlier": Ref(self.sort)})],
        )
        if self.queues is None:
            return [message]
        queue = Machine(
            self.queues,
            line=self.line,
            states=[State("open"), State("overflown")],
            attributes=[
                Attribute("channel", EnumType(tuple(self.to)), rigid=True),
                Attribute("room", IntRange(1, MOST_ROOM), rigid=True),
            ],
        )
        return [message, queue]

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of a message, for sending, arrival, loss if it can be lost, and what is no longer before it; and that by
        which a channel overflows, from which no row leads back."""
        _, f, _ = self._letters
        earlier = f.is_("under_way") & f.ordered & me.ordered & (f.channel == me.channel)
        without_earlier = me.behind.without(given("earlier"))
        losing = (
            [Row(self.sort, "lose", "under_way", "free", fact=self.loss or self.fact, behind=EMPTY)]
            if self.lossy
            else []
        )
        overflows = (
            [Row(self.queues, "overflow", "open", "overflown", line=self.line, fact=self.fact)] if self.queues else []
        )
        return [
            Row(self.sort, "send", "free", "under_way", line=self.line, fact=self.fact, behind=those(f, earlier)),
            Row(self.sort, "arrive", "under_way", "free", line=self.line, fact=self.fact, behind=EMPTY),
            *losing,
            Row(self.sort, "forget", "under_way", "under_way", line=self.line, fact=self.fact, behind=without_earlier),
            *overflows,
        ]

    # --- what rules and actions do

    @method
    def send(self, kind: str, *, message: Var | None = None, **carries: Term) -> Effect:
        """The effect that a message is sent, which a rule fires. It has no effect while the message is under way.

        Args:
            kind: the kind.
            message: the variable for the message; by default one with the letter of its sort.
            carries: the objects that it is about.

        Raises:
            ModelError: the kind is unknown, or is not about this.
        """
        place, known = calling_place(), kind_of(self._element, self.kinds, kind).carries
        sent = self._message(message, place) if message is not None else variable(self.sort, self.sort.short)
        if unknown := next((each for each in carries if each not in known), None):
            remedy = choose_from(unknown, list(known)) if known else "leave it out"
            self._refuse(f"{kind} carries no {unknown}", remedy, unknown, place)
        if missing := next((each for each in known if each not in carries), None):
            self._refuse(f"{missing} of {kind} is missing", f"write {missing}=...", "", place)
        if shared := next((each for each, term in carries.items() if sent.name in free_variables(lift(term))), None):
            self._refuse(f"{shared} of {kind} is read of the message that is sent", OTHER_MESSAGE, shared, place)
        about = [attribute_of(sent, name) == lift(term) for name, term in carries.items()]
        return _Send(sent, "send", (), [sent.kind == kind, *about, sent.is_("free")], place=place)

    @method
    def receive(self, message: Var, kind: str = "") -> Effect:
        """The effect that a message arrives when it is its turn, among the firings of an action.

        Args:
            message: a variable for the message. Other firings read what it is about.
            kind: its kind; by default any.

        Raises:
            ModelError: the kind is unknown, or ``message`` is no variable for a message of these channels.
        """
        return self._arrival(message, kind, calling_place())

    def _arrival(self, message: Var, kind: str, place: Place) -> _OfAction:
        self._message(message, place)
        of_kind = [message.kind == kind_of(self._element, self.kinds, kind).name] if kind else []
        when = [*of_kind, message.is_("under_way"), self.in_turn(message)]
        return _OfAction(message, "arrive", (), when, place=place)

    @method
    def delivery(
        self, kind: str, says: str, when: Sequence[Term] = (), *, line: int | None = None, fact: str = ""
    ) -> Action:
        """The action by which a message of ``kind`` arrives when it is its turn. Rules say what it does.

        Its parameter has the letter of the sort: ``says`` may mention ``{e}``.

        Raises:
            ModelError: the kind is unknown.
        """
        message = variable(self.sort, self.sort.short)
        name = "deliver_" + "".join("_" + c.lower() if c.isupper() else c for c in kind).lstrip("_")
        arrives = self._arrival(message, kind, calling_place())
        return Action(name, [message], [*arrives.when, *when], [message.fires("arrive")], says, line, fact=fact)

    @method
    def lose(self, message: Var) -> Effect:
        """The effect that a message is lost which its configuration lets be lost, among the firings of an action.

        Raises:
            ModelError: no message can be lost, or ``message`` is no variable for a message of these channels.
        """
        place = calling_place()
        self._message(message, place)
        if not self.lossy:
            self._refuse("its messages are not lost", "write lossy=True", "", place)
        return _OfAction(message, "lose", (), [message.is_("under_way"), message.losable], place=place)

    @method
    def dropping(
        self,
        name: str,
        on: Action | Fires,
        when: Sequence[Term] = (),
        *,
        channel: str = "",
        line: int | None = None,
        fact: str = "",
    ) -> Rule:
        """The rule by which ``on`` and ``when`` lose all messages, or all of one channel.

        Raises:
            ModelError: no message can be lost, the channel is unknown, a part of a channel would be lost, or ``on`` is of a message.
        """
        place, (e, _, _) = calling_place(), self._letters
        if not self.lossy:
            self._refuse("its messages are not lost", "write lossy=True", "", place)
        if any(e.name in free_variables(condition) for condition in when):
            self._refuse("a part of a channel would be lost at once", f"let when not read {e.name}", "", place)
        if isinstance(on, Action) and any(isinstance(f.of, Var) and f.of.type == e.type for f in on.fires):
            problem = f"{on.name} has a message arrive in the step in which others are lost"
            self._refuse(problem, "lose them by an action of its own", on.name, place)
        if isinstance(on, Fires) and isinstance(on.of, Var) and on.of.type == e.type:
            problem = f"{on.of.name} is a message too, and {on.event} and lose cannot both happen to it in one step"
            self._refuse(
                problem, "lose them by an action of its own, or by an event of another object", on.event, place
            )
        lost = [e.is_("under_way"), *([e.channel == self._known(channel)] if channel else [])]
        return Rule(name, on, [*when, *lost], e.fires("lose"), line=line, fact=fact)

    def _message(self, message: object, place: Place) -> Var:
        """The variable for a message, checked."""
        if not isinstance(message, Var) or message.type != Ref(self.sort):
            problem = f"message is {message.name if isinstance(message, Var) else shown(message)}, no message of it"
            self._refuse(problem, f"write variable({self.sort}, {self.sort.short!r})", "message", place)
        return message

    @method
    def in_turn(self, message: Var) -> Term:
        """True if it is the message's turn to arrive.

        Raises:
            ModelError: ``message`` is no variable for a message of these channels.
        """
        self._message(message, calling_place())
        f = variable(self.sort, "f" if message.name != "f" else "e")
        in_order = f.is_("under_way") & f.ordered & message.ordered & (f.channel == message.channel)
        together = in_order & ~f.behind.has(message)
        return ~exists(f, message.behind.has(f)) & ~exists(f, together & (f.rank < message.rank))

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules that drop a message from the ``behind`` sets of others when it arrives or is lost; and those by which a
        message overflows a channel that others fill, one rule for each capacity."""
        e, f, _ = self._letters

        def rule(name: str, event: str, *when: Term) -> Rule:
            forgets = f.fires("forget", earlier=e)
            return Rule(name, e.fires(event), [f.behind.has(e), *when], forgets, line=self.line, fact=self.fact)

        losing = [rule("what is lost is out of the way", "lose", ~f.fires("lose"))] if self.lossy else []
        return [rule("what arrives is out of the way", "arrive"), *losing, *self._overflows]

    @cached_property
    def _overflows(self) -> list[Rule]:
        """The rules by which a message overflows a channel that others fill."""
        if self.queues is None:
            return []
        _, _, r = self._letters
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

    # --- formulas

    @cached_property
    def overflown(self) -> Term:
        """True if some channel has overflown.

        Raises:
            ModelError: no channel has a capacity.
        """
        if self.queues is None:
            self._refuse("no channel has a capacity", "write queues=<a sort of your model>", "", calling_place())
        queue = variable(self.queues, "queue")
        return exists(queue, queue.is_("overflown"))

    @method
    def one_of(self, message: Var, kinds: Sequence[str]) -> Term:
        """True if the message is of one of ``kinds``.

        Raises:
            ModelError: no kind is given, one is unknown, or ``message`` is no variable for a message of these channels.
        """
        place = calling_place()
        self._message(message, place)
        if isinstance(kinds, str) or not kinds:
            self._refuse(f"the kinds are {shown(kinds)}", f'write a list of kinds: ["{self.kinds[0].name}"]', "", place)
        for name in kinds:
            kind_of(self._element, self.kinds, name)
        is_of_kind: Term = message.kind == kinds[0]
        for kind in kinds[1:]:
            is_of_kind = is_of_kind | (message.kind == kind)
        return is_of_kind

    @cached_property
    def axioms(self) -> list[Term]:
        """The axioms that a kind determines channel, rank and what it is about, and has at most one message about the same."""
        e, f, _ = self._letters
        same: Term = e.kind == f.kind
        for subject in self.subjects:
            same = same & (attribute_of(e, subject) == attribute_of(f, subject))
        about = {subject: [k.name for k in self.kinds if subject in k.carries] for subject in self.subjects}
        return [
            *[forall(e, iff(e.channel == name, self.one_of(e, self.through(name)))) for name in self.to],
            *[forall(e, iff(attribute_of(e, subject) != NONE, self.one_of(e, about[subject]))) for subject in about],
            *[forall(e, implies(e.kind == kind.name, e.rank == self.ranks.get(kind.name, 0))) for kind in self.kinds],
            forall([e, f], implies(same, e == f)),
        ]

    @cached_property
    def properties(self) -> list[Invariant]:
        """The invariants by which ``behind`` is an order on the messages under way."""
        e, f, _ = self._letters
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

    # --- configurations

    def _check_numbers(self, argument: str, numbers: object, most: int | None, place: Place) -> None:
        """Refuses what is no mapping to numbers; with a greatest one they begin at 1."""
        least, end = (0, "") if most is None else (1, f" to {most}")
        write = f"write a number from {least}{end} for each name, as in {argument}={{<name>: {least or 1}}}"
        if not isinstance(numbers, Mapping):
            self._refuse(f"{argument} is {shown(numbers)}", write, "", place)
        for name, number in numbers.items():
            if not isinstance(number, int) or isinstance(number, bool) or number < least or number > (most or number):
                self._refuse(f"{argument} of {shown(name)} is {shown(number)}", write, str(name), place)

    @method
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
        """The rigid attributes of the messages of a configuration, with one message of each kind about each object, or each tuple of objects.

        Args:
            about: the number of objects that messages are about, by attribute: {"application": .., "ask": ..}.
            kinds: the kinds that can be sent; by default all.
            ordered: each channel keeps the order of sending, except for the kinds in ``overtaking``.
            losable: the kinds that can be lost.
            room: the capacity of channels, 1 to 3; the others have no limit.

        Raises:
            ModelError: a kind, channel or attribute is unknown, or ``room`` or ``losable`` names what the channels do not have.
        """
        place = calling_place()
        self._check_numbers("about", about, None, place)
        self._check_numbers("room", room, MOST_ROOM, place)
        for name in (*(kinds or ()), *overtaking, *losable):
            kind_of(self._element, self.kinds, name)
        if unknown := next((each for each in about if each not in self.subjects), None):
            self._refuse(f"no message is about {unknown}", choose_from(unknown, list(self.subjects)), unknown, place)
        if losable and not self.lossy:
            self._refuse("its messages are not lost", "write lossy=True", "", place)
        if room and self.queues is None:
            self._refuse("no channel has a capacity", "write queues=<a sort of your model>", "", place)
        made = [
            (kind, dict(zip(kind.carries, numbers, strict=True)))
            for kind, numbers in self._contents(about)
            if kinds is None or kind.name in kinds
        ]
        sort = self.sort.name
        lossy = {(sort, "losable"): [kind.name in losable for kind, _ in made]} if self.lossy else {}
        limits: Rigid = {}
        if self.queues is not None:
            limits = {
                (self.queues.name, "channel"): [*map(self._known, room)],
                (self.queues.name, "room"): [*room.values()],
            }
        return {
            (sort, "kind"): [kind.name for kind, _ in made],
            (sort, "channel"): [self.channel_of(kind.name) for kind, _ in made],
            **{(sort, subject): [numbers.get(subject) for _, numbers in made] for subject in self.subjects},
            (sort, "rank"): [self.ranks.get(kind.name, 0) for kind, _ in made],
            (sort, "ordered"): [ordered and kind.name not in overtaking for kind, _ in made],
            **lossy,
            **limits,
        }

    def _contents(self, about: Mapping[str, int]) -> list[tuple[Kind, tuple[int, ...]]]:
        """Each kind with each tuple of objects that it can be about, sorted by the attributes, the objects, and the kinds."""
        contents = [
            (kind, numbers)
            for kind in self.kinds
            for numbers in product(*(range(about.get(subject, 0)) for subject in kind.carries))
        ]
        attributes, kinds = list(self.subjects), {kind.name: n for n, kind in enumerate(self.kinds)}
        contents.sort(key=lambda c: ([attributes.index(a) for a in c[0].carries], c[1], kinds[c[0].name]))
        return contents


@dataclass(frozen=True, eq=False)
class _OfAction(Effect):
    """A message arrives or is lost."""

    when: Sequence[Term] = ()

    def parts(self, action: Action, before: Sequence[tuple[Effect, Parts]]) -> Parts:
        """The message as a parameter, if it is none yet, and the conditions."""
        assert isinstance(self.of, Var)
        known = any(v.name == self.of.name for v in action.parameters)
        return Parts([] if known else [self.of], self.when, Fires(self.of, self.event, (), place=self.place))


@dataclass(frozen=True, eq=False)
class _Send(Effect):
    """A message is sent, unless it is under way."""

    when: Sequence[Term] = ()

    def parts(self, action: Action, before: Sequence[tuple[Effect, Parts]]) -> Parts:
        """Refuses it: an action would not be enabled while the message is under way.

        Raises:
            ModelError: always.
        """
        problem = "it sends a message that may be under way"
        remedy = f"let a rule send it: Rule(<name>, {action.name}, [], ...)"
        raise ModelError(f"action {action.name}", self.place, problem, remedy)

    def parts_of_rule(self, rule: Rule) -> Parts:
        """The conditions that it is the message of this content, and not under way.

        Raises:
            ModelError: the rule has its variable for another message: both would be one, and the rule fire never.
        """
        assert isinstance(self.of, Var)
        trigger = rule.on
        bound = {v.name for v in trigger.parameters} if isinstance(trigger, Action) else free_variables(trigger)
        if self.of.name in bound:
            problem = f"{self.of.name} is the message that it sends, and another one in its trigger"
            raise ModelError(f"rule {rule.name}", self.place, problem, OTHER_MESSAGE, name="send")
        return Parts([], self.when, Fires(self.of, "send", (), place=self.place))

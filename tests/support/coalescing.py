"""Programs whose rules send messages that coalesce, as models, and as queues of sets in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from schedproof.model.lang import Action, Document, Machine, Model, Row, Rule, Sort, State, variables
from schedproof.model.lang.coalescing import CoalescingChannels
from schedproof.model.lang.messages import Kind
from schedproof.model.semantics import Instance

Lamp, Letter = Sort("Lamp", "l"), Sort("Letter", "e")
l, o = variables(Lamp, "l o")  # noqa: E741 - a lamp
e, f = variables(Letter, "e f")

KINDS = {"a": "left", "b": "left", "c": "right", "d": "right"}
"""The channel of each kind. Each message is about a lamp."""

Message = tuple[str, int]
"""A kind, and the number of a lamp."""

Shown = tuple[object, ...]
"""A state as both show it: which lamps are on, and what each message that is under way waits for."""


@dataclass(frozen=True)
class Program:
    """What is sent when.

    Args:
        lamps: how many there are.
        on, off: the kinds that are sent when a lamp is switched; those in capitals are about all other lamps.
        answers: a kind -> the kinds that its receipt sends through the other channel.
        crashes: whether all messages of the left channel may be lost at once; each lit lamp then sends these kinds.
        ranks, ordered, overtaking, lossy, losable, kinds: as for the channels and their configuration.
    """

    lamps: int
    on: str
    off: str
    answers: Mapping[str, str] = field(default_factory=dict)
    crashes: str | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    ordered: bool = True
    overtaking: str = ""
    lossy: bool = False
    losable: str = ""
    kinds: str = "abcd"


def random_program(seed: int) -> Program:
    """A program at random."""
    random = Random(seed)

    def some(kinds: str, chance: float = 0.5) -> str:
        return "".join(kind for kind in kinds if random.random() < chance)

    other = {kind: "cd" if channel == "left" else "ab" for kind, channel in KINDS.items()}
    lossy = random.random() < 0.5
    return Program(
        random.choice([1, 2]),
        some("abcdAC", 0.4) or "a",
        some("abcd", 0.3),
        {kind: some(other[kind], 0.3) for kind in KINDS},
        some("cd", 0.4) if lossy and random.random() < 0.6 else None,
        {kind: random.choice([0, 1, 2]) for kind in some("abcd")},
        random.random() < 0.8,
        some("abcd", 0.2),
        lossy,
        some("abcd", 0.4) if lossy else "",
        some("abcd", 0.8) or "a",
    )


def channels_of(program: Program) -> CoalescingChannels:
    return CoalescingChannels(
        Letter,
        kinds=[Kind(kind, lamp=Lamp) for kind in KINDS],
        to={"left": ["a", "b"], "right": ["c", "d"]},
        ranks=program.ranks,
        lossy=program.lossy,
    )


def rigid_of(program: Program) -> Any:
    """The messages that the program can send."""
    return channels_of(program).messages(
        {"lamp": program.lamps}, kinds=program.kinds, ordered=program.ordered, overtaking=program.overtaking, losable=program.losable
    )  # fmt: skip


def model_of(program: Program) -> Model:
    """The program in the language."""
    channels = channels_of(program)
    switch = Action("switch", [l], [l.is_("off")], [l.fires("on")], "{l} is switched on")
    reset = Action("reset", [l], [l.is_("on")], [l.fires("off")], "{l} is switched off")
    crash = Action("crash", [], [], [], "the receiver of the left channel dies")
    actions = [switch, reset, *(channels.delivery(kind, "{e} arrives") for kind in KINDS)]
    rules = []
    for event, kinds in (("on", program.on), ("off", program.off)):
        for kind in kinds:
            about, when = (l, []) if kind.islower() else (o, [o != l])
            rules.append(
                Rule(f"{event} sends {kind}", l.fires(event), when, channels.send(kind.lower(), message=f, lamp=about))
            )
    for kind, answers in program.answers.items():
        arrival = next(action for action in actions if action.name == f"deliver_{kind}")
        rules += [
            Rule(f"{kind} is answered by {answer}", arrival, [], channels.send(answer, message=f, lamp=e.lamp))
            for answer in answers
        ]
    if program.lossy:
        actions.append(Action("lose", [], [], [channels.lose(e)], "{e} is lost"))
    if program.crashes is not None:
        actions.append(crash)
        rules.append(channels.dropping("a crash loses the left channel", crash, channel="left"))
        rules += [
            Rule(f"a crash sends {kind}", crash, [l.is_("on")], channels.send(kind, message=f, lamp=l))
            for kind in program.crashes
        ]
    return Model(
        system="lamps",
        variant="sending",
        about="lamps that send",
        document=Document("none", "None"),
        machines=[Machine(Lamp, [State("off"), State("on")]), *channels.machines],
        rows=[Row(Lamp, "on", "off", "on"), Row(Lamp, "off", "on", "off"), *channels.rows],
        actions=actions,
        rules=[*rules, *channels.rules],
        properties=channels.properties,
        default_scope={"Lamp": program.lamps, "Letter": len(KINDS) * program.lamps},
        axioms=channels.axioms,
        configurations=lambda sizes: [rigid_of(program)],
    )


@dataclass(frozen=True)
class Queues:
    """A state: which lamps are on, and what is under way.

    Args:
        waiting: by channel, what each step has sent that keeps the order, the oldest first.
        overtaking: the messages that keep no order.
    """

    on: frozenset[int]
    waiting: Mapping[str, tuple[frozenset[Message], ...]]
    overtaking: frozenset[Message]

    def under_way(self) -> frozenset[Message]:
        return self.overtaking.union(*(sent for queue in self.waiting.values() for sent in queue))

    def shown(self) -> Shown:
        """The state as :func:`shown_of` shows one of the model: with what each message waits for."""
        before = {}
        for queue in self.waiting.values():
            for number, sent in enumerate(queue):
                for message in sent:
                    before[message] = frozenset[Message]().union(*queue[:number])
        before |= dict.fromkeys(self.overtaking, frozenset())
        return self.on, frozenset(before.items())


class Double:
    """The program beside its model: queues of sets."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def first(self) -> Queues:
        return Queues(frozenset(), {"left": (), "right": ()}, frozenset())

    def can(self, log: Sequence[tuple[str, int | Message | None]]) -> bool:
        """Whether these steps are possible one after the other."""
        state = self.first()
        for record in log:
            after = next((after for *step, after in self.steps(state) if tuple(step) == record), None)
            if after is None:
                return False
            state = after
        return True

    def states(self) -> tuple[set[Shown], set[tuple[Shown, str, Shown]]]:
        """The reachable states, and the steps."""
        first = self.first()
        steps: set[tuple[Shown, str, Shown]] = set()
        known, frontier = {first.shown()}, [first]
        while frontier:
            state = frontier.pop()
            for action, _, after in self.steps(state):
                steps.add((state.shown(), action, after.shown()))
                if after.shown() not in known:
                    known.add(after.shown())
                    frontier.append(after)
        return known, steps

    def steps(self, state: Queues) -> Iterator[tuple[str, int | Message | None, Queues]]:
        """The steps: the action, its lamp or message, and the state after it."""
        program, lamps = self.program, range(self.program.lamps)
        for lamp in lamps:
            kinds = program.off if lamp in state.on else program.on
            sent = {(kind, lamp) for kind in kinds if kind.islower()}
            sent |= {(kind.lower(), other) for kind in kinds if kind.isupper() for other in lamps if other != lamp}
            yield ("reset" if lamp in state.on else "switch"), lamp, self.after(state, state.on ^ {lamp}, set(), sent)
        for message in self.turns(state):
            kind, lamp = message
            yield (
                f"deliver_{kind}",
                message,
                self.after(state, state.on, {message}, {(a, lamp) for a in program.answers.get(kind, "")}),
            )
        for message in state.under_way():
            if message[0] in program.losable:
                yield "lose", message, self.after(state, state.on, {message}, set())
        if program.crashes is not None:
            lost = {message for message in state.under_way() if KINDS[message[0]] == "left"}
            yield (
                "crash",
                None,
                self.after(state, state.on, lost, {(kind, lamp) for kind in program.crashes for lamp in state.on}),
            )

    def turns(self, state: Queues) -> Iterator[Message]:
        yield from state.overtaking
        for queue in state.waiting.values():
            if queue:
                least = min(self.program.ranks.get(kind, 0) for kind, _ in queue[0])
                yield from (message for message in queue[0] if self.program.ranks.get(message[0], 0) == least)

    def after(self, state: Queues, on: frozenset[int], leaves: set[Message], sent: set[Message]) -> Queues:
        sent = {message for message in sent if message[0] in self.program.kinds} - state.under_way()
        loose = {message for message in sent if not self.program.ordered or message[0] in self.program.overtaking}
        waiting = {}
        for channel, queue in state.waiting.items():
            new = frozenset(message for message in sent - loose if KINDS[message[0]] == channel)
            waiting[channel] = tuple(
                left for each in (*queue, new) if (left := each - leaves if each is not new else each)
            )
        return Queues(on, waiting, (state.overtaking - leaves) | loose)


def shown_of(program: Program, instance: Instance, state: Any) -> Shown:
    """A state of the model as :meth:`Queues.shown` shows it."""
    described: Any = instance.describe(state)
    messages = described.get("Letter", {})
    contents = [(kind, lamp) for lamp in range(program.lamps) for kind in KINDS if kind in program.kinds]
    named = dict(zip(messages, contents, strict=True))
    on = frozenset(number for number, lamp in enumerate(described["Lamp"].values()) if lamp["state"] == "on")
    before = {
        named[name]: frozenset(named[each] for each in message.get("behind", []))
        for name, message in messages.items()
        if message["state"] == "under_way"
    }
    return on, frozenset(before.items())


def header_of(program: Program) -> dict[str, Any]:
    """The header of a log of the program."""
    rigid = rigid_of(program)
    lamps, letters = [f"l{n}" for n in range(program.lamps)], [f"e{n}" for n in range(len(rigid["Letter", "kind"]))]
    values: dict[str, Any] = {
        attribute: {
            letter: lamps[value] if attribute == "lamp" else value
            for letter, value in zip(letters, column, strict=True)
        }
        for (_, attribute), column in rigid.items()
    }
    return {
        "schedproof": 1,
        "system": "lamps",
        "objects": {"Lamp": lamps, "Letter": letters},
        "rigid": {"Letter": values},
    }


def record_of(program: Program, action: str, of: int | Message | None) -> dict[str, Any]:
    """The record of a step in a log."""
    if of is None:
        return {"action": action}
    if isinstance(of, int):
        return {"action": action, "parameters": {"l": f"l{of}"}}
    kinds = [kind for kind in KINDS if kind in program.kinds]
    return {"action": action, "parameters": {"e": f"e{len(kinds) * of[1] + kinds.index(of[0])}"}}

"""Programs at random that send messages: as a model with a channel, and naively, with lists of messages in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from schedproof.model.lang import (
    Action,
    Attribute,
    Event,
    IntRange,
    Machine,
    Model,
    Row,
    Sort,
    State,
    StepInvariant,
    Var,
    given,
    variable,
    variables,
)
from schedproof.model.lang.messages import LANES, Channel, Kind
from schedproof.model.semantics import Instance
from schedproof.model.semantics import State as PackedState

Node = Sort("Node", "n")
x, y, z = variables(Node, "x y z")
STATES = ("A", "B")
KINDS = {"ping": False, "note": True}
"""The kinds of messages, and whether they carry a number."""

MOST = 2
"""The highest number that a node has or a message carries."""


@dataclass(frozen=True)
class Sent:
    """A message that an action sends.

    Attributes:
        kind: the kind.
        to: the variable of the receiver; ``back`` is the sender of the received message.
        number: what it carries: a number, or ``own`` or ``received``.
    """

    kind: str
    to: str
    number: int | str


@dataclass(frozen=True)
class Act:
    """What a node ``x`` may do: from a state to a state, perhaps receiving, perhaps sending.

    Attributes:
        receives: the kind that it receives; empty for none, ``any`` for any.
        takes: whether its number becomes that of the received message; else it counts on.
    """

    name: str
    source: str
    target: str
    receives: str
    takes: bool
    sends: tuple[Sent, ...]


@dataclass(frozen=True)
class Program:
    """Nodes that send each other messages through one channel."""

    acts: tuple[Act, ...]
    ordered: bool
    lossy: bool
    duplicating: bool
    capacity: int | None
    per: str
    crashes: bool
    nodes: int
    pool: int

    @property
    def at_once(self) -> int:
        """The most messages that an action sends."""
        return max([len(act.sends) for act in self.acts] + [1])


def random_program(seed: int) -> Program:
    """The same for the same seed."""
    chance = Random(f"messages {seed}")
    acts = []
    for n in range(chance.choice([2, 3, 3])):
        receives = "" if n == 0 else chance.choice(["ping", "note", "note", "any"])
        numbers: list[int | str] = [0, 1, "own", *(["received", "received"] if receives == "note" else [])]
        many = chance.choice([1, 1, 2]) if n == 0 else chance.choice([0, 0, 1, 1, 2])
        targets = chance.choice([["y", "y"], ["y", "z"]] + ([["back", "back"]] if receives else []))
        sends = tuple(Sent(chance.choice(["ping", "note"]), targets[k], chance.choice(numbers)) for k in range(many))
        acts.append(Act(f"act{n}", chance.choice(STATES), chance.choice(STATES), receives, receives == "note", sends))
    per, ordered = chance.choice([*LANES]), chance.random() < 0.6
    at_once = max([len(act.sends) for act in acts] + [1])
    return Program(
        acts=tuple(replace(act, source="A") if n == 0 else act for n, act in enumerate(acts)),
        ordered=ordered,
        lossy=chance.random() < 0.4,
        duplicating=chance.random() < 0.3,
        capacity=chance.choice([None, None, 1, 2]),
        per=per,
        crashes=chance.random() < 0.3 and (not ordered or "receiver" in LANES[per]),
        nodes=2,
        pool=at_once + chance.choice([1, 2, 2, 3]),
    )


# --- as a model ------------------------------------------------------------------------------------------------------


def channel_of(program: Program) -> Channel:
    """The channel of a program."""
    return Channel(
        "wire",
        from_=Node,
        to=Node,
        kinds=[Kind("ping"), Kind("note", number=IntRange(0, MOST))],
        ordered=program.ordered,
        lossy=program.lossy,
        dropped=program.crashes,
        duplicating=program.duplicating,
        capacity=program.capacity,
        per=program.per,
    )


def model_of(program: Program) -> Model:
    """The program as a model."""
    wire = channel_of(program)
    message = variable(wire.sort, "m")
    crash = Action("crash", [x], [], [x.fires("crash")], "{x} crashes")
    rows = [Row(Node, "crash", state, "A", number=0) for state in STATES]
    rows += [Row(Node, act.name, act.source, act.target, number=given("number")) for act in program.acts]
    return Model(
        system="messaging",
        variant="as-written",
        about="nodes that send each other messages",
        machines=[
            Machine(
                Node,
                [State(state, unreachable=not _is_reached(program, state)) for state in STATES],
                [Attribute("number", IntRange(0, MOST))],
                [Event(act.name, {"number": IntRange(0, MOST)}) for act in program.acts],
            ),
            *wire.machines,
        ],
        rows=[*(rows if program.crashes else rows[len(STATES) :]), *wire.rows],
        actions=[
            *(_action(act, wire, message) for act in program.acts),
            *wire.actions,
            *([crash] if program.crashes else []),
        ],
        rules=[*wire.rules, *([wire.dropping("a crash loses what comes", crash, to=x)] if program.crashes else [])],
        properties=[
            StepInvariant(name="never-two", says="", over=[x], given=x.number == 1, then=~x.fires("act1")),
            *wire.properties,
        ],
        default_scope={"Node": program.nodes, "Wire": program.pool},
    )


def _is_reached(program: Program, state: str) -> bool:
    reached = {"A"}
    for _ in STATES:
        reached |= {act.target for act in program.acts if act.source in reached}
    return state in reached


def _action(act: Act, wire: Channel, message: Var) -> Action:
    ends: dict[str, Any] = {"y": y, "z": z, "back": message.sender}
    values: dict[str, Any] = {"own": x.number, "received": message.number}
    number: Any = message.number if act.takes else x.number
    named = list(dict.fromkeys(each.to for each in act.sends))
    return Action(
        act.name,
        [x, *(ends[name] for name in named if name != "back")],
        [x.is_(act.source), *([~(y == z)] if named == ["y", "z"] else [])],
        [
            x.fires(act.name, number=number),
            *([wire.receive(message, act.receives.replace("any", ""), by=x)] if act.receives else []),
            *(
                wire.send(
                    s.kind, x, ends[s.to], **({"number": values.get(str(s.number), s.number)} if KINDS[s.kind] else {})
                )
                for s in act.sends
            ),
        ],
        "",
    )


def canonical(program: Program, instance: Instance, state: PackedState) -> Any:
    """A state of the model as one of the double: the lanes in their order, without names of messages."""
    described = instance.describe(state)
    nodes = tuple((each["state"], each["number"]) for each in described["Node"].values())
    messages = [each for each in described["Wire"].values() if each["state"] != "Absent"]
    if program.ordered:
        messages.sort(key=lambda each: len(each["behind"]))  # type: ignore[arg-type]
    sent = [(each["kind"], each["sender"], each["receiver"], each["number"]) for each in messages]
    return nodes, in_lanes(program, sent)


Message = tuple[Any, Any, Any, Any]


def in_lanes(program: Program, sent: list[Message]) -> Any:
    """Messages by lane; a lane without order is sorted."""
    lanes: dict[Any, list[Message]] = {}
    for each in sent:
        lanes.setdefault(lane_of(program, each), []).append(each)
    return tuple(sorted((lane, tuple(each if program.ordered else sorted(each))) for lane, each in lanes.items()))


def lane_of(program: Program, message: Message) -> Any:
    """What names the lane of a message."""
    ends = {"sender": message[1], "receiver": message[2]}
    return tuple(ends[key] for key in LANES[program.per])


# --- naively ---------------------------------------------------------------------------------------------------------


class Double:
    """A program with a Python list of the messages that are on their way, in the order of sending."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = [f"n{i}" for i in range(program.nodes)]

    def states(self) -> tuple[set[Any], set[Any], set[Any]]:
        """The reachable states, the steps, and the states before a step that is cut."""
        start = (tuple(("A", 0) for _ in self.names), ())
        seen, waiting, steps, cut = {start}, [start], set(), set()
        while waiting:
            state = waiting.pop()
            for name, nodes, sent in self.steps(state):
                if len(sent) > self.program.pool - self.program.at_once:
                    cut.add(state)
                    continue
                after = (nodes, in_lanes(self.program, sent))
                steps.add((state, name, after))
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        return seen, steps, cut

    def steps(self, state: Any) -> Iterator[tuple[str, Any, list[Message]]]:
        """Each step from a state: its name, the nodes and the messages afterwards."""
        program, nodes = self.program, state[0]
        sent = [each for _, lane in state[1] for each in lane]
        for act in program.acts:
            for i, (at, number) in enumerate(nodes):
                if at == act.source:
                    for received, rest in self.received(act, i, sent):
                        yield from self.acting(act, i, number, received, rest, sent, nodes)
        for k, each in enumerate(sent):
            if program.lossy:
                yield "lose_wire", nodes, sent[:k] + sent[k + 1 :]
            if program.duplicating and self.fits(each, sent, 0):
                yield "duplicate_wire", nodes, [*sent, each]
        if program.crashes:
            for i, name in enumerate(self.names):
                yield "crash", (*nodes[:i], ("A", 0), *nodes[i + 1 :]), [each for each in sent if each[2] != name]

    def received(self, act: Act, i: int, sent: list[Message]) -> Iterator[tuple[Message | None, list[Message]]]:
        """Each message that a node can receive now, and the others."""
        if not act.receives:
            yield None, sent
            return
        for k, each in enumerate(sent):
            first = all(lane_of(self.program, e) != lane_of(self.program, each) for e in sent[:k])
            if each[2] == self.names[i] and act.receives in ("any", each[0]) and (first or not self.program.ordered):
                yield each, sent[:k] + sent[k + 1 :]

    def acting(
        self,
        act: Act,
        i: int,
        number: int,
        received: Message | None,
        rest: list[Message],
        sent: list[Message],
        nodes: Any,
    ) -> Iterator[tuple[str, Any, list[Message]]]:
        """The steps of one node with one received message, for all receivers of what it sends."""
        named = list(dict.fromkeys(each.to for each in act.sends if each.to != "back"))
        for chosen in self.choices(named):
            ends = {**chosen, "back": received[1] if received else ""}
            values = {"own": number, "received": received[3] if received else 0}
            new = [
                (s.kind, self.names[i], ends[s.to], values.get(str(s.number), s.number) if KINDS[s.kind] else 0)
                for s in act.sends
            ]
            # Room is asked before the step: what the same action receives is still there.
            if all(self.fits(each, sent + new[:k], 0) for k, each in enumerate(new)):
                value = received[3] if received and act.takes else number
                yield act.name, (*nodes[:i], (act.target, value), *nodes[i + 1 :]), rest + new

    def choices(self, named: list[str]) -> Iterator[dict[str, str]]:
        """The receivers that an action may choose; two of them differ."""
        if not named:
            yield {}
        elif len(named) == 1:
            yield from ({named[0]: name} for name in self.names)
        else:
            yield from ({named[0]: a, named[1]: b} for a in self.names for b in self.names if a != b)

    def fits(self, message: Message, sent: list[Message], more: int) -> bool:
        """Whether a lane has room for a message."""
        lane = [each for each in sent if lane_of(self.program, each) == lane_of(self.program, message)]
        return self.program.capacity is None or len(lane) + more < self.program.capacity

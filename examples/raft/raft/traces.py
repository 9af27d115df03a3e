"""Reads traces as etcd's raft library writes them for its TLA+ specification: a JSON object a line, with ``tag`` and ``event``.

The trace shows a node's state before it handles a message and when it answers. So a message is handled when the node answers,
or, if it does not, when the node does something else. What a message says identifies it: of equal ones, the oldest is received.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

import msgspec

from schedproof.model.lang import Model
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.files.typed import Part, Typed
from schedproof.proofs.traces.formats.format import Format, Plain, Requested, first_object

BOOTSTRAP = ("InitState", "BecomeFollower", "ApplyConfChange", "Ready")
UNDER_WAY, TERMS = 16, 8
"""How many messages and segments the header names. If there are more, each gets a name of its own when it is needed."""

NOT_SENT = "not sent"
"""The name of every message that is received and was not sent. It is never under way."""

Record = dict[str, Any]
Runs = tuple[tuple[int, int], ...]
"""A log: for each run of entries of one term, the first index and the term."""


class HardState(Part, frozen=True):
    term: int
    vote: str
    commit: int


class Message(Part, frozen=True, rename={"by": "from", "log_term": "logTerm", "reject_hint": "rejectHint"}):
    type: str
    term: int
    by: str
    to: str
    entries: int
    log_term: int
    index: int
    commit: int
    vote: str
    reject: bool
    reject_hint: int


class Event(Part, frozen=True):
    name: str
    nid: str
    state: HardState
    role: str
    log: int
    conf: list[Any]
    msg: Message | None = None

    @property
    def message(self) -> Message:
        if self.msg is None:
            raise ValueError(f"{self.name} has no msg")
        return self.msg


class Traced(Part, frozen=True):
    """What a line of a trace logger says."""

    event: Event | None = None
    tag: str = ""
    msg: str = ""
    level: str = ""


LINE = Typed(Traced)


def is_etcd(lines: Sequence[TextLine]) -> bool:
    """Whether the first line is one of a trace logger."""
    return first_object(lines).get("tag") == "trace"


def error_at(line: TextLine, problem: str) -> TraceError:
    """The error of a line."""
    return Line(line.file, line.number, {}).error(problem)


def run_at(runs: Runs, index: int) -> int:
    """The term of the entry ``index``; 0 if there is none."""
    for first, term in reversed(runs):
        if first <= index:
            return term
    return 0


def until(runs: Runs, index: int) -> Runs:
    """The log up to ``index``."""
    return runs if runs and runs[-1][0] <= index else tuple(run for run in runs if run[0] <= index)


@dataclass
class _Node:
    """What the reader remembers of a node, to name what the trace does not: segments, quorums, and what was saved."""

    runs: Runs = ()
    length: int = 0
    commit: int = 0
    saved: tuple[Runs, int] = ((), 0)
    unsaved: list[str] = field(default_factory=list)
    votes: set[str] = field(default_factory=set)
    match: dict[str, int] = field(default_factory=dict)
    received: tuple[str, Event, Runs] | None = None
    """The message that it has received and not yet handled, its state then, and the sender's log."""
    seen: tuple[object, Record] = None, {}
    """What the last event showed, and as a record has it."""


class _Reader:
    """Translates the lines of one trace."""

    def __init__(self, lines: Iterator[TextLine]) -> None:
        self._lines, self._file = lines, ""
        self._nodes: dict[str, _Node] = {}
        self._conf: list[list[str]] = []
        self._free = [f"m{number}" for number in range(UNDER_WAY)]
        self._named = UNDER_WAY
        self._under_way: dict[Message, list[tuple[str, Runs]]] = {}
        self._segments: dict[int, str] = {}
        self._first: list[tuple[TextLine, Event]] = []
        self.header = self._start()

    def _events(self) -> Iterator[tuple[TextLine, Event]]:
        for line in self._lines:
            self._file = line.file
            read = LINE.of(line.text)
            event = self._event(line) if read is None else read.event if read.tag == "trace" else None
            if event is not None:
                yield line, event

    def _event(self, text: TextLine) -> Event | None:
        """The event of a line that has more fields or another form."""
        line = text.object()
        event = line.value.get("event") if line.value.get("tag") == "trace" else None
        try:
            return None if event is None else msgspec.convert(event, Event)
        except msgspec.ValidationError as error:
            raise line.error(f"this is no event of a trace: {error}") from None

    def _start(self) -> Line:
        last: dict[str, Event] = {}
        for line, event in self._events():
            if event.name not in BOOTSTRAP:
                self._first = [(line, event)]
                if event.nid not in last:
                    raise error_at(line, f"node {event.nid} has no InitState")
                break
            if event.nid not in last and event.name != "InitState":
                raise error_at(line, f"{event.name} of node {event.nid} comes before its InitState")
            last[event.nid] = event
        self._conf = max((event.conf for event in last.values()), key=lambda conf: len(conf[0]), default=[[], []])
        names = sorted({*last, *self._conf[0]})
        length = max((event.log for event in last.values()), default=0)
        state = {}
        for name in names:
            node = self._nodes[name] = _Node()
            if name in last:
                node.length, node.commit = last[name].log, last[name].state.commit
                node.runs = ((1, 1),) if node.length else ()
                node.saved = node.runs, node.length
                fields = {**self._observed(last[name])["Node"][name], "segment": "s1" if node.length else None}
                state[name] = fields | {f"saved_{key}": value for key, value in fields.items() if key != "state"}
        if length:
            self._segments[1] = "s1"
        quorums = {f"q{'-'.join(q)}": list(q) for q in combinations(names, len(names) // 2 + 1)}
        pairs = [(a, b) for a in names for b in names]
        value = {
            "schedproof": 1,
            "system": "raft",
            "objects": {
                "Node": names,
                "Quorum": list(quorums),
                "Progress": [f"{a}-{b}" for a, b in pairs],
                "Segment": [f"s{number}" for number in range(1, TERMS + 1)],
                "Wire": [*self._free, NOT_SENT],
            },
            "rigid": {
                "Quorum": {"members": quorums},
                "Progress": {
                    "leader": {f"{a}-{b}": a for a, b in pairs},
                    "follower": {f"{a}-{b}": b for a, b in pairs},
                },
            },
            "start": {
                "Node": state,
                "Segment": {"s1": {"state": "Written", "term": 1, "first": 1, "end": length}} if length else {},
            },
        }
        return Line(self._file, 1, value)

    def records(self) -> Iterator[Line]:
        """The records of the trace."""
        for line, event in chain(self._first, self._events()):
            if event.conf != self._conf or event.name == "ChangeConf":
                raise error_at(line, "the members change, which this model does not have")
            records: list[Record] = []
            problem: Exception | None = None
            try:
                self._translate(event, records)
                self._nodes[event.nid].commit = event.state.commit
            except (KeyError, ValueError) as error:
                problem = error
            for record in records:
                yield Line(line.file, line.number, record)
            if problem is not None:
                raise error_at(line, f"this is no event of a trace: {problem!r}") from None

    def _observed(self, event: Event) -> Record:
        """What an event shows of its node. Usually that is what the event before has shown."""
        node, shown = self._nodes[event.nid], (event.state, event.role, event.log)
        if node.seen[0] != shown:
            state = event.state
            fields = {
                "state": event.role.removeprefix("State"),
                "term": state.term,
                "vote": state.vote if state.vote != "0" else None,
                "commit": state.commit,
                "length": event.log,
            }
            node.seen = shown, {"Node": {event.nid: fields}}
        return node.seen[1]

    # --- messages

    def _send(self, node: _Node, event: Event, parameters: Record, action: str, runs: Runs = ()) -> Record:
        record: Record = {"action": action, "parameters": parameters, "state": self._observed(event)}
        if self._free:
            name = self._free.pop()
        else:
            name = f"m{self._named}"
            self._named += 1
            record["objects"] = {"Wire": [name]}
        parameters["wire"] = name
        node.unsaved.append(name)
        self._under_way.setdefault(event.message, []).append((name, runs))
        return record

    def _received(self, message: Message) -> tuple[str, Runs]:
        equal = self._under_way.pop(message, None)
        if equal is None:
            return NOT_SENT, ()
        if len(equal) > 1:
            self._under_way[message] = equal[1:]
        return equal[0]

    def _handled(self, name: str) -> None:
        if name != NOT_SENT:
            self._free.append(name)

    # --- events

    def _translate(self, event: Event, records: list[Record]) -> None:
        """Adds the records of an event: all those before a problem, if there is one."""
        name, at = event.name, event.nid
        node = self._nodes[at]
        if name == "BecomeFollower":
            records.append(self._seen(event, self._follow(node), **self._of(node, at)))
            return
        if name in ("SendAppendEntriesResponse", "SendRequestVoteResponse") and event.message.to != at:
            records.append(self._answer(node, event))
            return
        if node.received is not None:  # it handles the message without an answer
            records.append({"action": "ignore", "parameters": self._of(node, at)})
            self._handled(node.received[0])
            node.received = None
        if name.startswith("Receive"):
            records.append({"state": self._observed(event)})
            self._receive(node, event, records)
        elif name == "Ready":
            node.saved, node.unsaved = (node.runs, node.length), []
            records.append(self._seen(event, "save", n=at))
        elif name == "SendAppendEntriesRequest":
            records.append(self._append(node, event))
        elif name == "Replicate":
            records.append(self._replicate(node, event))
        elif name == "SendAppendEntriesResponse":
            records.append(self._send(node, event, {"n": at}, "acknowledge", node.runs))
        elif name == "Commit":
            records.append(self._commit(node, event))
        elif name == "BecomeCandidate":
            node.votes = set()
            records.append(self._seen(event, "campaign", n=at))
        elif name == "SendRequestVoteRequest":
            records.append(self._send(node, event, {"n": at, "o": event.message.to}, "ask"))
        elif name == "SendRequestVoteResponse":
            records.append(self._send(node, event, {"n": at}, "vote_for_itself"))
        elif name == "BecomeLeader":
            node.match = {at: node.length}
            records.append(self._seen(event, "win", n=at, q=self._quorum(node.votes)))
        elif name == "InitState":
            losses = sorted({name for name in node.unsaved if name not in self._free})
            records += [{"action": "lose_wire", "parameters": {"wire": lost}} for lost in losses]
            kept = {m: [each for each in equal if each[0] not in losses] for m, equal in self._under_way.items()}
            self._under_way = {message: equal for message, equal in kept.items() if equal}
            self._free += losses
            node.unsaved, (node.runs, node.length) = [], node.saved
            records.append(self._seen(event, "restart", n=at))
        elif name == "ApplyConfChange":
            records.append({"state": self._observed(event)})
        else:
            raise ValueError(f"the event {name} is unknown")

    def _seen(self, event: Event, action: str, **parameters: str) -> Record:
        return {"action": action, "parameters": parameters, "state": self._observed(event)}

    def _of(self, node: _Node, at: str) -> Record:
        return {"n": at} if node.received is None else {"n": at, "m": node.received[0]}

    def _follow(self, node: _Node) -> str:
        if node.received is None:
            return "step_down"
        before = node.received[1]
        return "adopt" if before.message.term > before.state.term else "yield"

    def _receive(self, node: _Node, event: Event, records: list[Record]) -> None:
        message, role, term = event.message, event.role, event.state.term
        received, runs = self._received(message)
        kind, by = message.type, message.by
        if message.term > term or kind in ("MsgVote", "MsgApp", "MsgHeartbeat"):
            node.received = received, event, runs
            return
        parameters = {"n": event.nid, "m": received}
        counts = not message.reject and message.term == term
        if kind == "MsgVoteResp" and counts and role == "StateCandidate":
            node.votes.add(by)
            records.append({"action": "tally", "parameters": parameters})
        elif kind == "MsgAppResp" and counts and role == "StateLeader" and message.index > node.match.get(by, 0):
            node.match[by] = message.index
            parameters["p"] = f"{event.nid}-{by}"
            records.append({"action": "count", "parameters": parameters})
        else:
            records.append({"action": "ignore", "parameters": parameters})
        self._handled(received)

    def _answer(self, node: _Node, event: Event) -> Record:
        if node.received is None:
            node.received = NOT_SENT, event, ()
        (received, before, runs), node.received = node.received, None
        kind, rejects, request = event.message.type, event.message.reject, before.message
        if kind == "MsgVoteResp":
            action = "deny" if rejects else "grant"
        elif kind == "MsgHeartbeatResp":
            action = "heed"
        elif rejects:
            action = "reject"
        elif request.index < before.state.commit:
            action = "skip"
        else:
            end = request.index + request.entries
            had_all = end <= before.log and run_at(node.runs, end) == run_at(runs, end)
            action = "keep" if had_all else "take"
            if not had_all:
                node.runs, node.length = until(runs, end), end
        record = self._send(node, event, {"n": event.nid, "m": received}, action)
        if kind == "MsgVoteResp":
            fields = {**record["state"]["Node"][event.nid]}
            del fields["vote"]  # it is written after the answer
            record["state"] = {"Node": {event.nid: fields}}
        self._handled(received)
        return record

    def _append(self, node: _Node, event: Event) -> Record:
        message, at = event.message, event.nid
        to, index, entries = message.to, message.index, message.entries
        if message.type == "MsgHeartbeat":
            return self._send(node, event, {"n": at, "o": to, "p": f"{at}-{to}"}, "beat")
        sent: Record = {"n": at, "o": to, "t": self._segment(node.runs, index + entries)}
        sent |= {"back": event.log - index, "count": entries}
        if index == 0:
            return self._send(node, event, sent, "send_first", node.runs)
        sent["s"] = self._segment(node.runs, index)
        return self._send(node, event, sent, "send", node.runs)

    def _replicate(self, node: _Node, event: Event) -> Record:
        at, term, length = event.nid, event.state.term, event.log + 1
        node.length = length
        seen = {"Node": {at: {"length": length, "term": term}}}
        if node.runs and node.runs[-1][1] == term:
            return {"action": "append", "parameters": {"n": at}, "state": seen}
        action = "open" if node.runs else "open_first"
        node.runs += ((length, term),)
        segment = self._segments[term] = f"s{len(self._segments) + 1}"
        new = {"objects": {"Segment": [segment]}} if len(self._segments) > TERMS else {}
        return {"action": action, "parameters": {"n": at, "s": segment}, "state": seen, **new}

    def _segment(self, runs: Runs, index: int) -> str:
        return self._segments.get(run_at(runs, index), "s1")

    def _commit(self, node: _Node, event: Event) -> Record:
        commit, at = event.state.commit, event.nid
        if commit <= node.commit:
            return {"state": self._observed(event)}
        with_all = [name for name, match in node.match.items() if match >= commit]
        exact = [name for name in with_all if node.match[name] == commit]
        return self._seen(event, "commit", n=at, p=f"{at}-{(exact or [at])[0]}", q=self._quorum(set(with_all)))

    def _quorum(self, of: set[str]) -> str:
        size = len(self._nodes) // 2 + 1
        return f"q{'-'.join([*sorted(of), *sorted(self._nodes.keys() - of)][:size] if len(of) < size else sorted(of)[:size])}"


def read_etcd(model: Model, lines: Iterator[TextLine], requested: Requested) -> Plain:
    """The records of a trace of etcd's raft library.

    Raises:
        TraceError: a line is no JSON object, or no event of such a trace.
    """
    reader = _Reader(lines)
    return Plain(reader.header, reader.records())


ETCD = Format("etcd-raft", 'one of etcd\'s raft library with "tag": "trace"', is_etcd, read_etcd, streamed=True)
"""The format that etcd-io/raft writes when it is built with the tag ``with_tla``."""

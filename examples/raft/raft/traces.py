"""Reads traces as etcd's raft library writes them for its TLA+ specification: a JSON object a line, with ``tag`` and ``event``.

The trace shows a node's state before it handles a message and when it answers. So a message is handled when the node answers,
or, if it does not, when the node does something else. What a message says identifies it: of equal ones, the oldest is received.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from schedproof.model.lang import Model
from schedproof.proofs.traces.files.lines import Line, TextLine
from schedproof.proofs.traces.formats.format import Format, Plain, Requested, first_object

BOOTSTRAP = ("InitState", "BecomeFollower", "ApplyConfChange", "Ready")
UNDER_WAY, TERMS = 16, 8
"""How many messages and segments the header names. If there are more, each gets a name of its own when it is needed."""

NOT_SENT = "not sent"
"""The name of every message that is received and was not sent. It is never under way."""

Event = Mapping[str, Any]
Record = dict[str, Any]
Runs = tuple[tuple[int, int], ...]
"""A log: for each run of entries of one term, the first index and the term."""


def is_etcd(lines: Sequence[TextLine]) -> bool:
    """Whether the first line is one of a trace logger."""
    return first_object(lines).get("tag") == "trace"


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


class _Reader:
    """Translates the lines of one trace."""

    def __init__(self, lines: Iterator[TextLine]) -> None:
        self._lines = lines
        self._nodes: dict[str, _Node] = {}
        self._conf: list[list[str]] = []
        self._free = [f"m{number}" for number in range(UNDER_WAY)]
        self._named = UNDER_WAY
        self._under_way: dict[Any, deque[tuple[str, Runs]]] = defaultdict(deque)
        self._segments: dict[int, str] = {}
        self._first: Line | None = None
        self.header = self._start()

    def _start(self) -> Line:
        last: dict[str, Event] = {}
        line = None
        for text in self._lines:
            line, event = self._event(text)
            if event is not None:
                if event["name"] not in BOOTSTRAP:
                    self._first = line
                    break
                if event["nid"] not in last and event["name"] != "InitState":
                    raise line.error(f"{event['name']} of node {event['nid']} comes before its InitState")
                last[event["nid"]] = event
        assert line is not None
        if self._first is not None and self._first.value["event"]["nid"] not in last:
            raise line.error(f"node {self._first.value['event']['nid']} has no InitState")
        self._conf = max((event["conf"] for event in last.values()), key=lambda conf: len(conf[0]), default=[[], []])
        names = sorted({*last, *self._conf[0]})
        length = max((event["log"] for event in last.values()), default=0)
        state = {}
        for name in names:
            node = self._nodes[name] = _Node()
            if name in last:
                node.length, node.commit = last[name]["log"], last[name]["state"]["commit"]
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
        return Line(line.file, 1, value)

    def _event(self, text: TextLine) -> tuple[Line, Event | None]:
        line = text.object()
        event = line.value.get("event") if line.value.get("tag") == "trace" else None
        if event is not None and not isinstance(event, dict):
            raise line.error("event is not an object")
        return line, event

    def records(self) -> Iterator[Line]:
        """The records of the trace."""
        if self._first is not None:
            yield from self._translated(self._first, self._first.value["event"])
        for text in self._lines:
            line, event = self._event(text)
            if event is not None:
                yield from self._translated(line, event)

    def _translated(self, line: Line, event: Event) -> Iterator[Line]:
        if event.get("conf") != self._conf or event.get("name") == "ChangeConf":
            raise line.error("the members change, which this model does not have")
        try:
            for record in self._steps(event):
                yield Line(line.file, line.number, record)
            self._nodes[event["nid"]].commit = event["state"]["commit"]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise line.error(f"this is no event of a trace: {error!r}") from None

    def _observed(self, event: Event) -> dict[str, dict[str, dict[str, Any]]]:
        of = event["state"]
        seen = {
            "state": event["role"].removeprefix("State"),
            "term": of["term"],
            "vote": of["vote"] if of["vote"] != "0" else None,
            "commit": of["commit"],
            "length": event["log"],
        }
        return {"Node": {event["nid"]: seen}}

    # --- messages

    def _key(self, message: Event) -> tuple[Any, ...]:
        return tuple(message.values())

    def _send(self, node: _Node, event: Event, parameters: Record, action: str, runs: Runs = ()) -> Record:
        record: Record = {"action": action, "parameters": parameters}
        if self._free:
            name = self._free.pop()
        else:
            name = f"m{self._named}"
            self._named += 1
            record["objects"] = {"Wire": [name]}
        parameters["wire"] = name
        node.unsaved.append(name)
        self._under_way[self._key(event["msg"])].append((name, runs))
        return record

    def _received(self, message: Event) -> tuple[str, Runs]:
        equal = self._under_way[self._key(message)]
        received = equal.popleft() if equal else (NOT_SENT, ())
        if not equal:
            del self._under_way[self._key(message)]
        return received

    def _handled(self, name: str) -> None:
        if name != NOT_SENT:
            self._free.append(name)

    # --- events

    def _steps(self, event: Event) -> Iterator[Record]:
        name, at = event["name"], event["nid"]
        node = self._nodes[at]
        if name == "BecomeFollower":
            yield {
                "action": self._follow(node, event),
                "parameters": self._of(node, at),
                "state": self._observed(event),
            }
            return
        answers = name in ("SendAppendEntriesResponse", "SendRequestVoteResponse") and event["msg"]["to"] != at
        if answers:
            yield self._answer(node, event)
            return
        if node.received is not None:  # it handles the message without an answer
            yield {"action": "ignore", "parameters": self._of(node, at)}
            self._handled(node.received[0])
            node.received = None
        if name.startswith("Receive"):
            yield {"state": self._observed(event)}
            yield from self._receive(node, event)
        elif name == "Ready":
            node.saved, node.unsaved = (node.runs, node.length), []
            yield {"action": "save", "parameters": {"n": at}, "state": self._observed(event)}
        elif name == "SendAppendEntriesRequest":
            yield self._append(node, event) | {"state": self._observed(event)}
        elif name == "Replicate":
            yield self._replicate(node, event)
        elif name == "SendAppendEntriesResponse":
            yield self._send(node, event, {"n": at}, "acknowledge", node.runs) | {"state": self._observed(event)}
        elif name == "Commit":
            yield self._commit(node, event) | {"state": self._observed(event)}
        elif name == "BecomeCandidate":
            node.votes = set()
            yield {"action": "campaign", "parameters": {"n": at}, "state": self._observed(event)}
        elif name == "SendRequestVoteRequest":
            yield self._send(node, event, {"n": at, "o": event["msg"]["to"]}, "ask") | {"state": self._observed(event)}
        elif name == "SendRequestVoteResponse":
            yield self._send(node, event, {"n": at}, "vote_for_itself") | {"state": self._observed(event)}
        elif name == "BecomeLeader":
            node.match = {at: node.length}
            quorum = self._quorum(node.votes)
            yield {"action": "win", "parameters": {"n": at, "q": quorum}, "state": self._observed(event)}
        elif name == "InitState":
            losses = {name for name in node.unsaved if name not in self._free}
            for lost in sorted(losses):
                yield {"action": "lose_wire", "parameters": {"wire": lost}}
            for equal in list(self._under_way.values()):
                for each in [each for each in equal if each[0] in losses]:
                    equal.remove(each)
            self._free += sorted(losses)
            node.unsaved, (node.runs, node.length) = [], node.saved
            yield {"action": "restart", "parameters": {"n": at}, "state": self._observed(event)}
        elif name == "ApplyConfChange":
            yield {"state": self._observed(event)}
        else:
            raise ValueError(f"the event {name} is unknown")

    def _of(self, node: _Node, at: str) -> Record:
        return {"n": at} if node.received is None else {"n": at, "m": node.received[0]}

    def _follow(self, node: _Node, event: Event) -> str:
        if node.received is None:
            return "step_down"
        before = node.received[1]
        return "adopt" if before["msg"]["term"] > before["state"]["term"] else "yield"

    def _receive(self, node: _Node, event: Event) -> Iterator[Record]:
        message, role, term = event["msg"], event["role"], event["state"]["term"]
        received, runs = self._received(message)
        parameters: Record = {"n": event["nid"], "m": received}
        kind, by = message["type"], message["from"]
        if message["term"] > term or kind in ("MsgVote", "MsgApp", "MsgHeartbeat"):
            node.received = received, event, runs
            return
        if kind == "MsgVoteResp" and not message["reject"] and message["term"] == term and role == "StateCandidate":
            node.votes.add(by)
            yield {"action": "tally", "parameters": parameters}
        elif kind == "MsgAppResp" and not message["reject"] and message["term"] == term and role == "StateLeader":
            if message["index"] > node.match.get(by, 0):
                node.match[by] = message["index"]
                yield {"action": "count", "parameters": parameters | {"p": f"{event['nid']}-{by}"}}
            else:
                yield {"action": "ignore", "parameters": parameters}
        else:
            yield {"action": "ignore", "parameters": parameters}
        self._handled(received)

    def _answer(self, node: _Node, event: Event) -> Record:
        if node.received is None:
            node.received = NOT_SENT, event, ()
        (received, before, runs), node.received = node.received, None
        kind, rejects, request = event["msg"]["type"], event["msg"]["reject"], before["msg"]
        seen = self._observed(event)
        if kind == "MsgVoteResp":
            del seen["Node"][event["nid"]]["vote"]  # it is written after the answer
            action = "deny" if rejects else "grant"
        elif kind == "MsgHeartbeatResp":
            action = "heed"
        elif rejects:
            action = "reject"
        elif request["index"] < before["state"]["commit"]:
            action = "skip"
        else:
            end = request["index"] + request["entries"]
            had_all = end <= before["log"] and run_at(node.runs, end) == run_at(runs, end)
            action = "keep" if had_all else "take"
            if not had_all:
                node.runs, node.length = until(runs, end), end
        record = self._send(node, event, {"n": event["nid"], "m": received}, action) | {"state": seen}
        self._handled(received)
        return record

    def _append(self, node: _Node, event: Event) -> Record:
        message, at = event["msg"], event["nid"]
        to = message["to"]
        if message["type"] == "MsgHeartbeat":
            return self._send(node, event, {"n": at, "o": to, "p": f"{at}-{to}"}, "beat")
        index, entries = message["index"], message["entries"]
        sent = {"n": at, "o": to, "t": self._segment(node.runs, index + entries)}
        sent |= {"back": event["log"] - index, "count": entries}
        if index == 0:
            return self._send(node, event, sent, "send_first", node.runs)
        return self._send(node, event, sent | {"s": self._segment(node.runs, index)}, "send", node.runs)

    def _replicate(self, node: _Node, event: Event) -> Record:
        at, term, length = event["nid"], event["state"]["term"], event["log"] + 1
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
        commit, at = event["state"]["commit"], event["nid"]
        if commit <= node.commit:
            return {}
        with_all = {name for name, match in node.match.items() if match >= commit}
        exact = [name for name in with_all if node.match[name] == commit]
        return {
            "action": "commit",
            "parameters": {"n": at, "p": f"{at}-{(exact or [at])[0]}", "q": self._quorum(with_all)},
        }

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

"""A cluster of Raft nodes in one process that writes the trace of etcd's raft library: ``python cluster.py --events 1000``.

The network reorders and loses messages, and nodes crash. ``--fault`` makes the nodes break one rule of Raft.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import dataclass, field
from typing import Any

FAULTS = ("sends-before-saving", "keeps-conflicting-entries", "commits-old-terms", "votes-twice")
Message = dict[str, Any]


@dataclass
class Node:
    """One node: ``log`` has the terms of its entries; the first ones are there from the start."""

    cluster: Cluster
    name: str
    role: str = "StateFollower"
    term: int = 1
    vote: str = "0"
    log: list[int] = field(default_factory=lambda: [1, 1, 1])
    commit: int = 3
    votes: set[str] = field(default_factory=set)
    match: dict[str, int] = field(default_factory=dict)
    next: dict[str, int] = field(default_factory=dict)
    saved: tuple[int, str, list[int], int] = (1, "0", [1, 1, 1], 3)
    unsent: list[Message] = field(default_factory=list)

    def trace(self, event: str, message: Message | None = None, **shown: Any) -> None:
        state = {"term": self.term, "vote": self.vote, "commit": self.commit}
        line = {"name": event, "nid": self.name, "state": state | shown, "role": self.role, "log": len(self.log)}
        self.cluster.write(line | {"conf": [self.cluster.names, []]} | ({"msg": message} if message else {}))

    def term_at(self, index: int) -> int:
        return self.log[index - 1] if 0 < index <= len(self.log) else 0

    def send(self, event: str, kind: str, to: str, **shown: Any) -> None:
        empty = {"entries": 0, "logTerm": 0, "index": 0, "commit": 0, "vote": "0", "reject": False, "rejectHint": 0}
        values = {key: value for key, value in shown.items() if key in empty}
        message = {"type": kind, "term": self.term, "from": self.name, "to": to, **empty, **values}
        self.trace(event, message)
        message["sent"] = shown.get("sent", [])
        if self.cluster.fault == "sends-before-saving" and kind.endswith("Resp"):
            self.cluster.network.append(message)
        else:
            self.unsent.append(message)

    # --- what a node does by itself

    def ready(self) -> None:
        self.saved = self.term, self.vote, self.log[:], self.commit
        self.trace("Ready")
        self.cluster.network += self.unsent
        self.unsent = []

    def crash(self) -> None:
        self.role, self.votes, self.match, self.unsent = "StateFollower", set(), {}, []
        self.term, self.vote, self.log, self.commit = self.saved[0], self.saved[1], self.saved[2][:], self.saved[3]
        self.trace("InitState")

    def campaign(self) -> None:
        self.role, self.term, self.vote, self.votes = "StateCandidate", self.term + 1, self.name, set()
        self.trace("BecomeCandidate")
        last = {"index": len(self.log), "logTerm": self.log[-1]}
        for name in self.cluster.names:
            if name == self.name:
                self.send("SendRequestVoteResponse", "MsgVoteResp", name)
            else:
                self.send("SendRequestVoteRequest", "MsgVote", name, **last)

    def propose(self) -> None:
        self.trace("Replicate")
        self.log.append(self.term)
        self.send("SendAppendEntriesResponse", "MsgAppResp", self.name, index=len(self.log))
        for name in self.cluster.names:
            self.append(name)

    def append(self, to: str) -> None:
        if to != self.name:
            index = self.next.get(to, len(self.log))
            sent = self.log[index : index + 50]
            shown = {"index": index, "logTerm": self.term_at(index), "entries": len(sent), "commit": self.commit}
            self.send("SendAppendEntriesRequest", "MsgApp", to, **shown, sent=sent)

    def beat(self) -> None:
        for name in self.cluster.names:
            if name != self.name:
                commit = min(self.commit, self.match.get(name, 0))
                self.send("SendAppendEntriesRequest", "MsgHeartbeat", name, commit=commit)

    # --- what it does with a message

    def follow(self, term: int) -> None:
        if term > self.term:
            self.term, self.vote = term, "0"
        self.role, self.votes, self.match = "StateFollower", set(), {}
        self.trace("BecomeFollower")

    def receive(self, message: Message) -> None:
        kind = message["type"]
        request = kind in ("MsgVote", "MsgApp", "MsgHeartbeat")
        of = "RequestVote" if "Vote" in kind else "AppendEntries"
        event = f"Receive{of}{'Request' if request else 'Response'}"
        self.trace(event, {key: value for key, value in message.items() if key != "sent"})
        if message["term"] > self.term:
            self.follow(message["term"])
        if message["term"] < self.term:
            return
        if kind in ("MsgApp", "MsgHeartbeat") and self.role == "StateCandidate":
            self.follow(self.term)
        HANDLERS[kind](self, message)

    def on_vote(self, message: Message) -> None:
        revotes = self.cluster.fault == "votes-twice" and self.role == "StateFollower"
        newer = (message["logTerm"], message["index"]) >= (self.log[-1], len(self.log))
        granted = newer and (self.vote in ("0", message["from"]) or revotes)
        self.send("SendRequestVoteResponse", "MsgVoteResp", message["from"], reject=not granted)
        if granted:
            self.vote = message["from"]

    def on_vote_reply(self, message: Message) -> None:
        if self.role == "StateCandidate" and not message["reject"]:
            self.votes.add(message["from"])
            if 2 * len(self.votes) > len(self.cluster.names):
                self.role, self.match = "StateLeader", {self.name: len(self.log)}
                self.next = dict.fromkeys(self.cluster.names, len(self.log))
                self.trace("BecomeLeader")
                self.propose()

    def on_append(self, message: Message) -> None:
        index, sent = message["index"], message["sent"]
        if index < self.commit:
            self.send("SendAppendEntriesResponse", "MsgAppResp", message["from"], index=self.commit)
        elif self.term_at(index) != message["logTerm"]:
            self.send(
                "SendAppendEntriesResponse",
                "MsgAppResp",
                message["from"],
                index=index,
                reject=True,
                rejectHint=min(index, len(self.log)),
            )
        else:
            if self.log[index : index + len(sent)] != sent:
                rest = self.log[index + len(sent) :] if self.cluster.fault == "keeps-conflicting-entries" else []
                self.log = self.log[:index] + sent + rest
            self.commit = max(self.commit, min(message["commit"], index + len(sent)))
            self.send("SendAppendEntriesResponse", "MsgAppResp", message["from"], index=index + len(sent))

    def on_append_reply(self, message: Message) -> None:
        by = message["from"]
        if self.role != "StateLeader" or message["index"] <= self.match.get(by, 0):
            return
        if message["reject"]:  # none of them has less than the first entries
            self.next[by] = max(3, min(message["rejectHint"], self.next[by] - 1))
            self.append(by)
            return
        self.match[by] = self.next[by] = message["index"]
        agreed = sorted((self.match.get(name, 0) for name in self.cluster.names), reverse=True)
        index = agreed[len(agreed) // 2]
        if index > self.commit and (self.term_at(index) == self.term or self.cluster.fault == "commits-old-terms"):
            self.commit = index
        self.trace("Commit")

    def on_beat(self, message: Message) -> None:
        self.commit = max(self.commit, message["commit"])
        self.send("SendAppendEntriesResponse", "MsgHeartbeatResp", message["from"])

    def on_beat_reply(self, message: Message) -> None:
        if self.role == "StateLeader" and self.match.get(message["from"], 0) < len(self.log):
            self.append(message["from"])


HANDLERS = {
    "MsgVote": Node.on_vote,
    "MsgVoteResp": Node.on_vote_reply,
    "MsgApp": Node.on_append,
    "MsgAppResp": Node.on_append_reply,
    "MsgHeartbeat": Node.on_beat,
    "MsgHeartbeatResp": Node.on_beat_reply,
}


class Cluster:
    """The nodes and the network. ``random`` decides what happens next."""

    def __init__(self, names: list[str], seed: int, fault: str, calm: bool) -> None:
        self.names, self.fault, self.random, self.calm = names, fault, random.Random(seed), calm
        self.network: list[Message] = []
        self.lines: list[str] = []
        self.nodes = [Node(self, name) for name in names]
        for node in self.nodes:
            node.trace("InitState")
            node.trace("ApplyConfChange")

    def write(self, event: dict[str, Any]) -> None:
        self.lines.append(json.dumps({"level": "debug", "msg": "trace", "tag": "trace", "event": event}))

    def run(self, events: int) -> None:
        chance = self.random
        while len(self.lines) < events:
            node = chance.choice(self.nodes)
            leaders = [each for each in self.nodes if each.role == "StateLeader"]
            luck = chance.random()
            rare = 0.00002 if self.calm else 0.01
            if node.unsent:
                node.ready()
            elif self.network and luck < 0.85:
                message = self.network.pop(chance.randrange(len(self.network)))
                if chance.random() > 2 * rare:
                    self.nodes[self.names.index(message["to"])].receive(message)
            elif (not leaders or chance.random() < rare) and node.role != "StateLeader":
                node.campaign()
            elif chance.random() < rare:
                node.crash()
            elif node.role == "StateLeader" and len(self.network) < 8:
                node.beat() if chance.random() < 0.5 else node.propose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", choices=FAULTS, default="")
    parser.add_argument("--calm", action="store_true", help="losses, crashes and elections are rare")
    asked = parser.parse_args()
    cluster = Cluster([str(number) for number in range(1, asked.nodes + 1)], asked.seed, asked.fault, asked.calm)
    cluster.run(asked.events)
    sys.stdout.write("\n".join(cluster.lines[: asked.events]) + "\n")


if __name__ == "__main__":
    main()

"""Seeded faults of the protocols: what each violates, and how it is seeded. Every property is violated by one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schedproof.model.lang import Model, Row, given, me, those, variables


@dataclass(frozen=True)
class Fault:
    """A fault in a model.

    Attributes:
        violates: the properties that it violates.
        seeded: the model with the fault.
        scope: the numbers of objects at which it is found, where they are not those of the model.
    """

    violates: Sequence[str]
    seeded: Callable[[Model], Model]
    scope: Mapping[str, int] = field(default_factory=dict)


def without(action: str, number: int, *violates: str) -> Fault:
    """An action lacks one condition."""

    def seeded(model: Model) -> Model:
        actions = [
            replace(each, when=[*each.when[:number], *each.when[number + 1 :]]) if each.name == action else each
            for each in model.actions
        ]
        assert actions != list(model.actions)
        by_name = {each.name: each for each in actions}
        rules = [replace(rule, on=by_name.get(getattr(rule.on, "name", ""), rule.on)) for rule in model.rules]
        return replace(model, actions=actions, rules=rules)

    return Fault(violates, seeded)


def rule_without(rule: int, number: int, *violates: str, scope: Mapping[str, int]) -> Fault:
    """A rule lacks one condition."""

    def seeded(model: Model) -> Model:
        rules = list(model.rules)
        conditions = rules[rule].when
        rules[rule] = replace(rules[rule], when=[*conditions[:number], *conditions[number + 1 :]])
        return replace(model, rules=rules)

    return Fault(violates, seeded, scope)


def not_sent(action: str, *violates: str) -> Fault:
    """An action lacks its last event."""

    def seeded(model: Model) -> Model:
        actions = [replace(each, fires=each.fires[:-1]) if each.name == action else each for each in model.actions]
        return replace(model, actions=actions)

    return Fault(violates, seeded)


def sets(event: str, value: Callable[[Row], Mapping[str, Any]], *violates: str) -> Fault:
    """The rows of an event set other values."""

    def seeded(model: Model) -> Model:
        rows = [
            Row(each.sort, each.event, each.source, each.target, **value(each)) if each.event == event else each
            for each in model.rows
        ]
        return replace(model, rows=rows)

    return Fault(violates, seeded)


def learns_all(row: Row) -> Mapping[str, Any]:
    """A switch learns that ways lead from it to all nodes."""
    x, y = variables(row.sort, "x y")
    return {**dict(row.sets), "table": those([x, y], me.table.has(x, y) | ((x == given("at")) & (x != y)))}


def learns_one_step(row: Row) -> Mapping[str, Any]:
    """A switch learns the step to its neighbour, and not the way from there."""
    return {**dict(row.sets), "table": me.table.with_(given("at"), given("before"))}


FAULTS: Mapping[str, Sequence[Fault]] = {
    "chord": [without("fail", 1, "connected"), without("join", 3, "connected")],
    "client-server": [without("respond", 1, "matched")],
    "client-server-db": [without("process_request", 0, "matched")],
    "consensus-epr": [without("send_vote", 0, "agreement"), without("decide", 1, "agreement")],
    "consensus-forall": [without("become_leader", 1, "agreement")],
    "consensus-wo-decide": [without("send_vote", 0, "one-leader")],
    "database-chain-replication": [
        without("progress", 3, "atomic"),
        without("progress", 5, "reads-the-last-write"),
        without("progress", 6, "reads-the-last-write"),
    ],
    "decentralized-lock": [without("take", 1, "mutex")],
    "distributed-lock": [without("accept", 1, "one-an-epoch")],
    "firewall": [without("send_in", 2, "only-answers")],
    "flexible-paxos": [without("propose", 2, "agreement")],
    "german": [without("grant_exclusive", 4, "exclusive"), without("grant_shared", 2, "exclusive")],
    "hybrid-reliable-broadcast": [without("accept", 0, "unforgeable"), without("begin", 0, "unforgeable")],
    "lock-server": [without("recv_lock", 1, "mutex")],
    "lock-server-async": [without("recv_lock", 1, "mutex")],
    "lock-server-sync": [without("connect", 0, "mutex")],
    "majorityset-leader-election": [without("vote", 0, "one-leader")],
    "multi-paxos": [without("propose", 1, "agreement")],
    "naive-consensus": [without("cast_vote", 0, "agreement")],
    "paxos": [without("cast_vote", 0, "agreement"), without("propose_again", 3, "agreement")],
    "peterson": [without("enter", 2, "mutex")],
    "quorum-leader-election": [without("vote", 0, "one-leader")],
    "raft-election": [without("vote", 2, "one-leader-a-term")],
    "ricart-agrawala": [without("reply", 4, "mutex"), without("enter", 0, "mutex")],
    "ring-election": [without("pass", 1, "one-leader")],
    "ring-not-dead": [without("stop", 1, "not-dead")],
    "sharded-kv": [without("recv_transfer", 0, "one-value")],
    "sharded-kv-no-lost-keys": [not_sent("reshard", "no-lost-key")],
    "sharded-kv-retransmit": [without("receive", 1, "one-value")],
    "simple": [sets("read", lambda row: {"y": me.y}, "some-y")],
    "simple-decentralized-lock": [without("receive", 0, "mutex")],
    "simple-election": [without("send_1b", 1, "one-leader")],
    "ticket-lock": [without("enter", 2, "mutex")],
    "token-ring": [without("receive", 0, "mutex")],
    "toy-consensus-epr": [without("cast_vote", 0, "agreement")],
    "toy-consensus-forall": [without("decide", 0, "agreement")],
    "transaction-commit": [without("abort", 1, "consistent")],
    "two-phase-commit": [
        without("go_commit", 1, "agreement", "commit-needs-all"),
        without("go_abort", 1, "abort-needs-reason"),
    ],
    "two-phase-tla": [without("tm_commit", 1, "consistent")],
    "blockchain": [
        without("deny", 0, "same-blocks"),
        without("deny_transaction", 0, "same-transactions"),
        without("broadcast", 1, "due-is-confirmed"),
    ],
    "consensus-once": [without("choose", 0, "agreement")],
    "fast-paxos": [without("cast_vote", 1, "agreement"), without("propose_choosable", 6, "agreement")],
    "simple-regular": [without("read_unset", 1, "some-y")],
    "toy-consensus": [without("cast_vote", 0, "agreement")],
    "learning-switch-lossy": [
        sets("forward", learns_all, "no-circle", "one-way"),
        sets("forward", learns_one_step, "transitive"),
    ],
    "learning-switch": [
        rule_without(0, 1, "no-circle", "one-way", scope={"Node": 4, "Packet": 1}),
        sets("learn", learns_one_step, "transitive"),
    ],
}

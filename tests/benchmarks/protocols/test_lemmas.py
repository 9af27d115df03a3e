"""With the lemmas that are known of a protocol its properties are proved for any number of objects: its axioms are enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from benchmarks.protocols.suite import (
    blockchain,
    database_chain_replication,
    fast_paxos,
    flexible_paxos,
    german,
    hybrid_reliable_broadcast,
    multi_paxos,
    paxos,
    raft_election,
    ricart_agrawala,
    ring_election,
)
from schedproof.api import prove
from schedproof.model.lang import NONE, Invariant, Term, Var, exists, forall, implies, variables

Lemma = tuple[Sequence[Var], Term, Term]
"""The variables of an invariant, its premise and its conclusion."""


def votes_of_paxos() -> Iterator[Lemma]:
    """Votes are for what is proposed; who joins a round leaves those before."""
    n, r, s, v = paxos.n, paxos.r, paxos.s, paxos.v
    yield [n, r, v], n.votes.has(r, v), r.proposed.has(v)
    yield [n, r, s], n.joined.has(s) & s.before.has(r), n.past.has(r)


def quorums_of_paxos(q: Var) -> Iterator[Lemma]:
    """A decision has votes of a quorum; a quorum that could still decide otherwise has nobody who left."""
    n, r, s, v, w = paxos.n, paxos.r, paxos.s, paxos.v, paxos.w
    yield [r, v, w], r.proposed.has(v) & r.proposed.has(w), v == w
    yield [r, v], r.decided.has(v), exists(q, forall(n, implies(q.members.has(n), n.votes.has(r, v))))
    others = s.before.has(r) & s.proposed.has(w) & (v != w)
    yield [r, s, v, w, q], others, exists(n, q.members.has(n) & n.past.has(r) & ~n.votes.has(r, v))


def of_paxos() -> Iterator[Lemma]:
    yield from votes_of_paxos()
    yield from quorums_of_paxos(paxos.q)


def of_flexible_paxos() -> Iterator[Lemma]:
    yield from votes_of_paxos()
    yield from quorums_of_paxos(flexible_paxos.q)


def of_fast_paxos() -> Iterator[Lemma]:
    n, r, s, v, w = paxos.n, paxos.r, paxos.s, paxos.v, paxos.w
    yield [r, v, w], r.proposed.has(v) & r.proposed.has(w), v == w
    yield [r], r.any_value, r.fast
    yield [r, v], r.any_value, ~r.proposed.has(v)
    yield [n, r, v], n.votes.has(r, v), r.proposed.has(v) | r.any_value
    yield [n, r, v, w], n.votes.has(r, v) & n.votes.has(r, w), v == w
    yield [n, r, s], n.joined.has(s) & s.before.has(r), n.past.has(r)
    for q, fits in ((fast_paxos.q, ~r.fast), (fast_paxos.f, r.fast)):
        yield [r, v], fits & r.decided.has(v), exists(q, forall(n, implies(q.members.has(n), n.votes.has(r, v))))
        others = fits & s.before.has(r) & ((s.proposed.has(w) & (v != w)) | s.any_value)
        yield [r, s, v, w, q], others, exists(n, q.members.has(n) & n.past.has(r) & ~n.votes.has(r, v))


def of_multi_paxos() -> Iterator[Lemma]:
    n, q, i, r, s = multi_paxos.n, multi_paxos.q, multi_paxos.i, multi_paxos.r, multi_paxos.s
    v, w = multi_paxos.v, multi_paxos.w
    yield [r, i, v], r.proposed.has(i, v), r.active
    yield [r, i, v, w], r.proposed.has(i, v) & r.proposed.has(i, w), v == w
    yield [n, r, i, v], n.votes.has(i, r, v), r.proposed.has(i, v)
    yield [r, i, v], r.decided.has(i, v), exists(q, forall(n, implies(q.members.has(n), n.votes.has(i, r, v))))
    yield [n, r, s], n.joined.has(s) & s.before.has(r), n.past.has(r)
    others = s.before.has(r) & s.active & ~s.proposed.has(i, v)
    yield [i, r, s, v, q], others, exists(n, q.members.has(n) & n.past.has(r) & ~n.votes.has(i, r, v))


def of_raft_election() -> Iterator[Lemma]:
    n, m, q, t = raft_election.n, raft_election.m, raft_election.q, raft_election.t
    (o,) = variables(raft_election.Node, "o")
    yield [n, m, o, t], n.votes.has(t, m) & n.votes.has(t, o), m == o
    yield [n, m, t], n.votes.has(t, m), n.voted.has(t)
    yield [n, t], n.voted.has(t), (n.term == t) | ((n.term != NONE) & n.term.before.has(t))
    yield [n, t], n.leads.has(t), exists(q, forall(m, implies(q.members.has(m), m.votes.has(t, n))))


def of_ring_election() -> Iterator[Lemma]:
    n, o, p = ring_election.n, ring_election.o, ring_election.p
    yield [n, o], n.is_("Leader") & (n != o), n.lower.has(o)
    yield [n, o], n.pending.has(n) & (n != o), n.lower.has(o)
    yield [n, o, p], n.pending.has(p) & p.round.has(o, n), p.lower.has(o)


def of_ricart_agrawala() -> Iterator[Lemma]:
    n, m = ricart_agrawala.n, ricart_agrawala.m
    yield [n, m], n.replies.has(m), ~m.replies.has(n)
    yield [n, m], n.holds & (n != m), n.replies.has(m)


def of_blockchain() -> Iterator[Lemma]:
    n, b, t = blockchain.n, blockchain.b, blockchain.t
    yield [n, b, t], n.honest & n.pending.has(b, t), t.leader == n


def of_database_chain_replication() -> Iterator[Lemma]:
    data = database_chain_replication
    x, y, z, k = data.x, data.y, data.z, data.k
    yield [x], data.committed(x), ~x.aborted
    yield [y, z, k], y.depends.has(k, z), y.reads.has(k)
    earlier = y.before.has(x) & data.wrote(x, k) & ~x.aborted
    yield [x, y, z, k], y.depends.has(k, z) & ~y.aborted & earlier, data.up_to(x, z)


def of_hybrid_reliable_broadcast() -> Iterator[Lemma]:
    n, m, a, b = (getattr(hybrid_reliable_broadcast, each) for each in "nmab")
    x, y = variables(hybrid_reliable_broadcast.Node, "x y")
    obedient = hybrid_reliable_broadcast.obedient
    sent = exists(y, x.sent.has(y))
    yield [n, m], obedient(n) & n.received.has(m), m.sent.has(n)
    yield [n, m, x], ~n.omits_some & ~n.lies & n.sent.has(m), n.sent.has(x)
    from_some = exists(a, forall(x, implies(a.members.has(x), sent)))
    yield [n, m], obedient(n) & n.sent.has(m) & ~n.begins, from_some
    yield [n], obedient(n) & n.accepts, exists(b, forall(x, implies(b.members.has(x), sent)))
    yield [a], forall(x, implies(a.members.has(x) & obedient(x), sent)), exists(n, obedient(n) & n.begins)


def of_german() -> Iterator[Lemma]:
    c, d, h = german.c, german.d, german.h
    exclusive = c.is_("Exclusive") | (c.answer == "exclusive")
    none_under_way = (d.answer != "shared") & (d.answer != "exclusive") & ~d.invalidated
    yield [c, d], exclusive, (d == c) | (d.is_("Invalid") & none_under_way & ~d.sharer)
    yield [c, h], exclusive & ~c.invalidated, h.granted
    yield [c], c.is_("Shared", "Exclusive") | (c.answer != "none"), c.sharer
    yield [c], c.invalidated, c.is_("Invalid") & (c.answer == "none") & c.sharer & ~c.to_invalidate
    yield [c], c.to_invalidate, c.sharer & ~c.invalidated
    yield [c], c.answer == "invalidate", ~c.to_invalidate & ~c.invalidated
    yield (
        [c, h],
        (c.answer == "invalidate") | c.invalidated,
        (h.command == "exclusive") | (h.granted & (h.command == "shared")),
    )
    yield [c, d, h], h.granted & c.sharer & d.sharer, c == d


KNOWN: Sequence[Callable[[], Iterator[Lemma]]] = [
    of_paxos,
    of_flexible_paxos,
    of_fast_paxos,
    of_multi_paxos,
    of_raft_election,
    of_ring_election,
    of_ricart_agrawala,
    of_blockchain,
    of_database_chain_replication,
    of_hybrid_reliable_broadcast,
    of_german,
]


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("lemmas", KNOWN)
def test_proved_with_known_lemmas(lemmas):
    model = globals()[lemmas.__name__.removeprefix("of_")].MODEL
    auxiliary = [
        Invariant(name=f"lemma-{number}", says="a lemma", over=over, given=premise, then=conclusion)
        for number, (over, premise, conclusion) in enumerate(lemmas())
    ]
    induction = prove(replace(model, properties=[*model.properties, *auxiliary]))
    assert all(induction.proved(each.name) for each in [*model.properties, *auxiliary])

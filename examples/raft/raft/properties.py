"""What must hold of Raft: election safety with its lemmas, which induction proves, and the logs, which are explored."""

from collections.abc import Sequence

from schedproof.model.lang import (
    NONE,
    IntRange,
    Invariant,
    InvariantAtScope,
    Model,
    Nat,
    Property,
    Term,
    Type,
    Var,
    exists,
    forall,
    implies,
    variable,
)

from .model import (
    ACTIONS,
    ROWS,
    RULES,
    WIRE,
    bounds,
    configuration,
    has,
    k,
    m,
    machines,
    n,
    o,
    q,
    r,
    s,
    sending,
    t,
    u,
    v,
    w,
)


def invariant(name: str, says: str, over: Sequence[Var], then: Term, given: Term | None = None) -> Invariant:
    return Invariant(name=name, says=says, over=over, given=given, then=then)


def votes(k: Var, m: Var, s: Var) -> list[tuple[str, list[Var], Term, Term, Term]]:
    """What shows that ``n`` has voted, with the variables for it: its name, the condition, the term, and for whom."""
    granted = (m.kind == "vote_reply") & m.granted & (m.sender == n)
    elected = s.is_("Written") & (s.quorum != NONE) & s.quorum.members.has(n)
    return [
        ("counted", [k], k.votes.has(n), k.term, k),
        ("granted", [m], granted, m.term, m.receiver),
        ("elected", [s], elected, s.term, s.writer),
    ]


is_grant = (m.kind == "vote_reply") & m.granted
written = s.is_("Written")
ended = implies(n.segment != NONE, n.segment.is_("Written"))
saved_ended = implies(n.saved_segment != NONE, n.saved_segment.is_("Written"))

ELECTION = [
    invariant(
        "one-leader-a-term",
        "a term has one leader",
        [n, o],
        n == o,
        n.is_("Leader") & o.is_("Leader") & (n.term == o.term),
    ),
    *[
        invariant(
            f"one-vote-{a}-{b}",
            "a node votes for one node in a term",
            [n, *over, *more],
            chosen == chosen2,
            when & when2 & (term == term2),
        )
        for i, (a, over, when, term, chosen) in enumerate(votes(k, m, s))
        for b, more, when2, term2, chosen2 in votes(o, w, t)[i:]
    ],
    invariant(
        "saved-is-past",
        "what is saved of a term was so",
        [n],
        (n.saved_term < n.term) | ((n.saved_term == n.term) & ((n.saved_vote == NONE) | (n.saved_vote == n.vote))),
    ),
    invariant(
        "counted-is-saved",
        "what is counted is saved",
        [n, k],
        (k.term < n.saved_term) | ((k.term == n.saved_term) & (n.saved_vote == k)),
        k.votes.has(n),
    ),
    invariant(
        "elected-is-saved",
        "so is what elected a leader",
        [n, s],
        (s.term < n.saved_term) | ((s.term == n.saved_term) & (n.saved_vote == s.writer)),
        votes(k, m, s)[2][2],
    ),
    invariant(
        "granted-is-so",
        "a vote that was granted is one",
        [m],
        (m.term < m.sender.term) | ((m.term == m.sender.term) & (m.sender.vote == m.receiver)),
        is_grant,
    ),
    invariant(
        "candidates-vote-for-themselves",
        "a candidate and a leader have voted for themselves",
        [n],
        n.vote == n,
        n.is_("Candidate", "Leader"),
    ),
    invariant(
        "a-quorum-elects",
        "a quorum has voted for a leader",
        [n, o],
        (n.quorum != NONE) & implies(n.quorum.members.has(o), n.votes.has(o)),
        n.is_("Leader"),
    ),
    invariant(
        "segments-have-writers", "a quorum elected a writer", [s], (s.writer != NONE) & (s.quorum != NONE), written
    ),
    invariant("logs-are-written", "a log ends in a segment with entries", [n], ended & saved_ended),
    invariant(
        "sent-is-written",
        "so does a message",
        [m],
        implies(m.last != NONE, m.last.is_("Written")),
        m.kind == "append",
    ),
    invariant(
        "who-was-voted-for",
        "a node for which others vote has saved its term",
        [m],
        m.term <= m.receiver.saved_term,
        is_grant & (m.sender != m.receiver),
    ),
    invariant("who-counts-votes", "so has a node that counts votes", [n, k], k.term == k.saved_term, k.votes.has(n)),
    invariant("written-is-past", "no writer forgets its term", [s], s.term <= s.writer.saved_term, written),
    invariant(
        "one-segment",
        "a candidate has written nothing in its term",
        [n, s],
        s.term < n.term,
        n.is_("Candidate") & written & (s.writer == n),
    ),
    invariant(
        "leaders-write-on",
        "a leader's segment is its own",
        [n, s],
        n.segment == s,
        n.is_("Leader") & written & (s.term == n.term),
    ),
    invariant("sent-is-past", "no message is of a later term", [m], m.term <= m.sender.term),
    invariant(
        "segments-follow-others",
        "a segment begins after those before it",
        [s, u],
        written & u.is_("Written") & (u != s) & (u.first <= s.before[u]) & (s.before[u] < s.first),
        s.before[u] >= 1,
    ),
]
"""Election safety, and what its proof needs."""

PATHS = [
    invariant(
        "one-segment-a-term",
        "a term has one segment",
        [s, t],
        s == t,
        written & t.is_("Written") & (s.term == t.term),
    ),
    invariant(
        "logs-reach-their-segment",
        "a log has an entry of its last segment",
        [n],
        implies(n.segment != NONE, n.segment.first <= n.length)
        & implies(n.saved_segment != NONE, n.saved_segment.first <= n.saved_length),
    ),
    invariant(
        "messages-reach-their-segment",
        "so have the entries of a message",
        [m],
        implies(m.last != NONE, m.last.first <= m.end),
        m.kind == "append",
    ),
]
"""What log matching rests on."""


x, y = variable(IntRange(1, 2), "x"), variable(IntRange(1, 2), "y")
entries = has(n.segment, n.length, s, x) & has(o.segment, o.length, t, x)
earlier = has(n.segment, n.length, u, y) & has(o.segment, o.length, v, y)

LOGS = [
    InvariantAtScope(
        name="log-matching",
        says="two logs with an entry of the same term at an index have the same entries up to it",
        over=[n, o, s, t, u, v, x, y],
        given=entries & (s.term == t.term) & (y <= x) & earlier,
        then=u == v,
    ),
    InvariantAtScope(
        name="logs-are-whole",
        says="the entries of a log are those that a leader has appended",
        over=[n],
        given=n.segment != NONE,
        then=(n.segment.first <= n.length) & (n.length <= n.segment.end) & (n.commit <= n.length),
    ),
    InvariantAtScope(
        name="committed-entries-agree",
        says="two nodes have the same committed entries",
        over=[n, o, s, t, x],
        given=entries & (x <= n.commit) & (x <= o.commit),
        then=s == t,
    ),
    InvariantAtScope(
        name="leaders-have-what-is-committed",
        says="a leader has all entries that are committed in its term or before",
        over=[n, o, s, x],
        given=n.is_("Leader") & (o.term <= n.term) & (x <= o.commit) & has(o.segment, o.length, s, x),
        then=has(n.segment, n.length, s, x),
    ),
]
"""Explored. Proofs of the last two need what a quorum had in its logs when it elected a leader."""


def raft(
    variant: str, about: str, most: int, entry: Type, properties: Sequence[Property], scope: dict[str, int]
) -> Model:
    """The model.

    Args:
        variant, about: its name, and what it is.
        most: how many entries a message has at most.
        entry: the type of an index in an earlier segment.
        properties: what must hold.
        scope: how many objects are explored.
    """
    return Model(
        system="raft",
        variant=variant,
        about=about,
        machines=machines(entry),
        rows=ROWS,
        actions=[*ACTIONS, *sending(most)],
        rules=RULES,
        properties=[*properties, *WIRE.properties],
        default_scope=scope,
        axioms=[forall([q, r], exists(n, q.members.has(n) & r.members.has(n)))],
        configurations=lambda sizes: [configuration(sizes)],
        bound=bounds(2, 2),
    )


ETCD = raft(
    "etcd",
    "terms and logs without a bound",
    10_000,
    Nat,
    [*ELECTION, *PATHS],
    {"Node": 3, "Quorum": 3, "Segment": 2, "Progress": 9, "Wire": 3},
)
SMALL = raft(
    "small",
    "two nodes, and one entry a message",
    1,
    IntRange(0, 2),
    [*ELECTION, *PATHS, *LOGS],
    {"Node": 2, "Quorum": 1, "Segment": 2, "Progress": 4, "Wire": 2},
)

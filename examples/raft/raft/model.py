"""Raft's leader election and log replication, as etcd's trace specification logs it: what is not saved is lost in a crash.

A *segment* has the entries that the leader of one term appended. A log is a segment with a length: the entries up to this
index, on the way to which lie earlier segments. So an entry is a segment and an index, and a log of any length is small.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from schedproof.model import lang
from schedproof.model.lang import (
    NONE,
    Action,
    Attribute,
    Event,
    Machine,
    Nat,
    Ref,
    Row,
    Rule,
    Sort,
    State,
    Term,
    Var,
    each,
    exists,
    forall,
    given,
    implies,
    me,
    variable,
    variables,
)
from schedproof.model.lang.messages import Channel, Kind

Node, Quorum, Segment, Progress = Sort("Node", "n"), Sort("Quorum", "q"), Sort("Segment", "s"), Sort("Progress", "p")
(n, o, k), (q, r), (p, pp) = variables(Node, "n o k"), variables(Quorum, "q r"), variables(Progress, "p pp")
s, t, u, v = variables(Segment, "s t u v")

CARRIED, GRANTED = {"term": Nat, "segment": Segment, "index": Nat}, {"term": Nat, "granted": lang.BoolType()}
WIRE = Channel(
    "wire",
    from_=Node,
    to=Node,
    kinds=[
        Kind("vote", **CARRIED),
        Kind("vote_reply", **GRANTED),
        Kind("append", **CARRIED, last=Segment, end=Nat, commit=Nat),
        Kind("append_reply", **GRANTED, last=Segment, end=Nat),
        Kind("beat", term=Nat, end=Nat, commit=Nat),
        Kind("beat_reply", term=Nat),
    ],
    lossy=True,
)
m, w = variables(WIRE.sort, "m w")

FOLLOWER, CANDIDATE, LEADER = STATES = ("Follower", "Candidate", "Leader")
follows, stands, leads = n.is_(FOLLOWER), n.is_(CANDIDATE), n.is_(LEADER)


def has(segment: Term, length: Term, entry: Term, index: Term) -> Term:
    """Whether a log with this last segment and length has its entry ``index`` in the segment ``entry``."""
    reached = (segment != NONE) & (index >= 1) & (entry.first <= index)
    last = (segment == entry) & (index <= length)
    return reached & (last | ((segment != entry) & (index <= segment.before[entry])))


def released(m: Term) -> Term:
    """Whether the sender has saved what a message says. Before, it is not sent, and a crash loses it."""
    by = m.sender
    voted = implies((m.kind == "vote_reply") & m.granted, by.saved_vote == m.receiver)
    holds = implies(m.last == NONE, m.end <= by.saved_commit)
    holds &= implies(m.last != NONE, has(by.saved_segment, by.saved_length, m.last, m.end))
    kept = implies((m.kind == "append_reply") & m.granted, holds)
    return (m.term < by.saved_term) | ((m.term == by.saved_term) & voted & kept)


def handle(name: str, kind: str, when: Sequence[Term], fires: Sequence[object], says: str, *more: Var) -> Action:
    """The action by which a node handles a message of its own term."""
    heard = [m.receiver == n, released(m), m.term == n.term, *([m.kind == kind] if kind else [])]
    return Action(name, [n, m, *more], [*heard, *when], [WIRE.receive(m, by=n), *fires], says)


def reply(kind: str, **carries: object) -> object:
    return WIRE.send(kind, n, m.sender, term=n.term, **carries)


def append_reply(granted: bool, last: object, end: object) -> object:
    return reply("append_reply", granted=granted, last=last, end=end)


own_segment = (n.segment != NONE) & (n.segment.term == n.term)
may_vote = (n.vote == NONE) | (n.vote == m.sender)
longer = (m.segment.term > n.segment.term) | ((m.segment.term == n.segment.term) & (n.length <= m.index))
is_up_to_date = (n.segment == NONE) | ((n.segment != NONE) & (m.segment != NONE) & longer)
fits = (m.segment == NONE) | ((m.segment != NONE) & has(n.segment, n.length, m.segment, m.index))
has_all = (m.last == NONE) | ((m.last != NONE) & has(n.segment, n.length, m.last, m.end))
in_sight = [follows, n.commit <= m.index]
of_peer = [p.leader == n, p.follower == o, ~(n == o)]
its_progress = [p.leader == n, p.follower == m.sender, p.match < m.end]
agreed = forall(pp, implies((pp.leader == n) & q.members.has(pp.follower), p.match <= pp.match))
of_its_term = [n.commit < p.match, n.segment != NONE, n.segment.term == n.term, n.segment.first <= p.match]
is_counted = exists(p, (p.leader == n) & (p.follower == m.sender) & (m.end <= p.match))
has_no_effect = (
    ((m.kind == "vote_reply") & ~(m.granted & stands))
    | ((m.kind == "append_reply") & (~m.granted | ~leads | is_counted))
    | (m.kind == "beat_reply")
)
old_or_without_effect = (m.term < n.term) | ((m.term == n.term) & has_no_effect)
asks = WIRE.send("vote", n, o, term=n.term, segment=n.segment, index=n.length)
votes_for_itself = WIRE.send("vote_reply", n, n, term=n.term, granted=True)
acknowledges = WIRE.send("append_reply", n, n, term=n.term, granted=True, last=n.segment, end=n.length)
beats = WIRE.send("beat", n, o, term=n.term, end=p.match, commit=n.commit)
from_leader = (m.kind == "append") | (m.kind == "beat")
newer = [m.receiver == n, released(m), n.term < m.term]
all_votes = forall(o, implies(q.members.has(o), n.votes.has(o)))
all_released = forall(w, implies(w.sender == n, released(w)))
opens, opens_says = [n.fires("open", segment=s)], "{n} appends the first entry of its term, in {s}"
may_open = [leads, s.is_("Unwritten")]
grants = [n.fires("grant", to=m.sender), reply("vote_reply", granted=True)]
got_all = append_reply(True, m.last, m.end)

ACTIONS = [
    Action("campaign", [n], [~leads], [n.fires("campaign")], "{n} campaigns"),
    Action("ask", [n, o], [stands, ~(n == o)], [asks], "{n} asks {o} for its vote"),
    Action("vote_for_itself", [n], [stands], [votes_for_itself], "{n} votes for itself"),
    Action("adopt", [n, m], newer, [n.fires("adopt", term=m.term)], "{n} adopts the term of {m}"),
    Action("step_down", [n], [n.is_(CANDIDATE, LEADER)], [n.fires("yield")], "{n} steps down"),
    handle("grant", "vote", [follows, may_vote, is_up_to_date], grants, "{n} votes for {m.sender}"),
    handle("deny", "vote", [~(may_vote & is_up_to_date)], [reply("vote_reply", granted=False)], "{n} denies its vote"),
    handle("tally", "vote_reply", [m.granted, stands], [n.fires("tally", of=m.sender)], "{n} counts a vote"),
    Action("win", [n, q], [stands, all_votes], [n.fires("win", by=q)], "{n} wins"),
    Action("append", [n], [leads, own_segment], [n.fires("append"), n.segment.fires("append")], "{n} appends an entry"),
    Action("open_first", [n, s], [*may_open, n.segment == NONE], [*opens, s.fires("open_first", by=n)], opens_says),
    Action(
        "open",
        [n, s],
        [*may_open, n.segment != NONE, n.segment.term < n.term],
        [*opens, s.fires("open", by=n)],
        opens_says,
    ),
    Action("acknowledge", [n], [leads], [acknowledges], "{n} acknowledges its own entries"),
    handle("keep", "append", [*in_sight, fits, has_all], [got_all], "{n} has the entries of {m} already"),
    handle("take", "append", [*in_sight, fits, ~has_all], [got_all], "{n} takes the entries of {m}"),
    handle("reject", "append", [*in_sight, ~fits], [append_reply(False, NONE, 0)], "{n} rejects {m}"),
    handle("skip", "append", [follows, m.index < n.commit], [append_reply(True, NONE, n.commit)], "{n} skips {m}"),
    handle(
        "count", "append_reply", [m.granted, leads, *its_progress], [p.fires("count", index=m.end)], "{n} counts", p
    ),
    Action(
        "commit",
        [n, p, q],
        [leads, p.leader == n, *of_its_term, agreed],
        [n.fires("commit", index=p.match)],
        "{n} commits",
    ),
    Action("beat", [n, o, p], [leads, *of_peer], [beats], "{n} sends a heartbeat to {o}"),
    handle("heed", "beat", [follows], [reply("beat_reply")], "{n} heeds a heartbeat"),
    Action(
        "yield",
        [n, m],
        [m.receiver == n, released(m), m.term == n.term, from_leader, stands],
        [n.fires("yield")],
        "{n} yields to {m.sender}",
    ),
    Action(
        "ignore",
        [n, m],
        [m.receiver == n, released(m), old_or_without_effect],
        [WIRE.receive(m, by=n)],
        "{n} ignores {m}",
    ),
    Action("save", [n], [], [n.fires("save")], "{n} saves its state"),
    Action("restart", [n], [all_released], [n.fires("restart")], "{n} restarts"),
    *WIRE.actions,
]


def sending(most: int) -> list[Action]:
    """The actions by which a leader sends up to ``most`` entries, from as far back in its log."""
    back, count = variable(lang.IntRange(0, most), "back"), variable(lang.IntRange(0, most), "count")
    begin, end = n.length - back, n.length - back + count
    when = [leads, ~(n == o), count <= back, back <= n.length, has(n.segment, n.length, t, end)]
    sent = {"term": n.term, "index": begin, "end": end, "commit": n.commit, "last": t}
    some, first = WIRE.send("append", n, o, segment=s, **sent), WIRE.send("append", n, o, segment=NONE, **sent)
    fits, says = has(n.segment, n.length, s, begin), "{n} sends {count} entries to {o}"
    return [
        Action("send", [n, o, s, t, back, count], [*when, fits], [some], says),
        Action("send_first", [n, o, t, back, count], [*when, back == n.length], [first], says),
    ]


by_name = {action.name: action for action in ACTIONS}
keep, take, heed, win = (by_name[name] for name in ("keep", "take", "heed", "win"))
known = (m.commit <= n.commit) | (m.end <= n.commit)
learnt = [([~known, m.commit <= m.end], m.commit), ([~known, m.end < m.commit], m.end)]
"""Whether a follower learns from an append or a heartbeat that more is committed, and up to which index."""
takes = {"last": m.last, "end": m.end}
RULES = [
    *[
        Rule(f"{on.name} reports what is committed ({number})", on, when, n.fires("learn", index=index))
        for on in (keep, heed)
        for number, (when, index) in enumerate(learnt, 1)
    ],
    *[
        Rule(f"entries replace the log ({number})", take, when, n.fires("take", **takes, commit=index))
        for number, (when, index) in enumerate([([known], n.commit), *learnt])
    ],
    Rule("a leader knows its own log", win, [p.leader == n, p.follower == n], p.fires("reset", index=n.length)),
    Rule("and no other", win, [p.leader == n, ~(p.follower == n)], p.fires("reset", index=0)),
    *WIRE.rules,
]

SAVED = {"term": Nat, "vote": Ref(Node), "segment": Ref(Segment), "length": Nat, "commit": Nat}
NEW = {"votes": lang.EMPTY, "quorum": NONE}
by = given("by")
OPENED = {"term": by.term, "writer": by, "quorum": by.quorum, "first": by.length + 1, "end": by.length + 1}
PATH = each(u, by.segment.before[u]).with_(by.segment, to=by.length)
RESTORED = {name: getattr(me, f"saved_{name}") for name in SAVED}
ROWS = [
    *[Row(Node, "campaign", a, CANDIDATE, term=me.term + 1, vote=me, **NEW) for a in (FOLLOWER, CANDIDATE)],
    *[Row(Node, "adopt", a, FOLLOWER, term=given("term"), vote=NONE, **NEW) for a in STATES],
    *[Row(Node, "yield", a, FOLLOWER, **NEW) for a in (CANDIDATE, LEADER)],
    Row(Node, "grant", FOLLOWER, FOLLOWER, vote=given("to")),
    Row(Node, "tally", CANDIDATE, CANDIDATE, votes=me.votes.with_(given("of"))),
    Row(Node, "win", CANDIDATE, LEADER, quorum=given("by")),
    Row(Node, "append", LEADER, LEADER, length=me.length + 1),
    Row(Node, "open", LEADER, LEADER, length=me.length + 1, segment=given("segment")),
    Row(Node, "take", FOLLOWER, FOLLOWER, segment=given("last"), length=given("end"), commit=given("commit")),
    Row(Node, "learn", FOLLOWER, FOLLOWER, commit=given("index")),
    Row(Node, "commit", LEADER, LEADER, commit=given("index")),
    *[Row(Node, "save", a, a, **{f"saved_{name}": getattr(me, name) for name in SAVED}) for a in STATES],
    *[Row(Node, "restart", a, FOLLOWER, **NEW, **RESTORED) for a in STATES],
    Row(Segment, "open_first", "Unwritten", "Written", **OPENED),
    Row(Segment, "open", "Unwritten", "Written", **OPENED, before=PATH),
    Row(Segment, "append", "Written", "Written", end=me.end + 1),
    *[Row(Progress, event, "Known", "Known", match=given("index")) for event in ("reset", "count")],
    *WIRE.rows,
]
EVENTS = {
    "adopt": {"term": Nat},
    "grant": {"to": Ref(Node)},
    "tally": {"of": Ref(Node)},
    "win": {"by": Ref(Quorum)},
    "open": {"segment": Ref(Segment)},
    "take": {"last": Ref(Segment), "end": Nat, "commit": Nat},
    "learn": {"index": Nat},
    "commit": {"index": Nat},
}


def machines(entry: lang.Type) -> list[Machine]:
    """The machines; ``entry`` is the type of an index in an earlier segment."""
    node = [
        *[Attribute(name, of) for name, of in SAVED.items()],
        *[Attribute(f"saved_{name}", of, durable=True) for name, of in SAVED.items()],
        Attribute("votes", lang.SetOf(Node), about="whose votes it has counted"),
        Attribute("quorum", Ref(Quorum), about="which quorum elected it"),
    ]
    segment = [
        *[Attribute("term", Nat), Attribute("writer", Ref(Node)), Attribute("quorum", Ref(Quorum))],
        Attribute("first", Nat, about="the index of its first entry"),
        Attribute("end", Nat, about="that of its last one"),
        Attribute("before", lang.Function(Segment, to=entry), about="the last index in each earlier segment"),
    ]
    progress = [
        *[Attribute(name, Ref(Node), rigid=True) for name in ("leader", "follower")],
        Attribute("match", Nat, about="how far the leader knows the follower's log to be its own"),
    ]
    opening = [Event(name, {"by": Ref(Node)}) for name in ("open", "open_first")]
    return [
        Machine(Node, [State(name) for name in STATES], node, [Event(name, of) for name, of in EVENTS.items()]),
        Machine(Quorum, attributes=[Attribute("members", lang.SetOf(Node), rigid=True)]),
        Machine(Segment, [State("Unwritten"), State("Written")], segment, opening),
        Machine(Progress, [State("Known")], progress, [Event(name, {"index": Nat}) for name in ("reset", "count")]),
        *WIRE.machines,
    ]


def configuration(sizes: Mapping[str, int]) -> dict[tuple[str, str], list[object]]:
    """The majorities that there is room for, and a progress for each pair of nodes."""
    nodes = range(sizes["Node"])
    majorities = [frozenset(members) for members in combinations(nodes, len(nodes) // 2 + 1)]
    return {
        ("Quorum", "members"): list(majorities[: sizes["Quorum"]]),
        ("Progress", "leader"): [a for a in nodes for _ in nodes],
        ("Progress", "follower"): [b for _ in nodes for b in nodes],
    }


def bounds(term: int, index: int) -> dict[tuple[str, str], int]:
    """The bounds of terms and of indices in explorations."""
    terms = ["Node.term", "Node.saved_term", "Segment.term", "Wire.term"]
    indices = [f"Node.{name}" for name in ("length", "saved_length", "commit", "saved_commit")]
    indices += ["Segment.first", "Segment.end", "Progress.match", "Wire.index", "Wire.end", "Wire.commit"]
    bound = dict.fromkeys(terms, term) | dict.fromkeys(indices, index)
    return {(sort, name): most for (sort, name), most in ((key.split("."), most) for key, most in bound.items())}

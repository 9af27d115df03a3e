"""Cache and scheduler as two components, once more and by hand: written from lines 40 to 158 of the document, in plain Python.

Nothing is shared with the model: states are dictionaries, queues are lists, handlers are functions. What the document leaves open is
read as the model reads it, and the comment says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

Thing = tuple[str, int]
Frozen = tuple[object, ...]

QUEUES = {
    # the resource manager's requests, to the cache ...
    **dict.fromkeys(("RegisterPartition", "ConfigAddsPartition", "ConfigDropsPartition"), "rm>cache"),
    **dict.fromkeys(("AddApplication", "RemoveApplication", "AddAsk", "ReleaseAsk"), "rm>cache"),
    **dict.fromkeys(("ReleaseAllocation", "AddNode", "DecommissionNode"), "rm>cache"),
    # ... what the scheduler sends to the cache ...
    **dict.fromkeys(("ProposeAllocation", "ProposeRelease", "ReleaseFailed", "ReleaseForRm"), "scheduler>cache"),
    **dict.fromkeys(("RejectedNewApplication", "RemovedApplication", "PartitionRemoved"), "scheduler>cache"),
    "RemovedNode": "scheduler>cache",  # repaired only
    # ... what waits for the scheduler, from whomever ...
    **dict.fromkeys(("NodeAdded", "NodeRemoved", "AcceptedAllocation", "RejectedAllocation"), "scheduler"),
    **dict.fromkeys(("ReleasedAllocation", "ToRelease", "NewAsk", "RemoveAsk", "RecoverAllocation"), "scheduler"),
    **dict.fromkeys(("ApplicationAdded", "ApplicationRemoved", "PartitionUpdated", "PartitionDeleted"), "scheduler"),
    "RemovePartition": "scheduler",
    # ... and what the cache and the scheduler send to the resource manager.
    **dict.fromkeys(("ApplicationAccepted", "ApplicationRejected", "NewAllocation", "AllocationReleased"), "rm"),
    **dict.fromkeys(("AskRejected", "NodeAccepted", "NodeRejected"), "rm"),
}


@dataclass(frozen=True)
class Setup:
    """What there is: for each application and node whether it is there from the start, and so on.

    All of it is there ``times`` over, side by side, each with a partition of its own. ``repaired`` is with the changes of the repaired variant.
    """

    kinds: Collection[str]
    partition: bool
    applications: Sequence[bool]
    nodes: Sequence[bool]
    refused: Collection[int]
    asks: Sequence[int]
    recovered: Collection[int]
    allocations: Sequence[tuple[int, int]]
    running: Collection[int]
    room: dict[str, int] = field(default_factory=dict)
    repaired: bool = False
    times: int = 1

    def number(self, letter: str) -> int:
        """How many there are in each of the ``times``."""
        of = {"a": self.applications, "n": self.nodes, "k": self.asks, "x": self.allocations}
        return 1 if letter == "p" else len(of[letter])

    def things(self, letter: str) -> list[Thing]:
        return [(letter, i) for i in range(self.number(letter) * self.times)]

    def once(self, thing: Thing) -> int:
        """Its number among those of its time."""
        return thing[1] % self.number(thing[0])

    def beside(self, thing: Thing, letter: str, number: int) -> Thing:
        """Another thing of the same time."""
        return (letter, thing[1] // self.number(thing[0]) * self.number(letter) + number)

    def partition_of(self, thing: Thing) -> Thing:
        return self.beside(thing, "p", 0)

    def asking(self, k: Thing) -> Thing:
        """The application of an ask."""
        return self.beside(k, "a", self.asks[self.once(k)])

    def is_recovered(self, x: Thing) -> bool:
        return self.once(self.ask_of(x)) in self.recovered

    def app_of(self, x: Thing) -> Thing:
        return self.asking(self.ask_of(x))

    def ask_of(self, x: Thing) -> Thing:
        return self.beside(x, "k", self.allocations[self.once(x)][0])

    def node_of(self, x: Thing) -> Thing:
        return self.beside(x, "n", self.allocations[self.once(x)][1])


class State:
    """Who knows what, and what is in the queues."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.rm: dict[Thing, str] = {}
        self.cache: set[Thing] = set()
        self.scheduler: dict[Thing, str] = {}
        self.queues: dict[str, list[tuple[str, Thing]]] = {
            name: [] for name in ("rm>cache", "scheduler>cache", "scheduler", "rm")
        }
        self.stopped = False

    @classmethod
    def first(cls, setup: Setup) -> State:
        it = cls(setup)
        standing = setup.things("p") if setup.partition else []
        standing += [a for a in setup.things("a") if setup.applications[setup.once(a)]]
        standing += [n for n in setup.things("n") if setup.nodes[setup.once(n)]]
        for thing in standing:
            it.cache.add(thing)
            it.scheduler[thing] = "there"
            it.rm[thing] = "registered" if thing[0] == "p" else "accepted"
        for x in setup.things("x"):
            if setup.once(x) not in setup.running:
                continue
            it.cache.add(x)
            it.scheduler[x], it.rm[x] = "confirmed", "running"
            it.scheduler[setup.ask_of(x)], it.rm[setup.ask_of(x)] = "satisfied", "asked"
        return it

    def copy(self) -> State:
        it = State(self.setup)
        it.rm, it.cache, it.scheduler = dict(self.rm), set(self.cache), dict(self.scheduler)
        it.queues = {name: list(queue) for name, queue in self.queues.items()}
        it.stopped = self.stopped
        return it

    def frozen(self) -> Frozen:
        return (
            tuple(sorted(self.rm.items())),
            tuple(sorted(self.cache)),
            tuple(sorted(self.scheduler.items())),
            tuple((name, tuple(queue)) for name, queue in self.queues.items()),
            self.stopped,
        )

    # --- queues

    def can_say(self, kind: str) -> bool:
        return kind in self.setup.kinds

    def send(self, kind: str, thing: Thing) -> None:
        if self.can_say(kind):
            assert (kind, thing) not in self.queues[QUEUES[kind]], f"{kind} about {thing} is on its way already"
            self.queues[QUEUES[kind]].append((kind, thing))

    # --- the cache

    def cache_drops(self, thing: Thing) -> None:
        """With its allocations; the cache notifies the resource manager of each (lines 27, 85)."""
        self.cache.discard(thing)
        if thing[0] == "x":
            self.send("AllocationReleased", thing)
            return
        for x in self.setup.things("x"):
            if x in self.cache and thing in (self.setup.app_of(x), self.setup.node_of(x)):
                self.cache_drops(x)

    def cache_hears(self, kind: str, it: Thing) -> None:
        setup = self.setup
        if kind in ("RegisterPartition", "ConfigAddsPartition"):
            self.cache.add(it)
            self.send("PartitionUpdated", it)
        elif kind == "ConfigDropsPartition":
            self.send("PartitionDeleted", it)
        elif kind == "AddApplication":
            if setup.partition_of(it) in self.cache:
                self.cache.add(it)
                self.send("ApplicationAdded", it)
            else:
                self.send("ApplicationRejected", it)
        elif kind == "RemoveApplication":
            self.send("ApplicationRemoved", it)
        elif kind == "AddAsk":
            sane = setup.partition_of(it) in self.cache and setup.asking(it) in self.cache
            self.send("NewAsk" if sane else "AskRejected", it)
        elif kind == "ReleaseAsk":
            self.send("RemoveAsk", it)
        elif kind == "ReleaseAllocation":
            self.send("ToRelease", it)
        elif kind == "AddNode":
            if setup.partition_of(it) not in self.cache:
                self.send("NodeRejected", it)
                return
            self.cache.add(it)
            self.send("NodeAdded", it)
            self.send("NodeAccepted", it)
            for x in setup.things("x"):
                if setup.node_of(x) == it and setup.is_recovered(x):
                    if not setup.repaired:
                        self.send("RecoverAllocation", x)
                    elif setup.app_of(x) in self.cache:
                        self.cache.add(x)
        elif kind == "DecommissionNode":
            if it in self.cache:
                self.send("NodeRemoved", it)
                if not setup.repaired:
                    self.cache_drops(it)
        elif kind == "ProposeAllocation":
            full = any(y in self.cache for y in setup.things("x") if setup.node_of(y) == setup.node_of(it))
            if setup.app_of(it) in self.cache and setup.node_of(it) in self.cache and not full:
                self.cache.add(it)
                self.send("AcceptedAllocation", it)
                if not setup.repaired:
                    self.send("NewAllocation", it)  # at the same time (facts 6)
            else:
                self.send("RejectedAllocation", it)
        elif kind in ("ProposeRelease", "ReleaseFailed", "ReleaseForRm"):
            if it in self.cache:
                self.cache_drops(it)
                self.send("ReleasedAllocation", it)
        elif kind in ("RejectedNewApplication", "RemovedApplication", "RemovedNode"):
            if it in self.cache:
                self.cache_drops(it)
        elif kind == "PartitionRemoved":
            for thing in [it, *setup.things("a"), *setup.things("n")]:
                if thing in self.cache and setup.partition_of(thing) == it:
                    self.cache_drops(thing)
        else:
            raise AssertionError(kind)

    # --- the scheduler

    def finds(self, application: Thing) -> bool:
        return application in self.scheduler and self.scheduler.get(self.setup.partition_of(application)) == "there"

    def scheduler_drops(self, thing: Thing) -> None:
        self.scheduler.pop(thing, None)
        for x in self.setup.things("x"):
            if thing in (self.setup.app_of(x), self.setup.node_of(x)):
                self.scheduler.pop(x, None)
        if thing[0] == "a":
            for k in self.setup.things("k"):
                if self.setup.asking(k) == thing:
                    self.scheduler.pop(k, None)

    def scheduler_hears(self, kind: str, it: Thing) -> None:
        setup, known = self.setup, self.scheduler
        had = known.get(it)
        if kind == "PartitionUpdated":
            known.setdefault(it, "there")
        elif kind in ("RemovePartition", "PartitionDeleted"):
            if had == "there":
                known[it] = "stopped"
        elif kind == "ApplicationAdded":
            if known.get(setup.partition_of(it)) == "there" and setup.once(it) not in setup.refused:
                known[it] = "there"
                self.send("ApplicationAccepted", it)
            else:
                self.send("RejectedNewApplication", it)
                self.send("ApplicationRejected", it)
        elif kind == "ApplicationRemoved":
            if self.finds(it):
                self.scheduler_drops(it)
                self.send("RemovedApplication", it)
        elif kind == "NodeAdded":
            if known.get(setup.partition_of(it)) == "there":
                known[it] = "there"
                for x in setup.things("x") if setup.repaired else ():
                    if setup.node_of(x) == it and setup.is_recovered(x) and self.finds(setup.app_of(x)):
                        known[x], known[setup.ask_of(x)] = "confirmed", "satisfied"
        elif kind == "NodeRemoved":
            self.scheduler_drops(it)
            if setup.repaired and had is not None:
                self.send("RemovedNode", it)
        elif kind == "NewAsk":
            if self.finds(setup.asking(it)):
                known[it] = "pending"
            else:
                self.send("AskRejected", it)
        elif kind == "RemoveAsk":
            if self.finds(setup.asking(it)):
                known.pop(it, None)
        elif kind == "AcceptedAllocation":
            ask = setup.ask_of(it)
            if self.finds(setup.app_of(it)) and had == "proposed" and known.get(ask) == "allocating":
                known[it], known[ask] = "confirmed", "satisfied"
                if setup.repaired:
                    self.send("NewAllocation", it)
            elif not setup.repaired:
                # It fails. What it counts it would have to take from the ask, so it goes on counting (facts 6).
                self.send("ReleaseFailed", it)
                self.ask_again(ask)
            else:
                if had == "proposed":
                    del known[it]
                self.send("ReleaseFailed", it)
                self.ask_again(ask)
        elif kind == "RejectedAllocation":
            if known.get(it) == "proposed":
                del known[it]
            self.ask_again(setup.ask_of(it))
        elif kind == "ReleasedAllocation":
            self.release(it)
        elif kind == "ToRelease":
            self.release(it)
            self.send("ReleaseForRm", it)
        elif kind == "RecoverAllocation":
            if (
                self.finds(setup.app_of(it))
                and setup.node_of(it) in known
                and it not in known
                and setup.ask_of(it) not in known
            ):
                known[setup.ask_of(it)], known[it] = "allocating", "proposed"
                self.send("ProposeAllocation", it)
        else:
            raise AssertionError(kind)

    def ask_again(self, ask: Thing) -> None:
        if self.scheduler.get(ask) == "allocating":
            self.scheduler[ask] = "pending"

    def release(self, x: Thing) -> None:
        if self.scheduler.get(x) in ("confirmed", "preempting"):
            del self.scheduler[x]

    # --- the resource manager

    def rm_hears(self, kind: str, it: Thing) -> None:
        was = self.rm.get(it)
        if kind in ("ApplicationAccepted", "ApplicationRejected") and was == "submitted":
            self.rm[it] = "accepted" if kind == "ApplicationAccepted" else "rejected"
        elif kind == "AskRejected" and was == "asked":
            self.rm[it] = "rejected"
        elif kind == "NewAllocation" and was in (None, "running"):
            self.rm[it] = "running"
        elif kind == "AllocationReleased":
            self.rm[it] = "ended"
        elif kind in ("NodeAccepted", "NodeRejected") and was == "registering":
            self.rm[it] = "accepted" if kind == "NodeAccepted" else "rejected"


Move = tuple[str, Thing]


def wishes(s: State) -> Iterator[tuple[Move, dict[Thing, str], str]]:
    """What the resource manager may ask for: the move, what it knows then, and the event."""
    setup = s.setup
    for p in setup.things("p"):
        if p not in s.rm:
            yield ("register", p), {p: "registered"}, "RegisterPartition"
            yield ("config_adds", p), {p: "registered"}, "ConfigAddsPartition"
        if s.rm.get(p) == "registered":
            yield ("config_drops", p), {p: "removed"}, "ConfigDropsPartition"
            yield ("remove_partition", p), {p: "removed"}, "RemovePartition"
    for a in setup.things("a"):
        if a not in s.rm and s.rm.get(setup.partition_of(a)) == "registered":
            yield ("submit", a), {a: "submitted"}, "AddApplication"
        if s.rm.get(a) in ("submitted", "accepted"):
            yield ("remove_application", a), {a: "removed"}, "RemoveApplication"
    for k in setup.things("k"):
        if k not in s.rm and s.rm.get(setup.asking(k)) == "accepted" and setup.once(k) not in setup.recovered:
            yield ("ask", k), {k: "asked"}, "AddAsk"
        if s.rm.get(k) == "asked":
            yield ("withdraw", k), {k: "withdrawn"}, "ReleaseAsk"
    for x in setup.things("x"):
        if s.rm.get(x) == "running":
            yield ("give_back", x), {x: "given back"}, "ReleaseAllocation"
    for n in setup.things("n"):
        recovered = [x for x in setup.things("x") if setup.node_of(x) == n and setup.is_recovered(x)]
        able = s.rm.get(setup.partition_of(n)) == "registered"
        if n not in s.rm and able and all(s.rm.get(setup.app_of(x)) == "accepted" for x in recovered):
            yield ("add_node", n), {n: "registering", **dict.fromkeys(recovered, "running")}, "AddNode"
        if s.rm.get(n) == "accepted":
            yield ("decommission", n), {n: "decommissioned"}, "DecommissionNode"


def moves(s: State) -> Iterator[tuple[Move, State]]:
    """All that can happen next."""
    if s.stopped:
        return
    setup = s.setup
    for move, known, kind in wishes(s):
        if s.can_say(kind):
            after = s.copy()
            after.rm.update(known)
            by_the_cache = setup.repaired and kind == "RemovePartition"
            after.send("ConfigDropsPartition" if by_the_cache else kind, move[1])
            yield move, checked(after)
    for name, queue in s.queues.items():
        if queue:
            after = s.copy()
            kind, thing = after.queues[name].pop(0)
            {
                "rm>cache": after.cache_hears,
                "scheduler>cache": after.cache_hears,
                "scheduler": after.scheduler_hears,
                "rm": after.rm_hears,
            }[name](kind, thing)
            yield (kind, thing), checked(after)
    for x in setup.things("x"):
        occupied = any(y in s.scheduler for y in setup.things("x") if setup.node_of(y) == setup.node_of(x))
        able = (
            s.scheduler.get(setup.ask_of(x)) == "pending"
            and s.finds(setup.app_of(x))
            and setup.node_of(x) in s.scheduler
        )
        if able and not occupied and s.can_say("ProposeAllocation"):
            after = s.copy()
            after.scheduler[x], after.scheduler[setup.ask_of(x)] = "proposed", "allocating"
            after.send("ProposeAllocation", x)
            yield ("propose", x), checked(after)
        if s.scheduler.get(x) == "confirmed" and s.finds(setup.app_of(x)) and s.can_say("ProposeRelease"):
            after = s.copy()
            if setup.repaired:
                del after.scheduler[x]
            else:
                after.scheduler[x] = "preempting"
            after.send("ProposeRelease", x)
            yield ("preempt", x), checked(after)
    for p in setup.things("p"):
        if s.scheduler.get(p) != "stopped":
            continue
        things = [*setup.things("a"), *setup.things("n")]
        left = [thing for thing in things if thing in s.scheduler and setup.partition_of(thing) == p]
        for thing in left:
            after = s.copy()
            after.scheduler_drops(thing)
            yield ("manager removes", thing), checked(after)
        if not left:
            after = s.copy()
            del after.scheduler[p]
            after.send("PartitionRemoved", p)
            yield ("manager ends", p), checked(after)


def checked(after: State) -> State:
    """A queue that is too full stops the process."""
    after.stopped = any(len(after.queues[name]) > room for name, room in after.setup.room.items())
    return after


# --- what the document requires

Bad = Callable[[State, Move, State], bool]


def nodes_twice(is_there: Callable[[Thing], bool], s: State) -> bool:
    held = [s.setup.node_of(x) for x in s.setup.things("x") if is_there(x)]
    return len(held) != len(set(held))


def agree(s: State) -> bool:
    """Both have the same objects: of a partition the scheduler has still some while it is stopped."""
    return s.cache == {thing for thing in s.scheduler if thing[0] != "k"}


def at_rest(s: State) -> bool:
    return not s.queues["scheduler"] and not s.queues["scheduler>cache"] and "stopped" not in s.scheduler.values()


def gone_first(letter: str) -> Bad:
    return lambda s, move, after: any(
        t[0] == letter and t in s.cache - after.cache and t in s.scheduler for t in s.setup.things(letter)
    )


BAD_STEPS: dict[str, Bad] = {
    "accepted-allocations-are-confirmed": lambda s, move, after: (
        move[0] == "AcceptedAllocation"
        and not (s.scheduler.get(move[1]) == "proposed" and after.scheduler.get(move[1]) == "confirmed")
    ),
    "confirmed-allocations-are-there": lambda s, move, after: any(
        s.scheduler.get(x) == "proposed" and after.scheduler.get(x) == "confirmed" and x not in s.cache
        for x in s.setup.things("x")
    ),
    "nothing-is-released-twice": lambda s, move, after: (
        move[0] == "AllocationReleased" and s.rm.get(move[1]) == "ended"
    ),
    "told-allocations-are-confirmed": lambda s, move, after: (
        move[0] == "NewAllocation" and s.scheduler.get(move[1]) not in ("confirmed", "preempting")
    ),
    "allocations-are-told-once": lambda s, move, after: move[0] == "NewAllocation" and move[1] in s.rm,
    "nodes-are-removed-from-the-scheduler-first": gone_first("n"),
    "applications-are-removed-from-the-scheduler-first": gone_first("a"),
    "allocations-are-removed-from-the-scheduler-first": gone_first("x"),
    "partitions-are-removed-from-the-scheduler-first": gone_first("p"),
}

BAD_STATES: dict[str, Callable[[State], bool]] = {
    "copies-agree-at-rest": lambda s: at_rest(s) and not agree(s),
    "scheduler-nodes-hold-one-allocation": lambda s: nodes_twice(lambda x: x in s.scheduler, s),
    "cache-nodes-hold-one-allocation": lambda s: nodes_twice(lambda x: x in s.cache, s),
    "no-queue-overflows": lambda s: s.stopped,
}

WISHES = {
    "register",
    "config_adds",
    "config_drops",
    "remove_partition",
    "submit",
    "remove_application",
    "ask",
    "withdraw",
}
WISHES |= {"give_back", "add_node", "decommission"}


@dataclass
class Explored:
    """How many states and steps there are, and how long the shortest run is that violates a property."""

    states: int
    transitions: int
    depth: int
    broken: dict[str, int]


def explore(setup: Setup) -> Explored:
    """All reachable states, breadth first."""
    first = State.first(setup)
    known: dict[Frozen, tuple[int, State]] = {first.frozen(): (0, first)}
    back: dict[Frozen, list[Frozen]] = {}
    queue, transitions, broken = deque([first]), 0, {}

    def breaks(name: str, length: int) -> None:
        broken[name] = min(broken.get(name, length), length)

    while queue:
        s = queue.popleft()
        key = s.frozen()
        depth = known[key][0]
        for name, bad in BAD_STATES.items():
            if bad(s):
                breaks(name, depth)
        for move, after in moves(s):
            transitions += 1
            for name, bad_step in BAD_STEPS.items():
                if bad_step(s, move, after):
                    breaks(name, depth + 1)
            reached = after.frozen()
            if move[0] not in WISHES:
                back.setdefault(reached, []).append(key)
            if reached not in known:
                known[reached] = (depth + 1, after)
                queue.append(after)
    reaching = [key for key, (_, s) in known.items() if at_rest(s) and agree(s)]
    able = set(reaching)
    while reaching:
        for before in back.get(reaching.pop(), ()):
            if before not in able:
                able.add(before)
                reaching.append(before)
    for key, (depth, s) in known.items():
        if key not in able and not s.stopped:
            breaks("copies-can-agree-again", depth)
    return Explored(len(known), transitions, max(depth for depth, _ in known.values()), broken)

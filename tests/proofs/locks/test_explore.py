"""The explorer of threads against one that was written anew: :mod:`tests.proofs.locks.brute_force`.

The nine deadlocks and their fixes, in programs that were translated by hand; then programs made at random.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
import yaml

from schedproof.model.locks import Locks, LocksError, parse, read
from schedproof.model.locks.language import Acquire, Mode, Release
from schedproof.proofs.locks.explore import Explored, explore_all
from schedproof.proofs.locks.kinds import Kind, rests
from schedproof.proofs.locks.semantics import Machine, State
from schedproof.proofs.locks.unfold import World, unfold
from tests.proofs.locks import brute_force as brute
from tests.proofs.locks.brute_force import Body, Capacities, End
from tests.support.places import MODELS
from tests.support.rows import each_row
from tests.support.sample import thinned

DEADLOCKS = MODELS / "yunikorn_merge" / "deadlocks"
HOW = {"r": "rlock", "w": "wlock", "m": "lock"}


class Case(NamedTuple):
    """Threads by name, their locks (rw or mutex), their channels."""

    threads: Mapping[str, Body]
    locks: Mapping[str, str]
    channels: Capacities = {}  # noqa: RUF012 - never written

    def brute(self) -> brute.BruteForceResult:
        return brute.explore(list(self.threads.values()), list(self.locks), self.channels)

    def description(self) -> Locks:
        """The same, in the words of a description."""
        data: dict[str, object] = {
            "objects": dict(self.locks),
            "channels": {name: "unbounded" if room is None else room for name, room in self.channels.items()},
            "threads": {name: _steps(body) for name, body in self.threads.items()},
        }
        return parse(yaml.safe_dump({key: value for key, value in data.items() if value}, sort_keys=False), "made.yaml")


def _steps(body: Body) -> list[object]:
    steps: list[object] = []
    for step in body:
        match step[0]:
            case "get":
                steps.append(f"{HOW[step[1]]} {step[2]}")
            case "put":
                steps.append(f"unlock {step[1]}")
            case "with":
                steps.append({f"{HOW[step[1]]} {step[2]}": _steps(step[3])})
            case "try":
                steps.append({f"try {HOW[step[1]]} {step[2]}": _steps(step[3])})
            case "one of":
                steps.append({"either": [_steps(each) for each in step[1:]]})
            case "send" | "recv":
                steps.append(f"{'send' if step[0] == 'send' else 'receive'} {step[1]}")
            case "forever":
                steps.append({"serve": _steps(step[1])})
    return steps


def ends(locks: Locks, *, reduced: bool) -> tuple[int, frozenset[End]]:
    """How many states the explorer's own machine has, and its ends in the terms of the brute force."""
    world = World(locks)
    programs = [unfold(world, thread) for thread in locks.threads.values()]
    machine = Machine(programs, len(locks.objects), list(locks.channels.values()))
    seen = set(machine.starts())
    stack, all_ends = list(seen), set()
    while stack:
        state = stack.pop()
        after = [a for _, a in machine.moves(state, reduced=reduced)]
        if not after and all(machine.releases(state, thread) is not None for thread in range(len(programs))):
            all_ends.add(_end(machine, world, state))
        new = {a for a in after if a not in seen}
        seen |= new
        stack += new
    return len(seen), frozenset(all_ends)


def _end(machine: Machine, world: World, state: State) -> End:
    would: list[str | None] = []
    holds = []
    for thread in range(len(machine.programs)):
        instruction = machine.instruction(state, thread)
        if instruction is None:
            would.append(None)
        elif instruction.kind is Acquire:
            how = {Mode.READ: "r", Mode.WRITE: "w", Mode.LOCK: "m"}[instruction.mode or Mode.LOCK]
            would.append(f"get {how} {instruction.on}")
        elif instruction.kind is Release:
            would.append(f"put {instruction.on}")
        else:
            would.append(f"{'recv' if instruction.how == 'receive' else 'send'} {instruction.on}")
        locks = []
        for name, lock in sorted(zip(world.names, state.locks, strict=True)):
            locks += [f"{name} r"] * lock.readers.count(thread) + ([f"{name} w"] if lock.holder == thread else [])
        holds.append(tuple(locks))
    resting = tuple(would[t] is not None and rests(machine, state, t) for t in range(len(machine.programs)))
    return End(tuple(would), tuple(holds), resting)


def agree(case: Case, *, count: bool = True) -> None:
    """The two explorers see the same ends, as many states, and problems as far away."""
    expected, locks = case.brute(), case.description()
    states, all_ends = ends(locks, reduced=False)
    assert all_ends == expected.ends
    if count:
        assert states == expected.states
    fewer, same_ends = ends(locks, reduced=True)
    assert same_ends == expected.ends, "the reduction loses or invents an end"
    assert fewer <= states
    full, reduced = explore_all(locks, reduced=False), explore_all(locks)
    assert kinds(full) == kinds(reduced)
    for explored in (full, reduced):
        assert explored.complete
        checked(explored, expected, serves(case))
    assert full.states == states
    if full.problems:  # a search among real states reports them; if threads serve, one with all steps
        assert reduced.states == (states if serves(case) else fewer)
    else:
        assert reduced.states <= fewer


def kinds(explored: Explored) -> set[tuple[Kind, frozenset[str], frozenset[str]]]:
    return {(p.kind, frozenset(p.threads), frozenset(p.on)) for p in explored.problems}


def serves(case: Case) -> bool:
    """A thread has no end: then a stuck thread is reported before all are stuck."""
    return any(step[0] == "forever" for body in case.threads.values() for step in body)


def checked(explored: Explored, expected: brute.BruteForceResult, serves: bool = False) -> None:
    """The problems are those that the brute force knows of."""
    other = [p for p in explored.problems if p.kind is not Kind.NOT_HELD]
    if serves:
        assert any(p.kind is not Kind.LEAKED for p in other) == bool(expected.frozen)
        assert min((len(p.steps) for p in other), default=0) <= expected.to_a_bad_end or not expected.to_a_bad_end
        return
    assert any(p.kind is Kind.LEAKED for p in other) == expected.leaks
    assert bool(other) == (expected.leaks or expected.stuck)
    if any(p.kind is not Kind.LEAKED for p in other):
        assert expected.stuck
    if expected.stuck and not expected.leaks:
        assert any(p.kind is not Kind.LEAKED for p in other)
    assert min((len(p.steps) for p in other), default=0) == expected.to_a_bad_end


# --- the nine, by hand


def rw(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "rw")


def get(how: str, lock: str, *body: tuple[object, ...]) -> tuple[object, ...]:
    return ("with", how, lock, body)


READ_QUEUE = get("r", "queue")
NINE: dict[str, Case] = {
    # SELF: DecPendingResource holds the queue for writing and reads it again.
    "core-54": Case({"scheduler": (get("w", "queue", READ_QUEUE),)}, rw("queue")),
    "core-54-fixed": Case({"scheduler": (get("w", "queue"),), "reader": (READ_QUEUE,)}, rw("queue")),
    # AB: parent R -> child R against child W -> parent W.
    "core-50": Case(
        {"scheduler": (get("r", "parent", get("r", "child")),), "events": (get("w", "child", get("w", "parent")),)},
        rw("parent", "child"),
    ),
    "core-50-fixed": Case(
        {"scheduler": (get("r", "parent", get("r", "child")),), "events": (get("w", "child"), get("w", "parent"))},
        rw("parent", "child"),
    ),
    # AB: partition W -> application W against application W -> partition R.
    "yunikorn-481": Case(
        {
            "events": (get("w", "partition", get("w", "application")),),
            "scheduler": (get("w", "application", get("r", "partition")),),
        },
        rw("partition", "application"),
    ),
    "yunikorn-481-fixed": Case(
        {
            "events": (get("r", "partition"), get("w", "application")),
            "scheduler": (get("w", "application", get("r", "partition")),),
        },
        rw("partition", "application"),
    ),
    # RR: the queue is read inside a read of it, and a writer comes in between.
    "yunikorn-793": Case({"web": (get("r", "queue", READ_QUEUE),), "scheduler": (get("w", "queue"),)}, rw("queue")),
    "yunikorn-793-fixed": Case({"web": (READ_QUEUE,), "scheduler": (get("w", "queue"),)}, rw("queue")),
    # LK: RLock where RUnlock was meant.
    "yunikorn-974": Case(
        {
            "checker": (("get", "r", "application", 1), ("get", "r", "application", 2)),
            "scheduler": (get("w", "application"),),
        },
        rw("application"),
    ),
    "yunikorn-974-fixed": Case(
        {"checker": (("get", "r", "application"), ("put", "application")), "scheduler": (get("w", "application"),)},
        rw("application"),
    ),
    # AB with a writer: proxy R -> context W, context W -> proxy R, and somebody announces a write of the proxy.
    "yunikorn-2543": Case(
        {
            "proxy": (get("r", "proxy", get("w", "context")),),
            "shim": (get("w", "context", get("r", "proxy")),),
            "registration": (get("w", "proxy"),),
        },
        rw("proxy", "context"),
    ),
    "yunikorn-2543-fixed": Case(
        {
            "proxy": (get("r", "proxy"), get("w", "context")),
            "shim": (get("w", "context", get("r", "proxy")),),
            "registration": (get("w", "proxy"),),
        },
        rw("proxy", "context"),
    ),
    # AB: parent W -> child W against child W -> parent W.
    "yunikorn-2548": Case(
        {"config": (get("w", "parent", get("w", "child")),), "scheduler": (get("w", "child", get("w", "parent")),)},
        rw("parent", "child"),
    ),
    "yunikorn-2548-fixed": Case(
        {"config": (get("w", "parent", get("w", "child")),), "scheduler": (get("w", "child"), get("w", "parent"))},
        rw("parent", "child"),
    ),
    # CH: the context is held until the core has answered, which calls the context back first.
    "yunikorn-2630": Case(
        {
            "shim": (get("w", "context", ("send", "requests"), ("recv", "answers")),),
            "core": (("forever", (("recv", "requests"), get("r", "context"), ("send", "answers"))),),
        },
        rw("context"),
        {"requests": 1, "answers": 1},
    ),
    "yunikorn-2630-fixed": Case(
        {
            "shim": (get("w", "context"), ("send", "requests"), ("recv", "answers")),
            "core": (("forever", (("recv", "requests"), get("r", "context"), ("send", "answers"))),),
        },
        rw("context"),
        {"requests": 1, "answers": 1},
    ),
    # SELF: the victims of an application's queue are those of the queue, itself among them.
    "yunikorn-2806": Case(
        {"scheduler": (get("w", "application", get("r", "application"), get("r", "other")),)},
        rw("queue", "application", "other"),
    ),
    "yunikorn-2806-fixed": Case(
        {"scheduler": (get("w", "application", get("r", "other")),)}, rw("queue", "application", "other")
    ),
}

EXPECTED = {
    # The table of facts 5.4, and the shortest interleavings as counted by hand: each lock that is got is a step, a
    # read that has to wait and a write that announces itself are steps too, a write behind a writer is none.
    "core-54": (Kind.SELF, 2),
    "core-50": (Kind.REVERSED, 4),  # both first locks; the reader waits; the writer announces itself to the reader
    "yunikorn-481": (Kind.REVERSED, 3),  # both first locks; the reader of the partition waits
    "yunikorn-793": (Kind.READ_AGAIN, 3),
    "yunikorn-974": (Kind.LEAKED, 3),  # two reads and the writer's announcement
    "yunikorn-2543": (Kind.REVERSED, 4),
    "yunikorn-2548": (Kind.REVERSED, 2),
    "yunikorn-2630": (Kind.MESSAGE, 4),  # context, request sent, request taken, the read of the context waits
    "yunikorn-2806": (Kind.SELF, 2),
}


@each_row("name", NINE)
def test_nine_deadlocks_and_their_fixes_end_as_by_brute_force(name: str) -> None:
    case, locks = NINE[name], read(DEADLOCKS / f"{name}.yaml")
    expected = case.brute()
    states, all_ends = ends(locks, reduced=False)
    assert all_ends == expected.ends
    assert states == expected.states
    assert ends(locks, reduced=True)[1] == expected.ends
    checked(explore_all(locks), expected)
    agree(case)


@each_row("name", NINE)
def test_the_nine_are_of_their_kind_and_their_fixes_of_none(name: str) -> None:
    explored = explore_all(read(DEADLOCKS / f"{name}.yaml"))
    if name.endswith("-fixed"):
        assert explored.problems == () and explored.complete
        assert not NINE[name].brute().frozen
    else:
        first = explored.problems[0]
        assert (first.kind, len(first.steps)) == EXPECTED[name]
        assert first.writer == (name == "yunikorn-2543")
        assert NINE[name].brute().to_a_bad_end == EXPECTED[name][1]


def test_every_description_of_a_deadlock_is_tested() -> None:
    names = {file.stem for file in DEADLOCKS.glob("*.yaml")}
    assert names == {*NINE, "sentence-245"}


# --- made at random


class Maker:
    """Programs that put back only what they got, now and then forget to, and now and then get it twice."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.label = 0
        names = ["x", "y", "z"][: self.random.choice([2, 2, 3])]
        self.locks = {name: self.random.choice(["rw", "rw", "mutex"]) for name in names}
        self.channels: dict[str, int | None] = {"c": self.random.choice([0, 1, 2, None])}

    def case(self) -> Case:
        threads = self.random.choice([2, 2, 3])
        left = {2: 4, 3: 3}[threads]
        made = {name: self.body(left, top=True) for name in ["one", "two", "three"][:threads]}
        used = "c" in repr([step for body in made.values() for step in flat(body) if step[0] in ("send", "recv")])
        return Case(made, self.locks, self.channels if used else {})

    def new(self) -> int:
        self.label += 1
        return self.label

    def how(self, lock: str) -> str:
        return "m" if self.locks[lock] == "mutex" else self.random.choice(["r", "r", "w"])

    def body(self, left: int, *, top: bool = False) -> Body:
        made: list[tuple[object, ...]] = []
        held: list[str] = []
        while left > 0:
            lock = self.random.choice(list(self.locks))
            match self.random.choice(["with", "with", "with", "get", "put", "channel", "one of"]):
                case "with":
                    inside = self.random.randint(0, left - 1)
                    made.append(("with", self.how(lock), lock, self.body(inside), self.new()))
                    left -= 1 + inside
                case "get" if top:
                    made.append(("get", self.how(lock), lock, self.new()))
                    held.append(lock)
                    left -= 1
                case "put" if held:
                    lock = held.pop(self.random.randrange(len(held)))
                    made.append(("put", lock, self.new()))
                case "channel" if self.random.random() < 0.5:
                    made.append((self.random.choice(["send", "recv"]), "c", self.new()))
                    left -= 1
                case "one of":
                    first, second = self.body(self.random.randint(0, left)), self.body(self.random.randint(0, left))
                    made.append(("one of", first, second))
                    left -= left
        if held and self.random.random() < 0.7:
            made += [("put", lock, self.new()) for lock in reversed(held)]
        if top and self.random.random() < 0.1:
            made = [("forever", (("recv", "c", self.new()), *made))]
        return tuple(made)


def flat(body: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    steps = []
    for step in body:
        steps.append(step)
        for part in step:
            if isinstance(part, tuple) and part and isinstance(part[0], tuple):
                steps += flat(part)
    return steps


def random_programs(seeds: range) -> None:
    """A gate for the explorer: it agrees with the brute force on the programs of these seeds."""
    for seed in seeds:
        case = Maker(seed).case()
        try:
            agree(case)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}: {error}") from error


@pytest.mark.long
@pytest.mark.parametrize("part", thinned(range(4), 4))
def test_random_programs_end_as_by_brute_force(part: int) -> None:
    random_programs(range(part * 50, part * 50 + 50))


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("part", range(8))
def test_many_random_programs_end_as_by_brute_force(part: int) -> None:
    random_programs(range(1000 + part * 200, 1000 + part * 200 + 200))


@pytest.mark.long
def test_random_programs_are_of_all_sorts() -> None:
    """Half of them stuck, some leaking, most not: else there is little to agree on."""
    results = [Maker(seed).case().brute() for seed in range(120)]
    assert sum(f.stuck for f in results) > 20
    assert sum(f.leaks for f in results) > 5
    assert sum(not f.stuck and not f.leaks for f in results) > 10
    assert max(f.states for f in results) > 100


# --- what is let go that is not held


def unlocks(seeds: range) -> None:
    """A gate: both explorations report a thread that releases what it does not hold."""
    for seed in seeds:
        maker = Maker(seed)
        case = maker.case()
        spoilt = maker.random.choice(list(case.threads))
        at = maker.random.randint(0, len(case.threads[spoilt]))
        body = list(case.threads[spoilt])
        if body and body[0][0] == "forever":
            continue
        body.insert(at, ("put", maker.random.choice(list(case.locks)), maker.new()))
        case = Case({**case.threads, spoilt: tuple(body)}, case.locks, case.channels)
        expected = case.brute()
        for reduced in (True, False):
            problems = [p for p in explore_all(case.description(), reduced=reduced).problems if p.kind is Kind.NOT_HELD]
            assert bool(problems) == bool(expected.to_an_error), f"seed {seed}: {case}"
            assert all(len(p.steps) >= expected.to_an_error for p in problems)
            if not reduced:
                assert min((len(p.steps) for p in problems), default=0) == expected.to_an_error


@pytest.mark.long
def test_an_unlock_without_a_lock_is_reported() -> None:
    unlocks(range(80))


# --- what the explorer does not see


def frozen(case: Case) -> bool:
    """By the brute force some thread never moves again, even if others do."""
    return bool(case.brute().frozen)


REVERSED: dict[str, Body] = {"one": (get("m", "a", get("m", "b")),), "other": (get("m", "b", get("m", "a")),)}


def test_two_stuck_threads_are_reported_while_a_third_goes_on() -> None:
    case = Case({**REVERSED, "loop": (("forever", (get("m", "z"),)),)}, dict.fromkeys("abz", "mutex"))
    assert frozen(case)
    assert explore_all(case.description()).problems


def test_two_stuck_threads_are_reported_while_two_others_talk() -> None:
    talk: dict[str, Body] = {
        "ticker": (("forever", (("send", "ticks"),)),),
        "listener": (("forever", (("recv", "ticks"),)),),
    }
    case = Case({**REVERSED, **talk}, dict.fromkeys("ab", "mutex"), {"ticks": 1})
    assert frozen(case)
    assert explore_all(case.description()).problems


@pytest.mark.parametrize("reduced", [True, False])
def test_a_deadlock_is_reported_beside_a_wrong_unlock(reduced: bool) -> None:
    # The first two can be stuck before the third has done anything.
    threads: dict[str, Body] = {"bad": (("put", "c"),), **REVERSED}
    case = Case(threads, dict.fromkeys("abc", "mutex"))
    assert {p.kind for p in explore_all(case.description(), reduced=reduced).problems} == {
        Kind.NOT_HELD,
        Kind.REVERSED,
    }


def test_the_way_to_an_unlock_of_what_is_not_held_is_a_shortest() -> None:
    threads: dict[str, Body] = {
        "one": (get("m", "y", ("send", "c")),),
        "two": (("recv", "c"), ("put", "x")),
    }
    case = Case(threads, {"x": "mutex", "y": "mutex"}, {"c": 1})
    assert case.brute().to_an_error == 4  # lock y, send, receive, unlock x
    (problem,) = explore_all(case.description()).problems
    assert len(problem.steps) == 4


def test_a_choice_of_nothing_is_refused() -> None:
    text = "objects: {a: mutex}\nthreads:\n  one:\n    - either: []\n    - lock a\n"
    with pytest.raises(LocksError, match="'either' has no alternatives"):
        parse(text, "made.yaml")


def test_two_threads_whose_names_end_in_digits_are_two() -> None:
    case = Case({"t1": (("get", "r", "a"),), "t2": (("get", "r", "a"),)}, rw("a"))
    assert {p.threads for p in explore_all(case.description()).problems} == {("t1",), ("t2",)}

"""Locks that are ordered by key: the proof for any number of objects, beside programs followed anew on two and three objects.

A program is a nested tuple. It is followed here without the engines: to the locks that it acquires and releases, one after
the other. From these come the pairs of locks of which one is acquired under the other, and the standstills of two threads.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import pytest
import yaml

from schedproof.model.locks import Locks, parse
from schedproof.model.locks.language import Mode
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.log import Acquisition, validate_log
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.locks.rank import check_order
from schedproof.proofs.verdict import Method, Verdict

CLASSES = "classes:\n  Table: {lock: mutex}\n  Shard: {lock: mutex, in: Table, has: [rows]}\n  Log: {lock: mutex}\n"
ORDER = "order: ['Table > Shard', Shard > Shard after it, 'Shard > Log', 'Table > Log']\n"
Step = tuple[Any, ...]
Trace = tuple[tuple[str, str], ...]
"""What is acquired ("+") and released ("-")."""


class Case(NamedTuple):
    """Operations of two shards, their table and the log, by name."""

    operations: Mapping[str, Sequence[Step]]

    def text(self, shards: int = 0) -> str:
        """The lock file, with so many shards; and with threads for each choice of two of them."""
        operations = {
            f"{name}(Shard a, Shard b, Table t, Log l)": as_yaml(steps) for name, steps in self.operations.items()
        }
        data: dict[str, object] = {"operations": operations}
        if shards:
            data["objects"] = {"t": "Table", "l": "Log", **{f"s{n}": "Shard in t" for n in range(shards)}}
            data["threads"] = {
                f"{name}-{a}-{b}": [f"{name}(s{a}, s{b}, t, l)"]
                for name, (a, b) in product(self.operations, product(range(shards), repeat=2))
            }
            data["together"] = 2
        return CLASSES + ORDER + yaml.safe_dump(data, sort_keys=False)

    def description(self, shards: int = 0) -> Locks:
        return parse(self.text(shards), "made.yaml")


def as_yaml(steps: Sequence[Step]) -> list[object]:
    lines: list[object] = []
    for step in steps:
        match step:
            case ("lock", name, body):
                lines.append({f"lock {name}": as_yaml(body)})
            case ("if", first, how, second, body):
                lines.append({f"if {first} {how} {second}": as_yaml(body)})
            case (("each" | "several") as how, where, body):
                lines.append({f"lock {how} Shard{where}": as_yaml(body)})
            case ("call", name, a, b):
                lines.append(f"{name}({a}, {b}, t, l)")
    return lines


def traces(case: Case, steps: Sequence[Step], scope: Mapping[str, str], shards: int) -> Iterator[Trace]:
    """Every way in which steps acquire and release locks, on so many shards."""
    if not steps:
        yield ()
        return
    for first, rest in product(list(one(case, steps[0], scope, shards)), list(traces(case, steps[1:], scope, shards))):
        yield first + rest


def one(case: Case, step: Step, scope: Mapping[str, str], shards: int) -> Iterator[Trace]:
    match step:
        case ("lock", name, body):
            for inside in traces(case, body, scope, shards):
                yield ((scope[name], "+"), *inside, (scope[name], "-"))
        case ("if", first, how, second, body):
            a, b = scope[first], scope[second]  # names of shards are in the order of their keys
            holds = {"before": a < b, "after": a > b, "is": a == b}[how]
            yield from traces(case, body, scope, shards) if holds else [()]
        case (("each" | "several") as how, _, body):
            every = [f"s{n}" for n in range(shards)]
            choices = product([False, True], repeat=shards) if how == "several" else [[True] * shards]
            for choice in choices:
                names = [name for name, chosen in zip(every, choice, strict=True) if chosen]
                for inside in traces(case, body, scope, shards):
                    yield (*((name, "+") for name in names), *inside, *((name, "-") for name in reversed(names)))
        case ("call", name, a, b):
            yield from traces(case, case.operations[name], {**scope, "a": scope[a], "b": scope[b]}, shards)


def of_operation(case: Case, name: str, shards: int) -> set[Trace]:
    """The ways of an operation, for all arguments."""
    return {
        trace
        for a, b in product(range(shards), repeat=2)
        for trace in traces(case, case.operations[name], {"a": f"s{a}", "b": f"s{b}", "t": "t", "l": "l"}, shards)
    }


def rises(held: str, acquired: str) -> bool:
    """Whether the order lets a thread acquire a lock under another one: shards, by key, are between table and log."""
    return (
        (held, acquired) != (acquired, held)
        and "tsl".index(held[0]) <= "tsl".index(acquired[0])
        and (held[0] != acquired[0] or held < acquired)
    )


def keeps_the_order(trace: Trace) -> bool:
    held: list[str] = []
    for name, what in trace:
        if what == "-":
            held.remove(name)
            continue
        if not all(rises(other, name) for other in held):
            return False
        held.append(name)
    return True


def stands_still(two: Sequence[Trace]) -> bool:
    """Whether threads, each with a way, can come to a state in which one waits for ever."""
    seen, open_ = {(0,) * len(two)}, [(0,) * len(two)]
    while open_:
        at = open_.pop()
        held = {name for trace, n in zip(two, at, strict=True) for name in holding(trace[:n])}
        after = [
            (*at[:k], at[k] + 1, *at[k + 1 :])
            for k, trace in enumerate(two)
            if at[k] < len(trace) and (trace[at[k]][1] == "-" or trace[at[k]][0] not in held)
        ]
        if not after and any(n < len(trace) for trace, n in zip(two, at, strict=True)):
            return True
        open_ += [each for each in after if each not in seen]
        seen.update(after)
    return False


def holding(trace: Trace) -> list[str]:
    names = [name for name, _ in trace]
    return [name for name in dict.fromkeys(names) if names.count(name) % 2]


def made(seed: int) -> Case:
    chance = random.Random(seed)

    def steps(deep: int, free: tuple[str, ...]) -> list[Step]:
        return [step(deep, free) for _ in range(chance.choice((1, 1, 1, 2)))] if deep and free else []

    def step(deep: int, free: tuple[str, ...]) -> Step:
        draw = chance.random()
        if draw < 0.35:
            first, second = chance.choice((("a", "b"), ("b", "a")))
            how = chance.choice(("before", "before", "after", "is"))
            return "if", first, how, second, steps(deep - 1, free) or [lock(free)]
        if draw < 0.5 and "a" in free and "b" in free:
            where = chance.choice(("", " in t"))
            return chance.choice(("each", "several")), where, steps(deep - 1, tuple(n for n in free if n in "l"))
        if draw < 0.6 and "a" in free and "b" in free and called:
            return "call", chance.choice(called), *chance.choice((("a", "b"), ("b", "a")))
        name = chance.choice(free)
        return "lock", name, steps(deep - 1, tuple(each for each in free if each != name))

    def lock(free: tuple[str, ...]) -> Step:
        return "lock", free[0], [("lock", free[1], [])] if len(free) > 1 else []

    called: list[str] = []
    operations: dict[str, list[Step]] = {}
    for name in ("one", "two"):
        # An order of the names in which a program is likely to keep the order of locks.
        free = chance.choice((("t", "a", "b", "l"), ("a", "b"), ("a", "b", "l"), ("b", "a")))
        operations[name] = steps(3, free)
        called.append(name)
    return Case(operations)


def agrees(seeds: range) -> tuple[int, int]:
    """A gate: an operation is proved exactly if it keeps the order on three shards; gives how many were, and were not."""
    proved = refuted = 0
    for seed in seeds:
        case = made(seed)
        answers = {answer.check.name: answer for answer in model_check(case.description()).answers}
        for name in case.operations:
            keeps = all(keeps_the_order(trace) for trace in of_operation(case, name, 3))
            answer = answers[f"{name}-follows-the-order"]
            assert answer.verdict is (Verdict.PROVED if keeps else Verdict.REFUTED), (seed, name, case.text())
            assert not keeps or answer.method in (Method.INDUCTION, Method.CONSTRUCTION)
            proved, refuted = proved + keeps, refuted + (not keeps)
    return proved, refuted


def frees_from_deadlock(seeds: range, shards: Sequence[int] = (2, 3)) -> tuple[int, int]:
    """A gate: what is proved never deadlocks, and the explorer finds what stands still; gives how many did, and did not."""
    ends = stands = 0
    for seed, number in product(seeds, shards):
        case = made(seed)
        every = sorted({trace for name in case.operations for trace in of_operation(case, name, number)})
        expected = any(stands_still(two) for two in combinations_with_replacement(every, 2))
        explored = explore_all(case.description(number))
        assert explored.complete
        assert bool(explored.problems) == expected, (seed, number, case.text(number))
        if expected:
            verdicts = [a.verdict for a in model_check(case.description()).answers if a.check.kind == "lock program"]
            assert Verdict.REFUTED in verdicts, (seed, number, case.text())
        ends, stands = ends + (not expected), stands + expected
    return ends, stands


P, R, U = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDETERMINED
RULE = "rules: {guarded: write Shard.rows needs lock}\n"
BY_HAND: dict[str, tuple[str, Mapping[str, Verdict]]] = {
    # The operations, and the verdicts of some checks: of each of its steps there is a reason in the name.
    "the lower key first, whichever it is": (
        "  go(Shard a, Shard b):\n    - if a before b: [lock a: [lock b: []]]\n    - if b before a: [lock b: [lock a: []]]\n",
        {"go-follows-the-order": P, "locks-are-released": P},
    ),
    "both as they come": ("  go(Shard a, Shard b): [lock a: [lock b: []]]\n", {"go-follows-the-order": R}),
    "one that is the other is held already": (
        "  go(Shard a, Shard b): [if a is b: [lock a: [lock b: []]]]\n",
        {"go-follows-the-order": R},
    ),
    "the caller compares": (
        "  two(Shard a, Shard b after a): [lock a: [lock b: []]]\n  go(Shard a, Shard b): [if a before b: ['two(a, b)']]\n",
        {"go-follows-the-order": P, "two-follows-the-order": P, "two-is-called-under-its-locks": P},
    ),
    "the caller compares wrongly": (
        "  two(Shard a, Shard b after a): [lock a: [lock b: []]]\n  go(Shard a, Shard b): [if b before a: ['two(a, b)']]\n",
        {"two-follows-the-order": P, "two-is-called-under-its-locks": R},
    ),
    "what is called knows what the caller compared": (
        "  two(Shard a, Shard b): [lock a: [lock b: []]]\n  go(Shard a, Shard b): [if a before b: ['two(a, b)']]\n",
        {"go-follows-the-order": P, "two-follows-the-order": R},
    ),
    "all, and one of them is read and written": (
        "  go(Table t): [lock each Shard in t: [each Shard s in t: [write s.rows]]]\n",
        {"go-follows-the-order": P, "guarded": P, "locks-are-released": P},
    ),
    "all of one table, and others are written": (
        "  go(Table t): [lock each Shard in t: [each Shard s: [write s.rows]]]\n",
        {"go-follows-the-order": P, "guarded": R},
    ),
    "some, and all are written": (
        "  go(Table t): [lock several Shard in t: [each Shard s in t: [write s.rows]]]\n",
        {"go-follows-the-order": P, "guarded": R},
    ),
    "what is called knows that all are held": (
        "  put(Shard s): {under: [lock s], steps: [write s.rows]}\n  go: [lock each Shard: [each Shard s: [put(s)]]]\n",
        {"go-follows-the-order": P, "guarded": P, "put-is-called-under-its-locks": P},
    ),
    "what is called knows that some may be held": (
        "  put(Shard s): [lock s: []]\n  go: [lock several Shard: [each Shard s: [put(s)]]]\n",
        {"go-follows-the-order": R, "put-follows-the-order": P},
    ),
    "all of two tables": (
        "  go(Table t, Table u): [lock each Shard in t: [lock each Shard in u: []]]\n",
        {"go-follows-the-order": R},
    ),
    "another class between": (
        "  go(Table t, Shard a, Log l): [lock t: [lock a: [lock l: []]]]\n",
        {"go-follows-the-order": P},
    ),
    "another class too early": (
        "  go(Shard a, Log l): [lock l: [lock each Shard: []]]\n",
        {"go-follows-the-order": R},
    ),
    "one after the other": ("  go: [each Shard s: [lock s: []]]\n", {"go-follows-the-order": P}),
    "in blocks apart, which no proof follows": (
        "  go: [each Shard s: [lock s], each Shard s: [unlock s]]\n",
        {"go-follows-the-order": U, "locks-are-released": U},
    ),
}


def by_hand() -> None:
    """A gate: the checks of operations with keys, each with a reason."""
    for name, (operations, expected) in BY_HAND.items():
        checked = model_check(parse(CLASSES + ORDER + RULE + "operations:\n" + operations, "made.yaml"))
        verdicts = {answer.check.name: answer.verdict for answer in checked.answers}
        seen = {check: verdicts[check] for check in expected}
        assert seen == expected, (name, seen)


def descending() -> None:
    """A gate: an order by key in the other direction is one too, and no loop keeps it."""
    text = CLASSES + "order: [Shard > Shard before it]\noperations:\n"
    text += "  go(Shard a, Shard b): [if a after b: [lock a: [lock b: []]]]\n  all: [lock each Shard: []]\n"
    verdicts = {answer.check.name: answer.verdict for answer in model_check(parse(text, "made.yaml")).answers}
    expected = {"order-is-acyclic": P, "go-follows-the-order": P, "all-follows-the-order": R}
    assert {name: verdicts[name] for name in expected} == expected


def closed() -> None:
    """A gate: a transitive order goes through the keys of a class between."""
    text = CLASSES + "closed: true\norder: ['Table > Shard', Shard > Shard after it, 'Shard > Log']\noperations:\n"
    text += "  go(Table t, Shard a, Shard b, Log l): [lock t: [if a before b: [lock a: [lock b: [lock l: []]]]]]\n"
    text += "  wrong(Shard a, Shard b): [if a before b: [lock b: [lock a: []]]]\n"
    verdicts = {answer.check.name: answer.verdict for answer in model_check(parse(text, "made.yaml")).answers}
    assert (verdicts["go-follows-the-order"], verdicts["wrong-follows-the-order"]) == (P, R)


EXPLORED = {
    # Threads on two shards and a log, and whether they can stand still.
    "both compare": (("if s2 after s1: [lock s1: [lock s2: []]]", "if s1 before s2: [lock s1: [lock s2: []]]"), False),
    "neither does": (("lock s1: [lock s2: []]", "lock s2: [lock s1: []]"), True),
    "what no key fits does not run": (("lock s1: [lock s2: []]", "if s2 before s1: [lock s2: [lock s1: []]]"), False),
    "one object is itself": (("if s1 is s1: [lock s1: [lock s1: []]]",), True),
    "two objects are not one": (("if s1 is s2: [lock s1: [lock s1: []]]",), False),
    "all, the lower key first": (("lock each Shard: []", "lock s1: [lock s2: []]"), False),
    "all, and the higher key first": (("lock each Shard: []", "lock s2: [lock s1: []]"), True),
    # Who holds only the second one waits for the log; of all, the first one would keep it from beginning.
    "any choice": (("lock several Shard: [lock l: []]", "lock s1: [lock l: [lock s2: []]]"), True),
    "all, with a lock that is first": (("lock each Shard: [lock l: []]", "lock s1: [lock l: [lock s2: []]]"), False),
}


def explored_by_hand() -> None:
    """A gate: threads with keys stand still, or do not, each with a reason."""
    for name, (threads, expected) in EXPLORED.items():
        text = CLASSES + "objects: {s1: Shard, s2: Shard, l: Log}\nthreads:\n"
        text += "".join(f"  t{n}: [{steps}]\n" for n, steps in enumerate(threads))
        assert bool(explore_all(parse(text, "made.yaml")).problems) == expected, name


def test_threads_with_keys_are_as_their_reasons_say() -> None:
    explored_by_hand()


def test_operations_with_keys_are_as_their_reasons_say() -> None:
    by_hand()


def test_an_order_by_key_may_descend_and_be_closed() -> None:
    descending()
    closed()


def test_two_directions_by_key_are_a_circle_of_two() -> None:
    order = check_order(parse(CLASSES + "order: [Shard > Shard after it, Shard > Shard before it]\n", "made.yaml"))
    assert order.rank is None
    assert [(edge.holding, edge.acquired) for edge in order.circle] == [("Shard 1", "Shard 2"), ("Shard 2", "Shard 1")]


def test_a_violation_by_key_shows_two_objects_and_two_threads() -> None:
    text = CLASSES + ORDER + "operations:\n  move(Shard from, Shard to):\n    - lock from:\n        - lock to: []\n"
    (answer,) = [a for a in model_check(parse(text, "made.yaml")).answers if a.check.name == "move-follows-the-order"]
    assert answer.steps == (
        "move with from = shard1, to = shard2: holds lock shard1 (made.yaml:8) and acquires lock shard2 (made.yaml:9)",
        "move with from = shard2, to = shard1: holds lock shard2 (made.yaml:8) and acquires lock shard1 (made.yaml:9)",
    )
    assert answer.problem == (
        "move with from = shard2, to = shard1: lock shard2 is held, and shard1 is not after it (Shard > Shard after it); "
        "a circle of 2 locks: shard1 > shard2 > shard1"
    )


def test_a_violation_that_needs_no_two_threads_shows_its_run() -> None:
    # Every thread acquires the higher key first, so no threads wait for each other.
    text = CLASSES + ORDER + "operations:\n  go(Shard a, Shard b): [if a after b: [lock a: [lock b: []]]]\n"
    (answer,) = [a for a in model_check(parse(text, "made.yaml")).answers if a.check.name == "go-follows-the-order"]
    assert (answer.verdict, answer.circles, answer.steps[-1]) == (R, None, "lock shard1 (made.yaml:7)")


def test_a_log_compares_keys_that_the_file_has() -> None:
    locks = parse(CLASSES + ORDER + "objects: {t: Table, s1: Shard in t, s2: Shard in t}\n", "made.yaml")
    rank = check_order(locks).rank

    def wrong(*names: str) -> str:
        records = [
            Acquisition(n, n, "t", name, "Shard", (), mode)
            for n, (name, mode) in enumerate(
                ((each.strip("-"), None if each[0] == "-" else Mode.LOCK) for each in names), 1
            )
        ]
        logged = validate_log(locks, rank, records)
        return logged.wrong.reason if logged.wrong is not None else ""

    assert wrong("s1", "s2") == ""
    assert "acquires Shard s1; the order is" in wrong("s2", "s1")
    # Other locks have unknown keys: only acquisitions in both directions are a circle.
    assert wrong("x", "y", "-y", "-x", "x", "y") == ""
    assert "a circle" in wrong("x", "y", "-y", "-x", "y", "x")


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 18), marks=pytest.mark.long)])
def test_proofs_by_key_agree_with_programs_followed_anew(seeds: range) -> None:
    proved, refuted = agrees(seeds)
    assert min(proved, refuted) > len(seeds) / 6


def test_what_follows_the_order_by_key_never_deadlocks() -> None:
    ends, stands = frees_from_deadlock(range(4), (2,))
    assert ends and stands


@pytest.mark.long(seconds=20, one_in=32)
@pytest.mark.parametrize("part", range(8))
def test_many_proofs_by_key_agree(part: int) -> None:
    agrees(range(1000 + part * 60, 1060 + part * 60))
    frees_from_deadlock(range(1000 + part * 20, 1020 + part * 20))


@pytest.mark.parametrize(
    "parameters",
    [
        "Shard a after b, Shard b after a",
        "Shard a after a, Shard b",
        "Table t after u, Table u after a.Table, Shard a in t, Shard b",
    ],
)
def test_parameters_in_no_positions_prove_nothing(parameters: str) -> None:
    """No objects are so: what is proved of all calls is proved of none."""
    order = ORDER.replace("order: [", "order: [Table > Table after it, ")
    text = f"{CLASSES}{order}operations:\n  'op({parameters})': [lock a: [lock b: []], lock b: [lock a: []]]\n"
    answers = {a.check.name: a for a in model_check(parse(text, "made.yaml")).answers}
    assert answers["op-follows-the-order"].verdict is Verdict.UNDETERMINED
    assert "no objects are in all the positions of its parameters" in answers["op-follows-the-order"].note

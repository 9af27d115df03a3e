"""Lock programs: what is proved of them for any objects against every run of them, by an interpreter written anew.

The interpreter knows programs as nested tuples, and objects as a table of what they are in.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import pytest
import yaml

from schedproof.model.locks import Locks, LocksError, parse
from schedproof.proofs.locks.model_check import LocksChecked, model_check
from schedproof.proofs.locks.unchecked import unchecked
from schedproof.proofs.verdict import Disagreement, Verdict
from tests.support.rows import each_row
from tests.support.sample import thinned

Step = tuple[Any, ...]
Held = tuple[tuple[str, str], ...]
Event = tuple[str, str, str, Held, Step]
"""What is done, to which object, which field or how, what is held just before, and the step."""

OBJECTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "p": ("P", ()),
    "r": ("P", ()),
    "root": ("Q", ("p",)),
    "left": ("Q", ("p", "root")),
    "leaf": ("Q", ("p", "left")),
    "alone": ("Q", ("r",)),
    "x": ("X", ("p", "leaf")),
    "y": ("X", ("p", "root")),
    "z": ("X", ("r", "alone")),
}


def outer(one: str, of: str) -> str | None:
    """What it is in of class ``of``; each object here is directly in all that it is in, its parents' parents apart."""
    return next((name for name in OBJECTS[one][1] if OBJECTS[name][0] == of), None)


def deep(one: str) -> int:
    parent = outer(one, OBJECTS[one][0])
    return 0 if parent is None else 1 + deep(parent)


def reach(path: str, scope: Mapping[str, str]) -> str:
    name, *classes = path.split(".")
    one = scope[name]
    for of in classes:
        container = outer(one, of)
        assert container is not None
        one = container
    return one


class Operation(NamedTuple):
    parameters: Mapping[str, str]
    under: Sequence[tuple[str, str]]
    steps: Sequence[Step]


class Programs(NamedTuple):
    """Operations, an order (rows of holding, acquired, where), rules."""

    operations: Mapping[str, Operation]
    rows: Sequence[tuple[str, str, str]]
    closed: bool
    rules: Mapping[str, tuple[str, str, str, str]]
    """By name: verb, class, mode, whose lock."""
    several: tuple[str, ...] = ()
    """Classes of which no two objects are written without wlock of their P."""

    def text(self) -> str:
        rules = {n: f"{verb} {of}.f needs {mode} {lock}" for n, (verb, of, mode, lock) in self.rules.items()}
        if self.several:
            rules["several"] = f"write several of {', '.join(self.several)} needs wlock P"
        operations = {
            f"{name}({', '.join(f'{of} {p}' for p, of in o.parameters.items())})": {
                "under": [f"{mode} {path}" for mode, path in o.under],
                "steps": as_yaml(o.steps),
            }
            for name, o in self.operations.items()
        }
        data = {
            "classes": {
                "P": {"has": ["f"]},
                "Q": {"in": ["P", "Q"], "has": ["f"]},
                "X": {"in": ["P", "Q"], "has": ["f"]},
            },
            "order": [f"{a} > {b}{f' {where} it' if where else ''}" for a, b, where in self.rows],
            "closed": self.closed,
            "rules": rules,
            "channels": {"c": 1},
            "operations": operations,
            "objects": {name: f"{of} in {', '.join(i)}" if i else of for name, (of, i) in OBJECTS.items()},
        }
        return yaml.safe_dump({k: v for k, v in data.items() if v not in ({}, [])}, sort_keys=False)

    def description(self) -> Locks:
        return parse(self.text(), "made.yaml")


def as_yaml(steps: Sequence[Step]) -> list[object]:
    lines: list[object] = []
    for step in steps:
        match step:
            case ("with", mode, path, body):
                lines.append({f"{mode} {path}": as_yaml(body)})
            case ("access", verb, path):
                lines.append(f"{verb} {path}.f")
            case ("loop", word, of, name, where, body):
                lines.append({f"{word} {of} {name}{f' {where}' if where else ''}": as_yaml(body)})
            case ("one of", *bodies):
                lines.append({"either": [as_yaml(body) for body in bodies]})
            case ("call", name, arguments):
                lines.append(f"{name}({', '.join(arguments)})")
            case ("send",):
                lines.append("send c")
    return lines


class Many(Exception):
    """More runs than are looked at."""


def runs(programs: Programs, steps: Sequence[Step], scope: Mapping[str, str], held: Held) -> list[list[Event]]:
    """Every run of ``steps``."""
    prefixes: list[list[Event]] = [[]]
    for step in steps:
        ways = list(once(programs, step, scope, held))
        prefixes = [before + way for before in prefixes for way in ways]
        if len(prefixes) > 3000:
            raise Many
    return prefixes


def once(programs: Programs, step: Step, scope: Mapping[str, str], held: Held) -> Iterator[list[Event]]:
    match step:
        case ("with", mode, path, body):
            one = reach(path, scope)
            for run in runs(programs, body, scope, (*held, (one, mode))):
                yield [("get", one, mode, held, step), *run]
        case ("access", verb, path):
            yield [(verb, reach(path, scope), "f", held, step)]
        case ("send",):
            yield [("send", "c", "", held, step)]
        case ("one of", *bodies):
            for body in bodies:
                yield from runs(programs, body, scope, held)
        case ("loop", word, of, name, where, body):
            those = [one for one, (its, _) in OBJECTS.items() if its == of]
            if word.endswith("outermost"):
                those = [one for one in those if outer(one, of) is None]
            if where:
                how, path = where.split(" ")
                seen = reach(path, scope)
                if how == "in":
                    those = [one for one in those if outer(one, OBJECTS[seen][0]) == seen]
                else:
                    those = [one for one in those if outer(seen, of) == one]
            if word.startswith("some"):
                for one in those:
                    yield from runs(programs, body, {**scope, name: one}, held)
                if not those:
                    yield []
            else:
                prefixes: list[list[Event]] = [[]]
                for one in those:
                    more = runs(programs, body, {**scope, name: one}, held)
                    prefixes = [before + way for before in prefixes for way in more]
                    if len(prefixes) > 3000:
                        raise Many
                yield from prefixes
        case ("call", name, arguments):
            called = programs.operations[name]
            inner = dict(zip(called.parameters, (reach(path, scope) for path in arguments), strict=True))
            for run in runs(programs, called.steps, inner, held):
                yield [("call", name, ",".join(inner.values()), held, step), *run]


def may(programs: Programs, holding: str, acquired: str) -> bool:
    """The order lets who holds the one acquire the other."""
    a, b = OBJECTS[holding][0], OBJECTS[acquired][0]
    if programs.closed:  # only with the order that is the one of a chain: P, then Q from the top down, then X
        return ("PQX".index(a), deep(holding)) < ("PQX".index(b), deep(acquired))
    return any(
        (a, b) == (held, target)
        and {
            "": holding != acquired,
            "in": outer(acquired, a) == holding,
            "around": outer(holding, b) == acquired,
        }[where]
        for held, target, where in programs.rows
    )


def covers(held: Held, one: str | None, mode: str) -> bool:
    return any(name == one and (how == mode or how == "wlock") for name, how in held)


def broken(programs: Programs) -> set[str]:
    """The names of the checks that some run of some operation breaks."""
    names: set[str] = set()
    for name, operation in programs.operations.items():
        every = [[one for one, (of, _) in OBJECTS.items() if of == its] for its in operation.parameters.values()]
        for values in product(*every):
            scope = dict(zip(operation.parameters, values, strict=True))
            before = tuple((reach(path, scope), mode) for mode, path in operation.under)
            for run in runs(programs, operation.steps, scope, before):
                names |= {check for event in run for check in broken_by(programs, name, event)}
                written = {e[1] for e in run if e[0] == "write" and OBJECTS[e[1]][0] in programs.several}
                if len(written) > 1:
                    for event in run:
                        if event[0] == "write" and event[1] in written:
                            needed = event[1] if OBJECTS[event[1]][0] == "P" else outer(event[1], "P")
                            if not covers(event[3], needed, "wlock"):
                                names.add("several")
    return names


def broken_by(programs: Programs, name: str, event: Event) -> Iterator[str]:
    what, one, _, held, _ = event
    if what == "get" and not all(may(programs, other, one) for other, _ in held):
        yield f"{name}-follows-the-order"
    if what == "send" and held:
        yield "nothing-is-held-while-waiting"
    for rule, (verb, of, mode, lock) in programs.rules.items():
        if what == verb and OBJECTS[one][0] == of and not covers(held, one if lock == of else outer(one, lock), mode):
            yield rule
    if what == "call":
        called = programs.operations[one]
        scope = dict(zip(called.parameters, event[2].split(","), strict=True))
        if not all(covers(held, reach(path, scope), mode) for mode, path in called.under):
            yield f"{one}-is-called-under-its-locks"


# --- made at random

CHAIN = [("P", "Q", "in"), ("Q", "Q", "in"), ("Q", "X", "in")]
ROWS = [*CHAIN, ("P", "X", "in"), ("X", "Q", "around"), ("P", "P", ""), ("X", "X", ""), ("Q", "Q", "around")]
RULES = {
    "q-written": ("write", "Q", "wlock", "Q"),
    "q-read": ("read", "Q", "rlock", "Q"),
    "x-written": ("write", "X", "wlock", "P"),
    "x-read": ("read", "X", "rlock", "Q"),
}
LOOPS = {
    "P": [("Q", "in"), ("X", "in")],
    "Q": [("Q", "in"), ("Q", "around"), ("X", "in"), ("P", "around")],
    "X": [("Q", "around"), ("P", "around")],
}


class Maker:
    """Operations that call later ones, and themselves for what is directly in a parameter."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0

    def programs(self) -> Programs:
        chance = self.random
        closed = chance.random() < 0.4
        rows = CHAIN if closed else chance.sample(ROWS, chance.randint(2, 4))
        names = ["first", "second", "third"][: chance.choice([2, 2, 3])]
        self.signatures = {
            name: {f"{of.lower()}{n}": of for n, of in enumerate(chance.choices("PQQX", k=chance.choice([1, 1, 2])))}
            for name in names
        }
        made = {}
        for n, name in enumerate(names):
            scope = self.signatures[name]
            under = [(chance.choice(["wlock", "rlock"]), self.path(scope))] if n and chance.random() < 0.5 else []
            made[name] = Operation(scope, under, self.steps(3, scope, names[n + 1 :], name, under))
        rules = {name: RULES[name] for name in chance.sample(list(RULES), 2)}
        return Programs(made, rows, closed, rules, chance.choice([(), ("Q", "X"), ("X",)]))

    def path(self, scope: Mapping[str, str]) -> str:
        name = self.random.choice(list(scope))
        suffixes = {"P": [""], "Q": ["", "", ".P"], "X": ["", "", ".P", ".Q"]}[scope[name]]
        return name + self.random.choice(suffixes)

    def steps(
        self, left: int, scope: Mapping[str, str], later: Sequence[str], me: str, held: Sequence[tuple[str, str]]
    ) -> list[Step]:
        made: list[Step] = []
        chance = self.random
        while left > 0:
            match chance.choice(["with", "with", "access", "access", "loop", "loop", "one of", "call", "send"]):
                case "with":
                    path = self.path(scope)
                    mode = chance.choice(["wlock", "wlock", "rlock"])
                    made.append(("with", mode, path, self.steps(left - 1, scope, later, me, [*held, (mode, path)])))
                    left -= 2
                case "access":
                    path = self.path(scope)
                    if held and chance.random() < 0.6:
                        path = chance.choice(held)[1]
                    made.append(("access", chance.choice(["read", "write"]), path))
                    left -= 1
                case "loop":
                    self.number += 1
                    seen = chance.choice(list(scope))
                    of, where = chance.choice(LOOPS[scope[seen]])
                    name = f"{of.lower()}_{self.number}"
                    word = chance.choice(["each", "some"])
                    if (of, where) == ("Q", "in") and scope[seen] == "P" and chance.random() < 0.5:
                        word += " outermost"
                    if scope[seen] == of == "Q" and where == "in" and next(iter(self.signatures[me].values())) == "Q":
                        body = self.itself(me, scope, name)
                    else:
                        body = self.steps(left - 1, {**scope, name: of}, later, me, held)
                    made.append(("loop", word, of, name, f"{where} {seen}", body))
                    left -= 2
                case "one of":
                    made.append(("one of", self.steps(left - 1, scope, later, me, held), []))
                    left -= 1
                case "call":
                    able = [name for name in later if set(self.signatures[name].values()) <= set(scope.values())]
                    if able:
                        name = chance.choice(able)
                        made.append(("call", name, self.arguments(self.signatures[name], scope)))
                    left -= 1
                case "send" if chance.random() < 0.2:
                    made.append(("send",))
                    left -= 1
        return made

    def itself(self, me: str, scope: Mapping[str, str], child: str) -> list[Step]:
        """Calls itself with the child for its first parameter."""
        parameters = self.signatures[me]
        rest = [p for p in parameters if p != next(iter(parameters))]
        if not set(rest) <= set(scope):
            return []
        return [("call", me, [child, *rest])]

    def arguments(self, parameters: Mapping[str, str], scope: Mapping[str, str]) -> list[str]:
        """No object twice: what is known of two parameters that are one is a matter of its own, below."""
        left = dict(scope)
        chosen = []
        for of in parameters.values():
            able = [name for name, its in left.items() if its == of] or [n for n, its in scope.items() if its == of]
            chosen.append(self.random.choice(able))
            left.pop(chosen[-1], None)
        return chosen


def verdicts(checked_locks: LocksChecked) -> dict[str, Verdict]:
    return {answer.check.name: answer.verdict for answer in checked_locks.answers}


def recursion_goes_down(programs: Programs) -> bool:
    """A loop over the children of something else than the first parameter may never end."""
    for name, operation in programs.operations.items():
        first = next(iter(operation.parameters), "")
        for step in every(operation.steps):
            if step[0] == "loop" and any(s[:2] == ("call", name) for s in step[5]) and step[4] != f"in {first}":
                return False
    return True


def every(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        bodies = {"with": step[3:4], "loop": step[5:6], "one of": step[1:]}.get(step[0], ())
        for body in bodies:
            yield from every(body)


def agree(programs: Programs) -> dict[str, Verdict]:
    """A refuted check is one that a run breaks, and no other is broken."""
    expected = broken(programs)
    calls = sorted(name for name in expected if name.endswith("-is-called-under-its-locks"))
    if calls:
        # What a called operation relies on is broken; then nothing else is asked here, and that its verdict may be
        # an error of ours is a test of its own.
        with suppress(Disagreement):
            assert set(verdicts(model_check(programs.description(), only=calls)).values()) == {Verdict.REFUTED}
        return {}
    checked = model_check(programs.description())
    actual = verdicts(checked)
    for answer in checked.answers:
        name, verdict = answer.check.name, answer.verdict
        if name in ("order-is-acyclic", "locks-are-released"):
            continue
        if answer.broken is not None and not {*answer.broken.arguments.values()} <= checked.locks.objects.keys():
            continue  # a run on objects that are made for it, which the interpreter does not have
        if verdict is Verdict.PROVED:
            assert name not in expected, f"{name} is proved, and a run breaks it"
        assert (verdict is Verdict.REFUTED) == (name in expected), f"{name}: {verdict}"
    assert expected <= set(actual)
    acquires = "('with', " in repr(programs.operations)
    assert actual["locks-are-released"] is (Verdict.PROVED if acquires else Verdict.UNDETERMINED)
    return actual


class Tally(NamedTuple):
    proved: int
    refuted: int
    undetermined: int
    checked: int


def random_programs(seeds: range) -> Tally:
    """A gate for the two ways of checking programs: neither contradicts the interpreter, nor the other."""
    counts = dict.fromkeys(Verdict, 0)
    checked = 0
    for seed in seeds:
        programs = Maker(seed).programs()
        if not recursion_goes_down(programs):
            continue
        try:
            results = agree(programs)
        except Many:
            continue
        except (AssertionError, Disagreement) as error:
            raise AssertionError(f"seed {seed}: {error}\n{programs.text()}") from error
        except LocksError:  # more runs than are looked at
            continue
        checked += 1
        for verdict in results.values():
            counts[verdict] += 1
    return Tally(counts[Verdict.PROVED], counts[Verdict.REFUTED], counts[Verdict.UNDETERMINED], checked)


@pytest.mark.parametrize(
    ("seeds", "share"), [(range(10), 0.3), pytest.param(range(10, 100), 0.75, marks=pytest.mark.long)]
)
def test_random_programs_are_checked_as_by_their_runs(seeds: range, share: float) -> None:
    tally = random_programs(seeds)
    assert min(tally.checked, tally.proved, tally.refuted) > share * len(seeds)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("part", range(2))
def test_many_random_programs_are_checked_as_by_their_runs(part: int) -> None:
    assert random_programs(range(1000 + part * 250, 1250 + part * 250)).checked > 200


# --- by hand: trees of some depth


def chain(deep: int) -> str:
    """So many queues, each in the one before."""
    return "".join(f"  q{n}: Queue{f' in q{n - 1}' if n else ''}\n" for n in range(deep))


RECURSION = """
classes: {{Queue: {{in: Queue}}}}
order:
  - Queue > Queue {order} it
closed: {closed}
operations:
  go(Queue queue):
    - wlock queue:
        - each Queue next {way} queue:
            - go(next)
objects:
"""


def at_depth(order: str, way: str, closed: bool, deep: int) -> tuple[Verdict, bool]:
    """The verdict, and whether the queues of the file show it."""
    text = RECURSION.format(order=order, way=way, closed=str(closed).lower()) + chain(deep)
    locks = parse(text, "made.yaml")
    (answer,) = [one for one in model_check(locks).answers if one.check.name == "go-follows-the-order"]
    names = {name for name, _ in answer.objects}
    return answer.verdict, bool(names) and names <= locks.objects.keys()


@pytest.mark.parametrize("deep", thinned(range(1, 7), 6, first=1))
def test_going_down_a_tree_of_each_depth(deep: int) -> None:
    # Who is at the third queue holds the first, and no row leads from there to a grandchild.
    # Where the file has fewer, queues that are made for the operation show it.
    assert at_depth("in", "in", False, deep) == (Verdict.REFUTED, deep >= 3)
    # With the rows taken in several, the first before the second before the third: proved, at every depth.
    assert at_depth("in", "in", True, deep) == (Verdict.PROVED, False)
    # Up where the order leads down, or down where it leads up: wrong as soon as there are two.
    for order, way in [("in", "around"), ("around", "in")]:
        for closed in (True, False):
            assert at_depth(order, way, closed, deep) == (Verdict.REFUTED, deep >= 2)
    assert at_depth("around", "around", True, deep) == (Verdict.PROVED, False)


def without_objects(way: str) -> Verdict:
    text = RECURSION.format(order="in", way=way, closed="true").removesuffix("objects:\n")
    return verdicts(model_check(parse(text, "made.yaml")))["go-follows-the-order"]


def test_what_is_proved_or_refuted_needs_no_objects() -> None:
    assert without_objects("in") is Verdict.PROVED
    assert without_objects("around") is Verdict.REFUTED


def checked(text: str) -> dict[str, Verdict]:
    return verdicts(model_check(parse(text, "made.yaml")))


LENT = """
classes: {A: {has: f}, B: {in: A, has: f}}
rules:
  own: write A.f needs wlock
  its: write B.f needs wlock A
operations:
"""


@each_row(
    ("operations", "expected"),
    [
        # Held as is needed; for reading only; of another object; released before; in one of two ways.
        ("  op(A a): [wlock a: [write a.f]]\n", Verdict.PROVED),
        ("  op(A a): [rlock a: [write a.f]]\n", Verdict.REFUTED),
        ("  op(A a, A b): [wlock a: [write b.f]]\n", Verdict.REFUTED),
        ("  op(A a): [wlock a: [], write a.f]\n", Verdict.REFUTED),
        ("  op(A a): [wlock a, unlock a, write a.f]\n", Verdict.REFUTED),
        ("  op(A a): [wlock a, write a.f, unlock a]\n", Verdict.PROVED),
        ("  op(A a): [maybe: [wlock a: [write a.f]], maybe: [write a.f]]\n", Verdict.REFUTED),
        ("  op(A a): {under: wlock a, steps: [write a.f]}\n", Verdict.PROVED),
        ("  op(A a): {under: rlock a, steps: [write a.f]}\n", Verdict.REFUTED),
    ],
)
def test_a_rule_about_an_object_is_kept_or_not(operations: str, expected: Verdict) -> None:
    text = LENT.replace("  its: write B.f needs wlock A\n", "") + operations + "objects: {one: A, two: A}\n"
    assert checked(text)["own"] is expected


@each_row(
    ("operations", "expected"),
    [
        ("  op(B b): [wlock b.A: [write b.f]]\n", Verdict.PROVED),
        ("  op(B b): [wlock b: [write b.f]]\n", Verdict.REFUTED),
        ("  op(A a): [wlock a: [each B b in a: [write b.f]]]\n", Verdict.PROVED),
        ("  op(A a): [wlock a: [each B b: [write b.f]]]\n", Verdict.REFUTED),  # of any A
        ("  op(A a): [wlock a: [some B b in a: [write b.f]]]\n", Verdict.PROVED),
        ("  op(B b, A a in b.A): [wlock a: [write b.f]]\n", None),  # an A is in no A: refused
        ("  op(A a, B b in a): [wlock a: [write b.f]]\n", Verdict.PROVED),
        ("  op(A a, B b): [wlock a: [write b.f]]\n", Verdict.REFUTED),
    ],
)
def test_a_rule_about_what_an_object_is_in_is_kept_or_not(operations: str, expected: Verdict | None) -> None:
    text = LENT.replace("  own: write A.f needs wlock\n", "") + operations
    text += "objects: {one: A, two: A, b: B in one, c: B in two}\n"
    if expected is None:
        with pytest.raises(LocksError):
            checked(text)
    else:
        assert checked(text)["its"] is expected


def test_what_a_caller_owes_is_asked_of_it() -> None:
    text = "classes: {A: {}}\noperations:\n  op(A a): {under: wlock a, steps: []}\n  {caller}\nobjects: {one: A}\n"
    name = "op-is-called-under-its-locks"
    assert checked(text.replace("{caller}", "me(A a): [wlock a: [op(a)]]"))[name] is Verdict.PROVED
    assert checked(text.replace("{caller}", "me(A a): [rlock a: [op(a)]]"))[name] is Verdict.REFUTED
    assert checked(text.replace("{caller}", "me(A a): [op(a)]"))[name] is Verdict.REFUTED
    uncalled = parse(text.replace("{caller}", "me(A a): [wlock a: []]"), "made.yaml")
    assert name not in verdicts(model_check(uncalled))
    assert "callers of operations that demand locks or positions, since the file has none: op" in unchecked(uncalled)
    given = (
        "classes: {A: {}, B: {in: A}}\noperations:\n  op(A a, B b in a): []\n  {caller}\n"
        "objects: {one: A, two: A, x: B in one, y: B in two}\n"
    )
    assert checked(given.replace("{caller}", "me(A a): [each B b in a: ['op(a, b)']]"))[name] is Verdict.PROVED
    assert checked(given.replace("{caller}", "me(A a): [each B b: ['op(a, b)']]"))[name] is Verdict.REFUTED


def test_a_lock_that_is_kept_is_reported() -> None:
    text = "classes: {A: {}}\noperations:\n  {op}\nobjects: {one: A}\n"
    for op, expected in [
        ("op(A a): [rlock a]", Verdict.REFUTED),
        ("op(A a): [rlock a, maybe: [unlock a]]", Verdict.REFUTED),
        ("op(A a): [rlock a, unlock a]", Verdict.PROVED),
        ("op(A a): [rlock a, rlock a, unlock a]", Verdict.REFUTED),
    ]:
        assert checked(text.replace("{op}", op))["locks-are-released"] is expected


def test_a_message_under_a_lock_is_reported() -> None:
    text = "classes: {A: {}}\nchannels: {c: 1, endless: unbounded}\noperations:\n  {op}\nobjects: {one: A}\n"
    name = "nothing-is-held-while-waiting"
    for op, expected in [
        ("op(A a): [wlock a: [send c]]", Verdict.REFUTED),
        ("op(A a): [wlock a: [receive c]]", Verdict.REFUTED),
        ("op(A a): [wlock a: [receive endless]]", Verdict.REFUTED),
        ("op(A a): [wlock a: [], send c]", Verdict.PROVED),
        ("op(A a): {under: rlock a, steps: [send c]}", Verdict.REFUTED),
        ("op(A a): [wlock a: [send endless], receive c]", Verdict.PROVED),
        ("op(A a): [wlock a: [select: [receive c, receive endless]]]", Verdict.REFUTED),
        ("op(A a): [wlock a: [select: [receive c, timeout]]]", None),  # nothing waits: there is no such check
        ("op(A a): [wlock a: [send endless]]", Verdict.PROVED),
    ]:
        assert checked(text.replace("{op}", op)).get(name) is expected, op


def by_hand() -> None:
    """A gate of what was derived by hand above."""
    for deep in (1, 3):
        test_going_down_a_tree_of_each_depth(deep)
    test_what_is_proved_or_refuted_needs_no_objects()
    test_what_a_caller_owes_is_asked_of_it()
    test_a_lock_that_is_kept_is_reported()
    test_a_message_under_a_lock_is_reported()


# --- what is checked wrongly

WRONG = {
    # A helper that keeps a lock; its caller then acquires another, which no row allows under it.
    "a helper keeps a lock": (
        """
        classes: {A: {}, B: {}}
        order: [B > A]
        operations:
          grab(A a): [rlock a]
          main(A a, B b): [grab(a), rlock b: []]
        """,
        "objects: {a: A, b: B}",
        "main-follows-the-order",
    ),
    # Kept in one round, held in the next.
    "a loop keeps locks": (
        """
        classes: {A: {}, B: {}}
        order: [A > B]
        operations:
          main(): [each A a: [rlock a]]
        """,
        "objects: {a: A, c: A}",
        "main-follows-the-order",
    ),
    # Two parameters can be one object: then it is not held any more.
    "two parameters are one": (
        """
        classes: {A: {has: f}}
        rules:
          rule: write A.f needs wlock
        operations:
          op(A a, A b): [wlock a, unlock b, write a.f]
        """,
        "objects: {a: A}",
        "rule",
    ),
    "a loop releases what is held": (
        """
        classes: {A: {has: f}, B: {}}
        rules:
          rule: write A.f needs wlock
        operations:
          op(A a): [wlock a, each B b: [unlock a], write a.f]
        """,
        "objects: {a: A, b: B}",
        "rule",
    ),
    "a callee releases what is held": (
        """
        classes: {A: {has: f}}
        rules:
          rule: write A.f needs wlock
        operations:
          helper(A a): [unlock a]
          op(A a): [wlock a, helper(a), write a.f]
        """,
        "objects: {a: A}",
        "rule",
    ),
    # It gives back what its caller holds.
    "what the caller holds is released": (
        """
        classes: {A: {}}
        operations:
          op(A a): {under: wlock a, steps: [unlock a]}
        """,
        "objects: {a: A}",
        "locks-are-released",
    ),
    # One call has two parameters in one P; what is known of that call is believed of the other.
    "two calls, one with one object twice": (
        """
        classes: {P: {}, Q: {in: P}}
        order: [P > Q in it]
        operations:
          f(Q a, Q b): [wlock b: []]
          main(P p, P q): [wlock p: [each Q x in p: ['f(x, x)', each Q z in q: ['f(x, z)']]]]
        """,
        "objects: {p: P, q: P, x: Q in p, z: Q in q}",
        "main-follows-the-order",
    ),
}


def dedented(text: str) -> str:
    lines = [line[8:] for line in text.splitlines() if line.strip()]
    return "\n".join(lines) + "\n"


@each_row("name", [name for name in WRONG if name != "two parameters are one"])
def test_what_some_objects_break_is_not_proved_without_objects(name: str) -> None:
    text, _, check = WRONG[name]
    assert checked(dedented(text))[check] is not Verdict.PROVED


@each_row("name", WRONG)
def test_what_some_objects_break_is_refuted_with_these(name: str) -> None:
    text, objects, check = WRONG[name]
    assert checked(dedented(text) + objects + "\n")[check] is Verdict.REFUTED


def test_a_caller_that_owes_a_lock_is_a_verdict_and_no_error() -> None:
    text = """
        classes: {A: {has: f}}
        rules:
          rule: write A.f needs wlock
        operations:
          helper(A a): {under: wlock a, steps: [write a.f]}
          main(A a): [helper(a)]
        objects: {a: A}
        """
    assert checked(dedented(text))["helper-is-called-under-its-locks"] is Verdict.REFUTED


def test_a_closed_order_allows_only_what_its_rows_lead_to() -> None:
    text = """
        classes: {A: {}, B: {}, C: {}}
        order: [A > B]
        closed: true
        operations:
          one(A a, C c): [wlock a: [wlock c: []]]
          two(A a, C c): [wlock c: [wlock a: []]]
        """
    results = checked(dedented(text))
    assert results["one-follows-the-order"] is not Verdict.PROVED
    assert results["two-follows-the-order"] is not Verdict.PROVED


@pytest.mark.parametrize("steps", ["[helper(a)]", "[write a.f]"])
def test_threads_are_held_against_rules_and_contracts(steps: str) -> None:
    text = f"""
        classes: {{A: {{has: f}}}}
        rules:
          rule: write A.f needs wlock
        operations:
          helper(A a): {{under: wlock a, steps: [write a.f]}}
          good(A a): [wlock a: [helper(a)]]
        objects: {{a: A}}
        threads:
          one: {steps}
        """
    assert Verdict.REFUTED in checked(dedented(text)).values()


def test_a_helper_may_write_one_object_without_the_lock_for_more() -> None:
    text = """
        classes: {P: {}, Q: {in: P, has: f}}
        rules:
          rule: write several of Q needs wlock P
        operations:
          helper(Q q): [wlock q: [write q.f]]
          main(P p): [wlock p: [each Q q in p: [helper(q)]]]
        objects: {p: P, q: Q in p}
        """
    assert checked(dedented(text))["rule"] is Verdict.PROVED


def test_a_release_of_what_nobody_holds_is_reported() -> None:
    text = "classes: {A: {}}\noperations:\n  op(A a): [unlock a]\nobjects: {a: A}\n"
    assert checked(text)["locks-are-released"] is Verdict.REFUTED

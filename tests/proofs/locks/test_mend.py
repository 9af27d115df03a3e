"""The smallest sets of places that change an order without circles into one: compared with trying all sets."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import networkx as nx
import pytest
import z3

from schedproof.model.lang.errors import Place
from schedproof.model.locks import parse
from schedproof.proofs.locks import mend
from schedproof.proofs.locks import model_check as model_check_module
from schedproof.proofs.locks.derived import Acquisition, Circles, acquisitions
from schedproof.proofs.locks.mend import MOST, Edges, Site, smallest
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.verdict import Verdict
from tests.proofs.locks.test_derived import CASES, CIRCLES, threads

KEEP, REVERSE, RELEASE = range(3)


def edges_left(edges: Edges, what: Mapping[Site, int]) -> list[tuple[str, str]]:
    """The edges after each place is kept, reversed or released."""
    left = []
    for site, pairs in edges.items():
        for holding, acquired in pairs:
            if what[site] != RELEASE:
                left.append((holding, acquired) if what[site] == KEEP else (acquired, holding))
    return left


def by_trying(edges: Edges, choices: Sequence[int]) -> tuple[int, set[frozenset[tuple[Site, int]]]]:
    """The least cost of changes after which no circle is left, and all sets of that cost; cost -1 if none does."""
    ways: dict[int, set[frozenset[tuple[Site, int]]]] = {}
    for chosen in product(choices, repeat=len(edges)):
        what = dict(zip(edges, chosen, strict=True))
        if nx.is_directed_acyclic_graph(nx.DiGraph(edges_left(edges, what))):
            changed = frozenset((site, choice) for site, choice in what.items() if choice != KEEP)
            ways.setdefault(sum(chosen), set()).add(changed)
    return (min(ways), ways[min(ways)]) if ways else (-1, set())


def made(seed: int) -> Edges:
    """Some places with edges between five locks, as a program has them on several objects."""
    chance = random.Random(seed)
    return {
        Site(f"p{n}", None, Place("made.yaml", n)): [
            tuple(chance.sample("abcde", 2))
            for _ in range(chance.choice([1, 1, 1, 2]))  # type: ignore[misc]
        ]
        for n in range(chance.randint(2, 6))
    }


def agrees(seeds: range) -> set[tuple[int, bool]]:
    """A gate: the sets that z3 finds are those of the least cost; returns which costs occurred, and if by releases."""
    seen = set()
    for seed in seeds:
        edges = made(seed)
        least, expected = by_trying(edges, (KEEP, REVERSE))
        releases = least < 0
        if releases:
            least, expected = by_trying(edges, (KEEP, REVERSE, RELEASE))
        actual = {
            frozenset([*((site, REVERSE) for site in turned), *((site, RELEASE) for site in released)])
            for turned, released in smallest(edges)
        }
        assert actual <= expected, seed
        assert len(actual) == min(len(expected), MOST), seed
        seen.add((least, releases))
    return seen


@pytest.mark.long
def test_the_smallest_sets_are_those_found_by_trying_all() -> None:
    seen = agrees(range(120))
    assert {(0, False), (1, False), (2, False)} <= seen and any(releases for _, releases in seen)


def remedies(text: str) -> list[tuple[str, ...]]:
    """The remedies of the derived order of a file."""
    answer = next(a for a in model_check(parse(text, "made.yaml")).answers if a.check.name == CIRCLES)
    return [*answer.remedies]


def both_places() -> None:
    """A gate: a circle of two has two remedies, one at each of its places."""
    assert set(remedies(threads("[lock a: [lock b: []]]", "[lock b: [lock a: []]]"))) == {
        ("one acquires lock b (made.yaml:3) before lock a (made.yaml:3)",),
        ("two acquires lock a (made.yaml:4) before lock b (made.yaml:4)",),
    }


def test_a_circle_of_two_names_both_places() -> None:
    both_places()


def one_place() -> None:
    """A gate: where three programs agree against one, that one changes."""
    text = threads("[lock a: [lock b: []]]", "[lock a: [lock b: []]]", "[lock b: [lock a: []]]")
    assert remedies(text) == [("three acquires lock a (made.yaml:5) before lock b (made.yaml:5)",)]


def test_the_program_against_the_others_changes() -> None:
    one_place()


def test_two_objects_in_any_order_cannot_be_reversed() -> None:
    text = CASES["two objects of one class"].text
    ((change,),) = remedies(text)
    assert change.startswith("move releases wlock node1 (made.yaml:3) before it acquires wlock node2")


def a_gate_stays() -> None:
    """A gate: what is only part of a circle with a gate need not change."""
    gated = "[lock g: [lock c: [lock a: []]]]", "[lock g: [lock a: [lock c: []]]]"
    text = threads("[lock a: [lock b: []]]", "[lock b: [lock a: []]]", *gated)
    assert {len(changes) for changes in remedies(text)} == {1}
    assert all("c (" not in change for changes in remedies(text) for change in changes)


def test_what_a_gate_excludes_may_stay() -> None:
    a_gate_stays()


def test_remedied_programs_have_no_circle() -> None:
    """Each remedy of a tree that is locked from both ends, applied to the file, removes its circle."""
    text = CASES["a tree from both ends"].text
    down, up = "wlock q: [each Queue c in q: [wlock c: []]]", "wlock q: [each Queue p around q: [wlock p: []]]"
    turned = {
        "down": (down, "each Queue c in q: [wlock c: [wlock q: []]]"),
        "up": (up, "each Queue p around q: [wlock p: [wlock q: []]]"),
    }
    ways = remedies(text)
    assert sorted(changes[0].split(" ")[0] for changes in ways) == ["down", "up"]
    for (change,) in ways:
        before, after = turned[change.split(" ")[0]]
        assert before in text
        assert remedies(text.replace(before, after)) == []
        answers = model_check(parse(text.replace(before, after), "made.yaml")).answers
        assert next(a for a in answers if a.check.name == CIRCLES).verdict.value == "proved"


def every_place() -> None:
    """A gate: a thread that takes two locks in one order at two places has to change both; so the other thread changes."""
    one = "\n    - lock b:\n      - lock a: []\n    - lock b:\n      - lock a: []"
    assert remedies(threads(one, "[lock a: [lock b: []]]")) == [
        ("two acquires lock b (made.yaml:8) before lock a (made.yaml:8)",)
    ]


def test_a_place_that_occurs_twice_is_changed_twice() -> None:
    every_place()


def one_operation() -> None:
    """A gate: the lines of an operation are one place for all programs that run it."""
    text = (
        "classes: {A: {lock: mutex}, B: {lock: mutex}}\nobjects: {a: A, b: B}\noperations:\n  ab(A x, B y):\n"
        "    - lock x:\n      - lock y: []\nthreads: {one: ['ab(a, b)'], two: [lock b: [lock a: []]]}\n"
    )
    assert set(remedies(text)) == {
        ("ab acquires lock b (made.yaml:6) before lock a (made.yaml:5)",),
        ("two acquires lock a (made.yaml:7) before lock b (made.yaml:7)",),
    }


def test_an_operation_that_a_thread_runs_is_one_place() -> None:
    one_operation()


Chains = dict[str, list[str]]


def written(chains: Chains) -> str:
    """Threads that take mutexes one inside the other."""
    lines = []
    for name, chain in chains.items():
        nested = "[]"
        for lock in reversed(chain):
            nested = f"[lock {lock}: {nested}]"
        lines.append(f"  {name}: {nested}\n")
    return f"objects: {{{', '.join(f'{lock}: mutex' for lock in 'abcdgh')}}}\nthreads:\n{''.join(lines)}"


def turned(chains: Chains, ways: Sequence[tuple[str, str, str]]) -> Chains:
    """The threads after changes; each is a thread, a lock, and the one that it is to acquire before that."""
    graphs = {name: nx.DiGraph(list(combinations(chain, 2))) for name, chain in chains.items()}
    for name, first, second in ways:
        graphs[name].remove_edge(first, second)
        graphs[name].add_edge(second, first)
    return {name: list(nx.topological_sort(graph)) or chains[name] for name, graph in graphs.items()}


def holds(chains: Chains) -> bool:
    """Whether no circle is derived."""
    (answer,) = model_check(parse(written(chains), "made.yaml"), only=[CIRCLES]).answers
    return answer.verdict is not Verdict.REFUTED


def mended_chains(seeds: range) -> tuple[int, int]:
    """A gate: after each remedy no circle is left, though gates move; returns the remedies, and the files with a gate."""
    tried = with_gate = 0
    for seed in seeds:
        chance = random.Random(seed)
        chains = {f"t{n}": chance.sample("abcdgh", chance.randint(2, 4)) for n in range(chance.randint(3, 4))}
        (answer,) = model_check(parse(written(chains), "made.yaml"), only=[CIRCLES]).answers
        with_gate += answer.circles is not None and bool(answer.circles.gated)
        for changes in answer.remedies:
            ways = [CHANGE.fullmatch(change) for change in changes]
            assert all(ways), changes
            result = turned(chains, [(way["name"], way["first"], way["second"]) for way in ways if way])
            assert holds(result), (seed, changes)
            tried += 1
    return tried, with_gate


CHANGE = re.compile(r"(?P<name>t\d) acquires lock (?P<second>\w) \(\S+\) before lock (?P<first>\w) \(\S+\)")


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 200), marks=pytest.mark.long(one_in=32))], ids=["few", "many"]
)
def test_after_a_remedy_no_circle_is_left(seeds: range) -> None:
    tried, with_gate = mended_chains(seeds)
    assert tried > len(seeds) / 2 and with_gate > len(seeds) / 10


def opened_gate() -> None:
    """A gate: to reverse t1 would open the circle x > m > y > x, which k does not exclude then."""
    objects = "k: mutex, x: mutex, y: mutex, z: mutex, m: mutex"
    text = threads(
        "[lock x: [lock y: []]]",
        "[lock y: [lock z: []]]",
        "[lock k: [lock z: [lock x: []]]]",
        "[lock k: [lock x: [lock m: []]]]",
        objects=objects,
    )
    ways = remedies(f"{text}  five: [lock m: [lock y: []]]\n")
    assert sorted(change.split(" ")[0] for changes in ways for change in changes) == ["three", "two"]


def test_a_remedy_opens_no_circle_behind_a_gate() -> None:
    opened_gate()


# --- seeded faults


def opens_nothing(edges: Any, way: Any, gated: Any, by: Any) -> set[tuple[str, str]]:
    """What a change does to circles with a gate does not matter."""
    return set()


def one_of_each(tried: Any, once: Any = ()) -> list[Acquisition]:
    """Of places that acquire the same only one counts."""
    return list(dict.fromkeys(acquisitions(tried, once)))


def any_set(self: Any, *arguments: Any) -> None:
    """The sets need not be the smallest."""


def moves_no_gate(edges: Any, way: Any, gated: Any, by: Any) -> set[tuple[str, str]]:
    """A gate that a change moves still excludes its circles."""
    return _opened(edges, way, gated, ())


def every_edge(circles: Circles, every: Sequence[Acquisition]) -> Any:
    """What a gate excludes has to change too."""
    return _mend(Circles(circles.circles, (), circles.complete), every)


def no_edge(locks: Sequence[str]) -> list[tuple[str, str]]:
    return [(locks[0], locks[1])]


_mend, _opened = mend.mend, mend._opened

SEEDED: dict[str, tuple[Any, str, Any, Callable[[], object]]] = {
    "sets are not the smallest": (z3.Optimize, "minimize", any_set, lambda: agrees(range(60))),
    "circles behind a gate may open": (mend, "_opened", opens_nothing, opened_gate),
    "a gate that moves still counts": (mend, "_opened", moves_no_gate, lambda: mended_chains(range(390, 395))),
    "one place for all": (model_check_module, "acquisitions", one_of_each, every_place),
    "at most one way": (mend, "MOST", 1, both_places),
    "gates do not count": (
        __import__("schedproof.proofs.locks.derived_answers", fromlist=["mend"]),
        "mend",
        every_edge,
        a_gate_stays,
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of, attribute, bug, gate = SEEDED[name]
    monkeypatch.setattr(of, attribute, bug)
    with pytest.raises((AssertionError, ValueError)):
        gate()

"""The parts of the compiled exploration: table, layout, code, compiled code, searches on graphs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs import compiled
from schedproof.proofs.compiled import llvm, paths
from schedproof.proofs.compiled.code import (
    Binary,
    Block,
    Count,
    Each,
    Expr,
    Function,
    If,
    Item,
    Leave,
    Local,
    Put,
    Set,
    binary,
)
from schedproof.proofs.compiled.kernel import check
from schedproof.proofs.compiled.layout import USABLE, layout
from schedproof.proofs.compiled.llvm import Machine, assembly
from schedproof.proofs.compiled.quotient import orbit, quotient, represent
from schedproof.proofs.compiled.table import SLACK, U, entry, find, grow, mix, part_of, place_of, put
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.exploration.limits import TooWide
from schedproof.proofs.exploration.symmetry import Symmetry
from tests.support.rows import each_row
from tests.support.toys import WORKSHOP

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# --- The table -------------------------------------------------------------------------------------------------------


class Table:
    """The table as the search uses it, for states of so many words, of which this is one of ``parts``."""

    def __init__(self, words: int, parts: int = 1, places: int = 16) -> None:
        self.words, self.parts, self.places, self.count = words, U(parts), places, 0
        self.keys = np.zeros((places + SLACK) * words, np.uint64)

    def entry(self, state: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], np.uint64]:
        array = np.array(state, np.uint64)
        return array, U(entry(array, 0, self.words))

    def put(self, state: tuple[int, ...]) -> bool:
        if self.count >= self.places * 0.8:
            more = self.places + self.places // 4
            self.keys.resize((more + SLACK) * self.words, refcheck=False)
            grow(self.keys, self.words, self.parts, self.places, more)
            self.places = more
        array, value = self.entry(state)
        new = bool(put(self.keys, array, 0, self.words, value, U(place_of(value, self.parts, U(self.places)))))
        self.count += new
        return new

    def has(self, state: tuple[int, ...]) -> bool:
        array, value = self.entry(state)
        place = int(find(self.keys, array, 0, self.words, value, U(place_of(value, self.parts, U(self.places)))))
        return int(self.keys[place * self.words]) == int(value)


NUMBERS = st.one_of(st.integers(0, 40), st.integers(0, (1 << USABLE) - 1))


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[NUMBERS] * n), max_size=300)))
@SLOW
def test_the_table_is_a_set(states: list[tuple[int, ...]]) -> None:
    table, known = Table(len(states[0]) if states else 1), set[tuple[int, ...]]()
    for state in states:
        assert table.put(state) == (state not in known)
        known.add(state)
        assert table.count == len(known)
    assert all(table.has(state) for state in known)
    entries = [int(k) for k in table.keys[:: table.words] if k]
    assert len(entries) == len(known)
    assert entries == sorted(entries), "a state could be missed behind a greater one"


def test_the_table_holds_many_that_differ_in_one_bit() -> None:
    table = Table(2)
    states = [(a, 1 << b) for a in range(200) for b in range(60)]
    assert all(table.put(s) for s in states)
    assert not any(table.put(s) for s in states)


@given(NUMBERS, NUMBERS)
@SLOW
def test_entries_distinguish_states(a: int, b: int) -> None:
    """One word says all of a state of one word."""
    values = [int(entry(np.array([n], np.uint64), 0, 1)) for n in (a, b)]
    assert (values[0] == values[1]) == (a == b)
    assert all(values), "0 is an empty place"


def test_mixing_is_a_permutation() -> None:
    """Undone step by step, each number comes back."""
    first, second = pow(0xFF51AFD7ED558CCD, -1, 1 << 64), pow(0xC4CEB9FE1A85EC53, -1, 1 << 64)

    def unmixed(x: int) -> int:
        for factor in (second, first):
            x = (x ^ x >> 33) * factor % (1 << 64)
        return x ^ x >> 33

    for number in [0, 1, 2**63, 2**64 - 1, *(n * 0x9E3779B97F4A7C15 % 2**64 for n in range(2000))]:
        assert unmixed(int(mix(U(number)))) == number


def test_parts_share_the_states_evenly() -> None:
    values = [U(mix(U(n))) for n in range(30_000)]
    counts = np.bincount([int(part_of(v, U(3))) for v in values])
    assert len(counts) == 3
    assert all(abs(c - 10_000) < 500 for c in counts)


# --- The layout ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", systems())
def test_states_are_packed_and_unpacked(system: str) -> None:
    """Every state of a small configuration; different states are different words."""
    model = next(iter(systems()[system].variants.values()))
    instance = next(iter(instances(model, dict(model.default_scope))))
    where = layout(instance)
    exploration = explore(instance, symmetry=False, limit=500)
    packed = [where.pack(state) for state in exploration.states]
    assert [where.unpack(words) for words in packed] == exploration.states
    assert len(set(packed)) == len(packed)
    assert all(0 <= word < 1 << USABLE for words in packed for word in words)
    bits = [at + bit for f in where.fields.values() for at in f.positions for bit in range(f.bits)]
    assert len(bits) == len(set(bits)) == where.bits, "no bit means two things"
    assert all(at // 64 == (at + f.bits - 1) // 64 for f in where.fields.values() for at in f.positions if f.bits)


def test_too_many_choices_are_refused() -> None:
    [instance] = instances(AS_WRITTEN, {"PodGroup": 3, "Cell": 16})
    with pytest.raises(TooWide, match="explore it interpreted"):
        compiled.explore(instance)


@pytest.mark.parametrize(("workers", "tools"), [(1, 3), (3, 1), (2, 2)])
def test_representatives_and_orbits_are_those_of_the_symmetry(workers: int, tools: int) -> None:
    """Of every state and of all its renamings."""
    [instance] = instances(WORKSHOP, {"Worker": workers, "Tool": tools})
    symmetry, where = Symmetry(instance), layout(instance)
    tables = quotient(symmetry, where)
    for state in explore(instance, symmetry=False, limit=2000).states[::5]:
        for image in symmetry.images(state):
            words = np.array([0, *where.pack(image), 0], np.uint64)
            assert orbit(tables, words, 1) == symmetry.orbit(state)
            represent(tables, words, 1, where.words)
            assert where.unpack(tuple(int(w) for w in words[1:-1])) == symmetry.canonical(state)
            assert words[0] == words[-1] == 0


# --- Code ------------------------------------------------------------------------------------------------------------


def run(body: list[Any], result: Expr, *, room: int = 8, states: int | None = 0) -> tuple[int, list[int]]:
    """What a function gives, and what it writes to ``out``; ``number`` is 5, ``table`` is 3, 1, 4, 1."""
    statements = [*body, Put("out", 0, result)]
    function = Function(
        "holds", ["state", "out", "chosen", "seen"], ["number"], statements, 0, {"room": 4}, {"table": [3, 1, 4, 1]}
    )
    machine = Machine([assembly(function)], states=states)
    state, out = np.array([5], np.uint64), np.zeros(room, np.int64)
    check(machine.address("holds"), state, 1, out, np.zeros((1, 1), np.uint8))
    return int(out[0]), out.tolist()


@each_row(
    ("op", "left", "right", "result"),
    [
        ("+", 7, -9, -2), ("-", 3, 5, -2), ("*", -3, 4, -12), ("&", 12, 10, 8), ("|", 12, 10, 14), ("^", 12, 10, 6),
        ("<<", 3, 4, 48), (">>", 48, 4, 3), ("==", 2, 2, 1), ("==", 2, 3, 0), ("!=", 2, 3, 1), ("<", -1, 0, 1),
        ("<", 0, -1, 0), ("<=", 2, 2, 1), ("<=", 3, 2, 0),
    ],
)  # fmt: skip
@each_row("states", [0, None], ids=["as it is", "optimized"])
def test_operations(op: str, left: int, right: int, result: int, states: int | None) -> None:
    """By the machine, and where they are computed without it."""
    assert run([Set("a", left), Set("b", right)], Binary(op, Local("a"), Local("b")), states=states)[0] == result
    assert binary(op, left, right) == result


def test_loops_and_jumps() -> None:
    """The lowest bits come first; a block ends where it is left, and the loops around it do."""
    count = Set("n", binary("+", Local("n"), 1))
    assert run([Set("n", 0), Each("i", 0b10110, [count])], Local("n"))[0] == 3
    assert (
        run(
            [Set("n", 0), Each("i", 0b10110, [Set("n", binary("+", binary("*", Local("n"), 10), Local("i")))])],
            Local("n"),
        )[0]
        == 124
    )
    assert run([Set("n", 0), Count("i", 2, 5, [Set("n", binary("+", Local("n"), Local("i")))])], Local("n"))[0] == 14
    assert run([Set("n", 0), Count("i", 3, 2, [count])], Local("n"))[0] == 0
    leaving = [Count("i", 1, 9, [count, If(Binary("==", Local("i"), 4), [Leave("out of it")])])]
    assert run([Set("n", 0), Block("out of it", leaving), count], Local("n"))[0] == 5
    inner = [Block("inner", [Leave("outer"), count]), count]
    assert run([Set("n", 0), Block("outer", inner), count], Local("n"))[0] == 1


def test_a_mask_is_read_once_and_arrays_keep_what_is_put() -> None:
    changing = [Set("m", 7), Set("n", 0), Each("i", Local("m"), [Set("m", 0), Set("n", binary("+", Local("n"), 1))])]
    assert run(changing, Local("n"))[0] == 3
    assert run([Put("room", 2, 9)], Item("room", 2))[0] == 9
    assert run([], Item("table", 2))[0] == 4
    assert run([], Item("state", 0))[0] == 5
    assert run([Put("out", 3, 8)], 1)[1][3] == 8


# --- Compiled code on the disk -----------------------------------------------------------------------------------------


def hived() -> Any:
    """A small instance."""
    [instance] = instances(AS_WRITTEN, {"PodGroup": 2, "Cell": 2})
    return instance


def test_machine_code_is_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path))
    first = compiled.explore(hived())
    assert len(list((tmp_path / "machine-code").iterdir())) == 1

    def never(self: Machine, text: str, level: int) -> bytes:
        raise AssertionError("compiled later")

    monkeypatch.setattr(llvm.Machine, "_compiled", never)
    assert compiled.explore(hived()).state_count == first.state_count


@pytest.mark.parametrize("damage", ["cut", "bit", "empty"])
def test_damaged_machine_code_is_compiled_again(damage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path))
    first = compiled.explore(hived())
    [path] = (tmp_path / "machine-code").iterdir()
    data = path.read_bytes()
    broken = {"cut": data[: len(data) // 2], "bit": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "empty": b""}
    path.write_bytes(broken[damage])
    assert compiled.explore(hived()).state_count == first.state_count
    assert path.read_bytes() == data, "and it is mended"


def test_a_cache_that_cannot_be_written_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SCHEDPROOF_CACHE", str(tmp_path / "file" / "cache"))
    assert compiled.explore(hived()).complete


# --- Searches on graphs ----------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: Any) -> tuple[int, list[tuple[int, int, int]]]:
    """So many nodes, and edges as (from, to, choice)."""
    nodes = draw(st.integers(1, 9))
    node = st.integers(0, nodes - 1)
    return nodes, sorted(draw(st.lists(st.tuples(node, node, st.integers(0, 2)), max_size=24)))


def rows(nodes: int, edges: list[tuple[int, int, int]]) -> Any:
    """The graph in rows."""
    offsets = np.array([sum(1 for a, _, _ in edges if a < n) for n in range(nodes + 1)], np.int64)
    return offsets, np.array([b for _, b, _ in edges], np.uint32), np.array([c for _, _, c in edges], np.uint16)


def kept(nodes: int, edges: list[tuple[int, int, int]], allowed: list[bool], inside: list[bool]) -> nx.DiGraph:
    """The part of the graph that counts, for networkx."""
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(n for n in range(nodes) if inside[n])
    graph.add_edges_from((a, b) for a, b, c in edges if allowed[c] and inside[a] and inside[b])
    return graph


BOOLEANS = st.lists(st.booleans(), min_size=9, max_size=9)


@given(graphs(), BOOLEANS, BOOLEANS)
@SLOW
def test_strongly_connected_components_are_those_of_networkx(
    graph: Any, allowed: list[bool], inside: list[bool]
) -> None:
    nodes, edges = graph
    nothing = np.zeros(3, np.bool_)
    *_, component_of = paths.fair(
        *rows(nodes, edges), np.array(allowed[:3]), nothing, nothing, np.array(inside[:nodes])
    )
    parts: dict[int, set[int]] = {}
    for n, part in enumerate(component_of.tolist()):
        parts.setdefault(part, set()).add(n)
    assert parts.pop(int(paths.OUTSIDE), set()) == {n for n in range(nodes) if not inside[n]}
    expected = nx.strongly_connected_components(kept(nodes, edges, allowed, inside))
    assert sorted(map(sorted, parts.values())) == sorted(map(sorted, expected))


def components_by_fairness(
    nodes: int,
    edges: list[tuple[int, int, int]],
    allowed: list[bool],
    weak: list[bool],
    strong: list[bool],
    inside: list[bool],
) -> tuple[set[int], set[int]]:
    """The nodes of fair components, and those to search later, by the definition."""
    fair: set[int] = set()
    later: set[int] = set()
    for part in nx.strongly_connected_components(kept(nodes, edges, allowed, inside)):
        enabled = {n: {c for a, _, c in edges if a == n} for n in part}
        used = {c for a, b, c in edges if a in part and b in part and allowed[c]}
        always = set.intersection(*enabled.values())
        missed = {c for choices in enabled.values() for c in choices if strong[c] and c not in used}
        if any(weak[c] and c not in used for c in always):
            continue
        if missed:
            later |= {n for n in part if not enabled[n] & missed}
        else:
            fair |= part
    return fair, later


@given(graphs(), BOOLEANS, BOOLEANS, BOOLEANS, BOOLEANS)
@SLOW
def test_components_are_fair_by_the_definition(
    graph: Any, allowed: list[bool], weak: list[bool], strong: list[bool], inside: list[bool]
) -> None:
    nodes, edges = graph
    back = {(a, c) for a, b, c in edges if a == b}
    several = {(a, b, c) for a, b, c in edges if (a, c) not in back}
    edges = sorted(several | {(a, a, c) for a, c in back})
    kinds = [np.array(each[:3]) for each in (allowed, weak, strong)]
    fair, later, _ = paths.fair(*rows(nodes, edges), *kinds, np.array(inside[:nodes]))
    actual = tuple(set(np.flatnonzero(each).tolist()) for each in (fair, later))
    assert actual == components_by_fairness(nodes, edges, allowed, weak, strong, inside)


PAIR, OTHER = [(0, 1, 0), (1, 0, 0)], [(2, 3, 0), (3, 2, 0)]
"""Two components, each of a cycle; node 4 is outside."""


@pytest.mark.parametrize(
    ("edges", "weak", "strong", "fair", "later"),
    [
        # The first component takes the choice; the second one can always take it, and never does.
        ([(0, 1, 1), (1, 0, 1), (2, 3, 0), (2, 4, 1), (3, 2, 0), (3, 4, 1)], [1], [], {0, 1}, set()),
        # In each component one of two nodes can take the choice.
        ([*PAIR, (0, 4, 2), *OTHER, (2, 4, 2)], [2], [], {0, 1, 2, 3}, set()),
        ([*PAIR, (1, 4, 2), *OTHER], [], [2], {2, 3}, {0}),
        # One of two nodes can take the choice, in two ways.
        ([*PAIR, (0, 2, 1), (0, 4, 1), *OTHER], [1], [], {0, 1, 2, 3}, set()),
    ],
)
def test_each_component_is_checked_by_itself(
    edges: list[tuple[int, int, int]], weak: list[int], strong: list[int], fair: set[int], later: set[int]
) -> None:
    allowed, inside = [True] * 3, [True] * 4 + [False]
    kinds = [[c in chosen for c in range(3)] for chosen in (weak, strong)]
    result = paths.fair(*rows(5, sorted(edges)), np.array(allowed), *map(np.array, kinds), np.array(inside))[:2]
    assert tuple(set(np.flatnonzero(each).tolist()) for each in result) == (fair, later)
    assert components_by_fairness(5, edges, allowed, *kinds, inside) == (fair, later)


@given(graphs(), BOOLEANS, BOOLEANS, BOOLEANS, BOOLEANS, BOOLEANS)
@SLOW
def test_trimming_removes_no_fair_component(
    graph: Any, allowed: list[bool], weak: list[bool], strong: list[bool], one: list[bool], other: list[bool]
) -> None:
    """Both searches find the same afterwards: fair components, and nodes to search later."""
    nodes, edges = graph
    edges = sorted({(a, c): (a, b, c) for a, b, c in edges}.values())
    kinds = [np.array(each[:3]) for each in (allowed, weak, strong)]
    regions = paths.packed([np.array(one[:nodes]), np.array(other[:nodes])], nodes)
    paths.trim(*rows(nodes, edges), *kinds, regions)
    for place, region in enumerate([one, other]):
        left = paths.members(regions, place)
        assert not (left & ~np.array(region[:nodes])).any()
        before, after = (
            paths.fair(*rows(nodes, edges), *kinds, inside)[:2] for inside in (np.array(region[:nodes]), left)
        )
        assert [each.tolist() for each in before] == [each.tolist() for each in after]


@pytest.mark.parametrize("leaves", [False, True])
def test_trimming_removes_a_region_without_cycles(leaves: bool) -> None:
    """The path turns in the numbers; its last node can be stayed in, unless a fair choice leaves the region there."""
    edges = [(0, 3, 1), (3, 1, 1), (1, 4, 1), (4, 2, 1), *([(2, 5, 1)] if leaves else [])]
    regions = paths.packed([np.arange(6) < 5], 6)
    never, fair = np.zeros(3, np.bool_), np.array([False, True, False])
    paths.trim(*rows(6, sorted(edges)), ~never, fair, never, regions)
    assert regions.tolist() == ([0] * 6 if leaves else [1] * 5 + [0])


def test_trimming_one_region_leaves_the_others() -> None:
    """Both nodes are a cycle of the first region; the second region has one of them only."""
    regions = paths.packed([np.array([True, True]), np.array([False, True])], 2)
    never, fair = np.zeros(3, np.bool_), np.array([False, True, False])
    paths.trim(*rows(2, [(0, 1, 1), (1, 0, 1)]), ~never, fair, never, regions)
    assert regions.tolist() == [1, 1]


@given(graphs(), BOOLEANS, BOOLEANS, BOOLEANS)
@SLOW
def test_what_reaches_a_goal_is_what_networkx_says(
    graph: Any, allowed: list[bool], one: list[bool], other: list[bool]
) -> None:
    nodes, edges = graph
    back, sources = paths.turned(*rows(nodes, edges), np.array(allowed[:3]))
    goals = [np.array(goal[:nodes]) for goal in (one, other)]
    bits = paths.packed(goals, nodes)
    assert paths.spread(*rows(nodes, edges), np.array(allowed[:3]), bits, bits.dtype.type(3))
    whole = kept(nodes, edges, allowed, [True] * nodes)
    for place, goal in enumerate(goals):
        expected = {m for n in range(nodes) if goal[n] for m in nx.ancestors(whole, n) | {n}}
        assert set(np.flatnonzero(paths.reaching(back, sources, goal)).tolist()) == expected
        assert set(np.flatnonzero(paths.members(bits, place)).tolist()) == expected


def test_a_path_of_many_turns_is_left_to_another_search() -> None:
    """Each sweep follows the path to its next turn."""
    nodes = 4 * paths.MOST_SWEEPS
    order = [n // 2 if n % 2 == 0 else nodes - 1 - n // 2 for n in range(nodes)]
    edges = sorted((a, b, 0) for a, b in pairwise(order))
    bits = paths.packed([np.arange(nodes) == order[-1]], nodes)
    assert not paths.spread(*rows(nodes, edges), np.ones(3, np.bool_), bits, bits.dtype.type(1))
    back, sources = paths.turned(*rows(nodes, edges), np.ones(3, np.bool_))
    assert paths.reaching(back, sources, np.arange(nodes) == order[-1]).all()


@each_row("many", [1, 8, 9, 16, 17, 64])
def test_sets_are_packed_and_unpacked(many: int) -> None:
    sets = [np.arange(100) % many == place for place in range(many)]
    bits = paths.packed(sets, 100)
    assert all((paths.members(bits, place) == each).all() for place, each in enumerate(sets))


@given(graphs(), BOOLEANS, BOOLEANS, st.lists(st.integers(0, 4), min_size=9, max_size=9))
@SLOW
def test_runs_that_avoid_a_goal_are_shortest(
    graph: Any, start: list[bool], goal: list[bool], depths: list[int]
) -> None:
    """By Dijkstra's algorithm, from a node that leads to each start in so many steps as it is deep."""
    nodes, edges = graph
    depth = sorted(depths[:nodes])
    starts = [s and not g for s, g in zip(start[:nodes], goal[:nodes], strict=True)]
    depth = [depth[n] for n in range(nodes)]
    # As in an exploration, an edge leads at most one deeper.
    edges = [(a, b, c) for a, b, c in edges if depth[b] <= depth[a] + 1]
    offsets, targets, _ = rows(nodes, edges)
    lengths, last, whence = paths.avoiding(
        offsets, targets, np.array(depth, np.int32), np.array(starts), np.array(goal[:nodes])
    )
    weighted: nx.DiGraph = nx.DiGraph()
    weighted.add_node("from")
    weighted.add_edges_from((a, b, {"weight": 1}) for a, b, _ in edges if not goal[a] and not goal[b])
    weighted.add_edges_from(("from", n, {"weight": depth[n]}) for n in range(nodes) if starts[n])
    expected = nx.single_source_dijkstra_path_length(weighted, "from")
    assert {n: int(length) for n, length in enumerate(lengths) if length != paths.NONE} == {
        n: length for n, length in expected.items() if n != "from"
    }
    for n in range(nodes):
        if lengths[n] != paths.NONE and last[n] != paths.NONE:
            assert targets[last[n]] == n
            assert offsets[whence[n]] <= last[n] < offsets[whence[n] + 1]
            assert lengths[n] == lengths[whence[n]] + 1
        elif lengths[n] != paths.NONE:
            assert starts[n] and lengths[n] == depth[n]


@given(
    graphs(), st.lists(st.integers(0, 2), min_size=9, max_size=9), st.lists(st.integers(0, 2), min_size=1, max_size=5)
)
@SLOW
def test_how_far_an_object_gets_is_what_all_walks_say(graph: Any, values: list[int], life: list[int]) -> None:
    """All pairs of a node and of how many are done, by a closure."""
    nodes, edges = graph
    offsets, targets, _ = rows(nodes, edges)
    actual = paths.longest_prefix(offsets, targets, np.array(values[:nodes], np.int64), np.array(life, np.int64))
    reached = {(0, 1)} if values[0] == life[0] else set()
    while True:
        more = {
            (b, done + (values[b] != values[a]))
            for a, b, _ in edges
            for n, done in reached
            if n == a and done < len(life) and (values[b] == values[a] or values[b] == life[done])
        }
        if more <= reached:
            break
        reached |= more
    furthest = max((done for _, done in reached), default=0)
    assert int(actual) == furthest

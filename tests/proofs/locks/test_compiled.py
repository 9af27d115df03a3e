"""The compiled search for deadlocks against the interpreted one: the same states, steps, problems, and ways to these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from schedproof.model.locks import Locks, parse, read
from schedproof.proofs.locks import automata, explore, kernel
from schedproof.proofs.locks import compiled as compiled_search
from schedproof.proofs.locks.automata import Automata, TooWide
from schedproof.proofs.locks.explore import LIMIT, Explored, explore_all
from schedproof.proofs.locks.kinds import Kind
from schedproof.proofs.locks.semantics import Machine, State
from schedproof.proofs.locks.symmetry import Classes, classes, representative
from schedproof.proofs.locks.unfold import World, unfold
from tests.proofs.locks.test_explore import Case, Maker, kinds
from tests.proofs.locks.test_kinds import HARMLESS, SCENARIOS
from tests.support.places import MODELS, ROOT
from tests.support.rows import each_row
from tests.support.sample import thinned

NEVER = 1 << 60
"""Of states after which it is compiled: none."""

MANY = 10_000
"""States that are enough for programs made at random, but for those that have no end of states."""

FILES = [
    *sorted((ROOT / "examples" / "deadlocks").glob("*.yaml")),
    *sorted(MODELS.rglob("deadlocks/*.yaml")),
    *sorted(MODELS.rglob("locks/*.yaml")),
]


def same(locks: Locks, *, limit: int = LIMIT) -> Explored:
    """A gate: both searches find the same, and with fewer states or steps the same problems; gives what is found so."""
    full, reduced = (explore_all(locks, reduced=each, limit=limit, pays=NEVER) for each in (False, True))
    assert explore_all(locks, reduced=False, limit=limit, pays=0) == full
    assert explore_all(locks, limit=limit, pays=0) == reduced
    if full.complete:
        assert kinds(full) == kinds(reduced)
        assert min((len(p.steps) for p in full.problems), default=0) == min(
            (len(p.steps) for p in reduced.problems), default=0
        )
    return reduced


def made(seed: int, *, serves: bool = False) -> Locks:
    """Threads made at random, the last one of which may serve, three at once where there are three to choose from."""
    maker = Maker(seed)
    case = maker.case()
    if serves:
        last, body = list(case.threads.items())[-1]
        if not (body and body[0][0] == "forever"):
            body = (("forever", (("recv", "c", maker.new()), *body)),)
        case = Case({**case.threads, last: body}, case.locks, maker.channels)
    locks = case.description()
    return replace(locks, together=(2, 3)) if seed % 4 == 0 else locks


SLOW = ("core-50", "core-54-fixed", "cockroach-165218-fixed", "etcd-6857-fixed", "reference")
"""Files with so many states that the interpreter takes seconds."""


def random_programs(seeds: range) -> None:
    """A gate: both searches find the same in threads made at random, half of which serve; some have no end of states."""
    for seed in seeds:
        try:
            same(made(seed, serves=seed % 2 == 1), limit=MANY)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, id=f.stem, marks=[pytest.mark.long] * f.stem.startswith(SLOW)) for f in FILES],
)
def test_both_searches_find_the_same_in_each_file(file: Any) -> None:
    locks = read(file)
    same(replace(locks, together=(2,)) if locks.together else locks)


@pytest.mark.long(seconds=12, one_in=18)
@pytest.mark.parametrize("file", [file for file in FILES if file.parent.name == "locks"], ids=lambda file: file.stem)
def test_both_searches_find_the_same_in_whole_designs(file: Any) -> None:
    same(read(file))


@each_row("name", [*SCENARIOS, *HARMLESS])
def test_both_searches_find_the_same_in_scenarios(name: str) -> None:
    same(parse(SCENARIOS[name].text if name in SCENARIOS else HARMLESS[name], "made.yaml"))


@pytest.mark.long
@pytest.mark.parametrize("part", thinned(range(4), 4))
def test_both_searches_find_the_same_in_random_programs(part: int) -> None:
    random_programs(range(part * 30, part * 30 + 30))


@pytest.mark.long(seconds=9, one_in=32)
@pytest.mark.parametrize("part", range(4))
def test_both_searches_find_the_same_in_many_programs(part: int) -> None:
    random_programs(range(5000 + part * 200, 5200 + part * 200))


def test_random_programs_that_serve_are_of_both_sorts() -> None:
    have_problems = [bool(explore_all(made(seed, serves=True), limit=MANY).problems) for seed in range(1, 80, 2)]
    assert 10 < sum(have_problems) < 35


@pytest.mark.parametrize("limit", thinned([1, 2, 7, 20, 60], 3, first=2))
def test_both_searches_are_cut_short_at_the_same_state(limit: int) -> None:
    cut = [same(made(seed, serves=seed % 2 == 1), limit=limit).complete for seed in range(12)]
    assert not all(cut)


# --- the packing

TWO_WORDS = "objects: {a: rw, b: mutex}\nchannels: {c: unbounded, d: unbounded}\nthreads:\n" + "".join(
    f"  t{n}: [rlock a: [lock b: [send c]], {'send d' if n % 2 else 'receive d'}]\n" for n in range(4)
)


def test_both_searches_find_the_same_in_states_of_several_words() -> None:
    locks = parse(TWO_WORDS, "made.yaml")
    machine = _machine(locks)
    packing = Automata(list(machine.programs), machine.locks, machine.capacities).together(range(4), ())
    assert packing.words > 1
    assert same(locks).states > 100


@each_row("seed", range(0, 40, 3))
def test_packed_states_are_those_of_the_interpreter(seed: int) -> None:
    """Each state has one packed form, and no two have the same."""
    locks = replace(made(seed, serves=seed % 2 == 1), together=())
    machine = _machine(locks)
    packing = Automata(list(machine.programs), machine.locks, machine.capacities).together(
        range(len(locks.threads)), ()
    )
    assert _all_packed(packing) == states_of(machine)


def _machine(locks: Locks) -> Machine:
    world = World(locks)
    programs = [unfold(world, thread) for thread in locks.threads.values()]
    return Machine(programs, len(locks.objects), list(locks.channels.values()))


def _all_packed(packing: automata.Packing) -> set[Any]:
    """The states of the kernel, each unpacked; it fails if two are the same."""
    states = packing.starts(ordered=False)
    parents, suspects = np.zeros((len(states), 1), np.uint32), np.zeros((64, 2), np.int64)
    numbers = np.zeros(5, np.int64)
    numbers[kernel.COUNT] = len(states)
    slots = kernel.rehashed(states, len(states), 1 << 12)
    code = packing.automata
    states, *_ = kernel.search(
        code.table, code.then, packing.fields, len(packing.members), states, parents, slots, suspects, numbers,
        1 << 30, LIMIT, False, False, False,
    )  # fmt: skip
    rows = states[: int(numbers[kernel.COUNT])]
    unpacked = [packing.unpack([int(word) for word in row]) for row in rows]
    assert len(set(unpacked)) == len(unpacked)
    return set(unpacked)


def test_both_searches_find_the_same_where_steps_have_many_ways() -> None:
    """A writer lets three readers in at once, each of which goes on in one of twelve ways: 1,728 states after one step."""
    ways = "[" + ", ".join("[unlock a, lock b: []]" for _ in range(12)) + "]"
    readers = "".join(f"  reader{n}: [rlock a, either: {ways}]\n" for n in range(3))
    locks = parse(f"objects: {{a: rw, b: mutex}}\nthreads:\n  writer: [wlock a: []]\n{readers}", "made.yaml")
    for reduced in (False, True):
        with_all = explore_all(locks, reduced=reduced, limit=6000, pays=NEVER)
        assert explore_all(locks, reduced=reduced, limit=6000, pays=0) == with_all
        assert with_all.states > 1728


ENDLESS = (
    "objects: {a: rw}\nchannels: {c: 1}\nthreads:\n  one: [serve: [send c, rlock a]]\n  two: [serve: [receive c]]\n"
)


def test_threads_that_read_for_ever_are_interpreted() -> None:
    locks = parse(ENDLESS, "made.yaml")
    machine = _machine(locks)
    with pytest.raises(TooWide):
        Automata(list(machine.programs), 1, machine.capacities)
    explored = explore_all(locks, pays=0, limit=1000)
    assert (explored.states, explored.complete) == (1000, False)


def test_more_locks_than_a_word_has_bits_are_interpreted() -> None:
    text = (
        "objects: {" + ", ".join(f"l{n}: mutex" for n in range(70)) + "}\nthreads:\n  one: [lock l69: [lock l1: []]]\n"
    )
    assert {p.kind for p in same(parse(text, "made.yaml")).problems} == set()


# --- releases first, where threads serve

BUSY = """
objects: {a: mutex, b: mutex, z: mutex}
channels: {go: 0}
threads:
  one: [lock z: [send go], lock a: [lock b: []]]
  two: [receive go, lock b: [lock a: []]]
  server: [serve: [lock z: []]]
"""


def test_the_way_to_who_is_stuck_beside_a_server_is_a_shortest() -> None:
    """With releases first it is no longer than without."""
    first, full = (same(parse(BUSY, "made.yaml")), explore_all(parse(BUSY, "made.yaml"), reduced=False))
    assert first == full
    assert [(p.kind, len(p.steps)) for p in full.problems] == [(Kind.REVERSED, 5)]


def test_problems_are_reported_although_all_is_cut_short() -> None:
    """With a limit that is enough where releases go first, and not for all steps."""
    locks = parse(BUSY, "made.yaml")
    for limit in range(10, 200):
        full, first = explore_all(locks, reduced=False, limit=limit), same(locks, limit=limit)
        if first.problems and not full.problems:
            assert not first.complete and first.problems[0].kind is Kind.REVERSED
            return
    raise AssertionError("no limit is between the two")


def test_a_server_that_is_no_problem_takes_fewer_states() -> None:
    """Where releases go first; that is what is reported then."""
    text = BUSY.replace("lock b: [lock a: []]", "lock a: [lock b: []]")
    locks = parse(text, "made.yaml")
    assert same(locks).problems == ()
    assert same(locks).states < explore_all(locks, reduced=False).states


# --- threads that do the same


def twins(seed: int) -> Locks:
    """Three threads that do the same, and where the seed is odd one that serves."""
    locks = replace(made(seed, serves=seed % 2 == 1), together=())
    first, *others = locks.threads.values()
    names = [first.name, "twin", "triplet"]
    serving = others[-1:] if seed % 2 else []
    return replace(
        locks, threads={**{name: replace(first, name=name) for name in names}, **{t.name: t for t in serving}}
    )


def states_of(machine: Machine) -> set[State]:
    """All states, with all steps."""
    seen = set(machine.starts())
    stack = list(seen)
    while stack:
        new = {after for _, after in machine.moves(stack.pop())} - seen
        seen |= new
        stack += new
    return seen


@pytest.mark.parametrize("seed", thinned(range(0, 24), 4))
def test_threads_that_do_the_same_are_of_no_consequence(seed: int) -> None:
    """Both searches find the same, and with one state for all renamings a problem is found where there is one."""
    locks = twins(seed)
    full = explore_all(locks, reduced=False, limit=MANY)
    assert full.complete
    assert {p.kind for p in same(locks, limit=MANY).problems} == {p.kind for p in full.problems}


@each_row("seed", range(0, 24, 3))
def test_a_state_is_represented_by_one_of_its_renamings(seed: int) -> None:
    """It has as many representatives as there are sets of threads' own states, as counted by names."""
    machine = _machine(twins(seed))
    groups = classes(machine.programs)
    assert groups[0][:3] == (0, 1, 2)
    seen = states_of(machine)
    kept = {representative(state, groups) for state in seen}
    assert kept <= seen
    assert len(kept) == len({_nameless(state, groups) for state in seen})


def _nameless(state: State, groups: Classes) -> Any:
    """A state without names: a bag of what each of the threads that do the same is doing."""
    bags = []
    for threads in [*groups, *((n,) for n in range(len(state.at)) if all(n not in each for each in groups))]:
        local = [
            (
                state.at[n],
                n in state.asleep,
                *((lock.holder == n, lock.readers.count(n), lock.announced == n) for lock in state.locks),
            )
            for n in threads
        ]
        bags.append(frozenset(Counter(local).items()))
    return tuple(bags), state.counts


def test_six_threads_that_do_the_same_take_few_states() -> None:
    text = "objects: {a: mutex, b: mutex, c: mutex}\nthreads:\n" + "".join(
        f"  t{n}: [lock a: [], lock b: [], lock c: []]\n" for n in range(6)
    )
    locks = parse(text, "made.yaml")
    assert explore_all(locks).states < explore_all(locks, reduced=False, pays=0).states / 100


def test_a_run_found_by_representatives_is_a_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit at which the search among real states does not come to the problem."""
    text = (
        "objects: {a: mutex, b: mutex}\nthreads:\n  one: [lock a: [], lock b: [], lock a: [lock a: []]]\ntogether: 4\n"
    )
    locks = parse(text, "made.yaml")
    for limit in range(10, 200):
        explored = same(locks, limit=limit)
        with monkeypatch.context() as without:
            without.setattr(explore, "classes", lambda programs: ())
            real = explore_all(locks, limit=limit)
        if explored.problems and not real.problems:
            (problem,) = explored.problems
            assert problem.kind is Kind.SELF and not explored.complete
            assert [step.on for step in problem.steps if step.thread == problem.threads[0]] == ["a", "a", "b", "b", "a"]
            return
    raise AssertionError("no limit is between the two")


# --- seeded faults


class Fault(NamedTuple):
    """A slip in the translation or in the kernel: what is spoilt, and by what."""

    of: Any
    name: str
    slip: Callable[..., Any]


_after, _reachable, _starts = automata._Automaton.after, automata._Automaton.reachable, automata.Packing.starts
_successors, _woken, _advanced = (kernel.__dict__[n].py_func for n in ("_successors", "_woken", "_advanced"))


def _forgets_readings(self: Any, node: Any) -> Any:
    """Who reads a lock twice holds it once."""
    for after in _after(self, node):
        yield replace(after, reads=tuple(sorted(set(after.reads))))


def _sees_one_step(self: Any) -> dict[int, int]:
    """A thread comes to no message but its next one."""
    return {at: self.bits(one.gives()) for at, one in enumerate(self.program.instructions)}


def _first_start(self: Any, *, ordered: bool) -> Any:
    """Only the first of the initial states."""
    return _starts(self, ordered=ordered)[:1]


def _wakes_nobody(*arguments: Any) -> int:
    return 1


def _wakes_one(*arguments: Any) -> int:
    """Of the readers that wait for a writer only the first one is let in."""
    return min(2, int(_woken(*arguments)))


def _first_way(*arguments: Any) -> Any:
    """Of several ways on it takes one."""
    count, out = _advanced(*arguments)
    return min(count, arguments[-1] + 1), out


def _any_thread_alone(table: Any, nodes: Any) -> int:
    """The reduction takes acquisitions too."""
    going = (automata.RELEASE, automata.READ, automata.WRITE)
    return next((t for t, node in enumerate(nodes) if table[node, automata.KIND] in going), -1)


def _alone_for_ever(table: Any, nodes: Any) -> int:
    """The reduction takes messages too."""
    return next(
        (t for t, node in enumerate(nodes) if table[node, automata.KIND] in (automata.RELEASE, automata.SEND)), -1
    )


def _nobody_hopes(table: Any, nodes: Any, thread: int, stuck: int, done: int) -> bool:
    return bool(table[nodes[thread], automata.KIND] in (automata.RECEIVE, automata.SEND))


def _nothing_ends(*arguments: Any) -> int:
    return 0


def _all_alike(programs: Any) -> Classes:
    """All threads do the same."""
    return (tuple(range(len(programs))),)


def _alike_by_steps(programs: Any) -> Classes:
    """Threads with equally many steps do the same."""
    by_length: dict[int, list[int]] = {}
    for number, program in enumerate(programs):
        by_length.setdefault(len(program.instructions), []).append(number)
    return tuple(tuple(each) for each in by_length.values() if len(each) > 1)


def _no_order(*arguments: Any) -> None:
    """States that differ in the names of threads only count each."""


def _order_alone(fields: Any, threads: int, out: Any, i: int, owners: Any) -> None:
    """Which thread has changed its place is not kept."""
    _order(fields, threads, out, i, owners.copy())


_order = kernel.__dict__["_order"].py_func


def _starts_as_they_are(self: Any, *, ordered: bool) -> Any:
    """The initial states do so."""
    return _starts(self, ordered=False)


def _all_the_same(packing: Any, rows: Any, suspects: Any) -> list[int]:
    """Of all suspects only the first is looked at."""
    return [int(n) for n in suspects[:1, 0]]


FAULTS: dict[str, Fault] = {
    "a lock read twice is held once": Fault(automata._Automaton, "after", _forgets_readings),
    "only the next message is seen": Fault(automata._Automaton, "reachable", _sees_one_step),
    "one initial state": Fault(automata.Packing, "starts", _first_start),
    "a release wakes nobody": Fault(kernel, "_woken", _wakes_nobody),
    "a release wakes one": Fault(kernel, "_woken", _wakes_one),
    "one way on": Fault(kernel, "_advanced", _first_way),
    "acquisitions go alone": Fault(kernel, "_releasing", _any_thread_alone),
    "messages go alone": Fault(kernel, "_releasing", _alone_for_ever),
    "who waits for a lock hopes": Fault(kernel, "_hopeless", _nobody_hopes),
    "nothing ends": Fault(kernel, "_at_end", _nothing_ends),
    "all threads do the same": Fault(explore, "classes", _all_alike),
    "threads with as many steps do the same": Fault(explore, "classes", _alike_by_steps),
    "nobody changes places": Fault(kernel, "_order", _no_order),
    "no thread is seen to continue": Fault(compiled_search, "gathered", lambda *arguments: False),
    "who changes places is not kept": Fault(kernel, "_order", _order_alone),
    "initial states are not ordered": Fault(compiled_search.Packing, "starts", _starts_as_they_are),
    "one suspect is all": Fault(compiled_search, "_distinct", _all_the_same),
}


@pytest.fixture
def as_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's functions as they are written, not compiled, so that a slip can be put in."""
    for name, function in list(kernel.__dict__.items()):
        if hasattr(function, "py_func"):
            monkeypatch.setattr(kernel, name, function.py_func)
    monkeypatch.setattr(compiled_search, "search", kernel.search)
    monkeypatch.setattr(compiled_search, "rehashed", kernel.rehashed)
    monkeypatch.setattr(compiled_search, "gathered", kernel.gathered)


QUEUE = "objects: {a: rw}\nthreads:\n  writer: [wlock a: []]\n" + "".join(
    f"  reader{n}: [rlock a: []]\n" for n in range(2)
)

LATER = "objects: {a: mutex}\nchannels: {c: 1}\nthreads:\n  one: [send c, lock a: [], send c]\n  server: [serve: [receive c, receive c]]\n"
"""The server waits for the second message when the other one has something else to do first."""

CHOICE = "objects: {a: mutex, b: mutex}\nthreads:\n  one: [either: [[lock a: []], [lock b: []]]]\ntogether: 2\n"


SPINS = "objects: {m: mutex}\ncounters: {n: 0, j: 1, k: 0}\nthreads:\n" + "".join(
    f"  {name}: [while n = 0: [lock m: [], swap j 1 0: [await k = 1], if n = 1: [set k 1], lock m: []]]\n"
    for name in ("one", "two")
)
"""One of two equal threads waits for ever, and the other one comes to all places before and after it."""


def gate() -> None:
    with np.errstate(over="ignore"):
        files = [QUEUE, LATER, CHOICE, BUSY, SPINS]
        for text in [*files, *(each.text for each in SCENARIOS.values()), *HARMLESS.values()]:
            same(parse(text, "made.yaml"))
        random_programs(range(40))


@pytest.mark.usefixtures("as_python")
@pytest.mark.parametrize("name", thinned(FAULTS, 3, first=1))
def test_a_seeded_fault_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    monkeypatch.setattr(fault.of, fault.name, fault.slip)
    with pytest.raises((AssertionError, StopIteration, RuntimeError, IndexError)):
        gate()


@pytest.mark.long
@pytest.mark.usefixtures("as_python")
def test_the_gate_passes_without_a_fault() -> None:
    gate()

"""Locks that are tried: the explorer against the brute force, both engines, the derived order, and a real program."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.locks import parse
from schedproof.proofs.locks import derived_answers, semantics
from schedproof.proofs.locks.explore import explore_all
from schedproof.proofs.locks.model_check import model_check
from schedproof.proofs.locks.semantics import Lock, Machine, Move, State
from schedproof.proofs.locks.unfold import World, unfold
from schedproof.proofs.verdict import Verdict
from tests.proofs.locks.test_explore import Case, Maker, agree
from tests.support.needs import needs_go

PROGRAM = Path(__file__).parent / "programs" / "trylock.go"
LIMIT = 120
"""The seconds that the compiler or the program may take."""

Body = tuple[Any, ...]


def tried(body: Body, maker: Maker) -> Body:
    """The same program, in which some acquisitions with a block are tried."""
    steps: list[Any] = []
    for step in body:
        if step[0] == "with":
            word = "try" if maker.random.random() < 0.5 else "with"
            steps.append((word, step[1], step[2], tried(step[3], maker), *step[4:]))
        elif step[0] in ("one of", "forever"):
            steps.append((step[0], *(tried(each, maker) for each in step[1:])))
        else:
            steps.append(step)
    return tuple(steps)


def agrees(seeds: range) -> int:
    """A gate: random programs that try end as by brute force; returns how many of them try."""
    trying = 0
    for seed in seeds:
        maker = Maker(seed)
        case = maker.case()
        case = Case({name: tried(body, maker) for name, body in case.threads.items()}, case.locks, case.channels)
        trying += "'try'" in repr(case.threads)
        try:
            agree(case)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {case}: {error}") from error
    return trying


@pytest.mark.parametrize("seeds", [range(16), pytest.param(range(16, 56), marks=pytest.mark.long)])
def test_random_programs_that_try_end_as_by_brute_force(seeds: range) -> None:
    assert agrees(seeds) > len(seeds) / 2


CROSSED = "objects: {a: mutex, b: mutex}\nthreads:\n  one: [lock a: [%slock b: []]]\n  two: [lock b: [%slock a: []]]\n"
FILES = {
    # The text, and the checks that are refuted.
    "both wait": (CROSSED % ("", ""), {"derived-order-is-acyclic", "no-deadlock"}),
    "one tries": (CROSSED % ("try ", ""), set()),
    "both try": (CROSSED % ("try ", "try "), set()),
    "what is tried is held": (
        "objects: {a: mutex, b: mutex}\nthreads:\n  one: [try lock a: [lock b: []]]\n  two: [lock b: [lock a: []]]\n",
        {"derived-order-is-acyclic", "no-deadlock"},
    ),
    "what is held is tried": ("objects: {a: mutex}\nthreads: {one: [lock a: [try lock a: []]]}\n", set()),
    "a reader that is tried again": (
        "objects: {a: rw}\nthreads: {one: [rlock a: [try rlock a: []]], two: [wlock a: []]}\n",
        set(),
    ),
    "against the order": (
        "classes: {A: {}, B: {}}\norder: [A > B]\noperations:\n  op(A a, B b): [wlock b: [try wlock a: []]]\nobjects: {a: A, b: B}\n",
        set(),
    ),
    "against the order, under what is tried": (
        "classes: {A: {}, B: {}}\norder: [A > B]\noperations:\n  op(A a, B b): [try wlock b: [wlock a: []]]\nobjects: {a: A, b: B}\n",
        {"op-follows-the-order"},
    ),
}


def by_hand() -> None:
    """A gate: the files have the verdicts that are derived by hand."""
    for name, (text, expected) in FILES.items():
        answers = model_check(parse(text, "made.yaml")).answers
        assert {a.check.name for a in answers if a.verdict is Verdict.REFUTED} == expected, name
        assert {a.verdict for a in answers if a.check.name not in expected} == {Verdict.PROVED}, name


def test_files_have_the_verdicts_derived_by_hand() -> None:
    by_hand()


def test_a_failure_is_a_step_of_the_interleaving() -> None:
    text = "objects: {a: mutex}\nchannels: {c: 0}\nthreads:\n  one: [try lock a: [receive c], lock a, lock a]\n"
    steps = [step.how for step in explore_all(parse(text, "made.yaml")).problems[0].steps]
    assert "try lock" in steps or "fails to lock" in steps


# --- a real program


@pytest.mark.long
@needs_go
def test_a_real_program_tries_as_the_model_says(tmp_path: Path) -> None:
    """``sync.Mutex.TryLock`` and ``sync.RWMutex.TryRLock``, by the runtime and its own detector of deadlocks."""
    shutil.copy(PROGRAM, tmp_path)
    program = tmp_path / "trylock"
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off", "GOTOOLCHAIN": "local"}
    build = ["go", "build", "-o", str(program), str(tmp_path / PROGRAM.name)]
    subprocess.run(build, env=environment, check=True, timeout=LIMIT)

    def run(scenario: str) -> tuple[bool, str]:
        done = subprocess.run([str(program), scenario], capture_output=True, text=True, timeout=LIMIT)
        return done.returncode == 0, done.stdout + done.stderr

    for scenario in ("both wait", "one tries", "both try", "what is tried is held", "what is held is tried"):
        ends, says = run(scenario)
        refuted = FILES[scenario][1]
        assert ends == ("no-deadlock" not in refuted), scenario
        assert ends or "all goroutines are asleep - deadlock!" in says
    # A lock that is held, read, or announced by a writer is not got; one that is read is got for reading.
    assert run("semantics") == (True, "held false\nread false\nread again true\nannounced false\nfree true\n")


def model_gets() -> None:
    """A gate: the five answers of the program, from the machine's own steps: whether a try can succeed in the state."""

    def gets(lock: Lock, mode: str) -> bool:
        text = f"objects: {{a: {'mutex' if mode == 'lock' else 'rw'}}}\nthreads: {{t: [try {mode} a: []]}}\n"
        world = semantics_world(text)
        state = next(world.starts())
        moves = world.moves(State(state.at, state.asleep, (lock,), state.counts))
        return any(not move.fails for move, _ in moves)

    other = 7
    assert not gets(Lock(holder=other), "lock")
    assert not gets(Lock(readers=(other,)), "wlock")
    assert gets(Lock(readers=(other,)), "rlock")
    assert not gets(Lock(readers=(other,), announced=8), "rlock")
    assert gets(Lock(), "lock")


def test_the_model_gets_what_the_real_program_gets() -> None:
    model_gets()


def test_tried_locks_are_explored_by_the_interpreter() -> None:
    for text, expected in FILES.values():
        locks = parse(text, "made.yaml")
        if locks.threads:
            explored = explore_all(locks, pays=0)
            assert explored.complete and bool(explored.problems) == ("no-deadlock" in expected)


def semantics_world(text: str) -> Machine:
    """The machine of a file."""
    locks = parse(text, "made.yaml")
    programs = [unfold(World(locks), thread) for thread in locks.threads.values()]
    return Machine(programs, len(locks.objects), [])


# --- seeded faults


def waits(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """It fails only if the lock is not free; while it is, it succeeds."""
    moves = list(_try(self, state, thread, instruction))
    yield from [each for each in moves if not each[0].fails] or moves


def passes_an_announced_writer(
    self: Machine, state: State, thread: int, instruction: Any
) -> Iterator[tuple[Move, State]]:
    """A reader gets in though a writer waits."""
    lock = state.locks[instruction.target]
    if lock.announced is not None and instruction.mode == "rlock":
        readers = Lock(None, tuple(sorted([*lock.readers, thread])), lock.announced, lock.outside)
        yield from self._on(semantics._with_lock(state, instruction.target, readers), thread, state.at[thread])
    yield from _try(self, state, thread, instruction)


def never_fails(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """It waits for ever."""
    yield from (each for each in _try(self, state, thread, instruction) if not each[0].fails)


def holds_nothing(each: Any) -> Any:
    """What is tried is not held: no circle goes through it."""
    circles = _circles(each)
    return type(circles)((), circles.gated, circles.complete)


_try, _circles = Machine._try, derived_answers.find_circles

SEEDED = {
    "it fails only if it must": (Machine, "_try", waits, lambda: agrees(range(40))),
    "a reader passes a writer": (Machine, "_try", passes_an_announced_writer, model_gets),
    "it never fails": (Machine, "_try", never_fails, by_hand),
    "what is tried is not held": (derived_answers, "find_circles", holds_nothing, by_hand),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of, attribute, bug, gate = SEEDED[name]
    monkeypatch.setattr(of, attribute, bug)
    with pytest.raises(AssertionError):
        gate()

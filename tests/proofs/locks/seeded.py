"""Engines for locks with a bug each, for the tests to catch.

Each bug is one method or function of an engine, spoilt as by a slip; the gate is the part of the tests that must fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import z3

from schedproof.model.locks import check, words
from schedproof.model.locks.language import Acquire, Either, Loop, Mode, Step
from schedproof.proofs.locks import (
    derived,
    derived_answers,
    kinds,
    made,
    model_check,
    rank,
    runs,
    semantics,
    symbolic,
    unfold,
)
from schedproof.proofs.locks.semantics import Lock, Machine, Move, State
from tests.model.locks import test_language as language_tests
from tests.proofs.locks import test_derived as derived_tests
from tests.proofs.locks import test_explore as explore_tests
from tests.proofs.locks import test_keys as key_tests
from tests.proofs.locks import test_kinds as kinds_tests
from tests.proofs.locks import test_order as order_tests
from tests.proofs.locks import test_programs as program_tests

Gate = Callable[[], object]


class Seeded(NamedTuple):
    """A bug: what is spoilt, by what, and the gate that sees it."""

    of: Any
    name: str
    bug: Any
    gate: Gate


def explorer() -> None:
    explore_tests.random_programs(range(60))


def unlocking() -> None:
    explore_tests.unlocks(range(30))


def every_kind() -> None:
    for name in kinds_tests.SCENARIOS:
        kinds_tests.check_kind(name)


def orders() -> None:
    for name in order_tests.BY_HAND:
        order_tests.by_hand(name)
    order_tests.random_orders(range(30), 3)


def contradictions() -> None:
    order_tests.test_a_rank_that_contradicts_a_row_is_noticed()


def programs() -> None:
    program_tests.by_hand()
    program_tests.random_programs(range(40))


def rules() -> None:
    program_tests.test_a_rule_about_an_object_is_kept_or_not.row("  op(A a): [rlock a: [write a.f]]\n", REFUTED)
    programs()


def derived_order() -> None:
    derived_tests.by_hand()
    derived_tests.agrees(range(60))
    derived_tests.covers(range(60))


def keys() -> None:
    key_tests.by_hand()
    key_tests.descending()
    key_tests.closed()
    key_tests.agrees(range(8))


def keys_explored() -> None:
    key_tests.explored_by_hand()


REFUTED = program_tests.Verdict.REFUTED

# --- keys


def higher_is_lower(self: Any, one: Any, where: Any, other: Any) -> Any:
    """Keys are compared in the other direction."""
    return self.key(one) < self.key(other) if where == "after" else self.key(one) > self.key(other)


def only_what_is_held_before(self: Any, step: Any, scope: Any, facts: Any, of: Any) -> None:
    """Of several locks, none is acquired under an earlier one."""
    one = self.z.new(step.over)
    self.acquires(step, one, facts, of)
    members = () if step.every else None
    self.steps(step.body, scope, facts.holding(symbolic.Hold(one, step.mode, members)), of)


def any_is_held(self: Any, hold: Any, needed: Any) -> Any:
    """Of several locks, each of the class is held."""
    return z3.BoolVal(True)


def highest_first(self: Any, step: Any, scope: Any) -> Any:
    """Several locks are acquired from the highest key down."""
    world = type("Backwards", (unfold.World,), {"key": lambda self, name: -self.names.index(name)})(self.locks)
    return _one_by_one(world, step, scope)


def several_are_all(self: Any, step: Any, scope: Any) -> Any:
    """Any choice of locks is all of them."""
    return _one_by_one(self, replace(step, every=True), scope)


def compares_nothing(self: Any, step: Any, scope: Any) -> bool:
    return True


def knows_no_comparison(self: Any, step: Any, scope: Any, facts: Any, of: Any) -> None:
    """What is called does not know what its caller has compared."""
    self.compares_keys = False
    _call(self, step, scope, facts, of)


_one_by_one = unfold.World.one_by_one

# --- semantics


def _locked(state: State, number: int, **changes: Any) -> State:
    lock = replace(state.locks[number], **changes)
    return replace(state, locks=(*state.locks[:number], lock, *state.locks[number + 1 :]))


_acquire, _release, _moves = Machine._acquire, Machine._release, Machine.moves


def readers_pass_a_writer(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """A reader gets in though a writer has announced itself."""
    lock = state.locks[instruction.target]
    if instruction.mode is Mode.READ and lock.holder is None and lock.announced is not None:
        readers = tuple(sorted([*lock.readers, thread]))
        yield from self._on(_locked(state, instruction.target, readers=readers), thread, state.at[thread])
    else:
        yield from _acquire(self, state, thread, instruction)


def writers_do_not_wait(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """A writer gets in beside readers."""
    lock = state.locks[instruction.target]
    if instruction.mode is Mode.WRITE and lock.holder is None and lock.announced is None:
        yield from self._on(_locked(state, instruction.target, holder=thread), thread, state.at[thread])
    else:
        yield from _acquire(self, state, thread, instruction)


def writers_do_not_announce(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """A writer waits until there is no reader, and keeps none out meanwhile."""
    if instruction.mode is Mode.WRITE and state.locks[instruction.target].readers:
        return
    yield from _acquire(self, state, thread, instruction)


def re_entrant(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """Who holds a lock gets it again."""
    if state.locks[instruction.target].holder == thread:
        yield from self._on(state, thread, state.at[thread])
    else:
        yield from _acquire(self, state, thread, instruction)


def unlock_wakes_nobody(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """Readers that wait for a writer are forgotten."""
    lock = state.locks[instruction.target]
    if lock.holder == thread:
        yield from self._on(_locked(state, instruction.target, holder=None), thread, state.at[thread])
    else:
        yield from _release(self, state, thread, instruction)


def writer_stays_outside(self: Machine, state: State, thread: int, instruction: Any) -> Iterator[tuple[Move, State]]:
    """The last reader leaves, and the writer that waits for it is not let in."""
    lock = state.locks[instruction.target]
    if lock.readers == (thread,) and lock.announced is not None:
        yield from self._on(_locked(state, instruction.target, readers=()), thread, state.at[thread])
    else:
        yield from _release(self, state, thread, instruction)


def first_reader_lets_the_writer_in(
    self: Machine, state: State, thread: int, instruction: Any
) -> Iterator[tuple[Move, State]]:
    """The writer is in as soon as one of the readers has left."""
    lock = state.locks[instruction.target]
    if thread in lock.readers and lock.announced is not None:
        left = _with(state, instruction.target, Lock(holder=lock.announced, outside=lock.outside))
        for move, after in self._on(left, thread, state.at[thread]):
            for awake in self._advanced(after, [lock.announced]):
                yield move, awake
    else:
        yield from _release(self, state, thread, instruction)


def nobody_minds(self: Machine, state: State, thread: int) -> bool:
    """A thread that releases what it does not hold is not reported."""
    return bool(_releases(self, state, thread))


def _with(state: State, number: int, lock: Lock) -> State:
    return replace(state, locks=(*state.locks[:number], lock, *state.locks[number + 1 :]))


def one_message_more(state: State, channel: int, more: int) -> State:
    """A message that is taken stays."""
    count = state.counts[channel] + max(more, 0)
    return replace(state, counts=(*state.counts[:channel], count, *state.counts[channel + 1 :]))


def reduces_acquisitions(self: Machine, state: State, thread: int) -> bool | None:
    """The reduction takes an acquisition by itself too."""
    instruction = self.instruction(state, thread)
    if instruction is not None and instruction.kind is Acquire and thread not in state.asleep:
        return True
    return _releases(self, state, thread)


_releases = Machine.releases


# --- kinds


def everything_rests(machine: Machine, state: State, thread: int) -> bool:
    """Who serves rests wherever it waits for a message, even with a lock."""
    return state.at[thread] in machine.programs[thread].rests or not kinds._holds(state, thread)


def no_writer(machine: Machine, state: State, circle: tuple[int, ...]) -> bool:
    return False


def blames_readers_only(self: Machine, state: State, thread: int) -> frozenset[int]:
    """An announced writer is not one that a reader waits for."""
    instruction = self.instruction(state, thread)
    if instruction is not None and instruction.kind is Acquire:
        lock = state.locks[instruction.target]
        return frozenset({*lock.readers, *([] if lock.holder is None else [lock.holder])})
    return _blockers(self, state, thread)


_blockers = Machine.blockers

# --- the order


def no_deeper(self: rank.Rank, first: str, first_position: Any, second: str, second_position: Any) -> Any:
    """A child comes no later than its parent."""
    if self.numbers[first] != self.numbers[second]:
        return z3.BoolVal(self.numbers[first] < self.numbers[second])
    return z3.BoolVal(self.signs[first] != 0)


def always_commutes(inside: Any) -> bool:
    return True


def first_rows_only(locks: Any) -> list[Any]:
    return list(locks.order)[:2]


def no_contradiction(locks: Any, order: rank.Rank) -> None:
    return None


def up_is_down(rows: Any, inside: Any) -> Iterator[rank.Edge]:
    """The edges of a tree are not turned for what is around."""
    for edge in _edges(rows, inside):
        yield replace(edge, holding=edge.acquired, acquired=edge.holding) if edge.row.where == "around" else edge


_edges = rank._edges

# --- symbolic


def forgets_its_callers(self: Any, step: Any, scope: Any, facts: Any, of: Any) -> None:
    """What is held at a call is not held in what is called."""
    _call(self, step, scope, replace(facts, held=()), of)


def believes_its_callers(self: Any, facts: Any, needed: Any, mode: Mode) -> bool:
    """Whatever is held will do, for reading or for writing."""
    return any(hold.object.of == needed.of for hold in facts.held)


def releases_the_oldest(self: Any, facts: Any, one: Any, mode: Any = None) -> Any:
    return replace(facts, held=facts.held[1:])


def releases_all(self: Any, facts: Any, one: Any, mode: Any = None) -> Any:
    return replace(facts, held=())


def allows_all(self: Any, facts: Any, held: Any, acquired: Any) -> bool:
    """Two classes with some row between them will do."""
    return held.of != acquired.of or self.locks.classes[held.of].is_tree


def loops_do_nothing(self: Any, step: Loop, scope: Any, facts: Any, of: Any) -> None:
    """Its steps are passed over."""


def once_is_enough(self: Any) -> Any:
    """What is called is not looked at."""
    self.operation(self.entry, None)
    return self.programs


_call = symbolic._Checker.call

# --- runs and unfolding


def pops_the_first(held: Any, one: str, mode: Any = None) -> Any:
    return held[1:]


def covers_all(self: Mode, other: Mode) -> bool:
    return True


def no_waiting(locks: Any, event: Any) -> str:
    return ""


def all_are_outermost(self: Any, loop: Loop, scope: Any) -> list[str]:
    """The objects of a loop are all those of their class."""
    return [o.name for o in self.locks.objects.values() if o.of == loop.over]


def takes_the_first_way(self: Any, step: Step, scope: Any, then: tuple[int, ...], deep: int) -> tuple[int, ...]:
    """Of several ways only the first is gone."""
    if isinstance(step, Either):
        step = replace(step, alternatives=step.alternatives[:1])
    return _unfolded(self, step, scope, then, deep)


_unfolded = unfold._Unfolding.step

# --- the derived order


def sees_no_gate(one: derived.Acquisition, other: derived.Acquisition) -> tuple[str, ...]:
    return ()


def readers_exclude_readers(one: derived.Acquisition, other: derived.Acquisition) -> tuple[str, ...]:
    """A lock that both read is a gate too."""
    return tuple(name for name, _ in one.held if other.held_as(name) is not None)


def waits_for_readers(by: Any) -> tuple[str, ...]:
    """A reader waits for a reader, without a writer."""
    return ()


def runs_twice(one: derived.Acquisition, other: derived.Acquisition) -> bool:
    return False


def holds_the_last_only(tried: Any, once: Any = ()) -> list[derived.Acquisition]:
    """Of several locks that are held only the last counts."""
    return [replace(one, held=one.held[-1:]) for one in _acquisitions(tried, once)]


def nothing_is_apart(locks: Any) -> Any:
    """All objects that are made are in the same containers."""
    objects = _made(locks)
    last = {one.of: name for name, one in objects.items()}
    return {name: one for name, one in objects.items() if name not in last.values()}


def reads_once(every: Any) -> derived.Repeated:
    """A read lock may be acquired again."""
    repeated = _repeated(every)
    return replace(repeated, violations=tuple(each for each in repeated.violations if not each.reads))


_acquisitions, _made, _repeated = derived.acquisitions, made.made, derived.find_repeated

# --- reading

_block = words.block


def reads_as_mutex(*arguments: Any) -> Step:
    """The steps in a lock are read for their words only."""
    step = _block(*arguments)
    return replace(step, body=()) if isinstance(step, Acquire) else step


def knows_all(name: str, known: Any, what: str, place: Any) -> None:
    """No name is looked up."""


CHECKER = symbolic._Checker

BUGS: dict[str, Seeded] = {
    "a reader passes an announced writer": Seeded(Machine, "_acquire", readers_pass_a_writer, explorer),
    "a writer does not wait for readers": Seeded(Machine, "_acquire", writers_do_not_wait, explorer),
    "a writer does not announce itself": Seeded(Machine, "_acquire", writers_do_not_announce, every_kind),
    "locks are re-entrant": Seeded(Machine, "_acquire", re_entrant, every_kind),
    "an unlock wakes nobody": Seeded(Machine, "_release", unlock_wakes_nobody, explorer),
    "a writer is never let in": Seeded(Machine, "_release", writer_stays_outside, explorer),
    "the first reader lets the writer in": Seeded(Machine, "_release", first_reader_lets_the_writer_in, explorer),
    "what is not held is released": Seeded(Machine, "releases", nobody_minds, unlocking),
    "a message stays when it is taken": Seeded(semantics, "_with_messages", one_message_more, explorer),
    "the reduction takes acquisitions": Seeded(Machine, "releases", reduces_acquisitions, explorer),
    "everything rests": Seeded(kinds, "rests", everything_rests, every_kind),
    "no writer is seen in a circle": Seeded(kinds, "_needs_writer", no_writer, every_kind),
    "a reader waits for no writer": Seeded(Machine, "blockers", blames_readers_only, every_kind),
    "a child comes no later": Seeded(rank.Rank, "below", no_deeper, contradictions),
    "no rank is contradicted": Seeded(rank, "_contradicts", no_contradiction, contradictions),
    "instances need not commute": Seeded(rank, "_commutes", always_commutes, order_tests.counts),
    "some rows are left out": Seeded(rank, "_circular", first_rows_only, orders),
    "around is turned": Seeded(rank, "_edges", up_is_down, orders),
    "calls forget what is held": Seeded(CHECKER, "call", forgets_its_callers, programs),
    "any lock will do": Seeded(CHECKER, "holds", believes_its_callers, rules),
    "the oldest lock is released": Seeded(CHECKER, "released", releases_the_oldest, programs),
    "all locks are released": Seeded(CHECKER, "released", releases_all, programs),
    "any row will do": Seeded(CHECKER, "allowed", allows_all, programs),
    "loops are passed over": Seeded(CHECKER, "loop", loops_do_nothing, programs),
    "what is called is looked at once": Seeded(CHECKER, "all", once_is_enough, programs),
    "a run releases its first lock": Seeded(runs, "_without", pops_the_first, programs),
    "to read is to write": Seeded(Mode, "covers", covers_all, rules),
    "no run waits": Seeded(runs, "waits_under_a_lock", no_waiting, programs),
    "a loop is over all": Seeded(unfold.World, "those", all_are_outermost, programs),
    "only one way is gone": Seeded(unfold._Unfolding, "step", takes_the_first_way, explorer),
    "a gate is not seen": Seeded(derived, "_gates", sees_no_gate, derived_order),
    "a reader excludes a reader": Seeded(derived, "_gates", readers_exclude_readers, derived_order),
    "a reader waits for readers": Seeded(derived, "_through_writers", waits_for_readers, derived_order),
    "a thread runs twice": Seeded(derived, "_same", runs_twice, derived_order),
    "circles have two locks": Seeded(derived, "LONGEST", 2, derived_order),
    "only the last lock is held": Seeded(model_check, "acquisitions", holds_the_last_only, derived_order),
    "nothing is apart": Seeded(model_check, "made", nothing_is_apart, derived_order),
    "a read lock is acquired again": Seeded(derived_answers, "find_repeated", reads_once, derived_order),
    "the higher key is the lower one": Seeded(symbolic._Sorts, "compares", higher_is_lower, keys),
    "several locks are one": Seeded(symbolic._Checker, "acquires_many", only_what_is_held_before, keys),
    "any lock of a class is held": Seeded(symbolic._Checker, "is_held", any_is_held, keys),
    "several locks from the highest down": Seeded(unfold.World, "one_by_one", highest_first, keys_explored),
    "several locks are all": Seeded(unfold.World, "one_by_one", several_are_all, keys_explored),
    "keys are not compared": Seeded(unfold.World, "compares", compares_nothing, keys_explored),
    "a comparison is forgotten": Seeded(symbolic._Checker, "call", knows_no_comparison, keys),
    "any name is known": Seeded(check, "_known", knows_all, language_tests.language),
    "the body of a lock is dropped": Seeded(words, "block", reads_as_mutex, every_kind),
}

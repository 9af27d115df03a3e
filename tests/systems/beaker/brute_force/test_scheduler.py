"""The brute-force search for deadlocks of recipe sets: its counts by hand, its paces against each other, its findings.

What must be found, and where nothing may be found, is derived by argument in each test; the counts of states are only
pinned where they were counted on paper.
"""

from __future__ import annotations

import ast
from itertools import islice, permutations, product
from pathlib import Path

import pytest

from tests.support.sample import thinned
from tests.systems.beaker.brute_force import batch
from tests.systems.beaker.brute_force.deadlocks import (
    ABBA,
    FINISHED_SIBLING,
    FORGOTTEN,
    LAB,
    SELF,
    has_a_cycle,
    shortest_by_cause,
    waiting_for_ever,
)
from tests.systems.beaker.brute_force.patterns import instances, patterns, search
from tests.systems.beaker.brute_force.scheduler import (
    AS_WRITTEN,
    AUTOMATED,
    BROKEN,
    CANCELLED,
    COMPLETED,
    COUNTS,
    CRASHING,
    EXACT,
    FINISHED,
    GIVE_BACK,
    INTERLEAVED,
    LEAP,
    MANUAL,
    ORDER,
    REPAIRED,
    RESEAT,
    RESERVED,
    RUN,
    SCHEDULED,
    SEATS,
    WAITING,
    WAKE,
    Instance,
    Variant,
    instance,
)
from tests.systems.beaker.brute_force.steps import graph, scheduler_steps

A, B, C, D = 1, 2, 4, 8
"""Systems as masks."""

TWO_AND_THREE = [[A, B], [A, B, C]]


def causes(inst: Instance, variant: Variant, pace: str = LEAP) -> set[str]:
    return set(shortest_by_cause(inst, graph(inst, variant, pace)))


def starves(inst: Instance, variant: Variant, pace: str = LEAP) -> bool:
    return any(True for _ in waiting_for_ever(inst, graph(inst, variant, pace)))


# --- The searcher itself ----------------------------------------------------------------------------------------------


SHARED_OUT = {
    "schedproof.model.registry.errors", "schedproof.proofs.cluster", "schedproof.proofs.verification.workers"
}  # fmt: skip
"""What hands searches to workers; it knows nothing of schedulers."""


def test_it_shares_no_code_with_the_package() -> None:
    for path in Path(__file__).parent.glob("[!t]*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            tops = ("schedproof", "model", "proofs", "impl")
            assert not [name for name in names if name.split(".")[0] in tops and name not in SHARED_OUT]


def test_one_recipe_on_one_system_by_hand() -> None:
    # new: at rest, in hand or searched with the system pending, at rest or in hand with it idle: 5; queued: 1;
    # scheduled: at rest, in hand, searched: 3; waiting, installing, running: 3; completed with it pending or idle: 2.
    # Each has one step out of it, but the first has two (take_up, make_idle) and the last none.
    explored = graph(instance([[A]], [0]), AS_WRITTEN)
    assert len(explored.states) == 14
    assert explored.transitions == 14


def test_interleaved_by_hand() -> None:
    # Beyond the fourteen: the pending system becomes idle while the set is in hand (known already) or searched (new, idle,
    # searched), from where settle leaves the recipe queued beside the idle system: two states more.  begin, install, run,
    # complete and make_idle go on while the set is in hand or searched: (waiting, installing, running, completed with the
    # system pending or idle) twice: ten more.
    explored = graph(instance([[A]], [0]), INTERLEAVED)
    assert len(explored.states) == 14 + 2 + 10


def test_batch_by_hand() -> None:
    # absent, new, processed or queued in the phases in which that can be, and so on: one recipe, one system.
    # absent: 4 phases; new: 4 (the job arrives in any); processed: process and queue phases, 2; queued: queue phase, look with
    # it still to be looked at: 2 (it is never passed over: the system is free); scheduled: look and start: 2;
    # waiting, running: from the start phase on they live in all 4 phases: 4 each; completed: 4.
    explored = batch.batch_graph(instance([[A]], [0]))
    assert len(explored.states) == 4 + 4 + 2 + 2 + 2 + 4 + 4 + 4


@pytest.mark.parametrize(
    ("shape", "labs"), [((2,), [0, 0]), ((2, 2), [0, 0, 0]), ((1, 2), [0, 0, 1]), ((2, 2), [0, 1])]
)
def test_patterns_are_one_of_each_class(shape: tuple[int, ...], labs: list[int]) -> None:
    systems = range(len(labs))
    kept = [p for p in permutations(systems) if len({(labs[s], labs[p[s]]) for s in systems}) == len(set(labs))]

    def renamed(masks: tuple[tuple[int, ...], ...], p: tuple[int, ...]) -> frozenset[tuple[tuple[int, ...], int]]:
        new = [tuple(sorted(sum(1 << p[s] for s in systems if m >> s & 1) for m in of)) for of in masks]
        return frozenset((of, new.count(of)) for of in new)

    every = product(*(product(range(1, 1 << len(labs)), repeat=size) for size in shape))
    classes = {frozenset(renamed(masks, p) for p in kept) for masks in every}
    listed = [frozenset(renamed(masks, p) for p in kept) for masks in patterns(shape, labs)]
    assert len(listed) == len(set(listed))
    assert set(listed) == classes


SEEDED = [REPAIRED.without(rule) for rule in (SEATS, GIVE_BACK)]


Case = tuple[tuple[int, ...], list[int], set[str]]

SMALL: list[Case] = [
    ((1, 2), [0, 0], {"cancel"}),
    ((2,), [0, 0], {"break", "cancel"}),
    ((2,), [0, 1], {"break", "crash"}),
    ((1, 1), [0], {"condition", "reserve"}),
    ((1, 2), [0, 0], {"priority", "crash"}),
]
LARGER: list[Case] = [((2, 2), [0, 0], {"cancel"}), ((1, 2), [0, 0], {"break"}), ((1, 2), [0, 0, 1], set())]


def the_paces_agree(variant: Variant, cases: list[Case], every: int = 1) -> None:
    for shape, labs, moves in cases:
        for masks in islice(patterns(shape, labs), 0, None, every):
            inst = instance([list(of) for of in masks], labs, moves=moves)
            exact, run, leap = ((causes(inst, variant, p), starves(inst, variant, p)) for p in (EXACT, RUN, LEAP))
            assert exact == run == leap, (masks, moves)


@pytest.mark.long
@pytest.mark.parametrize("variant", thinned([AS_WRITTEN, REPAIRED], 2))
def test_the_paces_agree(variant: Variant) -> None:
    the_paces_agree(variant, SMALL[1:4])


@pytest.mark.long(one_in=18)
@pytest.mark.parametrize("variant", [CRASHING, INTERLEAVED, *SEEDED])
def test_the_paces_agree_with_rules_taken_out(variant: Variant) -> None:
    the_paces_agree(variant, SMALL)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("variant", [AS_WRITTEN, REPAIRED])
def test_the_paces_agree_on_larger_instances(variant: Variant) -> None:
    the_paces_agree(variant, LARGER, every=3)


# --- As written -----------------------------------------------------------------------------------------------------------


def test_a_set_of_two_and_a_set_of_three_lock_each_other() -> None:
    # C suits only the set of three, so that set gets C; A suits the queued of both, so the set of two gets A.  Then B suits
    # an assigned recipe of each.  If the set of three gets it, each holds what the other needs.
    inst = instance(TWO_AND_THREE, [0] * 3)
    trace = shortest_by_cause(inst, graph(inst, AS_WRITTEN, EXACT))[ABBA]
    # each set is taken up, searched and settled, and three systems are given: none of it can be left out unless systems are
    # made idle first, which takes a step each
    assert len(trace) <= 9
    assert [label[0] for label in trace].count("give_to_assigned") == 1


@pytest.mark.long
def test_two_sets_of_two_have_no_abba_as_written() -> None:
    # The first set to hold a system waits for one that is neither idle nor pending without being offered to it first; the
    # other set would have to hold that one, but then that set was assigned earlier.  With more systems, two labs, priorities
    # and people: `test_searches`.
    tally = search(AS_WRITTEN, instances((2, 2), [0] * 3))
    assert SELF in tally.causes
    assert ABBA not in tally.causes


def test_a_crash_between_two_recipes_brings_the_abba_back() -> None:
    inst = instance([[A, B], [A, B]], [0, 0], moves={"crash"})
    assert {ABBA, FORGOTTEN} <= causes(inst, CRASHING)
    assert not {ABBA, FORGOTTEN} & causes(inst, AS_WRITTEN)


def test_interleaving_brings_the_abba_back_for_two_sets_of_two() -> None:
    assert ABBA in causes(instance([[A, B], [A, B]], [0, 0]), INTERLEAVED)


@pytest.mark.parametrize(
    ("inst", "cause"),
    [
        (instance([[A, A | B]], [0, 0]), SELF),
        (instance([[A | C, A | B]], [0, 0, 1]), LAB),
        (instance([[A, B]], [0, 0], moves={"cancel"}), FINISHED_SIBLING),
    ],
)
def test_one_set_alone_can_lock_itself_as_written_only(inst: Instance, cause: str) -> None:
    assert cause in causes(inst, AS_WRITTEN)
    assert not causes(inst, REPAIRED)
    assert not starves(inst, REPAIRED)


# --- Repaired ---------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "labs", "moves", "every"),
    [
        pytest.param((2, 2), [0, 0, 0], set(), 7, marks=pytest.mark.long(one_in=9)),
        pytest.param((2,), [0, 0, 1], {"break", "crash"}, 1, marks=pytest.mark.long(one_in=9)),
        ((2,), [0, 0, 0], {"break"}, 1),
        pytest.param((1, 2), [0, 0], {"cancel"}, 1, marks=pytest.mark.long(one_in=32)),
        pytest.param((1, 2), [0, 0], {"break", "crash"}, 2, marks=pytest.mark.long(one_in=32)),
        pytest.param((2, 2), [0, 0], {"priority", "cancel"}, 5, marks=pytest.mark.long(one_in=9)),
        pytest.param((1, 2), [0, 0, 0], {"cancel"}, 5, marks=pytest.mark.long(one_in=9)),
        pytest.param((1, 2), [0, 0, 0], {"break"}, 11, marks=pytest.mark.long(one_in=9)),
        pytest.param((2,), [0, 0, 0], {"break", "cancel", "crash"}, 2, marks=pytest.mark.long(one_in=9)),
    ],
)
def test_repaired_has_no_deadlock_and_nobody_waits_for_ever(
    shape: tuple[int, ...], labs: list[int], moves: set[str], every: int
) -> None:
    # `test_searches` has the larger ones, each of them made once and recorded
    tally = search(REPAIRED, instances(shape, labs, moves=moves), parts=every)
    assert tally.instances
    assert not tally.causes
    assert not tally.starved
    assert not tally.circles


def test_a_set_is_seated_anew_when_its_seating_serves_no_more() -> None:
    # Seated on A and C, the set holds nothing when C is broken for ever.  B and A are left, and can serve it.
    inst = instance([[A | B, A | C]], [0] * 3, moves={"break"}, adjustable=[2])
    assert starves(inst, REPAIRED.without(RESEAT))
    assert not starves(inst, REPAIRED)
    explored = graph(inst, REPAIRED, LEAP)
    assert any(
        state.condition[2] == BROKEN and state.recipe == (COMPLETED, COMPLETED) and not edges
        for state, edges in zip(explored.states, explored.scheduler, strict=True)
    )


def test_a_set_that_no_lab_seats_begins_when_one_is_cancelled() -> None:
    # No seating serves all three recipes, so the set takes none; one of the first two is cancelled, and two recipes are left.
    inst = instance([[A, A | B, B]], [0, 0], moves={"cancel"})
    assert not starves(inst, REPAIRED)
    assert not causes(inst, REPAIRED)
    explored = graph(inst, REPAIRED, LEAP)
    assert all(
        state.seat == (-1, -1, -1) and SCHEDULED not in state.recipe
        for state in explored.states
        if max(state.recipe) <= SCHEDULED
    )
    assert {(CANCELLED, COMPLETED, COMPLETED), (COMPLETED, COMPLETED, CANCELLED)} <= {s.recipe for s in explored.states}


@pytest.mark.parametrize("shape", [(2,), pytest.param((1, 2), marks=pytest.mark.long(one_in=9))])
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_when_a_system_breaks_no_seatable_set_waits_for_ever(shape: tuple[int, ...], broken: int) -> None:
    assert not search(REPAIRED, instances(shape, [0, 0, 0], moves={"break"}, adjustable=[broken])).starved


@pytest.mark.long
def test_without_seating_anew_some_wait() -> None:
    # The patterns of two recipes in which a third system is a way out for one of them, if the other moves over.
    assert search(REPAIRED.without(RESEAT), instances((2,), [0, 0, 0], moves={"break"})).starved


@pytest.mark.parametrize(
    ("rule", "inst", "cause"),
    [
        (ORDER, instance(TWO_AND_THREE, [0] * 3), ABBA),
        (SEATS, instance([[A, A | B]], [0, 0]), SELF),
        (FINISHED, instance([[A, B]], [0, 0], moves={"cancel"}), FINISHED_SIBLING),
        (WAKE, instance([[A, B], [B]], [0, 0]), FORGOTTEN),
    ],
)
def test_no_rule_of_the_repair_can_be_spared(rule: str, inst: Instance, cause: str) -> None:
    assert cause in causes(inst, REPAIRED.without(rule))
    assert not causes(inst, REPAIRED)


def test_without_giving_back_a_change_of_condition_locks_a_set() -> None:
    # Of a set of two in two labs, a system of the one breaks after the set is assigned to it.
    inst = instance([[A | C, B | D]], [0, 0, 1, 1], moves={"break"}, adjustable=[1])
    assert causes(inst, REPAIRED.without(GIVE_BACK))
    assert not causes(inst, REPAIRED)


def test_a_set_gives_back_when_a_system_it_counts_on_is_lost() -> None:
    # Seated on A and C, the first recipe takes A.  C breaks: B and A could serve the set, but it sits on A.
    inst = instance([[A | B, A | C]], [0] * 3, moves={"break"}, adjustable=[2])
    assert SELF in causes(inst, REPAIRED.without(COUNTS))
    assert not causes(inst, REPAIRED)


def test_a_reserved_system_is_not_taken_from_its_user() -> None:
    inst = instance([[A]], [0], moves={"condition", "reserve"})

    def can_be_taken(variant: Variant) -> bool:
        explored = graph(inst, variant)
        return any(
            label[0] == "make_automated" and state.condition[0] == MANUAL and state.usage[0] >= WAITING
            for state, edges in zip(explored.states, explored.people, strict=True)
            for label, _ in edges
        )

    assert can_be_taken(REPAIRED.without(RESERVED))
    assert not can_be_taken(REPAIRED)


def test_a_circle_of_steps_would_be_seen() -> None:
    explored = graph(instance([[A]], [0]), AS_WRITTEN)
    assert not has_a_cycle(explored)
    explored.scheduler[1].append((("back",), 0))
    explored.scheduler[0].append((("forth",), 1))
    assert has_a_cycle(explored)


def test_repaired_gives_a_system_to_the_set_assigned_first() -> None:
    inst = instance(TWO_AND_THREE, [0] * 3)
    explored = graph(inst, REPAIRED)
    both_want_b = [
        (state, [label for label, _ in edges if label[0] == "give_to_assigned" and label[1] == 1])
        for state, edges in zip(explored.states, explored.scheduler, strict=True)
        if state.order == (0, 1) and state.recipe[0] == SCHEDULED and state.recipe[1] < SCHEDULED
    ]
    assert any(labels for _, labels in both_want_b)
    assert all(labels in ([], [("give_to_assigned", 1, 1)]) for _, labels in both_want_b)


def test_a_guest_follows_its_host() -> None:
    inst = instance([[A, 0]], [0], guests={1: 0})
    explored = graph(inst, REPAIRED)
    for state in explored.states:
        assert (state.recipe[0] >= SCHEDULED) == (state.recipe[1] >= SCHEDULED)
    assert any(state.condition == (AUTOMATED,) and state.recipe == (7, 7) for state in explored.states)
    assert not causes(inst, AS_WRITTEN)


def test_only_the_set_in_hand_moves_as_written() -> None:
    inst = instance([[A], [B]], [0, 0])
    for state in graph(inst, AS_WRITTEN).states:
        if any(state.hand):
            names = {label[0] for label, _ in scheduler_steps(inst, state, AS_WRITTEN, EXACT)}
            assert names <= {"find_idle", "search_ends", "settle"}


# --- The batch scheduler --------------------------------------------------------------------------------------------------


def test_batch_has_the_abba_of_the_abstract() -> None:
    inst = instance([[A, B], [A, B]], [0, 0])
    explored = batch.batch_graph(inst)
    first = next(batch.abba(inst, explored))
    # two arrivals, four recipes processed and queued, two changes of phase, two takes
    assert len(explored.trace(first)) == 2 + 4 + 4 + 2 + 2


def test_batch_sets_of_one_never_lock() -> None:
    inst = instance([[A | B], [A | B], [A]], [0, 0])
    assert not list(batch.batch_deadlocks(inst, batch.batch_graph(inst)))


def test_batch_jumps_the_queue_when_a_system_becomes_free_midway() -> None:
    inst = instance([[A], [A], [A]], [0], rank=[0, 0, 1])
    explored = batch.batch_graph(inst)
    number, (label, _) = next(batch.queue_jumps(inst, explored))
    assert explored.trace(number)[-1][0] == "complete"
    assert label == ("take", 1, 0) or label == ("take", 0, 0)


@pytest.mark.parametrize("rank", [[0, 0, 0], [1, 1, 1]])
def test_batch_with_equal_priorities_has_no_queue_to_jump(rank: list[int]) -> None:
    inst = instance([[A], [A], [A]], [0], rank=rank)
    assert not list(batch.queue_jumps(inst, batch.batch_graph(inst)))

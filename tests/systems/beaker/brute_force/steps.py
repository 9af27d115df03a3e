"""Every step of the brute-force scheduler of recipe sets, and the graph of all reachable states.

The rules that say who may take what are in `scheduler`.  A step is a label, (name, parameters ...), and the state
after it.  `scheduler_steps` are the three loops and the execution of recipes; `people_steps` are what users,
administrators and a crash do: the division on which the definition of a deadlock rests.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.systems.beaker.brute_force.graph import Graph, explore
from tests.systems.beaker.brute_force.scheduler import (
    ABORTED,
    ASSIGNED,
    AT_REST,
    AUTOMATED,
    BROKEN,
    CANCELLED,
    COMPLETED,
    COUNTS,
    EXACT,
    FINISHED,
    GIVE_BACK,
    IDLE,
    IN_HAND,
    INSTALLING,
    LEAP,
    MANUAL,
    NEW,
    NONE,
    ORDER,
    PENDING,
    QUEUED,
    RESERVED,
    RUNNING,
    SCHEDULED,
    SEARCHED,
    WAITING,
    WAKE,
    Draft,
    Instance,
    State,
    Step,
    Variant,
    advance,
    can_find,
    drop_place,
    end,
    foremost,
    give_back,
    initial,
    new_seatings,
    schedule,
    takers,
)

# --- "New job" processing (129-145) -------------------------------------------------------------------------------------


def new_job_steps(inst: Instance, state: State, variant: Variant) -> Iterator[Step]:
    """take_up, find_idle, search_ends and settle: one set is in hand at a time, sets and recipes in any order."""
    in_hand = next((of for of in inst.sets if state.hand[of] != AT_REST), NONE)
    if in_hand == NONE:
        for of in inst.sets:
            if any(state.recipe[r] == NEW for r in inst.members(of)):
                draft = Draft(state)
                draft.hand[of] = IN_HAND
                yield ("take_up", of), draft.freeze()
    elif state.hand[in_hand] == IN_HAND:
        yield from _search_steps(inst, state, variant, in_hand)
    else:
        draft = Draft(state)
        draft.hand[in_hand] = AT_REST
        for r in inst.members(in_hand):
            if draft.recipe[r] == NEW:
                draft.recipe[r] = QUEUED
        yield ("settle", in_hand), draft.freeze()


def seat_steps(inst: Instance, state: State, variant: Variant) -> Iterator[Step]:
    """seat: at any time a set that holds nothing takes a seating, when it has none that serves it."""
    for of in inst.sets:
        for seating in new_seatings(inst, state, variant, of):
            draft = Draft(state)
            for r, s in zip(inst.members(of), seating, strict=True):
                draft.seat[r] = s
            yield ("seat", of, *seating), draft.freeze()


def _search_steps(inst: Instance, state: State, variant: Variant, of: int) -> Iterator[Step]:
    has_step = bool(new_seatings(inst, state, variant, of))
    for r in inst.members(of):
        if state.recipe[r] not in (NEW, ASSIGNED):
            continue
        for s, usage in enumerate(state.usage):
            if usage == IDLE and state.condition[s] == AUTOMATED and can_find(inst, state, variant, s, r):
                has_step = True
                draft = Draft(state)
                schedule(inst, draft, variant, r, s, NEW)
                yield ("find_idle", r, s), draft.freeze()
    if not has_step:
        draft = Draft(state)
        draft.hand[of] = SEARCHED
        yield ("search_ends", of), draft.freeze()


# --- "Pending system" processing (201-213) ------------------------------------------------------------------------------


def pending_steps(inst: Instance, state: State, variant: Variant) -> Iterator[Step]:
    """give_to_assigned, give_to_queued, make_idle; and the repair's wake."""
    for s, usage in enumerate(state.usage):
        if usage not in (IDLE, PENDING) or state.condition[s] != AUTOMATED:
            continue
        if usage == IDLE and WAKE not in variant.rules:
            continue
        assigned = takers(inst, state, variant, s, ASSIGNED)
        queued = [] if assigned else takers(inst, state, variant, s, QUEUED)
        if usage == IDLE:
            if assigned or queued:
                yield ("wake", s), _with_usage(state, s, PENDING)
            continue
        # The order of assignment stands in the place of the priority (rule 1).
        for r in assigned if ORDER in variant.rules else foremost(inst, state, assigned):
            draft = Draft(state)
            schedule(inst, draft, variant, r, s, NONE)
            yield ("give_to_assigned", s, r), draft.freeze()
        for r in foremost(inst, state, queued):
            draft = Draft(state)
            schedule(inst, draft, variant, r, s, QUEUED)
            yield ("give_to_queued", s, r), draft.freeze()
        if not assigned and not queued:
            yield ("make_idle", s), _with_usage(state, s, IDLE)


def _with_usage(state: State, s: int, usage: int) -> State:
    return state._replace(usage=(*state.usage[:s], usage, *state.usage[s + 1 :]))


# --- Execution (221-241) --------------------------------------------------------------------------------------------------


def ready(inst: Instance, state: State, variant: Variant, of: int) -> bool:
    """Whether the set may begin: all of its recipes are scheduled (226); in the repair, all that are unfinished."""
    states = [state.recipe[r] for r in inst.members(of)]
    if FINISHED in variant.rules:
        states = [now for now in states if now < COMPLETED]
    return bool(states) and all(now == SCHEDULED for now in states)


def execution_steps(inst: Instance, state: State, variant: Variant, pace: str) -> Iterator[Step]:
    """begin, and recipe by recipe install, run and complete, as far as the pace has them as single steps."""
    for of in inst.sets:
        if ready(inst, state, variant, of):
            yield ("begin", of), _begin(inst, state, variant, of, pace)
    for r, now in enumerate(state.recipe):
        if now == WAITING and (inst.host_of[r] == NONE or state.recipe[inst.host_of[r]] == RUNNING):
            yield ("install", r), _advanced(state, r, INSTALLING)
        elif now == INSTALLING:
            yield ("run", r), _advanced(state, r, RUNNING)
        elif now == RUNNING:
            draft = Draft(state)
            end(inst, draft, r, COMPLETED)
            yield ("complete", r), draft.freeze()


def _begin(inst: Instance, state: State, variant: Variant, of: int, pace: str) -> State:
    draft = Draft(state)
    started = [r for r in inst.members(of) if draft.recipe[r] == SCHEDULED]
    for r in started:
        advance(draft, r, SCHEDULED, WAITING if pace == EXACT else RUNNING)
    if pace == LEAP:
        for r in started:
            if draft.recipe[r] == RUNNING:
                end(inst, draft, r, COMPLETED)
    if FINISHED in variant.rules:
        drop_place(inst, draft, of)
    return draft.freeze()


def _advanced(state: State, r: int, after: int) -> State:
    draft = Draft(state)
    advance(draft, r, state.recipe[r], after)
    return draft.freeze()


# --- The retained loop (58-61) -------------------------------------------------------------------------------------------


def dead_steps(inst: Instance, state: State) -> Iterator[Step]:
    """abort_dead: a queued or assigned recipe that no Automated system suits, in any lab, is aborted."""
    for r in dead(inst, state):
        draft = Draft(state)
        end(inst, draft, r, ABORTED)
        yield ("abort_dead", r), draft.freeze()


def dead(inst: Instance, state: State) -> list[int]:
    return [
        r
        for r, now in enumerate(state.recipe)
        if now in (QUEUED, ASSIGNED)
        and inst.host_of[r] == NONE
        and not any(inst.viable[r] >> s & 1 and condition == AUTOMATED for s, condition in enumerate(state.condition))
    ]


def scheduler_steps(inst: Instance, state: State, variant: Variant, pace: str) -> Iterator[Step]:
    """What the scheduler's loops and the running recipes do."""
    yield from new_job_steps(inst, state, variant)
    yield from seat_steps(inst, state, variant)
    if variant.alone and any(state.hand):
        return
    yield from pending_steps(inst, state, variant)
    yield from execution_steps(inst, state, variant, pace)
    yield from dead_steps(inst, state)


# --- People, and crashes --------------------------------------------------------------------------------------------------


def people_steps(inst: Instance, state: State, variant: Variant) -> Iterator[Step]:
    """Cancels, aborts, changes of priority and condition, reservations and crashes, as far as the instance has them."""
    if "crash" in inst.moves and variant.crash_inside and any(state.hand):
        yield ("crash",), state._replace(hand=(AT_REST,) * len(state.hand))
    if variant.alone and any(state.hand):
        return
    yield from _end_steps(inst, state)
    if "priority" in inst.moves:
        for of in inst.rankable:
            if any(state.recipe[r] <= ASSIGNED for r in inst.members(of)):  # to no effect once none waits
                draft = Draft(state)
                draft.rank[of] = 1 - draft.rank[of]
                yield ("change_priority", of), draft.freeze()
    if inst.moves & {"condition", "break"}:
        yield from _condition_steps(inst, state, variant)
    if "reserve" in inst.moves:
        yield from _reserve_steps(inst, state)


def _end_steps(inst: Instance, state: State) -> Iterator[Step]:
    for name, how in (("cancel", CANCELLED), ("abort", ABORTED)):
        for of in inst.endable:
            left = [r for r in inst.members(of) if state.recipe[r] < COMPLETED]
            for r in left if name in inst.moves else []:
                draft = Draft(state)
                end(inst, draft, r, how)
                yield (name, r), draft.freeze()
            if left and name + "_set" in inst.moves:
                draft = Draft(state)
                for r in reversed(left):  # guests follow their hosts in number: each ends as the set does
                    end(inst, draft, r, how)
                yield (name + "_set", of), draft.freeze()


def _condition_steps(inst: Instance, state: State, variant: Variant) -> Iterator[Step]:
    for s in inst.adjustable:
        for condition, name in ((AUTOMATED, "make_automated"), (MANUAL, "make_manual"), (BROKEN, "make_broken")):
            if condition == state.condition[s] or (condition == MANUAL and "condition" not in inst.moves):
                continue
            reserved = state.condition[s] == MANUAL and state.usage[s] >= WAITING
            if condition == AUTOMATED and reserved and RESERVED in variant.rules:
                continue
            draft = Draft(state)
            if state.condition[s] == AUTOMATED and GIVE_BACK in variant.rules:
                _leave_automated(inst, state, variant, draft, s)
            draft.condition[s] = condition
            draft.usage[s] = PENDING if condition == AUTOMATED else IDLE
            yield (name, s), draft.freeze()


def _leave_automated(inst: Instance, state: State, variant: Variant, draft: Draft, s: int) -> None:
    """Rule 4: what executes on s is aborted; a set that held s, or left it to an assigned recipe, gives back."""
    for r, at in enumerate(state.at):
        if at == s and WAITING <= state.recipe[r] <= RUNNING:
            end(inst, draft, r, ABORTED)
    for of in inst.sets:
        holds = any(state.at[r] == s and state.recipe[r] == SCHEDULED for r in inst.members(of))
        counts = any(state.seat[r] == s and state.recipe[r] == ASSIGNED for r in inst.members(of))
        if holds or (counts and COUNTS in variant.rules):
            give_back(inst, draft, of)


def _reserve_steps(inst: Instance, state: State) -> Iterator[Step]:
    """A user reserves a Manual system, which is provisioned, runs, and is returned (174-176)."""
    course = {
        IDLE: ("reserve", WAITING),
        WAITING: ("provision", INSTALLING),
        INSTALLING: ("provisioned", RUNNING),
        RUNNING: ("return", IDLE),
    }
    for s in inst.adjustable:
        if state.condition[s] == MANUAL and state.usage[s] in course:
            name, usage = course[state.usage[s]]
            yield (name, s), _with_usage(state, s, usage)


# --- The graph --------------------------------------------------------------------------------------------------------------


def graph(inst: Instance, variant: Variant, pace: str = EXACT) -> Graph[State]:
    """Every reachable state and every step out of it, self-loops included."""
    return explore(
        initial(inst),
        lambda state: scheduler_steps(inst, state, variant, pace),
        lambda state: people_steps(inst, state, variant),
    )

"""A brute-force scheduler of recipe sets: the second opinion on what the model of Beaker's event-driven proposal does.

It shares no code with the package.  It is written from the proposal's text, rule by rule, as plain functions over
tuples of small integers; recipes, systems, sets and labs are numbered from 0, and a set of systems is a bit mask.
`graph` enumerates every reachable state of an instance with every step out of it.

Variants: ``AS_WRITTEN`` (an event is handled alone), ``INTERLEAVED`` (the loops and the people interleave at every
step), ``REPAIRED`` (changes of the rules, each of which `without` can take out again, to see what it is good for).

Paces: ``EXACT`` lets every recipe wait, install and run, a step each.  ``RUN`` begins a set straight into ``running``.
``LEAP`` begins and completes it in one step.  The faster paces are for searching: that they give the same verdicts
about deadlocks is tested, not assumed.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

from tests.systems.beaker.brute_force.graph import Label

NEW, QUEUED, ASSIGNED, SCHEDULED, WAITING, INSTALLING, RUNNING, COMPLETED, CANCELLED, ABORTED = range(10)
IDLE, PENDING = 0, 1  # a system's usage; the other four share the numbers of the recipe's states (178-183)
AUTOMATED, MANUAL, BROKEN = range(3)
AT_REST, IN_HAND, SEARCHED = range(3)
NONE = -1

EXACT, RUN, LEAP = "exact", "run", "leap"

ORDER, FINISHED, GIVE_BACK, RESERVED, WAKE = "order", "finished", "give back", "reserved", "wake"
SEATS = "seats"  # a set has a seating, and its recipes leave each other their seats
RESEAT = "reseat"  # a set whose seating does not serve it any more takes another one
COUNTS = (
    "counts"  # a set gives back, too, when a system that it counts on leaves Automated: the seat of an assigned recipe
)
QUEUE = "queue"  # a new recipe does not jump the queue: it leaves a system to a queued one of a higher priority


class Variant(NamedTuple):
    """Whether an event is handled alone, and which of the changes of the rules hold."""

    alone: bool
    rules: frozenset[str]
    crash_inside: bool = True
    """Whether a crash comes while a set is in hand too; elsewhere it changes nothing."""

    def without(self, rule: str) -> Variant:
        return self._replace(rules=self.rules - {rule})


AS_WRITTEN = Variant(True, frozenset(), crash_inside=False)
CRASHING = Variant(True, frozenset())
"""As written, but a crash can come between two recipes of an event."""
INTERLEAVED = Variant(False, frozenset())
REPAIRED = Variant(False, frozenset({ORDER, SEATS, RESEAT, FINISHED, GIVE_BACK, COUNTS, RESERVED, WAKE, QUEUE}))


class Instance(NamedTuple):
    """What never changes: who is in which set, what suits whom, where the systems are, and what people may touch."""

    set_of: tuple[int, ...]
    viable: tuple[int, ...]
    """Per recipe, the mask of the systems that meet its requirements; 0 for a guest."""
    lab_of: tuple[int, ...]
    host_of: tuple[int, ...]
    moves: frozenset[str] = frozenset()
    """Which of cancel, abort, cancel_set, abort_set, priority, condition (or just break: no Manual), reserve, crash occur."""
    rank: tuple[int, ...] = ()
    """The priority of each set at first."""
    endable: tuple[int, ...] = ()
    """The sets that people may cancel or abort."""
    rankable: tuple[int, ...] = ()
    adjustable: tuple[int, ...] = ()
    """The systems whose condition people may change, and that they may reserve."""

    groups: tuple[tuple[int, ...], ...] = ()
    """The recipes of each set: `set_of` the other way round."""
    areas: tuple[int, ...] = ()
    """The mask of each lab's systems: `lab_of` the other way round."""

    @property
    def sets(self) -> range:
        return range(len(self.rank))

    def members(self, of: int) -> tuple[int, ...]:
        return self.groups[of]


class State(NamedTuple):
    """Everything that changes; `order` lists the sets that have a place in the order of assignment, oldest first."""

    recipe: tuple[int, ...]
    at: tuple[int, ...]
    usage: tuple[int, ...]
    condition: tuple[int, ...]
    lab: tuple[int, ...]
    rank: tuple[int, ...]
    hand: tuple[int, ...]
    order: tuple[int, ...]
    seat: tuple[int, ...]
    """Per recipe, the system that the seating of its set has for it."""


Step = tuple[Label, State]


class Draft:
    """A state that is being changed: one step's updates, then `freeze`."""

    __slots__ = ("at", "condition", "hand", "lab", "order", "rank", "recipe", "seat", "usage")

    def __init__(self, state: State) -> None:
        self.recipe, self.at, self.usage = list(state.recipe), list(state.at), list(state.usage)
        self.condition, self.lab, self.rank = list(state.condition), list(state.lab), list(state.rank)
        self.hand, self.order, self.seat = list(state.hand), list(state.order), list(state.seat)

    def freeze(self) -> State:
        return State(
            tuple(self.recipe),
            tuple(self.at),
            tuple(self.usage),
            tuple(self.condition),
            tuple(self.lab),
            tuple(self.rank),
            tuple(self.hand),
            tuple(self.order),
            tuple(self.seat),
        )


# --- Instances --------------------------------------------------------------------------------------------------------


def instance(
    sets: list[list[int]],
    labs: list[int],
    *,
    guests: dict[int, int] | None = None,
    moves: frozenset[str] | set[str] = frozenset(),
    rank: list[int] | None = None,
    endable: list[int] | None = None,
    rankable: list[int] | None = None,
    adjustable: list[int] | None = None,
) -> Instance:
    """An instance from, per set, its recipes' viable masks, and each system's lab.

    `guests` maps a recipe (numbered through all sets in order; its mask is 0) to its host.  Whom people may touch
    defaults to everyone.
    """
    viable = tuple(mask for masks in sets for mask in masks)
    set_of = tuple(s for s, masks in enumerate(sets) for _ in masks)
    host_of = tuple((guests or {}).get(r, NONE) for r in range(len(viable)))
    numbers = range(len(viable))
    everyone = list(range(len(sets)))
    return Instance(
        set_of,
        viable,
        tuple(labs),
        host_of,
        frozenset(moves),
        tuple(rank or [0] * len(sets)),
        endable=tuple(everyone if endable is None else endable),
        rankable=tuple(everyone if rankable is None else rankable),
        adjustable=tuple(range(len(labs)) if adjustable is None else adjustable),
        groups=tuple(tuple(r for r in numbers if set_of[r] == s) for s in everyone),
        areas=tuple(sum(1 << s for s, of in enumerate(labs) if of == lab) for lab in range(max(labs) + 1)),
    )


def matchings(masks: list[int], allowed: int) -> list[tuple[int, ...]]:
    """Every choice of distinct systems of `allowed`, one of each mask."""
    systems = [s for s in range(allowed.bit_length()) if allowed >> s & 1]
    return [
        choice
        for choice in permutations(systems, len(masks))
        if all(mask >> s & 1 for mask, s in zip(masks, choice, strict=True))
    ]


@cache
def seatings(masks: tuple[int, ...], areas: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The seatings of a set with these viable masks: per recipe a system or NONE, all of one lab, no two the same.

    At least two recipes have a seat; a guest (no viable system) never has one.
    """
    possible = []
    for size in range(2, len(masks) + 1):
        for seated in combinations([n for n, mask in enumerate(masks) if mask], size):
            for area in areas:
                for choice in matchings([masks[n] for n in seated], area):
                    seat = dict(zip(seated, choice, strict=True))
                    possible.append(tuple(seat.get(n, NONE) for n in range(len(masks))))
    return tuple(possible)


def initial(inst: Instance) -> State:
    """Every recipe new, every system Automated and pending (195)."""
    recipes, systems, sets = len(inst.viable), len(inst.lab_of), len(inst.rank)
    return State(
        (NEW,) * recipes,
        (NONE,) * recipes,
        (PENDING,) * systems,
        (AUTOMATED,) * systems,
        (NONE,) * sets,
        inst.rank,
        (AT_REST,) * sets,
        (),
        (NONE,) * recipes,
    )


# --- Who may take what ------------------------------------------------------------------------------------------------


def suits(inst: Instance, state: State, s: int, r: int) -> bool:
    """s meets r's requirements, and r's set is in s's lab or in none yet (141-143, 203)."""
    return bool(inst.viable[r] >> s & 1) and state.lab[inst.set_of[r]] in (NONE, inst.lab_of[s])


def open_hosts(inst: Instance, state: State, of: int) -> list[int]:
    """The recipes of the set that wait for a system."""
    return [r for r in inst.groups[of] if state.recipe[r] <= ASSIGNED and inst.host_of[r] == NONE]


def automated(state: State) -> int:
    return sum(1 << s for s, condition in enumerate(state.condition) if condition == AUTOMATED)


def serves(inst: Instance, state: State, of: int, seating: tuple[int, ...]) -> bool:
    """Whether the seating has an Automated system for each open host recipe of the set."""
    waiting = open_hosts(inst, state, of)
    seat = dict(zip(inst.groups[of], seating, strict=True))
    return all(seat[r] != NONE and state.condition[seat[r]] == AUTOMATED for r in waiting)


def new_seatings(inst: Instance, state: State, variant: Variant, of: int) -> list[tuple[int, ...]]:
    """The seatings that the set may take now: it holds nothing, and has none that serves two or more open recipes."""
    if SEATS not in variant.rules or state.lab[of] != NONE or len(open_hosts(inst, state, of)) < 2:
        return []
    now = tuple(state.seat[r] for r in inst.groups[of])
    if serves(inst, state, of, now) or (RESEAT not in variant.rules and any(s != NONE for s in now)):
        return []
    every = seatings(tuple(inst.viable[r] for r in inst.groups[of]), inst.areas)
    return [seating for seating in every if serves(inst, state, of, seating)]


def can_take(inst: Instance, state: State, variant: Variant, s: int, r: int) -> bool:
    """Whether s, if it is free and Automated, may go to r as far as other recipes are concerned (rules 1 and 2)."""
    if not suits(inst, state, s, r):
        return False
    set_of_r = inst.set_of[r]
    if SEATS in variant.rules:
        for sibling in open_hosts(inst, state, set_of_r):
            seat = state.seat[sibling]
            if sibling == r:
                continue
            if seat == s:
                return False
            if state.lab[set_of_r] == NONE and (
                seat == NONE or state.condition[seat] != AUTOMATED or inst.lab_of[seat] != inst.lab_of[s]
            ):
                return False
    if ORDER in variant.rules:
        before = state.order[: state.order.index(set_of_r)] if set_of_r in state.order else state.order
        for other, of in enumerate(inst.set_of):
            if state.recipe[other] == ASSIGNED and of in before and suits(inst, state, s, other):
                return False
    return True


def takers(inst: Instance, state: State, variant: Variant, s: int, recipe_state: int) -> list[int]:
    """The recipes in the state `recipe_state` that can take s."""
    return [r for r, now in enumerate(state.recipe) if now == recipe_state and can_take(inst, state, variant, s, r)]


def foremost(inst: Instance, state: State, recipes: list[int]) -> list[int]:
    """Those of the recipes whose sets have the highest priority among them (212-213)."""
    best = max((state.rank[inst.set_of[r]] for r in recipes), default=0)
    return [r for r in recipes if state.rank[inst.set_of[r]] == best]


def can_find(inst: Instance, state: State, variant: Variant, s: int, r: int) -> bool:
    """Whether "New job" processing may give the idle, Automated s to r."""
    if not can_take(inst, state, variant, s, r):
        return False
    if QUEUE not in variant.rules:
        return True
    rank = state.rank[inst.set_of[r]]
    return all(state.rank[inst.set_of[q]] <= rank for q in takers(inst, state, variant, s, QUEUED))


# --- Changes that several steps share ----------------------------------------------------------------------------------


def schedule(inst: Instance, draft: Draft, variant: Variant, r: int, s: int, siblings_from: int) -> None:
    """r and s become scheduled, r's guests with it; the siblings in the state `siblings_from` become assigned."""
    set_of_r = inst.set_of[r]
    draft.recipe[r], draft.at[r], draft.usage[s] = SCHEDULED, s, SCHEDULED
    for other, of in enumerate(inst.set_of):
        if of != set_of_r or other == r:
            continue
        if inst.host_of[other] == r and draft.recipe[other] <= ASSIGNED:
            draft.recipe[other] = SCHEDULED
        elif draft.recipe[other] == siblings_from:
            draft.recipe[other] = ASSIGNED
    if draft.lab[set_of_r] == NONE:
        draft.lab[set_of_r] = inst.lab_of[s]
    if ORDER in variant.rules and set_of_r not in draft.order:
        draft.order.append(set_of_r)


def advance(draft: Draft, r: int, before: int, after: int) -> None:
    """The recipe moves on, and its system with it if that is Automated and in step (238-241)."""
    draft.recipe[r] = after
    s = draft.at[r]
    if s != NONE and draft.condition[s] == AUTOMATED and draft.usage[s] == before:
        draft.usage[s] = after


def end(inst: Instance, draft: Draft, r: int, how: int) -> None:
    """The recipe ends; its Automated system in use becomes pending (197); its unfinished guests are aborted."""
    s = draft.at[r]
    draft.recipe[r], draft.at[r] = how, NONE
    if s != NONE and draft.condition[s] == AUTOMATED and SCHEDULED <= draft.usage[s] <= RUNNING:
        draft.usage[s] = PENDING
    for guest, host in enumerate(inst.host_of):
        if host == r and draft.recipe[guest] < COMPLETED:
            draft.recipe[guest] = ABORTED


def drop_place(inst: Instance, draft: Draft, of: int) -> None:
    """The set has no lab, no place in the order and no seating any more."""
    draft.lab[of] = NONE
    if of in draft.order:
        draft.order.remove(of)
    for r in inst.members(of):
        draft.seat[r] = NONE


def give_back(inst: Instance, draft: Draft, of: int) -> None:
    """A set that has not begun returns all that it holds and is queued again (rule 4)."""
    for r in inst.members(of):
        if draft.recipe[r] in (SCHEDULED, ASSIGNED):
            s = draft.at[r]
            if s != NONE and draft.condition[s] == AUTOMATED:
                draft.usage[s] = PENDING
            draft.recipe[r], draft.at[r] = QUEUED, NONE
    drop_place(inst, draft, of)

"""A brute-force check of the logs of the Beaker that shipped: the validator's independent second opinion.

It shares no code with the package. The machine is written from the facts about Beaker (which status follows which,
when a set is queued, provisioned and released, what the scheduler status of a system does), and the two readers from
the rules of the formats (beakerd's log is in ``daemon_log``). Nothing is pruned: all orders of unlogged steps are tried, and every way in which a
recipe may have ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

WAITING_FOR_A_SYSTEM = ("new", "processed", "queued", "scheduled")
ON_A_SYSTEM = ("waiting", "installing", "running", "reserved")
OVER = ("completed", "cancelled", "aborted")
SEVERITY = {
    **{"running": 5, "installing": 6, "waiting": 7, "new": 10, "processed": 20, "queued": 30, "scheduled": 40},
    **{"reserved": 45, "aborted": 50, "cancelled": 60, "completed": 70},
}
EDGES = {
    "new": {"processed"},
    "processed": {"queued", "scheduled"},
    "queued": {"scheduled"},
    "scheduled": {"waiting"},
    "waiting": {"installing", "running", "reserved", "completed"},
    "installing": {"waiting", "running", "reserved", "completed"},
    "running": {"waiting", "reserved", "completed"},
    "reserved": {"completed"},
}
FREE, FLAGGED, BY_USER = "idle", "pending", "a user's"


class World(NamedTuple):
    """What a log says of its recipes: the set and the host of each ("" if none), and the systems that it may get."""

    of: dict[str, str]
    host: dict[str, str]
    may_get: dict[str, set[str]]

    def mates(self, recipe: str) -> list[str]:
        return [r for r, its in self.of.items() if its == self.of[recipe]]

    def component(self, host: str) -> list[str]:
        """A host and its guests."""
        return [host, *(g for g, h in self.host.items() if h == host)]


class State(NamedTuple):
    """(recipe, (status, the system that it holds)) and (system, idle, pending, a user's or the recipe that holds it)."""

    recipes: tuple[tuple[str, tuple[str, str]], ...]
    systems: tuple[tuple[str, str], ...]

    def status(self, recipe: str) -> str:
        return dict(self.recipes)[recipe][0]

    def held(self, recipe: str) -> str:
        return dict(self.recipes)[recipe][1]

    def usage(self, system: str) -> str:
        return dict(self.systems)[system]

    def but(self, recipes: dict[str, tuple[str, str]] | None = None, systems: dict[str, str] | None = None) -> State:
        return State(
            tuple(sorted({**dict(self.recipes), **(recipes or {})}.items())),
            tuple(sorted({**dict(self.systems), **(systems or {})}.items())),
        )


Moves = Callable[[State], Iterable[State]]


def _to(state: State, recipes: Iterable[str], status: str) -> State:
    return state.but({r: (status, state.held(r)) for r in recipes})


# --- The steps: each yields the state after it, if it is possible ------------------------------------------------------


def process(world: World, state: State, host: str) -> Iterator[State]:
    if state.status(host) == "new" and not world.host[host] and world.may_get[host]:
        yield _to(state, [r for r in world.component(host) if state.status(r) == "new"], "processed")


def _all_processed(world: World, state: State, recipe: str) -> bool:
    return all(state.status(r) in ("processed", "queued", "scheduled") for r in world.mates(recipe))


def queue(world: World, state: State, host: str) -> Iterator[State]:
    if state.status(host) == "processed" and not world.host[host] and _all_processed(world, state, host):
        yield _to(state, [r for r in world.component(host) if state.status(r) == "processed"], "queued")


def schedule(world: World, state: State, host: str) -> Iterator[State]:
    for system in sorted(world.may_get[host]):
        at_once = (
            state.status(host) == "processed" and _all_processed(world, state, host) and state.usage(system) == FREE
        )
        later = state.status(host) == "queued" and state.usage(system) == FLAGGED
        if not world.host[host] and (at_once or later):
            guests = [r for r in world.component(host)[1:] if state.status(r) in ("processed", "queued")]
            yield _to(state, guests, "scheduled").but({host: ("scheduled", system)}, {system: host})


def provision(world: World, state: State, of: str) -> Iterator[State]:
    recipes = [r for r, its in world.of.items() if its == of]
    if recipes and all(state.status(r) == "scheduled" for r in recipes):
        yield _to(state, recipes, "waiting")


def turn(state: State, recipe: str, status: str) -> Iterator[State]:
    """One recipe's own status after it is provisioned."""
    if state.status(recipe) in ON_A_SYSTEM and status in EDGES[state.status(recipe)]:
        yield _to(state, [recipe], status)


def abort(state: State, recipe: str) -> Iterator[State]:
    if state.status(recipe) not in OVER:
        yield _to(state, [recipe], "aborted")


def end_set(world: World, state: State, of: str, status: str) -> Iterator[State]:
    left = [r for r, its in world.of.items() if its == of and state.status(r) not in OVER]
    if left:
        yield _to(state, left, status)


def clean_up(world: World, state: State, of: str) -> Iterator[State]:
    recipes = [r for r, its in world.of.items() if its == of]
    holding = {r: state.held(r) for r in recipes if state.held(r)}
    if holding and all(state.status(r) in OVER for r in recipes):
        yield state.but({r: (state.status(r), "") for r in holding}, dict.fromkeys(holding.values(), FLAGGED))


def around(state: State, systems: Iterable[str]) -> Iterator[State]:
    """What people do to systems."""
    for s in systems:
        now = state.usage(s)
        if now == FREE:
            yield state.but(systems={s: FLAGGED})
        if now in (FREE, FLAGGED):
            yield state.but(systems={s: BY_USER})
        if now == BY_USER:
            yield state.but(systems={s: FLAGGED})


def any_end(world: World, state: State, of: str) -> Iterator[State]:
    """Every way in which recipes of a set may come to their end, each also by way of running."""
    for recipe in [r for r, its in world.of.items() if its == of]:
        yield from abort(state, recipe)
        for status in ("installing", "waiting", "running", "reserved", "completed"):
            yield from turn(state, recipe, status)
    yield from end_set(world, state, of, "cancelled")


def reach(states: Iterable[State], moves: Moves, longest: int | None = None) -> set[State]:
    """All states that at most ``longest`` moves lead to."""
    reached = set(states)
    edge, depth = set(reached), 0
    while edge and (longest is None or depth < longest):
        edge = {after for state in edge for after in moves(state)} - reached
        reached |= edge
        depth += 1
    return reached


Reader = Callable[[set[State]], set[State]]


def check(start: State, records: Iterable[Reader]) -> tuple[str, int | None]:
    """The verdict, and the number of the first record that nothing explains."""
    states = {start}
    for number, record in enumerate(records, start=1):
        states = record(states)
        if not states:
            return "violates", number
    return "conforms", None


def start_of(world: World) -> State:
    systems = {s for allowed in world.may_get.values() for s in allowed}
    return State(tuple(sorted((r, ("new", "")) for r in world.of)), tuple(sorted((s, FREE) for s in systems)))


# --- status messages ---------------------------------------------------------------------------------------------------


def validate_messages(lines: Iterable[str]) -> tuple[str, int | None]:
    """Checks a stream of status messages."""
    values: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    header = values.pop(0) if "beaker-messages" in values[0] else {}
    of = {r: s for s, recipes in header.get("recipe_sets", {}).items() for r in recipes}
    messages = []
    for value in values:
        part = {**value, **value.get("header", {}), **value.get("body", {})}
        about = part.get("t_id") or part["id"]
        messages.append((about, (part.get("status") or part["state"]).lower()))
    for about, _ in messages:
        if about.startswith("R:"):
            of.setdefault(about, f"alone {about}")
    checked = [(about, status) for about, status in messages if about in of or about in of.values()]
    world = World(of, dict.fromkeys(of, ""), {r: {f"of {r}"} for r in of})
    return check(start_of(world), [_message_reader(world, checked, at) for at in range(len(checked))])


def _direct(world: World, state: State, of: str) -> Iterator[State]:
    """What is written without a message about the recipe."""
    for recipe in [r for r, its in world.of.items() if its == of]:
        yield from process(world, state, recipe)
        yield from queue(world, state, recipe)
        yield from schedule(world, state, recipe)
        if state.usage(f"of {recipe}") == FREE:
            yield state.but(systems={f"of {recipe}": FLAGGED})
    yield from provision(world, state, of)


def _message_reader(world: World, checked: list[tuple[str, str]], at: int) -> Reader:
    about, status = checked[at]
    if about not in world.of:  # a set

        def of_set(states: set[State]) -> set[State]:
            members = [r for r, its in world.of.items() if its == about]
            reached = reach(states, lambda s: _direct(world, s, about))
            return {s for s in reached if min((s.status(r) for r in members), key=SEVERITY.__getitem__) == status}

        return of_set
    earlier = [s for a, s in checked[:at] if a == about]
    if (earlier and earlier[-1] == status) or status in WAITING_FOR_A_SYSTEM:
        return lambda states: set()
    of = world.of[about]

    def of_recipe(states: set[State]) -> set[State]:
        reached = reach(states, lambda s: _direct(world, s, of))
        if status in ("cancelled", "aborted"):
            reached = reach(reached, lambda s: _ended_before(world, s, checked, at))
        explaining = {s for s in reached if s.status(about) == status}
        for s in reached:
            explaining |= set(turn(s, about, status))
            if status == "aborted":
                explaining |= {
                    *abort(s, about),
                    *(a for a in end_set(world, s, of, "aborted") if a.status(about) == status),
                }
            if status == "cancelled":
                explaining |= {a for a in end_set(world, s, of, "cancelled") if a.status(about) == status}
        return explaining

    return of_recipe


def _ended_before(world: World, state: State, checked: list[tuple[str, str]], at: int) -> Iterator[State]:
    """Siblings whose next message is of another end than this one: they may have come to it before."""
    about, status = checked[at]
    for sibling in world.mates(about):
        next_status = next((s for a, s in checked[at + 1 :] if a == sibling), "")
        if sibling != about and next_status != status:
            if next_status == "completed":
                yield from turn(state, sibling, "completed")
            if next_status == "aborted":
                yield from abort(state, sibling)

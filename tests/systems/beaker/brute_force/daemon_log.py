"""A brute-force reader of beakerd's log, over the machine of ``shipped``; no code of the package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tests.systems.beaker.brute_force.shipped import (
    FLAGGED,
    FREE,
    OVER,
    WAITING_FOR_A_SYSTEM,
    Reader,
    State,
    World,
    abort,
    any_end,
    around,
    check,
    clean_up,
    end_set,
    process,
    provision,
    queue,
    reach,
    schedule,
    start_of,
    turn,
)

LINES = {
    "guest": r"\brecipe ID (\d+) guest (\d+) moved from (\w+) to (\w+)",
    "move": r"\brecipe(?: ID|:) (\d+) moved from (\w+) to (\w+)",
    "set": r"\bRS:(\d+) moved from Processed to Aborted",
    "assign": r"\bAssigning recipe (\d+) to system (\S+)",
    "reserve": r"\bReserving system (\S+) for recipe (\d+)",
    "provision": r"\bProvisioning recipe (\d+) in RS:(\d+)",
    "release": r"\bReleasing system (\S+) for recipe (\d+)",
    "rest": r"\bNo recipes runnable on (\S+), returning to idle",
    "flag": r"\bIdle system (\S+) changed .*flagging it for scheduling",
    "one": r"\brecipe ID (\d+) matches one system, bumping priority",
    "remove": r"\brecipe: (\d+) labController:\S+ Removing system (\S+)",
    "keep": r"\b(\d+) moved to Reserved",
}


class Log:
    """beakerd's log: its messages, and the objects that they name."""

    def __init__(self, text: str) -> None:
        self.messages: list[tuple[str, ...]] = []
        for line in text.splitlines():
            for kind, pattern in LINES.items():
                if match := re.search(pattern, line):
                    parts = list(match.groups())
                    if kind in ("reserve", "release"):
                        parts.reverse()  # the recipe first
                    self.messages.append((kind, *parts))
                    break
        self.world = self._world()
        self.done: dict[tuple[str, str], list[str]] = {}

    def _world(self) -> World:
        host: dict[str, str] = {}
        sets: dict[str, str] = {}
        first: dict[str, str] = {}
        named: dict[str, set[str]] = {}
        removed: dict[str, set[str]] = {}
        everyone: list[str] = []
        systems: set[str] = set()
        for kind, *parts in self.messages:
            if kind == "guest":
                host.setdefault(parts[1], parts[0])
                everyone += parts[:2]
            elif kind in ("rest", "flag"):
                systems.add(parts[0])
            elif kind != "set":
                everyone.append(parts[0])
                if kind != "one":
                    first.setdefault(parts[0], parts[1] if kind == "move" else "")
            if kind == "provision":
                sets.setdefault(parts[0], parts[1])
            if kind in ("assign", "reserve", "release", "remove"):
                systems.add(parts[1])
                (removed if kind == "remove" else named).setdefault(parts[0], set()).add(parts[1])
        host = {g: h for g, h in host.items() if h not in host and g != h}
        begun = {r for r in everyone if r not in host and first.get(r) == "New"}
        begun |= {g for g, h in host.items() if h in begun}
        of = {r: sets.get(host.get(r, r), sets.get(r, f"alone {host.get(r, r)}")) for r in begun}
        may_get = {r: (named.get(r, set()) - removed.get(r, set())) or {f"unnamed {r}"} for r in begun}
        for guest in host:
            may_get[guest] = set()
        world = World(of, {r: host.get(r, "") for r in begun}, may_get)
        self.systems = systems
        return world

    def start(self) -> State:
        return start_of(self.world).but(systems=dict.fromkeys(self.systems, FREE))

    def records(self) -> Iterator[Reader]:
        for at, message in enumerate(self.messages):
            reader = self.reader(message, at)
            if reader is not None:
                yield reader

    def first(self, action: str, about: str, part: str) -> bool:
        """This is the first message of a step."""
        parts = self.done.get((action, about))
        if parts is None or part in parts:
            self.done[action, about] = [part]
            return True
        parts.append(part)
        return False

    def reader(self, message: tuple[str, ...], at: int) -> Reader | None:
        kind, *parts = message
        world = self.world
        if kind == "set":
            members = [r for r, its in world.of.items() if its == parts[0]]
            if not members:
                return None
            return lambda states: {
                after
                for state in states
                if any(state.status(r) == "processed" for r in members)
                for after in end_set(world, state, parts[0], "aborted")
            }
        if kind == "rest":
            return lambda states: {
                s.but(systems={parts[0]: FREE}) for s in self.near(states, [parts[0]]) if s.usage(parts[0]) == FLAGGED
            }
        if kind == "flag":
            return lambda states: {
                s.but(systems={parts[0]: FLAGGED}) for s in self.near(states, [parts[0]]) if s.usage(parts[0]) == FREE
            }
        recipe = parts[0]
        if recipe not in world.of:
            return None
        if kind == "guest":
            return self.scheduled(kind, parts[1], "")
        if kind in ("assign", "reserve"):
            return self.scheduled(kind, recipe, parts[1])
        if kind == "one":
            return lambda states: {s for s in states if s.status(recipe) in ("new", "processed")}
        if kind == "remove":
            return lambda states: {s for s in states if s.status(recipe) == "processed"}
        if kind == "keep":
            return lambda states: {after for s in states for after in turn(s, recipe, "reserved")}
        if kind == "provision":
            return self.provisioned(recipe, parts[1])
        if kind == "release":
            return self.released(recipe, at)
        return self.moved(recipe, parts[1].lower(), parts[2].lower())

    def near(self, states: set[State], systems: Iterable[str]) -> set[State]:
        return {after for s in states for after in reach([s], lambda x: around(x, systems), 2)}

    def moved(self, recipe: str, before: str, now: str) -> Reader:
        host = self.world.host[recipe] or recipe
        if (before, now) == ("new", "processed"):
            return self.by_component(process, "process", host, recipe, now)
        if (before, now) == ("processed", "queued"):
            return self.by_component(queue, "queue", host, recipe, now)
        if now == "scheduled" and before in ("queued", "processed"):
            return self.scheduled("move", recipe, "")
        if (before, now) == ("new", "aborted"):
            of = self.world.of[recipe]
            if self.first("aborted", of, recipe):
                return lambda states: {
                    after
                    for s in states
                    if s.status(recipe) == "new"
                    for after in end_set(self.world, s, of, "aborted")
                }
            return lambda states: {s for s in states if s.status(recipe) == "aborted"}
        return lambda states: {after for s in states for after in self.otherwise(s, recipe, before, now)}

    def otherwise(self, state: State, recipe: str, before: str, now: str) -> Iterator[State]:
        """Another move: an end may have come with the whole set; anything else is this recipe's own step."""
        if state.status(recipe) == now and now in ("aborted", "cancelled") and before not in OVER:
            yield state
        if state.status(recipe) != before:
            return
        if now == "aborted":
            yield from abort(state, recipe)
        if now in ("aborted", "cancelled"):
            yield from end_set(self.world, state, self.world.of[recipe], now)
        else:
            yield from turn(state, recipe, now)

    def by_component(
        self, step: Callable[[World, State, str], Iterator[State]], name: str, host: str, recipe: str, now: str
    ) -> Reader:
        if self.first(name, host, recipe):
            return lambda states: {a for s in states for a in step(self.world, s, host) if a.status(recipe) == now}
        return lambda states: {s for s in states if s.status(recipe) == now}

    def scheduled(self, kind: str, recipe: str, system: str) -> Reader:
        host = self.world.host[recipe] or recipe
        first = self.first("schedule", host, f"{kind} {recipe}")

        def read(states: set[State]) -> set[State]:
            if first:
                states = {
                    after
                    for s in self.near(states, self.world.may_get[host])
                    for after in schedule(self.world, s, host)
                }
            return {s for s in states if s.status(recipe) == "scheduled" and (not system or s.held(host) == system)}

        return read

    def provisioned(self, recipe: str, of: str) -> Reader:
        if self.world.of[recipe] != of:
            return lambda states: set()
        if self.first("provision", of, recipe):
            return lambda states: {after for s in states for after in provision(self.world, s, of)}
        return lambda states: {s for s in states if s.status(recipe) not in WAITING_FOR_A_SYSTEM}

    def released(self, recipe: str, at: int) -> Reader:
        of = self.world.of[recipe]
        if not self.first("release", of, recipe):
            return lambda states: {s for s in states if not s.held(recipe)}
        together: dict[str, str] = {}
        for kind, *parts in self.messages[at:]:
            if kind == "release" and self.world.of.get(parts[0]) == of:
                if parts[0] in together:
                    break
                together[parts[0]] = parts[1]
        return lambda states: {
            after
            for s in reach(states, lambda x: any_end(self.world, x, of))
            if all(s.held(r) == system for r, system in together.items())
            for after in clean_up(self.world, s, of)
        }


def validate_log(text: str) -> tuple[str, int | None]:
    """Checks a log of beakerd."""
    log = Log(text)
    return check(log.start(), log.records())

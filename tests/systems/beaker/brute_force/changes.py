"""A brute-force check of logs of Beaker's changes: the validator's independent second opinion.

It shares no code with the package: the steps are those of the brute-force scheduler of ``steps``, and
the rules of the format are applied word by word, with nothing pruned. Every step out of every state that the
log so far allows is tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from tests.systems.beaker.brute_force.scheduler import (
    AS_WRITTEN,
    AT_REST,
    AUTOMATED,
    EXACT,
    IDLE,
    NONE,
    PENDING,
    Instance,
    State,
    Variant,
    initial,
    instance,
)
from tests.systems.beaker.brute_force.steps import people_steps, scheduler_steps

STATUSES = (
    "new", "queued", "assigned", "scheduled", "waiting", "installing", "running", "completed", "cancelled", "aborted",
)  # fmt: skip
USAGES = ("idle", "pending", "", "scheduled", "waiting", "installing", "running")
CONDITIONS = ("Automated", "Manual", "Broken")
UNLOGGED = 5
PEOPLE = frozenset({"cancel", "abort", "cancel_set", "abort_set", "priority", "condition", "reserve"})

Seen = dict[tuple[str, int, str], int]
"""(kind, number, field) -> value."""


class Trace:
    """A log: who is in it, where it begins, and what its records show."""

    def __init__(self, lines: Iterable[str]) -> None:
        header, *changes = [json.loads(line) for line in lines if line.strip()]
        self.facts: dict[str, dict[str, dict[str, Any]]] = {"recipe": {}, "recipe_set": {}, "system": {}}
        for kind in self.facts:
            for name, value in header.get(kind + "s", {}).items():
                self.meet(kind, name, value)
        for change in changes:
            kind = next((k for k in self.facts if k in change), "")
            if kind:
                self.meet(kind, change[kind], change)
            if kind == "recipe" and change.get("system"):
                self.meet("system", change["system"], {})
        self.numbers = {kind: {name: n for n, name in enumerate(names)} for kind, names in self._ordered().items()}
        labs = [facts.get("lab", "(lab)") for facts in self.facts["system"].values()]
        labs += [c["lab"] for c in changes if "recipe_set" in c and "recipe" not in c and c.get("lab")]
        self.labs = list(dict.fromkeys(labs))
        self.inst = self._instance(header)
        self.start = self._start(header)
        self.usage = any("usage" in change for change in changes)
        self.records = list(self._records(changes))

    def meet(self, kind: str, name: str, value: dict[str, Any]) -> None:
        """An object and what is said of it."""
        self.facts[kind].setdefault(name, {}).update(
            {k: v for k, v in value.items() if k in ("viable", "host", "recipe_set", "lab") and k != kind}
        )
        if kind == "recipe":
            for system in value.get("viable", ()):
                self.facts["system"].setdefault(system, {})
            if "host" in value:
                self.facts["recipe"].setdefault(value["host"], {})

    def _ordered(self) -> dict[str, list[str]]:
        """The objects, the recipes set by set, as the brute-force scheduler numbers them."""
        recipes = self.facts["recipe"]
        for name, facts in recipes.items():
            host = facts.get("host")
            its = (
                facts.get("recipe_set") or (recipes[host].get("recipe_set") if host else "") or f"alone {host or name}"
            )
            facts["recipe_set"] = its
            self.facts["recipe_set"].setdefault(its, {})
        sets = list(self.facts["recipe_set"])
        by_set = [name for s in sets for name, facts in recipes.items() if facts["recipe_set"] == s]
        return {"recipe": by_set, "recipe_set": sets, "system": list(self.facts["system"])}

    def _instance(self, header: dict[str, Any]) -> Instance:
        recipes, numbers = self.facts["recipe"], self.numbers

        def mask(name: str) -> int:
            return sum(1 << numbers["system"][s] for s in recipes[name].get("viable", ()))

        sets = [[mask(r) for r in numbers["recipe"] if recipes[r]["recipe_set"] == s] for s in numbers["recipe_set"]]
        guests = {
            numbers["recipe"][r]: numbers["recipe"][facts["host"]] for r, facts in recipes.items() if facts.get("host")
        }
        priorities = header.get("recipe_sets", {})
        return instance(
            sets,
            [self.labs.index(facts.get("lab", "(lab)")) for facts in self.facts["system"].values()],
            guests=guests,
            moves=PEOPLE,
            rank=[priorities.get(s, {}).get("priority", 0) for s in numbers["recipe_set"]],
        )

    def _start(self, header: dict[str, Any]) -> State:
        state = initial(self.inst)
        usage, condition = list(state.usage), list(state.condition)
        for name, attributes in header.get("systems", {}).items():
            n = self.numbers["system"][name]
            condition[n] = CONDITIONS.index(attributes.get("condition", "Automated"))
            first = "pending" if condition[n] == AUTOMATED else "idle"
            usage[n] = {"pending": PENDING, "idle": IDLE}[attributes.get("usage", first)]
        return state._replace(usage=tuple(usage), condition=tuple(condition))

    def _records(self, changes: list[dict[str, Any]]) -> Iterator[tuple[Seen, bool] | None]:
        """What each record shows, and whether that is all that its step changed; None for a crash."""
        changed = []
        for change in changes:
            fields = self._fields(change)
            if fields or change.get("crash"):
                changed.append((change, fields))
        for _, group in groupby(enumerate(changed), lambda n: n[1][0].get("step", ("line", n[0]))):
            seen: Seen = {}
            crash = complete = False
            for _, (change, fields) in group:
                crash = crash or bool(change.get("crash"))
                complete = "step" in change
                seen |= fields
            yield None if crash else (seen, complete)

    def _fields(self, change: dict[str, Any]) -> Seen:
        kind = next((k for k in ("recipe", "recipe_set", "system") if k in change), "")
        if not kind:
            return {}
        n, fields = self.numbers[kind][change[kind]], {}
        if kind == "recipe" and "status" in change:
            fields["recipe", n, "status"] = STATUSES.index(change["status"])
        if kind == "recipe" and "system" in change:
            fields["recipe", n, "system"] = self.numbers["system"][change["system"]] if change["system"] else NONE
        if kind == "recipe_set" and "priority" in change:
            fields["recipe_set", n, "priority"] = change["priority"]
        if kind == "recipe_set" and "lab" in change:
            fields["recipe_set", n, "lab"] = self.labs.index(change["lab"]) if change["lab"] else NONE
        if kind == "system" and "usage" in change:
            fields["system", n, "usage"] = USAGES.index(change["usage"])
        if kind == "system" and "condition" in change:
            fields["system", n, "condition"] = CONDITIONS.index(change["condition"])
        return fields


def _value(state: State, kind: str, n: int, field: str) -> int:
    fields = {
        ("recipe", "status"): state.recipe,
        ("recipe", "system"): state.at,
        ("recipe_set", "priority"): state.rank,
        ("recipe_set", "lab"): state.lab,
        ("system", "usage"): state.usage,
        ("system", "condition"): state.condition,
    }
    return fields[kind, field][n]


def _shows(state: State, seen: Seen) -> bool:
    return all(_value(state, *where) == value for where, value in seen.items())


def validate_changes(lines: Iterable[str], variant: Variant = AS_WRITTEN) -> tuple[str, int | None]:
    """The verdict, and the number of the first record that no run explains."""
    trace = Trace(lines)
    states = {trace.start}
    for number, seen in enumerate(trace.records, start=1):
        states = _after(trace, states, seen, variant)
        if not states:
            return "violates", number
    return "conforms", None


def _steps(trace: Trace, state: State, variant: Variant) -> Iterator[State]:
    for _, after in scheduler_steps(trace.inst, state, variant, EXACT):
        yield after
    for _, after in people_steps(trace.inst, state, variant):
        yield after


def _after(trace: Trace, states: set[State], record: tuple[Seen, bool] | None, variant: Variant) -> set[State]:
    """The states that explain one record more."""

    def logged(state: State) -> dict[tuple[str, int, str], int]:
        fields = [("recipe", "status", state.recipe), ("recipe", "system", state.at)]
        fields += [("recipe_set", "priority", state.rank), ("system", "condition", state.condition)]
        if trace.usage:
            fields.append(("system", "usage", state.usage))
        return {(kind, n, field): value for kind, field, values in fields for n, value in enumerate(values)}

    reached, edge = set(states), set(states)
    for _ in range(UNLOGGED):
        edge = {
            after for state in edge for after in _steps(trace, state, variant) if logged(after) == logged(state)
        } - reached
        reached |= edge
    if record is None:  # the scheduler forgets what it had in hand
        return {state._replace(hand=(AT_REST,) * len(state.hand)) for state in reached}
    seen, complete = record
    explaining = {state for state in reached if _shows(state, seen)}
    for state in reached:
        before = logged(state)
        for after in _steps(trace, state, variant):
            makes = any(_value(state, *where) != value == _value(after, *where) for where, value in seen.items())
            kept = not complete or all(before[where] == v for where, v in logged(after).items() if where not in seen)
            if makes and kept and _shows(after, seen):
                explaining.add(after)
    return explaining

"""A brute-force check of HiveD traces in the plain format: the second opinion on the validator's one engine.

It shares no code with the package. All states that explain the records so far are kept, as ``brute_force`` has them; each
record allows every step of the document that has its action, its parameters and its event, and up to so many others before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any

from tests.systems.hived.traces import brute_force as brute

DELETIONS = {"e3": "delete_allocated", "e4": "delete_preempted", "e7": "delete_preempting", "e8": "delete_pending"}

Step = tuple[str, dict[str, Any], set[tuple[str, str, str]], brute.State]
"""An action, its parameters, the events that happen ((sort, event, object)), and the state after."""


def steps(state: brute.State, outranks: Mapping[str, list[str]]) -> Iterator[Step]:
    """Every step of the document."""
    cells = [name for name, _ in state.cells]

    def higher(one: str, other: str) -> bool:
        return other in outranks.get(one, [])

    for group, at in state.groups:
        if at == brute.PENDING:
            for size in range(1, len(cells) + 1):
                for chosen in combinations(cells, size):
                    if all(brute._may_take(group, dict(state.cells)[c], higher) for c in chosen):
                        event, after = brute._allocation_step(state, group, chosen)
                        action = "allocate" if event == "e0" else "preempt"
                        yield action, {"p": group, "K": set(chosen)}, {("PodGroup", event, group)}, after
        if at == brute.PREEMPTING:
            for event, after in brute.scheduling_steps(state, group, higher):
                yield "complete", {"p": group}, {("PodGroup", event, group)}, after
        for event, after in brute.deletion_steps(state, group):
            if event != "e9":
                yield DELETIONS[event], {"p": group}, {("PodGroup", event, group)}, after
                continue
            vacated = next(n for (n, old), (_, new) in zip(state.cells, after.cells, strict=True) if old != new)
            yield "vacate", {"c": vacated}, {("Cell", "e9", vacated)}, after
    yield "crash", {}, {("", "crash", "")}, brute.crash(state)


@cache
def known_steps(state: brute.State, outranks: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Step, ...]:
    return tuple(steps(state, {name: list(others) for name, others in outranks}))


def check(header: Mapping[str, Any], records: list[Mapping[str, Any]]) -> tuple[str, int | None]:
    """("conforms", None), or ("violates", number of the first record that nothing explains)."""
    outranks = tuple((name, tuple(others)) for name, others in header["rigid"]["PodGroup"]["outranks"].items())

    def all_steps(state: brute.State) -> tuple[Step, ...]:
        return known_steps(state, outranks)

    states = {brute.initial(header["objects"]["PodGroup"], header["objects"]["Cell"])}
    for number, record in enumerate(records, 1):
        layer = set(states)
        for _ in range(record.get("unlogged", header.get("unlogged", 0))):
            layer |= {step[3] for state in layer for step in all_steps(state)}
        if any(k in record for k in ("action", "event", "crash")):
            layer = {step[3] for state in layer for step in all_steps(state) if fits(step, record)}
        states = {state for state in layer if shows(state, record.get("state", {}))}
        if not states:
            return "violates", number
    return "conforms", None


def fits(step: Step, record: Mapping[str, Any]) -> bool:
    """A step that the record may be."""
    action, parameters, events, _ = step
    if record.get("action", action) != action or (record.get("crash") and action != "crash"):
        return False
    for name, value in record.get("parameters", {}).items():
        if parameters[name] != (set(value) if isinstance(value, list) else value):
            return False
    if "event" in record:
        sort, event = record["event"].split(".")
        return any((s, e) == (sort, event) and record.get("object", o) == o for s, e, o in events)
    return True


def shows(state: brute.State, seen: Mapping[str, Any]) -> bool:
    """The state is as the record shows it."""
    groups, cells = dict(state.groups), dict(state.cells)
    for name, fields in seen.get("PodGroup", {}).items():
        if groups[name] != fields.get("state", groups[name]):
            return False
    return all(
        getattr(cells[name], field) == value
        for name, fields in seen.get("Cell", {}).items()
        for field, value in fields.items()
    )

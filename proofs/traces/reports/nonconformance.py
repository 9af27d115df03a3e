"""Makes the report on a record that no candidate explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.model.semantics import Instance, State
from schedproof.proofs.traces.engine.broken import broken_invariants, broken_table, newly_violated
from schedproof.proofs.traces.engine.candidates import Candidates, Nonconformance, Path, Record, TooManyStates

from .report import (
    Candidate,
    Difference,
    LogVerdict,
    NonconformanceReport,
    Requirement,
    UnexplainedChange,
    Validation,
)
from .unexplained import unexplained

MOST_SHOWN = 3
"""The limit for the candidates that a report shows."""


def validation_of(
    instance: Instance, outcome: Candidates[State] | Nonconformance[Any], *, explains: bool = True
) -> Validation:
    """The verdict on the outcome of steps, with the names of ``instance``; ``explains`` as in :func:`nonconformance_report`."""
    if isinstance(outcome, Nonconformance):
        return Validation(LogVerdict.VIOLATES, nonconformance_report(instance, outcome, explains=explains))
    if outcome.exceeded:
        return Validation(LogVerdict.UNDETERMINED, note=outcome.exceeded)
    return Validation(LogVerdict.CONFORMS)


def nonconformance_report(
    instance: Instance, nonconformance: Nonconformance[Any], *, explains: bool = True
) -> NonconformanceReport:
    """The report on a nonconformance, with the candidates that came closest.

    Args:
        instance: the model with its objects.
        nonconformance: the record, and the candidates before it.
        explains: whether the report says which rows would explain the changes. A search that compares reports leaves it out.
    """
    record = nonconformance.record
    if record.broken:
        return NonconformanceReport(record.number, record.line, record.broken)
    return _nonconformance(instance, record, nonconformance.before.states, explains)


def _nonconformance(
    instance: Instance, record: Record[State], before: Sequence[State], explains: bool
) -> NonconformanceReport:
    """The report, with the candidates that came closest.

    Closest means the fewest differing fields, then the fewest objections, then the most conditions met. Allowed steps
    that bring no observed field closer come after all other steps that are as close: they explain less.
    """
    ranked: list[tuple[tuple[int, bool, int, int, int], State, Path]] = []
    for state in before[:20]:  # enough for the report; the verdict is independent of it
        at_first = len(record.observed.differing(state))
        try:
            paths = [*record.attempts(state), *record.successors(state)]
        except TooManyStates:
            continue  # the verdict stands; the report shows other states
        for path in paths:
            differing = len(record.observed.differing(path.state))
            idle = not path.refused and differing >= at_first
            ranked.append(((differing, idle, len(path.refused), -path.met, len(path.steps)), state, path))
    ranked.sort(key=lambda entry: entry[0])
    shown: dict[tuple[str, ...], Candidate] = {}
    for _, state, path in ranked:
        what = path.steps[-1:] if path.refused else path.steps  # show a refused step once, after the fewest others
        if len(shown) < MOST_SHOWN and what not in shown:
            shown[what] = _candidate(instance, record, state, path)
    closest = ranked[0][2] if ranked else None
    rest = closest.state if closest is not None and not closest.refused else None
    requirements = broken_invariants(instance, before[0], record.observed.slots, rest)
    observed = {requirement.property for requirement in requirements}
    if_taken = [r for r in _if_taken(instance, record, *ranked[0][1:]) if r.property not in observed] if ranked else []
    candidates = list(shown.values())
    reason, concerned = _reason(record, candidates), _concerned(instance, before[0], candidates)
    changes: Sequence[UnexplainedChange] = ()
    if explains:
        start = ranked[0][1] if ranked else before[0]
        refused = {path.steps[-1]: path.refused[0].says for _, _, path in ranked if path.refused and path.steps}
        changes = unexplained(instance, start, rest, record.observed, record.says, refused)
    return NonconformanceReport(
        record.number, record.line, reason, requirements, candidates, concerned, (), if_taken, changes
    )


def _if_taken(instance: Instance, record: Record[State], before: State, closest: Path) -> Sequence[Requirement]:
    """The invariants that would be violated after the closest step, if the model did not forbid it."""
    if closest.if_taken is None:
        return []
    state = tuple(record.observed.slots.get(slot, value) for slot, value in enumerate(closest.if_taken))
    return newly_violated(instance, before, state)


def _concerned(instance: Instance, state: State, candidates: Sequence[Candidate]) -> dict[str, Mapping[str, Any]]:
    """The objects on which candidates and record differ, or which a guard refuses, in a state before the record."""
    names = [d.object for candidate in candidates for d in candidate.differs]
    names += [name for candidate in candidates[:1] for refused in candidate.refused for name in refused.objects]
    fields = {name: each for objects in instance.describe(state).values() for name, each in objects.items()}
    return {name: fields[name] for name in dict.fromkeys(names) if name in fields}


def _candidate(instance: Instance, record: Record[State], before: State, path: Path) -> Candidate:
    differing = record.observed.differing(path.state)
    differences = [difference(instance, slot, path.state[slot], record.observed.slots[slot]) for slot in differing]
    if path.refused:
        requirement: Requirement | None = path.refused[0]
    else:
        broken = broken_invariants(instance, before, record.observed.slots)
        # After several steps, the states of an object in between are unknown.
        table = broken_table(instance, before, path.state, record.observed.slots) if len(path.steps) < 2 else None
        requirement = broken[0] if broken else table
    return Candidate(path.steps, instance.describe(path.state), differences, path.refused, requirement)


def _reason(record: Record[State], candidates: Sequence[Candidate]) -> str:
    if not candidates:
        return f"{record.says}: no state of the model explains it"
    best = candidates[0]
    tried = "; ".join(best.steps) or "no step"
    if best.refused:
        why = " and ".join(f"{r.says} ({r.document}, line {r.line})" if r.line else r.says for r in best.refused)
        return f"{record.says}: no sequence of model steps explains what is observed; closest is {tried}, but {why}"
    what = f"closest is {tried}{but_differs(best.differs)}"
    return f"{record.says}: no sequence of model steps explains what is observed; {what}"


def but_differs(differs: Sequence[Difference]) -> str:
    """The first difference in words, and how many more there are; "" if there is none."""
    if not differs:
        return ""
    others = len(differs) - 1
    more = f"; {others} more field{'s differ' if others > 1 else ' differs'}" if others else ""
    return f", but {differs[0].text()}{more}"


def difference(instance: Instance, slot: int, model: int, observed: int) -> Difference:
    """The difference between two values of one slot, with names."""
    for machine in instance.model.machines:
        sort = machine.sort.name
        fields = ([""] if machine.states else []) + [a.name for a in instance.attributes(sort)]
        for name in fields:
            number = slot - instance.slot(sort, name)
            if not 0 <= number < instance.sizes[sort]:
                continue
            obj = instance.object_names(sort)[number]
            if not name:
                return Difference(obj, "state", machine.states[model].name, machine.states[observed].name)
            attribute = machine.attribute(name)
            assert attribute is not None
            return Difference(obj, name, instance.show(attribute.type, model), instance.show(attribute.type, observed))
    raise AssertionError(f"no slot {slot}")

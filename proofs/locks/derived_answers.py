"""The answers of the checks of an order that is derived from all programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.locks.language import Object
from schedproof.proofs.verdict import Method, Verdict

from .answer import Answer
from .checks import Check
from .derived import Acquisition, find_circles, find_repeated, writer_between
from .mend import mend


@dataclass(frozen=True)
class Instance:
    """The acquisitions of programs on some objects.

    Args:
        acquisitions: what the programs acquire.
        scope: the number of objects of each class.
        objects: the objects, by name.
        failed: why the programs could not be run on them; "" if they could.
    """

    acquisitions: Sequence[Acquisition]
    scope: Mapping[str, int]
    objects: Mapping[str, Object]
    failed: str = ""


def circles(check: Check, instances: Sequence[Instance]) -> Answer:
    """Whether acquisitions form a circle that no common lock excludes."""
    results = [(each, find_circles(each.acquisitions)) for each in instances]
    gated = {each.kind: each.text for _, among in reversed(results) for each in reversed(among.gated)}
    for instance, among in results:
        if not among.circles:
            continue
        closing = {each.names for each in among.circles}
        first = among.circles[0]
        others = {each.names: each.text for each in reversed(among.circles) if each.names != first.names}
        parts = [f"a circle of {len(first.locks)} locks: {first.text}"]
        between = zip(first.through_writers, first.writers, strict=True)
        parts += [writer_between(lock, [writer] if writer is not None else []) for lock, writer in between]
        parts += [f"{first.twice} would have to run twice"] if first.twice else []
        return Answer(
            check,
            Verdict.REFUTED,
            Method.EXPLORATION,
            instance.scope,
            note=f"also {', '.join([*others.values()][:3])}" if others else "",
            problem="; ".join(parts),
            steps=first.steps,
            remarks=tuple(text for names, text in reversed(gated.items()) if names not in closing),
            circles=among,
            remedies=tuple(tuple(change.text for change in way) for way in mend(among, instance.acquisitions)),
        )
    why = (
        ""
        if all(among.complete for _, among in results)
        else "there are too many circles, or circles of too many locks, to look at all"
    )
    return _holds(check, instances, why, reversed(gated.values()))


def reacquired(check: Check, instances: Sequence[Instance]) -> Answer:
    """Whether some program acquires a lock that it holds."""
    remarks: dict[str, None] = {}
    for instance in instances:
        repeated = find_repeated(instance.acquisitions)
        for one, gate in repeated.gated:
            who = f"{one.name} reads a lock twice ({one.place})"
            remarks[f"{who}; every writer of it that the file describes holds {gate}, and so does {one.name}"] = None
        if repeated.violations:
            first, *others = repeated.violations
            names = dict.fromkeys(each.by.name for each in others if each.by.name != first.by.name)
            return Answer(
                check,
                Verdict.REFUTED,
                Method.EXPLORATION,
                instance.scope,
                note=f"also {', '.join(list(names)[:3])}" if names else "",
                problem=first.problem,
                steps=first.steps,
                remarks=(*remarks,),
            )
    return _holds(check, instances, "", remarks)


def _holds(check: Check, instances: Sequence[Instance], why: str, remarks: Iterable[str]) -> Answer:
    """The answer if no acquisition is wrong: undetermined if there is none, or ``why`` says that some are left."""
    number = sum(len(each.acquisitions) for each in instances)
    why = why or next((each.failed for each in instances if each.failed), "")
    why = why or ("" if number else "vacuous: no lock is acquired")
    verdict = Verdict.UNDETERMINED if why else Verdict.PROVED
    note = why or f"{number} acquisitions"
    scope = instances[-1].scope
    return Answer(check, verdict, Method.EXPLORATION, scope, note=note, remarks=(*remarks,))

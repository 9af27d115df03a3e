"""The main job: every property of every variant, judged by every way there is, against its manifest."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.registry.discovery import is_registered
from schedproof.model.registry.system import System
from schedproof.proofs.verdict import Disagreement, Method, Result, Verdict

from .parts import INDUCTIVE, Done, Inducted, Part, Say, judge, judge_of, parts
from .properties import expected, property_names
from .workers import Workers, copied


@dataclass(frozen=True)
class Judged:
    """A property with the verdict that its variant's manifest expects."""

    result: Result
    expected: Verdict

    @property
    def as_expected(self) -> bool:
        """Undetermined never is."""
        return self.result.verdict is self.expected

    def as_json(self) -> dict[str, Any]:
        """The entry of ``verify --json``."""
        r = self.result
        found: dict[str, Any] = {
            "name": r.name,
            "kind": r.kind,
            "expected": str(self.expected),
            "verdict": str(r.verdict),
            "method": str(r.method),
            "scope": dict(r.scope) if r.scope is not None else None,
            "seconds": round(r.seconds, 4),
        }
        if r.topologies > 1:
            found["topologies"] = r.topologies
        if r.note:
            found["note"] = r.note
        if r.counterexample is not None:
            found["counterexample"] = r.counterexample.as_json()
        return found


@dataclass(frozen=True)
class VariantReport:
    """All properties of one variant."""

    system: str
    variant: str
    properties: Sequence[Judged]
    seconds: float = field(compare=False, default=0.0)

    @property
    def ok(self) -> bool:
        """Every verdict is the expected one, and there is one."""
        return bool(self.properties) and all(j.as_expected for j in self.properties)

    def as_json(self) -> dict[str, Any]:
        """The entry of ``verify --json``."""
        return {
            "system": self.system,
            "variant": self.variant,
            "properties": [j.as_json() for j in self.properties],
        }


def verify_variant(
    system: System,
    model: Model,
    *,
    scope: Mapping[str, int] | None = None,
    only: Sequence[str] = (),
    progress: Say | None = None,
) -> VariantReport:
    """Judges the properties of one variant by exploration and, where it is wanted, induction.

    Args:
        scope: instead of the model's default.
        only: just these properties, by name.
        progress: called with a line on what is being done.

    Raises:
        Disagreement: exploration refutes what induction proves.
        ScopeError: the scope is impossible.
    """
    start = time.perf_counter()
    say = progress or (lambda line: None)
    done = [judge_of(system, model, part, scope or {}, say) for part in parts(system, model, only)]
    return _together(system, model, done, time.perf_counter() - start)


def _together(system: System, model: Model, done: Iterable[Done], seconds: float) -> VariantReport:
    """The verdicts on one variant, from all its parts.

    Raises:
        Disagreement: exploration refutes what induction proves.
    """
    inducted: dict[str, Inducted] = {}
    explored: list[Result] = []
    for each in done:
        inducted |= each.inducted or {}
        explored += each.results
    names = property_names(system, model)
    judged = [Judged(combine(r, inducted.get(r.name)), expected(system, model, r.name)) for r in explored]
    return VariantReport(model.system, model.variant, sorted(judged, key=lambda j: names.index(j.result.name)), seconds)


def combine(explored: Result, inducted: Inducted | None) -> Result:
    """The verdict of both ways.

    A refutation needs a run from the initial state; a proof needs induction, where it is wanted.

    Raises:
        Disagreement: exploration refutes what induction proves.
    """
    if explored.kind not in INDUCTIVE or inducted is None:
        return explored
    if explored.verdict is Verdict.REFUTED:
        if inducted.proved:
            raise Disagreement(
                f"{explored.name}: induction proves it, but exploration finds a run that breaks it; "
                "one of the two engines is wrong"
            )
        return explored
    if explored.verdict is Verdict.UNDETERMINED:
        return explored  # vacuous, or cut short: no proof makes that right
    seconds = explored.seconds + inducted.seconds
    verdict = Verdict.PROVED if inducted.proved else Verdict.UNDETERMINED
    example = None if inducted.proved else inducted.counterexample
    return Result(explored.name, explored.kind, verdict, Method.INDUCTION, None, seconds, example, inducted.note)


def chosen(systems: Sequence[System], only: Sequence[str] = ()) -> list[tuple[System, Model, list[str]]]:
    """The variants of ``systems`` that have a property of ``only`` (or any), each with those that it has."""
    found = []
    for system in systems:
        for model in system.variants.values():
            mine = [n for n in only if n in property_names(system, model)]
            if mine or not only:
                found.append((system, model, mine))
    return found


def verifiers(
    systems: Sequence[System], *, only: Sequence[str] = (), jobs: int = 1
) -> Workers[Part, tuple[Done, float]]:
    """Processes for :func:`verify`, up to ``jobs`` of them; to be entered with ``with`` before there are threads."""
    work = sum(len(parts(system, model, mine)) for system, model, mine in chosen(systems, only))
    others = {system.name: system for system in systems if copied() or not is_registered(system)}
    if others and not copied():
        jobs = 1  # registered systems can be named to a process that begins anew, these could not
    return Workers(partial(_timed, others=others), max(1, min(jobs, work)))


def _timed(part: Part, say: Say, *, others: Mapping[str, System]) -> tuple[Done, float]:
    start = time.perf_counter()
    return judge(part, say, others), time.perf_counter() - start


def verify(
    systems: Sequence[System],
    *,
    only: Sequence[str] = (),
    progress: Say | None = None,
    workers: Workers[Part, tuple[Done, float]] | None = None,
) -> list[VariantReport]:
    """Every variant of ``systems`` that has a property of ``only`` (or any).

    Args:
        workers: what :func:`verifiers` gives, entered; by default all is done in this process.

    Raises:
        Disagreement: exploration refutes what induction proves.
    """
    wanted = chosen(systems, only)
    say = progress or (lambda line: None)
    if workers is None or workers.jobs == 1:
        return [verify_variant(system, model, only=mine, progress=say) for system, model, mine in wanted]
    # The longest first, so that no worker is left with it at the end.
    ordered = sorted(wanted, key=lambda each: -len(each[1].properties) * len(each[1].actions))
    tasks = [part for system, model, mine in ordered for part in parts(system, model, mine)]
    reports: dict[tuple[str, str], VariantReport] = {}
    done: dict[tuple[str, str], list[tuple[Done, float]]] = {}
    for part, found in workers.run(tasks, say):
        key = (part.system, part.variant)
        done.setdefault(key, []).append(found)
        system, model, mine = next(each for each in wanted if (each[1].system, each[1].variant) == key)
        if len(done[key]) == len(parts(system, model, mine)):
            # As soon as a variant is complete: engines that disagree stop the rest.
            reports[key] = _together(system, model, [d for d, _ in done[key]], sum(seconds for _, seconds in done[key]))
    return [reports[model.system, model.variant] for _, model, _ in wanted]

"""``verify``: checks every property of every variant with each engine, against its manifest."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schedproof.model.errors import require, require_function
from schedproof.model.lang import Model
from schedproof.model.lang.check import checked
from schedproof.model.lang.digest import Digester
from schedproof.model.lang.recovered import check_recovered
from schedproof.model.ledger.gaps import require_accounted
from schedproof.model.notebook import InNotebook, table
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import System
from schedproof.proofs.gc_paused import collected_seldom
from schedproof.proofs.verdict import Disagreement, Method, Result, Verdict

from .assumptions import assumed_text, check_assumes
from .durations import expected_seconds
from .interpreted import of_variant, require_known_names
from .parts import INDUCTIVE, Done, Inducted, Part, ReportProgress, Work, check, check_part_of, parts
from .properties import expected, property_names, require_properties
from .verdict_cache import VerdictCache, environment, stamp
from .workers import Pool, Workers, for_processes


@dataclass(frozen=True)
class CheckedProperty(InNotebook):
    """A property's verdict, and the expected one.

    Attributes:
        result: the verdict.
        expected: the verdict that the model and its manifest expect.
        cached: the command took all of the verdict from its cache. :func:`verify` has no cache.
        assumes: the assumptions on the environment on which the verdict rests, by the model.
    """

    result: Result
    expected: Verdict
    cached: bool = False
    assumes: Mapping[str, bool] = field(default_factory=dict)

    @property
    def _in_words(self) -> str:
        return f"{self.result.name}: {self.reach}, expected {self.expected}"

    def _repr_html_(self) -> str:
        run = self.result.counterexample
        return _table("", [self]) + (run._repr_html_() if run is not None else "")

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one; an undetermined verdict never is."""
        return self.result.verdict is self.expected

    @property
    def reach(self) -> str:
        """The verdict with its scope and what it assumes, as the table of ``verify`` shows it."""
        return f"{self.result.reach}, assuming {assumed_text(self.assumes)}" if self.assumes else self.result.reach

    def as_json(self) -> dict[str, Any]:
        """The entry of ``verify --json``."""
        content = {**self.result.as_json(), "expected": str(self.expected)}
        if self.assumes:
            content["assumes"] = dict(self.assumes)
        return {**content, "cached": True} if self.cached else content


@dataclass(frozen=True)
class VariantReport(InNotebook):
    """The verdicts on all properties of one variant.

    Attributes:
        system: the name of the system.
        variant: the name of the variant.
        properties: the verdicts, in the order of the properties.
        seconds: the processor time that they took.
        missing: the properties without a verdict, because the run was interrupted.
    """

    system: str
    variant: str
    properties: Sequence[CheckedProperty]
    seconds: float = field(compare=False, default=0.0)
    missing: Sequence[str] = ()

    @property
    def _in_words(self) -> str:
        expected = sum(each.as_expected for each in self.properties)
        return f"{self.system} {self.variant}: {expected} of {len(self.properties)} verdicts as expected"

    def _repr_html_(self) -> str:
        return _table(self._in_words, self.properties)

    @property
    def ok(self) -> bool:
        """Whether there is at least one verdict, none is missing, and all are as expected."""
        return bool(self.properties) and not self.missing and all(j.as_expected for j in self.properties)

    def as_json(self) -> dict[str, Any]:
        """The entry of ``verify --json``."""
        content = {
            "system": self.system,
            "variant": self.variant,
            "properties": [j.as_json() for j in self.properties],
        }
        return {**content, "missing": list(self.missing)} if self.missing else content


def _table(caption: str, properties: Iterable[CheckedProperty]) -> str:
    rows = [[each.result.name, each.result.kind, each.reach, str(each.expected)] for each in properties]
    return table(caption, ["property", "kind", "verdict", "expected"], rows)


def verify_variant(
    system: System,
    model: Model,
    *,
    scope: Mapping[str, int] | None = None,
    only: Sequence[str] = (),
    progress: ReportProgress | None = None,
) -> VariantReport:
    """Checks the properties of one variant by exploration and, where it applies, by induction.

    Args:
        system: the system; it may have checks beside the model's properties, of locks and implementations.
        model: one of its variants.
        scope: sort name -> number of objects, instead of the model's default.
        only: names of the properties to check; () means all.
        progress: called with a line on the current work.

    Raises:
        UserError: a name of ``only`` is unknown, or ``model`` is no variant of ``system``.
        Disagreement: exploration refutes what induction proves.
        ScopeError: the scope is impossible.
    """
    start = time.perf_counter()
    require("system", system, System, "a system, for example System.of(model)")
    if checked(model).system != system.name or model.variant not in system.variants:
        raise UserError(
            f"{model.system} {model.variant} does not belong to the system {system.name}; write System.of(model), or choose from "
            + ", ".join(system.variants)
        )
    require_properties("only", [(system, checked(model))], only)
    require_accounted(system, [model])
    require_known_names(system, model, of_variant(system, model))
    check_recovered(model)
    check_assumes(model)
    require_function("progress", progress, "progress=print")
    report_progress = progress or (lambda line: None)
    all_parts = parts(system, model, only)
    done = [check_part_of(system, model, part, scope or {}, report_progress) for part in all_parts]
    return _together(system, model, all_parts, done, [], time.perf_counter() - start)


def _together(
    system: System,
    model: Model,
    all_parts: Iterable[Part],
    new: Iterable[Done],
    known: Iterable[Done],
    seconds: float,
) -> VariantReport:
    """The verdicts on one variant.

    Args:
        all_parts: all its parts.
        new: results of this run.
        known: results of earlier runs.

    Raises:
        Disagreement: exploration refutes what induction proves.
    """
    inducted: dict[str, tuple[Inducted, bool]] = {}
    explored: dict[str, tuple[Result, bool]] = {}
    for cached, dones in ((True, known), (False, new)):
        for done in dones:
            inducted |= {name: (each, cached) for name, each in (done.inducted or {}).items()}
            explored |= {each.name: (each, cached) for each in done.results}
    by_induction = {name for part in all_parts if part.work is Work.INDUCTION for name in part.only}
    names = [n for n in property_names(system, model) if any(n in part.only for part in all_parts)]
    checked, missing = [], []
    for name in names:
        if name not in explored or (name in by_induction and name not in inducted):
            missing.append(name)
            continue
        result, cached = explored[name]
        proof, proof_cached = inducted.get(name, (None, True))
        checked.append(
            CheckedProperty(
                combine(result, proof),
                expected(system, model, name),
                cached and proof_cached,
                model.assumptions_of(name),
            )
        )
    return VariantReport(model.system, model.variant, checked, seconds, missing)


def combine(explored: Result, inducted: Inducted | None) -> Result:
    """The combined verdict of exploration and induction.

    A refutation needs a run from the initial state. A proof of an inductive kind of property needs induction.

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
        return explored  # vacuous or cut short: a proof cannot repair that
    return Result(
        explored.name,
        explored.kind,
        Verdict.PROVED if inducted.proved else Verdict.UNDETERMINED,
        Method.INDUCTION,
        None,
        explored.seconds + inducted.seconds,
        None if inducted.proved else inducted.counterexample,
        "; ".join(part for part in (inducted.note, "" if inducted.proved else explored.reach) if part),
        lemmas=inducted.lemmas,
        bounds=inducted.bounds,
        unfired=explored.unfired,
        assuming=inducted.assuming,
    )


@dataclass(frozen=True)
class Plan:
    """The work to do on one variant.

    Attributes:
        all_parts: all its parts.
        known: the cached results of earlier runs for these parts.
        todo: the parts that remain, each with the properties that have no cached verdict.
        cache: where new results are stored; None to store none.
    """

    system: System
    model: Model
    all_parts: Sequence[Part]
    known: Sequence[Done]
    todo: Sequence[Part]
    cache: VerdictCache | None


@collected_seldom()
def plan(
    systems: Sequence[System],
    *,
    only: Sequence[str] = (),
    variants: Sequence[str] = (),
    cached: bool = False,
    interpretations: bool = False,
) -> list[Plan]:
    """The work to do on each variant.

    Args:
        only: names of the properties to check; () means all.
        variants: names of the variants to check; () means all.
        cached: use verdicts of earlier runs.
        interpretations: also try interpretations the other way.
    """
    before, now = (stamp(), environment()) if cached else (None, None)
    digester = Digester()
    plans = []
    for system in systems:
        chosen = [model for name, model in system.variants.items() if not variants or name in variants]
        require_accounted(system, chosen)
        for model in chosen:
            checked(model)
            cache = VerdictCache(system, model, now, digester, before) if now is not None else None
            _require_known_names(system, model, cache)
            check_recovered(model)
            check_assumes(model)
            selected = [each for each in only if each in property_names(system, model)]
            if selected or not only:
                plans.append(_plan(system, model, selected, cache, interpretations))
    return plans


def _require_known_names(system: System, model: Model, cache: VerdictCache | None) -> None:
    """As :func:`require_known_names`, unless an earlier command did it."""
    readings = of_variant(system, model)
    if cache is None:
        require_known_names(system, model, readings)
    elif readings and not cache.accepts(readings):
        require_known_names(system, model, readings)
        cache.accept(readings)


def _plan(system: System, model: Model, only: Sequence[str], cache: VerdictCache | None, interpretations: bool) -> Plan:
    all_parts = parts(system, model, only, interpretations=interpretations)
    known = [cache.load(part) for part in all_parts] if cache is not None else [Done() for _ in all_parts]
    todo = []
    for part, done in zip(all_parts, known, strict=True):
        have = {*(done.inducted or {}), *(result.name for result in done.results)}
        if left := tuple(name for name in part.only if name not in have):
            todo.append(replace(part, only=left))
    return Plan(system, model, all_parts, known, todo, cache)


def verifiers(plans: Sequence[Plan], *, jobs: int = 1) -> Workers[Part, tuple[Done, float]]:
    """Up to ``jobs`` processes for :class:`Run`; enter them with ``with`` before any thread starts."""
    function, jobs = for_processes(timed, [each.system for each in plans], jobs)
    return Workers(function, max(1, min(jobs, sum(len(each.todo) for each in plans))))


def timed(part: Part, report_progress: ReportProgress, *, others: Mapping[str, System]) -> tuple[Done, float]:
    """Does a part as :func:`.parts.check`; returns its result and the seconds that it took."""
    start = time.perf_counter()
    return check(part, report_progress, others), time.perf_counter() - start


class Run:
    """The work of some plans; :meth:`reports` gives the results so far at any time, also after an interrupt.

    Attributes:
        seconds: the duration of each finished part.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans
        self._done: dict[tuple[str, str], list[Done]] = {_key(each): [] for each in plans}
        self._reports: dict[tuple[str, str], VariantReport] = {}
        self._expected = expected_seconds((part, len(each.model.actions)) for each in plans for part in each.todo)
        self._open = Counter((part.system, part.variant, name) for part in self._expected for name in part.only)
        self.total = sum(len({name for part in each.all_parts for name in part.only}) for each in plans)
        self.seconds: dict[Part, float] = {}

    @property
    def verdicts(self) -> int:
        """The number of properties that have a verdict now, out of ``total``."""
        return self.total - len(self._open)

    @property
    def seconds_left(self) -> float:
        """An estimate of the remaining processor seconds, from the last durations of the parts."""
        done = sum(self._expected[part] for part in self.seconds)
        pace = sum(self.seconds.values()) / done if done else 1.0
        return pace * sum(expected for part, expected in self._expected.items() if part not in self.seconds)

    def reports(self) -> list[VariantReport]:
        """A report for each variant, in order; properties without a verdict yet are in ``missing``."""
        return [self._reports.get(_key(each)) or self._report(each) for each in self._plans]

    def work(self, workers: Pool[Part, tuple[Done, float]], report_progress: ReportProgress) -> Iterator[VariantReport]:
        """Does the work, the longest parts first, and yields each report when it is complete.

        Raises:
            Disagreement: exploration refutes what induction proves.
        """
        by_key = {_key(each): each for each in self._plans}
        for each in self._plans:
            if not each.todo:
                yield self._complete(each)
        longest_first = sorted(self._expected, key=lambda part: -self._expected[part])
        for part, (done, took) in workers.run(longest_first, report_progress, lambda part: part.kernel):
            key = (part.system, part.variant)
            its_plan = by_key[key]
            if its_plan.cache is not None:
                its_plan.cache.store(part, done)
            self._done[key].append(done)
            self.seconds[part] = took
            self._open -= Counter((*key, name) for name in part.only)
            if len(self._done[key]) == len(its_plan.todo):
                # Combine as soon as a variant is complete: a disagreement of engines stops the rest.
                yield self._complete(its_plan)

    def _complete(self, its_plan: Plan) -> VariantReport:
        try:
            report = self._reports[_key(its_plan)] = self._report(its_plan)
        except Disagreement:
            if its_plan.cache is not None:
                its_plan.cache.remove(its_plan.all_parts)  # one engine is wrong, and it is unknown which
            raise
        return report

    def _report(self, its_plan: Plan) -> VariantReport:
        took = sum(seconds for part, seconds in self.seconds.items() if (part.system, part.variant) == _key(its_plan))
        return _together(
            its_plan.system,
            its_plan.model,
            its_plan.all_parts,
            self._done[_key(its_plan)],
            its_plan.known,
            took,
        )


def _key(plan: Plan) -> tuple[str, str]:
    return plan.system.name, plan.model.variant


def verify(
    systems: Sequence[System],
    *,
    only: Sequence[str] = (),
    progress: ReportProgress | None = None,
    jobs: int = 1,
) -> list[VariantReport]:
    """Checks every variant that has one of the properties in ``only``; every variant if ``only`` is empty.

    Explorations are at the model's ``default_scope``, with the larger numbers of its ``verify_scope``. It does not use the cache.

    Args:
        systems: the systems.
        only: names of the properties to check; () means all.
        progress: called with a line on the current work.
        jobs: the number of worker processes; 1 means this process. Systems that no manifest names stay in this process.

    Raises:
        UserError: ``systems`` is empty, ``jobs`` is below 1, or a name of ``only`` is not a property of any of these variants.
        Disagreement: exploration refutes what induction proves.
    """
    require("jobs", jobs, int, "a number of processes, for example jobs=2")
    require_function("progress", progress, "progress=print")
    if jobs < 1:
        raise UserError(f"jobs is {jobs}, and nothing would be checked; write a number from 1")
    require("systems", systems, Sequence, "a list of systems, for example [load_system('hived')]")
    for system in systems:
        require("an element of systems", system, System, "systems, for example [System.of(model)]")
    models = [(system, model) for system in systems for model in system.variants.values()]
    if not models:
        raise UserError("systems is empty, so nothing would be checked; write at least one system")
    require_properties("only", models, only)
    plans = plan(systems, only=only)
    run = Run(plans)
    with verifiers(plans, jobs=jobs) as workers:
        for _ in run.work(workers, progress or (lambda line: None)):
            pass
    return run.reports()

"""Defects: what is wrong with a document, each with all properties that it violates, its clearest run and its repair.

A property says where a run is wrong, and not why: one mistake violates several properties, and one property is violated for
several reasons. A change of a repaired variant separates them: what that variant violates without this one change is what the
change repairs. Its shortest run has all other changes in place. It is shown if the variant with the defect can take it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.model.errors import require
from schedproof.model.lang import (
    Action,
    Change,
    Invariant,
    Model,
    ModelError,
    Property,
    Reading,
    Row,
    Rule,
    StepInvariant,
    exists,
)
from schedproof.model.lang.terms import both
from schedproof.model.registry.errors import require_known
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Result, Verdict

from .findings import Finding, builds_on, finding_of, keeps, property_of, rests_on
from .findings import findings as find
from .lock_repairs import lock_repairs
from .replayed import replays
from .without import without


@dataclass(frozen=True)
class Defect:
    """A mistake of a document, or of what was shipped.

    Attributes:
        system: the name of the system.
        variants: the names of the variants that have it, the earliest first.
        name: the name.
        wrong: what is wrong, in one sentence; "" if the repair says it.
        findings: the properties that it violates, each with a shortest run; the clearest first.
        repair: the change that repairs it, and the variant that has the change.
        cost: what the change adds, drops and weakens.
        left: why the runs may show another defect as well; "" if all other repairs are in place.
        behaviour: whether the repair changes what happens, and not only a sentence.
    """

    system: str
    variants: tuple[str, ...]
    name: str
    wrong: str
    findings: tuple[Finding, ...]
    repair: str
    cost: str
    left: str = ""
    behaviour: bool = True

    @property
    def shown(self) -> Finding:
        """The clearest of its runs."""
        return self.findings[0]

    @property
    def interpretations(self) -> tuple[Reading, ...]:
        """The interpretations of the document on which the clearest violation depends."""
        return self.shown.interpretations

    def as_json(self) -> dict[str, Any]:
        """The defect as ``findings --json`` prints it."""
        return {
            "kind": "defect",
            "system": self.system,
            "variants": list(self.variants),
            "name": self.name,
            "wrong": self.wrong,
            "document": self.shown.document,
            "line": self.shown.line,
            "sentence": self.shown.sentence,
            "repair": self.repair,
            "cost": self.cost,
            "left": self.left,
            "rests_on": [each.name for each in self.interpretations],
            "findings": [finding.as_json() for finding in self.findings],
        }

    def text(self, *, every: bool = False) -> list[str]:
        """The defect as lines for a reader.

        Args:
            every: with a run of each property, not only with the clearest.
        """
        shown = self.shown
        where = shown.document if shown.line is None else f"{shown.document}:{shown.line}"
        lines = [f"{self.name} ({where}, {' and '.join(self.variants)})"]
        if self.wrong:
            lines.append(f"  Wrong: {self.wrong}")
        lines.append(f"  Violates: {', '.join(finding.property for finding in self.findings)}")
        for finding in self.findings if every else self.findings[:1]:
            lines += finding.run_text()
        if self.left:
            lines.append(f"  {self.left}")
        lines += [f"  {each.finding_note}" for each in self.interpretations]
        return [*lines, f"  Repair: {self.repair}", *([f"  Cost: {self.cost}"] if self.cost else [])]


def defects(
    system: System,
    *,
    variants: Sequence[str] = (),
    progress: Callable[[str], None] = lambda line: None,
    originals: Sequence[Finding] | None = None,
) -> list[Defect]:
    """The defects of a system's variants: first those that rest on the fewest interpretations, then those that violate most.

    Args:
        system: the system.
        variants: names of the variants to report; () means all.
        progress: called with a line on the current work.
        originals: the result of ``findings`` for the same variants, if it is known.

    Returns:
        A defect for each change that repairs or weakens something, and one for each violated property that no change
        repairs.

    Raises:
        UserError: a name of ``variants`` is unknown.
    """
    require("system", system, System, "a system, for example load_system('hived')")
    require_known("variants", "variant", variants, list(system.variants), of=system.name)
    progress(f"{system.name}: looking for the shortest runs")
    originals = find(system, variants=variants) if originals is None else originals
    by_change = [
        (defect, model, change)
        for model in system.variants.values()
        if model.amends and (not variants or any(builds_on(system, model, system.variants[name]) for name in variants))
        for defect, change in _of_changes(system, model, originals, progress)
        if not variants or {*defect.variants} & {*variants}
    ]
    covered = {
        (name, each.property) for defect, _, _ in by_change for each in defect.findings for name in defect.variants
    }
    others = [finding for finding in originals if (finding.variant, finding.property) not in covered]
    repaired = []
    for defect, model, change in by_change:
        # What only several mistakes together violate belongs to the first of them.
        its = [e for e in others if e.variant in defect.variants and _repairs(system, model, change, e)]
        others = [each for each in others if each not in its]
        repaired.append(_with(defect, its))
    for model in system.variants.values():
        for defect in _of_locks(system, model, others):
            others = [each for each in others if each not in defect.findings]
            repaired.append(defect)
    by_repair: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in others:
        apart = finding.property if finding.repair.startswith("no") else ""
        by_repair.setdefault((finding.variant, finding.repair, apart), []).append(finding)
    alone = [_alone(system, some) for some in by_repair.values()]
    order = list(system.variants)
    return sorted(
        [*repaired, *alone],
        key=lambda each: (
            order.index(each.variants[0]),
            not each.behaviour,
            len(each.interpretations),
            -len(each.findings),
            each.shown.line or 0,
        ),
    )


def _alone(system: System, some: Sequence[Finding]) -> Defect:
    """A defect that no change repairs; named by the change that brings it into a variant, if that says what is wrong."""
    model = system.variants[some[0].variant]
    before = system.variants[model.amends] if model.amends else None
    brings = before is not None and all(keeps(before, each.property) for each in some)
    named = next((change for change in model.changes if change.wrong), None) if brings else None
    name, wrong = (named.name, named.wrong) if named else (some[0].property, "")
    return Defect(system.name, (model.variant,), name or some[0].property, wrong, tuple(some), some[0].repair, "")


def _of_locks(system: System, model: Model, findings: Sequence[Finding]) -> Iterator[Defect]:
    """The defects that lock files repair; a violation with several repairs belongs to the first of them.

    Args:
        system: the system.
        model: the variant.
        findings: violations, of locks and others.
    """
    of_model = {each.property: each for each in findings if each.variant == model.variant}
    repairs = lock_repairs(system, model) if of_model else []
    for number, each in enumerate(repairs):
        its = [of_model.pop(name) for name in each.properties if name in of_model]
        if not its:
            continue
        also = [f.property for f in its if any(f.property in other.properties for other in repairs[number + 1 :])]
        yield Defect(
            system.name,
            (model.variant,),
            each.repair.name or its[0].property,
            each.repair.wrong,
            tuple(its),
            each.why,
            "",
            f"Another repair is needed as well for: {', '.join(also)}." if also else "",
        )


def _repairs(system: System, model: Model, change: Change, finding: Finding) -> bool:
    """Whether a change of a variant is one of those that repair a finding of a variant on which it builds."""
    broken = system.variants[finding.variant]
    return finding.property in (*change.repairs, *change.weakens) and builds_on(system, model, broken)


def _with(defect: Defect, others: Sequence[Finding]) -> Defect:
    """A defect with violations for which other defects are needed as well."""
    if not others:
        return defect
    note = f"Only with another defect: {', '.join(each.property for each in others)}."
    return replace(defect, findings=(*defect.findings, *others), left=" ".join(filter(None, (defect.left, note))))


def _of_changes(
    system: System, model: Model, originals: Sequence[Finding], progress: Callable[[str], None]
) -> Iterator[tuple[Defect, Change]]:
    """The defects that the changes of an amended variant repair.

    Args:
        system: the system.
        model: the amended variant.
        originals: the findings of the variants themselves.
        progress: called with a line on the current work.
    """
    base = system.variants[model.amends]
    below = [each for each in system.variants.values() if builds_on(system, model, each)]
    refuted = frozenset().union(*(each.refuted for each in below))
    repairing = [change for change in model.changes if {*change.repairs, *change.weakens} & refuted]
    for number, change in enumerate(repairing, 1):
        names = [name for name in dict.fromkeys([*change.repairs, *change.weakens]) if name in refuted]
        progress(f"{system.name} {model.variant}: without change {number} of {len(repairing)}")
        less = without(system, model, change, names)
        left = _left(less[1]) if less else ""
        results = _violated(less[0], names) if less else []
        violations = [_finding(system, below, result, f"{model.variant} without this repair") for result in results]
        if not violations:
            violations = [each for name in names for each in _original(below, originals, name)]
            why = "Without this repair alone, nothing is violated" if less else "Other repairs build on this one"
            left = f"{why}; the run is one of {base.variant}."
        if change.shown in names:
            shown = next((each for each in violations if each.property == change.shown), None)
            if shown is None or not _is_of(below, shown) or change.chooses_its_run:
                of = next(each for each in below if change.shown in each.refuted)
                plain = _original(below, originals, change.shown) if not change.chooses_its_run else []
                shown = plain[0] if plain else _finding(system, below, _clearest(of, change), of.variant)
            violations = [shown, *(each for each in violations if each.property != change.shown)]
        if not violations:
            continue
        # The one to show, then the shortest, then the one that the change names first.
        ranks = [(f.property != change.shown, len(f.counterexample.steps), names.index(f.property)) for f in violations]
        clearest = [each for _, each in sorted(zip(ranks, violations, strict=True), key=lambda ranked: ranked[0])]
        having = [each.variant for each in below if clearest[0].property in each.refuted]
        named = Counter(name for each in repairing for name in {*each.repairs, *each.weakens})
        clearest = [_of_the_variant(below, originals, each, alone=named[each.property] == 1) for each in clearest]
        defect = Defect(
            system.name,
            tuple(having),
            change.name or clearest[0].property,
            change.wrong,
            tuple(clearest),
            f"{change.why} (variant {model.variant})",
            cost(base, change),
            left,
            behaviour=bool(change.repairs),
        )
        yield defect, change


def _original(below: Sequence[Model], originals: Sequence[Finding], name: str) -> list[Finding]:
    """The finding of the first variant that violates a property, if there is one."""
    violating = [each.variant for each in below if name in each.refuted]
    return [each for each in originals if each.property == name and each.variant in violating[:1]]


def _of_the_variant(below: Sequence[Model], originals: Sequence[Finding], finding: Finding, *, alone: bool) -> Finding:
    """A finding whose run is one of the variants that violate its property, where that is known to show the same defect.

    Args:
        below: the variants that have the defect.
        originals: the findings of the variants themselves.
        finding: a violation without one repair.
        alone: no other change repairs the property, so that each violation of it shows this defect.
    """
    if finding.of == finding.variant or _is_of(below, finding):
        return replace(finding, of="")
    plain = _original(below, originals, finding.property) if alone else []
    return plain[0] if plain else finding


def _is_of(variants: Sequence[Model], finding: Finding) -> bool:
    """Whether the run of a finding is one of each variant that is expected to violate the property."""
    violating = [each for each in variants if finding.property in each.refuted]
    return all(
        finding.of in ("", each.variant) or replays(each, property_of(each, finding.property), finding.counterexample)
        for each in violating
    )


def _violated(model: Model, names: Sequence[str]) -> list[Result]:
    known = [name for name in names if name == "well-formed" or any(name == each.name for each in model.properties)]
    results = model_check(model, {}, only=known) if known else []
    return [each for each in results if each.verdict is Verdict.REFUTED and each.counterexample and each.name in names]


def _clearest(model: Model, change: Change) -> Result:
    """The shortest run that violates ``change.shown`` in the way that the change asks for.

    Raises:
        ModelError: there is none.
    """
    prop = model.property(change.shown)
    # Without an action more states could not reach their goal; what one state or step violates stays violated.
    if change.chooses_its_run and not isinstance(prop, Invariant | StepInvariant):
        problem = f"asks, avoids or prompt is set, and {prop.name} is not an invariant or a step invariant"
        raise ModelError(f"change {change.name}", change.place, problem, "leave them out, or show another property")
    if change.asks is not None:
        assert isinstance(prop, Invariant | StepInvariant)
        prop = replace(prop, given=change.asks if prop.given is None else prop.given & change.asks)
    actions = [_after(model, change.prompt, each) for each in model.actions if each.name not in change.avoids]
    rules = [each for each in model.rules if not isinstance(each.on, Action) or each.on.name not in change.avoids]
    asked = replace(model, actions=actions, rules=rules).asking([prop])
    (result,) = model_check(asked, {}, only=[prop.name])
    if result.counterexample is None:
        problem = f"no run violates {prop.name} as it asks"
        raise ModelError(f"change {change.name}", change.place, problem, "ask for less, or show another property")
    return result


def _after(model: Model, prompt: Sequence[str], action: Action) -> Action:
    """``action``, which waits as long as one of the actions ``prompt`` is possible, if it is none of them."""
    if action.name in prompt:
        return action
    urgent = [each for each in model.actions if each.name in prompt]
    return replace(action, when=[*action.when, *(~exists(each.parameters, both(list(each.when))) for each in urgent)])


def _finding(system: System, below: Sequence[Model], result: Result, of: str) -> Finding:
    """A violation of the variants ``below``, by a run of the variant ``of``."""
    base = next(each for each in below if result.name in each.refuted)
    rests = {each.name: each for model in below for each in rests_on(system, model, result.name)}
    return replace(finding_of(system, base, result), interpretations=tuple(rests.values()), of=of)


def _left(others: Sequence[Change]) -> str:
    if not others:
        return ""
    names = "; ".join(change.name or change.why for change in others)
    return f"The run also has what these repairs build on: {names}"


def cost(base: Model, change: Change) -> str:
    """What a change adds, replaces, drops and weakens, in words."""
    kinds = {Row: "row", Action: "action", Rule: "rule"}
    known = {(type(each), each.name) for each in base.elements}
    new: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    for element in change.adds:
        if isinstance(element, Property):
            continue
        (replaced if (type(element), element.name) in known else new)[kinds[type(element)]] += 1
    elements = {each.name for each in base.elements if not isinstance(each, Property)}
    dropped = [name for name in change.drops if name in elements]
    parts = [
        *(f"{_many(number, kind)} more" for kind, number in new.items()),
        *(f"{_many(number, kind)} changed" for kind, number in replaced.items()),
        *([f"without {', '.join(dropped)}"] if dropped else []),
        *(f"property {name} is dropped" for name in change.drops if name not in elements and _is_property(base, name)),
        *(
            f"{name} is weakened to {', '.join(names)}" if names else f"{name} is given up"
            for name, names in change.weakens.items()
        ),
    ]
    return "; ".join(parts) or "no change of behaviour"


def _is_property(model: Model, name: str) -> bool:
    return any(each.name == name for each in model.properties)


def _many(number: int, kind: str) -> str:
    return f"{number} {kind}{'' if number == 1 else 's'}"

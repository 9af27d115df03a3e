"""Defects: what is wrong with a document, each with all properties that it violates, its clearest run and its repair.

A property says where a run is wrong, and not why: one mistake violates several properties, and one property is violated for
several reasons. A change of a repaired variant separates them: what that variant violates without this one change is what the
change repairs. Its shortest run has all other changes in place. It is shown if the variant with the defect can take it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schedproof.model.cited import quote
from schedproof.model.errors import require
from schedproof.model.lang import (
    Action,
    AlwaysCanReach,
    Change,
    Document,
    Invariant,
    LeadsTo,
    Model,
    ModelError,
    Property,
    StepInvariant,
    exists,
)
from schedproof.model.lang.terms import both
from schedproof.model.registry.errors import require_known
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.verdict import Result, Verdict

from .costs import MOST_NAMES, cost
from .defect import Defect
from .findings import Finding, builds_on, finding_of, keeps, property_of, rests_on
from .findings import findings as find
from .lock_repairs import lock_repairs
from .mistakes import Named, named_mistakes, open_violations
from .replayed import replays
from .without import without


def defects(
    system: System,
    *,
    variants: Sequence[str] = (),
    progress: Callable[[str], None] = lambda line: None,
    originals: Sequence[Finding] | None = None,
) -> list[Defect]:
    """The defects of a system's variants, variant by variant: those that violate most properties first.

    Of equals that which rests on the fewest interpretations comes first, then that of the earlier line. What only changes a
    sentence comes after what changes the behaviour.

    Args:
        system: the system.
        variants: names of the variants to report; () means all.
        progress: called with a line on the current work.
        originals: the result of ``findings`` for the same variants, if it is known.

    Returns:
        A defect for each change that repairs or weakens something, and one for each violated property that no change
        repairs.

    Raises:
        ModelError: a change asks for a run that there is not, or names a mistake of a property that is not violated.
        UserError: a name of ``variants`` is unknown.
    """
    require("system", system, System, "a system, for example load_system('hived')")
    require_known("variants", "variant", variants, list(system.variants), of=system.name)
    named = named_mistakes(system)
    violated = open_violations(system, named)
    progress(f"{system.name}: looking for the shortest runs")
    originals = find(system, variants=variants) if originals is None else originals
    by_change = [
        (defect, model, change)
        for model in system.variants.values()
        if model.amends and (not variants or any(builds_on(system, model, system.variants[name]) for name in variants))
        for defect, change in _of_changes(system, model, violated, originals, progress)
        if not variants or {*defect.variants} & {*variants}
    ]
    covered = {
        (name, each.property) for defect, _, _ in by_change for each in defect.findings for name in defect.variants
    }
    of_mistakes = [(each, its) for each in named if (its := each.of(originals))]
    repaired = [_of_mistake(system, each, its) for each, its in of_mistakes]
    explained = [finding for _, its in of_mistakes for finding in its]
    others = [f for f in originals if (f.variant, f.property) not in covered and f not in explained]
    for defect, model, change in by_change:
        # What only several mistakes together violate belongs to the first of them.
        its = [e for e in others if e.variant in defect.variants and _repairs(system, model, change, e)]
        others = [each for each in others if each not in its]
        # A variant between may have dropped a property that the change requires again.
        restored = [e for e in others if e.variant in defect.variants and _requires_again(system, model, change, e)]
        others = [each for each in others if each not in restored]
        defect = replace(defect, findings=(*defect.findings, *restored))
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
            -len(each.findings),
            len(each.interpretations),
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


def _of_mistake(system: System, named: Named, some: Sequence[Finding]) -> Defect:
    """The defect that is a mistake which a change names; what the change costs is counted at the change's own defect."""
    mistake, repair = named.mistake, f"{named.change.why} (variant {named.model.variant})"
    return Defect(system.name, (mistake.variant,), mistake.name, mistake.wrong, tuple(some), repair, "")


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
        also = [
            f"Another repair is needed as well for {', '.join(shared)}: {other.repair.name or other.repair.why.rstrip('.')}."
            for other in repairs[number + 1 :]
            if (shared := [f.property for f in its if f.property in other.properties])
        ]
        yield Defect(
            system.name,
            (model.variant,),
            each.repair.name or its[0].property,
            each.repair.wrong,
            tuple(its),
            each.why,
            "",
            left=" ".join(also),
            quotes=quotations(model.document, each.repair.lines),
        )


def quotations(document: Document, lines: Sequence[int]) -> tuple[tuple[int, str], ...]:
    """The lines of a document with their sentences, as far as its file of quotes has them; each sentence once."""
    by_sentence = {words: line for line in reversed(lines) if (words := quote(document, line))}
    return tuple((line, words) for words, line in reversed(by_sentence.items()))


def _repairs(system: System, model: Model, change: Change, finding: Finding) -> bool:
    """Whether a change of a variant is one of those that repair a finding of a variant on which it builds."""
    broken = system.variants[finding.variant]
    return finding.property in (*change.repairs, *change.weakens) and builds_on(system, model, broken)


def _requires_again(system: System, model: Model, change: Change, finding: Finding) -> bool:
    """Whether a change of a variant adds the property of a finding of a variant on which it builds, and the variant keeps it."""
    added = any(isinstance(each, Property) and each.name == finding.property for each in change.adds)
    return added and keeps(model, finding.property) and builds_on(system, model, system.variants[finding.variant])


def _with(defect: Defect, others: Sequence[Finding]) -> Defect:
    """A defect with violations for which other defects are needed as well."""
    if not others:
        return defect
    note = f"Only with another defect: {', '.join(each.property for each in others)}."
    return replace(defect, findings=(*defect.findings, *others), left=" ".join(filter(None, (defect.left, note))))


@dataclass(frozen=True)
class _Below:
    """The variants on which an amended one builds.

    Attributes:
        models: the variants.
        violated: by variant, the properties that it violates, without those that named mistakes explain.
    """

    models: Sequence[Model]
    violated: Mapping[str, frozenset[str]]

    def violating(self, name: str) -> list[Model]:
        """Those that violate a property for a reason that no named mistake explains."""
        return [each for each in self.models if name in self.violated[each.variant]]


def _of_changes(
    system: System,
    model: Model,
    violated: Mapping[str, frozenset[str]],
    originals: Sequence[Finding],
    progress: Callable[[str], None],
) -> Iterator[tuple[Defect, Change]]:
    """The defects that the changes of an amended variant repair.

    Args:
        system: the system.
        model: the amended variant.
        violated: by variant, the properties that it violates, without those that named mistakes explain.
        originals: the findings of the variants themselves.
        progress: called with a line on the current work.
    """
    base = system.variants[model.amends]
    below = _Below([each for each in system.variants.values() if builds_on(system, model, each)], violated)
    refuted = frozenset().union(*(violated[each.variant] for each in below.models))
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
            others = "Without this repair alone, nothing is violated, since other repairs exclude such runs as well"
            why = others if less else "Other repairs build on this one"
            left = f"{why}; the run is one of {base.variant}."
        if change.shown in names:
            shown = next((each for each in violations if each.property == change.shown), None)
            if shown is None or not _is_of(below, shown) or change.chooses_its_run:
                of = below.violating(change.shown)[0]
                plain = _original(below, originals, change.shown) if not change.chooses_its_run else []
                shown = plain[0] if plain else _finding(system, below, _clearest(of, change), of.variant)
            violations = [shown, *(each for each in violations if each.property != change.shown)]
        if not violations:
            continue
        # The one to show, then the shortest, then the one that the change names first.
        ranks = [(f.property != change.shown, len(f.counterexample.steps), names.index(f.property)) for f in violations]
        clearest = [each for _, each in sorted(zip(ranks, violations, strict=True), key=lambda ranked: ranked[0])]
        having = [each.variant for each in below.violating(clearest[0].property)]
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
            cost(base, change, most=MOST_NAMES),
            left,
            behaviour=bool(change.repairs),
            quotes=quotations(base.document, change.lines),
        )
        yield defect, change


def _original(below: _Below, originals: Sequence[Finding], name: str) -> list[Finding]:
    """The finding of the first variant that violates a property, if there is one."""
    violating = [each.variant for each in below.violating(name)]
    return [each for each in originals if each.property == name and each.variant in violating[:1]]


def _of_the_variant(below: _Below, originals: Sequence[Finding], finding: Finding, *, alone: bool) -> Finding:
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


def _is_of(below: _Below, finding: Finding) -> bool:
    """Whether the run of a finding is one of each variant that is expected to violate the property."""
    return all(
        finding.of in ("", each.variant) or replays(each, property_of(each, finding.property), finding.counterexample)
        for each in below.violating(finding.property)
    )


def _violated(model: Model, names: Sequence[str]) -> list[Result]:
    known = [name for name in names if name == "well-formed" or any(name == each.name for each in model.properties)]
    results = model_check(model, {}, only=known) if known else []
    return [each for each in results if each.verdict is Verdict.REFUTED and each.counterexample and each.name in names]


def _clearest(model: Model, change: Change) -> Result:
    """The shortest run that violates ``change.shown`` in the way that the change asks for, with as few objects as that needs.

    It is at the model's ``default_scope``, or with the larger numbers of its ``verify_scope``.

    Raises:
        ModelError: there is none.
    """
    prop = model.property(change.shown)
    # Without an action more states could not reach their goal; what one state or step violates stays violated.
    if (change.avoids or change.prompt) and not isinstance(prop, Invariant | StepInvariant):
        problem = f"avoids or prompt is set, and {prop.name} is not an invariant or a step invariant"
        raise ModelError(f"change {change.name}", change.place, problem, "leave them out, or show another property")
    if change.asks is not None:
        if not isinstance(prop, Invariant | StepInvariant | AlwaysCanReach | LeadsTo):
            problem = f"asks is set, and {prop.name} ({prop.kind}) is not violated in a state or step"
            raise ModelError(f"change {change.name}", change.place, problem, "leave it out, or show another property")
        prop = replace(prop, given=change.asks if prop.given is None else prop.given & change.asks)
    actions = [_after(model, change.prompt, each) for each in model.actions if each.name not in change.avoids]
    rules = [each for each in model.rules if not isinstance(each.on, Action) or each.on.name not in change.avoids]
    asked = replace(model, actions=actions, rules=rules).asking([prop])
    for scope in ({}, model.verify_scope) if model.verify_scope else ({},):
        (result,) = model_check(asked, scope, only=[prop.name])
        if result.counterexample is not None:
            return result
    problem = f"no run violates {prop.name} as it asks"
    raise ModelError(f"change {change.name}", change.place, problem, "ask for less, or show another property")


def _after(model: Model, prompt: Sequence[str], action: Action) -> Action:
    """``action``, which waits as long as one of the actions ``prompt`` is possible, if it is none of them."""
    if action.name in prompt:
        return action
    urgent = [each for each in model.actions if each.name in prompt]
    return replace(action, when=[*action.when, *(~exists(each.parameters, both(list(each.when))) for each in urgent)])


def _finding(system: System, below: _Below, result: Result, of: str) -> Finding:
    """A violation of the variants ``below``, by a run of the variant ``of``."""
    having = below.violating(result.name)
    rests = {each.name: each for model in having for each in rests_on(system, model, result.name)}
    return replace(finding_of(system, having[0], result), interpretations=tuple(rests.values()), of=of)


def _left(others: Sequence[Change]) -> str:
    if not others:
        return ""
    names = "; ".join(change.name or change.why for change in others)
    return f"The run also has what these repairs build on: {names}"

"""Findings: the properties that a variant violates, each with a shortest run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.errors import require
from schedproof.model.lang import Model, Reading
from schedproof.model.lang.properties import Property
from schedproof.model.registry.errors import require_known
from schedproof.model.registry.system import System
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS, model_check
from schedproof.proofs.exploration.counterexample_text import initial_state, introduced
from schedproof.proofs.verdict import Counterexample, Result, Verdict, facts_as_json, objects_as_json

from .assumptions import assumed_text
from .lock_repairs import documented, lock_repairs


@dataclass(frozen=True)
class Finding:
    """A sentence of a document that a run contradicts, and the changes that make it true.

    Attributes:
        system: the name of the system.
        variant: the name of the variant that violates the property.
        property: the name of the property.
        says: the property in plain words.
        document: the name of the document.
        line: of the document.
        sentence: that line, word for word.
        counterexample: a shortest run that violates the property.
        repair: the changes that repair the property.
        interpretations: the interpretations of the document on which the finding depends.
        assumes: the assumptions on the environment without which the property holds.
        of: of which variant the run is one; "" if it is one of ``variant``.
    """

    system: str
    variant: str
    property: str
    says: str
    document: str
    line: int | None
    sentence: str
    counterexample: Counterexample
    repair: str
    interpretations: tuple[Reading, ...] = ()
    assumes: Mapping[str, bool] = field(default_factory=dict)
    of: str = ""

    def as_json(self) -> dict[str, Any]:
        """The finding as ``findings --json`` prints it."""
        return {
            "system": self.system,
            "variant": self.variant,
            "property": self.property,
            "document": self.document,
            "line": self.line,
            "sentence": self.sentence,
            "setting": facts_as_json(self.counterexample.setting),
            "objects": objects_as_json(self.counterexample.objects),
            "initial": facts_as_json(self.counterexample.initial),
            "trace": [step.as_json() for step in self.counterexample.steps],
            "problem": self.counterexample.problem,
            "end": facts_as_json(self.counterexample.end),
            "repair": self.repair,
            "assumes": dict(self.assumes),
            "of": self.of or self.variant,
            "readings": [
                {
                    "name": r.name,
                    "line": r.line,
                    "question": r.question,
                    "read": r.read,
                    "otherwise": r.otherwise,
                    "why": r.why,
                }
                for r in self.interpretations
            ],
        }

    def text(self) -> list[str]:
        """The finding as lines for a reader."""
        where = self.document if self.line is None else f"{self.document}:{self.line}"
        head = f"{self.property} ({where}, {self.variant})"
        return [head, *self.run_text(), *self.grounds(), f"  Repair: {self.repair}"]

    def grounds(self) -> list[str]:
        """The assumptions and interpretations on which the violation rests, as lines for a reader."""
        assumed = [f"  Assumes: {assumed_text(self.assumes)}. Otherwise the property holds."] if self.assumes else []
        return [*assumed, *(f"  {reading.finding_note}" for reading in self.interpretations)]

    def run_text(self) -> list[str]:
        """The sentence, the property and the run, as lines for a reader."""
        example = self.counterexample
        source = "Source" if self.line is None else "The document"
        lines = [f"  {source}: {self.sentence}"] if self.sentence else []
        lines.append(f"  The property {self.property}: {self.says}")
        if self.of:
            lines.append(f"    A run of {self.of}; {self.variant} violates the property by another:")
        if example.objects:
            lines += ["    Objects:", *(f"      {text}" for text in introduced(example))]
        if example.initial:
            lines.append(f"    Initial state: {initial_state(example)}")
        lines += [f"    {n}. {step.says}" for n, step in enumerate(example.steps, 1)]
        if example.end:
            lines.append(f"    Final state: {example.ending}")
        return [*lines, f"    {example.problem[:1].upper()}{example.problem[1:]}"]


def repair_of(system: System, prop: str, broken: Model | None = None) -> str:
    """The changes that make a property of ``broken`` hold, in the variants' own words.

    The first variant that amends ``broken`` and repairs the property counts; else one that weakens it, else one that has it
    again after another has dropped it, else one that drops it.

    Args:
        broken: the variant that violates the property; the base variant by default.
    """
    broken = system.base if broken is None else broken
    amended = [model for model in system.variants.values() if builds_on(system, model, broken)]
    if not amended and not broken.amends and broken is not system.base:
        return _elsewhere(system, prop, broken)
    for model in amended:
        if why := [change.why for change in model.changes if prop in change.repairs]:
            return f"{' And: '.join(why)} (variant {model.variant})"
    for model in amended:
        if changes := [change for change in model.changes if prop in change.weakens]:
            reasons = " And: ".join(change.why for change in changes)
            names = dict.fromkeys(name for change in changes for name in change.weakens[prop])
            kept = "; ".join(f"{name}: {model.property(name).says}" for name in names)
            return f"the property is weakened. {reasons} What holds is {kept} (variant {model.variant})"
    if broken.amends and keeps(before := system.variants[broken.amends], prop):
        different = " And: ".join(change.why for change in broken.changes)
        return f"the property holds in variant {before.variant}. What is different here: {different}"
    for model in amended:
        if (why := _has_again(model, prop)) and keeps(model, prop):
            return f"{' And: '.join(why)} (variant {model.variant})"
    for model in amended:
        if why := [change.why for change in model.changes if prop in change.drops]:
            return f"none: the property is given up. {' And: '.join(why)} (variant {model.variant})"
    return "none is modelled"


def _has_again(model: Model, prop: str) -> list[str]:
    """Why ``model`` has a property that the variant it amends has dropped; empty if it does not."""
    adding = [
        change
        for change in model.changes
        if any(isinstance(each, Property) and each.name == prop for each in change.adds)
    ]
    return [change.why for change in adding]


def builds_on(system: System, model: Model, broken: Model) -> bool:
    """Whether ``model`` amends ``broken``, or has all of its changes and more."""
    changes, others = ({change.why for change in m.changes} for m in (broken, model))
    return any(amended is broken for amended in system.line(model)[1:]) or (
        model is not broken and bool(changes) and changes < others
    )


def _elsewhere(system: System, prop: str, broken: Model) -> str:
    """The repair for an independent model that no variant amends: another variant of its document may keep the property."""
    for model in system.variants.values():
        if model.document == broken.document and keeps(model, prop):
            return f"no change of this variant is modelled; the property of this name holds in variant {model.variant}"
    return "none is modelled"


def findings(system: System, *, variants: Sequence[str] = ()) -> list[Finding]:
    """The refuted properties that the manifest expects to be refuted, by variant and in document order.

    A violation that an amended variant shares with the variant it amends appears once.

    Args:
        system: the system.
        variants: names of the variants to report; () means all.

    Raises:
        UserError: a name of ``variants`` is unknown.
    """
    require("system", system, System, "a system, for example load_system('hived')")
    require_known("variants", "variant", variants, list(system.variants), of=system.name)
    all_findings = []
    for model in system.variants.values():
        if not variants or model.variant in variants:
            all_findings += sorted([*_of(system, model), *_of_locks(system, model)], key=lambda f: f.line or 0)
    return all_findings


def unviolated(system: System, originals: Sequence[Finding], *, variants: Sequence[str] = ()) -> dict[str, list[str]]:
    """By variant, the properties that it is expected to violate, and of which exploration finds no violation.

    Args:
        system: the system.
        originals: the result of :func:`findings` for the same variants.
        variants: names of the variants; () means all.
    """
    violated = {(each.variant, each.property) for each in originals}
    by_variant = {
        name: sorted(each for each in model.refuted - repeated(system, model) if (name, each) not in violated)
        for name, model in system.variants.items()
        if not variants or name in variants
    }
    return {name: names for name, names in by_variant.items() if names}


def rests_on(system: System, model: Model, prop: str) -> tuple[Reading, ...]:
    """The interpretations without which a property that ``model`` violates would hold."""
    return tuple(each for each in system.interpretations_of(model) if prop in each.rests)


def holds_by(system: System, model: Model, prop: str) -> tuple[Reading, ...]:
    """The interpretations without which a property that ``model`` satisfies would not hold."""
    return tuple(each for each in system.interpretations_of(model) if prop in each.breaks)


def repeated(system: System, model: Model) -> frozenset[str]:
    """The names of the properties that both a variant and the variant it amends are expected to violate."""
    if not model.amends:
        return frozenset()
    return model.refuted & system.variants[model.amends].refuted


def keeps(model: Model, prop: str) -> bool:
    """Whether the variant has a property of that name that is expected to hold."""
    return prop in {p.name for p in model.properties} - model.refuted


def _of(system: System, model: Model) -> list[Finding]:
    names = model.refuted - repeated(system, model)
    if not names:
        return []
    results = model_check(model, {}, only=sorted(names))
    return [
        finding_of(system, model, result)
        for result in results
        if result.name in names and result.verdict is Verdict.REFUTED and result.counterexample is not None
    ]


def property_of(model: Model, name: str) -> Property:
    """The property of that name, also ``well-formed``, which every model has."""
    return WELL_FORMEDNESS if name == WELL_FORMEDNESS.name else model.property(name)


def finding_of(system: System, model: Model, result: Result) -> Finding:
    """The finding of a refuted property of ``model``."""
    prop = property_of(model, result.name)
    assert result.counterexample is not None
    return Finding(
        system.name,
        model.variant,
        prop.name,
        prop.says,
        model.document.name,
        prop.line,
        prop.sentence,
        result.counterexample,
        repair_of(system, prop.name, model),
        rests_on(system, model, prop.name),
        model.assumptions_of(prop.name),
    )


def _of_locks(system: System, model: Model) -> list[Finding]:
    """Findings about a document's locks. Beside what decides their verdict, one with several repairs rests on what the first names."""
    of_locks = []
    repairs = lock_repairs(system, model)
    for each in documented(system, model):
        required = {each.check_of(p.name): p for p in each.properties}
        for answer in each.answers(sorted(each.refuted), lambda line: None) if each.refuted else ():
            prop = required[answer.check.name]
            result = answer.result(prop.name)
            repairing = [repair for repair in repairs if prop.name in repair.properties]
            named = repairing[0].interpretations if repairing else ()
            grounds = {each.name: each for each in (*rests_on(system, model, prop.name), *named)}
            if result.counterexample is not None:
                of_locks.append(
                    Finding(
                        system.name,
                        model.variant,
                        prop.name,
                        prop.says,
                        each.locks.document,
                        prop.line or answer.check.line,
                        prop.sentence,
                        result.counterexample,
                        " And: ".join(repair.why for repair in repairing) or "none is described",
                        tuple(grounds.values()),
                    )
                )
    return of_locks

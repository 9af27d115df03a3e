"""What is wrong with the documents: each promise that a variant breaks, with its shortest run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.systems import System

from .examine import examine
from .verdict import Counterexample, Verdict


@dataclass(frozen=True)
class Finding:
    """A sentence of a document that a run contradicts, and the changes that make it true."""

    system: str
    variant: str
    property: str
    says: str
    document: str
    line: int | None
    sentence: str
    counterexample: Counterexample
    repair: str

    def as_json(self) -> dict[str, Any]:
        """The entry of ``findings --json``."""
        return {
            "system": self.system,
            "variant": self.variant,
            "property": self.property,
            "document": self.document,
            "line": self.line,
            "sentence": self.sentence,
            "trace": [step.as_json() for step in self.counterexample.steps],
            "problem": self.counterexample.problem,
            "repair": self.repair,
        }

    def text(self) -> list[str]:
        """Lines for people."""
        steps = [f"    {n}. {step.says}" for n, step in enumerate(self.counterexample.steps, 1)]
        return [
            f"{self.property} ({self.document}:{self.line}, {self.variant})",
            f"  The document: {self.sentence}",
            f"  The promise: {self.says}. It fails:",
            *steps,
            f"    {self.counterexample.problem}",
            f"  Repair: {self.repair}",
        ]


def repair_of(system: System, prop: str) -> str:
    """All the changes that a property needs, in their own words: those of the first variant that repairs it."""
    for model in system.variants.values():
        if why := [change.why for change in model.changes if prop in change.repairs]:
            return f"{' And: '.join(why)} (variant {model.variant})"
    return "none is modelled"


def findings(system: System, *, variants: Sequence[str] = ()) -> list[Finding]:
    """Every promise that a variant's manifest expects to fail and that does, in document order."""
    found = []
    for model in system.variants.values():
        if not variants or model.variant in variants:
            found += _of(system, model)
    return sorted(found, key=lambda f: (f.variant, f.line or 0))


def _of(system: System, model: Model) -> list[Finding]:
    if not model.refuted:
        return []
    results = examine(model, {}, only=sorted(model.refuted))
    found = []
    for result in results:
        if result.verdict is Verdict.REFUTED and result.counterexample is not None:
            prop = model.property(result.name)
            found.append(
                Finding(
                    system.name,
                    model.variant,
                    prop.name,
                    prop.says,
                    model.document.name,
                    prop.line,
                    prop.sentence,
                    result.counterexample,
                    repair_of(system, prop.name),
                )
            )
    return found

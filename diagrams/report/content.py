"""What a report is about, as data from the rooms below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedproof.diagrams.gallery import Picture
from schedproof.diagrams.player.build import MOST_STEPS
from schedproof.model.lang import Property
from schedproof.model.ledger.ledger import Ledger
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.premises import premise_runs
from schedproof.proofs.verdict import Counterexample, Method, Verdict
from schedproof.proofs.verification.ambiguities import Ambiguity
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.placed import PlacedVerdict
from schedproof.proofs.verification.verify import CheckedProperty

from .earlier import Change


@dataclass(frozen=True)
class SystemContent:
    """A system of a report.

    Attributes:
        system: the system.
        verdicts: of its variants, in the order of ``verify``.
        defects: what is wrong with its documents; None if the report has no findings.
        unclear: what is unclear in them.
        ledger: of its document; None if it has none.
        pictures: as text in DOT and Mermaid.
    """

    system: System
    verdicts: Sequence[PlacedVerdict]
    defects: Sequence[Defect] | None = None
    unclear: Sequence[Ambiguity] = ()
    ledger: Ledger | None = None
    pictures: Sequence[Picture] = ()

    @property
    def variants(self) -> list[str]:
        """The names of the variants that have a verdict."""
        return list(dict.fromkeys(each.model.variant for each in self.verdicts))

    @property
    def has_two_runs(self) -> bool:
        """Whether the report plays two counterexamples or more of the system."""
        return sum(playable(run_of(each)) for each in self.verdicts) > 1

    def properties(self) -> Mapping[str, Sequence[PlacedVerdict]]:
        """The verdicts by the name of the property, one for each variant that has it."""
        by_name: dict[str, list[PlacedVerdict]] = {}
        for each in self.verdicts:
            by_name.setdefault(each.prop.name, []).append(each)
        return by_name

    def defects_of(self, prop: Property, variant: str = "") -> list[Defect]:
        """The defects that violate a property.

        Args:
            prop: the property.
            variant: the variant that has them; "" for any.
        """
        return [
            each
            for each in self.defects or ()
            if any(f.property == prop.name for f in each.findings) and variant in ("", *each.variants)
        ]


@dataclass(frozen=True)
class Content:
    """A report.

    Attributes:
        systems: its systems.
        conclusion: how many verdicts are as expected, in one line.
        data: the verdicts, as ``verify --json`` writes them.
        since: the name of the earlier report; "" for none.
        changes: what changed since the earlier report.
    """

    systems: Sequence[SystemContent]
    conclusion: str
    data: Mapping[str, object]
    since: str = ""
    changes: Sequence[Change] = ()

    def changed(self) -> frozenset[tuple[str, str, str]]:
        """(system, variant, property) of what changed and is still there."""
        return frozenset(each.key for each in self.changes)


def checked_in(verdict: PlacedVerdict) -> CheckedProperty:
    """The checked property of a verdict; of an interrupted ``verify`` there is no report."""
    assert verdict.checked is not None
    return verdict.checked


def word(verdict: PlacedVerdict) -> str:
    """The verdict in one word: proved, holds (at a scope), refuted, undetermined."""
    result = checked_in(verdict).result
    if result.verdict is Verdict.PROVED:
        return "holds" if result.method is Method.EXPLORATION else "proved"
    return str(result.verdict)


def run_of(verdict: PlacedVerdict) -> Counterexample | None:
    """The counterexample of a refuted property; None if there is none."""
    return checked_in(verdict).result.counterexample if verdict.refuted else None


def example_runs(section: SystemContent) -> Mapping[tuple[str, str], Counterexample]:
    """Runs of properties that hold and have no counterexample to play in any variant.

    Returns:
        (variant, property) -> run, for the first variant in which the property holds, if a run is near its initial state.
    """
    by_variant: dict[str, list[PlacedVerdict]] = {}
    for verdicts in section.properties().values():
        holding = [each for each in verdicts if checked_in(each).result.verdict is Verdict.PROVED]
        if holding and not any(playable(run_of(each)) for each in verdicts):
            by_variant.setdefault(holding[0].model.variant, []).append(holding[0])
    return {
        (variant, name): run
        for variant, some in by_variant.items()
        for name, run in premise_runs(some[0].model, [each.prop for each in some]).items()
        if playable(run)
    }


def playable(run: Counterexample | None) -> bool:
    """Whether a page can play a run: it begins in the initial state, and is not too long."""
    return run is not None and run.recorded is not None and len(run.steps) <= MOST_STEPS

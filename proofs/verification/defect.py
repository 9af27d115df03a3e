"""A defect: one mistake of a document or of what was shipped, with all that it violates and what repairs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.model.lang import Reading

from .assumptions import assumed_text
from .findings import Finding


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
        brief: the same, with a few of many names.
        left: why the runs may show another defect as well; "" if all other repairs are in place.
        behaviour: whether the repair changes what happens, and not only a sentence.
        quotes: what is wrong in the document, by line, if it is not the sentence of the clearest of its properties.
    """

    system: str
    variants: tuple[str, ...]
    name: str
    wrong: str
    findings: tuple[Finding, ...]
    repair: str
    cost: str
    brief: str = ""
    left: str = ""
    behaviour: bool = True
    quotes: tuple[tuple[int, str], ...] = ()

    @property
    def line(self) -> int | None:
        """The line of the document that is wrong, or the first of several."""
        return self.quotes[0][0] if self.quotes else self.shown.line

    @property
    def sentences(self) -> tuple[tuple[int | None, str], ...]:
        """What is wrong in the document, by line; () if that is in no sentence."""
        shown = self.shown
        return self.quotes or (((shown.line, shown.sentence),) if shown.sentence else ())

    @property
    def shown(self) -> Finding:
        """The clearest of its runs."""
        return self.findings[0]

    @property
    def interpretations(self) -> tuple[Reading, ...]:
        """The interpretations of the document on which its violations depend; first those of the clearest."""
        return tuple({each.name: each for finding in self.findings for each in finding.interpretations}.values())

    def as_json(self) -> dict[str, Any]:
        """The defect as ``findings --json`` prints it."""
        return {
            "kind": "defect",
            "system": self.system,
            "variants": list(self.variants),
            "name": self.name,
            "wrong": self.wrong,
            "document": self.shown.document,
            "line": self.line,
            "sentence": " ".join(words for _, words in self.sentences),
            "sentences": [{"line": line, "words": words} for line, words in self.sentences],
            "repair": self.repair,
            "cost": self.cost,
            "left": self.left,
            "rests_on": [each.name for each in self.interpretations],
            "findings": [finding.as_json() for finding in self.findings],
        }

    def text(self, *, every: bool = False) -> list[str]:
        """The defect as lines for a reader.

        Args:
            every: with a run of each property, not only with the clearest, and with all that the repair costs.
        """
        shown = self.shown
        where = shown.document if self.line is None else f"{shown.document}:{self.line}"
        lines = [f"{self.name} ({where}, {' and '.join(self.variants)})"]
        if self.wrong:
            lines.append(f"  Wrong: {self.wrong}")
        lines.append(f"  Violates: {', '.join(finding.property for finding in self.findings)}")
        for finding in self.findings if every else self.findings[:1]:
            if self.quotes and finding is shown:
                lines += [f"  The document, line {line}: {words}" for line, words in self.quotes]
                finding = replace(finding, sentence="")
            lines += finding.run_text()
            if every:
                lines += finding.grounds()
        if self.left:
            lines.append(f"  {self.left}")
        if not every:
            lines += [f"  {each}" for each in self.grounds()]
        cost = self.cost if every else self.brief or self.cost
        return [*lines, f"  Repair: {self.repair}", *([f"  Cost: {cost}"] if cost else [])]

    def grounds(self) -> list[str]:
        """The assumptions and interpretations on which its violations rest; one that not all rest on names those that do."""
        assumed: dict[str, list[str]] = {}
        rest: dict[str, list[str]] = {}
        for finding in self.findings:
            if finding.assumes:
                assumed.setdefault(assumed_text(finding.assumes), []).append(finding.property)
            for each in finding.interpretations:
                rest.setdefault(each.name, []).append(finding.property)
        return [
            *(
                f"Assumes{self._for(names)}: {text}. Otherwise the {'property holds' if len(names) == 1 else 'properties hold'}."
                for text, names in assumed.items()
            ),
            *(
                f"Rests on {each.name} (line {each.line}){self._for(rest[each.name])}: {each.question} {each.read}"
                for each in self.interpretations
            ),
        ]

    def _for(self, names: Sequence[str]) -> str:
        """Which of its properties something is about; "" for all."""
        others = [each.property for each in self.findings if each.property not in names]
        if not others:
            return ""
        return f", for {', '.join(names)}" if len(names) <= len(others) else f", for all but {', '.join(others)}"

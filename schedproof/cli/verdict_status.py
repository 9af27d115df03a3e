"""Compares verdicts with the manifest's expectations, and derives the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from schedproof.proofs.verdict import Method, Verdict
from schedproof.proofs.verification.verdict_cache import versions
from schedproof.proofs.verification.verify import CheckedProperty, VariantReport

from .errors import Exit
from .tables import count

EXPECTED = "as expected"
WRONG = "NOT EXPECTED"
OPEN = "UNDETERMINED"


def standing(verdict: Verdict, expected: Verdict) -> str:
    """Whether a verdict is the expected one, in words."""
    if verdict is Verdict.UNDETERMINED:
        return OPEN
    return EXPECTED if verdict is expected else WRONG


def code(standings: Iterable[str]) -> Exit:
    """The exit code for these standings."""
    return Exit.worst({EXPECTED: Exit.OK, WRONG: Exit.DIFFERENT, OPEN: Exit.UNDETERMINED}[s] for s in standings)


def counted(marks: Sequence[str], noun: str) -> tuple[str, str]:
    """Whether all are as expected, and how many are, or are not: ``NOT as expected``, ``1 of 3 checks``."""
    good = sum(mark == EXPECTED for mark in marks)
    if good == len(marks):
        return EXPECTED, f"{good} of {count(len(marks), noun)}"
    return f"NOT {EXPECTED}", f"{len(marks) - good} of {count(len(marks), noun)}"


def of_manifests(marks: Sequence[str]) -> tuple[str, str]:
    """The same of verdicts: ``NOT as expected``, ``1 of 3 verdicts are not what the manifests say``."""
    says, how_many = counted(marks, "verdict")
    verb = "is" if how_many.startswith("1 ") else "are"
    return says, f"{how_many} {verb} {'' if says == EXPECTED else 'not '}what the manifests say"


def standings(reports: Iterable[VariantReport]) -> list[str]:
    """The standing of each verdict."""
    return [standing(j.result.verdict, j.expected) for report in reports for j in report.properties]


def reached(properties: Iterable[CheckedProperty]) -> str:
    """The verdicts, counted by their reach: ``21 proved (any number), 9 refuted, ...``."""
    counts: Counter[tuple[str, str]] = Counter()
    for checked in properties:
        result = checked.result
        if result.verdict is not Verdict.PROVED:
            counts[str(result.verdict), ""] += 1
        elif result.method is Method.EXPLORATION:
            counts["hold", result.reach.removeprefix("holds")] += 1
        else:
            counts[result.reach, ""] += 1
    return ", ".join(f"{n} {'holds' if (what, n) == ('hold', 1) else what}{at}" for (what, at), n in counts.items())


def conclusion(reports: Sequence[VariantReport]) -> str:
    """How many verdicts are as expected, are missing, or come from an earlier run."""
    says, how_many = of_manifests(standings(reports))
    parts = [how_many]
    missing = sum(len(report.missing) for report in reports)
    cached = sum(checked.cached for report in reports for checked in report.properties)
    if missing:
        says = f"INCOMPLETE, {says} so far" if says == EXPECTED else f"INCOMPLETE, {says}"
        parts.append(f"{missing} are missing: interrupted")
    if cached:
        parts.append(f"{cached} cached ({versions()})")
    return f"{says}: {', '.join(parts)}"

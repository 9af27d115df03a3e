"""Writes the generated part of each page on findings: ``python docs/findings.py [SYSTEM ...]``; ``--check`` compares.

It writes the output of ``schedproof findings`` with the pictures of the gallery.
It takes almost a minute for all systems.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from schedproof.api import Defect, System, defects, systems
from schedproof.proofs.verification.ambiguities import ambiguities
from schedproof.proofs.verification.links import linked
from schedproof.proofs.verification.sources import Kind, differences

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "findings" / "generated"
GALLERY = ROOT / "diagrams" / "gallery"

TO_ROOT = "../../.."
"""The path from a generated file to the root."""

INDENT = "    "
"""The indentation of those lines of a finding that are its run."""


def picture(path: Path, text: str) -> list[str]:
    """A picture of the gallery, as Markdown."""
    return [f"![{text}]({TO_ROOT}/{path.relative_to(ROOT).as_posix()})", ""]


def table(all_defects: Sequence[Defect]) -> Iterator[str]:
    """A table of all defects, one on each line."""
    yield from ["| defect | variants | line | properties that it violates |", "|---|---|---|---|"]
    for defect in all_defects:
        line = "" if defect.line is None else str(defect.line)
        violates = ", ".join(finding.property for finding in defect.findings)
        yield f"| [{defect.name}](#{anchor(defect)}) | {', '.join(defect.variants)} | {line} | {violates} |"
    yield ""


def anchor(defect: Defect) -> str:
    """The anchor of a defect's section. It contains the variant, since variants may share a name."""
    return f"finding-{defect.system}-{defect.variants[0]}-{defect.name}".replace(".", "-")


def section(defect: Defect) -> Iterator[str]:
    """A defect with its properties, its clearest run, its repair, and wait-for graphs if there are some."""
    shown = defect.shown
    yield from [f"({anchor(defect)})=", f"### {defect.name}", ""]
    if defect.wrong:
        yield from [f"**{defect.wrong}**", ""]
    for line, sentence in defect.sentences:
        yield from [f"> {sentence}", ">", f"> — {shown.document}, line {line}", ""]
    yield from ["Violated:", ""]
    for finding in defect.findings:
        yield f"- `{finding.property}`: {finding.says}" + (f" (line {finding.line})" if finding.line else "")
    yield from ["", f"A shortest run, for `{shown.property}`:", "", "```text"]
    yield from (line.removeprefix(INDENT) for line in shown.run_text() if line.startswith(INDENT))
    yield from ["```", ""]
    if defect.left:
        yield from [defect.left, ""]
    for line in defect.grounds():
        yield from [line, ""]
    yield from [f"**Repair.** {defect.repair}", ""]
    if defect.cost:
        yield from [f"**Cost.** {defect.cost}.", ""]
    for finding in defect.findings:
        graph = GALLERY / finding.system / finding.variant / f"wait-for-{finding.property}.svg"
        if graph.exists():
            yield from picture(graph, f"Wait-for graph of {finding.property}")


def machines(system: System) -> Iterator[str]:
    """The machines of each variant that the gallery has pictures of."""
    for name, model in system.variants.items():
        drawn = [GALLERY / system.name / name / f"{sort.name}.svg" for sort in model.sorts]
        pictures = [path for path in drawn if path.exists()]
        if pictures:
            yield from [f"### {name}: {model.about}", ""]
            for path in pictures:
                yield from picture(path, f"{path.stem} of {name}")


def words(system: System, all_defects: Sequence[Defect] = ()) -> Iterator[str]:
    """What is unclear in the document: contradictions, silences and interpretations, in the order of their rank."""
    some = linked(ambiguities(system), all_defects)
    if some:
        yield from ["## Where the document is unclear", ""]
        yield from [
            "First that on which most verdicts hang. A silence is an event in a state for which there is no row.",
            "",
        ]
    for each in some:
        head, *rest = each.text(every=True)
        yield f"- **{each.name}**{head.removeprefix(each.name)}"
        yield from (f"  - {line.strip()}" for line in rest)
        yield ""


def rows(system: System) -> Iterator[str]:
    """The table rows in which the text, the figures and the running code differ."""
    for kind in Kind:
        if different := [row for row in differences(system) if row.kind is kind]:
            yield from [f"### Rows: {kind} ({system.validated_by})", ""]
            yield from (f"- {row.text}" for row in different)
            yield ""


def page(system: System) -> str:
    """The generated part of a system's page."""
    all_defects = defects(system)
    lines = [
        f"<!-- python docs/findings.py {system.name} -->",
        "",
        "## All defects",
        "",
        *table(all_defects),
        *(line for defect in all_defects for line in section(defect)),
        *words(system, all_defects),
        *rows(system),
        "## State machines",
        "",
        *machines(system),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def main(arguments: Sequence[str]) -> int:
    """Writes the pages of the named systems, or of all; with ``--check``, lists those that are not fresh.

    Returns:
        The exit code: 1 if ``--check`` finds a page that is not fresh, else 0.
    """
    check = "--check" in arguments
    named = [each for each in arguments if each != "--check"]
    stale = 0
    for name, system in systems().items():
        if named and name not in named:
            continue
        path, text = FOLDER / f"{name}.md", page(system)
        if not check:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            print(f"{path.relative_to(ROOT)} is not fresh: python docs/findings.py {name}")
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

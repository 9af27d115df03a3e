"""The pages on findings, and on limitations: what is written by hand names what the models have; what is generated is fresh."""

from __future__ import annotations

import re
import runpy

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.systems.beaker.configurations import CONFIGURATIONS
from schedproof.model.systems.beaker.phases import PHASES
from schedproof.model.systems.yunikorn import configurations as yunikorn
from schedproof.model.systems.yunikorn_merge import configurations as yunikorn_merge
from schedproof.proofs.verification.auxiliary import Locked, auxiliary
from tests.support.places import ROOT
from tests.support.rows import each_row

DOCS = ROOT / "docs"
GENERATED = "```{include} generated/"
LIMITATIONS = (DOCS / "limitations.md").read_text("utf-8")


def by_hand(system: str) -> str:
    """The part of a page that is written by hand."""
    return (DOCS / "findings" / f"{system}.md").read_text("utf-8").split(GENERATED)[0]


def names(text: str) -> set[str]:
    """The properties that a text names."""
    return set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", text))


@pytest.mark.long(seconds=60, one_in=5)
@pytest.mark.parametrize("system", sorted(systems()))
def test_generated_parts_are_fresh(system: str) -> None:
    """If this fails: python docs/findings.py"""
    generator = runpy.run_path(str(DOCS / "findings.py"))
    text = (generator["FOLDER"] / f"{system}.md").read_text("utf-8")
    assert generator["page"](systems()[system]) == text


@pytest.mark.long
@pytest.mark.parametrize("system", sorted(systems()))
def test_pages_ask_each_question_that_a_document_leaves_open(system: str) -> None:
    of = systems()[system]
    lines = list(runpy.run_path(str(DOCS / "findings.py"))["words"](of))
    assert {line for line in lines if line.startswith("  - Question: ")} == {
        f"  - Question: {each.question}" for each in of.interpretations
    }
    assert {f"  - Wrong: {each.problem}" for each in of.contradictions} <= set(lines)


def test_every_system_has_a_page() -> None:
    pages = {path.stem for path in (DOCS / "findings").glob("*.md")} - {"index"}
    assert pages == set(systems())
    for system in pages:
        assert f"{GENERATED}{system}.md" in (DOCS / "findings" / f"{system}.md").read_text("utf-8")


@each_row("system", sorted(systems()))
def test_generated_parts_have_every_property_that_is_violated(system: str) -> None:
    """A quick check of freshness: what an amendment violates just as its base does is left out of both."""
    text = (DOCS / "findings" / "generated" / f"{system}.md").read_text("utf-8")
    first = systems()[system].base
    shown = set(re.findall(r"^- `([\w.-]+)`: ", text, re.MULTILINE))
    assert first.refuted <= shown


def test_hiveds_page_names_exactly_its_findings() -> None:
    variants = systems()["hived"].variants
    assert names(by_hand("hived")) - set(variants) == variants["as-written"].refuted


def beakers() -> tuple[str, str, str]:
    """What is wrong with the proposal, what with the Beaker that shipped, and how the proposal is repaired."""
    wrong, repaired = by_hand("beaker").split("come down to ten things:")[1].split("\nThe repair is five changes")
    proposed, shipped = wrong.split("`shipped-concurrent` are four:")
    return proposed, shipped, repaired


def number_of_things(text: str) -> int:
    return len(re.findall(r"^- \*\*", text, re.MULTILINE))


def test_beakers_page_names_exactly_its_findings() -> None:
    proposed, shipped, _ = beakers()
    variants = systems()["beaker"].variants
    assert names(proposed) - set(variants) == variants["interleaved"].refuted | variants["concurrent"].refuted
    assert names(shipped) - {"ends-as-its-tasks"} == variants["shipped-concurrent"].refuted
    assert (number_of_things(proposed), number_of_things(shipped)) == (10, 4)


def test_what_is_said_of_the_repaired_proposal() -> None:
    *_, text = beakers()
    repaired = systems()["beaker"].variants["repaired"]
    assert len([change for change in repaired.changes if change.repairs]) == 5
    weakened = {name for change in repaired.changes for name in change.weakens}
    weaker = {name for change in repaired.changes for name in change.weaker}
    assert weaker and not weaker & repaired.refuted
    proved_too = {"sets-begin", "waits-only-for-earlier-sets"}
    assert names(text) - set(systems()["beaker"].variants) == weakened | weaker | proved_too
    kept, required = {p.name for p in repaired.properties}, {p.name for p in systems()["beaker"].base.properties}
    assert required - kept - {p.name for p in PHASES} == weakened
    assert proved_too <= kept - repaired.refuted
    assert "in ten configurations" in text and len(CONFIGURATIONS) == 10


def refined(variant: str) -> int:
    """In how many configurations an implementation is compared with a variant of YuniKorn."""
    return sum(each.variant == variant for each in systems()["yunikorn"].refinements)


def test_what_is_said_of_yunikorn() -> None:
    text, variants = by_hand("yunikorn"), systems()["yunikorn"].variants
    named = names(text) - set(variants)
    assert named and named <= frozenset().union(*(model.refuted for model in variants.values()))
    changes = [change for change in variants["repaired"].changes if change.repairs or change.weakens]
    assert "with sixteen changes" in text and len(changes) == 16
    assert "three of them in a weaker form" in text and sum(len(change.weakens) for change in changes) == 3
    assert "in five configurations" in text and refined("repaired") == 5
    assert "in four more" in text and refined("parties-repaired") == 4


def test_jobmons_page_names_findings_only() -> None:
    variants = systems()["jobmon"].variants
    named = names(by_hand("jobmon")) - set(variants)
    assert len(named) > 20 and named <= frozenset[str]().union(*(each.refuted for each in variants.values()))


def test_counts_on_the_page_of_limitations() -> None:
    assert "Fifteen small configurations of the core are explored, and eleven of core and shim together" in LIMITATIONS
    assert (len(yunikorn.CONFIGURATIONS), len(yunikorn.WITH_SHIM)) == (15, 11)
    assert "Sixteen configurations" in LIMITATIONS and len(yunikorn_merge.CONFIGURATIONS) == 16
    assert "Ten configurations" in LIMITATIONS and len(CONFIGURATIONS) == 10
    assert f"has {len(systems()['yunikorn-merge'].interpretations)} of them" in by_hand("yunikorn-merge")


@pytest.mark.long
def test_what_is_said_of_the_merge() -> None:
    """Every property of the two copies and every rule of the locks that is violated is named, and the numbers are right."""
    text, variants = by_hand("yunikorn-merge"), systems()["yunikorn-merge"].variants
    locked = [each for each in auxiliary(systems()["yunikorn-merge"], variants["merged"]) if isinstance(each, Locked)]
    described = [each for each in locked if each.locks.document]
    broken = {*variants["two-copy"].refuted, *(name for each in described for name in each.refuted)}
    assert broken <= set(re.findall(r"`([\w.-]+)`", text))
    changes = variants["two-copy-repaired"].changes
    assert "and five more" in text and "That no queue overflows is given up." in text
    assert len(changes) == 7 and changes[-1].name == "a-full-queue-has-no-answer" and not changes[-1].adds

"""The pages of a report, each a file of HTML that needs no other."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import jinja2

from schedproof.diagrams.gallery import Picture
from schedproof.diagrams.images import svg
from schedproof.diagrams.layout import layout_scripts
from schedproof.diagrams.layout.graph import graph, legend
from schedproof.diagrams.line_links import LineLinks
from schedproof.diagrams.player.about import about_property
from schedproof.diagrams.player.build import played
from schedproof.diagrams.player.data import About, MachineTable
from schedproof.diagrams.player.machines import picture
from schedproof.diagrams.player.page import DefectNote, embedded, page_of, script_hash
from schedproof.diagrams.player.side_by_side import OfferedRun, side_by_side
from schedproof.model.cited import quote
from schedproof.model.lang import Model
from schedproof.model.ledger.page import html
from schedproof.model.quotes import footnotes
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, initial_state, introduced
from schedproof.proofs.exploration.recorded_run import repeats
from schedproof.proofs.verdict import Counterexample, Verdict
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.findings import Finding, builds_on, property_of
from schedproof.proofs.verification.placed import PlacedVerdict
from schedproof.proofs.verification.replayed import replayed

from . import paths
from .citations import line_links
from .content import Content, SystemContent, checked_in, example_runs, playable, run_of, word
from .earlier import DATA

FOLDER = Path(__file__).parent / "templates"

WORDS = ("proved", "holds", "refuted", "undetermined")
"""The verdicts in one word, as the filter of the overview lists them."""


@dataclass(frozen=True)
class Requirement:
    """What a document requires with a property.

    Attributes:
        document: the name of the document.
        line: of the document; None if the sentence is of another source, such as a fact.
        sentence: that line, or the part that the property is about.
        variants: the variants of which it is the document.
    """

    document: str
    line: int | None
    sentence: str
    variants: tuple[str, ...]


class Site:
    """The pages of a report.

    Args:
        content: what the report is about.
        drawn: whether graphviz can draw pictures; else the pages lay them out.
        report_progress: called with a line on the current page.
    """

    def __init__(self, content: Content, *, drawn: bool, report_progress: Callable[[str], None]) -> None:
        self._content = content
        self._drawn = drawn
        self._report_progress = report_progress
        self._machines: dict[tuple[str, str, int, str], str] = {}
        self._changed = content.changed()

    @cached_property
    def _templates(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(FOLDER),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        environment.globals.update(
            paths=paths,
            word=word,
            playable=playable,
            run_of=run_of,
            words=WORDS,
            css=self._source("report.css"),
            content=self._content,
        )
        environment.filters.update(word=word, zip=zip)
        environment.tests["changed"] = lambda each: (
            (each.model.system, each.model.variant, each.prop.name) in self._changed
        )
        return environment

    def _source(self, name: str) -> str:
        """A style or a script."""
        return (FOLDER / name).read_text("utf-8")

    def pages(self) -> Iterator[tuple[str, str]]:
        """(path, text) of each page, the overview first, then the data.

        Raises:
            DiagramError: a picture cannot be drawn.
        """
        yield (
            paths.INDEX,
            self._render("index.html", paths.INDEX, scripts=(self._source("filter.js"),)),
        )
        files = [paths.INDEX]
        for section in self._content.systems:
            for path, text in self._of_system(section):
                files.append(path)
                yield path, text
        yield DATA, json.dumps({**self._content.data, "files": files}, indent=1) + "\n"

    def _render(self, template: str, path: str, *, scripts: Sequence[str] = (), **values: object) -> str:
        hashes = [script_hash(script) for script in scripts]
        location = paths.PageLocation(path)
        return self._templates.get_template(template).render(
            location=location, scripts=scripts, hashes=hashes, **values
        )

    def _of_system(self, section: SystemContent) -> Iterator[tuple[str, str]]:
        name = section.system.name
        path = paths.system_page(name)
        yield path, self._render("system.html", path, section=section)
        if section.ledger is not None:
            path = paths.document_page(name)
            location = paths.PageLocation(path)
            links = {prop: location.to(paths.property_page(name, prop)) for prop in section.properties()}
            yield path, html(section.system, section.ledger, links=links, trail=_above(location, name))
        if section.defects is not None:
            path = paths.findings_page(name)
            yield path, self._findings(section, path)
        for variant in dict.fromkeys(each.variant for each in section.pictures):
            path = paths.pictures_page(name, variant)
            its = [each for each in section.pictures if each.variant == variant]
            yield path, self._pictures(section, variant, its, path)
        offered: list[OfferedRun] = []
        for prop, verdicts in section.properties().items():
            self._report_progress(f"{name}: page of {prop}")
            path = paths.property_page(name, prop)
            yield path, self._property(section, verdicts, path)
            for each in verdicts:
                if playable(run_of(each)):
                    path = paths.run_page(name, each.model.variant, prop)
                    text, run = self._run(section, each, verdicts)
                    offered.append(run)
                    yield path, text
                elif (example := self._examples[name].get((each.model.variant, prop))) is not None:
                    yield paths.run_page(name, each.model.variant, prop), self._run_of_example(section, each, example)
        if section.has_two_runs:
            path = paths.two_runs_page(name)
            location = paths.PageLocation(path)
            yield path, side_by_side(f"Two runs of {name}, side by side", offered, _above(location, name))
        for defect in section.defects or ():
            played = self._played(section, defect)
            if played is not None:
                path = paths.defect_run_page(name, defect.name, defect.shown.property)
                yield path, self._run_of_defect(section, defect, played, path)

    def _played(self, section: SystemContent, defect: Defect) -> Counterexample | None:
        """The clearest run of a defect as one of the variant that has the defect; None if a page cannot play it."""
        return self._runs_of_defects[section.system.name, defect.name]

    @cached_property
    def _runs_of_defects(self) -> Mapping[tuple[str, str], Counterexample | None]:
        return {
            (section.system.name, defect.name): run_of_variant(section.system, defect.shown)
            for section in self._content.systems
            for defect in section.defects or ()
        }

    @cached_property
    def _examples(self) -> Mapping[str, Mapping[tuple[str, str], Counterexample]]:
        """Name of the system -> runs of properties that hold."""
        runs = {}
        for section in self._content.systems:
            self._report_progress(f"{section.system.name}: runs of properties that hold")
            runs[section.system.name] = example_runs(section)
        return runs

    def _pictures(self, section: SystemContent, variant: str, pictures: Sequence[Picture], path: str) -> str:
        """The pictures of a variant: images of graphviz, or graphs that the page lays out."""
        if self._drawn:
            no_legend: tuple[str, ...] = ()  # the image has it
            shown = [(each, _image(each), "", no_legend) for each in pictures]
            scripts: tuple[str, ...] = ()
        else:
            shown = [(each, "", embedded(graph(each.diagram)), tuple(legend(each.diagram))) for each in pictures]
            scripts = (*layout_scripts(), self._source("pictures.js"))
        return self._render("pictures.html", path, section=section, variant=variant, pictures=shown, scripts=scripts)

    def _property(self, section: SystemContent, verdicts: Sequence[PlacedVerdict], path: str) -> str:
        prop = verdicts[0].prop
        abouts = {
            each.model.variant: about_property(section.system, each.model, checked_in(each), each.prop)
            for each in verdicts
        }
        runs = {
            each.model.variant: "\n".join(counterexample_lines(each.model, run))
            for each in verdicts
            if (run := run_of(each)) is not None
        }
        statements = [
            (entry, number)
            for number, entry in enumerate(section.ledger.statements if section.ledger is not None else (), 1)
            if prop.name in entry.required
        ]
        return self._render(
            "property.html",
            path,
            section=section,
            prop=prop,
            verdicts=verdicts,
            requirements=requirements(verdicts),
            abouts=abouts,
            notes=_notes(abouts),
            quotes=_quotes(verdicts, abouts),
            runs=runs,
            statements=statements,
            defects=section.defects_of(prop),
            examples=self._examples[section.system.name],
            has_example=any(
                (each.model.variant, prop.name) in self._examples[section.system.name] for each in verdicts
            ),
            cited=self._cited(section, path),
            documents={each.model.variant: each.model.document.name for each in verdicts},
        )

    def _findings(self, section: SystemContent, path: str) -> str:
        return self._render(
            "findings.html",
            path,
            section=section,
            played=self._played,
            initial_state=initial_state,
            introduced=introduced,
            quotes=_of_findings(section),
            cited=self._cited(section, path),
            document=section.system.base.document.name,
        )

    def _run(
        self, section: SystemContent, each: PlacedVerdict, verdicts: Sequence[PlacedVerdict]
    ) -> tuple[str, OfferedRun]:
        """The page of a run, and the run for the page that plays two."""
        run = run_of(each)
        assert run is not None  # it is playable
        name, variant = section.system.name, each.model.variant
        path = paths.run_page(name, variant, each.prop.name)
        location = paths.PageLocation(path)
        findings = paths.findings_page(name)
        trail = [
            *_above(location, name),
            (each.prop.name, location.to(paths.property_page(name, each.prop.name))),
        ]
        defects = [
            DefectNote(defect.name, defect.wrong, defect.repair, location.to(findings, paths.file_name(defect.name)))
            for defect in section.defects_of(each.prop, variant)
        ]
        links = line_links(section, location, each.model.document.name)
        data = played(
            each.model,
            run,
            about_property(section.system, each.model, checked_in(each), each.prop),
            each.prop,
            compare_to=repaired(section.system, each, verdicts),
            address=links.address,
        )
        beside = ""
        if section.has_two_runs:
            beside = location.to(paths.two_runs_page(name)) + f"#{paths.run_of_two(variant, each.prop.name)}"
        text = page_of(
            data,
            each.model,
            run,
            each.prop,
            draw=self._machine(variant, name),
            trail=trail,
            links=links,
            beside=beside,
            defects=defects,
        )
        two_runs = paths.PageLocation(paths.two_runs_page(name))
        linked = line_links(section, two_runs, each.model.document.name)
        places = {line: linked.address(int(line)) for line in data.links}
        return text, OfferedRun(
            paths.run_key(variant, each.prop.name), each.prop.name, replace(data, links=places), two_runs.to(path)
        )

    def _run_of_example(self, section: SystemContent, each: PlacedVerdict, run: Counterexample) -> str:
        """The page of a run of a property that holds."""
        name, variant = section.system.name, each.model.variant
        location = paths.PageLocation(paths.run_page(name, variant, each.prop.name))
        trail = [*_above(location, name), (each.prop.name, location.to(paths.property_page(name, each.prop.name)))]
        links = line_links(section, location, each.model.document.name)
        about = about_property(section.system, each.model, checked_in(each), each.prop)
        data = played(each.model, run, about, each.prop, address=links.address, holds=True)
        return page_of(data, each.model, run, draw=self._machine(variant, name), trail=trail, links=links)

    def _run_of_defect(self, section: SystemContent, defect: Defect, run: Counterexample, path: str) -> str:
        name, location, finding = section.system.name, paths.PageLocation(path), defect.shown
        model = section.system.variants[finding.variant]
        known = {each.name: each for each in model.properties}
        trail = [
            *_above(location, name),
            (f"findings: {defect.name}", location.to(paths.findings_page(name), paths.file_name(defect.name))),
        ]
        about = About(
            f"{defect.name} ({name} {model.variant})",
            f"violates {finding.property}",
            finding.says,
            finding.line,
            finding.sentence,
            tuple(line.strip() for line in finding.grounds()),
        )
        prop = known.get(finding.property)
        links = line_links(section, location, model.document.name)
        data = played(model, run, about, prop, address=links.address)
        note = DefectNote(defect.name, defect.wrong, defect.repair, "")
        draw = self._machine(model.variant, name)
        return page_of(data, model, run, prop, draw=draw, trail=trail, links=links, defects=[note])

    def _cited(self, section: SystemContent, path: str) -> Callable[[str], LineLinks]:
        """A function that gives the links from a page to the lines of a document."""
        location = paths.PageLocation(path)
        return cache(lambda document: line_links(section, location, document))

    def _machine(self, variant: str, system: str) -> Callable[[MachineTable, int], str]:
        """A function that draws each machine of a variant once."""

        def draw(table: MachineTable, number: int) -> str:
            key = (system, variant, number, table.sort)
            if key not in self._machines:
                self._machines[key] = picture(table, number)
            return self._machines[key]

        return draw


def _above(location: paths.PageLocation, system: str) -> list[tuple[str, str]]:
    """Text and address of links from a page of a system to the pages above."""
    return [("All systems", location.to(paths.INDEX)), (system, location.to(paths.system_page(system)))]


def _image(picture: Picture) -> str:
    """A picture as the address of an image."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg(picture.dot).encode()).decode()}"


def repaired(system: System, refuted: PlacedVerdict, verdicts: Sequence[PlacedVerdict]) -> Model | None:
    """The first variant that builds on one and has a property that it violates; None if there is none.

    Args:
        system: the system.
        refuted: the violation.
        verdicts: on the same property, by variant.
    """
    for each in verdicts:
        if checked_in(each).result.verdict is Verdict.PROVED and builds_on(system, each.model, refuted.model):
            return each.model
    return None


def run_of_variant(system: System, finding: Finding) -> Counterexample | None:
    """The run of a finding as one of its variant; None if it is one of another, or if a page cannot play it."""
    model, run = system.variants[finding.variant], finding.counterexample
    if finding.of not in ("", finding.variant) or not playable(run):
        return None
    replayed_run = replayed(model, property_of(model, finding.property), run)
    if replayed_run is None and run.recorded is not None and repeats(model, run.recorded):
        return run
    return replayed_run


def requirements(verdicts: Sequence[PlacedVerdict]) -> list[Requirement]:
    """What documents or facts require with a property, each sentence once.

    Args:
        verdicts: on the property, by variant.
    """
    variants: dict[tuple[str, int | None, str], list[str]] = {}
    for each in verdicts:
        document, prop = each.model.document, each.prop
        if prop.line is not None or prop.sentence:
            key = (document.name, prop.line, prop.sentence or quote(document, prop.line))
            variants.setdefault(key, []).append(each.model.variant)
    return [Requirement(*key, tuple(names)) for key, names in variants.items()]


def _notes(abouts: Mapping[str, About]) -> Mapping[str, Sequence[str]]:
    """What verdicts rest on, each with its variants."""
    notes: dict[str, list[str]] = {}
    for variant, about in abouts.items():
        for note in about.notes:
            notes.setdefault(note, []).append(variant)
    return notes


def _quotes(verdicts: Sequence[PlacedVerdict], abouts: Mapping[str, About]) -> list[tuple[str, str]]:
    """The lines and facts that the notes cite, each once, with the name of the document."""
    by_variant = {each.model.variant: each.model for each in verdicts}
    lines = [
        (document.name, line)
        for name, about in abouts.items()
        for document in [by_variant[name].document]
        for line in footnotes(document, about.notes)
    ]
    return list(dict.fromkeys(lines))


def _of_findings(section: SystemContent) -> list[str]:
    """The lines and facts that the findings of a system cite."""
    texts = [line for each in section.defects or () for line in each.text(every=True)]
    texts += [line for each in section.unclear for line in each.text(every=True)]
    return footnotes(section.system.base.document, texts)

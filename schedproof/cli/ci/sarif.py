"""The report of ``verify`` as SARIF 2.1.0, within the limits of GitHub's code scanning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from schedproof import __version__
from schedproof.model.cited import quote
from schedproof.model.lang import Model, Property
from schedproof.model.lang.errors import Place
from schedproof.model.registry.system import System
from schedproof.proofs.exploration.counterexample_text import initial_state
from schedproof.proofs.exploration.counterexample_text import shown as value
from schedproof.proofs.verdict import Counterexample
from schedproof.proofs.verification.placed import PlacedVerdict, placed, rule_name
from schedproof.proofs.verification.placed import shown as shown_verdicts
from schedproof.proofs.verification.properties import properties_of
from schedproof.proofs.verification.verify import VariantReport

from . import sarif_format as s
from .repository import Repository, SourceLine

ROOT = "%SRCROOT%"
"""The name of the repository's root: the one that GitHub knows."""

MOST_RESULTS = 5_000
"""Of the results of a run GitHub stores so many."""

MOST_STEPS = 1_000
"""Of the locations in the code flows of a result it shows so many."""

LONGEST = 1_024
"""The characters of a description that it accepts."""


def sarif(reports: Sequence[VariantReport], systems: Mapping[str, System], repository: Repository) -> Any:
    """The report as an object of JSON.

    A rule is a property of a system, in all its variants. A result is a verdict that is not the expected one
    (``error``), or an expected violation (``note``). What GitHub would not accept is left out; a property ``leftOut`` of
    the run or the result counts it.

    Args:
        systems: the systems of the reports, by name.
    """
    rules = _rules(systems)
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    verdicts = shown_verdicts(reports, systems)
    missing = [each for each in placed(reports, systems) if each.checked is None]
    run = s.Run(
        tool=s.Tool(driver=s.ToolComponent(name="schedproof", version=__version__, rules=tuple(rules))),
        automation_details=s.RunAutomationDetails(id="schedproof/"),
        invocations=(
            s.Invocation(
                execution_successful=not missing,
                tool_execution_notifications=tuple(
                    s.Notification(level="error", message=s.Message(text=f"{each.title}: {each.problem}"))
                    for each in missing
                ),
            ),
        ),
        original_uri_base_ids={ROOT: s.ArtifactLocation(description=s.Message(text="The root of the repository."))},
        column_kind="unicodeCodePoints",
        results=tuple(_result(each, numbers[each.rule], repository) for each in verdicts[:MOST_RESULTS]),
        properties=_left_out("results", len(verdicts) - MOST_RESULTS),
    )
    return msgspec.to_builtins(s.SarifLog(schema=s.SCHEMA, version="2.1.0", runs=(run,)))


def _rules(systems: Mapping[str, System]) -> list[s.ReportingDescriptor]:
    """One for each property; of a property that several variants have, as the first has it."""
    rules: dict[str, s.ReportingDescriptor] = {}
    for system in systems.values():
        for model in system.variants.values():
            for prop in properties_of(system, model, interpretations=True):
                name = rule_name(system.name, prop)
                if name not in rules:
                    rules[name] = _rule(name, model, prop)
    return list(rules.values())


def _rule(name: str, model: Model, prop: Property) -> s.ReportingDescriptor:
    says = prop.says or prop.name
    source = _source(model, prop)
    return s.ReportingDescriptor(
        id=name,
        name=prop.name,
        short_description=s.Message(text=_at_most(says)),
        full_description=s.Message(text=_at_most(f"{says}. {source}" if source else says)),
        help=s.Message(text=f"{says}. {source}" if source else f"{says}."),
        properties={"tags": [model.system, prop.kind]},
    )


def _source(model: Model, prop: Property) -> str:
    """The line of the document that requires a property, with its words."""
    if prop.line is None:
        return ""
    sentence = prop.sentence or quote(model.document, prop.line)
    return f"{model.document.name}, line {prop.line}" + (f": “{sentence}”" if sentence else "")


def _result(verdict: PlacedVerdict, rule_index: int, repository: Repository) -> s.Result:
    model, prop, checked = verdict.model, verdict.prop, verdict.checked
    related = _document(verdict, repository)
    text = f"{_plain(verdict.title)}: {_plain(verdict.problem)}."
    if prop.says:
        text += f" Property: {_plain(prop.says)}."
    if related is not None:
        text += f" Required by [{_plain(f'{model.document.name}, line {prop.line}')}]({related.id})."
    flow, left_out = _flow(verdict, checked.result.counterexample if checked is not None else None, repository)
    about = {"system": model.system, "variant": model.variant, "property": prop.name}
    if checked is not None:
        about |= {"verdict": str(checked.result.verdict), "expected": str(checked.expected)}
    return s.Result(
        rule_id=verdict.rule,
        rule_index=rule_index,
        level="note" if verdict.as_expected else "error",
        message=s.Message(text=text),
        locations=(_location(repository.line(verdict.place)),),
        # By default GitHub makes one of the line: two variants that violate a property would be one alert.
        partial_fingerprints={"primaryLocationLineHash": f"{verdict.fingerprint}:1"},
        code_flows=() if flow is None else (flow,),
        related_locations=() if related is None else (related,),
        properties={**about, **(_left_out("threadFlowLocations", left_out) or {})},
    )


def _document(verdict: PlacedVerdict, repository: Repository) -> s.Location | None:
    """The line of the document that requires the property. A document elsewhere has its name for a location."""
    model, prop = verdict.model, verdict.prop
    if prop.line is None or not model.document.name:
        return None
    at = repository.document(model.document, model.place, prop.line)
    message = s.Message(text=_plain(_source(model, prop)))
    if at is not None:
        return _location(at, id=1, message=message)
    elsewhere = SourceLine(model.document.name, prop.line, True)
    where = s.PhysicalLocation(
        artifact_location=s.ArtifactLocation(uri=elsewhere.uri), region=s.Region(start_line=prop.line)
    )
    return s.Location(id=1, physical_location=where, message=message)


@dataclass(frozen=True)
class _Stop:
    """A place that a counterexample comes through."""

    place: Place
    text: str
    nesting: int = 0


def _flow(verdict: PlacedVerdict, run: Counterexample | None, repository: Repository) -> tuple[s.CodeFlow | None, int]:
    """The steps of a counterexample, and how many places are left out: of a long run the middle."""
    if run is None or not run.steps:
        return None, 0
    stops = list(_stops(verdict, run))
    left_out = max(len(stops) - MOST_STEPS, 0)
    if left_out:
        stops = [*stops[: MOST_STEPS // 2], *stops[-(MOST_STEPS - MOST_STEPS // 2) :]]
    locations = tuple(
        s.ThreadFlowLocation(
            location=_location(repository.line(stop.place), message=s.Message(text=_plain(stop.text))),
            nesting_level=stop.nesting,
            execution_order=number,
            importance="important" if stop.nesting else "essential",
        )
        for number, stop in enumerate(stops)
    )
    begins = s.Message(text=_plain(f"Initial state: {initial_state(run)}")) if run.initial else None
    return s.CodeFlow(message=begins, thread_flows=(s.ThreadFlow(locations=locations),)), left_out


def _stops(verdict: PlacedVerdict, run: Counterexample) -> Iterator[_Stop]:
    """For each step its action, and for each change the action or rule that causes it; at the end the problem."""
    model = verdict.model
    places = {f"action {each.name}": each.place for each in model.actions}
    places |= {f"rule {each.name}": each.place for each in model.rules}
    for number, step in enumerate(run.steps):
        repeats = "From here on for ever: " if run.loops_from == number else ""
        yield _Stop(places.get(f"action {step.action}", verdict.place), f"{repeats}{number + 1}. {step.says}")
        for change in step.changes:
            text = f"{change.object}.{change.field}: {value(change.before)} -> {value(change.after)} ({change.event}, {change.cause})"
            yield _Stop(places.get(change.cause, verdict.place), text, 1)
    yield _Stop(verdict.place, run.problem)


def _location(at: SourceLine, *, id: int | None = None, message: s.Message | None = None) -> s.Location:
    start, end = at.columns or (None, None)
    region = s.Region(start_line=at.line, start_column=start, end_line=at.line, end_column=end)
    artifact = s.ArtifactLocation(uri=at.uri, uri_base_id=ROOT if at.in_repository else None)
    return s.Location(
        id=id, physical_location=s.PhysicalLocation(artifact_location=artifact, region=region), message=message
    )


def _left_out(what: str, number: int) -> dict[str, Any] | None:
    return {"leftOut": {what: number}} if number > 0 else None


def _at_most(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(text: str) -> str:
    """Text without links: in a message of SARIF, ``[...](1)`` is one."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")

"""Repeats the run of a counterexample, and collects what its page shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedproof.diagrams.errors import DiagramError
from schedproof.model.cited import fact, quote
from schedproof.model.lang import Document, Model, Property
from schedproof.model.quotes import cited_lines
from schedproof.model.semantics import Instance, scope_text, stepper_of
from schedproof.proofs.exploration.counterexample_text import shown
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.exploration.run_facts import words
from schedproof.proofs.verdict import Counterexample, RecordedRun

from .cascades import Cascades
from .data import About, Firing, Lane, MachineTable, Played, PlayedStep
from .formulas import Position, formulas
from .machines import tables

MOST_STEPS = 10_000
"""The most steps of a run on a page."""


def played(model: Model, example: Counterexample, about: About, prop: Property | None) -> Played:
    """The data of a page.

    Args:
        example: the run.
        about: what the page says of it.
        prop: the property that the run violates; None for a run that violates none.

    Raises:
        DiagramError: ``example`` is not a run of the model from its initial state, or has more than :data:`MOST_STEPS` steps.
    """
    run = example.recorded
    if run is None:
        raise DiagramError(
            "its counterexample is not a run of the model from the initial state, so a page cannot play it; "
            "leave --html out"
        )
    if len(example.steps) > MOST_STEPS:
        raise DiagramError(
            f"the run has {len(example.steps):,} steps, and a page plays at most {MOST_STEPS:,}; leave --html out"
        )
    instance = instance_of(model, run)
    steps, positions = _repeat(instance, run, example)
    lanes = _lanes(instance, example)
    machines = tables(model, {lane.sort for lane in lanes})
    quotes, facts = cited_texts(model.document, about, steps, machines)
    return Played(
        about,
        model.document.name,
        scope_text(run.sizes),
        example.problem,
        example.loops_from,
        lanes,
        steps,
        formulas(instance, prop, run.bound, positions) if prop is not None else (),
        machines,
        quotes,
        facts,
    )


def _repeat(
    instance: Instance, run: RecordedRun, example: Counterexample
) -> tuple[tuple[PlayedStep, ...], list[Position]]:
    stepper = stepper_of(instance)
    cascades, steps = Cascades(stepper), []
    positions = [Position(instance.initial())]
    for choice, step in zip(run.choices, example.steps, strict=True):
        before = positions[-1].state
        firings: tuple[Firing, ...] = ()
        if step.ill_formed:
            positions.append(Position(before))
        else:
            fired, firings = cascades.firings(before, choice, step.changes)
            positions.append(Position(stepper.apply(before, fired), before, choice, fired))
        steps.append(PlayedStep(step.says, step.action, step.line, step.fact, firings, step.ill_formed))
    return tuple(steps), positions


def _lanes(instance: Instance, example: Counterexample) -> tuple[Lane, ...]:
    """A lane for each object of the run; all objects if the run names none."""
    named = {each.object: each.text for each in example.objects}
    lanes = []
    for sort, objects in instance.describe(instance.initial()).items():
        for name, fields in objects.items():
            if not named or name in named:
                text = named.get(name, f"{words(sort)} {name}")
                lanes.append(Lane(name, sort, text, {field: shown(value) for field, value in fields.items()}))
    return tuple(lanes)


def cited_texts(
    document: Document, about: About, steps: Sequence[PlayedStep], machines: Sequence[MachineTable]
) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of the cited lines and facts that are known."""
    citations = set(_citations(steps, machines)) | {(about.line, "")}
    lines = {line for line, _ in citations if line is not None}
    lines |= {line for note in about.notes for line in cited_lines(note)}
    ids = {key for _, key in citations if key}
    quotes = {str(line): text for line in sorted(lines) if (text := quote(document, line))}
    return quotes, {key: text for key in sorted(ids) if (text := fact(document, key))}


def _citations(steps: Sequence[PlayedStep], machines: Sequence[MachineTable]) -> Iterator[tuple[int | None, str]]:
    for step in steps:
        yield step.line, step.fact
        for firing in step.firings:
            yield firing.line, firing.fact
            yield firing.cause.line, firing.cause.fact
    for machine in machines:
        for row in machine.rows:
            yield row.line, row.fact

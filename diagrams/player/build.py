"""Repeats the run of a counterexample, and collects what its page shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from schedproof.diagrams.errors import DiagramError
from schedproof.model.cited import fact, quote
from schedproof.model.lang import Document, Model, Property
from schedproof.model.quotes import cited_lines
from schedproof.model.semantics import scope_text, stepper_of
from schedproof.proofs.exploration.recorded_run import instance_of
from schedproof.proofs.verdict import Counterexample, RecordedRun

from .branches import branches
from .cascades import Cascades, play
from .comparison import comparison
from .data import About, Comparison, MachineTable, Played, PlayedStep
from .examples import examples
from .formulas import Position, formulas
from .lanes import lanes_among, lanes_of
from .machines import attributes, tables
from .vocabulary import vocabulary

MOST_STEPS = 10_000
"""The most steps of a run on a page."""

DEPTH = 1
"""How many steps a page goes away from its run, unless asked for another number."""


@dataclass(frozen=True)
class OtherRun:
    """A run to show beside another one.

    Attributes:
        model: the model of the run.
        example: the run.
        property: the name of the property that it belongs to.
    """

    model: Model
    example: Counterexample
    property: str


def played(
    model: Model,
    example: Counterexample,
    about: About,
    prop: Property | None,
    *,
    depth: int = DEPTH,
    compare_to: Model | OtherRun | None = None,
    address: Callable[[int], str] | None = None,
    holds: bool = False,
) -> Played:
    """The data of a page.

    Args:
        example: the run.
        about: what the page says of it.
        prop: the property that the run violates, or is an example of; None for a run of no property.
        depth: the most steps away from the run, 0 to 2.
        compare_to: the variant to play the same actions in, beside the run; or another run.
        address: gives the address of a line of the document; "" for none. None: no line has one.
        holds: whether the property holds, and the run is an example.

    Raises:
        DiagramError: ``example`` is not a run of the model from its initial state, or has more than :data:`MOST_STEPS` steps;
            or the other run.
    """
    run = _recorded(example)
    instance = instance_of(model, run)
    cascades = Cascades(stepper_of(instance))
    steps, positions = _repeat(cascades, run, example)
    lanes = lanes_of(instance, {each.object: each.text for each in example.objects})
    enabled = branches(cascades, [position.state for position in positions], run.choices, depth)
    changed = {firing.object for step in enabled.steps for firing in step.firings} - {lane.name for lane in lanes}
    enabled = replace(enabled, lanes=lanes_of(instance, dict.fromkeys(changed, ""))) if changed else enabled
    machines = tables(model, {lane.sort for lane in (*lanes, *enabled.lanes)})
    every_step = (*steps, *enabled.steps)
    quotes, facts = cited_texts(model.document, about, every_step, machines)
    lines = sorted({line for line, _ in _citations(every_step, ()) if line is not None})
    names = {lane.name for lane in lanes}
    shown_formulas = formulas(instance, prop, run.bound, positions, holds=holds) if prop is not None else ()
    known = vocabulary(instance)
    beside: Comparison | None = None
    if isinstance(compare_to, OtherRun):
        beside = _other_run(compare_to, names)
    elif compare_to is not None:
        beside = comparison(instance, run, compare_to, names)
    return Played(
        about,
        model.document.name,
        scope_text(run.sizes),
        example.problem,
        example.loops_from,
        lanes,
        steps,
        shown_formulas,
        machines,
        quotes,
        facts,
        known,
        enabled,
        beside,
        model.variant,
        {str(line): place for line in lines if (place := address(line))} if address is not None else {},
        examples(known, shown_formulas),
        attributes(model, {lane.sort for lane in (*lanes, *enabled.lanes)}),
    )


def _recorded(example: Counterexample) -> RecordedRun:
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
    return run


def _other_run(other: OtherRun, names: Collection[str]) -> Comparison:
    """Another run, with those of its objects that have one of these names."""
    run = _recorded(other.example)
    instance = instance_of(other.model, run)
    steps, _ = _repeat(Cascades(stepper_of(instance)), run, other.example)
    return Comparison(other.model.variant, lanes_among(instance, names), steps, "", other.property)


def _repeat(
    cascades: Cascades, run: RecordedRun, example: Counterexample
) -> tuple[tuple[PlayedStep, ...], list[Position]]:
    steps, positions = [], [Position(cascades.stepper.instance.initial())]
    for choice, step in zip(run.choices, example.steps, strict=True):
        position, played_step = play(cascades, positions[-1].state, choice, step)
        positions.append(position)
        steps.append(played_step)
    return tuple(steps), positions


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

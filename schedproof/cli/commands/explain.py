"""``schedproof explain``: a counterexample, or a shortest run to a state, step by step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.axioms import axiom_lines, axiom_texts
from schedproof.cli.errors import Exit
from schedproof.cli.exclusions import SECONDS, exclusion_as_json, exclusion_lines, exclusion_of
from schedproof.cli.help_text import ending
from schedproof.cli.options import bound_option, json_option, refuse_idle, scope_option, variant_option
from schedproof.cli.output import Destination, OutputFile
from schedproof.cli.premises import ASSUMPTIONS, PREFIX, explain_assumptions, explain_interpretation, is_premise
from schedproof.cli.progress import exploring, progress
from schedproof.cli.run_page import run_page
from schedproof.cli.tables import count
from schedproof.cli.verdict_status import code, standing
from schedproof.diagrams.player.about import about_property
from schedproof.diagrams.player.branches import MOST_DEPTH
from schedproof.diagrams.player.build import DEPTH, OtherRun
from schedproof.diagrams.player.data import About
from schedproof.model.cited import quote
from schedproof.model.lang import (
    BoolType,
    Function,
    Integer,
    IntRange,
    LeadsTo,
    LifeCycle,
    Model,
    Property,
    Ref,
    Relation,
    Type,
)
from schedproof.model.lang.model import MOST_OBJECTS
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.quotes import footnotes
from schedproof.model.registry.errors import UserError, require_known, unknown
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, bounds_of, check_scope, instances, scope_text
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, sequence, shown
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.exploration.runs import counterexample_of
from schedproof.proofs.exploration.witness import witness
from schedproof.proofs.verdict import Counterexample, Method, Result, Verdict, any_number, assuming
from schedproof.proofs.verification.properties import expected, properties_of, property_names
from schedproof.proofs.verification.verify import CheckedProperty, verify_variant


@click.command(
    epilog=ending(
        "explain hived preemption-ongoing",
        "explain hived --state g0=BeingPreempted --state c0.user=none",
        ok="the verdict is the expected one, or the state is reachable",
        different="the verdict is not the expected one, or the state is not reachable",
        undetermined="the verdict is undetermined",
    )
)
@click.argument("system")
@click.argument("property_name", required=False, metavar="[PROPERTY]")
@variant_option("the first that has the property")
@click.option("--state", "state", multiple=True, metavar="OBJECT.FIELD=VALUE",
              help="Show the shortest run to a state with this value; may be repeated.")  # fmt: skip
@scope_option
@bound_option
@click.option("--mermaid", is_flag=True, help="Print a Mermaid sequence diagram.")
@click.option("--html", "html_file", type=OutputFile(), metavar="FILE",
              help="Write a page of HTML that plays the run step by step; - is standard output.")  # fmt: skip
@click.option("--branches", type=click.IntRange(0, MOST_DEPTH), metavar="N",
              help=f"With --html: how many steps the page goes away from the run.  [default: {DEPTH}]")  # fmt: skip
@click.option("--compare-to", metavar="VARIANT[:PROPERTY]",
              help="With --html: show beside the run what the same actions do in this variant, or the run of this property there.")  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(min=0.001), default=SECONDS, show_default=True, metavar="SECONDS",
              help="Stop the search for a clause that excludes a counterexample to induction after this time.")  # fmt: skip
@json_option
def explain(
    system: str,
    property_name: str | None,
    variant: str | None,
    state: tuple[str, ...],
    scope: str | None,
    bounds: tuple[str, ...],
    mermaid: bool,
    html_file: Destination | None,
    branches: int | None,
    compare_to: str | None,
    max_seconds: float,
    json_file: Destination | None,
) -> int:
    """Show the counterexample of a property, or the shortest run to a state.

    If PROPERTY holds, explain lists what was checked: without --scope at the model's scope first, then at that of verify.
    If PROPERTY is not inductive, explain offers a clause that excludes the state before the step, or a run that violates PROPERTY.
    PROPERTY may be interpretation.NAME: explain shows its question, both answers, and which verdicts differ. It may be
    assumptions: explain shows what the model assumes of its environment, and which verdicts rest on that.
    In --state, write a truth value as true or false, a set as c0+c1 or '{c0, c1}', and the empty set or no object as none.
    """
    chosen = choose.system(system)
    if html_file is None:
        refuse_idle(
            {"--branches": branches is not None, "--compare-to": compare_to}, "without --html", "add --html FILE"
        )
    if (property_name is None) == (not state):
        raise UserError(f"PROPERTY, --state: write one of the two; 'schedproof list {system}' lists properties")
    if state:
        choose.require_model(chosen, [choose.variant(chosen, variant)])
    if property_name is not None and is_premise(property_name):
        refuse_idle(
            {"--scope": scope, "--bound": bounds, "--mermaid": mermaid, "--html": html_file}, f"on {property_name}"
        )
    if property_name is not None and property_name.startswith(PREFIX):
        if variant is not None:
            choose.variant(chosen, variant)
        return explain_interpretation(chosen, variant, property_name, json_file)
    having = [m.variant for m in chosen.variants.values() if property_name in property_names(chosen, m)]
    model = scopes.bounded(choose.variant(chosen, variant or (having[0] if having else None)), bounds)
    sizes = scopes.scope(model, scope)
    compared = _named(chosen, compare_to) if compare_to is not None else None
    if compared is not None and (compared.model.variant, compared.property) in (
        (model.variant, ""),
        (model.variant, property_name),
    ):
        raise UserError(
            f"--compare-to: the run is of {model.variant}; name another variant or property, or leave it out"
        )
    outputs = _Outputs(mermaid, html_file, json_file, DEPTH if branches is None else branches, compared, max_seconds)
    if property_name is None:
        return _explain_state(chosen, model, sizes, state, outputs)
    if property_name == ASSUMPTIONS:
        return explain_assumptions(chosen, model, json_file)
    if property_name not in property_names(chosen, model):
        _refuse_defect(chosen, property_name)
    scopes.properties([(chosen, model)], [property_name])
    both = [sizes] if scope is not None else [sizes, check_scope(model, model.verify_scope)]
    return _explain_property(chosen, model, both, property_name, outputs)


@dataclass(frozen=True)
class _Compared:
    """What ``--compare-to`` names: a variant, or a property of one."""

    model: Model
    property: str

    def beside(self, system: System) -> Model | OtherRun:
        """What the page shows beside the run.

        Raises:
            UserError: the property has no run.
        """
        if not self.property:
            return self.model
        attempts = [scopes.scope(self.model, None), check_scope(self.model, self.model.verify_scope)]
        checked = _checked_property(system, self.model, attempts, self.property)
        run = checked.result.counterexample
        if run is None and checked.result.verdict is Verdict.PROVED:
            run = _witness(
                self.model, attempts, next(p for p in properties_of(system, self.model) if p.name == self.property)
            )
        if run is None or run.recorded is None:
            what = f"{self.property} of {self.model.variant} has no run to play, since it is {checked.reach}"
            raise UserError(f"--compare-to: {what}; name a property that is refuted there")
        return OtherRun(self.model, run, self.property)


def _named(system: System, text: str) -> _Compared:
    """What VARIANT or VARIANT:PROPERTY names.

    Raises:
        UserError: there is no such variant or property.
    """
    variant, _, name = (text, "", "") if text in system.variants else text.partition(":")
    model = choose.variant(system, variant)
    if ":" in text and text not in system.variants:
        require_known(
            "--compare-to", "property", [name], property_names(system, model), of=f"{system.name} {model.variant}"
        )
    return _Compared(model, name)


def _refuse_defect(system: System, name: str) -> None:
    """Refuses the name of a defect, as ``findings`` prints it: names the properties that it violates."""
    changes = [change for model in system.variants.values() for change in model.changes if change.name == name]
    if violated := list(dict.fromkeys(each for change in changes for each in change.repairs)):
        raise UserError(f"{name} is a defect, not a property; explain what it violates: {', '.join(violated)}")


@dataclass(frozen=True)
class _Outputs:
    """Where the result goes besides standard output, whether it is a Mermaid diagram there, what a page shows besides the run, and how
    long a clause is looked for.
    """

    mermaid: bool
    html: Destination | None
    json: Destination | None
    depth: int
    compared: _Compared | None
    max_seconds: float

    def beside(self, system: System) -> Model | OtherRun | None:
        """What a page shows beside the run."""
        return self.compared.beside(system) if self.compared is not None else None

    @property
    def use_stdout(self) -> bool:
        """Whether a file's content goes to standard output, in place of the text."""
        return any(file is not None and file.is_stdout for file in (self.html, self.json))


def _checked_property(
    system: System, model: Model, attempts: Sequence[Mapping[str, int]], name: str
) -> CheckedProperty:
    """The verdict on a property, refuted at the smallest scope; the arguments are those of :func:`_explain_property`."""
    with progress("explain") as report_progress:
        # A refutation needs no induction, and exploration finds the shortest. Auxiliary properties are not explored.
        only = [each for each in (WELL_FORMED, *(p.name for p in model.properties)) if each == name]
        how = Exploring(progress=exploring(report_progress))
        explored = [r for r in model_check(model, attempts[0], only=only, how=how) if r.name == name] if only else []
        if explored and explored[0].verdict is Verdict.REFUTED:
            return CheckedProperty(explored[0], expected(system, model, name), assumes=model.assumptions_of(name))
        report = verify_variant(system, model, scope=attempts[-1], only=[name], progress=report_progress)
        return next(j for j in report.properties if j.result.name == name)


def _explain_property(
    system: System, model: Model, attempts: Sequence[Mapping[str, int]], name: str, outputs: _Outputs
) -> int:
    """Explains a property.

    Args:
        attempts: a small scope, at which a counterexample is easiest to read, then the one at which ``verify`` explores.
    """
    sizes = attempts[-1]
    checked = _checked_property(system, model, attempts, name)
    result = checked.result
    prop = next(p for p in properties_of(system, model) if p.name == name)
    about = about_property(system, model, checked, prop)
    head = [
        f"{about.title}: {about.verdict}",
        *([f"Property: {prop.says}."] if prop.says else []),
    ]
    if prop.line is not None:
        requirement = prop.sentence or quote(model.document, prop.line)
        head.append(
            f"Document: {model.document.name}, line {prop.line}" + (f': "{requirement}"' if requirement else "")
        )
    elif prop.sentence:
        head += [f"Source: {prop.sentence}", *footnotes(model.document, [prop.sentence])]
    if result.note:
        head.append(f"Note: {result.note}.")
    head += [*about.notes, *footnotes(model.document, about.notes)]
    example = result.counterexample
    run = _witness(model, attempts, prop) if result.verdict is Verdict.PROVED else None
    exclusion = exclusion_of(model, result, outputs.max_seconds)
    if outputs.html is not None:
        played = example or run
        if played is None:
            raise UserError(f"--html: {name} has no run to play, since it is {checked.reach}; leave --html out")
        outputs.html.write(
            run_page(
                model,
                played,
                about,
                prop if example is not None else None,
                depth=outputs.depth,
                compare_to=outputs.beside(system),
            )
        )
    if outputs.json is not None:
        axioms = {"axioms": axiom_texts(model)} if _is_induction(result) and model.premises else {}
        outputs.json.write_json({"system": model.system, "variant": model.variant, "says": prop.says,
                              "document": model.document.name, "line": prop.line, "sentence": prop.sentence,
                              **checked.as_json(), **axioms, **({"witness": run.as_json()} if run else {}),
                              **({"exclusion": exclusion_as_json(exclusion)} if exclusion else {})})  # fmt: skip
    if not outputs.use_stdout:
        behind = [*_checked(model, sizes, checked), *_fairness(prop, result)]
        if run is not None:
            head += [*behind, "", "A shortest run of one object:"]
        _print(model, head, example or run, outputs.mermaid, f"{model.system} {model.variant}: {name}", behind)
        if exclusion is not None and not outputs.mermaid:
            click.echo("\n".join(["", *exclusion_lines(model, name, exclusion)]))
    violated = exclusion is not None and exclusion.violation is not None and exclusion.violation.prop == name
    return code([standing(Verdict.REFUTED if violated else result.verdict, checked.expected)])


CHECKED = {
    "invariant": "no reachable state violates it",
    "invariant at a scope": "no reachable state violates it",
    "step invariant": "no step from a reachable state violates it",
    "step invariant at a scope": "no step from a reachable state violates it",
    "recovery": "no crash in a reachable state violates it",
    "well-formedness": "every step from a reachable state is well-formed",
    "refinement": "the scheduler, killed at every point, and the model side by side: the two graphs are the same",
    "can happen": "a run was found on which some object goes through these states",
    "deadlock freedom": "in every reachable state an action is enabled, or the condition `ended` holds",
    "always can reach": "from every reachable state that satisfies the premise, some run reaches the goal",
    "leads to": "every fair run from a reachable state that satisfies the premise reaches the goal",
}
"""What exploration found out about a property of each kind that holds."""

OF_STEPS = {"step invariant", "recovery", "well-formedness"}
"""The kinds of properties that say nothing of the initial state."""


def _witness(model: Model, attempts: Sequence[Mapping[str, int]], prop: Property) -> Counterexample | None:
    """A run of a life cycle that can happen, at the smallest scope that has one; None if the search takes too long."""
    if not isinstance(prop, LifeCycle):
        return None
    with progress("explain") as report_progress:
        report_progress(f"{model.system} {model.variant}: looking for a run")
        runs = (
            witness(instance, prop) for sizes in attempts for instance in instances(model, sizes, with_history=True)
        )
        return next((run for run in runs if run is not None), None)


def _fairness(prop: Property, result: Result) -> list[str]:
    """What a property about fair runs assumes."""
    if not isinstance(prop, LeadsTo) or result.verdict is not Verdict.PROVED:
        return []
    kinds = (("weak", prop.weak), ("strong", prop.strong), ("without", prop.without))
    assumed = [f"{kind} {', '.join(names)}" for kind, names in kinds if names]
    return [f"  fairness that it assumes: {'; '.join(assumed) or 'none'}"]


def _is_induction(result: Result) -> bool:
    """Whether the result is a proof by induction."""
    return result.verdict is Verdict.PROVED and result.method is Method.INDUCTION


def _checked(model: Model, sizes: Mapping[str, int], checked: CheckedProperty) -> list[str]:
    """What stands behind a verdict that comes without a counterexample."""
    result = checked.result
    if result.verdict is not Verdict.PROVED or result.method is Method.CONSTRUCTION:
        return []
    at = scope_text(result.scope or sizes)
    if result.within:
        at += f" within {result.within}"
    elif _is_induction(result) and model.bounded:
        at += " within the bounds of its integers and sequences"
    elif _is_induction(result) and any(sort.disposable for sort in model.sorts):
        at += " within the numbers of objects at a time"
    what = CHECKED.get(result.kind, "every reachable state and step, and none violates it")
    if result.within and result.kind == LeadsTo.kind:
        what += ", if it does not go beyond that"
    lines = [f"  exploration at {at}: {what}"]
    if _is_induction(result):
        number = any_number(result.bounds, "any number of objects") + assuming(result.assuming)
        begins = "" if result.kind in OF_STEPS else "it is true at the start, and "
        lines.append(f"  induction: {begins}no step of any action violates it, for {number}")
        lines += [f"  invariants that the induction uses: {', '.join(result.lemmas)}"] if result.lemmas else []
        lines += [f"  {line}" for line in axiom_lines(model)]
    return ["What was checked:", *lines]


def _explain_state(
    system: System, model: Model, sizes: Mapping[str, int], conditions: Sequence[str], outputs: _Outputs
) -> int:
    at = scope_text(sizes)
    title = f"{model.system} {model.variant} at {at}: " + ", ".join(conditions)
    nearest: tuple[Exploration, int] | None = None
    within = ""
    with progress("explain") as report_progress:
        for instance, slots in _askable(model, sizes, conditions):
            exploration = explore(instance, symmetry=False, progress=exploring(report_progress))
            within = within or (bounds_of(instance).text if exploration.frontier_count else "")
            number = next((n for n, s in enumerate(exploration.states) if all(s[slot] == v for slot, v in slots)), None)
            if number is not None and (nearest is None or exploration.depths[number] < nearest[0].depths[nearest[1]]):
                nearest = exploration, number
    if nearest is not None:
        exploration, number = nearest
        path = exploration.path(number)
        example = counterexample_of(
            exploration.instance, path, f"after {count(len(path), 'step')} the state is as requested"
        )
        state = exploration.instance.describe(exploration.states[number])
        return _print_state(system, model, title, conditions, example, state, outputs)
    if outputs.html is not None:
        raise UserError(
            "--html: no state that is reachable at this scope satisfies this; leave --html out, or choose a larger scope"
        )
    data = {"system": model.system, "variant": model.variant, "scope": dict(sizes), "reachable": False}
    if outputs.json is not None:
        outputs.json.write_json(data)
    if not outputs.use_stdout:
        reachable, more = (
            f"reachable at this scope{f' within {within}' if within else ''}",
            "a larger scope may have one",
        )
        if within:
            more = "a greater bound or a larger scope may have one"
        click.echo(f"{title}: no state that is {reachable} satisfies this; {more}")
    return Exit.DIFFERENT


def _askable(
    model: Model, sizes: Mapping[str, int], conditions: Sequence[str]
) -> list[tuple[Instance, list[tuple[int, int]]]]:
    """The configurations that have what the wishes name, and where in a state each wish looks.

    Raises:
        UserError: no configuration has it, or a wish is of another form.
    """
    askable: list[tuple[Instance, list[tuple[int, int]]]] = []
    problem: tuple[int, UserError] | None = None
    for instance in instances(model, sizes, with_history=True):
        try:
            askable.append((instance, [_slot(instance, text) for text in conditions]))
        except UserError as error:
            objects = sum(instance.sizes.values())
            if problem is None or objects > problem[0]:  # the largest says best what there is
                problem = objects, error
    if not askable and problem is not None:
        raise problem[1]
    return askable


ONLY_THESE = "what --state leaves out may have any value; that this state is reachable violates no property"
"""A run to a part of a counterexample to induction is not a run to all of it."""


def _print_state(
    system: System,
    model: Model,
    title: str,
    conditions: Sequence[str],
    example: Counterexample,
    state: Mapping[str, Any],
    outputs: _Outputs,
) -> int:
    if outputs.html is not None:
        outputs.html.write(
            run_page(model, example, About(title), depth=outputs.depth, compare_to=outputs.beside(system))
        )
    data = {"system": model.system, "variant": model.variant, "reachable": True, "state": state, **example.as_json()}
    if outputs.json is not None:
        outputs.json.write_json(data)
    if not outputs.use_stdout:
        values = "this value" if len(conditions) == 1 else "these values"
        head = [f"{title}: a shortest run to a state with {values}", f"Note: {ONLY_THESE}."]
        _print(model, head, example, outputs.mermaid, title, [])
    return Exit.OK


def _print(
    model: Model, head: list[str], example: Counterexample | None, mermaid: bool, title: str, otherwise: list[str]
) -> None:
    if example is None:
        click.echo("\n".join([*head, *otherwise]))
    elif mermaid:
        click.echo(sequence(model, title, example), nl=False)
    else:
        click.echo("\n".join([*head, "", *counterexample_lines(model, example)]))


def _wish(value: object) -> str:
    """A value as ``--state`` writes it: sets as ``c0+c1``, since shells have their own use for braces."""
    return "+".join(map(str, value)) or "none" if isinstance(value, list) else shown(value)


def _slot(instance: Instance, text: str) -> tuple[int, int]:
    """Where in a state a wish looks, and the value that it wants there."""
    match = re.fullmatch(r"\s*(\w+)(?:\.(\w+))?\s*=\s*(.*?)\s*", text, re.DOTALL)
    if match is None:
        raise UserError(
            f"--state: {text!r} is not of the form OBJECT.FIELD=VALUE; write, for example, --state g0.state=Pending"
        )
    name, field, value = match[1], match[2] or "state", match[3]
    for machine in instance.model.machines:
        names = list(instance.object_names(machine.sort.name))
        if name not in names:
            continue
        sort = machine.sort.name
        fields = (["state"] if machine.states else []) + [a.name for a in instance.attributes(sort)]
        if any(a.name == field and a.rigid for a in machine.attributes):
            value_there = "which a configuration gives, so no run changes it"
            raise UserError(f"--state: {name}.{field} is rigid, {value_there}; leave it out, or name another object")
        if field not in fields:
            raise unknown(f"field of {name}", field, fields)
        if field == "state" and machine.states:
            states = [s.name for s in machine.states]
            if value not in states:
                raise unknown(f"state of {name}", value, states)
            return instance.slot(sort) + names.index(name), states.index(value)
        attribute = next(a for a in instance.attributes(sort) if a.name == field)
        if isinstance(attribute.type, Integer):
            if not re.fullmatch("[+-]?[0-9]{1,15}", value):
                raise UserError(
                    f"--state: {name}.{field} is a number, not {value!r}; write, for example, {name}.{field}=3"
                )
            return instance.slot(sort, field) + names.index(name), int(value)
        if isinstance(attribute.type, Relation):
            return instance.slot(sort, field) + names.index(name), _relation(instance, attribute.type, text, value)
        if isinstance(attribute.type, Function):
            return instance.slot(sort, field) + names.index(name), _function(instance, attribute.type, text, value)
        if isinstance(attribute.type, SequenceType):
            return instance.slot(sort, field) + names.index(name), _sequence(instance, attribute.type, text, value)
        values = {_wish(instance.show(attribute.type, v)): v for v in instance.domain(attribute.type)}
        if isinstance(attribute.type, Ref):
            values["none"] = instance.read(attribute.type, None)
        value_name = re.sub(r"[{}\s]", "", value).replace(",", "+") or "none"
        if value_name not in values:
            raise UserError(
                f"{unknown(f'value of {name}.{field}', value, list(values)[:12])}{_larger(instance, value)}"
            )  # a name, if it is a reference
        return instance.slot(sort, field) + names.index(name), values[value_name]
    every = [n for m in instance.model.machines for n in instance.object_names(m.sort.name)]
    raise UserError(f"{unknown('object', name, every)}{_larger(instance, name)}")


def _relation(instance: Instance, kind: Relation, text: str, value: str) -> int:
    """A relation as ``--state`` writes it: ``(k0, c0)+(k1, c0)``."""
    tuples = re.findall(r"\(([^()]*)\)", value)
    try:
        if "+".join(f"({each})" for each in tuples) != re.sub(r"\s*\+\s*", "+", value.replace("none", "")):
            raise ValueError(f"{value!r} is not of the form (A, B)+(C, D)")
        return instance.read(kind, [[name.strip() for name in each.split(",")] for each in tuples])
    except ValueError as error:
        first = ", ".join(instance.object_names(of.name)[0] for of in kind.sorts)
        field = text.partition("=")[0].strip()
        raise UserError(f"--state: {error}; write, for example, --state '{field}=({first})'") from None


def _function(instance: Instance, kind: Function, text: str, value: str) -> int:
    """A function as ``--state`` writes it: ``(n1: 2)+(n2: 1)``; everywhere else it has the first value of its type."""
    entries = re.findall(r"\(([^():]*):([^():]*)\)", value)
    try:
        if "+".join(f"({at}:{one})" for at, one in entries) != re.sub(
            r"\s*\+\s*", "+", value.replace("none", "") if not entries else value
        ):
            raise ValueError(f"{value!r} is not of the form (A: value)+(B: value)")
        listed = [([name.strip() for name in at.split(",")], _plain(kind.to, one.strip())) for at, one in entries]
        return instance.read(kind, [[at if len(kind.sorts) > 1 else at[0], one] for at, one in listed])
    except ValueError as error:
        first = ", ".join(instance.object_names(of.name)[0] for of in kind.sorts)
        field = text.partition("=")[0].strip()
        raise UserError(f"--state: {error}; write, for example, --state '{field}=({first}: value)'") from None


def _sequence(instance: Instance, kind: SequenceType, text: str, value: str) -> int:
    """A sequence as ``--state`` writes it: ``[1+2+2]``, the first item first."""
    try:
        if not (inside := re.fullmatch(r"\[(.*)\]", value)):
            raise ValueError(f"{value!r} is not of the form [first+second]")
        items = [item.strip() for item in inside[1].split("+")] if inside[1].strip() else []
        return instance.read(kind, [_plain(kind.of, item) for item in items])
    except ValueError as error:
        field = text.partition("=")[0].strip()
        raise UserError(f"--state: {error}; write, for example, --state '{field}=[first+second]'") from None


def _plain(kind: Type, text: str) -> object:
    """A value of a function or an item of a sequence, from the command line."""
    match kind:
        case IntRange() | Integer() if re.fullmatch("[+-]?[0-9]{1,15}", text):
            return int(text)
        case BoolType() if text in ("true", "false"):
            return text == "true"
        case Ref() if text == "none":
            return None
    return text


def _larger(instance: Instance, name: str) -> str:
    """How to explore so many objects that ``name`` is one of them; empty if no sort's objects have such names."""
    for machine in instance.model.machines:
        number = name.removeprefix(machine.sort.short)
        if number != name and number.isdecimal() and int(number) < MOST_OBJECTS:
            return f", or explore more objects: --scope {machine.sort.name}={int(number) + 1}"
    return ""

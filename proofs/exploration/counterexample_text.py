"""Counterexamples and other runs as text: numbered steps in plain words, or a Mermaid sequence diagram."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from schedproof.model.lang import Action, BoolType, Model
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.quotes import footnotes
from schedproof.model.semantics.reasons import value_text
from schedproof.proofs.verdict import Counterexample, FieldChange, TraceStep

from .run_facts import words

ENVIRONMENT = "environment"
"""The participant of a sequence diagram for actions of which the model names no actor."""


def shown(value: object) -> str:
    """A value as counterexamples show it."""
    return value_text(value)


def cited(line: int | None, fact: str = "") -> str:
    """``, line 12`` of the model's document, or ``, fact 1.2``, or the empty string."""
    return f", line {line}" if line is not None else f", fact {fact}" if fact else ""


def counterexample_lines(model: Model, counterexample: Counterexample) -> list[str]:
    """``counterexample`` as lines of text.

    They contain the objects, the initial state, a paragraph for each step, and the violated property. Definitions of terms
    and quotations of the cited document lines follow.
    """
    lines = [*_before(counterexample)]
    for number, step in enumerate(counterexample.steps):
        if counterexample.loops_from == number:
            lines.append(f"From here, steps {number + 1} to {len(counterexample.steps)} repeat for ever:")
        lines += step_lines(model, number + 1, step)
    if counterexample.steps and counterexample.objects:
        lines.append("")
    if counterexample.end:
        lines.append(f"Final state: {counterexample.ending}.")
    first, *rest = counterexample.problem.splitlines() or [""]
    lines += [_capitalised(first) + ("" if rest else "."), *rest]
    for block in (_block("Terms:", _terms(model, counterexample)), footnotes(model.document, lines)):
        lines += ["", *block] if block else []
    return lines


def _capitalised(sentence: str) -> str:
    """The sentence with a capital letter, unless it begins with the name of an object or of a file."""
    return f"{sentence[:1].upper()}{sentence[1:]}" if re.match(r"[a-z]+ ", sentence) else sentence


def indented(lines: Sequence[str]) -> str:
    """Lines as an indented block."""
    return "\n".join(f"  {line}".rstrip() for line in lines)


def introduced(counterexample: Counterexample) -> list[str]:
    """The objects of a run, one line each; objects without rigid facts share a line."""
    plain = [each.text for each in counterexample.objects if not each.fields]
    return [*([", ".join(plain)] if plain else []), *(each.text for each in counterexample.objects if each.fields)]


def initial_state(counterexample: Counterexample) -> str:
    """The fields of a run's objects in the initial state, in one line; objects with equal fields share them."""
    alike: dict[str, list[str]] = {}
    for each in counterexample.initial:
        alike.setdefault(each.text, []).append(each.object)
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in alike.items())


def _before(counterexample: Counterexample) -> Iterator[str]:
    """The lines before the first step."""
    if counterexample.start is not None:
        yield "From this state, which no assumed invariant excludes:"
        sorts = {each.object: each.sort for each in counterexample.objects}
        for line in objects(counterexample.start):
            yield f"    {words(sorts.get(line.partition(':')[0], ''))} {line}".replace("     ", "    ")
        return
    yield from _block("Objects:", introduced(counterexample))
    if counterexample.initial:
        yield f"Initial state: {initial_state(counterexample)}."
    if counterexample.objects and counterexample.steps:
        yield ""


def _block(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"    {line}" for line in lines)] if lines else []


def _terms(model: Model, counterexample: Counterexample) -> list[str]:
    """Definitions of the run's states and fields that have one, except rigid switches, whose text appears already."""
    used: set[tuple[str, object]] = set()
    for change in (c for step in counterexample.steps for c in step.changes):
        sort = change.event.partition(".")[0]
        used |= {(sort, change.field), *((sort, str(value)) for value in (change.before, change.after))}
    for each in (*counterexample.objects, *counterexample.initial, *counterexample.end):
        fields = {**each.fields, **(counterexample.start or {}).get(each.object, {})}
        used |= {(each.sort, name) for name in [*fields, fields.get("state")]}
    lines = []
    for machine in model.machines:
        says_itself = {a.name for a in machine.attributes if a.rigid and isinstance(a.type, BoolType)}
        defined = {**{s.name: s.about for s in machine.states}, **{a.name: a.about for a in machine.attributes}}
        sort = machine.sort.name
        lines += [
            f"{name} ({words(sort)}): {about}"
            for name, about in defined.items()
            if about and (sort, name) in used and name not in says_itself
        ]
    return lines


def objects(state: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a state, one for each object; ``state`` is flat or by sort."""
    for name, fields in state.items():
        if any(isinstance(value, Mapping) for value in fields.values()):
            yield from objects(fields)
        else:
            yield f"{name}: " + ", ".join(f"{field} {shown(value)}" for field, value in fields.items())


def step_lines(model: Model, number: int, step: TraceStep) -> list[str]:
    """The lines of one step: its action, and each changed field with its event, rule and document line."""
    if step.action == step.says:  # a step of a lock file, not an action of the model
        return [f"{number:2}. {step.says}"]
    lines = [f"{number:2}. {step.says}  [action {step.action}{cited(step.line, step.fact)}]"]
    cells = [
        (
            f"{c.object}.{c.field}",
            f"{shown(c.before)} -> {shown(c.after)}",
            f"{c.event}, {c.cause}{cited(c.line, c.fact)}",
        )
        for c in step.changes
    ]
    wide = [max(len(cell[i]) for cell in cells) for i in (0, 1)] if cells else [0, 0]
    lines += [f"      {a:{wide[0]}}  {b:{wide[1]}}  {c}" for a, b, c in cells]
    if cells:
        return lines
    return [*lines, f"      {'this step is ill-formed: no state follows it' if step.ill_formed else 'nothing changes'}"]


def sequence(model: Model, title: str, counterexample: Counterexample) -> str:
    """A Mermaid sequence diagram: the events between objects, and the fields that they change.

    An arrow starts at the object whose event a rule carries on, if the step has exactly one such object. Other arrows,
    including those of actions, start at who takes the action (``Action.by``).
    """
    actors = dict.fromkeys(_actor(model, step) for step in counterexample.steps)
    objects_named = {name for name, is_object in actors if is_object}
    components = [name for name, is_object in actors if not is_object] or ([] if actors else [ENVIRONMENT])
    order = _objects(model, counterexample, objects_named)
    lines = ["---", f'title: "{_plain(title)}"', "---", "sequenceDiagram"]
    lines += [f"    participant {_id(name)}{f' as {_plain(name)}' if _id(name) != name else ''}" for name in components]
    lines += [f"    participant {name}" for name in order]
    everybody = [*map(_id, components), *order]
    across = everybody[0] if len(everybody) == 1 else f"{everybody[0]},{everybody[-1]}"
    if counterexample.start is not None:
        for line in objects(counterexample.start):
            name, _, fields = line.partition(": ")
            if name in order:
                lines.append(f"    Note over {name}: {_plain(fields)}")
    for facts in counterexample.setting:
        if facts.object in order:
            lines.append(f"    Note over {facts.object}: {_plain(facts.text)}")
    for number, step in enumerate(counterexample.steps):
        if counterexample.loops_from == number:
            lines.append("    loop for ever")
        lines.append(f"    Note over {across}: {number + 1}. {_plain(step.says)}")
        lines += _arrows(model, step)
    if counterexample.loops_from is not None:
        lines.append("    end")
    closing = f"{counterexample.problem}<br/>{counterexample.ending}" if counterexample.end else counterexample.problem
    return "\n".join([*lines, f"    Note over {across}: {_plain(closing)}"]) + "\n"


def _actor(model: Model, step: TraceStep) -> tuple[str, bool]:
    """Who takes the action of a step, and whether it is an object."""
    by = next((action.by for action in model.actions if action.name == step.action), "")
    if isinstance(by, t.Var):
        value = step.parameters.get(by.name)
        return (value, True) if isinstance(value, str) else (ENVIRONMENT, False)
    return by or ENVIRONMENT, False


def _id(component: str) -> str:
    """The name of a component as Mermaid takes it."""
    return re.sub(r"\W", "_", component)


def _objects(model: Model, counterexample: Counterexample, actors: Set[str]) -> list[str]:
    """The names of objects that act, change or belong to the first state, by sort and number."""
    names = {c.object for step in counterexample.steps for c in step.changes} | actors
    if counterexample.start is not None:
        names |= {line.partition(": ")[0] for line in objects(counterexample.start)}
    shorts = [machine.sort.short for machine in model.machines]

    def key(name: str) -> tuple[int, int, str]:
        short = name.rstrip("0123456789")
        return (shorts.index(short) if short in shorts else len(shorts), int(name[len(short) :] or 0), name)

    return sorted(names, key=key)


def _arrows(model: Model, step: TraceStep) -> Iterator[str]:
    fired: dict[tuple[str, str], list[FieldChange]] = {}
    for change in step.changes:
        fired.setdefault((change.object, change.event), []).append(change)
    actor, is_object = _actor(model, step)
    for (name, event), changes in fired.items():
        source = _source(model, changes[0], fired) or (actor if is_object else _id(actor))
        line = f" (line {changes[0].line})" if changes[0].line is not None else ""
        yield f"    {source}->>{name}: {_plain(event)}{line}"
        effect = "<br/>".join(f"{c.field}: {shown(c.before)} → {shown(c.after)}" for c in changes)
        yield f"    Note right of {name}: {_plain(effect)}"


def _source(model: Model, change: FieldChange, fired: Mapping[tuple[str, str], Sequence[FieldChange]]) -> str:
    """The object whose event triggers the rule of ``change``; "" if there is not exactly one."""
    kind, _, name = change.cause.partition(" ")
    rule = next((r for r in model.rules if kind == "rule" and r.name == name), None)
    if rule is None or isinstance(rule.on, Action):
        return ""
    scope = {n: v for part in (rule.on, *rule.when, rule.fires) for n, v in t.free_variables(part).items()}
    event = f"{sort_of(model, rule.on.of, scope)}.{rule.on.event}"
    sources = [who for who, what in fired if what == event]
    return sources[0] if len(sources) == 1 else ""


def _plain(text: str) -> str:
    """The text without characters that end a Mermaid statement."""
    return text.replace(";", ",").replace("#", "no. ").replace('"', "'").replace("\n", " ")

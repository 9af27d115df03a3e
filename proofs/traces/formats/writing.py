"""Writes runs of a model as traces, in the plain format or ITF."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from schedproof.model.lang.types import Function, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Choice, Instance, Run, State, parameters
from schedproof.proofs.traces.engine.objects import ObjectMap

from .headers import header_of
from .itf import NONE, Map, Record, Tup, Value, encode, some
from .itf_trace import ACTION, FORMAT, INIT, META, PARAMETERS, variables

DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def as_plain(run: Run) -> str:
    """The run in the plain format: JSON Lines, each record with the complete state after it."""
    instance = run.instance
    lines: list[dict[str, Any]] = [header_of(ObjectMap.of(instance))]
    for choice, state in zip(run.choices, run.states[1:], strict=True):
        record = {
            "action": choice.action,
            "parameters": parameters(instance, choice),
            "state": _changing(instance, state),
        }
        lines.append(record)
    return "".join(json.dumps(line) + "\n" for line in lines)


def _changing(instance: Instance, state: State) -> dict[str, dict[str, dict[str, object]]]:
    """The states of the objects, for sorts that have fields."""
    described = instance.describe(state)
    return {sort: objects for sort, objects in described.items() if any(objects.values())}


def as_itf(run: Run, description: str = "") -> str:
    """The run as an ITF trace, one state a line."""
    instance = run.instance
    names = [ACTION, PARAMETERS, *variables(instance.model)]
    header = header_of(ObjectMap.of(instance))
    fields = {name: value for name, value in header.items() if name in (*META, "objects")}
    meta = {"format": FORMAT, "format-description": DESCRIPTION, "description": description, **fields}
    steps: list[Choice | None] = [None, *run.choices]
    states = [
        {"#meta": {"index": number}, **{name: encode(value) for name, value in _values(instance, step, state)}}
        for number, (step, state) in enumerate(zip(steps, run.states, strict=True))
    ]
    body = ",\n".join("    " + json.dumps(state) for state in states)
    return f'{{\n  "#meta": {json.dumps(meta)},\n  "vars": {json.dumps(names)},\n  "states": [\n{body}\n  ]\n}}\n'


def _values(instance: Instance, step: Choice | None, state: State) -> Iterator[tuple[str, Value]]:
    yield ACTION, step.action if step is not None else INIT
    kinds: Mapping[str, Type] = (
        {v.name: v.type for v in instance.model.action(step.action).parameters} if step is not None else {}
    )
    given = parameters(instance, step) if step is not None else {}
    yield PARAMETERS, Record.of({name: _value(kinds[name], value, chosen=True) for name, value in given.items()})
    described = instance.describe(state)
    for name, (sort, field, kind) in variables(instance.model).items():
        yield name, Map.of({obj: _value(kind, fields[field]) for obj, fields in described.get(sort, {}).items()})


def _value(kind: Type | None, shown: object, *, chosen: bool = False) -> Value:
    """A value as ITF has it. A ``chosen`` object always exists; its value is its name."""
    match kind:
        case SetOf():
            assert isinstance(shown, list)
            return frozenset(shown)
        case Relation():
            assert isinstance(shown, list)
            return frozenset(Tup(tuple(each)) for each in shown)
        case Function():
            assert isinstance(shown, list)
            return frozenset(Tup((Tup(tuple(at)) if isinstance(at, tuple) else at, value)) for at, value in shown)
        case SequenceType(of):
            assert isinstance(shown, list)
            return tuple([_value(of, item) for item in shown])
        case Ref() if not chosen:
            return NONE if shown is None else some(shown)
    return shown

"""Runs of a model as ITF traces: which variables there are, and what a state of the trace says.

A variable for each field of a machine, named after its sort (the state) or sort and attribute: ``PodGroup``,
``Cell_user``. It is a map from the objects' names. ``action`` and ``parameters`` are those of the step that led to
a state; the first state, which no step led to, has the action ``init`` and has to be the model's initial state. What
never changes and what objects there are stands in ``#meta``. A trace becomes header and records of the plain format, so that
both are judged alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.types import Ref, SetOf, Type

from .errors import TraceError
from .formats import Format, Reading
from .itf import Map, Record, Tup, Value, decode
from .lines import Line, TextLine
from .own import read_own
from .yunikorn_json import Documents, joined, read_documents

ACTION, PARAMETERS = "action", "parameters"
INIT = "init"
"""The action of the first state."""

FORMAT = "ITF"
META = ("system", "objects", "rigid")
"""What is read of ``#meta``, beside the name of the format."""

Variables = Mapping[str, tuple[str, str, Type | None]]
"""Of each variable the sort, the field ("state" or an attribute) and its type (None for the state)."""


def variables(model: Model) -> dict[str, tuple[str, str, Type | None]]:
    """The variables of a model's traces, but for action and parameters."""
    found: dict[str, tuple[str, str, Type | None]] = {}
    for machine in model.machines:
        sort = machine.sort.name
        if machine.states:
            found[sort] = (sort, "state", None)
        for attribute in machine.attributes:
            if not attribute.rigid and not attribute.history:
                found[f"{sort}_{attribute.name}"] = (sort, attribute.name, attribute.type)
    return found


def is_itf(lines: Sequence[TextLine]) -> bool:
    """One JSON object with a list of states, and variables or what is said of the trace; it need not be right."""
    if not lines[0].text.startswith("{"):
        return False
    text = joined(lines)
    # The plain format and all others here have no list of states.
    return bool(re.search(r'"states"\s*:\s*\[', text) and re.search(r'"(vars"\s*:\s*\[|#meta"\s*:)', text))


def read_itf(model: Model, lines: Sequence[TextLine]) -> Reading:
    """The records of an ITF trace: one for each state.

    Raises:
        TraceError: no ITF, or it names what the model does not have.
    """
    documents = read_documents(lines)
    if len(documents.values) != 1 or not isinstance(documents.values[0], dict):
        raise documents.error("an ITF trace is one JSON object {...}")
    trace = documents.values[0]
    reader = _Reader(model, documents, documents.line(trace))
    states = reader.states(trace)
    records = [reader.record(number, state) for number, state in enumerate(states)]
    header = Line(reader.top.file, reader.top.number, reader.header(trace, states[0]))
    instance, judged = read_own(model, [header, *records])
    note = ""
    if "loop" in trace:
        at = trace["loop"]
        if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(states):
            raise reader.top.error(f'"loop": {at!r:.60} where the number of a state belongs, 0 to {len(states) - 1}')
        note = f"the way back to state {at} (loop) names no action and is not judged"
    return Reading(instance, judged, len(judged), note=note)


class _Reader:
    """One trace: its variables, and what they say in words of the plain format."""

    def __init__(self, model: Model, documents: Documents, top: Line) -> None:
        self.model, self.documents, self.top = model, documents, top
        self.known = variables(model)
        self.kinds = {a.name: {v.name: v.type for v in a.parameters} for a in model.actions}
        self.declared: list[str] = []

    def states(self, trace: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The states; their variables are checked against those that the trace declares."""
        for name in ("vars", "states"):
            if not isinstance(trace.get(name), list):
                raise self.top.error(
                    f'"{name}" is missing or no list; an ITF trace has {{"vars": [...], "states": [...]}}'
                )
        self.declared = trace["vars"]
        for name in self.declared:
            if name not in self.known and name not in (ACTION, PARAMETERS):
                there = ", ".join([*self.known, ACTION, PARAMETERS])
                raise self.top.error(f'"vars" has {name!r:.60}; variables of {self.model.system}: {there}')
        if not trace["states"]:
            raise self.top.error('"states" is empty; the first is the initial state')
        for number, state in enumerate(trace["states"]):
            if not isinstance(state, dict):
                raise self.top.error(f"states[{number}]: {state!r:.60} where an object {{...}} belongs")
            names = {name for name in state if name != "#meta"}
            for name in self.declared:
                if name not in names:
                    raise self.documents.line(state).error(f"states[{number}] lacks the variable {name}")
            if unknown := sorted(names - set(self.declared)):
                raise self.documents.line(state).error(
                    f'states[{number}] has {unknown[0]!r:.60}, which "vars" does not name'
                )
        return list(trace["states"])

    def header(self, trace: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
        """The header of the plain format."""
        meta = trace.get("#meta", {})
        if not isinstance(meta, dict):
            raise self.top.error(f'"#meta": {meta!r:.60} where an object {{...}} belongs')
        objects = meta.get("objects", {})
        if isinstance(objects, dict):
            there = self._objects(first)
            objects = {**{sort: names for sort, names in there.items() if sort not in objects}, **objects}
        header = {"schedproof": 1, "system": meta.get("system", self.model.system), "objects": objects}
        return {**header, "rigid": meta["rigid"]} if "rigid" in meta else header

    def _objects(self, first: Mapping[str, Any]) -> dict[str, list[str]]:
        """The objects that the first state names, in the order of its maps."""
        found: dict[str, list[str]] = {}
        for name, (sort, _, _) in self.known.items():
            pairs = first[name].get("#map") if name in self.declared and isinstance(first[name], dict) else None
            if isinstance(pairs, list) and sort not in found:
                found[sort] = [pair[0] for pair in pairs if isinstance(pair, list) and pair]
        return found

    def record(self, number: int, state: Mapping[str, Any]) -> Line:
        """A state as a record of the plain format, on the line where it begins."""
        line = self.documents.line(state)
        try:
            return Line(line.file, line.number, self._record(number, state))
        except TraceError as error:
            raise line.error(str(error)) from None
        except RecursionError:
            raise line.error(f"states[{number}]: nested too deeply") from None

    def _record(self, number: int, state: Mapping[str, Any]) -> dict[str, Any]:
        observed: dict[str, dict[str, dict[str, object]]] = {}
        for name in self.declared:
            if name in self.known:
                sort, field, kind = self.known[name]
                where = f"states[{number}].{name}"
                value = decode(state[name], where)
                if not isinstance(value, Map):
                    raise TraceError(f"{where}: a #map from names of {sort} belongs here")
                for obj, held in value.items:
                    if not isinstance(obj, str):
                        raise TraceError(f"{where}: {obj!r:.60} is no name of an object")
                    observed.setdefault(sort, {}).setdefault(obj, {})[field] = _plain(held, kind, f"{where}({obj})")
        return {**self._step(number, state), "state": observed}

    def _step(self, number: int, state: Mapping[str, Any]) -> dict[str, Any]:
        where = f"states[{number}].{ACTION}"
        action = state.get(ACTION, INIT if number == 0 else None)
        if action is None:
            raise TraceError(f'{where} is missing: name the step that led to the state, or "" for none')
        if not isinstance(action, str):
            raise TraceError(f"{where}: the name of an action belongs here, as text")
        if number == 0 or not action:
            if action not in ("", INIT):
                raise TraceError(f'{where}: no step leads to the first state; write "{INIT}", not {action!r:.60}')
            return {}
        given = decode(state.get(PARAMETERS, {}), f"states[{number}].{PARAMETERS}")
        if not isinstance(given, Record):
            raise TraceError(f"states[{number}].{PARAMETERS}: a record {{...}} belongs here")
        kinds = self.kinds.get(action, {})
        at = f"states[{number}].{PARAMETERS}"
        # Of unknown actions and parameters only the names matter: the plain format refuses them.
        plain = {n: _plain(value, kinds[n], f"{at}.{n}") if n in kinds else None for n, value in given.items}
        return {"action": action, "parameters": plain}


def _plain(value: Value, kind: Type | None, where: str) -> object:
    """A value as the plain format has it: null for no object, lists for sets.

    Raises:
        TraceError: it is of a shape that no value of a model has.
    """
    match value:
        case bool() | int() | str():
            return value
        case frozenset() if isinstance(kind, SetOf):
            return [_plain(item, Ref(kind.sort), where) for item in sorted(value, key=str)]
        case Record() if isinstance(kind, Ref):
            fields = value.as_dict()
            if fields.get("tag") == "None" and set(fields) <= {"tag", "value"}:
                return None
            if fields.get("tag") == "Some" and set(fields) == {"tag", "value"} and isinstance(fields["value"], str):
                return fields["value"]
    shape = {frozenset: "a set", Map: "a map", Record: "a record", Tup: "a tuple", tuple: "a sequence"}[type(value)]
    raise TraceError(f"{where}: {shape} where {_wanted(kind)} belongs")


def _wanted(kind: Type | None) -> str:
    match kind:
        case None:
            return "a name"
        case Ref(sort):
            return f'a {sort.name} as {{"tag": "Some", "value": name}}, or {{"tag": "None", "value": {{"#tup": []}}}}'
        case SetOf(sort):
            return f"a #set of names of {sort.name}"
    return f"a value of {kind}"


ITF = Format("itf", 'an ITF trace has "vars" and "states"', is_itf, read_itf)
"""ITF, of every system."""

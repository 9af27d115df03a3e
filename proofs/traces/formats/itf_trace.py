"""Runs of a model as ITF traces: the variables, and the content of a state.

Each field of a machine is a variable. Its name is the sort (for the state) or sort and attribute: ``PodGroup``,
``Cell_user``. Its value is a map from the names of the objects. ``action`` and ``parameters`` describe the step that
led to a state. The first state has the action ``init``; it must be the model's initial state. ``#meta`` has the objects
and the rigid attributes. A trace becomes a header and records of the plain format, so both formats have the same
checks. Those also report names that the model does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from schedproof.model.lang import Model
from schedproof.model.lang.types import Type
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.json_document import Documents, joined, read_documents
from schedproof.proofs.traces.files.lines import Line, TextLine

from .format import Format, Plain, Requested
from .itf import Map, Record, Tup, Value, decode

ACTION, PARAMETERS = "action", "parameters"
INIT = "init"
"""The action of the first state."""

FORMAT = "ITF"
META = ("system", "variant", "rigid")
"""The fields that are read from ``#meta``, besides the objects. Each is as in the header of a plain trace."""


def variables(model: Model) -> dict[str, tuple[str, str, Type | None]]:
    """The variables of a model's traces, without action and parameters: sort, field and type (None for a state)."""
    fields: dict[str, tuple[str, str, Type | None]] = {}
    for machine in model.machines:
        sort = machine.sort.name
        if machine.states:
            fields[sort] = (sort, "state", None)
        for attribute in machine.attributes:
            if not attribute.rigid and not attribute.history:
                fields[f"{sort}_{attribute.name}"] = (sort, attribute.name, attribute.type)
    return fields


def is_itf(lines: Sequence[TextLine]) -> bool:
    """Whether this is one JSON object with a list of states, and with ``vars`` or ``#meta``.

    It may still have errors.
    """
    if not lines[0].text.startswith("{"):
        return False
    text = joined(lines)
    # No other format here has a list of states.
    return bool(re.search(r'"states"\s*:\s*\[', text) and re.search(r'"(vars"\s*:\s*\[|#meta"\s*:)', text))


def itf_states(lines: Iterator[TextLine]) -> Iterator[Line]:
    """The states of a trace of any specification, as objects that a mapping can read: variable -> value.

    Maps from texts and records are objects; other maps are lists of pairs. Sets, tuples and sequences are lists.
    ``"#"`` is the number of the state.

    Raises:
        TraceError: it is not ITF.
    """
    trace, reader = _opened(lines)
    for number, state in enumerate(reader.states(trace)):
        line = reader.documents.line(state)
        values = {name: _data(decode(state[name], f"states[{number}].{name}")) for name in reader.declared}
        yield Line(line.file, line.number, {"#": number, **values})


def _data(value: Value) -> object:
    match value:
        case Map():
            pairs = [(_data(key), _data(held)) for key, held in value.items]
            return dict(pairs) if all(isinstance(key, str) for key, _ in pairs) else [list(pair) for pair in pairs]
        case Record():
            return {name: _data(held) for name, held in value.items}
        case frozenset():
            return [_data(item) for item in sorted(value, key=str)]
        case Tup():
            return [_data(item) for item in value.items]
        case tuple():
            return [_data(item) for item in value]
        case _:
            return value


def _opened(lines: Iterable[TextLine]) -> tuple[Mapping[str, Any], _Reader]:
    documents = read_documents(list(lines))
    if len(documents.values) != 1 or not isinstance(documents.values[0], dict):
        raise documents.error("an ITF trace is one JSON object; write {...}")
    trace = documents.values[0]
    return trace, _Reader(documents, documents.line(trace))


def read_itf(model: Model, lines: Iterable[TextLine], requested: Requested) -> Plain:
    """The trace in terms of the plain format: the header, and a record for each state.

    Raises:
        TraceError: it is not ITF.
    """
    trace, reader = _opened(lines)
    states = reader.states(trace)
    header = Line(reader.top.file, reader.top.number, reader.header(model, trace, states[0]))
    note = ""
    if "loop" in trace:
        at = trace["loop"]
        if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(states):
            raise reader.top.error(
                f'"loop": {at!r:.60} is not the number of a state; write one from 0 to {len(states) - 1}'
            )
        note = f"the way back to state {at} (loop) names no action and is not checked"
    return Plain(header, (reader.record(number, state) for number, state in enumerate(states)), lambda: note)


class _Reader:
    """One trace: its variables, and their values in terms of the plain format."""

    def __init__(self, documents: Documents, top: Line) -> None:
        self.documents, self.top = documents, top
        self.declared: list[str] = []

    def states(self, trace: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The states. Their variables are checked against the declared ones."""
        for name in ("vars", "states"):
            if not isinstance(trace.get(name), list):
                shape = '{"vars": [...], "states": [...]}'
                raise self.top.error(f'"{name}" is missing or not a list; write {shape}')
        self.declared = trace["vars"]
        for variable in self.declared:
            if not isinstance(variable, str):
                raise self.top.error(f'"vars": {variable!r:.60} is not a name of a variable; write a text')
        if not trace["states"]:
            raise self.top.error('"states" is empty; write at least the initial state')
        for number, state in enumerate(trace["states"]):
            if not isinstance(state, dict):
                raise self.top.error(f"states[{number}]: {state!r:.60} is not an object; write {{...}}")
            names = {name for name in state if name != "#meta"}
            for name in self.declared:
                if name not in names:
                    raise self.documents.line(state).error(
                        f"states[{number}] lacks the variable {name}; add it, or take it out of 'vars'"
                    )
            if unknown := sorted(names - set(self.declared)):
                problem = f'states[{number}] has {unknown[0]!r:.60}, which "vars" does not name; leave it out, or name it there'
                raise self.documents.line(state).error(problem)
        return list(trace["states"])

    @property
    def _fields(self) -> list[tuple[str, str, str]]:
        """The variables that describe objects, each with sort and field."""
        fields = []
        for name in self.declared:
            if name not in (ACTION, PARAMETERS):
                sort, _, attribute = name.partition("_")
                fields.append((name, sort, attribute or "state"))
        return fields

    def header(self, model: Model, trace: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
        """The header of the plain format."""
        meta = trace.get("#meta", {})
        if not isinstance(meta, dict):
            raise self.top.error(f'"#meta": {meta!r:.60} is not an object; write {{...}}')
        objects = meta.get("objects", {})
        if isinstance(objects, dict):
            named = self._objects(first)
            objects = {**{sort: names for sort, names in named.items() if sort not in objects}, **objects}
        known = {name: meta[name] for name in META if name in meta}
        return {"schedproof": 1, "system": model.system, **known, "objects": objects}

    def _objects(self, first: Mapping[str, Any]) -> dict[str, list[str]]:
        """The objects that the first state names, in the order of its maps."""
        names: dict[str, list[str]] = {}
        for name, sort, _ in self._fields:
            pairs = first[name].get("#map") if isinstance(first[name], dict) else None
            if isinstance(pairs, list) and sort not in names:
                names[sort] = [pair[0] for pair in pairs if isinstance(pair, list) and pair]
        return names

    def record(self, number: int, state: Mapping[str, Any]) -> Line:
        """A state as a record of the plain format, on the line where it begins."""
        line = self.documents.line(state)
        try:
            return Line(line.file, line.number, self._record(number, state))
        except TraceError as error:
            raise line.error(str(error)) from None
        except RecursionError:
            raise line.error(f"states[{number}]: nested too deeply; write less in one state") from None

    def _record(self, number: int, state: Mapping[str, Any]) -> dict[str, Any]:
        observed: dict[str, dict[str, dict[str, object]]] = {}
        for name, sort, field in self._fields:
            where = f"states[{number}].{name}"
            value = decode(state[name], where)
            if not isinstance(value, Map):
                raise TraceError(f"{where}: this is not a map; write a #map from names of {sort}")
            for obj, held in value.items:
                if not isinstance(obj, str):
                    raise TraceError(f"{where}: {obj!r:.60} is not a name of an object; write a text")
                observed.setdefault(sort, {}).setdefault(obj, {})[field] = _plain(held, f"{where}({obj})")
        return {**self._step(number, state), "state": observed}

    def _step(self, number: int, state: Mapping[str, Any]) -> dict[str, Any]:
        where = f"states[{number}].{ACTION}"
        action = state.get(ACTION, INIT if number == 0 else None)
        if action is None:
            raise TraceError(f'{where} is missing; name the step that led to the state, or "" for none')
        if not isinstance(action, str):
            raise TraceError(f"{where}: this is not the name of an action; write a text")
        if number == 0 or not action:
            if action not in ("", INIT):
                raise TraceError(f'{where}: a step {action!r:.60} leads to the first state; write "{INIT}"')
            return {}
        at = f"states[{number}].{PARAMETERS}"
        given = decode(state.get(PARAMETERS, {}), at)
        if not isinstance(given, Record):
            raise TraceError(f"{at}: this is not a record; write {{...}}")
        return {"action": action, "parameters": {n: _plain(value, f"{at}.{n}") for n, value in given.items}}


def _plain(value: Value, where: str) -> object:
    """A value as the plain format has it: null for no object, lists for sets.

    Raises:
        TraceError: no value of a model has this shape.
    """
    match value:
        case bool() | int() | str():
            return value
        case frozenset():
            return [
                [_element(each, where) for each in item.items] if isinstance(item, Tup) else _plain(item, where)
                for item in sorted(value, key=str)
            ]
        case tuple():
            return [_plain(item, where) for item in value]
        case Record():
            fields = value.as_dict()
            if fields.get("tag") == "None" and set(fields) <= {"tag", "value"}:
                return None
            if fields.get("tag") == "Some" and set(fields) == {"tag", "value"} and isinstance(fields["value"], str):
                return fields["value"]
    shape = {Map: "a map", Record: "a record", Tup: "a tuple"}[type(value)]
    raise TraceError(
        f"{where}: {shape} is not a value of a field; write a name, a number, a truth value, a #set of names or of tuples of names, or an object: "
        '{"tag": "Some", "value": name}, {"tag": "None", "value": {"#tup": []}} for none'
    )


def _element(value: Value, where: str) -> object:
    """A part of a tuple in a set: a value, or in an entry of a function the tuple of its objects."""
    return [_plain(each, where) for each in value.items] if isinstance(value, Tup) else _plain(value, where)


ITF = Format("itf", 'an ITF trace has "vars" and "states"', is_itf, read_itf)
"""ITF, for every system."""

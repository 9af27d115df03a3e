"""Reads records of the plain format, in terms of the current objects.

The format knows no system: names and types come from the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from schedproof.model.errors import choose_from
from schedproof.model.lang import Model
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.rules import Action
from schedproof.model.lang.terms import Var
from schedproof.model.lang.triggers import caused
from schedproof.model.lang.types import Function, Ref, Relation, SetOf, Type
from schedproof.model.lang.types import Sequence as SequenceType
from schedproof.model.semantics import Choice, Instance, State
from schedproof.proofs.traces.engine.candidates import Observation, Path, Record
from schedproof.proofs.traces.engine.explain import Clue, Explainer
from schedproof.proofs.traces.engine.steps import StepPattern, Steps
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line
from schedproof.proofs.traces.reports.wording import show_choice

from .values import read_state, read_value

MOST_UNLOGGED = 1000
"""The limit for unlogged steps between two records."""

MOST_KINDS = 256
"""For how many actions and events the types of parameters are cached."""


@dataclass(frozen=True)
class Unlogged:
    """Steps that may have happened before a record without one of their own: at most how many, and which."""

    most: int = 0
    actions: Sequence[Action] = ()

    @staticmethod
    def read(model: Model, value: object, line: Line, default: Unlogged) -> Unlogged:
        """Reads ``"unlogged"``: a number, or ``{"most": number, "actions": [names]}``; ``default`` for None.

        Raises:
            TraceError: an unknown action.
        """
        if value is None:
            return default
        if isinstance(value, Mapping):
            names = value.get("actions", [a.name for a in default.actions or model.actions])
            return Unlogged(int(value["most"]), [_action(model, name, line) for name in names])
        assert isinstance(value, int | float)  # 1.0 is a whole number in JSON
        return Unlogged(int(value), default.actions or model.actions)


@dataclass(frozen=True)
class Reader:
    """Reads the records of a trace about the objects of one instance."""

    steps: Steps
    unlogged: Unlogged

    @property
    def instance(self) -> Instance:
        """The model with the current objects."""
        return self.steps.instance

    @property
    def model(self) -> Model:
        """The model of the trace."""
        return self.instance.model

    def record(self, number: int, line: Line) -> Record[State]:
        """The record in ``line``.

        Raises:
            TraceError: an unknown name, or a value of the wrong type.
        """
        value, steps = line.value, self.steps
        observed = Observation(read_state(self.instance, value.get("state", {}), line))
        patterns = self.patterns(line)
        unlogged = Unlogged.read(self.model, value.get("unlogged"), line, self.unlogged)
        says = self.says(patterns, value)
        if unlogged.most:
            clue = Clue(
                patterns, unlogged=[StepPattern(a) for a in unlogged.actions], longest=unlogged.most, observed=observed
            )
            return Explainer(steps).record(number, line.number, says, clue)
        if not patterns:
            return Record(number, line.number, says, lambda state: [Path((), state)], observed)
        return Record(
            number,
            line.number,
            says,
            steps.from_zero(lambda state: (path for one in patterns for path in steps.paths(Path((), state), one))),
            observed,
            steps.from_zero(lambda state: (path for one in patterns for path in steps.nearest(state, one)), each=True),
        )

    def says(self, patterns: Sequence[StepPattern], value: Mapping[str, Any]) -> str:
        """The record in a few words."""
        if not patterns:
            return "observation"
        if "event" in value:
            return str(value["event"]) + (f" on {value['object']}" if "object" in value else "")
        if "crash" in value:
            return "crash"
        action, given = patterns[0].action, patterns[0].given
        names = [v.name for v in action.parameters]
        if all(name in given for name in names):
            return show_choice(self.instance, Choice(action.name, tuple((n, given[n]) for n in names)))
        return f"{action.name} with {', '.join(n for n in names if n not in given)} not given"

    def patterns(self, line: Line) -> list[StepPattern]:
        """The steps that the record may mean, of which one happened; [] if it is an observation."""
        value = line.value
        if "action" in value:
            action = _action(self.model, value["action"], line)
            return [StepPattern(action, self.parameters(line, [action])[action.name])]
        if value.get("crash") or value.get("event") in self.crashes:
            crashes = [a for a in self.model.actions if a.crash]
            if not crashes:
                raise line.error(
                    f"{self.model.system} {self.model.variant} does not model crashes; leave the record out"
                )
            named = [a for a in crashes if a.name == value.get("event", a.name)]
            if "object" in value:
                raise line.error(f'{value["event"]} happens to every object: leave out "object"')
            return [StepPattern(a, given) for a, given in self.by_action(line, named)]
        if "event" in value:
            return self.causing(line)
        if value.get("parameters"):
            raise line.error('"parameters" without "action" or "event": name one of them')
        return []

    @cached_property
    def crashes(self) -> frozenset[str]:
        """The names of the crash actions; an event may have one of these names."""
        return frozenset(a.name for a in self.model.actions if a.crash)

    def causing(self, line: Line) -> list[StepPattern]:
        """The steps in which the record's event happens (to its object, if it names one)."""
        sort, _, event = line.value["event"].partition(".")
        rows = {(row.sort.name, row.event) for row in self.model.rows}
        if (sort, event) not in rows:
            of_sort = [row for row in rows if row[0] == sort]
            remedy = choose_from(line.value["event"], [f"{s}.{e}" for s, e in sorted(of_sort or rows)])
            raise line.error(f"unknown event {line.value['event']!r}; {remedy}")
        number = -1
        if "object" in line.value:
            kind = Ref(self.model.machine(sort).sort)
            number = read_value(self.instance, kind, line.value["object"], line, "object")
        causes = [a for a in self.model.actions if (sort, event) in caused(self.model, a.name)]
        if not causes:
            raise line.error(
                f"no action of {self.model.system} {self.model.variant} causes the event {sort}.{event}; write an action, or another event"
            )
        patterns = []
        for action, given in self.by_action(line, causes):
            who = self.root(action, sort, event)
            if number >= 0 and who and given.setdefault(who, number) != number:
                continue
            patterns.append(StepPattern(action, given, (sort, event, number)))
        if not patterns:
            raise line.error(
                f'"object" is {line.value["object"]!r}, and the parameters name another object; write one of them'
            )
        return patterns

    def root(self, action: Action, sort: str, event: str) -> str:
        """The parameter that the event happens to, if the action itself fires it and no rule does; else ""."""
        if any((sort_of(self.model, r.fires.of, {}), r.fires.event) == (sort, event) for r in self.model.rules):
            return ""
        scope = {v.name: v for v in action.parameters}
        heads = [f.of for f in action.fires if (sort_of(self.model, f.of, scope), f.event) == (sort, event)]
        return heads[0].name if len(heads) == 1 and isinstance(heads[0], Var) else ""

    def by_action(self, line: Line, actions: Sequence[Action]) -> Iterator[tuple[Action, dict[str, int]]]:
        """Those of ``actions`` that have all of the record's parameters, with their values."""
        given = self.parameters(line, actions)
        return ((a, dict(given[a.name])) for a in actions if a.name in given)

    def parameters(self, line: Line, actions: Sequence[Action]) -> dict[str, dict[str, int]]:
        """By action, the values of the record's parameters. Only actions that have all of them count."""
        given = line.value.get("parameters", {})
        by_action: dict[str, dict[str, int]] = {}
        wrong: TraceError | None = None
        for action in actions:
            types: dict[str, Type] = {v.name: v.type for v in action.parameters}
            if all(name in types for name in given):
                try:
                    by_action[action.name] = {n: self.parameter(types[n], n, v, line) for n, v in given.items()}
                except TraceError as error:  # another action may have other objects under this name
                    wrong = wrong or error
        if not by_action and wrong is not None:
            raise wrong
        if not by_action:
            every = {v.name for action in actions for v in action.parameters}
            name = next((n for n in given if n not in every), next(iter(given)))
            what = actions[0].name if len(actions) == 1 else line.value.get("event", "crash")
            raise line.error(f"unknown parameter {name!r} of {what}; {choose_from(name, sorted(every))}")
        return by_action

    def parameter(self, kind: Type, name: str, value: object, line: Line) -> int:
        if value is None:
            raise line.error(
                f"parameters.{name}: null does not fit; write an object or a value, or leave the parameter out"
            )
        return read_value(self.instance, kind, value, line, f"parameters.{name}")


class Mentions:
    """The objects that records name."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._references = {
            m.sort.name: {
                a.name: a.type
                for a in m.attributes
                if isinstance(a.type, Ref | SetOf | Relation | Function | SequenceType)
            }
            for m in model.machines
        }
        self._parameters = lru_cache(MOST_KINDS)(self._kinds)

    def of(self, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The objects that a record names, as (sort, name).

        Values of the wrong type are skipped: reading reports them.
        """
        for sort, names in value.get("objects", {}).items():
            for name in names:
                yield sort, name
        if "object" in value:
            yield value["event"].partition(".")[0], value["object"]
        kinds = self._parameters(value.get("action", ""), value.get("event", ""))
        for name, shown in value.get("parameters", {}).items():
            if name in kinds:
                yield from _names(kinds[name], shown)
        for sort, objects in value.get("state", {}).items():
            references = self._references.get(sort)
            if references is not None:
                for obj, fields in objects.items():
                    yield sort, obj
                    if references:
                        for name, shown in fields.items():
                            if name in references:
                                yield from _names(references[name], shown)

    def in_rigid(self, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The objects that its rigid attributes name, as (sort, name).

        Unlike those of :meth:`of`, a name that is unknown is an error. It does not mean a new object.
        """
        for sort, attributes in value.get("rigid", {}).items():
            references = self._references.get(sort, {})
            for attribute, objects in attributes.items():
                if attribute in references:
                    for shown in objects.values():
                        yield from _names(references[attribute], shown)

    def _kinds(self, named: str, event: str) -> Mapping[str, Type]:
        """The types of the parameters of an action, or of all actions that lead to an event.

        Ambiguous names are left out.
        """
        sort, _, happens = event.partition(".")
        by_name: dict[str, set[Type]] = {}
        for action in self._model.actions:
            if action.name == (named or action.name) and (
                not happens or (sort, happens) in caused(self._model, action.name) or action.name == event
            ):
                for v in action.parameters:
                    by_name.setdefault(v.name, set()).add(v.type)
        return {name: next(iter(kinds)) for name, kinds in by_name.items() if len(kinds) == 1}


def _names(kind: Type, shown: object) -> Iterator[tuple[str, str]]:
    if isinstance(kind, Ref) and isinstance(shown, str):
        yield kind.sort.name, shown
    elif isinstance(kind, SetOf) and isinstance(shown, list):
        for name in shown:
            if isinstance(name, str):
                yield kind.sort.name, name
    elif isinstance(kind, SequenceType) and isinstance(shown, list):
        for item in shown:
            yield from _names(kind.of, item)
    elif isinstance(kind, Function) and isinstance(shown, list):
        for each in shown:
            if isinstance(each, list) and len(each) == 2:
                objects = each[0] if len(kind.sorts) > 1 else [each[0]]
                for sort, name in zip(kind.sorts, objects, strict=False) if isinstance(objects, list) else ():
                    if isinstance(name, str):
                        yield sort.name, name
                yield from _names(kind.to, each[1])
    elif isinstance(kind, Relation) and isinstance(shown, list):
        for each in shown:
            for sort, name in zip(kind.sorts, each, strict=False) if isinstance(each, list) else ():
                if isinstance(name, str):
                    yield sort.name, name


def _action(model: Model, name: str, line: Line) -> Action:
    known = {a.name: a for a in model.actions}
    if name not in known:
        raise line.error(f"unknown action {name!r}; {choose_from(name, known)}")
    return known[name]

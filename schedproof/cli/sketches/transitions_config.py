"""Reads a machine of the library ``transitions``: its configuration as YAML or JSON, or a Python file that makes one.

Nothing of a Python file is run: values must be written out, or be names of such values. States in states become one machine:
a transition from the outer state starts in each state inside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from schedproof.model.lang.excerpt import Span

from .literals import Computed, Located, PythonFile, of_yaml
from .sketch import Draft, Note, Sketch
from .source import Source

MACHINE = ("states", "initial", "transitions", "name")
"""The keys of a configuration that are read."""

WITHOUT_EFFECT = ("model", "model_attribute", "queued", "send_event", "auto_transitions", "use_pygraphviz",
                  "ignore_invalid_triggers", "title", "show_conditions", "show_state_attributes")  # fmt: skip
"""The keys of a configuration that do not change its table."""

POSITIONS = ("trigger", "source", "dest", "conditions", "unless", "before", "after", "prepare")
"""The keys of a transition, in the order of a transition that is a list."""

GUARDS = ("conditions", "unless")
SEPARATOR = "_"
"""Between the names of an outer state and a state in it."""


def of_file(source: Source) -> list[Sketch]:
    """The machine of a YAML or JSON file.

    Raises:
        UserError: it is not a configuration of ``transitions``.
    """
    root = of_yaml(source, is_json=source.path.suffix.lower() == ".json")
    if not isinstance(root.value, dict) or "transitions" not in root.value:
        raise source.error(root.span, "no key 'transitions'", "write states: [...], and transitions: [...]")
    return [_Reader(source).machine(root.value, root.keys, "")]


def of_python(source: Source) -> list[Sketch]:
    """The machines that a Python file makes, in their order.

    Raises:
        UserError: it is not Python, or makes no machine.
    """
    try:
        machines = _made(PythonFile(source))
    except (RecursionError, MemoryError, ValueError):  # ValueError: a number of more than 4,300 digits
        raise source.error(
            source.span(1),
            "an expression is too deep, or a number too long",
            "write the lists of a machine by themselves",
        ) from None
    if not machines:
        raise source.error(
            source.span(1), "no machine of transitions is made here", "write Machine(states=[...], transitions=[...])"
        )
    return [_Reader(source).machine(values, spans, inside) for values, spans, inside in machines]


Made = tuple[dict[str, Located], dict[str, Any], str]
"""The arguments of a machine, where they are, and the class that makes it."""


def _made(file: PythonFile) -> list[Made]:
    """The machines that a Python file makes, in their order."""
    machines: list[Made] = []
    holders: list[str] = []
    for called, call, inside in file.calls():
        if called.endswith("Machine") or called == "__init__":
            named = file.keywords(call)
            positional = dict(zip(("model", "states", "initial", "transitions"), call.args, strict=False))
            if "states" not in named and (called == "__init__" or "states" not in positional):
                continue
            values = {name: file.value(each) for name, each in positional.items()} | named
            spans = {name: each.span for name, each in values.items()} | {
                each.arg: file.span(each) for each in call.keywords if each.arg is not None
            }
            if isinstance(values.get("transitions", Located(None, file.span(call), {})).value, None.__class__):
                values["transitions"] = Located([], file.span(call), {})
            machines.append((values, spans, inside))
            holders.append(file.holders.get(call, "self"))
        elif (
            called in ("add_transition", "add_transitions", "add_state", "add_states", "add_ordered_transitions")
            and machines
        ):
            receiver = ast.unparse(call.func).rpartition(".")[0].rpartition(".")[2]
            owners = [n for n, holder in enumerate(holders) if holder == receiver]
            owners = [n for n in owners if machines[n][2] == inside] or owners
            if owners or len(machines) == 1:
                _added(file, machines[owners[-1] if owners else 0][0], called, call)
            else:
                machines[-1][0][f"what {ast.unparse(call)} adds"] = Located(None, file.span(call), {})
    if not machines and "transitions" in file.assigned:
        names = [name for name in MACHINE if name in file.assigned]
        values = {name: file.value(ast.copy_location(ast.Name(name), file.assigned[name][0].value)) for name in names}
        machines.append((values, {}, ""))
    return machines


def _added(file: PythonFile, machine: dict[str, Located], called: str, call: ast.Call) -> None:
    """Adds what a later call adds to a machine."""
    key = "states" if called in ("add_state", "add_states") else "transitions"
    span = file.span(call)
    if called == "add_ordered_transitions":
        more = [Located(Computed(ast.unparse(call)), span, {})]
    elif called == "add_transition":
        values = {
            **{name: file.value(each) for name, each in zip(POSITIONS, call.args, strict=False)},
            **file.keywords(call),
        }
        more = [Located(values, span, {name: each.span for name, each in values.items()})]
    else:
        value = file.value(call.args[0]) if call.args else Located(Computed(ast.unparse(call)), span, {})
        more = value.value if isinstance(value.value, list) else [value]
    before = machine.get(key, Located([], span, {}))
    old = before.value if isinstance(before.value, list) else [before]
    machine[key] = Located([*old, *more], before.span, {})


@dataclass(frozen=True)
class _Arrow:
    """A transition, from a state or from all states in it.

    Attributes:
        target: where it leads to; "" back to where it comes from.
        guarded: whether it has conditions.
        everywhere: whether its source is ``*``.
    """

    event: str
    source: str
    target: str
    span: Span
    guarded: bool
    everywhere: bool


@dataclass
class _Nested:
    """A state with states inside: all of them, and the one in which it begins."""

    inside: list[str] = field(default_factory=list)
    begins: str = ""


class _Reader:
    """Reads one configuration."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.draft = Draft()
        self.nested: dict[str, _Nested] = {}
        self.outermost: dict[str, None] = {}
        self.arrows: list[_Arrow] = []

    def _note(self, located: Located, problem: str, remedy: str, event: str = "") -> None:
        self.draft.notes.append(Note(located.span, problem, remedy, event))

    def machine(self, config: Mapping[str, Located], spans: Mapping[str, Any], inside: str) -> Sketch:
        name = config.get("name")
        self.draft.name = str(name.value) if name is not None and isinstance(name.value, str) else inside
        states = config.get("states")
        for each in self._list(states) if states is not None else ():
            self.outermost[self._state(each, "")] = None
        self.outermost.pop("", None)
        self._initial(config)
        transitions = config["transitions"]
        each_transition = list(self._list(transitions))
        for each in each_transition:
            self._transition(each)
        self._moves()
        for key, value in config.items():
            if key == "ordered_transitions" and isinstance(value.value, bool):
                if value.value:
                    problem = "the events next_state of ordered_transitions are not in the model"
                    self._note(value, problem, "write a row from each state to the next one")
            elif key not in MACHINE and key not in WITHOUT_EFFECT and isinstance(key, str):
                where = Located(None, spans.get(key, value.span), {})
                self._note(where, f"{key} is not in the model", "write what it does as a Rule, if it changes an object")
        auto = config.get("auto_transitions")
        if auto is not None and auto.value is True:
            self._note(
                auto,
                "the events to_STATE of auto_transitions are not in the model",
                "write rows for those that are used",
            )
        if not self.draft.moves:
            raise self.source.error(
                transitions.span, "no transition is written here", 'write one: ["start", "idle", "busy"]'
            )
        return self.draft.sketch()

    def _initial(self, config: Mapping[str, Located]) -> None:
        """Without ``initial``, the library begins in a state of that name."""
        initial = config.get("initial")
        if initial is not None and initial.value is not None:
            if first := self._name(initial):
                self._known(first, initial)
                self.draft.initials[self._entry(first)] = initial.span
        elif "initial" in self.draft.states and initial is None:
            self.draft.initials["initial"] = config["states"].span
        else:
            first = next(iter(self.draft.states), "the first one")
            remedy = f"the model begins in {first}; write initial, since the library does not begin there"
            self._note(initial or config["transitions"], "the machine names no initial state", remedy)

    def _moves(self) -> None:
        """The moves of the arrows, as the library chooses them: the innermost first, then in the order of the file.

        After one without conditions, none is tried.
        """
        choices: dict[tuple[str, str], list[_Arrow]] = {}
        for arrow in self.arrows:
            for leaf in self._leaves(arrow.source):
                choices.setdefault((arrow.event, leaf), []).append(arrow)
        moves_of: dict[_Arrow, list[tuple[str, str]]] = {arrow: [] for arrow in self.arrows}
        for (_, leaf), several in choices.items():
            for arrow in sorted(several, key=lambda each: -len(each.source)):
                moves_of[arrow].append((leaf, self._entry(arrow.target) if arrow.target else leaf))
                if not arrow.guarded:
                    break
        for arrow, moves in moves_of.items():
            for leaf, target in moves:
                self.draft.move(arrow.event, leaf, target, arrow.span)
            if not moves and not arrow.everywhere:
                problem = f"{arrow.event} from {arrow.source} to {arrow.target or arrow.source} never happens"
                remedy = "another transition is always taken first; write its conditions, or delete this one"
                self.draft.notes.append(Note(arrow.span, problem, remedy, arrow.event))

    def _list(self, located: Located) -> Iterator[Located]:
        if isinstance(located.value, list):
            yield from located.value
        elif isinstance(located.value, Computed):
            self._computed(located)
        else:
            raise self.source.error(located.span, "this is not a list", "write a list of states, or of transitions")

    def _computed(self, located: Located) -> None:
        self._note(located, f"{located.value.text} is computed", "write its value, since the file is not run")

    def _name(self, located: Located) -> str:
        """A name, or "" of what is none; that is noted."""
        if isinstance(located.value, Computed):
            self._computed(located)
            return ""
        if isinstance(located.value, list | dict) or located.value is None or not located.words.strip():
            raise self.source.error(located.span, "this is not a name", "write the name of a state or a trigger")
        return located.words.strip()

    # States.

    def _state(self, located: Located, outer: str) -> str:
        """Reads a state, and returns its full name; "" if it is computed."""
        if not isinstance(located.value, dict):
            name = self._name(located)
            return self._leaf(f"{outer}{SEPARATOR}{name}" if outer else name) if name else ""
        parts = located.value
        if "name" not in parts:
            raise self.source.error(located.span, "this state has no name", "write name: in it")
        short = self._name(parts["name"])
        name = f"{outer}{SEPARATOR}{short}" if outer else short
        children = parts.get("children", parts.get("states", parts.get("parallel")))
        for key, value in parts.items():
            if key not in (
                "name",
                "children",
                "states",
                "initial",
                "parallel",
                "ignore_invalid_triggers",
                "tags",
                "final",
            ):
                at = Located(None, located.keys.get(key, value.span), {})
                self._note(at, f"{key} of the state {name} is not in the model", "write what it does as a Rule")
        if children is None:
            return self._leaf(name)
        if "parallel" in parts:
            self._note(parts["parallel"], "parallel states are read as one machine", "write a machine for each")
        nested = self.nested.setdefault(name, _Nested())
        nested.inside = [each for child in self._list(children) if (each := self._state(child, name))]
        first = parts.get("initial")
        if first is not None and isinstance(first.value, str):
            nested.begins = f"{name}{SEPARATOR}{first.value}"
            if nested.begins not in self.draft.states and nested.begins not in self.nested:
                self._note(
                    first, f"{first.value} is not a state in {name}", f"write one; {name} begins in its first state"
                )
                nested.begins = next(iter(nested.inside), "")
        else:
            self._note(
                parts["name"],
                f"the state {name} does not say where it begins",
                "it begins in its first state; write initial: in it",
            )
            nested.begins = next(iter(nested.inside), "")
        return name

    def _leaf(self, name: str) -> str:
        self.draft.state(name)
        return name

    def _leaves(self, name: str) -> list[str]:
        if name in self.nested:
            return [leaf for each in self.nested[name].inside for leaf in self._leaves(each)]
        return [name]

    def _entry(self, name: str) -> str:
        nested = self.nested.get(name)
        return self._entry(nested.begins) if nested is not None and nested.begins else name

    def _known(self, name: str, located: Located) -> None:
        if name not in self.draft.states and name not in self.nested:
            if self.draft.states:
                self._note(
                    located, f"the state {name} is not among the states", "it is added; declare it, or correct the name"
                )
            self.draft.state(name)
            self.outermost[name] = None

    # Transitions.

    def _transition(self, located: Located) -> None:
        if isinstance(located.value, Computed):
            self._computed(located)
            return
        if isinstance(located.value, list):
            if len(located.value) > len(POSITIONS):
                problem = f"this transition has more than {len(POSITIONS)} parts"
                raise self.source.error(located.value[len(POSITIONS)].span, problem, f"write {', '.join(POSITIONS)}")
            parts = dict(zip(POSITIONS, located.value, strict=False))
            keys: Mapping[str, Any] = {name: each.span for name, each in parts.items()}
        elif isinstance(located.value, dict):
            parts, keys = located.value, located.keys
        else:
            raise self.source.error(located.span, "this is not a transition", 'write one: ["start", "idle", "busy"]')
        for key in POSITIONS[:3]:
            if key not in parts:
                raise self.source.error(located.span, f"this transition has no {key}", "write trigger, source and dest")
        event = self._name(parts["trigger"])
        everywhere, same = parts["source"].value == "*", parts["dest"].value == "="
        # With "=", the library takes each inner state for itself; otherwise the outermost states.
        sources = list(self.draft.states if same else self.outermost) if everywhere else self._sources(parts["source"])
        if not sources and parts["source"].value == []:
            self._note(parts["source"], f"{event} has no source, so it never happens", "write one", event)
        if not event or not sources:
            return
        dest = parts["dest"]
        guarded = any(parts[key].value not in (None, []) for key in GUARDS if key in parts)
        for source in sources:
            if dest.value is None:
                target = ""
            elif same:
                target = source
            elif target := self._name(dest):
                self._known(target, dest)
            else:
                continue
            self.arrows.append(_Arrow(event, source, target, located.span, guarded, everywhere))
        for key, value in parts.items():
            if key in POSITIONS[:3] or value.value in (None, []):
                continue
            at = Located(None, value.span if value.span.line == keys[key].line else keys[key], {})
            if key in GUARDS:
                remedy = "declare what it reads as an Attribute, and write it into when"
                self._note(at, f"{key} {_words(value)} of {event} is not in the model", remedy, event)
            else:
                self._note(
                    at, f"{key} {_words(value)} of {event} is not in the model", "write what it does as a Rule", event
                )

    def _sources(self, located: Located) -> list[str]:
        names = located.value if isinstance(located.value, list) else [located]
        result = []
        for each in names:
            if name := self._name(each):
                self._known(name, each)
                result.append(name)
        return list(dict.fromkeys(result))


def _words(located: Located) -> str:
    """A value in a note."""
    if isinstance(located.value, list):
        return ", ".join(_words(each) for each in located.value)
    if isinstance(located.value, Computed):
        return located.value.text
    return located.words or "..."

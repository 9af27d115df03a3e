"""The Python text of the model of some sketches; and a log of it."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from textwrap import wrap

from schedproof.model.lang import Durability

from .layout import WIDTH, Item, call, laid_out, listing
from .sketch import Note, Sketch, identifier
from .source import Source

CAN_END = "can-always-end"
"""The property that an end can be reached from everywhere."""

USED_NAMES = {
    *(
        "Action",
        "AlwaysCanReach",
        "DeadlockFree",
        "Durability",
        "LifeCycle",
        "Machine",
        "Model",
        "Row",
        "Sort",
        "State",
    ),
    *("forall", "variables", "TABLES", "PROPERTIES", "AS_WRITTEN"),
}
"""The names that the text of a model uses itself."""


@dataclass(frozen=True)
class Named:
    """A sketch with the names of its model.

    Attributes:
        sort: the name of the sort, and of its class.
        letter: the letter of its objects, and the name of the variable.
        machine: the name of the variable with the machine.
        actions: event -> the name of its action, and of its variable.
    """

    sketch: Sketch
    sort: str
    letter: str
    machine: str
    actions: Mapping[str, str]

    def of_several(self, name: str, several: bool) -> str:
        """The name of a property; with the sort if there are several machines."""
        return f"{_dashed(self.sort)}-{name}" if several else name


def named(sketches: Sequence[Sketch], system: str) -> list[Named]:
    """The sketches with names that differ from each other and from the words of the language."""
    machines: list[Named] = []
    for sketch in sketches:
        words = re.findall(r"[A-Za-z0-9]+", sketch.name or system) or [system]
        word = "".join(each[0].upper() + each[1:] for each in words).lstrip("0123456789") or "Thing"
        prefixes, number, sort = {_dashed(m.sort) for m in machines}, 2, word
        while sort in USED_NAMES or keyword.iskeyword(sort) or _dashed(sort) in prefixes:
            sort, number = f"{word}{number}", number + 1
        letters = {"l", *(m.letter for m in machines)}  # an l looks like a 1
        alphabet = [*sort.lower(), *"abcdefghijkmnopqrstuvwxyz"]
        letter = next((c for c in alphabet if c.isalpha() and c not in letters), f"x{len(machines)}")
        machines.append(Named(sketch, sort, letter, "", {}))
    used = {*USED_NAMES, *(name for m in machines for name in (m.sort, m.letter))}
    variables: list[str] = []
    for m in machines:
        variable = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", m.sort).upper()
        variables.append(_free(f"{variable}_MACHINE" if variable in used else variable, used))
        used.add(variables[-1])
    result = []
    for m, variable in zip(machines, variables, strict=True):
        actions: dict[str, str] = {}
        for event in m.sketch.events:
            name = event if event.isidentifier() else identifier(event).lower()
            name = f"_{name}" if name[0].isdigit() else name
            name = f"{name}_" if keyword.iskeyword(name) else name
            actions[event] = _free(f"{m.sort.lower()}_{name}" if name in used else name, used)
            used.add(actions[event])
        result.append(replace(m, machine=variable, actions=actions))
    return result


def refuted(machines: Sequence[Named]) -> list[str]:
    """The properties that the model violates: an end that cannot be reached from everywhere."""
    return [m.of_several(CAN_END, len(machines) > 1) for m in machines if m.sketch.ends and m.sketch.endless]


def model_text(machines: Sequence[Named], system: str, source: Source) -> str:
    """The text of ``model.py``."""
    used = ["Action", "DeadlockFree", "LifeCycle", "Machine", "Model", "Row", "Sort", "State", "variables"]
    states = [state for m in machines for state in m.sketch.states]
    if any(state.durability is not Durability.PERSISTENT for state in states):
        used.append("Durability")
    if any(m.sketch.ends for m in machines):
        used += ["AlwaysCanReach"]
    if all(m.sketch.ends for m in machines):
        used += ["forall"]
    lines = [
        f'"""{system}: the machines of {_comment_text(source.path.name)}, as `schedproof init --from` read them.',
        "",
        "DECIDE marks what the file does not say, or what is not in the model.",
        '"""',
        "",
        "from schedproof.model.lang import (",
        *(f"    {name}," for name in sorted(used, key=lambda name: (name.islower(), name))),
        ")",
        "",
    ]
    lines += _sorts(machines)
    for m in machines:
        lines += _general(m, source)
        lines += _machine(m)
    lines += ["# One line for each arrow: an event takes an object from one state to another.", "TABLES = ["]
    for m in machines:
        for move in m.sketch.moves:
            row = call("Row", m.sort, *map(_text, (move.event, move.source, move.target)))
            lines += laid_out(row, "    ", ",")
    lines += ["]", ""]
    lines += _comment(
        "An action may happen whenever its conditions hold. DECIDE who takes each (by=...), which objects it concerns beside this "
        "one, and which other events it causes (Rule)."
    )
    lines += [""]
    for m in machines:
        notes: dict[str, list[Note]] = {}
        for note in m.sketch.notes:
            notes.setdefault(note.event, []).append(note)
        sources: dict[str, dict[str, None]] = {}
        for move in m.sketch.moves:
            sources.setdefault(move.event, {})[move.source] = None
        for event, name in m.actions.items():
            lines += [line for note in notes.get(event, []) for line in _note(note, source)]
            lines += _action(m, event, name, sources[event])
    lines += ["", *_properties(machines)]
    lines += [
        "AS_WRITTEN = Model(",
        f"    system={_text(system)},",
        '    variant="as-written",',
        f"    about={_text('as ' + source.path.name + ' has it')},",
        f"    machines=[{', '.join(m.machine for m in machines)}],",
        "    rows=TABLES,",
        *laid_out(listing([name for m in machines for name in m.actions.values()], "actions"), "    ", ","),
        "    rules=[],",
        "    properties=PROPERTIES,",
        f"    default_scope={{{', '.join(f'{_text(m.sort)}: {2 if len(machines) == 1 else 1}' for m in machines)}}},",
        ")",
    ]
    return "\n".join(lines) + "\n"


def log_text(m: Named, system: str) -> str:
    """A log of one object that goes from the initial state to an end, or as far as it can."""
    goal = next(iter(m.sketch.ends), list(m.sketch.reachable)[-1])
    thing = f"{m.sort.lower()}-1"
    lines: list[object] = [{"schedproof": 1, "system": system, "objects": {m.sort: [thing]}}]
    events = {(move.source, move.target): move.event for move in reversed(m.sketch.moves)}
    for before, after in pairwise(m.sketch.way(goal)):
        event = events[before, after]
        state = {m.sort: {thing: {"state": after}}}
        lines.append({"action": m.actions[event], "parameters": {m.letter: thing}, "state": state})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _sorts(machines: Sequence[Named]) -> list[str]:
    lines = ["# A sort is a kind of object; the letter names its objects in runs, and the variable stands for one."]
    for m in machines:
        lines.append(f"{m.sort} = Sort({_text(m.sort)}, {_text(m.letter)})")
    for m in machines:
        lines.append(f"({m.letter},) = variables({m.sort}, {_text(m.letter)})")
    return [*lines, ""]


def _general(m: Named, source: Source) -> list[str]:
    """The notes that are about no event."""
    lines = []
    for note in m.sketch.notes:
        if note.event not in m.actions:
            lines += _note(note, source)
    return lines


def _machine(m: Named) -> list[str]:
    lines = [f"{m.machine} = Machine(", f"    {m.sort},", "    states=["]
    for state in m.sketch.states:
        arguments = [_text(state.name)]
        if state.durability is not Durability.PERSISTENT:
            arguments.append(f"Durability.{state.durability.name}")
        if state.about:
            arguments.append(f"about={_text(state.about)}")
        if state.name not in m.sketch.reachable:
            lines += _comment(f"DECIDE what leads to {state.name}: no arrow does.", "        ")
            arguments.append("unreachable=True")
        lines += laid_out(call("State", *arguments), "        ", ",")
    return [*lines, "    ],", ")", ""]


def _action(m: Named, event: str, name: str, sources: Iterable[str]) -> list[str]:
    says = "{" + m.letter + "}: " + event.replace("{", "{{").replace("}", "}}")
    action = call(
        f"{name} = Action",
        _text(name),
        listing([m.letter]),
        listing([call(f"{m.letter}.is_", *map(_text, sources))]),
        listing([call(f"{m.letter}.fires", _text(event))]),
        _text(says),
    )
    return laid_out(action)


def _properties(machines: Sequence[Named]) -> list[str]:
    several = len(machines) > 1
    names: set[str] = set()
    lines = [
        *_comment(
            "DECIDE what must hold. These properties follow from the drawing alone. What the system must never do is an "
            'Invariant: Invariant(name="...", says="...", over=[...], given=..., then=...).'
        ),
        "PROPERTIES = [",
    ]
    for m in machines:
        goals = m.sketch.ends or [list(m.sketch.reachable)[-1]]
        for goal in goals:
            name = _free(m.of_several(f"reaches-{_dashed(goal)}", several), names)
            names.add(name)
            life = call(
                "LifeCycle",
                f"name={_text(name)}",
                f"says={_text(f'an object of {m.sort} can become {goal}')}",
                f"sort={m.sort}",
                listing(list(map(_text, m.sketch.way(goal))), "states"),
            )
            lines += laid_out(life, "    ", ",")
        if m.sketch.ends:
            if m.sketch.endless:
                lines += _comment(f"DECIDE: from {', '.join(m.sketch.endless)} nothing leads to an end.", "    ")
            reach = call(
                "AlwaysCanReach",
                f"name={_text(m.of_several(CAN_END, several))}",
                f"says={_text(f'from every state, an object of {m.sort} can still end')}",
                f"over=[{m.letter}]",
                call(f"goal={m.letter}.is_", *map(_text, m.sketch.ends)),
            )
            lines += laid_out(reach, "    ", ",")
    has_ended = [call("forall", m.letter, call(f"{m.letter}.is_", *map(_text, m.sketch.ends))) for m in machines]
    ended: list[Item] = []
    if all(m.sketch.ends for m in machines):
        ended = [f"ended={' & '.join(map(str, has_ended))}"]
    says = "something can happen until all have ended" if ended else "something can always happen"
    lines += laid_out(call("DeadlockFree", 'name="never-stuck"', f"says={_text(says)}", *ended), "    ", ",")
    return [*lines, "]", ""]


def _note(note: Note, source: Source) -> list[str]:
    return _comment(f"DECIDE, line {note.span.line} of {source.path.name}: {note.problem}; {note.remedy}.")


def _comment(text: str, indent: str = "") -> list[str]:
    clean = _comment_text(text)
    return wrap(clean, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ", break_on_hyphens=False)


def _comment_text(text: str) -> str:
    """Text in one line, without what would end a comment or a docstring."""
    return re.sub(r"[^\S ]+|[^\x20-\x7e\xa0-\U0010ffff]", " ", text).replace('"""', "'''").replace("\\", "/")


def _text(text: str) -> str:
    """A text as Python and ruff write it."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if "'" in text or '"' not in text else "'" + quoted[1:-1].replace('\\"', '"') + "'"


def _dashed(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text).lower())) or "x"


def _free(name: str, used: Set[str]) -> str:
    """``name``, or one like it that is not used."""
    number, result = 2, name
    while result in used:
        result, number = f"{name}{number}", number + 1
    return result

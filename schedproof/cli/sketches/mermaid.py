"""Reads the state diagrams of Mermaid: of a file of its own, or of the code blocks of a Markdown file.

States in states become one machine: an arrow from the outer state starts in each state inside, one to it ends in the state in
which it begins. A choice becomes an event for each way. The model has no parallel regions, forks and joins: notes name them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from schedproof.model.lang import Durability
from schedproof.model.lang.excerpt import Span

from .sketch import Draft, Note, Sketch, SketchState, identifier
from .source import Source

FENCES = ("```", "~~~", ":::")
"""What opens and closes a code block of Markdown."""

ENDS = "[*]"
NAME = r'(?:\[\*\]|[^\s:;{}\[\]"<>]+?)'
ARROW = re.compile(rf"\s*(?P<source>{NAME})(?::::\w+)?\s*-->\s*(?P<target>{NAME})(?::::\w+)?\s*(?::(?P<label>.*))?")
LABELLED = re.compile(rf'\s*state\s+"(?P<label>[^"]*)"\s+as\s+(?P<name>{NAME})\s*(?P<opens>{{)?')
DECLARED = re.compile(rf"\s*state\s+(?P<name>{NAME})\s*(?:(?P<opens>{{)|(?:<<|\[\[)(?P<kind>\w+)(?:>>|\]\]))?")
DESCRIBED = re.compile(rf"\s*(?P<name>{NAME})(?::::\w+)?\s*(?::(?P<label>.*))?")
BOX = re.compile(r"(?:any|each) (?:state|of (?P<count>\d+) states \((?P<names>.*)\))")
"""The label of a box for several states, as schedproof draws it."""

ABOUT_LOOKS = re.compile(
    r"\s*(?:%%|direction\b|classDef\b|class\b|style\b|click\b|accTitle\b|accDescr\b|hide\b|scale\b|linkStyle\b)"
)
"""The beginning of lines that say only how a diagram looks."""

NOTE = re.compile(
    r"""note\s+(?:(?:left|right)\s+of\s+[^\s:]+\s*(?P<text>:.*)?|(?P<floating>"[^"]*"\s+as\s+\S+))""", re.IGNORECASE
)
"""The first line of a note. Without a text it goes on until ``end note``."""

EVENT = re.compile(r"(?P<event>[^\[/]*?)\s*(?:\[(?P<guard>.*)\])?\s*(?:/(?P<effect>.*))?")
"""A label as UML has it: an event, its guard and its effect."""


@dataclass
class _Scope:
    """A state with states inside, or the whole diagram."""

    states: dict[str, None] = field(default_factory=dict)
    initials: dict[str, Span] = field(default_factory=dict)


@dataclass(frozen=True)
class _Arrow:
    """An arrow, in the state ``scope``; "" is the whole diagram."""

    source: str
    target: str
    label: str
    line: int
    scope: str


def sketches(source: Source) -> list[Sketch]:
    """The machines of a file, one for each state diagram.

    Raises:
        UserError: it has no state diagram, or one that has no arrow between two states.
    """
    result = []
    for first, last in _diagrams(source):
        result.append(_Reader(source).sketch(first, last))
    if not result:
        seen = next((n for n, line in enumerate(source.lines, 1) if line.strip() and not line.startswith("---")), 1)
        raise source.error(source.span(seen), "no state diagram begins here", "write stateDiagram-v2 as its first line")
    return result


def _diagrams(source: Source) -> Iterator[tuple[int, int]]:
    """The lines of each state diagram: that of its title or its first word, and the one after its last."""
    first, inside = 1, False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith(FENCES):
            if inside:
                yield first, number
            inside, first = False, number + 1
        elif re.match(r"\s*stateDiagram(-v2)?\s*;?\s*$", line):
            if inside:
                yield first, number
                first = number
            inside = True
    if inside:
        yield first, len(source.lines) + 1


class _Reader:
    """Reads one diagram."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.draft = Draft()
        self.scopes: dict[str, _Scope] = {"": _Scope()}
        self.labels: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.arrows: list[_Arrow] = []
        self.outer: dict[str, str] = {}

    def sketch(self, first: int, last: int) -> Sketch:
        self._lines(first, last)
        self._states()
        self._unguarded: dict[str, set[str]] = {}
        self._ways: dict[str, list[_Arrow]] = {}
        for arrow in self.arrows:
            self._ways.setdefault(arrow.source, []).append(arrow)
            for event, guard, _ in _events(arrow):
                if not guard:
                    self._unguarded.setdefault(event, set()).add(arrow.source)
        for arrow in self.arrows:
            self._arrow(arrow)
        self._ends()
        if not self.draft.moves:
            raise self.source.error(
                self.source.span(first),
                "this diagram has no arrow between two states",
                "draw one: Idle --> Busy : start",
            )
        for name, span in self.scopes[""].initials.items():
            if (entry := self._entry(name, span.line)) in self.names:
                self.draft.initials[self.names[entry]] = span
            else:
                self._note(span.line, f"{name} is no state to begin in", "write [*] --> and a state", part=name)
        return self.draft.sketch()

    def _note(self, line: int, problem: str, remedy: str, *, part: str = "", event: str = "") -> None:
        at = self.source.lines[line - 1].find(part) if part else -1
        span = self.source.span(line, at, at + len(part)) if at >= 0 else self.source.span(line)
        self.draft.notes.append(Note(span, problem, remedy, event))

    # The lines.

    def _lines(self, first: int, last: int) -> None:
        open_states: list[tuple[str, int]] = []
        begun, in_note = False, 0
        for number in range(first, last):
            line = self.source.lines[number - 1]
            if not re.search(r"#\w+;\s*$", line):  # an entity
                line = re.sub(r"(\s*;)+\s*$", "", line)
            text = line.strip()
            if not begun:
                begun = text.startswith("stateDiagram")
                if title := re.match(r"""title:\s*["']?(.*?)["']?$""", text):
                    self.draft.name = title.group(1).rpartition(":")[2].strip()
            elif in_note:
                in_note = 0 if re.fullmatch(r"end\s+note", text, re.IGNORECASE) else in_note
            elif comment := NOTE.fullmatch(text):
                in_note = 0 if comment["text"] or comment["floating"] else number
            elif not text or (ABOUT_LOOKS.match(text) and "-->" not in text):
                continue
            elif text == "}" and open_states:
                open_states.pop()
            elif text == "--":
                self._note(number, "parallel regions are read as one machine", "write a machine for each region")
            elif (opened := self._statement(number, line, open_states[-1][0] if open_states else "")) is not None:
                open_states.append((opened, number))
        if in_note:
            raise self.source.error(self.source.span(in_note), "this note has no end", "write end note below its text")
        for name, number in open_states:
            problem = f"the state {name} is not closed, so all lines below are inside it"
            self._note(number, problem, "write } below its last line", part=name)

    def _statement(self, number: int, line: str, scope: str) -> str | None:
        """Reads a statement; the state that it opens, if it opens one."""
        if match := ARROW.fullmatch(line):
            source, target, label = match["source"], match["target"], match["label"] or ""
            if source == ENDS and target != ENDS:
                self._mention(target, scope)
                self.scopes[scope].initials[target] = self.source.span(number)
                if label.strip():
                    self._note(
                        number,
                        f"{label.strip()!r} creates an object",
                        "objects exist from the start",
                        part=label.strip(),
                    )
            elif source != ENDS:
                self._mention(source, scope)
                if target != ENDS:
                    self._mention(target, scope)
                self.arrows.append(_Arrow(source, target, label, number, scope))
            return None
        if match := LABELLED.fullmatch(line):
            self._mention(match["name"], scope)
            self.labels[match["name"]] = _plain(match["label"])
            return self._opened(match)
        if match := DECLARED.fullmatch(line):
            self._mention(match["name"], scope)
            if match["kind"]:
                self.kinds[match["name"]] = match["kind"]
                if match["kind"] != "choice":
                    problem = f"the {match['kind']} {match['name']} is read as a state"
                    self._note(number, problem, "write a machine for each branch, and rules between them")
            return self._opened(match)
        if (match := DESCRIBED.fullmatch(line)) and match["name"] != ENDS:
            self._mention(match["name"], scope)
            if match["label"] is not None:
                labels = (self.labels.get(match["name"], ""), _plain(match["label"]))
                self.labels[match["name"]] = "; ".join(filter(None, labels))
            return None
        self._note(number, "this line is not understood", "write its states and arrows as A --> B : event")
        return None

    def _opened(self, match: re.Match[str]) -> str | None:
        if match["opens"]:
            self.scopes.setdefault(match["name"], _Scope())
            return match["name"]
        return None

    def _mention(self, name: str, scope: str) -> None:
        """The first scope that mentions a state has it."""
        if name not in self.outer:
            self.outer[name] = scope
            self.scopes[scope].states[name] = None

    # The states.

    def _states(self) -> None:
        self.boxes: dict[str, list[str]] = {}
        self.names: dict[str, str] = {}
        boxes: dict[str, re.Match[str]] = {}
        for name in [name for scope in self.scopes.values() for name in scope.states]:
            if (box := BOX.fullmatch(self.labels.get(name, ""))) is not None:
                boxes[name] = box
            elif self.scopes.get(name, _Scope()).states or self.kinds.get(name) == "choice":
                continue
            else:
                state = self._state(name)
                self.names[name] = state.name
                self.draft.states[state.name] = state
        ids = {label: name for name, label in self.names.items()}
        for name, box in boxes.items():
            labels = box["names"].split(", ") if box["names"] else list(ids)
            self.boxes[name] = [ids[label] for label in labels if label in ids]

    def _state(self, name: str) -> SketchState:
        label = self.labels.get(name, "")
        durability = Durability.PERSISTENT
        if lossy := re.fullmatch(rf"(.*) \(({'|'.join(each.value for each in Durability)})\)", label):
            label, durability = lossy[1], Durability(lossy[2])
        # An id cannot have every character: a label that differs from it only in those is the name.
        if label and identifier(label) == identifier(name):
            return SketchState(label, "", durability)
        return SketchState(name, label, durability)

    # The arrows.

    def _leaves(self, name: str) -> list[str]:
        """The states that an arrow from this one starts in."""
        if name in self.boxes:
            return self.boxes[name]
        inside = self.scopes.get(name, _Scope()).states
        return [leaf for each in inside for leaf in self._leaves(each)] if inside else [name]

    def _entry(self, name: str, line: int, passed: frozenset[str] = frozenset()) -> str:
        """The state that an arrow to this one ends in; a name that is none if the states in it begin in none."""
        inside = self.scopes.get(name, _Scope())
        if not inside.states:
            return name
        if not inside.initials:
            first = next(iter(inside.states))
            self._note(
                line, f"{name} does not say where it begins", f"{first} is read; write [*] --> {first} in it", part=name
            )
            return self._entry(first, line, passed | {name})
        begins = next(iter(inside.initials))
        return begins if begins in passed or begins == name else self._entry(begins, line, passed | {name})

    def _ends(self) -> None:
        """Notes each arrow to the end of which the model has nothing, since its state can do something else, too."""
        leaving = {move.source for move in self.draft.moves if move.source != move.target}
        for arrow in self.arrows:
            if arrow.target != ENDS or arrow.label.strip() or arrow.scope or self.kinds.get(arrow.source) == "choice":
                continue
            if any(self.names.get(leaf) in leaving for leaf in self._leaves(arrow.source)):
                problem = f"{arrow.source} can end, and can go on"
                remedy = f"write a state for the end: {arrow.source} --> Ended : end"
                self._note(arrow.line, problem, remedy)

    def _arrow(self, arrow: _Arrow) -> None:
        if self.kinds.get(arrow.source) == "choice":
            # Read with the arrows that lead to the choice.
            if all(other.target != arrow.source for other in self.arrows):
                problem = f"the arrow from the choice {arrow.source} is not in the model"
                self._note(arrow.line, problem, "write an arrow from a state to a state")
            return
        if arrow.target == ENDS:
            if arrow.label.strip() or arrow.scope:
                problem = f"the arrow from {arrow.source} to {ENDS} leads to no state"
                self._note(
                    arrow.line,
                    problem,
                    f"write a state for the end: {arrow.source} --> Ended : {arrow.label.strip() or 'end'}",
                )
            return
        for event, guard, effect in _events(arrow):
            self._follow(arrow, arrow.target, event, guard, effect, arrow.line, frozenset())

    def _follow(
        self, arrow: _Arrow, target: str, event: str, guard: str, effect: str, line: int, passed: frozenset[str]
    ) -> None:
        """Adds the moves of an arrow; through a choice, one for each way, from whose ``line`` they are."""
        if self.kinds.get(target) == "choice" and target not in passed:
            if target not in self._ways:
                self._note(line, f"no arrow leaves the choice {target}", f"draw one: {target} --> Idle : [else]")
            for way in self._ways.get(target, []):
                if way.target == ENDS:
                    problem = f"the arrow from {target} to {ENDS} leads to no state"
                    self._note(way.line, problem, f"write a state for the end: {target} --> Ended")
                    continue
                for more, condition, then in _events(way):
                    # Beside an event, a label without brackets is the condition of this way.
                    self._remark(way.line, event or more, condition or (more if event else ""), then)
                    self._follow(arrow, way.target, event or more, guard, effect, way.line, passed | {target})
            return
        if self.kinds.get(target) == "choice":
            return
        sources = self._leaves(arrow.source)
        loops = arrow.source == target and arrow.source in self.boxes
        if not event:
            event = f"to_{identifier(self.names.get(self._entry(target, arrow.line), target)).lower()}"
            problem = f"the arrow from {arrow.source} to {target} names no event"
            self._note(arrow.line, problem, f"it is read as {event}; write what causes it", event=event)
        self._remark(arrow.line, event, guard, effect)
        inner = self._unguarded.get(event, set())
        for leaf in sources:
            if arrow.source not in self.boxes and not inner.isdisjoint(self._between(leaf, arrow.source)):
                continue  # the arrow of the inner state counts
            if leaf not in self.names:
                continue  # a choice
            after = leaf if loops else self._entry(target, arrow.line)
            if after not in self.names:
                self._note(line, f"{target} is no state to go to", "draw an arrow to a state", part=target)
                return
            self.draft.move(event, self.names[leaf], self.names[after], self.source.span(line))

    def _between(self, inside: str, outside: str) -> Iterator[str]:
        """A state, and those around it up to one that is around them all."""
        while inside and inside != outside:
            yield inside
            inside = self.outer.get(inside, "")

    def _remark(self, line: int, event: str, guard: str, effect: str) -> None:
        if guard:
            problem = f"the guard [{guard}] of {event} is not in the model"
            self._note(
                line, problem, "declare what it reads as an Attribute, and write it into when", part=guard, event=event
            )
        if effect:
            problem = f"the effect {effect!r} of {event} is not in the model"
            self._note(
                line, problem, "write it as a Rule, or as an attribute that the row sets", part=effect, event=event
            )


def _events(arrow: _Arrow) -> Iterator[tuple[str, str, str]]:
    """Event, guard and effect of each part of a label; three empty texts of no label."""
    if not arrow.label.strip():
        yield "", "", ""
        return
    start, depth = 0, 0
    for position, character in enumerate(f"{arrow.label},"):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(character, 0)
        if character == "," and (depth <= 0 or position == len(arrow.label)):
            part = arrow.label[start:position].strip()
            match = EVENT.fullmatch(part)
            event, guard, effect = match.group("event", "guard", "effect") if match is not None else (part, "", "")
            yield _plain(event), _plain(guard or ""), _plain(effect or "")
            start = position + 1


def _plain(text: str) -> str:
    """Text without the entities and line breaks of Mermaid."""
    text = re.sub(r"<br\s*/?>", " ", text)
    text = re.sub(r"#(\d+);", lambda match: chr(int(match[1])) if int(match[1]) < 0x110000 else match[0], text)
    return html.unescape(re.sub(r"#(\w+);", r"&\1;", text)).strip()

"""Reads a description of locks from its YAML file; each element keeps its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as File
from typing import TypeVar

import yaml

from schedproof.model.lang.errors import Place
from schedproof.model.lang.excerpt import Span

from . import words
from .check import check
from .errors import LocksError
from .language import (
    CLOSED,
    MOST_COUNTED,
    MOST_ORDERED,
    UNBOUNDED,
    Case,
    Condition,
    Counter,
    Counts,
    Kind,
    LockClass,
    Locks,
    Mode,
    Object,
    Operation,
    OrderRow,
    Repair,
    Rule,
    Select,
    SeveralRule,
    Step,
    Thread,
)

KEYS = (
    *("about", "document", "amends", "classes", "order", "closed", "rules", "operations"),
    *("objects", "channels", "counters", "conditions", "threads", "together", "drops", "refuted", "repairs"),
)
REPAIR_KEYS = ("checks", "name", "wrong", "shown", "rests", "lines")
LARGEST = 1_000_000
"""The most bytes of a file. Descriptions are a few lines; the limit avoids reading a wrong file whole."""

FAST: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader that reads files, ten times as fast where PyYAML has it."""

MOST_TOGETHER = 4
"""The most threads of ``together``."""

DEEPEST = 100
"""The deepest nesting of lists and mappings."""

T = TypeVar("T")
Drops = set[tuple[str, str]]
Entry = tuple[yaml.ScalarNode, yaml.Node]


NOTHING = Locks("", "", "", {}, [], False, [], {}, {}, {}, {}, (), frozenset(), (), Place("", 1))
"""The base of a description that amends none."""


def read(file: File) -> Locks:
    """The description in ``file``, checked.

    Raises:
        LocksError: it cannot be read, or contradicts itself.
    """
    return _read(file, frozenset())


def _read(file: File, within: frozenset[File]) -> Locks:
    """``within``: the files that amend it, directly or indirectly."""
    nowhere = Place(str(file), 1)
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise LocksError(
                nowhere, f"the file is longer than {LARGEST} bytes", "write a description of locks, as YAML"
            )
        text = content.decode()
    except OSError as error:
        problem = f"it cannot be read: {error.strerror}"
        raise LocksError(nowhere, problem, "name a file that you can read", unreadable=True) from None
    except UnicodeDecodeError:
        raise LocksError(nowhere, "the file is not UTF-8", "write a description of locks, as YAML") from None
    except ValueError:
        raise LocksError(nowhere, f"{str(file)!r} cannot be a file name", "name a file", unreadable=True) from None
    return _Reader(str(file)).locks(text, within)


def parse(text: str, file: str) -> Locks:
    """The description in ``text``; places name ``file`` as their file.

    Raises:
        LocksError: it is malformed or contradicts itself.
    """
    return _Reader(file).locks(text)


class _Reader:
    """Reads YAML nodes of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._lines: list[str] = []

    def place(self, node: yaml.Node) -> Place:
        """The place of a node; of several lines, the first counts."""
        first, last = node.start_mark, node.end_mark
        return self._at(first.line, first.column, last.column if last.line == first.line else first.column + 1)

    def _at(self, line: int, column: int, end: int) -> Place:
        """The place of a part of a line; YAML counts lines and characters from 0, a span counts bytes."""
        text = self._lines[line] if line < len(self._lines) else ""
        before, until = (len(text[:each].encode()) for each in (column, end))
        return Place(self.file, line + 1, Span(line + 1, before, line + 1, until))

    def locks(self, text: str, within: frozenset[File] = frozenset()) -> Locks:
        root = self._root(text)
        given = {key.value: value for key, value in self.mapping(root, "a description of locks")}
        for key, _ in self.mapping(root, ""):
            if key.value not in KEYS:
                raise LocksError(self.place(key), f"unknown key {key.value!r}", f"choose from {', '.join(KEYS)}")
        base = self.amended(given["amends"], within) if "amends" in given else NOTHING
        dropped = self.dropped(given["drops"], base) if "drops" in given else set()

        def together(part: str, elements: Mapping[str, T], base_elements: Mapping[str, T]) -> dict[str, T]:
            return {
                name: one
                for name, one in {**base_elements, **elements}.items()
                if name in elements or (part, name) not in dropped
            }

        classes = self.each(given.get("classes"), "classes", self.lock_class)
        objects = self.each(given.get("objects"), "objects", self.object)
        # A lock without a declared class: rw or mutex is the name of its class.
        plain = {o.of: o.place for o in objects if o.of in list(Kind)}
        classes += [LockClass(name, Kind(name), (), (), place) for name, place in plain.items()]
        rows = [row for line, node in self.by_line(given.get("order")) for row in self.rows(line, node)]
        rules = self.named(self.each(given.get("rules"), "rules", self.rule), "rule")
        operations = self.named(self.each(given.get("operations"), "operations", self.operation), "operation")
        channels = self.each(given.get("channels"), "channels", self.channel)
        contexts = {key.value for key, value in self.entries(given.get("channels")) if value.value == "context"}
        kinds = {key.value: self.kinds(value) for key, value in self.entries(given.get("channels"))}
        counters = self.named(self.each(given.get("counters"), "counters", self.counter), "counter")
        conditions = self.named(self.each(given.get("conditions"), "conditions", self.condition), "condition")
        threads = self.named(self.each(given.get("threads"), "threads", self.thread), "thread")
        description = Locks(
            name=File(self.file).stem,
            about=self.text(given["about"]) if "about" in given else base.about,
            document=self.text(given["document"]) if "document" in given else base.document,
            classes=together("classes", self.named(classes, "class"), base.classes),
            order=[*base.order, *rows],
            closed=self.flag(given["closed"]) if "closed" in given else base.closed,
            rules=[*together("rules", rules, {r.name: r for r in base.rules}).values()],
            operations=together("operations", operations, base.operations),
            objects=together("objects", self.named(objects, "object"), base.objects),
            channels=together("channels", dict(channels), base.channels),
            contexts=frozenset(contexts | (base.contexts - {name for name, _ in channels})),
            kinds={name: each for name, each in together("channels", kinds, base.kinds).items() if each},
            counters=together("counters", counters, base.counters),
            conditions=together("conditions", conditions, base.conditions),
            threads=together("threads", threads, base.threads),
            together=self.together(given["together"]) if "together" in given else base.together,
            refuted=frozenset(self.text(n) for n in self.sequence(given["refuted"], "refuted"))
            if "refuted" in given
            else frozenset(),
            repairs=self.each(given.get("repairs"), "repairs", self.repair),
            place=self.place(root),
        )
        check(description, self.place(root))
        return description

    def amended(self, node: yaml.Node, within: frozenset[File]) -> Locks:
        """The description that this one amends; its file is in the same folder."""
        if File(name := self.text(node)).name != name or "\0" in name:
            raise LocksError(
                self.place(node), f"{name!r} is not a file beside this one", "write the name of one, without a folder"
            )
        file = File(self.file).parent / name
        own_path = File(self.file).resolve()
        if file.resolve() in {own_path, *within}:
            raise LocksError(self.place(node), f"{file.name} amends itself", "amend another description")
        try:
            return _read(file, within | {own_path})
        except LocksError as error:
            if error.place.file == str(file) and error.unreadable:
                raise LocksError(self.place(node), f"{file.name}: {error.problem}", "name a file that exists") from None
            raise

    def dropped(self, node: yaml.Node, base: Locks) -> Drops:
        """The elements of the amended description to drop, by name; ``threads.NAME`` if several have the name."""
        parts: dict[str, Iterable[str]] = {
            "classes": base.classes,
            "rules": [rule.name for rule in base.rules],
            "operations": base.operations,
            "objects": base.objects,
            "channels": base.channels,
            "counters": base.counters,
            "conditions": base.conditions,
            "threads": base.threads,
        }
        elements = set()
        for each in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            reference = self.text(each)
            of, _, name = reference.rpartition(".")
            among = [part for part, names in parts.items() if name in names and of in ("", part)]
            if not among:
                raise LocksError(
                    self.place(each),
                    f"drops names {reference!r}, which the amended description does not have",
                    "name a part of it",
                )
            if len(among) > 1:
                ways = " or ".join(f"{part}.{name}" for part in among)
                raise LocksError(
                    self.place(each),
                    f"drops names {reference!r}, of which the amended description has several",
                    f"write {ways}",
                )
            elements.add((among[0], name))
        return elements

    def _root(self, text: str) -> yaml.Node:
        nowhere = Place(self.file, 1)
        self._lines = text.splitlines()
        try:
            root = self._composed(text, FAST) or self._composed(text, yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            line, column = (mark.line, mark.column) if (mark := error.problem_mark) else (0, 0)
            problem = " ".join(filter(None, [error.context, error.problem]))
            place = self._at(line, column, column + 1)
            raise LocksError(place, f"the file is not YAML: {problem}", "correct it") from None
        except yaml.YAMLError as error:
            raise LocksError(nowhere, f"the file is not YAML: {' '.join(str(error).split())}", "correct it") from None
        except RecursionError:
            raise LocksError(
                nowhere, "the file is nested too deeply", "write a description of locks, as YAML"
            ) from None
        if root is None:
            raise LocksError(
                nowhere, "the file is empty", "write at least the objects that have locks, and the threads"
            )
        return root

    def _composed(self, text: str, loader: type[yaml.SafeLoader]) -> yaml.Node | None:
        """The root node; None for an empty file, or one that the fast loader refuses: the other one says why."""
        depth = 0
        try:
            for event in yaml.parse(text, Loader=loader):
                depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
                line = event.start_mark.line + 1 if event.start_mark else 1
                if depth > DEEPEST:
                    problem = f"the file is nested more than {DEEPEST} deep"
                    raise LocksError(Place(self.file, line), problem, "describe less of it at once")
                if isinstance(event, yaml.AliasEvent):
                    problem = "an alias (*) cannot be used here"
                    raise LocksError(Place(self.file, line), problem, "write what it stands for")
            return yaml.compose(text, Loader=loader)
        except yaml.YAMLError:
            if loader is yaml.SafeLoader:
                raise
            return None

    # --- the shapes of YAML

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise LocksError(self.place(node), "a list or a mapping cannot be used here", "write a single line")
        return str(node.value)

    def flag(self, node: yaml.Node) -> bool:
        if (word := self.text(node)) not in ("true", "false"):
            raise LocksError(self.place(node), f"{word!r} is not true or false", "write true or false")
        return word == "true"

    def number(self, node: yaml.Node) -> int:
        if not re.fullmatch(r"\d{1,6}", digits := self.text(node)):
            raise LocksError(
                self.place(node), f"{digits!r} is not a number up to 999999", "write a whole number without a sign"
            )
        return int(digits)

    def numbers(self, node: yaml.Node | None) -> tuple[int, ...]:
        if node is None:
            return ()
        return tuple(self.number(n) for n in (node.value if isinstance(node, yaml.SequenceNode) else [node]))

    def together(self, node: yaml.Node) -> tuple[int, ...]:
        """The numbers of threads that run at once."""
        numbers = self.numbers(node)
        if wrong := [number for number in numbers if not 1 <= number <= MOST_TOGETHER]:
            problem = f"together: {wrong[0]} threads cannot be explored at once"
            raise LocksError(self.place(node), problem, f"write 1 to {MOST_TOGETHER}")
        return numbers

    def mapping(self, node: yaml.Node, what: str) -> list[Entry]:
        if not isinstance(node, yaml.MappingNode):
            raise LocksError(
                self.place(node), f"{what} is not written as KEY: VALUE", "write KEY: VALUE, a line for each"
            )
        seen: set[str] = set()
        for key, _ in node.value:
            if (name := self.text(key)) in seen:
                raise LocksError(self.place(key), f"{name!r} is written twice", "give one of them another name")
            seen.add(name)
        return list(node.value)

    def sequence(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise LocksError(self.place(node), f"{what} is not a list", "begin each line of it with a dash")
        return list(node.value)

    def each(self, node: yaml.Node | None, what: str, one: Callable[[yaml.ScalarNode, yaml.Node], T]) -> list[T]:
        return [] if node is None else [one(key, value) for key, value in self.mapping(node, what)]

    def entries(self, node: yaml.Node | None) -> list[Entry]:
        return [] if node is None else self.mapping(node, "")

    def by_line(self, node: yaml.Node | None) -> list[tuple[int | None, yaml.Node]]:
        """The elements of a list, or of a mapping whose keys are the document's lines."""
        if node is None:
            return []
        if isinstance(node, yaml.MappingNode):
            lines: list[tuple[int | None, yaml.Node]] = [(self.number(key), n) for key, n in self.mapping(node, "")]
        else:
            lines = [(None, node)]
        return [
            (line, each)
            for line, value in lines
            for each in (value.value if isinstance(value, yaml.SequenceNode) else [value])
        ]

    def named(self, elements: list[T], what: str) -> Mapping[str, T]:
        by_name: dict[str, T] = {}
        for element in elements:
            name, place = element.name, element.place  # type: ignore[attr-defined]
            if name in by_name:
                raise LocksError(place, f"{what} {name} is written twice", "give one of them another name")
            by_name[name] = element
        return by_name

    # --- the elements of a description

    def rows(self, line: int | None, node: yaml.Node) -> list[OrderRow]:
        return words.order_rows(self.text(node), line, self.place(node))

    def lock_class(self, key: yaml.ScalarNode, node: yaml.Node) -> LockClass:
        place, name = self.place(key), key.value
        if not re.fullmatch(words.CLASS, name):
            raise LocksError(place, f"class {name!r} does not begin with a capital", f"write {name.capitalize()!r}")
        kind, inside, fields = Kind.RW, [], []
        entries = [] if isinstance(node, yaml.ScalarNode) and not node.value else self.mapping(node, f"class {name}")
        for what, value in entries:
            match what.value:
                case "lock":
                    if (word := self.text(value)) not in list(Kind):
                        raise LocksError(
                            self.place(value), f"unknown kind of lock {word!r}", f"choose from {', '.join(Kind)}"
                        )
                    kind = Kind(word)
                case "in":
                    inside = self.words(value, words.CLASS, "a class")
                case "has":
                    fields = self.words(value, words.NAME, "a field")
                case other:
                    raise LocksError(self.place(what), f"unknown key {other!r} of a class", "choose from lock, in, has")
        return LockClass(name, kind, tuple(inside), tuple(fields), place)

    def words(self, node: yaml.Node, form: str, what: str) -> list[str]:
        """A list of names, or one name."""
        names = []
        for each in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not re.fullmatch(form, name := self.text(each)):
                capital = "a capital" if form == words.CLASS else "a small letter"
                raise LocksError(
                    self.place(each), f"{name!r} is not {what}", f"write a name that begins with {capital}"
                )
            names.append(name)
        return names

    def rule(self, key: yaml.ScalarNode, node: yaml.Node) -> Rule | SeveralRule:
        line, sentence = None, ""
        rule_node: yaml.Node | None = None
        if isinstance(node, yaml.ScalarNode):
            rule_node = node
        else:
            for what, value in self.mapping(node, f"rule {key.value}"):
                match what.value:
                    case "line":
                        line = self.number(value)
                    case "sentence":
                        sentence = self.text(value)
                    case "rule":
                        rule_node = value
                    case other:
                        raise LocksError(
                            self.place(what), f"unknown key {other!r} of a rule", "choose from line, sentence, rule"
                        )
        if rule_node is None:
            raise LocksError(self.place(key), f"rule {key.value} is empty", "write rule: in it")
        return words.rule(key.value, self.text(rule_node), line, sentence, self.place(rule_node))

    def operation(self, key: yaml.ScalarNode, node: yaml.Node) -> Operation:
        place = self.place(key)
        name, parameters, positions = words.signature(key.value, place)
        if isinstance(node, yaml.SequenceNode):
            return Operation(name, parameters, positions, (), self.steps(node), None, place)
        line, under, steps = None, [], None
        for what, value in self.mapping(node, f"operation {name}"):
            match what.value:
                case "line":
                    line = self.number(value)
                case "under":
                    under = [words.under(self.text(n), ln, self.place(n)) for ln, n in self.by_line(value)]
                case "steps":
                    steps = self.steps(value)
                case other:
                    raise LocksError(
                        self.place(what), f"unknown key {other!r} of an operation", "choose from line, under, steps"
                    )
        if steps is None:
            raise LocksError(place, f"operation {name} has no steps", "write steps: in it")
        return Operation(name, parameters, positions, tuple(under), steps, line, place)

    def steps(self, node: yaml.Node) -> tuple[Step, ...]:
        if isinstance(node, yaml.ScalarNode) and node.value:
            return (words.plain_step(node.value, self.place(node)),)
        return tuple(self.step(each) for each in self.sequence(node, "what is done here"))

    def step(self, node: yaml.Node) -> Step:
        if isinstance(node, yaml.ScalarNode):
            return words.plain_step(node.value, self.place(node))
        if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
            raise LocksError(
                self.place(node), "this is not one step", "begin each step with a dash on a line of its own"
            )
        ((key, value),) = node.value
        if self.has_branches(key, value):
            cases = self.branches(key, value)
            return Select(text=cases[0].text, place=self.place(key), cases=cases)
        return words.block(
            self.text(key),
            self.place(key),
            lambda: self.steps(value),
            lambda: tuple(self.steps(each) for each in self.sequence(value, "what is done either way")),
            lambda: tuple(
                case for each in self.sequence(value, "what a select waits for") for case in self.cases(each)
            ),
        )

    def cases(self, node: yaml.Node) -> tuple[Case, ...]:
        """A case of a select: a line, or a line with steps or branches below it. Each branch is a case of its own."""
        if isinstance(node, yaml.ScalarNode):
            return (words.case(node.value, self.place(node), None),)
        if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
            raise LocksError(
                self.place(node), "this is not one case", "begin each case with a dash on a line of its own"
            )
        ((key, value),) = node.value
        if self.has_branches(key, value):
            return self.branches(key, value)
        return (words.case(self.text(key), self.place(key), lambda: self.steps(value)),)

    def has_branches(self, key: yaml.Node, node: yaml.Node) -> bool:
        """Whether a step has a block of steps for each kind of message."""
        return isinstance(node, yaml.MappingNode) and self.text(key).split()[:1] == ["receive"]

    def branches(self, key: yaml.Node, node: yaml.Node) -> tuple[Case, ...]:
        """The cases of a receiver, one for each kind of message."""
        text = self.text(key)
        if not (entries := self.mapping(node, text)):
            raise LocksError(self.place(key), f"{text!r} has no branches", "write a kind of message and its steps")
        return tuple(words.branch(text, kind.value, self.place(kind), self.steps(steps)) for kind, steps in entries)

    def object(self, key: yaml.ScalarNode, node: yaml.Node) -> Object:
        place = self.place(key)
        if not re.fullmatch(words.NAME, key.value):
            raise LocksError(place, f"{key.value!r} is not a name of an object", "begin it with a small letter")
        of, inside = words.declared(self.text(node), self.place(node))
        return Object(key.value, of, inside, place)

    def channel(self, key: yaml.ScalarNode, node: yaml.Node) -> tuple[str, int]:
        if not re.fullmatch(words.NAME, key.value):
            raise LocksError(
                self.place(key), f"{key.value!r} is not a name of a channel", "begin it with a small letter"
            )
        if isinstance(node, yaml.MappingNode):
            return key.value, self.capacity_with_kinds(key, node)
        if self.text(node) == "context":
            return key.value, 0
        return key.value, UNBOUNDED if self.text(node) == "unbounded" else self.number(node)

    def capacity_with_kinds(self, key: yaml.ScalarNode, node: yaml.Node) -> int:
        """The capacity of a channel whose messages have kinds."""
        given = {what.value: value for what, value in self.mapping(node, "a channel")}
        for what, _ in self.mapping(node, "a channel"):
            if what.value not in ("capacity", "kinds"):
                problem = f"unknown key {what.value!r} of a channel"
                raise LocksError(self.place(what), problem, "choose from capacity, kinds")
        if len(given) < 2:
            problem = f"channel {key.value} has no {'kinds' if 'capacity' in given else 'capacity'}"
            raise LocksError(self.place(key), problem, "write, for example, {capacity: 1, kinds: [put, get]}")
        if (text := self.text(given["capacity"])) == "unbounded" or (
            number := self.number(given["capacity"])
        ) > MOST_ORDERED:
            problem = f"channel {key.value} has kinds of messages and the capacity {text}"
            remedy = f"write at most {MOST_ORDERED}: their order is part of each state"
            raise LocksError(self.place(given["capacity"]), problem, remedy)
        return number

    def kinds(self, node: yaml.Node) -> tuple[str, ...]:
        """The kinds of the messages of a channel; () for one without."""
        if not isinstance(node, yaml.MappingNode):
            return ()
        listed = next(value for what, value in node.value if what.value == "kinds")
        names = self.words(listed, words.NAME, "a kind of message")
        if CLOSED in names or len(set(names)) < len(names) or not names:
            problem = f"the kinds of messages {', '.join(names) or 'are an empty list'}"
            raise LocksError(self.place(listed), problem, f"write different names, none of them {CLOSED!r}")
        return tuple(names)

    def counter(self, key: yaml.ScalarNode, node: yaml.Node) -> Counter:
        place = self.place(key)
        if not re.fullmatch(words.NAME, key.value):
            raise LocksError(place, f"{key.value!r} is not a name of a counter", "begin it with a small letter")
        match = re.fullmatch(r"(group)|semaphore (\d{1,3})( barging)?|(\d{1,3})", self.text(node))
        first = int(match[2] or match[4] or 0) if match is not None else MOST_COUNTED + 1
        if match is None or first > MOST_COUNTED:
            raise LocksError(
                self.place(node),
                f"{self.text(node)!r} is not a counter",
                f"write its first number, at most {MOST_COUNTED}; or group; or semaphore NUMBER, or semaphore NUMBER barging",
            )
        counts = Counts.GROUP if match[1] else Counts.SEMAPHORE if match[2] else Counts.NUMBER
        return Counter(key.value, counts, first, place, barging=bool(match[3]))

    def condition(self, key: yaml.ScalarNode, node: yaml.Node) -> Condition:
        place = self.place(key)
        if not re.fullmatch(words.NAME, key.value):
            raise LocksError(place, f"{key.value!r} is not a name of a condition", "begin it with a small letter")
        match = re.fullmatch(rf"(?:(rlock|wlock) )?({words.NAME})", text := self.text(node))
        if match is None:
            raise LocksError(
                self.place(node), f"{text!r} is not a lock", "write its name; or rlock NAME, or wlock NAME"
            )
        return Condition(key.value, match[2], Mode(match[1] or Mode.LOCK), place)

    def repair(self, key: yaml.ScalarNode, node: yaml.Node) -> Repair:
        place, why = self.place(key), key.value
        if not isinstance(node, yaml.MappingNode):
            return Repair(why, self.texts(node), "", "", "", (), (), place)
        given = {what.value: value for what, value in self.mapping(node, "a repair")}
        if other := next((what for what, _ in node.value if what.value not in REPAIR_KEYS), None):
            raise LocksError(
                self.place(other), f"unknown key {other.value!r} of a repair", f"choose from {', '.join(REPAIR_KEYS)}"
            )
        if "checks" not in given:
            raise LocksError(
                place, "this repair has no checks", "write checks: in it, the checks that pass because of it"
            )
        checks = self.texts(given["checks"])
        name, wrong, shown = (self.text(given[key]) if key in given else "" for key in ("name", "wrong", "shown"))
        if shown and shown not in checks:
            raise LocksError(
                self.place(given["shown"]),
                f"shown is {shown!r}, which it does not repair",
                f"choose from {', '.join(checks)}",
            )
        rests = self.texts(given["rests"]) if "rests" in given else ()
        return Repair(why, checks, name, wrong, shown, rests, self.numbers(given.get("lines")), place)

    def texts(self, node: yaml.Node) -> tuple[str, ...]:
        """The lines of a list, or one line."""
        return tuple(self.text(each) for each in (node.value if isinstance(node, yaml.SequenceNode) else [node]))

    def thread(self, key: yaml.ScalarNode, node: yaml.Node) -> Thread:
        return Thread(key.value, self.steps(node), self.place(key))

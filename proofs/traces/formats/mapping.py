"""Mapping files: how the lines of a log become records of the plain format, without Python code.

A mapping is data. It selects values of a line in JMESPath, a query language for JSON (jmespath.org). A regular
expression with named groups turns lines of text into objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import jmespath
import orjson
from jmespath.exceptions import JMESPathError

from schedproof.model.lang import Model
from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import Line, Part, PartPlace, TextLine
from schedproof.proofs.traces.files.schema import Shape
from schedproof.proofs.traces.files.yaml_file import YamlFile, read_yaml

from .format import Plain
from .mapping_names import check_names

SCHEMA = Path(__file__).parent / "mapping.schema.json"

LONGEST_QUERY = 10_000
"""The limit for the characters of a query: its parser takes far more than linear time."""

Take = Callable[[Any], Any]
"""Takes a value from a line."""

MOST_LISTED = 10
"""The limit for the line numbers that a report lists as fitting no rule."""

LONGEST_QUOTE = 80
"""The limit for the characters of a line that a message quotes."""

QUOTED = """'"agent.id"'"""
"""A query for a field whose name is not a plain word, as YAML writes it."""

WHOLE = "$."
"""How a query in an entry with ``each`` begins that asks the whole line, and not the element."""

NULL = "null"
"""The text of null."""

CONSTANT = ("action", "event")
"""The fields of a record that may be constants. All others are taken from the line."""


ALONE = {
    "stutter": "leave one of the two out, since a stutter shows no state",
    "records": "write it in each of the records",
}
"""The keys that make a rule's records by themselves, and what to write instead of other keys beside them."""


@dataclass(frozen=True)
class Rule:
    """How lines of one kind become records.

    Args:
        place: the file and line of the rule. The file may be a mapping that another extends.
        fits: returns whether a line is of this kind.
        records: make the records of a line; empty for a line that is no step and shows nothing.
    """

    place: tuple[str, int]
    fits: Take
    records: Sequence[Take]


@dataclass(eq=False)
class Query:
    """A query for a value, which counts how often it found one.

    Args:
        text: the query.
        place: its file and line.
        search: returns what it finds in a line.
        lines: the number of lines, or elements of lists, in which it was searched.
        hits: the number of those in which it found something.
    """

    text: str
    place: tuple[str, int]
    search: Take
    lines: int = 0
    hits: int = 0

    def __call__(self, line: Any) -> Any:
        value = self.search(line)
        if "to_string" in self.text:
            value = self._without_null(value)
        self.lines += 1
        self.hits += value is not None
        return value

    def _without_null(self, value: Any) -> Any:
        """What ``to_string`` found: of null, which it finds where a field is missing, it makes the text "null".

        Raises:
            TypeError: it found nothing in an element of a list.
        """
        if isinstance(value, list) and NULL in value:
            raise TypeError(f"the query {self.text} finds nothing in an element of a list")
        return None if value == NULL else value


@dataclass(frozen=True)
class _Source:
    """A mapping file, the tables of names of all files, and the queries so far."""

    file: YamlFile
    names: Mapping[str, Mapping[str, Any]]
    queries: list[Query]


@dataclass
class Counts:
    """Counts of what happened to the lines.

    Args:
        skipped: how many lines fitted no rule.
        first_skipped: the numbers of the first of these.
        quoted: the first of these.
        stuttered: how many lines fitted a rule that makes no record.
        fitted: the places of the rules that fitted a line.
        ended: whether there are no more lines. Until then a rule that fitted none may still fit one.
    """

    skipped: int = 0
    first_skipped: list[int] = field(default_factory=list)
    quoted: str = ""
    stuttered: int = 0
    fitted: set[tuple[str, int]] = field(default_factory=set)
    ended: bool = False

    def skip(self, number: int, line: Any) -> None:
        """Counts a line that fitted no rule."""
        self.quoted = self.quoted or _quoted(line)
        self.skipped += 1
        if len(self.first_skipped) < MOST_LISTED:
            self.first_skipped.append(number)

    def listed(self) -> str:
        """The numbers of the lines that fitted no rule."""
        listed = [*map(str, self.first_skipped), *(["..."] if self.skipped > len(self.first_skipped) else [])]
        return f"line{'s' if self.skipped > 1 else ''} {', '.join(listed)}"


@dataclass(frozen=True)
class LogMapping:
    """How the lines of a log become records.

    Args:
        file: the name of the mapping file.
        header: the header of the plain trace, with the place of each part.
        pattern: turns a line of text into an object; None for lines that are JSON.
        rules: the rules. The first that fits a line applies.
        skips: whether lines that fit no rule are skipped. If False, they are an error.
        sources: the mapping file, and those that it extends.
        queries: the queries for values in the rules. They count what they find in one log.
    """

    file: str
    header: Line
    pattern: re.Pattern[str] | None
    rules: Sequence[Rule]
    skips: bool
    sources: Sequence[YamlFile] = ()
    queries: Sequence[Query] = ()

    def check(self, model: Model, others: Callable[[], Iterable[Model]]) -> None:
        """Checks the names of the model in all rules, as :func:`check_names`."""
        for source in self.sources:
            check_names(source, model, others)

    def read(self, lines: Iterator[TextLine] | Iterator[Line]) -> Plain:
        """The trace that the lines contain."""
        counts = Counts()
        return Plain(self.header, self.records(lines, counts), lambda: self.note(counts))

    def records(self, lines: Iterator[TextLine] | Iterator[Line], counts: Counts) -> Iterator[Line]:
        """The records that the lines contain.

        Raises:
            TraceError: a line is not JSON, does not match the pattern, or fits no rule.
        """
        for line in lines:
            value = self.parsed(line)
            rule = next((r for r in self.rules if value is not None and _asked(r.fits, value, line)), None)
            if rule is None:
                if not self.skips:
                    raise TraceError(
                        f"{line.file}, line {line.number}: fits no rule of {self.file}: {_quoted(value)}; "
                        f'add a rule, or write "otherwise: skip" to skip and list such lines',
                        line.number,
                    )
                counts.skip(line.number, line.text if isinstance(line, TextLine) else value)
                continue
            counts.fitted.add(rule.place)
            counts.stuttered += not rule.records
            for make in rule.records:
                made_by = f"the rule in {rule.place[0]}, line {rule.place[1]}"
                yield Line(line.file, line.number, _asked(make, value, line, made_by), made_by)
        counts.ended = True

    def parsed(self, line: TextLine | Line) -> Any:
        """A line as an object; None if it is skipped."""
        if isinstance(line, Line):
            return line.value
        if self.pattern is None:
            if self.skips and not line.text.lstrip().startswith("{"):
                return None  # a banner or a stack trace; a record that is damaged is an error
            return line.object().value
        match = self.pattern.search(line.text)
        if match is not None:
            return match.groupdict()
        if not self.skips:
            raise TraceError(
                f"{line.file}, line {line.number}: does not match the pattern of {self.file}: {_quoted(line.text)}; "
                f'correct the pattern, or write "otherwise: skip" to skip and list such lines',
                line.number,
            )
        return None

    def note(self, counts: Counts) -> str:
        """The note of a report on lines that made no record, and on rules that fitted no line."""
        idle = [rule.place for rule in self.rules if rule.place not in counts.fitted] if counts.ended else []
        where = _places(idle)
        first = (
            "" if counts.fitted else f" (line {counts.first_skipped[0]} is {counts.quoted})" if counts.quoted else ""
        )
        parts = [
            _lines(counts.stuttered, "is", "are") + " no step" if counts.stuttered else "",
            f"{_lines(counts.skipped, 'fits', 'fit')} no rule of {self.file}: {counts.listed()}{first}"
            if counts.skipped
            else "",
            f"no line fits the rule{'s' if len(idle) > 1 else ''} in {where}" if idle else "",
            *(
                f"the query {q.text} in {_places([q.place])}, finds nothing in any line"
                for q in self._idle_queries(counts)
            ),
        ]
        return "; ".join(part for part in parts if part)

    def _idle_queries(self, counts: Counts) -> list[Query]:
        """Queries that found nothing in any line, although they were asked: perhaps they are misspelt."""
        return [query for query in self.queries if counts.ended and query.lines and not query.hits]


def _quoted(value: Any) -> str:
    """A line as a message quotes it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 3]}..."


def _places(places: Sequence[tuple[str, int]]) -> str:
    """Places in words, the lines of one file together: ``a.yaml, lines 3 and 9, and b.yaml, line 2``."""
    lines: dict[str, list[str]] = {}
    for file, number in places:
        lines.setdefault(file, []).append(str(number))
    return "; ".join(f"{file}, line{'s' if len(some) > 1 else ''} {', '.join(some)}" for file, some in lines.items())


def _lines(number: int, one: str, many: str) -> str:
    return f"1 line {one}" if number == 1 else f"{number} lines {many}"


def read_mapping(path: Path, *, by_name: bool = False) -> LogMapping:
    """The mapping in a file, merged with the mappings that it extends.

    Args:
        path: the file.
        by_name: whether messages have only the names of files, since their reader must not see the paths.

    Raises:
        TraceError: it is unreadable, has the wrong shape, or extends itself.
    """
    merged: dict[str, Any] = {"names": {}, "header": {}}
    parts: dict[Part, PartPlace] = {}
    chain: list[tuple[YamlFile, list[Rule]]] = []
    seen: list[Path] = []
    at: Path | None = path
    while at is not None:
        file = read_yaml(at, at.name if by_name else None)
        resolved = at.resolve()
        if resolved in seen:
            raise chain[-1][0].error(
                f"extends {at.name}, which extends this file in turn; leave out one of the two 'extends'", "extends"
            )
        seen.append(resolved)
        file.check(Shape.load(SCHEMA, "mapping"))
        chain.append((file, []))
        more = file.data.get("extends")
        at = at.parent / more if more is not None else None
    for file, _ in reversed(chain):
        for key in ("pattern", "otherwise", "system"):
            if key in file.data:
                merged[key] = file.data[key], file
                parts[(key,)] = _place_of(file, (key,))
        for key in ("names", "header"):
            merged[key] |= file.data.get(key, {})
        parts |= {part[1:]: _place_of(file, part) for part in file.keys if part[:1] == ("header",)}
    queries: list[Query] = []
    rules = [rule for file, _ in chain for rule in _rules(_Source(file, merged["names"], queries))]
    first = chain[0][0]
    if "system" not in merged:
        raise first.error('"system" is missing; write, for example, system: hived')
    if not rules:
        raise first.error('"lines" is missing; write which lines are which steps')
    header_fields = {"schedproof": 1, **merged["header"], "system": merged["system"][0]}
    header = Line(first.file, 1, header_fields, parts=parts)
    otherwise = merged.get("otherwise", ("error", first))[0]
    pattern = _pattern(*merged["pattern"]) if "pattern" in merged else None
    return LogMapping(first.file, header, pattern, rules, otherwise == "skip", [file for file, _ in chain], queries)


def _place_of(file: YamlFile, part: Part) -> PartPlace:
    return PartPlace(file.file, file.line(*part), str(file.path), file.scalars.get(part, file.keys[part]))


def _pattern(text: str, file: YamlFile) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise file.error(f"the pattern is not a regular expression: {error}; correct it", "pattern") from None
    if not pattern.groupindex:
        raise file.error(
            "the pattern has no named groups, so a line has no fields; write some, such as (?P<message>.*)", "pattern"
        )
    return pattern


def _rules(source: _Source) -> Iterator[Rule]:
    file = source.file
    for i, rule in enumerate(file.data.get("lines", ())):
        where = ("lines", i)
        fits = _compiled(file, rule["when"], (*where, "when")) if "when" in rule else _always
        for alone, advice in ALONE.items():
            if alone in rule and (beside := [key for key in rule if key not in ("when", alone)]):
                raise file.error(
                    f'"{beside[0]}" stands beside "{alone}", which goes with "when" only; {advice}', *where
                )
        if rule.get("stutter"):
            records: list[Take] = []
        elif "records" in rule:
            records = [_record(source, r, (*where, "records", n)) for n, r in enumerate(rule["records"])]
        else:
            records = [_record(source, {k: v for k, v in rule.items() if k != "when"}, where)]
        yield Rule((file.file, file.line(*where)), fits, records)


def _always(line: Any) -> bool:
    return True


def _record(source: _Source, rule: Mapping[str, Any], where: tuple[str | int, ...]) -> Take:
    """Makes a record of a line."""
    parts: dict[str, Take] = {}
    for key, template in rule.items():
        at = (*where, key)
        if (key in CONSTANT and isinstance(template, str)) or key == "crash":
            parts[key] = partial(_constant, template)
        elif key == "parameters":
            takes = {n: _value_taker(source, v, (*at, n)) for n, v in template.items()}
            parts[key] = _object(
                {n: partial(_present_value, take, template[n], f"{key}.{n}") for n, take in takes.items()}
            )
        elif key == "object":
            parts[key] = partial(_present_value, _value_taker(source, template, at), template, key)
        elif key == "objects":
            parts[key] = _object({sort: _value_taker(source, v, (*at, sort)) for sort, v in template.items()})
        elif key == "state":
            parts[key] = _object({sort: _objects(source, some, (*at, sort)) for sort, some in template.items()})
        elif key == "rigid":
            parts[key] = _object(
                {
                    sort: _object({n: _objects(source, some, (*at, sort, n), "value") for n, some in of.items()})
                    for sort, of in template.items()
                }
            )
        else:
            parts[key] = _value_taker(source, template, at)
    return _object(parts)


def _objects(
    source: _Source,
    some: Sequence[Mapping[str, Any]],
    where: tuple[str | int, ...],
    only: str = "",
) -> Take:
    """Makes {object: {field: value}} of a line; with ``only``, {object: value of that field}."""
    entries = []
    for i, entry in enumerate(some):
        each = _query(source, entry["each"], (*where, i, "each")) if "each" in entry else None
        templates = {k: _of_whole_line(v) if each is not None else None for k, v in entry.items() if k != "each"}
        takes = {k: _value_taker(source, whole or entry[k], (*where, i, k)) for k, whole in templates.items()}
        of_line = {k for k, whole in templates.items() if whole is not None}
        place = ".".join(str(part) for part in where[2:] if not isinstance(part, int))
        entries.append((each, takes, of_line, f"{place}: the query for the object finds nothing in this line"))

    def make(line: Any) -> dict[str, Any]:
        fields_of: dict[str, Any] = {}
        for each, takes, of_line, nothing in entries:
            for item in [line] if each is None else each(line) or []:
                fields = {k: take(line if k in of_line else item) for k, take in takes.items()}
                name = fields.pop("object")
                if name is None:
                    raise TypeError(nothing)
                if not isinstance(name, str):
                    raise TypeError(f"the name of the object is {name!r:.60}, not a text: write to_string(...)")
                fields_of[name] = fields[only] if only else {**fields_of.get(name, {}), **fields}
        return fields_of

    return make


def _of_whole_line(template: Any) -> Any:
    """What a query of an entry with ``each`` asks of the whole line, without the mark; None if it asks the element."""
    if isinstance(template, dict):
        query = _of_whole_line(template["value"])
        return {**template, "value": query} if query is not None else None
    return template.removeprefix(WHOLE) if isinstance(template, str) and template.startswith(WHOLE) else None


def _object(parts: Mapping[str, Take]) -> Take:
    def make(line: Any) -> dict[str, Any]:
        return {key: take(line) for key, take in parts.items()}

    return make


def _value_taker(source: _Source, template: Any, where: tuple[str | int, ...]) -> Take:
    """Takes a value from a line: by a query, or ``{value: query, names: table}``. A number is a constant."""
    if isinstance(template, int):
        return partial(_constant, template)
    if isinstance(template, str):
        return _query(source, template, where)
    take, table = _query(source, template["value"], (*where, "value")), template.get("names")
    if table is None:
        return take
    if table not in source.names:
        tables = ", ".join(source.names) or "none"
        raise source.file.error(f"unknown table of names {table!r}; choose from {tables}", *where, "names")
    return partial(_named, take, source.names[table])


def _named(take: Take, table: Mapping[str, Any], line: Any) -> Any:
    value = take(line)
    if isinstance(value, list):
        return [_translated(table, each) for each in value]
    return _translated(table, value)


def _translated(table: Mapping[str, Any], value: Any) -> Any:
    """The entry of a table; a value that it does not have stays as it is.

    Keys of a table are texts as YAML has them: ``true`` stands for the value true of JSON, and ``null`` for null.
    """
    if isinstance(value, bool) or value is None:
        return table.get(orjson.dumps(value).decode(), table.get(str(value), value))
    return table.get(str(value), value)


def _present_value(take: Take, template: Any, where: str, line: Any) -> Any:
    """A value that must not be null.

    Raises:
        TypeError: it is null.
    """
    value = take(line)
    if value is None:
        query = template["value"] if isinstance(template, dict) else template
        raise TypeError(f"{where}: the query {query} gives null in this line")
    return value


def _constant(value: Any, line: Any) -> Any:
    return value


def _query(source: _Source, text: str, where: tuple[str | int, ...]) -> Query:
    query = Query(text, (source.file.file, source.file.line(*where)), _compiled(source.file, text, where))
    source.queries.append(query)
    return query


def _compiled(file: YamlFile, text: str, where: tuple[str | int, ...]) -> Take:
    if len(text) > LONGEST_QUERY:
        raise file.error(
            f"the query has {len(text):,} characters; write shorter ones, of at most {LONGEST_QUERY:,}",
            *where,
        )
    try:
        search: Take = jmespath.compile(text).search
    except JMESPathError as error:
        problem = str(error).splitlines()[0].removesuffix(" for expression:")
        remedy = f"correct it, or quote the name of a field that is not a plain word: {QUOTED}"
        raise file.error(f"the query is not JMESPath: {problem}; {remedy}", *where) from None
    except RecursionError:
        raise file.error("the query is nested too deep; write several short ones", *where) from None
    return partial(_searched, search, text)


def _searched(search: Take, text: str, line: Any) -> Any:
    """The value of a query.

    Raises:
        TypeError: it is null, but a field of the line is called as the whole query.
    """
    value = search(line)
    if value is None and isinstance(line, dict) and line.get(text) is not None:
        raise TypeError(f"the query {text} gives null, but a field of the line has this name: quote it, as in {QUOTED}")
    return value


def _asked(take: Take, value: Any, line: TextLine | Line, rule: str = "the condition of a rule") -> Any:
    try:
        return take(value)
    except RecursionError:
        raise TraceError(
            f"{line.file}, line {line.number}: {rule} cannot be applied: a query, or the value that it reads, is nested too deep; write a shorter query",
            line.number,
        ) from None
    except (JMESPathError, TypeError, KeyError) as error:
        what = str(error).splitlines()[0]
        raise TraceError(
            f"{line.file}, line {line.number}: {rule} cannot be applied: {what}; correct the query, or add a 'when' that leaves such lines out",
            line.number,
        ) from None

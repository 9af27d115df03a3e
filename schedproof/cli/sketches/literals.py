"""Values of a YAML, JSON or Python file with their places; nothing of the file is run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from schedproof.model.lang.excerpt import Span, between
from schedproof.model.registry.errors import UserError

from .source import Source

MOST_VALUES = 200_000
"""The most values of a file. A few aliases of aliases make millions of some lines."""


@dataclass(frozen=True)
class Computed:
    """A value that only running the file would give; ``text`` is its source."""

    text: str


@dataclass(frozen=True)
class Located:
    """A value and where it is.

    Attributes:
        value: a text, a number, a truth value, None, a list of ``Located``, a mapping from texts to ``Located``, or
            ``Computed``.
        span: where it is.
        keys: of a mapping, where each key is.
        words: a scalar as the file has it: YAML reads ``off`` as a truth value, which may be the name of a state.
    """

    value: Any
    span: Span
    keys: Mapping[str, Span]
    words: str = ""


# YAML and JSON.


def of_yaml(source: Source, *, is_json: bool) -> Located:
    """The value of a whole file.

    Raises:
        UserError: it is not YAML, or not JSON.
    """
    text = source.text
    if is_json:
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            span = source.span(error.lineno, error.colno - 1, error.colno)
            raise source.error(span, f"not JSON: {error.msg}", "write valid JSON") from None
        except ValueError:
            raise source.error(source.span(1), "a number is too long", "write fewer digits") from None
        except RecursionError:
            raise source.error(
                source.span(1), "its lists are too deep", "write at most 100 lists in each other"
            ) from None
        text = text.replace("\t", " ")  # between values, where YAML allows none; in texts JSON writes \t
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise source.error(source.span(1), "the file is empty", "write states and transitions")
        return _of_node(source, loader, node, iter(range(MOST_VALUES)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        span = between(source.lines, mark, mark) if mark is not None else source.span(1)
        problem = getattr(error, "problem", None) or "its text cannot be read"
        raise source.error(span, f"not YAML: {problem}", "write states and transitions as YAML") from None
    except RecursionError:
        raise source.error(source.span(1), "its lists are too deep", "write at most 100 lists in each other") from None
    finally:
        loader.dispose()


def _of_node(source: Source, loader: yaml.SafeLoader, node: yaml.Node, budget: Iterator[int]) -> Located:
    """The value of a node; ``budget`` has a number for each value that the file may still have."""
    span = between(source.lines, node.start_mark, node.end_mark)
    if next(budget, None) is None:
        raise _too_many(source, span)
    if isinstance(node, yaml.SequenceNode):
        return Located([_of_node(source, loader, each, budget) for each in node.value], span, {})
    if isinstance(node, yaml.MappingNode):
        written: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in written:
                place = between(source.lines, key.start_mark, key.end_mark)
                raise source.error(place, f"a second {key.value!r}", "write each key once")
            written.add(str(key.value))
        loader.flatten_mapping(node)  # with what << merges, before the keys of the mapping itself
        pairs = [
            (_of_node(source, loader, key, budget), _of_node(source, loader, value, budget))
            for key, value in node.value
        ]
        return Located({key.words: value for key, value in pairs}, span, {key.words: key.span for key, _ in pairs})
    try:
        value = loader.construct_object(node)
    except ValueError:  # a date that no calendar has
        value = node.value
    return Located(value, span, {}, _whole(source, span, str(node.value)))


def _too_many(source: Source, span: Span) -> UserError:
    return source.error(span, f"the file has more than {MOST_VALUES:,} values", "write each list once")


def _whole(source: Source, span: Span, text: str) -> str:
    """A text that a file can have: an escape such as \\ud800 is half of a character."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise source.error(span, "this text has half of a character", "write the character itself")
    return text


# Python.


@dataclass(frozen=True)
class _Assignment:
    """What is assigned to a name, and the classes and functions that it is in, from outside."""

    value: ast.expr
    scope: tuple[str, ...]


CHANGES = ("append", "extend", "insert", "remove", "pop", "clear", "update")
"""The methods that change a list or a mapping."""


class PythonFile:
    """The assignments, classes and calls of a Python file, by what they are named.

    Raises:
        UserError: it is not Python.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            self.tree = ast.parse(source.text)
        except (SyntaxError, ValueError) as error:  # ValueError: Python 3.11.3 and earlier, of a NUL
            line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
            problem = error.msg if isinstance(error, SyntaxError) else str(error)
            span = source.span(line, max(column - 1, 0), max(column, 1))
            raise source.error(span, f"not Python: {problem}", "write valid Python") from None
        self.assigned: dict[str, list[_Assignment]] = {}
        self.changes: dict[str, list[Located]] = {}
        self.members: dict[str, dict[str, ast.expr]] = {}
        self.scopes: dict[ast.AST, tuple[str, ...]] = {}
        self.classes: dict[str, tuple[str, ...]] = {}
        self.holders: dict[ast.AST, str] = {}
        self.imported: dict[str, str] = {}
        self._values = 0
        work: list[tuple[ast.AST, tuple[str, ...]]] = [(self.tree, ())]
        for node, scope in work:
            self.scopes[node] = scope
            if isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, (*scope, node.name))
            inside = (*scope, node.name) if isinstance(node, ast.ClassDef | ast.FunctionDef) else scope
            work += [(child, inside) for child in ast.iter_child_nodes(node)]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, ast.ImportFrom):
                self.imported |= {each.asname: each.name for each in node.names if each.asname is not None}
            elif isinstance(node, ast.AugAssign):
                self._change(node.target, node.value, node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
                self._change(node.func.value, node, node)
            elif isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
                self.members[node.name] = {
                    target.id: each.value
                    for each in node.body
                    if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None
                    for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
                    if isinstance(target, ast.Name)
                }

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if name := _last_word(target):
            self.assigned.setdefault(name, []).append(_Assignment(value, self.scopes[target]))
            self.holders[value] = name

    def _change(self, target: ast.expr, at: ast.expr, change: ast.AST) -> None:
        self.changes.setdefault(_last_word(target), []).append(
            Located(Computed(ast.unparse(change)), self.span(at), {})
        )

    def _value_of(self, node: ast.Name | ast.Attribute) -> ast.expr | None:
        """The only value of a name where it stands; None if it has none, or several.

        ``self.states`` and ``Lamp.states`` are what that class assigns. A name is what its function assigns, or its class, or
        the module; and what any class assigns if those do not.
        """
        several = self.assigned.get(_last_word(node), [])
        within = self.scopes.get(node, ())
        scopes = [within[:length] for length in range(len(within), -1, -1)]
        if isinstance(node, ast.Attribute):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            owner = self.classes.get(base)
            if owner is None and base not in ("self", "cls"):
                return None  # of something that is not in this file
            scopes = [owner] if owner is not None else scopes
        for scope in scopes:
            if near := [each for each in several if each.scope == scope]:
                several = near
                break
        different = {ast.dump(each.value): each.value for each in several}
        return next(iter(different.values())) if len(different) == 1 else None

    def calls(self) -> Iterator[tuple[str, ast.Call, str]]:
        """Each call: the last word of what is called, the call, and the class it is in, in the order of the file."""
        classes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            inside = [c.name for c in classes if c.lineno <= call.lineno <= (c.end_lineno or c.lineno)]
            called = ast.unparse(call.func).rpartition(".")[2]
            yield self.imported.get(called, called), call, inside[-1] if inside else ""

    def span(self, node: ast.expr | ast.keyword) -> Span:
        """Where a node is; of several lines, the first."""
        if node.end_lineno == node.lineno:
            return Span(node.lineno, node.col_offset, node.lineno, node.end_col_offset or node.col_offset + 1)
        line = self.source.lines[node.lineno - 1].rstrip()
        return Span(node.lineno, node.col_offset, node.lineno, len(line.encode()))

    def value(self, node: ast.expr, within: frozenset[str] = frozenset()) -> Located:
        """The value of an expression; ``within`` are the names that are being looked up."""
        span = self.span(node)
        self._values += 1
        if self._values > MOST_VALUES:
            raise _too_many(self.source, span)
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as plain):
                return Located(plain, span, {}, _whole(self.source, span, str(plain)))
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return Located([self.value(each, within) for each in elements], span, {})
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = [self.value(left, within), self.value(right, within)]
                if all(isinstance(part.value, list) for part in parts):
                    return Located([each for part in parts for each in part.value], span, {})
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                named = {
                    str(key.value): value
                    for key, value in zip(keys, values, strict=True)
                    if isinstance(key, ast.Constant)
                }
                spans = {str(key.value): self.span(key) for key in keys if isinstance(key, ast.Constant)}
                return Located({name: self.value(each, within) for name, each in named.items()}, span, spans)
            case ast.Call(func=called) if ast.unparse(called).endswith(("State", "Transition", "dict")):
                return self._record(node, within)
            case ast.Attribute(value=ast.Name(id=enum), attr=member) if enum in self.members:
                return Located(member, span, {}, member)
            case ast.Name(id=enum) if enum in self.members:
                return Located([Located(each, span, {}, each) for each in self.members[enum]], span, {})
            case ast.Name(id=name) | ast.Attribute(attr=name) if name not in within:
                if (assigned := self._value_of(node)) is not None:
                    value = self.value(assigned, within | {name})
                    changes = self.changes.get(name, [])
                    if isinstance(value.value, list):
                        return Located([*value.value, *changes], value.span, {})
                    return changes[0] if changes else value
        return Located(Computed(ast.unparse(node)), span, {})

    def _record(self, call: ast.Call, within: frozenset[str]) -> Located:
        """A call such as State("idle", on_enter="log") as a mapping; its first argument is the name."""
        first = {"name": self.value(call.args[0], within)} if call.args else {}
        named = {**first, **self.keywords(call, within)}
        return Located(named, self.span(call), {name: each.span for name, each in named.items()})

    def keywords(self, call: ast.Call, within: frozenset[str] = frozenset()) -> dict[str, Located]:
        """The named arguments of a call; of ``**config`` what is in it, and one called ``**config`` if that is computed."""
        named: dict[str, Located] = {}
        for each in call.keywords:
            value = self.value(each.value, within)
            if each.arg is not None:
                named[each.arg] = value
            elif isinstance(value.value, dict):
                named |= value.value
            else:
                named[f"**{ast.unparse(each.value)}"] = value
        return named


def _last_word(node: ast.expr) -> str:
    """``states`` of ``states`` and of ``self.states``; "" of other expressions."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""

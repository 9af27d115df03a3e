"""Values of a YAML, JSON or Python file with their places; nothing of the file is run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from schedproof.model.lang.excerpt import Span, between

from .source import Source


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
        return _of_node(source, loader, node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        span = between(source.lines, mark, mark) if mark is not None else source.span(1)
        problem = getattr(error, "problem", None) or "its text cannot be read"
        raise source.error(span, f"not YAML: {problem}", "write states and transitions as YAML") from None
    except RecursionError:
        raise source.error(source.span(1), "its lists are too deep", "write at most 100 lists in each other") from None
    finally:
        loader.dispose()


def _of_node(source: Source, loader: yaml.SafeLoader, node: yaml.Node) -> Located:
    span = between(source.lines, node.start_mark, node.end_mark)
    if isinstance(node, yaml.SequenceNode):
        return Located([_of_node(source, loader, each) for each in node.value], span, {})
    if isinstance(node, yaml.MappingNode):
        pairs = [(_of_node(source, loader, key), _of_node(source, loader, value)) for key, value in node.value]
        return Located({key.words: value for key, value in pairs}, span, {key.words: key.span for key, _ in pairs})
    try:
        value = loader.construct_object(node)
    except ValueError:  # a date that no calendar has
        value = node.value
    return Located(value, span, {}, str(node.value))


# Python.


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
        self.assigned: dict[str, ast.expr] = {}
        self.members: dict[str, dict[str, ast.expr]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
                self.members[node.name] = {
                    target.id: each.value
                    for each in node.body
                    if isinstance(each, ast.Assign)
                    for target in each.targets
                    if isinstance(target, ast.Name)
                }

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, value)
        elif isinstance(target, ast.Attribute):
            self.assigned.setdefault(target.attr, value)

    def calls(self) -> Iterator[tuple[str, ast.Call, str]]:
        """Each call: the last word of what is called, the call, and the class it is in, in the order of the file."""
        classes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            inside = [c.name for c in classes if c.lineno <= call.lineno <= (c.end_lineno or c.lineno)]
            yield ast.unparse(call.func).rpartition(".")[2], call, inside[-1] if inside else ""

    def span(self, node: ast.expr | ast.keyword) -> Span:
        """Where a node is; of several lines, the first."""
        if node.end_lineno == node.lineno:
            return Span(node.lineno, node.col_offset, node.lineno, node.end_col_offset or node.col_offset + 1)
        line = self.source.lines[node.lineno - 1].rstrip()
        return Span(node.lineno, node.col_offset, node.lineno, len(line.encode()))

    def value(self, node: ast.expr, within: frozenset[str] = frozenset()) -> Located:
        """The value of an expression; ``within`` are the names that are being looked up."""
        span = self.span(node)
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as plain):
                return Located(plain, span, {}, str(plain))
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
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in self.assigned and name not in within:
                return self.value(self.assigned[name], within | {name})
        return Located(Computed(ast.unparse(node)), span, {})

    def _record(self, call: ast.Call, within: frozenset[str]) -> Located:
        """A call such as State("idle", on_enter="log") as a mapping; its first argument is the name."""
        first = {"name": call.args[0]} if call.args else {}
        named = {**first, **{each.arg: each.value for each in call.keywords if each.arg is not None}}
        spans = {name: self.span(each) for name, each in named.items()}
        return Located({name: self.value(each, within) for name, each in named.items()}, self.span(call), spans)

"""The line of a source file that an error is about, with a caret below the mistake."""

from __future__ import annotations

import ast
import linecache
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

WIDEST = 120
"""The most characters of a line that an excerpt shows."""

MOST_COLUMNS = 1 << 30
"""More characters than a line has."""


class Span(NamedTuple):
    """Where a piece of source begins and ends: lines from 1, columns from 0 in bytes of UTF-8, as Python counts them."""

    line: int
    column: int
    end_line: int
    end_column: int


class Mark(Protocol):
    """A place as YAML's reader counts: lines and characters from 0."""

    @property
    def line(self) -> int:
        """The line."""

    @property
    def column(self) -> int:
        """The character."""


def between(lines: Sequence[str], first: Mark, last: Mark) -> Span:
    """The place between two marks; of several lines, the first.

    A mark at the end of a file, below its last line, stands for the end of that line.
    """
    number, start = first.line, first.column
    while number > 0 and (number >= len(lines) or not lines[number].strip()):
        number, start = number - 1, MOST_COLUMNS
    text = lines[number].rstrip() if number < len(lines) else ""
    end = last.column if last.line == number else len(text)
    return Span(number + 1, len(text[:start].encode()), number + 1, len(text[:end].encode()))


def excerpt(file: str, line: int, span: Span | None) -> str:
    """The line with its file, and carets below what is wrong; "" if the file cannot be read.

    Args:
        file: the path of the file, or the name of a notebook's cell.
        line: the line, which counts if no span is known.
        span: the text that is wrong. Of several lines, the first is shown.
    """
    linecache.checkcache(file)  # it may have been edited since another error
    source = linecache.getline(file, span.line if span is not None else line).rstrip("\n")
    text = source.strip()
    if not text:
        return ""
    if span is None:
        return _framed(_shown_path(file), line, None, text, "")
    encoded = source.encode()
    start = len(encoded[: span.column].decode(errors="ignore"))
    last = span.end_column if span.end_line == span.line else len(encoded)
    end = max(start + 1, len(encoded[:last].decode(errors="ignore").rstrip()))
    indent = len(source) - len(source.lstrip())
    carets = "".join(_blank(c) for c in source[indent:start]) + "^" * sum(_width(c) for c in source[start:end] or " ")
    return _framed(_shown_path(file), span.line, start + 1, text, carets)


def _framed(file: str, line: int, column: int | None, text: str, carets: str) -> str:
    number = str(line)
    margin = " " * len(number)
    shown, cut = "".join(c if c.isprintable() or c == "\t" else "?" for c in text), ""
    if len(shown) > WIDEST:
        from_ = max(0, min(len(carets) - len(carets.lstrip()) - WIDEST // 2, len(shown) - WIDEST))
        shown, carets, cut = shown[from_ : from_ + WIDEST], carets[from_ : from_ + WIDEST], "..."
    lines = [
        f"{margin}--> {file}:{line}" + (f":{column}" if column is not None else ""),
        f"{number} | {shown}{cut}",
        *([f"{margin} | {carets}"] if carets else []),
    ]
    return "\n".join(lines)


def _shown_path(file: str) -> str:
    """The path from the current folder, if the file is below it."""
    path = Path(file)
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _blank(character: str) -> str:
    return "\t" if character == "\t" else " " * _width(character)


def narrowed(file: str, line: int, span: Span | None, name: str, skip: int = 0) -> Span | None:
    """Where the source of a call has a name: as a string, a keyword, an attribute or a variable; None if it has it nowhere.

    Args:
        span: the call; None searches the nodes that begin in ``line``.
        skip: how many places come before, where the name means something else.
    """
    linecache.checkcache(file)  # as in excerpt
    names: list[Span] = []
    for where, node in _nodes("".join(linecache.getlines(file))):
        inside = where.line == line if span is None else span[:2] <= where[:2] and where[2:] <= span[2:]
        if inside and (exact := _named(node, where, name)) is not None:
            if where == span and isinstance(node, ast.Attribute):
                return exact  # of x.a.a, the term is about the second a
            names.append(exact)
    return next(iter(sorted(names)[skip:]), None)


def _named(node: ast.AST, where: Span, name: str) -> Span | None:
    """The part of a node that is the name."""
    size = len(name.encode())
    match node:
        case ast.Constant(value=str(text)) if text == name:
            return where
        case ast.Constant(value=str(text)) if re.search(rf"{{(\w+\.)*{re.escape(name)}(\.\w+)*}}", text):
            return where  # the placeholder of a sentence
        case ast.Name(id=text) if text == name:
            return where
        case ast.keyword(arg=text) if text == name:
            return Span(where.line, where.column, where.line, where.column + size)
        case ast.Attribute(attr=text) if text == name:
            return Span(where.end_line, where.end_column - size, where.end_line, where.end_column)
        case _:
            return None


@lru_cache(maxsize=4)
def _nodes(source: str) -> list[tuple[Span, ast.AST]]:
    """The expressions and keywords of a source, in the order of ``ast.walk``; none of one that has changed since it was imported."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return [
        (Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset), node)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.keyword) and node.end_lineno is not None and node.end_col_offset is not None
    ]

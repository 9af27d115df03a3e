"""Files as numbered lines of text or JSON objects."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from schedproof.model.lang.excerpt import Span, excerpt
from schedproof.proofs.traces.errors import TraceError

from .following import STDIN, Arriving, Following
from .schema import kind_of

MOST_BYTES = 16 << 20
"""The limit for the bytes of a line."""

LONG = 1 << 63
"""Whole numbers below it have 64 bits with the sign."""

LONGEST = 1000
"""The limit for the characters of a message. A longer one loses its middle."""


Part = tuple[str | int, ...]
"""A part of an object: keys and positions from the root."""


class PartPlace(NamedTuple):
    """Where a part of a line is written, if that is another file: its name, its line, and for excerpts its path and place."""

    file: str
    line: int
    path: str
    span: Span


class Line(NamedTuple):
    """One object of a JSON Lines file and the number of its line (the first is 1).

    Args:
        file: the name of the file; "" if there is none.
        number: the number of the line.
        value: the object.
        made_by: the mapping that made the object from the line, for messages; "" if the object is in the line itself.
        parts: the place of each part that is on another line; the keys are paths from the root.
    """

    file: str
    number: int
    value: Mapping[str, Any]
    made_by: str = ""
    parts: Mapping[Part, PartPlace] | None = None

    def error(self, problem: str, *where: str | int) -> TraceError:
        """An error: ``problem`` after the place of this line, or the number of the record if there is no file.

        Args:
            problem: what is wrong, and what to write instead.
            where: keys and positions of the part that is wrong.
        """
        parts = self.parts or {}
        around = (parts[where[:n]] for n in range(len(where), 0, -1) if where[:n] in parts)
        elsewhere = next(around, None)
        file, number = (elsewhere.file, elsewhere.line) if elsewhere is not None else (self.file, self.number)
        place = f"{file}, line {number}" if file else f"record {number}" if number else "header"
        if len(problem) > LONGEST:
            problem = f"{problem[: LONGEST // 2]} ... {problem[-LONGEST // 2 :]}"
        made = f" (made by {self.made_by})" if self.made_by else ""  # the mistake may be there, not in the log
        error = TraceError(f"{place}: {problem}{made}", self.number)
        if elsewhere is not None:
            return error.with_excerpt(excerpt(elsewhere.path, elsewhere.line, elsewhere.span))
        return error


class TextLine(NamedTuple):
    """One line of a text file that is not blank, and its number (the first is 1)."""

    file: str
    number: int
    text: str

    def object(self) -> Line:
        """The line as a JSON object.

        Raises:
            TraceError: it is not a JSON object.
        """
        return Line(self.file, self.number, _object(self.file, self.number, self.text))


def read_text(path: Path) -> list[TextLine]:
    """The lines of a text file, without the blank ones.

    Raises:
        TraceError: the file is unreadable, not UTF-8 or empty, or a line is too long.
    """
    with opened(path) as file:
        lines = list(text_lines(file, str(path)))
    if not lines:
        raise TraceError(f"{path}: the file is empty; write at least one line")
    return lines


def called(path: Path) -> str:
    """The name of a file, or of standard input, in messages."""
    return "standard input" if str(path) == STDIN else str(path)


@contextmanager
def opened(path: Path, following: Following | None = None) -> Iterator[BinaryIO | Arriving]:
    """A file, or standard input (``-``), open for reading.

    Args:
        path: the file.
        following: not None if the file is still being written: reading a pipe then does not block.

    Raises:
        TraceError: the file cannot be read, at the start or later.
    """
    try:
        if str(path) == STDIN:
            if sys.stdin is None:
                raise TraceError("standard input is closed; name a file")
            file: BinaryIO = sys.stdin.buffer
            yield Arriving(file, ends=True) if following is not None and _is_pipe(file) else file
        elif following is not None and path.is_fifo():
            # A blocking open would wait here for a writer.
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
                yield Arriving(pipe, ends=False)
        else:
            with path.open("rb") as file:
                yield file
    except OSError as error:
        what = (
            "is a directory; name a file"
            if path.is_dir()
            else f"cannot be read: {error.strerror or error}; name a file that you can read"
        )
        raise TraceError(f"{path}: {what}") from None
    except ValueError as error:  # no file can have this name, for example with a NUL in it
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"{str(path)!r} cannot be a file name; name a file") from None


def _is_pipe(file: BinaryIO) -> bool:
    try:
        mode = os.fstat(file.fileno()).st_mode
    except OSError:  # a file in memory
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def text_lines(file: BinaryIO | Arriving, name: str, following: Following | None = None) -> Iterator[TextLine]:
    """Yields the lines of ``file`` that are not blank.

    Args:
        file: the open file.
        name: the name of the file, for messages.
        following: for a file that is still being written: an incomplete last line waits for the rest.

    Raises:
        TraceError: a line is not UTF-8, or too long.
    """
    if following is None:
        yield from _complete_lines(file, name)
        return
    number, held, got = 1, b"", False
    while True:
        part = file.readline(MOST_BYTES + 1 - len(held))
        held, got = held + part, got or bool(part)
        if len(held) > MOST_BYTES:
            raise _too_long(name, number)
        last = not held.endswith(b"\n")
        if last and not (isinstance(file, Arriving) and file.ended):
            if following.wait(file, name, got):
                got = False
                continue
            following.half = bool(held)
            return
        text = _decoded(name, number, held)
        if text:
            yield TextLine(name, number, text)
        if last or following.stopped:
            return
        number, held = number + 1, b""


def _complete_lines(file: BinaryIO | Arriving, name: str) -> Iterator[TextLine]:
    """The lines of a file that is not being written."""
    number = 0
    while raw := file.readline(MOST_BYTES + 1):
        number += 1
        if len(raw) > MOST_BYTES:
            raise _too_long(name, number)
        text = _decoded(name, number, raw)
        if text:
            yield TextLine(name, number, text)


def _too_long(name: str, number: int) -> TraceError:
    what = f"longer than {MOST_BYTES >> 20} MiB; write one record a line"
    return TraceError(f"{name}, line {number}: {what}", number)


def _decoded(name: str, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        raise TraceError(f"{name}, line {number}: {what}", number) from None


def as_objects(lines: Sequence[TextLine]) -> list[Line]:
    """All lines as JSON objects.

    Raises:
        TraceError: a line is not a JSON object.
    """
    return [line.object() for line in lines]


def _object(name: str, number: int, text: str) -> Mapping[str, Any]:
    try:
        value = _loads(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise TraceError(
            f"{name}, line {number}: not JSON: {what} at column {error.colno}; write one JSON object a line", number
        ) from None
    except RecursionError:
        raise TraceError(f"{name}, line {number}: nested too deeply; write less in one object", number) from None
    except ValueError as error:  # a duplicate key, or a number with thousands of digits
        what = str(error).split("; use sys")[0]
        raise TraceError(f"{name}, line {number}: the JSON cannot be read: {what}", number) from None
    if not isinstance(value, dict):
        raise TraceError(f"{name}, line {number}: {kind_of(value)} is not a JSON object; write {{...}}", number)
    return value


def _loads(text: str) -> Any:
    """``text`` as JSON. orjson is several times faster; json has better errors, and reads whole numbers of any size.

    Raises:
        ValueError: it is not JSON, or one object has a key twice, of which orjson keeps the last.
    """
    try:
        value = orjson.loads(text)
        # What is written as it was read has lost no key, and no number was rounded. Writers put spaces between the parts.
        if orjson.dumps(value).decode() == text.replace('": ', '":').replace(", ", ","):
            return value
    except (ValueError, TypeError):  # orjson writes fewer levels than it reads
        return json.loads(text, object_pairs_hook=_distinct)
    # `":` follows a key. If the numbers differ, json checks for duplicate keys, or reads a rounded number.
    exact = text.count('":') == _names(value) and not _BEFORE_COLON.search(text)
    return value if exact else json.loads(text, object_pairs_hook=_distinct)


_BEFORE_COLON = re.compile(r'"\s+:')


def _names(value: Any) -> int:
    """How many keys the objects in ``value`` have; fewer if orjson may have rounded a number.

    It reads a whole number of more than 64 bits as a float.
    """
    count = 0
    if type(value) is dict:
        count, value = len(value), value.values()
    elif type(value) is not list:
        return 0
    for each in value:
        if type(each) is dict or type(each) is list:
            count += _names(each)
        elif type(each) is float and abs(each) >= LONG:
            return -1
    return count


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise ValueError(f"one object has {json.dumps(twice)[:60]} twice; write it once")
    return fields

"""Files as numbered lines of text or JSON objects, and the shape of these checked against a JSON Schema."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import jsonschema
import orjson
from jsonschema.exceptions import best_match

from .errors import TraceError

STDIN = "-"
"""The file name that stands for standard input."""

MOST_BYTES = 16 << 20
"""Bytes of a line."""


@dataclass(frozen=True)
class Line:
    """One object of a JSON Lines file and the number of its line (the first is 1).

    ``made_by``: what has made the object of what stands there, for messages; "" if it stands there itself.
    """

    file: str
    number: int
    value: Mapping[str, Any]
    made_by: str = ""

    def error(self, problem: str) -> TraceError:
        """``problem`` with this line's place in front; of what is in no file, the number of the record."""
        place = (
            f"{self.file}, line {self.number}" if self.file else f"record {self.number}" if self.number else "header"
        )
        return TraceError(f"{place}: {problem}", self.number)


@dataclass(frozen=True)
class TextLine:
    """One line of a text file that is not blank, and its number (the first is 1)."""

    file: str
    number: int
    text: str

    def object(self) -> Line:
        """The line as a JSON object.

        Raises:
            TraceError: it is none.
        """
        return Line(self.file, self.number, _object(self.file, self.number, self.text))


def read_text(path: Path) -> list[TextLine]:
    """The lines of a text file; blank ones are skipped.

    Raises:
        TraceError: no readable file, not UTF-8, empty, or with a line that is too long.
    """
    with opened(path) as file:
        lines = list(text_lines(file, str(path)))
    if not lines:
        raise TraceError(f"{path}: the file is empty; a trace has at least one line")
    return lines


def called(path: Path) -> str:
    """A file, or standard input, as messages call it."""
    return "standard input" if str(path) == STDIN else str(path)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file, or standard input (``-``), to be read.

    Raises:
        TraceError: it cannot be, when it is opened or later.
    """
    try:
        if str(path) == STDIN:
            yield sys.stdin.buffer
        else:
            with path.open("rb") as file:
                yield file
    except OSError as error:
        what = "is a directory; name a file" if path.is_dir() else f"cannot be read: {error.strerror or error}"
        raise TraceError(f"{path}: {what}") from None
    except ValueError as error:  # a name that no file can have, such as one with a NUL in it
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"{str(path)!r} is no file name") from None


class Following:
    """Waits at the end of a file that is still being written.

    Args:
        idle: seconds without anything new after which the file is held to be complete; None: never.
        every: seconds between two looks at it.
    """

    def __init__(self, idle: float | None = None, every: float = 0.2) -> None:
        self._idle, self._every, self._waited = idle, every, 0.0
        self._stopped = threading.Event()
        self.half = False
        """The last line was not complete, and was not read."""
        self.at_end: Callable[[], None] = lambda: None
        """Called whenever all that is there has been read, before it waits for more."""

    def stop(self) -> None:
        """Nothing more is wanted."""
        self._stopped.set()

    @property
    def interrupted(self) -> bool:
        """Nothing more is wanted; there may be more."""
        return self._stopped.is_set()

    @property
    def stopped(self) -> bool:
        """Nothing more is wanted, or will come."""
        return self.interrupted or (self._idle is not None and self._waited >= self._idle)

    def wait(self, file: BinaryIO, name: str, got: bool) -> bool:
        """Waits a moment at the end of ``file``; whether to look again.

        Args:
            got: something new was there, if not a whole line.

        Raises:
            TraceError: the file has become shorter, or another one has its name now.
        """
        self._waited = 0.0 if got else self._waited + self._every
        with suppress(OSError):  # a pipe has no size
            if os.fstat(file.fileno()).st_size < file.tell():
                raise TraceError(f"{name}: has become shorter while it was followed; check the new file from its start")
        if not got and name != STDIN and _replaced(file, name):
            raise TraceError(
                f"{name}: another file has taken its name while it was followed; check that from its start"
            )
        if not self.stopped:
            self.at_end()
        if not self.stopped:
            self._stopped.wait(self._every)
        return not self.stopped


def _replaced(file: BinaryIO, name: str) -> bool:
    """Another file has the name under which ``file`` was opened, as when logs are rotated."""
    try:
        return not os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except OSError:  # none has it, perhaps not yet; or it is no file at all
        return False


def text_lines(file: BinaryIO, name: str, following: Following | None = None) -> Iterator[TextLine]:
    """The lines of ``file`` that are not blank, one by one.

    Args:
        name: what the file is called.
        following: for a file that is still being written: half a line at its end waits for the rest.

    Raises:
        TraceError: a line is not UTF-8, or too long.
    """
    number, held, got = 1, b"", False
    while True:
        part = file.readline(MOST_BYTES + 1 - len(held))
        held, got = held + part, got or bool(part)
        if len(held) > MOST_BYTES:
            raise TraceError(f"{name}, line {number}: longer than {MOST_BYTES >> 20} MiB; a record is one line", number)
        last = not held.endswith(b"\n")
        if last and following is not None:
            if following.wait(file, name, got):
                got = False
                continue
            following.half = bool(held)
            return
        text = _decoded(name, number, held)
        if text:
            yield TextLine(name, number, text)
        if last or (following is not None and following.stopped):
            return
        number, held = number + 1, b""


def _decoded(name: str, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is not UTF-8; a trace is text in UTF-8"
        raise TraceError(f"{name}, line {number}: {what}", number) from None


def as_objects(lines: Sequence[TextLine]) -> list[Line]:
    """All lines as JSON objects.

    Raises:
        TraceError: a line is none.
    """
    return [line.object() for line in lines]


def _object(name: str, number: int, text: str) -> Mapping[str, Any]:
    try:
        value = _loads(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise TraceError(f"{name}, line {number}: not JSON: {what} at column {error.colno}", number) from None
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{name}, line {number}: JSON that cannot be read: {error}", number) from None
    if not isinstance(value, dict):
        raise TraceError(f"{name}, line {number}: {_kind(value)} where a JSON object {{...}} belongs", number)
    return value


def _loads(text: str) -> Any:
    """``text`` as JSON; orjson is several times faster, and json knows big numbers and says more about mistakes."""
    try:
        return orjson.loads(text)
    except ValueError:
        return json.loads(text)


@dataclass(frozen=True)
class Shape:
    """One definition (``$defs``) of a JSON Schema beside this module."""

    validator: Any

    @staticmethod
    def load(schema_file: str, definition: str) -> Shape:
        """The definition ``definition`` of ``schema_file``."""
        schema = json.loads((Path(__file__).parent / schema_file).read_text("utf-8"))
        chosen = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{definition}"}
        return Shape(jsonschema.Draft202012Validator(chosen))

    def check(self, line: Line) -> None:
        """Nothing, if the line has this shape.

        Raises:
            TraceError: it has not; the message says where, what was found and what to write.
        """
        found = self.problem(line.value)
        if found is not None:
            raise line.error(found[1])

    def problem(self, value: object) -> tuple[tuple[str | int, ...], str] | None:
        """Where ``value`` has not this shape (keys and positions), and what is wrong there, with what to write; or None."""
        error = best_match(self.validator.iter_errors(value))
        if error is None:
            return None
        where = ".".join(str(part) for part in error.absolute_path)
        at = f'"{where}": ' if where else ""
        advice = error.schema.get("description", "")
        return tuple(error.absolute_path), f"{at}{_problem(error)}" + (f"; write {advice}" if advice else "")


def _problem(error: Any) -> str:
    match error.validator:
        case "type":
            wanted = error.validator_value
            names = [wanted] if isinstance(wanted, str) else wanted
            return f"{_kind(error.instance)} where {' or '.join(_TYPES[n] for n in names)} belongs"
        case "required":
            missing = [k for k in error.validator_value if k not in error.instance]
            return f'"{missing[0]}" is missing'
        case "additionalProperties":
            unknown = [k for k in error.instance if k not in error.schema.get("properties", {})]
            return f'"{unknown[0]}" is no field here'
        case "enum":
            return f"{_short(error.instance)} is none of {', '.join(map(str, error.validator_value))}"
        case "dependentRequired":
            alone = next(k for k in error.validator_value if k in error.instance)
            return f'"{alone}" without "{error.validator_value[alone][0]}"'
        case "not":
            return f"{' and '.join(error.validator_value.get('required', ['these']))} exclude each other"
        case "minProperties":
            return "an empty object"
        case "const":
            return f"{_short(error.instance)} where {json.dumps(error.validator_value)} belongs"
        case _:
            return str(error.message)[:200].replace("\n", " ")


_TYPES = {
    "object": "an object {...}",
    "array": "a list [...]",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def _kind(value: object) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return _short(value)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else text[:57] + "..."

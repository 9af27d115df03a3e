"""JSON documents, with the line on which each object begins.

A REST answer is one document on one or many lines; a stream has one document a line. An error in an entry names the
entry's own line.
"""

from __future__ import annotations

import json
import json.decoder
import json.scanner
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.proofs.traces.errors import TraceError

from .lines import Line, TextLine


class Placed(dict[str, Any]):
    """An object of a document; ``at`` is where it begins in the text."""

    at: int = 0


class _Decoder(json.JSONDecoder):
    """The standard decoder in its Python version, not in C, so that it can record where objects begin."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=Placed)
        self.parse_object = self._placed
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]

    @staticmethod
    def _placed(state: tuple[str, int], *others: Any) -> tuple[Placed, int]:
        value, end = json.decoder.JSONObject(state, *others)  # type: ignore[attr-defined]
        value.at = state[1] - 1  # the position is after the brace
        return value, end


@dataclass(frozen=True)
class Documents:
    """The JSON values of a file in order, and how to find their lines."""

    file: str
    first: int
    values: Sequence[Any]
    ends: Sequence[int]
    """The positions of the line ends."""

    def line(self, value: Mapping[str, Any]) -> Line:
        """An object with its line, as a JSON Lines file would have it."""
        at = value.at if isinstance(value, Placed) else 0
        return Line(self.file, bisect_left(self.ends, at) + 1, value)

    def error(self, problem: str, *where: str | int) -> TraceError:
        """An error that belongs to no object; it names the first line that is not blank."""
        return TraceError(f"{self.file}, line {self.first}: {problem}")


def read_documents(lines: Sequence[TextLine]) -> Documents:
    """All JSON values of the file, in order.

    Raises:
        TraceError: a part is not JSON.
    """
    file, text = lines[0].file, joined(lines)
    decoder, values, at = _Decoder(), [], _blank(text, 0)
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            what = "the document breaks off" if not text[error.pos :].strip() else error.msg
            raise TraceError(
                f"{file}, line {error.lineno}: not JSON: {what} at column {error.colno}; write one JSON value"
            ) from None
        except (ValueError, RecursionError) as error:
            number = text.count("\n", 0, at) + 1
            raise TraceError(
                f"{file}, line {number}: the JSON cannot be read: {error}; write a value with less in it"
            ) from None
        values.append(value)
        at = _blank(text, at)
    return Documents(file, lines[0].number, values, [i for i, letter in enumerate(text) if letter == "\n"])


def joined(lines: Sequence[TextLine]) -> str:
    """The text of the file; every line keeps its number."""
    text = [""] * lines[-1].number
    for line in lines:
        text[line.number - 1] = line.text
    return "\n".join(text)


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at

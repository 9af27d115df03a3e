"""A line that is read as a typed object says what the line says, and no more; every other line is left to TextLine.object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from schedproof.proofs.traces.errors import TraceError
from schedproof.proofs.traces.files.lines import TextLine
from schedproof.proofs.traces.files.typed import Part, Typed


class Place(Part, frozen=True):
    row: int
    of: str


class Move(Part, frozen=True):
    name: str
    at: Place
    done: bool
    others: list[Any]
    to: Place | None = None
    note: str = ""


OBJECTS: list[dict[str, Any]] = [
    {"name": "a", "at": {"row": 1, "of": "x"}, "done": True, "others": [["b", "c"], []]},
    {"name": "b", "at": {"row": 2**70, "of": "ä"}, "done": False, "others": [], "to": {"row": -1, "of": ""}},
    {"name": "c", "at": {"row": 0, "of": ", "}, "done": False, "others": [{"k": 1}], "note": "n"},
]

CHANGES = [
    '"',
    " ",
    "1",
    ".",
    "e",
    "}",
    ",",
    ":",
    "\\",
    "0",
    "",
    '"row": 3, ',
    '"row" : 3, ',
    '"note": "", ',
    '"new": 1, ',
]
"""What is put into a line: also keys for the second time, keys with their default, and unknown ones."""


def changed(seeds: range) -> Iterator[str]:
    """Lines, many with mistakes."""
    for seed in seeds:
        rng = Random(seed)
        text = json.dumps(rng.choice(OBJECTS), ensure_ascii=False, separators=rng.choice([(", ", ": "), (",", ":")]))
        for _ in range(rng.randrange(3)):
            change = rng.choice(CHANGES)
            after = [i + 1 for i, each in enumerate(text) if each in "{,"] if len(change) > 1 else range(len(text))
            at = rng.choice(after)
            text = text[:at] + change + text[at + (rng.random() < 0.3) :]
        yield text


def differences(seeds: range, reads: Typed[Move]) -> tuple[list[str], int]:
    """The lines of which the typed object says something else; and how many lines were read as one."""
    wrong, read = list[str](), 0
    for text in changed(seeds):
        value = reads.of(text)
        if value is not None:
            read += 1
            try:
                same = msgspec.to_builtins(value) == TextLine("", 1, text).object().value
            except TraceError:
                same = False
            if not same:
                wrong.append(text)
    return wrong, read


def test_what_is_read_is_what_the_line_says() -> None:
    wrong, read = differences(range(3000), Typed(Move))
    assert wrong == [] and read > 600


def test_lines_of_the_form_are_read() -> None:
    for each in OBJECTS:
        assert Typed(Move).of(json.dumps(each, ensure_ascii=False)) is not None
    assert Typed(Move).of('{"name": "a", "name": "b", "at": {"row": 1, "of": "x"}, "done": true, "others": []}') is None


class Uncounted(Typed[Move]):
    """Reads a line without counting its strings."""

    def of(self, text: str) -> Move | None:
        try:
            return msgspec.json.decode(text, type=Move)
        except msgspec.DecodeError:
            return None


def test_strings_that_are_not_counted_are_noticed() -> None:
    """A key that comes twice, and an unknown one."""
    wrong, _ = differences(range(3000), Uncounted(Move))
    assert any(text.count('"row"') == 2 for text in wrong) and any('"new"' in text for text in wrong)


@pytest.mark.parametrize("space", ["", " ", "\t", "  "])
def test_a_key_that_comes_twice_is_refused(space: str) -> None:
    """Whatever stands before its colon."""
    with pytest.raises(TraceError, match='"a" twice'):
        TextLine("", 1, f'{{"a"{space}: 1, "a": 2}}').object()

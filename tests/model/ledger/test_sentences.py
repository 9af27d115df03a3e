"""The documents are split a second time, word by word and by simpler means, and both must agree.

Here a full stop ends a sentence unless it is listed, and nothing else ends one unless it is listed: the lists are as read in the
documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schedproof.model.ledger.statements import statements
from tests.model.ledger.test_statements import DOCUMENTS, document, inside
from tests.support.needs import needs_shared
from tests.support.rows import each_row

NO_ENDS = [
    "(e.g. | Task)",  # Jobmon, line 10
    "is 1. | a signal",  # Jobmon, line 31: the parts of one sentence are numbered
    "or 2. | that",  # Jobmon, line 32
    "state Z. | and returns",  # Jobmon, line 126: one full stop too many
    "... | and set",  # merged design, line 69
    "... | After that",  # merged design, line 130
]
"""Full stops within a sentence: the words before and after."""

ENDS = [
    "(Running or Completing) | The current",  # object states, line 23
    "arbitrary order | (alternative: process",  # Beaker, line 132
    "scheduler and cache: | If there's",  # merged design, line 42
    "then scheduler; | Removing",  # merged design, line 42
    "lock direction: | (Anything",  # merged design, line 248
]
"""Ends of sentences that have no full stop."""

SIGN = re.compile(r"[-*•]|#\.|#+|\d\.|\.\.|<img|:(Author:|Status:|Target)|Version:")
"""The first word of a line that begins a statement, whatever is before it."""


@dataclass(frozen=True)
class Word:
    text: str
    line: int
    is_first: bool
    """Of its statement, because of where it is."""
    is_sign: bool
    """Of an item of a list: the full stop of "1." is no end."""


def code(lines: list[str]) -> set[int]:
    """The numbers of the lines of code."""
    some, fenced, literal = set(), False, False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or (literal and line.startswith(" ")):
            some.add(number)
        elif line:
            literal = line.endswith("::")
    return some


def words_of(text: str) -> Iterator[Word]:
    lines = text.split("\n")
    in_code = code(lines)
    for number, line in enumerate(lines, 1):
        row = line.startswith("|")
        kept = [" | ".join(cell.strip() for cell in line[1:-1].split("|"))] if row else line.split()
        before = lines[number - 2] if number > 1 else ""
        alone = bool(re.match(r"\||#+ ", before)) or not inside(before) or before.endswith(":") or number in in_code
        for place, word in enumerate(kept if inside(line) else []):
            sign = place == 0 and SIGN.fullmatch(word) is not None
            comment = number in in_code and word.startswith("#")
            yield Word(word, number, (place == 0 and (alone or row or sign)) or comment, sign)


def second(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each statement."""
    words = list(words_of(text))
    at = 0
    for end in range(1, len(words) + 1):
        before = " ".join(word.text for word in words[max(0, end - 4) : end])
        after = " ".join(word.text for word in words[end : end + 2])
        stops = (
            re.search(r"[.?!][)\"'`*]*$", before) and not words[end - 1].is_sign and not listed(before, after, NO_ENDS)
        )
        if end == len(words) or words[end].is_first or stops or listed(before, after, ENDS):
            yield words[at].line, " ".join(word.text for word in words[at:end])
            at = end


def listed(before: str, after: str, places: list[str]) -> bool:
    pairs = (place.split(" | ") for place in places)
    return any(before.endswith(left) and after.startswith(right) for left, right in pairs)


@needs_shared
@each_row("name", DOCUMENTS)
def test_both_splits_are_the_same(name: str) -> None:
    assert [(each.line, each.text) for each in statements(document(name))] == list(second(document(name)))


@needs_shared
def test_each_listed_place_is_in_one_document() -> None:
    flat = [" ".join(document(name).split()) for name in DOCUMENTS]
    for place in [*NO_ENDS, *ENDS]:
        assert sum(text.count(place.replace(" | ", " ")) for text in flat) == 1, place

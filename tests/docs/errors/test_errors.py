"""The page of error messages is fresh and complete, and each message says what to write instead."""

from __future__ import annotations

import re

import pytest

from schedproof.proofs.traces import TraceError
from tests.docs.errors.exceptions import EXCEPTIONS
from tests.docs.errors.page import PAGE, page, ran
from tests.docs.errors.sites import raised, statements

BANNED = re.compile(r"\bis no\b|\bthere (is|are)\b|\bis none\b|\bmend\b|Traceback| object at 0x|/tmp/")
"""Forms that a message must not have (LANGUAGE.md), and signs of an accident."""

REMEDIES = re.compile(
    r"; ['\w]|^name a command: |\? choose from|: (leave out|name one of|give|write|join|use)\b|\.model: write\b|one of the two\b|needs a --"
)
"""A message's second half: after a semicolon, mostly."""


@pytest.mark.long(seconds=10, one_in=1)
def test_the_page_is_fresh_and_each_message_is_one_line() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it: python -m tests.docs.errors.page"
    messages = [message for entries in ran().entries.values() for _, message in entries]
    assert [m for m in messages if "\n" in m or not m] == []


def test_each_message_says_what_to_write_instead() -> None:
    """Those of the page: all cases take seconds, and a long test checks that it is fresh."""
    entries = PAGE.read_text("utf-8").partition("\n## ")[2]
    messages = [line.strip() for line in entries.splitlines() if line.startswith("    ")]
    assert len(messages) > 350
    assert [m for m in messages if BANNED.search(m)] == []
    assert [m for m in messages if not REMEDIES.search(m)] == []


@pytest.mark.long(seconds=10)
def test_each_place_that_raises_an_error_has_a_case() -> None:
    """An error without a case is not on the page: add a case, or an exception with its reason."""
    seen = ran().sites
    without = {
        (file, text)
        for (file, text), all_lines in statements().items()
        if not any((file, line) in seen for lines in all_lines for line in lines)
    }
    expected = {
        (file, text) for file, text in statements() for where, part, _ in EXCEPTIONS if where == file and part in text
    }
    assert sorted(without - expected) == []
    assert sorted(expected - without) == [], "these have a case now: remove the exceptions"


def test_an_exception_names_one_statement() -> None:
    for where, part, reason in EXCEPTIONS:
        assert len([text for file, text in statements() if file == where and part in text]) == 1, (where, part)
        assert reason


def test_errors_are_recorded_only_inside() -> None:
    with raised() as sites:
        TraceError("a; b")
    before = set(sites)
    TraceError("c; d")
    assert sites == before
    with pytest.raises(TraceError, match="e; f"):
        raise TraceError("e; f", 3)

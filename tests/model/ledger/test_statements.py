"""How a document is split into statements: what is expected is counted by hand in small texts.

In the documents, no word is outside of all statements; :mod:`tests.model.ledger.test_sentences` says where they are split.
"""

from __future__ import annotations

import re

from schedproof.model.ledger.statements import statements
from schedproof.model.registry.discovery import systems
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row

MARKDOWN = """# Lamps

A lamp is on, e.g. bright. It can
be off. Is that all?

1. Push it (twice).
2. Wait, i.e. do nothing.
- __`Off`__: dark.

| event | effect |
| ----- | ------ |
| push  | on     |
|       |        |

```go
lamp.push()
  # once
```
<p align="center">
  <img src="lamp.png"/>
</p>
"""

RST = """.. _lamps:

Lamps
=====

:Author: nobody

The states are::

    on

    off

Here ``x`` ends. "Next" begins:

#. one
   and more
#. two ... and
   three

.. image:: lamp.svg
"""


def split(text: str) -> list[tuple[int, int, str]]:
    return [(each.line, each.last, each.text) for each in statements(text)]


def test_markdown() -> None:
    assert split(MARKDOWN) == [
        (1, 1, "# Lamps"),
        (3, 3, "A lamp is on, e.g. bright."),
        (3, 4, "It can be off."),
        (4, 4, "Is that all?"),
        (6, 6, "1. Push it (twice)."),
        (7, 7, "2. Wait, i.e. do nothing."),
        (8, 8, "- __`Off`__: dark."),
        (10, 10, "event | effect"),
        (12, 12, "push | on"),
        (16, 16, "lamp.push()"),
        (17, 17, "# once"),
        (20, 20, '<img src="lamp.png"/>'),
    ]


def test_restructured_text() -> None:
    assert split(RST) == [
        (3, 3, "Lamps"),
        (6, 6, ":Author: nobody"),
        (8, 8, "The states are::"),
        (10, 10, "on"),
        (12, 12, "off"),
        (14, 14, "Here ``x`` ends."),
        (14, 14, '"Next" begins:'),
        (16, 17, "#. one and more"),
        (18, 19, "#. two ... and three"),
        (21, 21, ".. image:: lamp.svg"),
    ]


@each_row("text", ["", "\n\n", "===\n", "```\n```\n", "| | |\n"])
def test_nothing_is_stated(text: str) -> None:
    assert split(text) == []


@each_row(
    ("text", "expected"),
    [
        ("It is on. it is off. 5 are on. `x` is off.", ["It is on.", "it is off.", "5 are on.", "`x` is off."]),
        ("It is on. (or off) It is new.", ["It is on.", "(or off)", "It is new."]),
        ("It ends in 1. an error, 2. success, cf. line 3.", ["It ends in 1. an error, 2. success, cf. line 3."]),
        ("It goes to B. and stays, etc. and so on.", ["It goes to B. and stays, etc. and so on."]),
        ("It goes to B. The rest, etc. Then all.", ["It goes to B.", "The rest, etc.", "Then all."]),
        ("Dr. Smith et al. say so, cf. Fig. 3. See v0.12.2. By Smith et al. Next.", ["Dr. Smith et al. say so, cf. Fig. 3.", "See v0.12.2.", "By Smith et al.", "Next."]),
        ("U.S. law applies. At 5 p.m. it is on in the U.S. Then off.", ["U.S. law applies.", "At 5 p.m. it is on in the U.S.", "Then off."]),
        ("It never fails... A cat sits… It waits... and ... After that, ... stays.", ["It never fails...", "A cat sits…", "It waits... and ... After that, ... stays."]),
        ("<!-- one. two. -->\n\nThree.", ["<!-- one.", "two. -->", "Three."]),
        ("<!--\none.\n-->\n\nTwo.", ["<!-- one. -->", "Two."]),
        ("| x \\| y | z |\n| a | b \\|", ["x \\| y | z", "a | b \\|"]),
        ("- [x] done\nTerm\n: Its meaning is here. Second.\nMore", ["- [x] done", "Term", ": Its meaning is here.", "Second.", "More"]),
        ("Two states (on, off) The stop is missing.", ["Two states (on, off)", "The stop is missing."]),
        ("Any order (or by age?) it says (of two (2) lamps).", ["Any order", "(or by age?)", "it says (of two (2) lamps)."]),
        ("There is a rule for it: It must be on; Otherwise, push.", ["There is a rule for it:", "It must be on;", "Otherwise, push."]),
        ("When on: Push (i.e. once); OR wait; nothing else.", ["When on: Push (i.e. once); OR wait; nothing else."]),
        ("Condition:\nall are off", ["Condition:", "all are off"]),
        ("Skip this\nVersion: 1.2 and\nmore", ["Skip this", "Version: 1.2 and more"]),
        ("See\n:ref:`lamps` and\n:Author: nobody", ["See :ref:`lamps` and", ":Author: nobody"]),
        ("- on\n  - dimmed\n    or not\n  * off\n+ broken\n1) new", ["- on", "- dimmed or not", "* off", "+ broken", "1) new"]),
        ("Before.\n<p>A lamp is on.\nIt is new.</p>\n</p><br/>\nAfter.", ["Before.", "<p>A lamp is on.", "It is new.</p>", "After."]),
        ("<p>It is on.</p>\n<div class='x'></div>\n<p><b>Off</b></p>", ["<p>It is on.</p>", "<p><b>Off</b></p>"]),
        ("  | one cell |\n| two | |\n|---|---|", ["one cell", "two | "]),
        ("````\n```\npush #7  # once\nurl // twice\n````\nEnd", ["```", "push #7", "# once", "url", "// twice", "End"]),
        ("Code::\n\n  on. off\n  (when\nEnd? No.", ["Code::", "on.", "off", "(when", "End?", "No."]),
    ],
)  # fmt: skip
def test_where_a_statement_ends(text: str, expected: list[str]) -> None:
    assert [each.text for each in statements(text)] == expected


def test_the_lines_of_a_statement_after_markup() -> None:
    """Markup in the middle of a paragraph ends it."""
    assert split("One\ntwo\n</p>\nthree.\n::\nfour") == [(1, 2, "One two"), (4, 4, "three."), (6, 6, "four")]


OUTSIDE = {
    "an anchor": r"\.\. _[\w-]+:",
    "a tag that places a figure": r'<p style="[^"]*">|</p>',
    "the beginning or the end of code": r"`{3,4}",
    "the underline of a heading, or a line under the head of a table": r"([=\-~#*])\1+",
    "the frame of a table, or a row of empty cells": r"\|[ |\-]+\|",
}
"""What is not in a statement: whole lines. Of a row of a table, the outer bars are not."""

DOCUMENTS = sorted({s.base.document.name for s in systems().values()})


def document(name: str) -> str:
    return (SHARED / "documents" / name).read_text("utf-8")


def inside(line: str) -> str:
    """What a line has to have in statements, without spaces."""
    signs = "".join(line.split())
    if any(re.fullmatch(kind, line.strip()) for kind in OUTSIDE.values()):
        return ""
    return signs[1:-1] if line.startswith("|") else signs


@needs_shared
@each_row("name", DOCUMENTS)
def test_each_sign_of_a_document_is_in_one_statement(name: str) -> None:
    """In its order, and in the lines that the statement has: no word is lost, and none is there twice."""
    signs = [(sign, number) for number, line in enumerate(document(name).split("\n"), 1) for sign in inside(line)]
    at = 0
    for each in statements(document(name)):
        text = "".join(each.text.split())
        its = signs[at : at + len(text)]
        assert text == "".join(sign for sign, _ in its), each
        assert (its[0][1], its[-1][1]) == (each.line, each.last), each
        at += len(text)
    assert at == len(signs)


@needs_shared
def test_each_kind_of_markup_is_in_a_document() -> None:
    lines = [line.strip() for name in DOCUMENTS for line in document(name).split("\n")]
    for what, kind in OUTSIDE.items():
        assert any(re.fullmatch(kind, line) for line in lines), what

"""How a document is split into statements: what is expected is counted by hand in small texts."""

from __future__ import annotations

import pytest

from schedproof.model.ledger.statements import statements
from schedproof.model.registry.discovery import systems
from tests.support.needs import needs_shared
from tests.support.places import SHARED

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


@pytest.mark.parametrize("text", ["", "\n\n", "===\n", "```\n```\n", "| | |\n"])
def test_nothing_is_stated(text: str) -> None:
    assert split(text) == []


def words(text: str) -> list[str]:
    return [word for word in text.replace("|", " ").split() if any(letter.isalnum() for letter in word)]


@needs_shared
@pytest.mark.parametrize("name", sorted({s.base.document.name for s in systems().values()}))
def test_no_word_of_a_document_is_lost(name: str) -> None:
    """The statements have all its words, in its order, except anchors, tags that place figures, and fences."""
    text = (SHARED / "documents" / name).read_text("utf-8")
    kept = [line for line in text.split("\n") if not line.strip().startswith((".. _", "<p", "</p", "```"))]
    assert words(" ".join(each.text for each in statements(text))) == words(" ".join(kept))

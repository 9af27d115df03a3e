"""The page of a document on a narrow screen."""

from __future__ import annotations

import msgspec
import pytest

from schedproof.model.ledger.ledger import Entry
from schedproof.model.ledger.page import html
from tests.model.ledger.lamps import LEDGER, system
from tests.support.browsing import Opened, serious
from tests.support.needs import needs_chromium

pytestmark = needs_chromium

WORD = "AllocatedGroupPreempted"
"""A word that fits a narrow screen."""

LONG = "x" * 200

LINES_OF_WORD = f"""() => {{
  const texts = document.createTreeWalker(document.querySelector("tbody"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {{
    const at = texts.currentNode.data.indexOf({WORD!r}), range = document.createRange();
    if (at < 0) continue;
    range.setStart(texts.currentNode, at);
    range.setEnd(texts.currentNode, at + {len(WORD)});
    return range.getClientRects().length;
  }}
}}"""


@pytest.mark.long
def test_a_narrow_screen_breaks_only_what_is_too_long(opened: Opened) -> None:
    statements = [
        Entry(1, f"A group may be {WORD}, then {LONG}.", modelled=["machine Lamp", f"state {LONG}"]),
        *LEDGER.statements,
    ]
    text = html(system(), msgspec.structs.replace(LEDGER, statements=statements))
    page = opened(text, viewport={"width": 320, "height": 600})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.evaluate("document.querySelector('.scroll').scrollWidth") <= 320
    assert page.evaluate(LINES_OF_WORD) == 1
    assert serious(page) == []

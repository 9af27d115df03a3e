"""A ledger as Markdown, HTML and JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import msgspec

from schedproof.model.ledger.ledger import Entry, Mark
from schedproof.model.ledger.page import Verdict, as_json, html, markdown, verdict, violated
from tests.model.ledger.lamps import LEDGER, MODEL, RED, system


class Cells(HTMLParser):
    """The class of each cell that has one, and the words in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[tuple[str, str]] = []
        self.open = ""
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if tag == "td" and named.get("class"):
            self.open = str(named["class"])
            self.cells.append((self.open, ""))
        self.ids |= {str(named["id"])} if named.get("id") else set()
        self.links += [str(named[key]) for key in ("src", "href") if named.get(key)]

    def handle_endtag(self, tag: str) -> None:
        self.open = "" if tag == "td" else self.open

    def handle_data(self, data: str) -> None:
        if self.open:
            self.cells[-1] = (self.open, self.cells[-1][1] + data)


def test_html_colours_each_statement() -> None:
    page = Cells(html(system(), LEDGER))
    assert page.cells == [
        ("modelled", "# Lamps"),
        ("modelled", "A lamp is off at first."),
        ("open", "It never breaks."),
        ("open", "A lamp can be pushed."),
        ("violated", "A pushed lamp is on."),
        ("modelled", "figure: Off -> On, push"),
        ("without", "Lamps are nice."),
    ]
    rows = ["#line-4-4", "#line-3-3"]  # where the interpretation and the contradiction are named
    assert page.links == ["#never-nice", "#red-only", *rows], "it needs no network"
    assert {link.removeprefix("#") for link in page.links} <= page.ids


BRIGHT = replace(MODEL, variant="bright", refuted=frozenset())
DULL = replace(MODEL, variant="dull", properties=[])
THREE = replace(system(), variants={"as-written": MODEL, "bright": BRIGHT, "dull": DULL})
"""Lamps are dark in one variant, not in another, and a third does not require it."""


def test_verdicts_that_depend_on_the_variant_are_listed() -> None:
    (cell,) = [text for kind, text in Cells(html(THREE, LEDGER)).cells if kind == "violated"]
    (list_,) = re.findall(r'<ul class="variants">(.*?)</ul>', html(THREE, LEDGER))
    assert re.findall(r'<li class="(\w+)">(.*?)</li>', list_) == [
        ("violated", "a property is violated: as-written"), ("held", "all properties hold: bright"),
    ]  # fmt: skip
    assert cell.startswith("A pushed lamp is on.") and cell.endswith("bright")
    assert "all properties hold: bright" not in html(system(), LEDGER)
    (row,) = [line for line in markdown(THREE, LEDGER).splitlines() if line.startswith("| 6 | A pushed")]
    assert row.endswith("<br>*a property is violated:* as-written<br>*all properties hold:* bright |")
    statements = as_json(THREE, LEDGER, [])["statements"]
    assert statements[4]["verdicts"] == {"as-written": "violated", "bright": "held"}
    assert statements[0]["verdicts"] == {}


def test_pages_list_every_interpretation_with_what_hangs_on_it() -> None:
    """Also one that only an element has as its source."""
    dark = replace(RED, name="dark-only", variant="as-written", rests=["dark"], breaks=["life"])
    of = system(interpretations=(RED, dark))
    marked = {**LEDGER.elements, "axiom 1": Mark("", "interpretation dark-only")}
    ledger = msgspec.structs.replace(LEDGER, elements=marked)
    lines = markdown(of, ledger).splitlines()
    at = lines.index('<a id="dark-only"></a>**dark-only** (line 4, as-written)')
    assert lines[at + 2 :][:7] == [
        "- Question: Which lamps can be pushed?",
        "- The model: Only red lamps can be pushed.",
        "- Or: All lamps can be pushed.",
        "- Why: Line 4 says that a lamp can be pushed, and not that every lamp can.",
        "- No longer violated then: dark",
        "- Also violated then: life",
        "- Source of: axiom 1",
    ]
    at = lines.index('<a id="red-only"></a>**red-only** (line 4)')
    assert lines[at + 6 :][:2] == ["- Tried: no verdict differs", "- Source of: attribute Lamp.colour, action push"]
    assert '- line 3: "It never breaks."' in lines
    page = html(of, ledger)
    assert "dark-only (line 4, as-written)" in page and "<em>Also violated then:</em> life" in page
    (data, _) = as_json(of, ledger, [])["interpretations"]
    assert (data["question"], data["answer"], data["tried"]) == (RED.question, RED.read, True)


def test_html_escapes_the_document() -> None:
    tagged = Entry(9, "<script>alert(1)</script> & <b>", background="a <tag>")
    text = html(system(), msgspec.structs.replace(LEDGER, statements=[tagged]))
    assert "<script" not in text and "<b>" not in text and "a &lt;tag&gt;" in text


def test_markdown_has_a_row_for_each_statement() -> None:
    table = Entry(8, "a | b", modelled=["machine Lamp"])
    lines = markdown(system(), msgspec.structs.replace(LEDGER, statements=[*LEDGER.statements, table])).splitlines()
    assert lines[7] == (
        "| 4 | A lamp can be pushed. | **modelled as** action push<br>**interpreted as** [red-only](#red-only) |"
    )
    assert lines[11].startswith("| 8 | a \\| b |") and lines[12:14] == ["", "## Interpretations"]


def test_a_statement_whose_properties_hold() -> None:
    holds = system(model=replace(MODEL, refuted=frozenset()))
    assert violated(system(), LEDGER) == {"dark"} and violated(holds, LEDGER) == set()
    assert verdict(LEDGER.statements[4], violated(holds, LEDGER)) is Verdict.HELD


def test_json_has_verdicts_and_gaps() -> None:
    data = as_json(system(), LEDGER, ["a gap"])
    assert data["gaps"] == ["a gap"] and len(data["statements"]) == 7
    assert data["statements"][4]["verdict"] == "violated" and data["statements"][6]["background"] == "an opinion"

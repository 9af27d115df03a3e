"""A ledger as Markdown, HTML and JSON."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import msgspec

from schedproof.model.ledger.ledger import Entry
from schedproof.model.ledger.page import Verdict, as_json, html, markdown, verdict, violated
from tests.model.ledger.lamps import LEDGER, MODEL, system


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
    assert page.links == ["#never-nice", "#red-only"], "it needs no network"
    assert {"never-nice", "red-only"} <= page.ids


def test_html_escapes_the_document() -> None:
    tagged = Entry(9, "<script>alert(1)</script> & <b>", background="a <tag>")
    text = html(system(), msgspec.structs.replace(LEDGER, statements=[tagged]))
    assert "<script" not in text and "<b>" not in text and "a &lt;tag&gt;" in text


def test_markdown_has_a_row_for_each_statement() -> None:
    table = Entry(8, "a | b", modelled=["machine Lamp"])
    lines = markdown(system(), msgspec.structs.replace(LEDGER, statements=[*LEDGER.statements, table])).splitlines()
    assert len(lines) == 4 + 8
    assert lines[7] == "| 4 | A lamp can be pushed. | **modelled as** action push<br>**interpreted as** red-only |"
    assert lines[-1].startswith("| 8 | a \\| b |")


def test_a_statement_whose_properties_hold() -> None:
    holds = system(model=replace(MODEL, refuted=frozenset()))
    assert violated(system(), LEDGER) == {"dark"} and violated(holds, LEDGER) == set()
    assert verdict(LEDGER.statements[4], violated(holds, LEDGER)) is Verdict.HELD


def test_json_has_verdicts_and_gaps() -> None:
    data = as_json(system(), LEDGER, ["a gap"])
    assert data["gaps"] == ["a gap"] and len(data["statements"]) == 7
    assert data["statements"][4]["verdict"] == "violated" and data["statements"][6]["background"] == "an opinion"

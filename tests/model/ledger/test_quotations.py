"""Quotations are compared with the document: words that it lacks, other lines, and what is cut before a condition."""

from __future__ import annotations

from dataclasses import replace

from schedproof.model.ledger.quotations import misquoted, quoted
from schedproof.model.ledger.statements import statements
from schedproof.model.registry.discovery import systems
from tests.model.ledger.lamps import MODEL, NEVER, TEXT, system
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row

LIMITED = TEXT + "\nA user turns a *lamp* on, if it has power. It is | on; then off.\nIt is on for e<sub>1</sub>.\n"


@each_row(
    ("line", "words", "says"),
    [
        (3, "A lamp is off at first.", ""),
        (3, "lamp is off", ""),
        (3, "at first. It never breaks. A lamp", ""),
        (3, "A lamp is off ... It never breaks.", ""),
        (4, "It never breaks. ... A lamp can be pushed.", ""),
        (9, "turns a lamp on, if it has power.", ""),
        (9, "It is on", ""),
        (10, "It is on for e1.", ""),
        (3, "A lamp is pink", 'line 3 does not have "A lamp is pink"; quote its words'),
        (3, "It never breaks. ... A lamp is off", "line 3 does not have"),
        (3, "...", "line 3 does not have"),
        (4, "It never breaks.", "line 4 does not have"),
        (99, "It never breaks.", "line 99 does not have"),
        (9, "A user turns a lamp on", 'line 9 goes on ", if it has power."; quote this condition as well'),
    ],
)
def test_a_contradiction_quotes_the_document(line: int, words: str, says: str) -> None:
    of = system(contradictions=(replace(NEVER, quotes=((line, words),)),))
    lines = list(misquoted(of, LIMITED))
    assert len(lines) == bool(says), lines
    assert all(each.startswith("contradiction never-nice (lamps.py:") and says in each for each in lines)


@each_row(
    ("line", "sentence", "says"),
    [
        (6, "A pushed lamp is on.", ""),
        (6, "", ""),
        (6, "fact 1.2: lamps live for ever", ""),
        (6, "A lamp lives for ever", 'line 6 does not have "A lamp lives for ever"; quote its words'),
        (9, "turns a lamp on", "quote this condition as well"),
        (5, "", "line 5 has no statement; cite the line that requires it"),
        (99, "A pushed lamp is on.", "line 99 has no statement"),
    ],
)
def test_a_property_quotes_the_document(line: int, sentence: str, says: str) -> None:
    model = replace(MODEL, properties=[replace(MODEL.properties[0], line=line, sentence=sentence)])
    lines = list(misquoted(system(model=model), LIMITED))
    assert len(lines) == bool(says), lines
    assert all(each.startswith("property dark (") and says in each for each in lines)


def test_the_place_in_the_document_is_that_of_the_line() -> None:
    """The same words stand in two lines."""
    some = statements("A lamp is on.\n\nA lamp is on.\n")
    assert [quoted(some, line, "lamp is") for line in (1, 2, 3)] == [[some[0]], [], [some[1]]]


@needs_shared
@each_row("name", systems())
def test_the_systems_quote_their_documents(name: str) -> None:
    of = systems()[name]
    text = (SHARED / "documents" / of.base.document.name).read_text("utf-8")
    assert list(misquoted(of, text)) == []

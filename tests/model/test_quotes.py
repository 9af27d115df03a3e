"""Footnotes: what texts cite of a document, and of the facts that the document leaves out."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from pathlib import Path

import pytest

from schedproof.model.cited import fact, quote
from schedproof.model.lang import Document
from schedproof.model.ledger.statements import statements
from schedproof.model.quotes import cited_lines, footnotes, whole_sentences
from schedproof.model.registry.discovery import systems
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row

QUOTES = {"lamps.md": {"3": "Lamps can be switched on.", "7": "Lamps stay dark.", "12": "Nobody asks for this line."}}
FACTS = {"2": "The code of the lamp.", "2, lamp.c:7-9": "The switch bounces.", "4.10": "Ten.", "4.9": "Nine."}


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """With three lines that are quoted, and facts."""
    (tmp_path / "quotes.json").write_text(json.dumps(QUOTES))
    (tmp_path / "facts.json").write_text(json.dumps(FACTS))
    return Document("lamps.md", "Lamps", tmp_path / "quotes.json", tmp_path / "facts.json")


def test_each_cited_line_is_quoted_once_in_order(document: Document) -> None:
    assert footnotes(document, ["dark (line 7), as lines 3 and 7 have it", "again line 3"]) == [
        "Cited from lamps.md:",
        '    line 3: "Lamps can be switched on."',
        '    line 7: "Lamps stay dark."',
    ]


def test_a_line_is_cited_at_the_end_of_a_sentence_too() -> None:
    assert cited_lines("The model follows line 3. It is no section: line 1.2") == {3}
    assert cited_lines("It follows lines 3 to 7.") == {3, 7}


def test_a_fact_with_a_place_comes_after_what_it_is_about(document: Document) -> None:
    """And facts are in the order of their numbers, not of their digits."""
    assert footnotes(document, ["action a, fact 2, lamp.c:7-9", "see facts 4.10 and 4.9"]) == [
        "Cited facts, which the document leaves out:",
        "    fact 2: The code of the lamp.",
        "    fact 2, lamp.c:7-9: The switch bounces.",
        "    fact 4.9: Nine.",
        "    fact 4.10: Ten.",
    ]


@pytest.mark.parametrize(
    "text", ["", "line 8", "deadline 7", "lamps.md:7", "a baseline 3", "fact 9", "lines of code", "line 7.5"]
)
def test_what_is_unknown_or_no_citation_has_no_footnote(document: Document, text: str) -> None:
    assert footnotes(document, [text]) == []


def test_a_document_without_files_has_no_footnotes() -> None:
    assert footnotes(Document("lamps.md", "Lamps"), ["line 7, fact 2"]) == []


TEXT = """
Lamps
=====

A lamp that a user
``dims`` stays on, or
``goes`` off. Others do
not::

    # needs a lock
    dim(lamp)
"""


@each_row(
    ("line", "quoted"),
    [
        (2, "Lamps A lamp that a user ``dims`` stays on, or ``goes`` off."),
        (5, "A lamp that a user ``dims`` stays on, or ``goes`` off."),
        (6, "A lamp that a user ``dims`` stays on, or ``goes`` off."),
        (7, "A lamp that a user ``dims`` stays on, or ``goes`` off. Others do not::"),
        (10, "# needs a lock dim(lamp)"),
        (11, "dim(lamp)"),
    ],
)
def test_a_quotation_has_whole_sentences(line: int, quoted: str) -> None:
    """Wherever its lines break, also before a literal, and whichever of its lines is cited."""
    assert whole_sentences(statements(TEXT), line) == quoted


@each_row("name", sorted(systems()))
def test_every_citation_of_a_model_has_its_words(name: str) -> None:
    """A reader has neither the document nor the facts: both are quoted, whatever element cites them."""
    for model in systems()[name].variants.values():
        for element in (*model.actions, *model.rows, *model.rules):
            if element.line is not None:
                assert quote(model.document, element.line), f"{model.variant}: line {element.line} of {element.name}"
            elif element.fact:
                number, _, place = element.fact.partition(", ")
                assert fact(model.document, number), f"{model.variant}: fact {number} of {element.name}"
                if ".go:" in place:
                    key = element.fact.partition(": ")[0].partition(" and ")[0]
                    assert fact(model.document, key), f"{model.variant}: fact {key} of {element.name}"


def squeezed(text: str) -> str:
    """A text without what documents mark, and without spaces: they wrap, number and emphasize."""
    return (
        re.sub(r"e<sub>(\w)</sub>", r"e\1", text).replace("__", "").replace("*", "").replace(" ", "").replace("\n", "")
    )


SENTENCES = {
    (model.document.name, prop.sentence): f"{system.name} {prop.name}"
    for system in systems().values()
    for model in system.variants.values()
    for prop in model.properties
    if prop.sentence
}


def omissions(sentence: str) -> list[tuple[str, str]]:
    """What stands before and after each omission."""
    return [
        (sentence[: dots.start()].rstrip(), sentence[dots.end() :].lstrip())
        for dots in re.finditer(r"\.\.\.", sentence)
    ]


WRITTEN = "... After that, same as create a new allocation."
"""Here the document itself has the dots."""


@each_row(("document_name", "sentence"), SENTENCES, ids=SENTENCES.values())
def test_a_quotation_leaves_out_whole_sentences_only(document_name: str, sentence: str) -> None:
    """A condition that is left out of a quotation is one that nobody sees."""
    for before, after in omissions(sentence):
        assert sentence == WRITTEN or (before and before[-1] in ".:;" and after), sentence


@needs_shared
@each_row(("document_name", "sentence"), SENTENCES, ids=SENTENCES.values())
def test_a_quotation_begins_where_a_clause_does(document_name: str, sentence: str) -> None:
    document = SHARED / "documents" / document_name
    if not document.is_file() or re.match(r"(fact|section) \d", sentence):  # read from code, and cited from the facts
        return
    lines = [squeezed(line) for line in document.read_text("utf-8").splitlines()]
    text, first = "".join(lines), squeezed(sentence.split("...")[0] or sentence)
    starts = {0, *accumulate(len(line) for line in lines)}
    places = [match.start() for match in re.finditer(re.escape(first), text)]
    assert places, "it is not in the document"
    assert any(at in starts or text[at - 1] in '.:;()->|•`,"' for at in places), "it begins in the middle of a clause"

"""Compares the quotations of contradictions and properties with the text of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from schedproof.model.registry.system import System

from .statements import Statement, statements

MARKUP = re.compile(r"</?\w+>|[\W_]")
"""Tags, and whatever is neither a letter nor a digit: quotations leave out marks, and bars of tables."""

OMISSION = re.compile(r"\.\.\.|…")

ELSEWHERE = re.compile(r"(facts?|section) \d")
"""How a requirement begins that is from the facts, and not from the document."""


CONDITION = re.compile(r"\W*(if|unless|when|while|until|except|provided|only|as long as)\b", re.IGNORECASE)
"""How a sentence goes on, if a quotation is cut before what limits it."""


def misquoted(system: System, text: str) -> Iterator[str]:
    """The quotations of contradictions and properties that the document does not have at their line, or that end before a condition.

    Args:
        system: the system.
        text: of its first variant's document; properties of variants with another document are left out.
    """
    stated = statements(text)
    for contradiction in system.contradictions:
        for line, words in contradiction.quotes:
            yield from _wrong(f"contradiction {contradiction.name} ({contradiction.place})", stated, line, words)
    models = [model for model in system.variants.values() if model.document.name == system.base.document.name]
    properties = {(each.name, each.line, each.sentence): each for model in models for each in model.properties}
    for prop in properties.values():
        at = f"property {prop.name} ({prop.place})"
        if prop.line is None or ELSEWHERE.match(prop.sentence):
            continue
        if not any(each.line <= prop.line <= each.last for each in stated):
            yield f"{at}: line {prop.line} has no statement; cite the line that requires it"
        elif prop.sentence:
            yield from _wrong(at, stated, prop.line, prop.sentence)


def _wrong(at: str, stated: Sequence[Statement], line: int, words: str) -> Iterator[str]:
    some, rest = _quotation_place(stated, line, words)
    if not some:
        yield f'{at}: line {line} does not have "{words.strip()}"; quote its words'
    elif CONDITION.match(rest):
        yield f'{at}: line {line} goes on "{rest.strip():.60}"; quote this condition as well'


def quoted(stated: Sequence[Statement], line: int, words: str) -> list[Statement]:
    """The statements that have part of a quotation, one of them in a line; none if the document does not have it there.

    Args:
        stated: the statements of the document.
        line: of the document.
        words: of one statement or of several that follow each other; "..." stands for what is left out between them.
    """
    return _quotation_place(stated, line, words)[0]


def _quotation_place(stated: Sequence[Statement], line: int, words: str) -> tuple[list[Statement], str]:
    """The statements of a quotation, and what the last one has after it."""
    texts = [_plain(each.text) for each in stated]
    ends = list(accumulate(map(len, texts)))
    whole = "".join(texts)
    parts = [part for each in OMISSION.split(words) if (part := _plain(each))]
    for first in re.finditer(f"(?={re.escape(parts[0])})", whole) if parts else ():
        spans = [(first.start(), first.start() + len(parts[0]))]
        for part in parts[1:]:
            begin = whole.find(part, spans[-1][1])
            if begin < 0:
                return [], ""
            spans.append((begin, begin + len(part)))
        some = [
            (each, end)
            for each, signs, end in zip(stated, texts, ends, strict=True)
            if any(begin < end and end - len(signs) < stop for begin, stop in spans)
        ]
        if any(each.line <= line <= each.last for each, _ in some):
            last, end = some[-1]
            return [each for each, _ in some], _ending(last.text, end - spans[-1][1])
    return [], ""


def _ending(text: str, length: int) -> str:
    """The end of a text, with so many letters and digits."""
    return next((text[at:] for at in range(len(text) + 1) if len(_plain(text[at:])) == length), "") if length else ""


def _plain(text: str) -> str:
    return MARKUP.sub("", text)

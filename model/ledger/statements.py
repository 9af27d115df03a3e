"""Splits a document into its statements: sentences, rows of tables, lines of code, headings and figures.

Markdown, reStructuredText and plain text with bullets are understood, as far as the documents use them. Only markup is outside
of all statements: frames of tables, underlines of headings, ends of blocks of code, anchors, and tags without words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """A sentence, a row of a table, a line of code, a comment at its end, a heading or a figure.

    Args:
        line: of the document, from 1; the first one, if it spans several.
        text: its words, with single spaces.
        last: its last line.
    """

    line: int
    text: str
    last: int


FENCE = re.compile(r"\s*(`{3,})[^`]*$")

MARKUP = re.compile(r"\s*(\.\. _[^`]*:|(</?(p|div|center|br)\b[^>]*>\s*)+|::|([=\-~#*^+|: ])[=\-~#*^+|: ]{2,})\s*$")
"""Anchors, tags that only place what is between them, signs of code, underlines of headings, frames, rows of empty cells."""

ALONE = re.compile(r"#+ |\s*\|")
"""Headings and rows of tables: no other line continues them."""

FIRST = re.compile(r"\s*([-*+•]|#\.|\d+[.)])\s|\.\. |\s*<|\s*:\w[\w ]*:(\s|$)|[A-Z]\w*: |: ")
"""Items of lists, directives, tags, fields, names before a colon, and definitions of terms: they continue no other line."""

DEFINITION = re.compile(r": ")
"""The line below a term in a list of definitions."""

OPENING, CLOSING = "([{<\"'`*_~", ")]}>\"'`*_~"

ABBREVIATIONS = frozenset({"e.g.", "i.e.", "cf.", "vs.", "dr.", "mr.", "mrs.", "prof.", "fig.", "figs.", "sec.", "eq."})

BEFORE_CAPITALS = re.compile(r"((\w\.)*\w|\d+|etc|al)\.")
"""Numbers, and abbreviations at which a sentence may end: "1. a signal, or 2. an error", "It goes to B. Then it stays"."""

BAR = re.compile(r"(?<!\\)\|")
"""The bar between two cells. One that belongs to a cell has a backslash before it."""

AFTER_BRACKET = frozenset({"The", "This", "These", "It", "A", "An"})

NAME_WORDS = 3
"""What comes before a colon is a name if it has at most so many words, with the sign of its item: "- When fails: Send it"."""

COMMENT = re.compile(r"#(?!\d)|//")


def statements(text: str) -> list[Statement]:
    """The statements of a document, in its order."""
    return [each for block in _blocks(text.split("\n")) for each in _split(block)]


@dataclass(frozen=True)
class _Block:
    """Lines that belong together: a paragraph, an item of a list, or one line of what is not prose."""

    first: int
    lines: Sequence[str]
    is_code: bool = False


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block: list[str] = []
    fence = ""  # the signs that opened a block of code
    indented: int | None = None  # of the paragraph that ends in "::"; deeper lines are code
    for number, line in enumerate([*lines, ""], 1):
        depth = len(line) - len(line.lstrip())
        if indented is not None and line.strip() and depth <= indented:
            indented = None
        signs = match[1] if (match := FENCE.match(line)) else ""
        opens, closes = signs and not fence, fence and signs.startswith(fence)
        code = bool(fence) or indented is not None
        outside = not line.strip() or opens or closes or MARKUP.match(line)
        announced = block and block[-1].rstrip().endswith(":")
        is_term = number < len(lines) and DEFINITION.match(lines[number])
        if block and (outside or code or announced or is_term or FIRST.match(line) or ALONE.match(line)):
            yield _Block(number - len(block), block)
            if block[-1].rstrip().endswith("::"):
                indented = len(block[0]) - len(block[0].lstrip())
                code = depth > indented
            block = []
        if opens or closes:
            fence = signs if opens else ""
        elif outside:
            continue
        elif code or ALONE.match(line):
            yield _Block(number, [line], code)
        else:
            block.append(line)


def _split(block: _Block) -> Iterator[Statement]:
    """The sentences of a block; of a row of a table, its cells; of a line of code, the code and its comment."""
    if not block.is_code and (row := block.lines[0].strip()).startswith("|"):
        outer = row.lstrip("|") if row.endswith("\\|") else row.strip("|")
        cells = [cell.strip() for cell in BAR.split(outer)]
        yield Statement(block.first, " | ".join(cells), block.first)
        return
    lines = [(word, number) for number, line in enumerate(block.lines, block.first) for word in line.split()]
    words = [word for word, _ in lines]
    at = 0
    for end in range(1, len(words) + 1):
        read, rest = words[at:end], words[end:]
        if not rest or _ends(read, rest) or (block.is_code and COMMENT.match(rest[0])):
            yield Statement(lines[at][1], " ".join(read), lines[end - 1][1])
            at = end


def _ends(read: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether a sentence ends between the words that are read and the rest of them.

    The next sentence may begin with a small letter, a digit or a literal.
    """
    if rest[0] == "-->":
        return False  # the end of a comment
    word = read[-1].rstrip(CLOSING)
    is_capital = rest[0].lstrip(OPENING)[:1].isupper()
    if word.endswith(("...", "…")):
        return is_capital and word.strip(".…") != ""
    if word.endswith((".", "?", "!")):
        is_sign = len(read) == 1 and re.fullmatch(r"(#|\d+|\.)\.", word)  # of an item of a list, or of a directive
        if is_sign or word.lstrip(OPENING).lower() in ABBREVIATIONS:
            return False
        return is_capital or not BEFORE_CAPITALS.fullmatch(word.lstrip(OPENING))
    if word.endswith(":"):
        return is_capital and len(read) > NAME_WORDS
    if read[-1].endswith(";"):
        return rest[0][:1].isupper() and rest[0][1:2].islower()
    if read[-1].endswith(")") and rest[0] in AFTER_BRACKET:
        return True  # a full stop is missing
    return rest[0].startswith("(") and next((w for w in rest if w.endswith(")")), "").endswith("?)")

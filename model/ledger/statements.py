"""Splits a document into its statements: sentences, rows of tables, lines of code, headings and figures.

Markdown, reStructuredText and plain text with bullets are understood, as far as the documents use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """A sentence, a row of a table, a line of code, a heading or a figure.

    Args:
        line: of the document, from 1; the first one, if it spans several.
        text: its words, with single spaces.
        last: its last line.
    """

    line: int
    text: str
    last: int


RULER = re.compile(r"\s*([=\-~#*^+|: ])[=\-~#*^+|: ]{2,}$")
"""Underlines of headings, frames of tables, and rows of empty cells."""

IGNORED = re.compile(r"\s*(\.\. _[^`]*:|</?p\b.*>|```+\s*\w*|::)\s*$")
"""Anchors, tags that only place a figure, and the ends of blocks of code."""

FENCE = re.compile(r"\s*```+\s*\w*\s*$")
ITEM = re.compile(r"\s*([-*•]|#\.|\d+\.)\s+")
BLOCK = re.compile(r"(#+ |\.\. |\s*<|\||:\w[\w ]*:)")
"""The beginnings of lines that are a statement by themselves: headings, directives, tags, rows of tables, fields."""

END = re.compile(
    r"""(?<=[.?!])(?<!\A\d\.)(?<!\A#\.)(?<!\.\.\.)(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)["')*]*\s+(?=["'`(*_]*[A-Z])"""
)
"""Between two sentences."""


def statements(text: str) -> list[Statement]:
    """The statements of a document, in its order."""
    all_statements: list[Statement] = []
    for first, lines in _blocks(text.split("\n")):
        all_statements += _split(first, lines)
    return all_statements


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Paragraphs, items of lists, and single lines of what is not prose, with the number of their first line."""
    block: list[str] = []
    fenced = False
    indented: int | None = None  # of the paragraph that ends in "::"; deeper lines are code
    for number, line in enumerate([*lines, ""], 1):
        if FENCE.match(line):
            fenced = not fenced
        depth = len(line) - len(line.lstrip())
        if indented is not None and line.strip() and depth <= indented:
            indented = None
        code = fenced or indented is not None
        begins = not line.strip() or code or ITEM.match(line) or BLOCK.match(line) or RULER.match(line)
        if begins and block:
            yield number - len(block), block
            if block[-1].rstrip().endswith("::"):
                indented = len(block[0]) - len(block[0].lstrip())
                code = bool(line.strip()) and depth > indented
            block = []
        if not line.strip() or RULER.match(line) or IGNORED.match(line):
            continue
        if code or BLOCK.match(line):
            yield number, [line]
        else:
            block.append(line)


def _split(first: int, lines: Sequence[str]) -> Iterator[Statement]:
    """The sentences of a block."""
    if lines[0].startswith("|"):
        cells = [cell.strip() for cell in lines[0].strip().strip("|").split("|")]
        yield Statement(first, " | ".join(cells), first)
        return
    text, starts = "", []
    for line in lines:
        starts.append(len(text))
        text += line.strip() + " "
    at = 0
    for end in [*(match.end() for match in END.finditer(text)), len(text)]:
        if text[at:end].strip():
            begin, final = (sum(s <= place for s in starts) - 1 for place in (at, max(at, end - 2)))
            yield Statement(first + begin, " ".join(text[at:end].split()), first + final)
        at = end

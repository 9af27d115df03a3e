"""Citations of a document's lines as links to the page of the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from schedproof.model.quotes import LINES


@dataclass(frozen=True)
class LineLinks:
    """Links to the lines of a document.

    Attributes:
        address: the address of a line; "" for none.
    """

    address: Callable[[int], str]

    def line(self, line: int) -> Markup:
        """ "line 12", as a link where the line has an address."""
        return self._link(line, f"line {line}")

    def linked(self, text: str) -> Markup:
        """A text in which "line 12" is a link, and each number of "lines 12, 13 and 15"."""
        return Markup("").join(self._pieces(text))

    def _pieces(self, text: str) -> Iterator[str]:
        end = 0
        for each in LINES.finditer(text):
            numbers = list(re.finditer(r"\d+", each[0]))
            if len(numbers) == 1:
                yield text[end : each.start()]
                yield self._link(int(numbers[0][0]), each[0])
                end = each.end()
                continue
            for number in numbers:
                yield text[end : each.start() + number.start()]
                yield self._link(int(number[0]), number[0])
                end = each.start() + number.end()
        yield text[end:]

    def _link(self, line: int, words: str) -> Markup:
        address = self.address(line)
        return Markup('<a href="{}">{}</a>').format(address, words) if address else Markup("{}").format(words)


NO_LINKS = LineLinks(lambda line: "")
"""Where there is no page of the document."""

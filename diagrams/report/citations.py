"""Where the lines of a system's document are in a report."""

from __future__ import annotations

from bisect import bisect_right

from schedproof.diagrams.line_links import NO_LINKS, LineLinks

from . import paths
from .content import SystemContent


def line_links(section: SystemContent, location: paths.PageLocation, document: str) -> LineLinks:
    """Links to the lines of a document; none if the report has no page of it.

    Args:
        section: the system.
        location: the page that links.
        document: the name of the document.
    """
    ledger = section.ledger
    if ledger is None or ledger.document != document:
        return NO_LINKS
    begins = sorted({each.line for each in ledger.statements})

    def address(line: int) -> str:
        """The statement that the line is part of: the last one that begins on it or before."""
        before = bisect_right(begins, line)
        return location.to(paths.document_page(section.system.name), f"line-{begins[before - 1]}") if before else ""

    return LineLinks(address)

"""The plain trace format, for every system: a header, then one action, event or observation a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedproof.model.lang import Model
from schedproof.proofs.traces.files.lines import TextLine

from .format import Format, Plain, Requested, first_object


def is_own(lines: Sequence[TextLine]) -> bool:
    """Whether the first line is the header of a plain trace."""
    return "schedproof" in first_object(lines)


def read_own(model: Model, lines: Iterator[TextLine], requested: Requested) -> Plain:
    """The header and the records.

    Raises:
        TraceError: a line is not a JSON object, or the first is not a header.
    """
    header = next(lines).object()
    if "schedproof" not in header.value:
        raise header.error('the header of a plain trace is missing; write "schedproof": 1 in the first line')
    return Plain(header, (line.object() for line in lines))


PLAIN = Format("schedproof", 'a plain one with "schedproof": 1', is_own, read_own, streamed=True)
"""The plain format, for every system."""

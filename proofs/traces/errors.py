"""The only error of trace validation: a trace, or a request, that cannot be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.model.errors import SchedproofError

if TYPE_CHECKING:
    from .reports.report import ValidationReport


class TraceError(SchedproofError, ValueError):
    """Raised for unreadable input. The message is one line: what is wrong, where, and what to write instead.

    Args:
        message: the text of the message.
        line: the number of the wrong line of the log or mapping; 0 if no single line is wrong.

    Attributes:
        line: as above.
        before: the report on the lines before the wrong one; None if there is none.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.before: ValidationReport | None = None

"""The one error of the validator: a trace, or a request, that cannot be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reports.report import ValidationReport


class TraceError(ValueError):
    """Unreadable input. The message is one line: what, where, and what to write instead.

    Args:
        line: the number of the line that it is about; 0 if it is about no line.
    """

    exit_code = 2

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.before: ValidationReport | None = None
        """What was found out about the lines before that one, if anything was."""

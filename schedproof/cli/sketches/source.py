"""The text of a file that is read into sketches: places in it, and errors that show its line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from schedproof.model.lang.excerpt import Span, excerpt
from schedproof.model.registry.errors import UserError

LARGEST = 1_000_000
"""The most bytes of a file; diagrams are some lines."""


@dataclass(frozen=True)
class Source:
    """A file that was read."""

    path: Path
    text: str
    lines: list[str] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def read(cls, path: Path) -> Source:
        """Reads a file.

        Raises:
            UserError: it cannot be read, is too long, or is not UTF-8.
        """
        try:
            with path.open("rb") as stream:
                content = stream.read(LARGEST + 1)
            text = content.decode("utf-8-sig")
        except OSError as error:
            raise UserError(
                f"--from: cannot read {str(path)!r}: {error.strerror}; name a file that you can read"
            ) from None
        except UnicodeDecodeError:
            raise UserError(f"--from: {str(path)!r} is not UTF-8; name a file of text") from None
        except ValueError:
            raise UserError(f"--from: {str(path)!r:.80} cannot be the name of a file; name a file of text") from None
        if len(content) > LARGEST:
            raise UserError(f"--from: {str(path)!r} is longer than {LARGEST:,} bytes; name a file with a few machines")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return cls(path, text, text.split("\n"))

    def span(self, line: int, start: int = 0, end: int | None = None) -> Span:
        """A part of a line.

        Args:
            line: from 1.
            start, end: characters from 0; by default the line without the blanks around it.
        """
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if end is None:
            start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return Span(line, len(text[:start].encode()), line, len(text[:end].encode()))

    def text_of(self, span: Span) -> str:
        """The line of a place, without the blanks around it."""
        return self.lines[span.line - 1].strip() if span.line <= len(self.lines) else ""

    def excerpt(self, span: Span) -> str:
        """The line of a place, with carets below it."""
        return excerpt(str(self.path), span.line, span)

    def error(self, span: Span, problem: str, remedy: str) -> UserError:
        """The error for a mistake at a place."""
        message = f"{self.path.name}:{span.line}: {problem}; {remedy}"
        return UserError(message).with_excerpt(self.excerpt(span))

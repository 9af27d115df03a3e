"""How notebooks show models, runs and verdicts: as tables of HTML, and as text where there is no HTML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from html import escape


class InNotebook(ABC):
    """What a notebook shows as HTML."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """The object as HTML, with all text escaped."""

    @property
    @abstractmethod
    def _in_words(self) -> str:
        """The object as text."""

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The object by MIME type, as IPython asks for it.

        Args:
            include: the types that are wanted; None for all.
            exclude: those that are not.
        """
        bundle = {"text/plain": self._in_words, "text/html": self._repr_html_()}
        return {
            kind: text
            for kind, text in bundle.items()
            if (include is None or kind in include) and kind not in (exclude or ())
        }


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML. All texts are escaped."""
    head = "".join(f'<th style="text-align:left">{escape(each)}</th>' for each in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    title = f'<caption style="text-align:left;font-weight:bold">{escape(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def numbered(items: Iterable[str]) -> str:
    """A numbered list as HTML. All texts are escaped."""
    return "<ol>" + "".join(f"<li>{escape(each)}</li>" for each in items) + "</ol>"


def paragraph(text: str) -> str:
    """A paragraph as HTML. The text is escaped."""
    return f"<p>{escape(text)}</p>"

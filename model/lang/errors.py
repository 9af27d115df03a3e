"""Places in model files, and the error that refuses a wrong model."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType

from schedproof.model.errors import SchedproofError

from .excerpt import Span, excerpt, narrowed

_LANGUAGE = str(Path(__file__).parent)
"""The folder of the language. Its frames are skipped, so that an error's place is a line of the model."""

_CACHED = cached_property.__get__.__code__.co_filename
"""The file of ``cached_property``, by which the language makes the elements of channels."""


@dataclass(frozen=True)
class Place:
    """A position in a model file: ``file`` and ``line``.

    Args:
        columns: where in the file the text of the mistake begins and ends, if that is known.
        call: the code that was running, and its instruction; the columns are computed from it when they are asked for.
    """

    file: str
    line: int
    columns: Span | None = field(default=None, compare=False, repr=False)
    call: tuple[CodeType, int] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{Path(self.file).name or self.file}:{self.line}"

    def __reduce__(self) -> tuple[type[Place], tuple[str, int, Span | None]]:
        """Pickles no code: code objects cannot be pickled, and an error keeps the excerpt that it was made with."""
        return type(self), (self.file, self.line, self.columns)

    def in_folder(self) -> str:
        """The place with its folder, since several systems have a file of the same name."""
        return f"{'/'.join(Path(self.file).parts[-2:])}:{self.line}"

    @property
    def excerpt(self) -> str:
        """The line of the file, with carets below the mistake; "" if the file cannot be read."""
        return excerpt(self.file, self.line, self._span)

    @property
    def _span(self) -> Span | None:
        """Where the call of the language begins and ends; None if that is unknown."""
        if self.columns is not None or self.call is None:
            return self.columns
        code, instruction = self.call
        for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            if index == instruction // 2:  # an instruction has two bytes
                if line is None or end_line is None or column is None or end_column is None:
                    return None
                return Span(line, column, end_line, end_column)
        return None

    def at(self, name: str | None, skip: int = 0) -> Place:
        """The place of a name in the call; this place if the call does not have it. ``skip`` as in :func:`narrowed`."""
        span = narrowed(self.file, self.line, self._span, name, skip) if name is not None else None
        return self if span is None else Place(self.file, span.line, span)


def calling_place() -> Place:
    """The place of the model code that calls the language: the first frame outside it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_LANGUAGE)
        or frame.f_code.co_filename in ("<string>", _CACHED)  # "<string>": the __init__ of a dataclass
    ):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno, call=(frame.f_code, frame.f_lasti))


class ModelError(SchedproofError):
    """A model contradicts itself: names the element, its place and the remedy.

    Args:
        name: the wrong name, as the model has it. The place becomes that of the name, where the source is at hand.
        skip: how many places of the call have the name before, with another meaning.
    """

    def __init__(
        self, element: str, place: Place, problem: str, remedy: str, *, name: str | None = None, skip: int = 0
    ) -> None:
        place = place.at(name, skip)
        super().__init__(f"{place.in_folder()}: {element}: {problem}; {remedy}")
        self.element, self.place, self.problem, self.remedy = element, place, problem, remedy
        self.with_excerpt(place.excerpt)

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, Place, str, str], dict[str, object]]:
        """Pickles the parts: a worker process sends the error to the process that reports it."""
        return type(self), (self.element, self.place, self.problem, self.remedy), vars(self)

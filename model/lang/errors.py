"""Places in model files, and the error that refuses a wrong model."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from schedproof.model.errors import SchedproofError

_LANGUAGE = str(Path(__file__).parent)
"""The folder of the language. Its frames are skipped, so that an error's place is a line of the model."""

_CACHED = cached_property.__get__.__code__.co_filename
"""The file of ``cached_property``, by which the language makes the elements of channels."""


@dataclass(frozen=True)
class Place:
    """A position in a model file: ``file`` and ``line``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"

    def in_folder(self) -> str:
        """The place with its folder, since several systems have a file of the same name."""
        return f"{'/'.join(Path(self.file).parts[-2:])}:{self.line}"


def calling_place() -> Place:
    """The place of the model code that calls the language: the first frame outside it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_LANGUAGE)
        or frame.f_code.co_filename in ("<string>", _CACHED)  # "<string>": the __init__ of a dataclass
    ):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


class ModelError(SchedproofError):
    """A model contradicts itself: names the element, its place and the remedy."""

    def __init__(self, element: str, place: Place, problem: str, remedy: str) -> None:
        super().__init__(f"{place.in_folder()}: {element}: {problem}; {remedy}")
        self.element, self.place, self.problem, self.remedy = element, place, problem, remedy

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, Place, str, str]]:
        """Pickles the parts: a worker process sends the error to the process that reports it."""
        return type(self), (self.element, self.place, self.problem, self.remedy)

"""Places in files as a CI server names them: relative to the root of the repository."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from schedproof.model.lang import Document
from schedproof.model.lang.errors import Place

ROOTS = (".git", ".hg")


@dataclass(frozen=True)
class SourceLine:
    """A line of a file.

    Attributes:
        path: with ``/``; relative to the root of the repository if the file is in it, else absolute.
        line: the number of the line, from 1.
        in_repository: the file is in the repository.
        columns: the first column of the line's text and the one after its last; None if the file cannot be read.
    """

    path: str
    line: int
    in_repository: bool
    columns: tuple[int, int] | None = None

    @property
    def uri(self) -> str:
        """The path as a URI: a relative one in the repository, else ``file:///...``."""
        return quote(self.path) if self.in_repository else Path(self.path).as_uri()


@dataclass(frozen=True)
class Repository:
    """The folder that a CI server has checked out.

    Attributes:
        root: its path, without symbolic links.
    """

    root: Path

    @staticmethod
    def around(folder: Path) -> Repository:
        """The repository of a folder; a folder that is in none is its own root."""
        resolved = folder.resolve()
        above = (each for each in (resolved, *resolved.parents) if any((each / name).exists() for name in ROOTS))
        return Repository(next(above, resolved))

    def line(self, place: Place) -> SourceLine:
        """The line of a place in a model.

        Symbolic links are followed: GitHub shows no line of a file that it finds through one.
        """
        file = Path(place.file).resolve()
        number = max(place.line, 1)
        text = linecache.getline(str(file), number).rstrip()
        columns = (len(text) - len(text.lstrip()) + 1, len(text) + 1) if text else None
        if file.is_relative_to(self.root):
            return SourceLine(file.relative_to(self.root).as_posix(), number, True, columns)
        return SourceLine(file.as_posix(), number, False, columns)

    def document(self, document: Document, beside: Place, line: int) -> SourceLine | None:
        """The line of a document that stands beside the model or in the root; None if the repository does not have it."""
        for folder in (Path(beside.file).resolve().parent, self.root):
            file = folder / document.name
            if document.name and file.is_file() and file.resolve().is_relative_to(self.root):
                return self.line(Place(str(file), line))
        return None

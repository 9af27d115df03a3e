"""The destinations of results: standard output, or files that are written completely or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from schedproof.diagrams.errors import DiagramError
from schedproof.diagrams.writing import write_whole
from schedproof.model.registry.errors import UserError

STDOUT = "-"


@dataclass(frozen=True)
class Destination:
    """A file, or standard output (``-``), that an option names."""

    option: str
    path: str

    @property
    def is_stdout(self) -> bool:
        """Whether it is standard output."""
        return self.path == STDOUT

    def is_same_as(self, other: Destination) -> bool:
        """Whether both are standard output, or one file."""
        if self.is_stdout or other.is_stdout:
            return self.path == other.path
        return Path(self.path).resolve() == Path(other.path).resolve()

    def check(self) -> None:
        """Checks before the work that the file can be written after it.

        Raises:
            UserError: it cannot.
        """
        if self.is_stdout:
            return
        try:
            path = Path(self.path).resolve()
            if path.is_dir():
                raise self._error("it is a directory; write the name of a file in it")
            if not path.parent.is_dir():
                raise self._error(f"directory {str(path.parent)!r} does not exist; create it first, or choose another")
            if path.exists():
                if not os.access(path, os.W_OK):
                    raise self._error("it is write-protected; choose another file")
                if not path.is_file():
                    return  # for a device or a pipe, only writing shows it
            draft = path.with_name(f".{path.name}.{os.getpid()}.part")  # the name that write_whole uses
            draft.touch(exist_ok=False)
            draft.unlink()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise self._error(f"{reason}; choose a file in a directory that you can write to") from None

    def write(self, content: str | bytes) -> None:
        """Writes all of ``content``, or nothing.

        Raises:
            UserError: it cannot be written.
        """
        if self.is_stdout:
            click.echo(content, nl=False)
            return
        try:
            write_whole(Path(self.path), content)
        except DiagramError as error:
            raise UserError(f"{self.option}: {error}") from None

    def write_json(self, data: Any) -> None:
        """Writes ``data`` as JSON."""
        self.write(json.dumps(data, indent=2) + "\n")

    def _error(self, problem: str) -> UserError:
        return UserError(f"{self.option}: cannot write {self.path!r}: {problem}")


class OutputFile(click.ParamType[Destination]):
    """The type of an option whose value is a destination, checked when the command line is read."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Destination:
        """The destination.

        Raises:
            UserError: it cannot be written, or another option of the command writes there.
        """
        if isinstance(value, Destination):
            return value
        if not value:
            raise UserError(f"{_option(param)}: the name is empty; write a file's name, or - for standard output")
        destination = Destination(_option(param), str(value))
        for other in ctx.params.values() if ctx is not None else ():
            if isinstance(other, Destination) and other.is_same_as(destination):
                both = f"{other.option}, {destination.option}"
                raise UserError(f"{both}: both write to {other.path!r}; choose a file for each")
        destination.check()
        return destination


def _option(param: click.Parameter | None) -> str:
    return param.opts[-1] if param is not None else "output"


def spare(inputs: Iterable[str | Path | None], *destinations: Destination | None) -> None:
    """Checks that no option writes to a file that the command reads.

    Args:
        inputs: the files that the command reads; None for an option that is not given.
        destinations: of the options; None for an option that is not given.

    Raises:
        UserError: an option names an input.
    """
    read = [Path(name).resolve() for name in inputs if name is not None and "\0" not in str(name)]
    for each in destinations:
        if each is not None and not each.is_stdout and Path(each.path).resolve() in read:
            raise UserError(f"{each.option}: {each.path!r} is an input of this command; choose another file")

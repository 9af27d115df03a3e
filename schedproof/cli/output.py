"""Where results go: standard output, or files that are written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
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
        """It is standard output."""
        return self.path == STDOUT

    def check(self) -> None:
        """Finds out before the work whether the file can be written after it.

        Raises:
            UserError: it cannot.
        """
        if self.is_stdout:
            return
        try:
            path = Path(self.path).resolve()
            if path.is_dir():
                raise self._error("it is a folder; name a file in it")
            if not path.parent.is_dir():
                raise self._error(f"the folder {str(path.parent)!r} does not exist; create it first, or choose another")
            if path.exists():
                if not os.access(path, os.W_OK):
                    raise self._error("it is write-protected; choose another name")
                if not path.is_file():
                    return  # a device or a pipe: only writing shows
            draft = path.with_name(f".{path.name}.{os.getpid()}.part")  # as write_whole will name it
            draft.touch(exist_ok=False)
            draft.unlink()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise self._error(f"{reason}; choose a file in a folder that you can write to") from None

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
    """An option's value as a destination, checked when the command line is read."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Destination:
        """The destination.

        Raises:
            UserError: it cannot be written.
        """
        if isinstance(value, Destination):
            return value
        if not value:
            raise UserError(f"{_option(param)}: the file name is empty; give a file, or - for standard output")
        found = Destination(_option(param), str(value))
        found.check()
        return found


def _option(param: click.Parameter | None) -> str:
    return param.opts[-1] if param is not None else "output"


Function = Callable[..., Any]


def json_option(function: Function) -> Function:
    """``--json FILE``, which every command has."""
    return click.option(
        "--json",
        "json_file",
        type=OutputFile(),
        metavar="FILE",
        help="Write the result as JSON; - for standard output.",
    )(function)


def distinct(*destinations: Destination | None, reads: Sequence[str] = ()) -> None:
    """Checks that no two options name the same file, and none a file that is read.

    Raises:
        UserError: two do.
    """
    for one in destinations:
        if (
            one is not None
            and not one.is_stdout
            and Path(one.path).resolve() in [Path(p).resolve() for p in reads if "\0" not in p]
        ):
            raise UserError(f"{one.option} would write over {one.path!r}, which is read; give it another file")
    seen: dict[str, Destination] = {}
    for one in destinations:
        if one is not None:
            key = one.path if one.is_stdout else str(Path(one.path).resolve())
            if key in seen:
                raise UserError(
                    f"{seen[key].option} and {one.option} both write to {one.path!r}; give each its own file"
                )
            seen[key] = one

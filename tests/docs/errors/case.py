"""A case: a wrong input, and the message that it gives."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schedproof.cli import main
from tests.support.places import ROOT
from tests.support.user_repository import imports_undone, repository

Content = str | bytes


@dataclass(frozen=True)
class Case:
    """A wrong input.

    Args:
        shown: the line of the input that is wrong, as a reader writes it.
        run: raises the error, or returns its message. It runs in an empty folder.
    """

    shown: str
    run: Callable[[], object]

    def message(self) -> str:
        """The message, in which the folder of this run is left out."""
        with _folder() as folder, imports_undone():
            try:
                text = self.run()
            except AssertionError:
                raise  # the case's own mistake
            except Exception as error:
                text = str(error)
            if not isinstance(text, str):
                raise AssertionError(f"{self.shown}: no message, but {text!r:.200}")
        for name in {str(folder), str(folder.resolve())}:
            text = text.replace(f"{name}/", "").replace(name, ".")
        return text.replace(f"{ROOT}/schedproof/", "").strip()


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """An empty folder, as the current one."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def written(files: Mapping[str, Content]) -> None:
    """Writes files into the current folder."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def run(*arguments: str) -> str:
    """What a command says on standard error, from which progress and excerpts of files are left out."""
    return re.sub(r"(?m)^schedproof: |^  .*\n", "", stderr_of(*arguments))


def stderr_of(*arguments: str) -> str:
    """What a command writes on standard error when it refuses its input."""
    stderr, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(out):
        code = main(arguments)
    assert code == 2, (arguments, code, stderr.getvalue(), out.getvalue())
    return stderr.getvalue()


def command(*arguments: str, shown: str = "", files: Mapping[str, Content] | None = None) -> Case:
    """A command line. It is shown unless a line of a file is."""

    def go() -> str:
        written(files or {})
        return run(*arguments)

    return Case(shown or f"schedproof {shlex.join(arguments)}", go)


def lease(
    arguments: str, *, shown: str = "", files: Mapping[str, Content] | None = None, **changes: tuple[str, str]
) -> Case:
    """A command in a repository with a first model, of which one file is changed; the change is shown."""

    def go() -> str:
        repository(Path.cwd(), **changes)
        written(files or {})
        return run(*shlex.split(arguments))

    new = next(iter(changes.values()))[1] if changes else ""
    return Case(shown or new.strip() or f"schedproof {arguments}", go)

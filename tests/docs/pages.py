"""Runs the code blocks of a documentation page from top to bottom, and compares what they print with what the page shows.

A page is read as its reader would follow it:

- ``console``: a command and its output; ``...`` stands for any lines. ``<!-- exit 1 -->`` above gives its exit code.
- ``<!-- file NAME -->`` above a block: the reader saves the block under this name.
- ``<!-- instead of METHOD in NAME -->``: the block replaces a method of a class in that file.
- ``<!-- at the end of NAME -->``: the reader adds the block to that file.
- ``python``: runs in one namespace for the whole page. A ``text`` block right after it is what it prints, or the
  message of the error that it raises; the error's place is a line of the block.
- ``<!-- long -->`` above a block: it runs in the long tier only.

Blocks of other languages, and ``bash``, are not run. ``python -m tests.docs.refresh PAGE ...`` writes what is printed now into pages.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.stderr import besides_progress

BLOCK = re.compile(
    r"((?:^<!-- (?:long|exit \d|file \S+|at the end of \S+|instead of \S+ in \S+) -->\n)*)"
    r"^```(\w+)\n(.*?)^```\n(?:\n*^```text\n(.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)

TIME = re.compile(r"\b\d+\.\d+(?= s\b|$)|(?<= in )\d+\.\d+(?=s\b)")
"""A time, in a sentence or at the end of a table's line: the one thing that differs from run to run."""

Run = Callable[[str, Path], tuple[int, str, str]]
"""Runs a command in a folder: exit code, standard output and standard error."""


@dataclass(frozen=True)
class Command:
    """A command, what it prints, and how it ends; ``at`` is where the page shows the output."""

    line: str
    shown: tuple[str, ...]
    code: int
    long: bool
    at: tuple[int, int]


@dataclass(frozen=True)
class Text:
    """What the reader writes: a file, what is added at its end, or one method of a class in it."""

    file: str
    method: str
    text: str
    added: bool = False


@dataclass(frozen=True)
class Program:
    """Python, and what it prints or raises, None if the page does not show it; ``at`` is where it does."""

    text: str
    shown: tuple[str, ...] | None
    long: bool
    at: tuple[int, int]


def steps(page: str) -> Iterator[Command | Text | Program]:
    """What the reader does, in order."""
    for block in BLOCK.finditer(page):
        marks, language, body, output = block.groups()
        code = re.search(r"exit (\d)", marks)
        file = re.search(r"(file|at the end of) (\S+)|instead of (\S+) in (\S+)", marks)
        if file:
            yield Text(file[2] or file[4], file[3] or "", body, file[1] == "at the end of")
        elif language == "console":
            head, *shown = body.rstrip("\n").split("\n")
            assert head.startswith("$ "), f"a console block begins with its command, not {head!r}"
            at = (block.start(3) + len(head) + 1, block.end(3))
            yield Command(head[2:], tuple(shown), int(code[1]) if code else 0, "long" in marks, at)
        elif language == "python":
            lines = None if output is None else tuple(output.splitlines())
            yield Program(body, lines, "long" in marks, block.span(4))


def normal(lines: Sequence[str]) -> list[str]:
    """Without times, and without the width that they give to their column."""
    return [re.sub(r" {2,}", "  ", TIME.sub("0.00", line)).rstrip() for line in lines]


def missing(shown: Sequence[str], printed: Sequence[str]) -> str | None:
    """The first shown line that is not printed where it should be, or None; a line ``...`` stands for any lines."""
    parts: list[list[str]] = [[]]
    for line in normal(shown):
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    printed, at = normal(printed), 0
    for number, part in enumerate(parts):
        first, last = number == 0, number == len(parts) - 1
        starts = [0] if first else [len(printed) - len(part)] if last else range(at, len(printed))
        begin = next((s for s in starts if s >= at and printed[s : s + len(part)] == part), None)
        if begin is None:
            return part[0] if part else "nothing more"
        at = begin + len(part)
    return None if at == len(printed) else "the end"


def write(step: Text, folder: Path) -> None:
    """Does what the reader does with a block that is a file, or a part of one."""
    path = folder / step.file
    if not step.method:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text() if step.added else "") + step.text)
        return
    text, count = re.subn(rf"    def {step.method}\(.*?\n(?=\n)", step.text, path.read_text(), flags=re.DOTALL)
    assert count == 1
    path.write_text(text)


def execute(program: Program, folder: Path, names: dict[str, Any]) -> str:
    """Runs a block of Python in ``folder`` and the page's namespace: what it prints, or the message of its error."""
    printed = io.StringIO()
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(compile(program.text, "model.py", "exec"), names)
    except Exception as error:
        if program.shown is None:
            raise
        return str(error)
    return printed.getvalue()


def is_plain(line: str) -> bool:
    """The shell would pass the words of this command on as they are."""
    return not set("|&;<>$`*") & set(line)


@dataclass(frozen=True)
class Outcome:
    """What a block printed, and how it ended."""

    step: Command | Program
    printed: str
    code: int = 0
    complaints: str = ""

    @property
    def wrong(self) -> str | None:
        """The first line that the page shows and that is not printed there; None if all is as shown."""
        if self.step.shown is None:
            return None
        return missing(self.step.shown, self.printed.splitlines())


def outcomes(page: str, folder: Path, run: Run, *, long: bool | None = None) -> Iterator[Outcome]:
    """Does all that a page says, in ``folder``, block by block.

    Args:
        run: how commands are run.
        long: True for only the blocks that are marked so, False for only the others, None for all; files are written anyway.
    """
    current_folder, names = folder, {"__name__": "model"}
    for step in steps(page):
        if isinstance(step, Text):
            write(step, current_folder)
        elif isinstance(step, Command) and step.line.startswith("cd "):
            current_folder = current_folder / step.line.removeprefix("cd ")
            assert current_folder.is_dir()
        elif long is not None and step.long is not long:
            continue
        elif isinstance(step, Program):
            yield Outcome(step, execute(step, current_folder, names))
        else:
            code, out, err = run(step.line, current_folder)
            yield Outcome(step, out, code, besides_progress(err))


def follow(page: str, folder: Path, run: Run, *, long: bool | None = None) -> None:
    """As :func:`outcomes`, and compares."""
    for done in outcomes(page, folder, run, long=long):
        if isinstance(done.step, Command):
            assert (done.code, done.complaints) == (done.step.code, ""), (done.step.line, done.printed, done.complaints)
        assert done.wrong is None, (done.step, done.printed)

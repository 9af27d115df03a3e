"""Finds words that schedproof doesn't use, and prints what to write instead.

    python docs/words.py [FILE ...]     without FILE all files of the repository

`docs/words.toml` has the words. Quotations of documents are not checked: text between typographic or straight double
quotes in a comment, a docstring or a Markdown file.
"""

from __future__ import annotations

import io
import keyword
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = "docs/words.toml"
WORDS = ROOT / LIST
CHECKED = (".py", ".md", ".yaml", ".toml", ".pml", ".sh")
"""The endings of the files that are checked: of Python names, comments and strings, of the others all text."""

QUOTATION = re.compile(r"“[^”]*”|`[^`\n]*`|(?<![\w=(\[{,])\"[^\"\n]{12,}\"")
"""The parts of prose that are not checked: quotations of documents, and code."""


@dataclass(frozen=True)
class Banned:
    """One row of the list.

    Attributes:
        write: what to write instead.
        text: the pattern that prose must not contain.
        name: the pattern that no part of a name may match.
        alone: the pattern that no whole name may match.
    """

    write: str
    text: re.Pattern[str] | None = None
    name: re.Pattern[str] | None = None
    alone: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Kept:
    """Words that the list bans and that stay, in the files that match ``files``.

    Attributes:
        text: their pattern, in prose and as whole names.
        string: the pattern of whole strings of Python that stay.
    """

    files: str
    text: re.Pattern[str]
    string: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Rules:
    """The list as it applies to one file."""

    banned: tuple[Banned, ...]
    kept: Sequence[Kept] = ()
    seen: dict[str, tuple[tuple[Banned, str], ...]] = field(default_factory=dict, repr=False, compare=False)
    """What is wrong with names that were looked at, in all files."""

    def of(self, path: str) -> Rules:
        """The rules for one file."""
        return Rules(self.banned, [k for k in self.kept if fnmatch(path, k.files)], self.seen)

    def wrong(self, name: str) -> tuple[tuple[Banned, str], ...]:
        """The rows that ban a name, or a part of it, with the word."""
        if name not in self.seen:
            self.seen[name] = tuple(_of_name(name, self.banned))
        return self.seen[name]

    @cached_property
    def any_text(self) -> re.Pattern[str]:
        """All patterns of prose as one: most texts match none."""
        return re.compile("|".join(row.text.pattern for row in self.banned if row.text), re.IGNORECASE)

    def masked(self, text: str) -> str:
        """``text`` without what stays, as long as before and with its lines."""
        for row in self.kept:
            text = row.text.sub(lambda stays: re.sub(r"[^\n]", "_", stays[0]), text)
        return text

    def keeps_name(self, name: str) -> bool:
        return any(row.text.fullmatch(name) for row in self.kept)

    def keeps_string(self, content: str) -> bool:
        return any(row.string.fullmatch(content) for row in self.kept if row.string)


@dataclass(frozen=True)
class Hit:
    """A banned word and its place."""

    path: str
    line: int
    word: str
    write: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.word}': write {self.write}"


def rules(path: Path = WORDS) -> Rules:
    """The list, for all files."""

    def pattern(row: dict[str, str], key: str) -> re.Pattern[str] | None:
        return re.compile(rf"\b(?:{row[key]})\b", re.IGNORECASE) if key in row else None

    toml = tomllib.loads(path.read_text())
    return Rules(
        tuple(
            Banned(row["write"], *(pattern(row, key) for key in ("text", "name", "alone"))) for row in toml["banned"]
        ),
        [
            Kept(row["files"], re.compile(row["text"]), re.compile(row["string"]) if "string" in row else None)
            for row in toml["kept"]
        ],
    )


def hits_in_python(path: str, source: str, rows: Rules, prose: bool = True) -> Iterator[Hit]:
    """The banned words of a module: in names; with ``prose`` also in comments and strings."""
    if not _may_be_wrong(source, rows, prose):
        return
    names: set[str] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            if token.string in names or keyword.iskeyword(token.string) or rows.keeps_name(token.string):
                continue
            names.add(token.string)  # each name once for each file
            for row, word in rows.wrong(token.string):
                what = token.string if word == token.string else f"{word} in {token.string}"
                yield Hit(path, token.start[0], what, row.write)
        elif prose and (token.type == tokenize.COMMENT or token.type in STRINGS):
            content = DELIMITERS.sub("", token.string)
            if not rows.keeps_string(content):
                yield from hits_in_text(path, content, rows, token.start[0])


def _may_be_wrong(source: str, rows: Rules, prose: bool) -> bool:
    """Whether it needs a closer look, which takes ten times as long: most modules have no banned word."""
    if prose and rows.any_text.search(source):
        return True
    names = set(re.findall(r"\w+", ASIDE.sub(" ", source)))
    return any(rows.wrong(name) and not rows.keeps_name(name) for name in names)


ASIDE = re.compile(
    r"""#[^\n]*|\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
"""Comments and strings of Python."""

DELIMITERS = re.compile(r"^[a-zA-Z]*(\"{3}|'{3}|[\"'])|(\"{3}|'{3}|[\"'])$")
"""The quotes of a Python string; they do not mark a quotation of a document."""

STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def _of_name(name: str, rows: Sequence[Banned]) -> Iterator[tuple[Banned, str]]:
    parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    for row in rows:
        if row.alone and row.alone.fullmatch(name.strip("_")):
            yield row, name
        elif row.name and (word := next(filter(row.name.fullmatch, parts), None)):
            yield row, word


def hits_in_text(path: str, text: str, rows: Rules, first: int = 1) -> Iterator[Hit]:
    """The banned words of prose without its quotations; ``first`` is the number of its first line."""
    if not rows.any_text.search(text):
        return
    checked = rows.masked(QUOTATION.sub(lambda quoted: re.sub(r"[^\n]", "_", quoted[0]), text))
    for row in rows.banned:
        for match in row.text.finditer(checked) if row.text else ():
            yield Hit(path, first + checked.count("\n", 0, match.start()), match[0], row.write)


def files(paths: Sequence[str] = ()) -> list[str]:
    """The tracked files to check."""
    tracked = subprocess.run(["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [f for f in tracked.splitlines() if f.endswith(CHECKED) and f != LIST and not (ROOT / f).is_symlink()]


def hits(paths: Sequence[str] = ()) -> Iterator[Hit]:
    """The banned words of ``paths``, or of the whole repository."""
    everywhere = rules()
    for path in files(paths):
        source, rows = (ROOT / path).read_text(), everywhere.of(path)
        if path.endswith(".py"):
            yield from hits_in_python(path, source, rows)
        else:
            yield from hits_in_text(path, source, rows)


def main() -> int:
    last = None
    for last in hits(sys.argv[1:]):
        print(last)
    return last is not None


if __name__ == "__main__":
    sys.exit(main())

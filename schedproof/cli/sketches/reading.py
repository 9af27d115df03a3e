"""Reads a file into sketches, by the kind that its name or its text shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from schedproof.model.registry.errors import UserError

from . import mermaid, table, transitions_config
from .sketch import Sketch
from .source import Source

KINDS: Mapping[str, tuple[str, ...]] = {
    "mermaid": (".mmd", ".mermaid", ".md", ".markdown"),
    "table": (".csv", ".tsv"),
    "transitions": (".py", ".json", ".yaml", ".yml"),
}
"""The kinds, each with the suffixes of its files."""


def read(path: Path, kind: str | None) -> tuple[Source, list[Sketch]]:
    """The machines of a file.

    Args:
        path: the file.
        kind: one of :data:`KINDS`; None recognises it by the file's suffix, then by its text.

    Raises:
        UserError: the file cannot be read, is of no known kind, or has a mistake.
    """
    source = Source.read(path)
    chosen = kind or _recognised(source)
    readers: Mapping[str, Callable[[Source], list[Sketch]]] = {
        "mermaid": mermaid.sketches,
        "table": table.sketches,
        "transitions": transitions_config.of_python if path.suffix.lower() == ".py" else transitions_config.of_file,
    }
    return source, readers[chosen](source)


def _recognised(source: Source) -> str:
    suffix = source.path.suffix.lower()
    for kind, suffixes in KINDS.items():
        if suffix in suffixes:
            return kind
    if re.search(r"^\s*stateDiagram(-v2)?\s*;?\s*$", source.text, re.MULTILINE):
        return "mermaid"
    if table.is_table(source):
        return "table"
    raise UserError(
        f"--from: what {source.path.name!r} is cannot be seen from its name; add --kind, and choose from {', '.join(KINDS)}"
    )

"""A picture in any format, as text or bytes, or as a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from .dot import dot
from .errors import DiagramError
from .images import png, svg
from .mermaid import mermaid
from .representation import Diagram

_RENDERERS: Mapping[str, Callable[[Diagram], str | bytes]] = {
    "svg": lambda diagram: svg(dot(diagram)),
    "png": lambda diagram: png(dot(diagram)),
    "dot": dot,
    "mermaid": mermaid,
}

FORMATS = tuple(_RENDERERS)
"""The formats that :func:`render` knows."""


def render(diagram: Diagram, format: str) -> str | bytes:
    """``diagram`` in one of :data:`FORMATS`: bytes for png, text for the others.

    Raises:
        DiagramError: unknown format; or svg or png where there is no ``dot`` program.
    """
    if format not in _RENDERERS:
        raise DiagramError(f"unknown format {format!r}; choose one of: {', '.join(FORMATS)}")
    return _RENDERERS[format](diagram)


def write_diagram(diagram: Diagram, format: str, path: str | Path) -> None:
    """Writes ``diagram`` to a file: all of it, or nothing.

    Raises:
        DiagramError: as :func:`render`; or the file cannot be written.
    """
    write_whole(Path(path), render(diagram, format))


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file by renaming a complete one, so that a reader never sees half of it.

    What is no ordinary file (a pipe, a terminal) cannot be renamed to and is written to.

    Raises:
        DiagramError: the file cannot be written; whatever was there before is still there.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = path.resolve()
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            draft.write_bytes(data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise DiagramError(
            f"cannot write {path}: {error.strerror}; give a file in a folder that you can write to"
        ) from None

"""Renders a picture in any format, as text, bytes or a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from .dot import dot
from .errors import DiagramError
from .images import png, svg
from .mermaid import mermaid
from .representation import Diagram
from .writing import write_whole

_RENDERERS: Mapping[str, Callable[[Diagram], str | bytes]] = {
    "svg": lambda diagram: svg(dot(diagram)),
    "png": lambda diagram: png(dot(diagram)),
    "dot": dot,
    "mermaid": mermaid,
}

FORMATS = tuple(_RENDERERS)
"""The formats of :func:`render`."""


def render(diagram: Diagram, format: str) -> str | bytes:
    """``diagram`` in one of :data:`FORMATS`: bytes for png, text for the others.

    Raises:
        DiagramError: the format is unknown; or it is svg or png, and there is no ``dot`` program.
    """
    if format not in _RENDERERS:
        raise DiagramError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    return _RENDERERS[format](diagram)


def write_diagram(diagram: Diagram, format: str, path: str | Path) -> None:
    """Writes ``diagram`` to a file, completely or not at all.

    Raises:
        DiagramError: as for :func:`render`; or the file cannot be written.
    """
    write_whole(Path(path), render(diagram, format))

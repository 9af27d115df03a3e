"""Graphs laid out in a page, where the program ``dot`` is missing."""

from pathlib import Path


def layout_scripts() -> tuple[str, str]:
    """The scripts with which a page draws a graph: the library, and ``drawGraph``."""
    folder = Path(__file__).parent
    return (folder / "dagre.js").read_text("utf-8"), (folder / "graph.js").read_text("utf-8")

"""Draws the picture in ARCHITECTURE.md from the imports.

``python docs/architecture.py`` writes it, ``--check`` compares.
Each box is a group of modules (a room), or the systems' side of a part.
An arrow means "imports". The picture omits arrows that follow from others.
"""

from __future__ import annotations

import sys
from pathlib import Path

import grimp
import networkx as nx

FILE = Path(__file__).parents[1] / "ARCHITECTURE.md"

BEGIN, END = "<!-- the picture: python docs/architecture.py -->\n", "<!-- end of the picture -->\n"

PARTS = ("model", "impl", "proofs")
"""The parts whose subpackages are rooms; each other part is one room."""


def room(module: str) -> str | None:
    """The room of a module; None for a package that only contains rooms, and for entry points."""
    names = module.split(".")[1:]
    if not names or names[0] in ("__main__", "api", "pytest_plugin"):
        return None
    if names[0] == "impl" and names[1:2] != ["systems"]:
        return "impl"
    return names[0] if names[0] not in PARTS else ".".join(names[:2]) if len(names) > 1 else None


def picture() -> str:
    """The rooms and the imports between them, as Mermaid."""
    graph = grimp.build_graph("schedproof")
    edges = {(room(m), room(t)) for m in graph.modules for t in graph.find_modules_directly_imported_by(m)}
    rooms = nx.DiGraph((a, b) for a, b in edges if a is not None and b is not None and a != b)
    reduced = nx.transitive_reduction(rooms)
    lines = ["flowchart TD", f"  {' & '.join(_box(name) for name in sorted(rooms) if not rooms.pred[name])}"]
    for name in nx.lexicographical_topological_sort(reduced):
        if below := sorted(reduced.succ[name]):
            lines.append(f"  {_box(name)} --> {' & '.join(map(_box, below))}")
    return "```mermaid\n" + "\n".join(lines) + "\n```\n"


def _box(name: str) -> str:
    """The box of a room; the systems' sides have another shape."""
    text, identifier = name.replace(".", "/"), name.replace(".", "_")
    return f"{identifier}[/{text}/]" if name.endswith(".systems") else f"{identifier}[{text}]"


def with_picture(text: str) -> str:
    """The text of ARCHITECTURE.md with a picture of the current imports."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + picture() + END + rest.split(END)[1]


if __name__ == "__main__":
    old = FILE.read_text("utf-8")
    new = with_picture(old)
    if "--check" in sys.argv[1:]:
        sys.exit(
            f"{FILE.name}: the picture is not what the imports are; run python docs/architecture.py"
            if new != old
            else 0
        )
    FILE.write_text(new, "utf-8")

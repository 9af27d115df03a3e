"""Pictures of models: machines, and which event triggers which.

``diagram`` builds a picture, ``render`` and ``write_diagram`` spell it out as DOT, SVG, PNG or Mermaid.
The folder ``gallery`` holds the pictures of every system (:mod:`schedproof.diagrams.gallery`).
"""

from .errors import DiagramError
from .from_model import TRIGGERS, diagram, picture_names
from .render import FORMATS, render, write_diagram
from .representation import Cluster, Diagram, Edge, EdgeKind, Mark, Node, NodeKind

__all__ = [
    "FORMATS", "TRIGGERS", "Cluster", "Diagram", "DiagramError", "Edge", "EdgeKind", "Mark", "Node", "NodeKind",
    "diagram", "picture_names", "render", "write_diagram",
]  # fmt: skip

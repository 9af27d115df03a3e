"""Pictures of models: machines, which event triggers which, how two machines go together, and deadlocks.

``diagram`` builds a picture of what a model says; ``pairing`` and ``deadlock`` one of what its exploration
finds; ``render`` and ``write_diagram`` spell it out as DOT, SVG, PNG or Mermaid. The folder ``gallery``
holds the pictures of every system (:mod:`schedproof.diagrams.gallery`).
"""

from .deadlock import WAIT_FOR, deadlock
from .errors import DiagramError
from .fold import unfolded
from .from_model import TRIGGERS, diagram, picture_names
from .pairing import observed, pairing, pairing_names
from .render import FORMATS, render, write_diagram
from .representation import Cluster, Diagram, Edge, EdgeKind, Mark, Node, NodeKind

__all__ = [
    "FORMATS", "TRIGGERS", "WAIT_FOR", "Cluster", "Diagram", "DiagramError", "Edge", "EdgeKind", "Mark", "Node",
    "NodeKind", "deadlock", "diagram", "observed", "pairing", "pairing_names", "picture_names", "render", "unfolded",
    "write_diagram",
]  # fmt: skip

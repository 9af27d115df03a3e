"""Pictures of models: machines, which event triggers which, how two machines go together, and deadlocks.

``diagram`` builds a picture of what a model says; ``pairing`` and ``deadlock`` one of what its exploration
finds; ``render`` and ``write_diagram`` spell it out as DOT, SVG, PNG or Mermaid. The folder ``gallery``
holds the pictures of every system (:mod:`schedproof.diagrams.gallery`).
"""

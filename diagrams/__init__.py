"""Pictures of models: machines, event triggers, pairings of two machines, and deadlocks.

``diagram`` builds a picture from a model; ``pairing`` and ``deadlock`` build one from its exploration.
``render`` and ``write_diagram`` write a picture as DOT, SVG, PNG or Mermaid.
The folder ``gallery`` holds the pictures of every system (:mod:`schedproof.diagrams.gallery`).
"""

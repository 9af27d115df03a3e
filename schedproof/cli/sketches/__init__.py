"""Machines that somebody has drawn or listed elsewhere, and the model that ``schedproof init --from`` begins with.

``reading`` recognises a file; ``mermaid``, ``table`` and ``transitions_config`` read one kind each into a ``Sketch``;
``model_text`` writes its model.
"""

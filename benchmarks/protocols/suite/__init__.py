"""Protocols by which tools that find inductive invariants are compared, one module each.

Each module has its source and its safety property in its first lines. No module has a lemma. Where a source starts with a
relation that is arbitrary, the model has a first action that fills it, or a configuration that gives it.
"""

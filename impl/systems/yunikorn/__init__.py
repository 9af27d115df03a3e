"""Reference implementation of YuniKorn's object states.

- ``core``: the scheduler core, with the repairs that the document's properties need.
- ``shim``: a resource manager for Kubernetes, with the repairs that core and shim need to rely on each other.
"""

"""YuniKorn's object states at work.

- ``core``: the scheduler core, with the repairs that the properties of the document need.
- ``shim``: a resource manager for Kubernetes, with the repairs that the two need to count on each other.
"""

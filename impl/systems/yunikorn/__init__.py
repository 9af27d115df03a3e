"""YuniKorn's object states at work: a scheduler core, and what it and a resource manager say to each other.

- ``messages``: what passes between the two parties.
- ``machine``: transition tables, and ``transitions`` machines that judge events by them.
- ``clock``: timers that run by themselves, or as a test or an exploration wants them to.
- ``core``: the core, with the repairs that the promises of the document need.
- ``shim``: a resource manager for Kubernetes, with the repairs that the two need to count on each other.
"""

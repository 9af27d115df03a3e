"""Formal models, proofs and a checked reference implementation of cluster schedulers.

A model describes how a scheduler moves its objects between states. ``schedproof`` on the command line checks models and
logs; :mod:`schedproof.api` does the same for a program::

    from schedproof.api import load_system, verify

    reports = verify([load_system("hived")])
    assert all(report.ok for report in reports)

``ARCHITECTURE.md`` at the root of the project lists the packages and modules.
"""

__version__ = "0.1.0"

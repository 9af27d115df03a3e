"""Formal models, proofs and a checked reference implementation of cluster schedulers.

They describe how schedulers move their objects between states.
The command line is :mod:`schedproof.cli`. A program can do the same::

    from schedproof.api import load_system, verify

    reports = verify([load_system("hived")])
    assert all(report.ok for report in reports)

``ARCHITECTURE.md`` at the root of the project lists the packages and modules.
"""

__version__ = "0.1.0"

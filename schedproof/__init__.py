"""Formal models, proofs and a checked reference implementation of how cluster schedulers move their objects between states.

The command line is :mod:`schedproof.cli`; what it does, a program can do too::

    from schedproof.model.registry.discovery import system
    from schedproof.proofs.verification.verify import verify

    reports = verify([system("hived")])
    assert all(report.ok for report in reports)

``ARCHITECTURE.md`` at the root of the project says what is where.
"""

__version__ = "0.1.0"

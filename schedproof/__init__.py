"""Formal models, proofs and a checked reference implementation of how cluster schedulers move their objects between states.

The command line is :mod:`schedproof.cli`; what it does, a program can do too::

    from schedproof.model.registry.builtin import SYSTEMS
    from schedproof.proofs.verification.verify import verify

    reports = verify([SYSTEMS["hived"]])
    assert all(report.ok for report in reports)

``ARCHITECTURE.md`` at the root of the project says what is where.
"""

__version__ = "0.1.0"

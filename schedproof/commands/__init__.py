"""The commands, one module each."""

from collections.abc import Sequence

import click

from . import (
    check,
    diagram,
    diff,
    explain,
    explore,
    findings,
    generate,
    init,
    listing,
    locks,
    prove,
    serve,
    simulate,
    table,
    verify,
)

COMMANDS: Sequence[click.Command] = (
    verify.verify,
    prove.prove,
    explore.explore,
    simulate.simulate,
    check.check,
    diagram.draw,
    findings.findings,
    explain.explain,
    diff.diff,
    listing.listing,
    table.outcomes,
    locks.locks,
    generate.generate,
    init.init,
    serve.serve,
)
"""In the order of ``schedproof --help``."""

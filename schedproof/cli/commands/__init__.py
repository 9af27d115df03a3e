"""The commands, one module each."""

from collections.abc import Sequence

import click

from . import (
    check,
    diagram,
    diff,
    explain,
    explore,
    export,
    findings,
    generate,
    init,
    listing,
    locks,
    profile,
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
    profile.profile,
    export.export,
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

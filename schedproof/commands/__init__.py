"""The commands, one module each."""

from collections.abc import Sequence

import click

from .check import check
from .diagram import draw
from .diff import diff
from .explain import explain
from .explore import explore
from .findings import findings
from .listing import listing
from .prove import prove
from .verify import verify

COMMANDS: Sequence[click.Command] = (verify, prove, explore, check, draw, findings, explain, diff, listing)
"""In the order of ``schedproof --help``."""

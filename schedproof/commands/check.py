"""``schedproof check``: the oracle."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click

from schedproof.proofs.oracle import OracleVerdict, check_trace

from .. import choose
from ..errors import Exit, UserError
from ..output import Destination, json_option

CODES = {
    OracleVerdict.CONFORMS: Exit.OK,
    OracleVerdict.DEPARTS: Exit.DIFFERENT,
    OracleVerdict.UNDETERMINED: Exit.UNDETERMINED,
}


@click.command()
@click.argument("system")
@click.argument("trace")
@click.option("--variant", metavar="V", help="By default the one that the system's logs are judged by.")
@click.option("--format", "format_", metavar="F", help="The trace's format; by default recognised by its content.")
@click.option("--release", metavar="R", help="The release that wrote it, such as 1.5; by default any that explains it.")
@json_option
def check(
    system: str,
    trace: str,
    variant: str | None,
    format_: str | None,
    release: str | None,
    json_file: Destination | None,
) -> int:
    """Judge a log of a real implementation by the model.

    TRACE conforms, or the first record that no sequence of the model's steps explains is named,
    with the steps that came closest.
    """
    chosen = choose.system(system)
    if variant is not None:
        choose.variant(chosen, variant)
    if os.path.exists(trace) and stat.S_ISCHR(os.stat(trace).st_mode) and trace != os.devnull:
        raise UserError(f"{trace}: is a device; name a file")  # it may never end
    report = check_trace(chosen, Path(trace), variant, format_, release)
    if json_file is not None:
        json_file.write_json(report.as_json())
    if json_file is None or not json_file.is_stdout:
        click.echo("\n".join(report.text()))
    return CODES[report.verdict]

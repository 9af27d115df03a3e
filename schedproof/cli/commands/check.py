"""``schedproof check``: the oracle."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit
from schedproof.cli.output import Destination, OutputFile, distinct, json_option
from schedproof.cli.progress import counting
from schedproof.cli.regression import regression_test
from schedproof.model.registry.errors import UserError
from schedproof.proofs.traces import Following, OracleReport, OracleVerdict, Tally, TraceError, check_trace

CODES = {
    OracleVerdict.CONFORMS: Exit.OK,
    OracleVerdict.DEPARTS: Exit.DIFFERENT,
    OracleVerdict.UNDETERMINED: Exit.UNDETERMINED,
}


EPILOG = """\b
A log in schedproof's own format is JSON, one value a line: first
  {"schedproof": 1, "system": "hived", "objects": {"Cell": ["gpu0"]}}
then a record for each thing that was seen, with any of
  "action" or "event" (Sort.event, with "object"), "parameters", "crash": true,
  "state": {sort: {object: {field: value}}}, "time".
What is not said may be anything. --mapping reads logs that are written otherwise.
"""


@click.command(epilog=EPILOG)
@click.argument("system")
@click.argument("trace")
@click.option(
    "--variant", metavar="V", help="By default the one that the trace names, or that the system's logs are judged by."
)
@click.option("--format", "format_", metavar="F", help="The trace's format; by default recognised by its content.")
@click.option("--mapping", metavar="FILE", help="How the lines are to be read, for a log of no known format.")
@click.option("--release", metavar="R", help="The release that wrote it, such as 1.5; by default any that explains it.")
@click.option(
    "--follow", is_flag=True, help="Judge what is written from now on too, until it departs or you interrupt."
)
@click.option(
    "--idle",
    type=click.FloatRange(min=0.1),
    metavar="S",
    help="With --follow: end when nothing new has come for S seconds.",
)
@click.option(
    "--emit-test",
    type=OutputFile(),
    metavar="FILE",
    help="If it departs, write a test that what matters of it is still found.",
)
@json_option
def check(
    system: str,
    trace: str,
    variant: str | None,
    format_: str | None,
    mapping: str | None,
    release: str | None,
    follow: bool,
    idle: float | None,
    emit_test: Destination | None,
    json_file: Destination | None,
) -> int:
    """Judge a log of a real implementation by the model.

    TRACE (- for standard input) conforms, or the first record that no sequence of the model's steps
    explains is named, with the steps that came closest.
    """
    chosen = choose.system(system)
    if variant is not None:
        choose.variant(chosen, variant)
    distinct(json_file, emit_test, reads=[trace, *([mapping] if mapping is not None else [])])
    if not trace:
        raise UserError("the trace's name is empty; name a file, or - for standard input")
    if os.path.exists(trace) and stat.S_ISCHR(os.stat(trace).st_mode) and trace != os.devnull:
        raise UserError(f"{trace}: is a device; name a file")  # it may never end
    if idle is not None and not follow:
        raise UserError("--idle goes with --follow; without it a trace is read to its end")
    following, tally = Following(idle) if follow else None, Tally()
    try:
        with _ending(following), counting(partial(_progress, tally)):
            report = check_trace(
                chosen,
                Path(trace),
                variant,
                format_,
                release,
                mapping=Path(mapping) if mapping is not None else None,
                following=following,
                shorten=True,
                tally=tally,
            )
    except TraceError as error:
        if error.before is not None:
            _tell(error.before, json_file)
        raise
    if following is not None and following.half and report.verdict is OracleVerdict.CONFORMS and not report.note:
        report = replace(report, note="the end is half a line, which was not read")
    _tell(report, json_file)
    if emit_test is not None:
        if report.first_departure is not None:
            emit_test.write(regression_test(report, Path(trace), variant))
        if not (emit_test.is_stdout or (json_file is not None and json_file.is_stdout)):
            written = report.first_departure is not None
            click.echo(f"written to {emit_test.path}" if written else "it does not depart: no test is written")
    return CODES[report.verdict]


def _progress(tally: Tally, seconds: float) -> str:
    """What a check has done so far, in a line."""
    rate = f": {tally.done:,} {tally.unit}, {tally.rate():,.0f} {tally.unit}/s" if tally.counting else ""
    return f"{tally.doing}{rate} ({seconds:.0f} s)"


def _tell(report: OracleReport, json_file: Destination | None) -> None:
    if json_file is not None:
        json_file.write_json(report.as_json())
    if json_file is None or not json_file.is_stdout:
        click.echo("\n".join(report.text()))


@contextmanager
def _ending(following: Following | None) -> Iterator[None]:
    """While a trace is followed, an interrupt (or SIGTERM) is how it ends: what was judged by then is reported."""
    if following is None:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        following.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

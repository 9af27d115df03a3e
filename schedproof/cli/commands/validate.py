"""``schedproof validate``: trace validation."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType

import click

from schedproof.cli import choose
from schedproof.cli.errors import Exit, fail
from schedproof.cli.help_text import ending
from schedproof.cli.options import json_option, junit_option, variant_option
from schedproof.cli.output import Destination, OutputFile, spare
from schedproof.cli.progress import counting
from schedproof.cli.regression import regression_test
from schedproof.cli.renamed import Option
from schedproof.model.registry.errors import UserError
from schedproof.proofs.traces import Following, LogVerdict, Tally, TraceError, ValidationReport, check_trace

CODES = {
    LogVerdict.CONFORMS: Exit.OK,
    LogVerdict.VIOLATES: Exit.DIFFERENT,
    LogVerdict.UNDETERMINED: Exit.UNDETERMINED,
}


EPILOG = ending(
    "validate hived run.jsonl",
    "validate hived - --follow --idle-timeout 60 < run.jsonl",
    ok="the log conforms",
    different="the log violates the model",
    undetermined="it is undetermined whether the log conforms, or the log has no records",
    notes="""
A log in schedproof's own format is JSON Lines. The first line is the header:
  {"schedproof": 1, "system": "hived", "objects": {"Cell": ["gpu0"]}}
Each further line is a record of what was observed. It has any of these keys:
  "action", or "event" (SORT.EVENT) with "object"; "parameters"; "crash": true;
  "state": {SORT: {OBJECT: {FIELD: VALUE}}}; "time"
What a record leaves out may have any value. --mapping reads logs of other formats.
""",
)


@click.command(epilog=EPILOG)
@click.argument("system")
@click.argument("log")
@variant_option("the one that the log names, or that the manifest has as validated_by")
@click.option("--format", "format_", metavar="FORMAT", help="Format of the log.  [default: recognized by its content]")
@click.option("--mapping", metavar="FILE", help="Read a log of another format by the rules in FILE.")
@click.option(
    "--log-version", cls=Option, former=["--release"], metavar="VERSION",
    help="Version of the system that wrote the log, such as 1.5.  [default: any]",
)  # fmt: skip
@click.option("--follow", is_flag=True, help="Go on with lines that are appended, until a violation or an interrupt.")
@click.option(
    "--idle-timeout", cls=Option, former=["--idle"], type=click.FloatRange(min=0.1), metavar="SECONDS",
    help="With --follow: end when nothing was appended for SECONDS.",
)  # fmt: skip
@click.option(
    "--emit-test", type=OutputFile(), metavar="FILE",
    help="If the log violates the model, write a test that holds this verdict.",
)  # fmt: skip
@json_option
@junit_option
def validate(
    system: str,
    log: str,
    variant: str | None,
    format_: str | None,
    mapping: str | None,
    log_version: str | None,
    follow: bool,
    idle_timeout: float | None,
    emit_test: Destination | None,
    json_file: Destination | None,
    junit_file: Destination | None,
) -> int:
    """Validate a log of a real scheduler against a model.

    LOG is a file, or - for standard input. It conforms if steps of the model explain every record. Otherwise the report
    names the first record that no sequence of steps explains, and the steps that come closest to it.
    """
    chosen = choose.system(system)
    if variant is not None:
        choose.variant(chosen, variant)
    if not chosen.trace_formats:
        choose.require_model(chosen, [*chosen.variants.values()], " --log LOG")
    spare([log, mapping], json_file, junit_file, emit_test)
    if not log:
        raise UserError("LOG: the name is empty; write a file's name, or - for standard input")
    if os.path.exists(log) and stat.S_ISCHR(os.stat(log).st_mode) and log != os.devnull:
        raise UserError(f"{log}: is a device; write a file's name")  # it may never end
    if idle_timeout is not None and not follow:
        raise UserError("--idle-timeout: has no effect without --follow; add --follow, or leave it out")
    write = partial(_report, log=log, began=time.perf_counter(), json_file=json_file, junit_file=junit_file)
    following, tally = Following(idle_timeout) if follow else None, Tally()
    try:
        with _interrupts(following), counting(partial(_progress, tally)):
            report = check_trace(
                chosen,
                Path(log),
                variant,
                format_,
                log_version,
                mapping=Path(mapping) if mapping is not None else None,
                following=following,
                shorten=True,
                tally=tally,
            )
    except TraceError as error:
        if error.before is None:
            how = "mapping" if mapping is not None else format_ or "unknown"
            none = ValidationReport(chosen.name, variant or chosen.validated_by, how, LogVerdict.CONFORMS, 0)
            write(none.until(str(error)), to_people=False)
            raise
        write(error.before)
        if error.before.verdict is LogVerdict.VIOLATES:  # what comes later cannot change that
            return fail(str(error), Exit.DIFFERENT)
        raise
    if following is not None and following.half and report.verdict is LogVerdict.CONFORMS:
        report = replace(report, note="; ".join(filter(None, [report.note, HALF])))
    write(report)
    if emit_test is not None:
        if report.first_nonconformance is not None:
            emit_test.write(regression_test(report, Path(log), variant))
        if not (emit_test.is_stdout or _is_stdout(json_file, junit_file)):
            written = report.first_nonconformance is not None
            click.echo(f"written to {emit_test.path}" if written else "there is no violation: no test was written")
    return CODES[report.verdict]


HALF = "the end is half a line, which was not read"
"""The note on a followed log whose last line was never completed."""


def _progress(tally: Tally, seconds: float) -> str:
    """What a validation has done so far, in a line."""
    rate = f": {tally.done:,} {tally.unit}, {tally.rate():,.0f} {tally.unit}/s" if tally.counting else ""
    return f"{tally.doing}{rate} ({seconds:.0f} s)"


def _is_stdout(*destinations: Destination | None) -> bool:
    """Whether one of the destinations is standard output."""
    return any(each is not None and each.is_stdout for each in destinations)


def _report(
    report: ValidationReport,
    log: str,
    began: float,
    json_file: Destination | None,
    junit_file: Destination | None,
    to_people: bool = True,
) -> None:
    """Writes the report to its destinations, and to standard output unless one of them takes it."""
    if json_file is not None:
        json_file.write_json(report.as_json())
    if junit_file is not None:
        from schedproof.cli.junit import junit_of_log  # it loads the provers

        junit_file.write(junit_of_log(report, log, time.perf_counter() - began))
    if to_people and not _is_stdout(json_file, junit_file):
        click.echo("\n".join(report.text(error=False)))  # the error goes to standard error, once


@contextmanager
def _interrupts(following: Following | None) -> Iterator[None]:
    """While a log is followed, an interrupt or SIGTERM ends it: what was validated by then is reported."""
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

"""The command line: ``schedproof COMMAND ...``.

Commands return their exit code. Whatever a user does wrong ends here as one line on standard
error: never as a traceback, and never with a file half-written.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from schedproof.diagrams import DiagramError
from schedproof.model.semantics import ScopeError
from schedproof.proofs.oracle import TraceError
from schedproof.proofs.verdict import Disagreement

from . import __version__
from .commands import COMMANDS
from .errors import Exit, UserError, one_line

EPILOG = "Exit codes: 0 as expected, 1 refuted or departs, 2 wrong usage or unreadable input, 3 undetermined."


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="schedproof")
def cli() -> None:
    """Models of cluster schedulers: proved, explored, drawn, and held against real logs.

    'schedproof verify' is the main job. 'schedproof COMMAND --help' explains a command.
    """


for command in COMMANDS:
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code (see :class:`Exit`)."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return _fail("cannot write to standard output: it is closed", Exit.USAGE)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without our characters is no reason to die
    try:
        code = cli.main(None if arguments is None else list(arguments), prog_name="schedproof", standalone_mode=False)
        sys.stdout.flush()
        return int(code or Exit.OK)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return Exit.USAGE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else "schedproof"
        return _fail(f"{error.format_message().rstrip('.')}; '{where} --help' says what can be written", Exit.USAGE)
    except click.ClickException as error:
        return _fail(error.format_message(), Exit.USAGE)
    except (UserError, ScopeError, TraceError, DiagramError) as error:
        return _fail(str(error), Exit.USAGE)
    except Disagreement as error:
        return _fail(f"two engines disagree: {error}", Exit.DIFFERENT)
    except MemoryError:
        return _fail("out of memory; choose a smaller scope, or stop earlier with --max-states", Exit.UNDETERMINED)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted; nothing was judged", Exit.INTERRUPTED)
    except OSError as error:
        return _fail(_output_problem(error), Exit.USAGE)


def _output_problem(error: OSError) -> str:
    """What the files of options do not catch: standard output. What is left in its buffer is given up."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(error, BrokenPipeError):
        return "cannot write to standard output: its reader has gone; let it read to the end, or use --json FILE"
    where = f"{error.filename!r}" if error.filename else "to standard output"
    return f"cannot write {where}: {error.strerror or error}; free some space or choose another place"


def _fail(message: str, code: Exit) -> int:
    with contextlib.suppress(OSError):  # no one may be left to tell
        click.echo(f"schedproof: {one_line(message)}", err=True)
    return code


if __name__ == "__main__":
    sys.exit(main())

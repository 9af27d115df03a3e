"""All commands, and how each of them ends.

Commands return their exit code. Every mistake of a user ends here as one line on standard error: never as a traceback,
and never with a half-written file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedproof import __version__

from .commands import COMMANDS
from .errors import Exit, fail
from .help_text import ending
from .renamed import current_command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EPILOG = ending(
    "init lease",
    "verify",
    "COMMAND --help",
    ok="every verdict is the expected one; the log conforms",
    different="a verdict is not the expected one; the log violates the model",
    undetermined="a verdict is undetermined",
)

COMPLETION = "_SCHEDPROOF_COMPLETE"
"""The environment variable by which a shell asks for completions; click defines the name."""


class LazyGroup(click.Group):
    """A group that imports a command only when it runs, or when its help is requested."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported; None if there is none."""
        return COMMANDS[cmd_name].load() if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command to run; its former name works too.

        Raises:
            UserError: there is no command of that name.
        """
        name = current_command(args[0])
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from schedproof.model.registry.errors import unknown

            raise unknown("command", name, self.list_commands(ctx), listed_by="schedproof --help")
        return super().resolve_command(ctx, [name, *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the summary of each command, without importing it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].does) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The matching names of commands, without importing them."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=COMMANDS[name].does) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="schedproof")
def cli() -> None:
    """Prove, explore and draw models of cluster schedulers, and validate logs against them."""


def run(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code. A mistake ends as one line on standard error."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # show unknown characters as escapes, do not fail
    if COMPLETION in os.environ:
        from click.shell_completion import shell_complete  # rarely needed

        return shell_complete(cli, {}, "schedproof", COMPLETION, os.environ[COMPLETION])
    try:
        # Not cli.main: it handles closed pipes and interrupts differently.
        with cli.make_context("schedproof", list(arguments)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return int(code or Exit.OK)
    except click.exceptions.Exit as stop:  # --help and --version
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError:
        return fail(f"no command is given; choose from {', '.join(COMMANDS)}, or see 'schedproof --help'", Exit.USAGE)
    except click.UsageError as error:
        return fail(_usage_problem(error), Exit.USAGE)
    except MemoryError:
        return fail("out of memory; choose a smaller scope, or stop earlier with --max-states", Exit.UNDETERMINED)
    except OSError as error:
        return fail(_output_problem(error), Exit.USAGE)
    except Exception as error:
        if (code := getattr(error, "exit_code", None)) is not None:  # an error of an engine, which is not imported here
            return fail(f"{getattr(error, 'headline', '')}{error}", Exit(code), getattr(error, "excerpt", ""))
        from schedproof.model.registry.discovery import find
        from schedproof.model.registry.importing import blamed

        manifest = find(Path.cwd())
        user_error = blamed(manifest.parent, error) if manifest is not None else None
        if user_error is None:
            raise  # the error is in schedproof
        return fail(str(user_error), Exit.USAGE, user_error.excerpt)


def _usage_problem(error: click.UsageError) -> str:
    """The command that was used wrongly, what is wrong, and where to read its usage."""
    problem = error.format_message().rstrip(".")
    problem = problem[:1].lower() + problem[1:]
    mark = "" if problem.endswith("?") else ";"
    if error.ctx is None or error.ctx.parent is None:
        return f"{problem}{mark} see 'schedproof --help'"
    return f"{error.ctx.info_name}: {problem}{mark} see '{error.ctx.command_path} --help'"


def _output_problem(error: OSError) -> str:
    """The message on an error of standard output; options check their own files. Discards the rest of its buffer."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(error, BrokenPipeError):
        return "cannot write to standard output: its reader has closed it; let it read to the end, or write --json FILE"
    where = f"{error.filename!r}" if error.filename else "to standard output"
    return f"cannot write {where}: {error.strerror or error}; free some space or choose another place"

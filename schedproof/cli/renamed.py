"""Former names of commands and options. They work for one version; a line on standard error gives the new name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from .errors import note

FORMER_COMMANDS: Mapping[str, str] = {"check": "validate"}
"""Former name of a command -> its name."""


def current_command(name: str) -> str:
    """The current name of a command. A former name causes a note on standard error."""
    if name not in FORMER_COMMANDS:
        return name
    _note(name, FORMER_COMMANDS[name])
    return FORMER_COMMANDS[name]


class Option(click.Option):
    """An option that also accepts its former names, which ``--help`` does not show.

    Args:
        former: the former names, each with its dashes.
    """

    def __init__(self, *args: Any, former: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.former = tuple(former)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Adds each former name with its own destination, so that :meth:`consume_value` sees which name was used."""
        super().add_to_parser(parser, ctx)
        kind = "store_const" if self.is_flag else "append" if self.multiple else "store"
        for name in self.former:
            parser.add_option(obj=self, opts=[name], dest=name, action=kind, nargs=self.nargs, const=True)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """The value. Values under former names count as if they had the current name."""
        assert self.name is not None
        for name in (name for name in self.former if name in opts):
            if not ctx.resilient_parsing:  # during completion, nobody reads a note
                _note(name, self.opts[-1])
            if self.multiple:
                opts = {**opts, self.name: [*opts[name], *opts.get(self.name, ())]}
            else:
                opts = {self.name: opts[name], **opts}
        return super().consume_value(ctx, opts)


def _note(former: str, name: str) -> None:
    note(f"{former} is now {name}; write {name}, the former name is removed in the next version")

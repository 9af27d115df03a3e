"""Options that several commands share: one name, one metavar and one help text each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from schedproof.model.registry.errors import UserError

from .output import OutputFile
from .renamed import Option

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def refuse_idle(given: Mapping[str, object], why: str, instead: str = "") -> None:
    """Refuses options that have no effect beside others; names only those that are given.

    Args:
        given: option -> its value, which is false or None if it is not given.
        why: beside what, or without what, they have no effect.
        instead: what to add to give them one.

    Raises:
        UserError: one of them is given.
    """
    if idle := [name for name, value in given.items() if value]:
        have, them = ("has", "it") if len(idle) == 1 else ("have", "them")
        remedy = f"{instead}, or leave {them} out" if instead else f"leave {them} out"
        raise UserError(f"{', '.join(idle)}: {have} no effect {why}; {remedy}")


def variant_option(default: str = "the first of the system") -> Decorator:
    """``--variant VARIANT``, at most once."""
    return click.option("--variant", metavar="VARIANT", help=f"Use this variant.  [default: {default}]")


def variants_option(default: str = "all") -> Decorator:
    """``--variant VARIANT``, any number of times; by default all variants, or those that ``default`` names."""
    return click.option(
        "--variant", "variants", multiple=True, metavar="VARIANT",
        help=f"Use only this variant; may be repeated.  [default: {default}]",
    )  # fmt: skip


def properties_option(verb: str, default: str = "all", *, former: tuple[str, ...] = ()) -> Decorator:
    """``--property PROPERTY``, any number of times."""
    return click.option(
        "--property", "properties", cls=Option, former=former, multiple=True, metavar="PROPERTY",
        help=f"{verb} only this property; may be repeated.  [default: {default}]",
    )  # fmt: skip


scope_option: Decorator = click.option(
    "--scope", metavar="SORT=N,...", multiple=True, callback=lambda _context, _option, given: ",".join(given) if given else None,
    help="Number of objects of each sort; may be repeated.  [default: the scope of the model]",
)  # fmt: skip

bound_option: Decorator = click.option(
    "--bound", "bounds", metavar="SORT.ATTRIBUTE=N", multiple=True,
    help="Follow an Int or Nat up to N, or in LOW..HIGH; may be repeated.  [default: the bound of the model]",
)  # fmt: skip

no_crash_option: Decorator = click.option("--no-crash", is_flag=True, help="Leave out the actions that are crashes.")

directory_option: Decorator = click.option(
    "-o", "--output", "directory", metavar="DIRECTORY", required=True, help="Write to this new or empty directory."
)

junit_option: Decorator = click.option(
    "--junit", "junit_file", type=OutputFile(), metavar="FILE", help="Write a JUnit report; - is standard output."
)

json_option: Decorator = click.option(
    "--json", "json_file", type=OutputFile(), metavar="FILE", help="Write the result as JSON; - is standard output."
)
"""Every command has it, except ``diagram``."""

"""``schedproof export``: models in the languages of other model checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.folders import OutputFolder
from schedproof.cli.help_text import ending
from schedproof.cli.options import (
    bound_option,
    directory_option,
    json_option,
    no_crash_option,
    properties_option,
    scope_option,
    variant_option,
)
from schedproof.cli.output import Destination
from schedproof.cli.renamed import Option
from schedproof.cli.tables import count, table
from schedproof.model.lang import Model
from schedproof.model.registry.errors import UserError
from schedproof.model.semantics import Instance, ScopeError, instances, scope_text
from schedproof.proofs.export import ExportedProperties, Unwritable, promela, tla
from schedproof.proofs.export.names import fresh
from schedproof.proofs.export.properties import Selection


@dataclass(frozen=True)
class Written:
    """A configuration in another language: its files, by their names, and what these say of properties."""

    instance: Instance
    files: Mapping[str, str]
    properties: ExportedProperties


@dataclass(frozen=True)
class Asked:
    """What of each configuration is written."""

    crash: bool
    only: Selection
    title: str


def _promela(instance: Instance, name: str, asked: Asked) -> Written:
    made = promela(instance, crash=asked.crash, only=asked.only, title=asked.title)
    return Written(instance, {f"{name}.pml": made.text}, made.properties)


def _tla(instance: Instance, name: str, asked: Asked) -> Written:
    made = tla(instance, name=name, crash=asked.crash, only=asked.only, title=asked.title)
    files = {f"{made.name}.tla": made.text, f"{made.name}.cfg": made.configuration}
    return Written(instance, files, made.properties)


LANGUAGES: Mapping[str, Callable[[Instance, str, Asked], Written]] = {"promela": _promela, "tla": _tla}


@click.command(
    epilog=ending(
        "export hived --to promela --scope PodGroup=2,Cell=2 -o spin",
        "export hived --to tla --property free-cell -o tlc",
    )
)
@click.argument("system")
@click.option(
    "--to", "language", type=click.Choice(list(LANGUAGES)), required=True, help="The language: for SPIN or for TLC."
)
@variant_option()
@scope_option
@bound_option
@properties_option("Export", "all that the language can express", former=("--only",))
@click.option("--no-properties", cls=Option, former=["--no-promises"], is_flag=True, help="Export no property.")
@no_crash_option
@click.option("--history", is_flag=True, help="Keep the history variables: more states, and more properties.")
@directory_option
@json_option
def export(
    system: str,
    language: str,
    variant: str | None,
    scope: str | None,
    bounds: tuple[str, ...],
    properties: tuple[str, ...],
    no_properties: bool,
    no_crash: bool,
    history: bool,
    directory: str,
    json_file: Destination | None,
) -> int:
    """Translate a model at a scope to Promela (SPIN) or TLA+ (TLC).

    The exported model has as many states as schedproof's. Invariants and step invariants become assertions in Promela and
    invariants in TLA+; leads-to properties become temporal formulas in TLA+. There is a file for each configuration.
    """
    chosen = choose.system(system)
    model = scopes.bounded(choose.model(chosen, variant), bounds)
    sizes = scopes.scope(model, scope)
    if properties and no_properties:
        raise UserError("--property, --no-properties: they contradict each other; leave out one of them")
    scopes.properties([(chosen, model)], properties)
    folder = OutputFolder(directory)
    only = list(properties) if properties else () if no_properties else None
    written = list(_written(model, sizes, language, history, not no_crash, only))
    folder.write({name: text for each in written for name, text in each.files.items()})
    at = scope_text(sizes)
    if json_file is not None:
        json_file.write_json(
            {
                "system": model.system,
                "variant": model.variant,
                "scope": dict(sizes),
                "language": language,
                "files": [{"files": list(w.files), "sizes": dict(w.instance.sizes)} for w in written],
                "judged": written[0].properties.names,
                "left_out": dict(written[0].properties.left_out),
            }
        )
    if json_file is None or not json_file.is_stdout:
        _print(written, f"{model.system} {model.variant} at {at}", only)
        click.echo(f"written to {directory}: {count(sum(len(w.files) for w in written), 'file')}")
    return Exit.OK


def _written(
    model: Model, sizes: Mapping[str, int], language: str, history: bool, crash: bool, only: Selection
) -> Iterator[Written]:
    """Each configuration of a scope.

    Raises:
        UserError: a property that is asked for cannot be written.
        ScopeError: there is no configuration, or one is too big.
    """
    every = list(instances(model, sizes, with_history=history))
    if not every:
        raise ScopeError(f"{model.system} {model.variant} has no configuration at this scope; choose another scope")
    digits = len(str(len(every)))
    for number, instance in enumerate(every, start=1):
        several = f"_{number:0{digits}}" if len(every) > 1 else ""
        title = f"Configuration {number} of {len(every)}." if several else ""
        name = fresh(f"{model.system}_{model.variant}{several}", ())
        try:
            yield LANGUAGES[language](instance, name, Asked(crash, only, title))
        except Unwritable as error:
            hint = "; add --history" if error.needs_history else ""
            raise UserError(f"{error}{hint}") from None


def _print(written: Sequence[Written], title: str, only: Selection) -> None:
    rows = [[" ".join(w.files), ",".join(f"{s}={n}" for s, n in w.instance.sizes.items() if n)] for w in written]
    table("", [title, "objects"], rows)
    properties = written[0].properties
    click.echo(f"checked by it: {count(len(properties.names), 'property')}")
    if only is None:
        for name, why in properties.left_out.items():
            click.echo(f"not written: {name}: {why}")

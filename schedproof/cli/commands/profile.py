"""``schedproof profile``: what each action and rule costs, and which are never enabled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import bound_option, json_option, no_crash_option, scope_option, variant_option
from schedproof.cli.output import Destination
from schedproof.cli.progress import exploring, progress
from schedproof.cli.tables import count, table
from schedproof.model.lang import Model
from schedproof.model.semantics import ScopeError, instances, scope_text
from schedproof.proofs.exploration.profiling import Profile, together
from schedproof.proofs.exploration.profiling import profile as profiled

MOST = 100_000
"""States of each configuration, unless the user says another number: beyond that the shares change little."""


@dataclass(frozen=True)
class Profiled:
    """The profile of a variant at a scope."""

    model: Model
    sizes: Mapping[str, int]
    crash: bool
    configurations: int
    profile: Profile

    def as_json(self) -> dict[str, Any]:
        """The result of ``profile --json``."""
        return {
            "system": self.model.system,
            "variant": self.model.variant,
            "scope": dict(self.sizes),
            "crash": self.crash,
            "topologies": self.configurations,
            **self.profile.as_json(),
        }


@click.command(epilog=ending("profile hived --scope PodGroup=2,Cell=2"))
@click.argument("system")
@variant_option()
@scope_option
@bound_option
@no_crash_option
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N", default=MOST, show_default=True,
    help="Stop in each configuration after N states.",
)  # fmt: skip
@json_option
def profile(
    system: str,
    variant: str | None,
    scope: str | None,
    bounds: tuple[str, ...],
    no_crash: bool,
    max_states: int,
    json_file: Destination | None,
) -> int:
    """Measure the cost of each action and rule in an exploration.

    It also lists the actions that are never enabled and the rules that never fire. Counts are exact. Shares of the time
    are measured around each guard and each rule, in the interpreter and without caches.
    """
    model = scopes.bounded(choose.model(choose.system(system), variant), bounds)
    sizes = scopes.scope(model, scope)
    with progress("profile") as report_progress:
        profiles = [
            profiled(instance, crash=not no_crash, limit=max_states, progress=exploring(report_progress))
            for instance in instances(model, sizes)
        ]
    if not profiles:
        at = scope_text(sizes)
        raise ScopeError(f"{model.system} {model.variant} has no configuration at {at}; try another scope")
    measured = Profiled(model, sizes, not no_crash, len(profiles), together(profiles))
    if json_file is not None:
        json_file.write_json(measured.as_json())
    if json_file is None or not json_file.is_stdout:
        _print(measured)
    return Exit.OK


def _print(measured: Profiled) -> None:
    profiled = measured.profile
    at = scope_text(measured.sizes)
    title = f"{measured.model.system} {measured.model.variant} at {at}" + (
        "" if measured.crash else ", without crashes"
    )
    all_of = max(profiled.seconds, 1e-9)

    def share(seconds: float) -> str:
        return f"{100 * seconds / all_of:.1f} %"

    actions = sorted(profiled.actions, key=lambda a: -(a.guard_seconds + a.step_seconds))
    _table(
        f"{title}: actions, most expensive first; 100 % is {profiled.seconds:.2f} s",
        ["action", "tried", "enabled in", "steps", "new states", "idle", "guard", "cascade"],
        [[a.name, a.tried, a.enabled, a.steps, a.new, a.idle, share(a.guard_seconds), share(a.step_seconds)]
         for a in actions],
        text=1,
    )  # fmt: skip
    if profiled.rules:
        rules = sorted(profiled.rules, key=lambda r: -r.seconds)
        _table(
            f"{title}: rules, most expensive first",
            ["rule", "looks at", "asked in", "tried", "fired in", "firings", "cascade"],
            [[r.name, r.on, r.asked, r.tried, r.fired, r.firings, share(r.seconds)] for r in rules],
            text=2,
        )
    reached = "at this scope" if profiled.complete else "in what was explored"
    for action in profiled.never_enabled:
        click.echo(f"never enabled {reached}: action {action.name}")
    for rule in profiled.never_fired:
        why = (
            f"it was asked in {count(rule.asked, 'step')}, and its condition never held"
            if rule.asked
            else f"{rule.on} is never fired"
        )
        click.echo(f"never fired {reached}: rule {rule.name!r}: {why}")
    if profiled.ill_formed:
        click.echo("there are ill-formed steps, which are not counted; see 'schedproof explore'")
    least = "" if profiled.complete else "stopped early: the first "
    several = f"in {measured.configurations} configurations together: " if measured.configurations > 1 else ""
    click.echo(f"{title}: {several}{least}{profiled.states} states, {profiled.transitions} transitions")


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, text: int) -> None:
    """A table whose first ``text`` columns are text and the others numbers."""
    table(title, columns, rows, right=columns[text:])
    click.echo()

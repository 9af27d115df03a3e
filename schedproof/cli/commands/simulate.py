"""``schedproof simulate``: random walks, where there are too many states to explore."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from schedproof.cli import choose, scopes
from schedproof.cli.errors import Exit
from schedproof.cli.help_text import ending
from schedproof.cli.options import (
    bound_option,
    json_option,
    no_crash_option,
    properties_option,
    scope_option,
    variant_option,
)
from schedproof.cli.output import Destination
from schedproof.cli.progress import ReportProgress, progress
from schedproof.cli.tables import count, table
from schedproof.model.lang import Model
from schedproof.model.registry.errors import UserError, unknown
from schedproof.model.semantics import instances, scope_text
from schedproof.proofs.checking.model_check import WELL_FORMEDNESS, reads_history
from schedproof.proofs.exploration.counterexample_text import counterexample_lines, indented
from schedproof.proofs.exploration.safety import SAFETY, counterexample, ill_formed
from schedproof.proofs.verdict import Counterexample, Verdict
from schedproof.proofs.verification.properties import expected_of_model

if TYPE_CHECKING:
    from schedproof.proofs.compiled import Walked


HEAVIEST = 1_000
"""The greatest weight of an action. The sum over all choices stays far below 2^32, within which a walk draws."""


@dataclass(frozen=True)
class Simulated:
    """Walks through each configuration of a variant, and the properties that they violate, each with the shortest run."""

    model: Model
    sizes: Mapping[str, int]
    walked: Sequence[Walked]
    broken: Mapping[str, Counterexample]
    weights: Mapping[str, int]

    @property
    def steps(self) -> int:
        """How many steps the walks have."""
        return sum(w.steps for w in self.walked)

    @property
    def seconds(self) -> float:
        """The time that these took."""
        return sum(w.seconds for w in self.walked)

    @property
    def per_action(self) -> Counter[str]:
        """How often each action occurred, in the model's order."""
        counts = Counter({a.name: 0 for a in self.model.actions})
        for walked in self.walked:
            counts.update(walked.action_counts)
        return counts

    @property
    def unexpected(self) -> list[str]:
        """What is broken and should not be."""
        return [name for name in self.broken if expected_of_model(self.model, name) is not Verdict.REFUTED]

    def as_json(self) -> dict[str, Any]:
        """The result of ``simulate --json``."""
        return {
            "system": self.model.system,
            "variant": self.model.variant,
            "scope": dict(self.sizes),
            "topologies": len(self.walked),
            "steps": self.steps,
            "walks": sum(w.walks for w in self.walked),
            "ended": sum(w.ended for w in self.walked),
            **({"cut": cut} if (cut := sum(w.cut for w in self.walked)) else {}),
            "per_action": dict(self.per_action),
            "weights": dict(self.weights),
            "broken": {
                name: {"expected": str(expected_of_model(self.model, name)), "counterexample": example.as_json()}
                for name, example in self.broken.items()
            },
            "ok": not self.unexpected,
        }


@click.command(
    epilog=ending(
        "simulate hived --steps 100000 --seed 7",
        ok="the walks violate no property, or only those that are expected to be violated",
        different="the walks violate a property that is expected to hold",
    )
)
@click.argument("system")
@variant_option()
@scope_option
@bound_option
@properties_option("Watch", "all that speak of states or steps, without history variables")
@no_crash_option
@click.option("--weight", "weights", multiple=True, metavar="ACTION=N",
              help=f"Take steps of this action N times as often as others, 0 to {HEAVIEST}; may be repeated.")  # fmt: skip
@click.option("--steps", type=click.IntRange(min=1), metavar="N", default=1_000_000, show_default=True,
              help="Steps in each configuration.")  # fmt: skip
@click.option("--length", type=click.IntRange(1, 10_000_000), metavar="N", default=1000, show_default=True,
              help="Steps of one walk.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, (1 << 63) - 1), metavar="N", default=1, show_default=True,
              help="Seed of the random numbers; equal seeds take equal walks.")  # fmt: skip
@json_option
def simulate(
    system: str,
    variant: str | None,
    scope: str | None,
    bounds: tuple[str, ...],
    properties: tuple[str, ...],
    no_crash: bool,
    weights: tuple[str, ...],
    steps: int,
    length: int,
    seed: int,
    json_file: Destination | None,
) -> int:
    """Take random walks, and report the properties that they violate.

    Each walk begins in the initial state, and takes each enabled step with the same probability unless --weight is given.
    Random walks prove nothing: what they do not find may exist all the same.
    """
    chosen = choose.system(system)
    model = scopes.bounded(choose.model(chosen, variant), bounds)
    scopes.properties([(chosen, model)], properties)
    sizes = scopes.scope(model, scope)
    weight_of = _weights(model, weights, crash=not no_crash)
    able = [p for p in model.properties if isinstance(p, SAFETY) and not reads_history(model, p)]
    explored = f"schedproof explore {system} --variant {model.variant}"
    scopes.checkable(properties, {p.name for p in able}, "simulate", explored)
    props = [p for p in able if not properties or p.name in properties]
    from schedproof.proofs.compiled import walk  # it takes half a second

    walked: list[Walked] = []
    with progress("simulate") as report_progress:
        for instance in instances(model, sizes):
            walked.append(
                walk(
                    instance,
                    props,
                    steps=steps,
                    length=length,
                    seed=seed,
                    crash=not no_crash,
                    weights=weight_of,
                    progress=partial(_progress, report_progress, f"configuration {len(walked) + 1}", steps),
                )
            )
    simulated = Simulated(model, sizes, walked, _broken(walked), weight_of)
    if json_file is not None:
        json_file.write_json(simulated.as_json())
    if json_file is None or not json_file.is_stdout:
        _print(simulated, seed)
    return Exit.DIFFERENT if simulated.unexpected else Exit.OK


def _weights(model: Model, texts: Sequence[str], *, crash: bool) -> dict[str, int]:
    """The weights of actions, from ``ACTION=N``.

    Raises:
        UserError: one has another form or an unknown action, is too large or given twice, or nothing is left to happen.
    """
    weights: dict[str, int] = {}
    actions = [action.name for action in model.actions if crash or not action.crash]
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or not re.fullmatch("[0-9]{1,6}", number) or int(number) > HEAVIEST:
            raise UserError(
                f"--weight: {text!r} is not of the form ACTION=N; write an action, and a number up to {HEAVIEST}, for example {actions[0]}=10"
            )
        if name in weights:
            raise UserError(f"--weight: {name} has two weights; write one")
        if name not in actions and any(action.name == name for action in model.actions):
            raise UserError(
                f"--weight: {name} is a crash, which --no-crash leaves out; leave out one of the two options"
            )
        if name not in actions:
            raise UserError(f"--weight: {unknown('action', name, actions, of=f'{model.system} {model.variant}')}")
        weights[name] = int(number)
    if all(weights.get(name, 1) == 0 for name in actions):
        raise UserError("--weight: all actions have the weight 0, so nothing happens; give one of them another weight")
    return weights


def _properties(number: int) -> str:
    return "1 property" if number == 1 else f"{number} properties"


def _progress(report_progress: ReportProgress, where: str, steps: int, done: int) -> None:
    report_progress(f"{where}: {done:,} of {steps:,} steps")


def _broken(walked: Sequence[Walked]) -> dict[str, Counterexample]:
    """The properties that the walks violate, each with the shortest run."""
    shortest: dict[str, Counterexample] = {}
    for walk in walked:
        each = [(w.prop.name, counterexample(walk, failed)) for w in walk.watches if (failed := w.failed()) is not None]
        if walk.ill_formed is not None:
            each.append((WELL_FORMEDNESS.name, ill_formed(walk)))
        for name, example in each:
            if name not in shortest or len(example.steps) < len(shortest[name].steps):
                shortest[name] = example
    return shortest


def _print(simulated: Simulated, seed: int) -> None:
    model = simulated.model
    at = scope_text(simulated.sizes)
    title = f"{model.system} {model.variant} at {at}"
    rows = [[action, model.action(action).sentence, n] for action, n in simulated.per_action.items()]
    table(f"{title}: steps at random", ["action", "what happens", "taken"], rows, right=["taken"])
    click.echo()
    for name, example in simulated.broken.items():
        mark = "unexpected: " if name in simulated.unexpected else "as expected, "
        click.echo(f"{mark}{name} is violated after {count(len(example.steps), 'step')}")
        if name in simulated.unexpected:
            click.echo(indented(counterexample_lines(model, example)))
    json = simulated.as_json()
    weightless = ", or only by steps of weight 0" if 0 in simulated.weights.values() else ""
    cut = f", and {json['cut']} at the bound of an integer" if "cut" in json else ""
    rate = simulated.steps / max(simulated.seconds, 1e-9)
    click.echo(
        f"{title}: {simulated.steps} steps in {json['walks']} walks (seed {seed}), of which {json['ended']} ended in a state that no step changes{weightless}{cut}; "
        f"{rate:,.0f} steps/s; {_properties(len(simulated.broken))} violated, {len(simulated.unexpected)} of them unexpectedly; nothing is proved"
    )

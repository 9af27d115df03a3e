"""Safety properties judged by machine code while it explores."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.model.lang import Invariant, Property
from schedproof.model.semantics import Instance
from schedproof.proofs.explore import Progress
from schedproof.proofs.safety import Check, Watch, checks_of

from .search import Reached, explore
from .steps import Condition


def watch(
    instance: Instance,
    props: Sequence[Property],
    *,
    symmetry: bool = False,
    crash: bool = True,
    threads: int = 1,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[Reached, list[Watch]]:
    """Explores ``instance``, and judges safety properties on all its states and steps; arguments as of ``explore``."""
    checks = [(prop, check) for prop in props for check in checks_of(instance, prop)]
    actions = [a for a in instance.model.actions if crash or not a.crash]
    conditions = [condition_of(check, [a.name for a in actions]) for _, check in checks]
    found = explore(
        instance,
        symmetry=symmetry,
        crash=crash,
        conditions=conditions,
        threads=threads,
        limit=limit,
        progress=progress,
    )
    for number, (_, check) in enumerate(checks):
        check.met, check.failed = found.met(number), found.failed(number)
    return found, [Watch(prop, [c for p, c in checks if p is prop]) for prop in props]


def condition_of(check: Check, actions: Sequence[str]) -> Condition:
    """A condition as programs judge it, for these actions."""
    prop = check.prop
    if isinstance(prop, Invariant):
        return Condition(prop.over, prop.given, prop.then)
    on = frozenset(number for number, action in enumerate(actions) if check.concerns(action))
    return Condition(prop.over, prop.given, prop.then, on)

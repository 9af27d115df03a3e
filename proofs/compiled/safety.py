"""Safety properties, checked by compiled code during the search."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.model.lang import Invariant, Property
from schedproof.model.semantics import Instance
from schedproof.proofs.exploration.explore import Halt, Progress
from schedproof.proofs.exploration.limits import ALL_REFUTED, Enough, Saving
from schedproof.proofs.exploration.safety import Check, Watch, checks_of

from .crew import Workers
from .recorder import Follower
from .search import Reached, explore
from .steps import Condition

TRACED = 1 << 22
"""The predecessors of so many states of a thread are kept: most counterexamples are short, and end in one of these."""


def watch(
    instance: Instance,
    props: Sequence[Property],
    *,
    symmetry: bool = False,
    crash: bool = True,
    threads: int = 1,
    workers: Workers | None = None,
    limit: int | None = None,
    memory: int | None = None,
    saving: Saving | None = None,
    halt: Halt | None = None,
    progress: Progress | None = None,
    enough: Enough | None = None,
    record: bool = False,
    histories: Follower | None = None,
) -> tuple[Reached, list[Watch]]:
    """Explores ``instance``, and checks safety properties on all its states and steps.

    Args:
        enough: when the search may stop early, because the number of states is not needed. Others: see ``explore``.

    Returns:
        The exploration, and each property with its checked conditions.
    """
    watches = [Watch(prop, checks_of(instance, prop, crash=crash)) for prop in props]
    conditions = compiled_conditions(instance, watches, crash=crash)

    def record_answers(result: Reached) -> None:
        for number, check in enumerate(check for each in watches for check in each.checks):
            check.met, check.failed = result.met(number), result.failed(number)

    def are_refuted(so_far: Reached) -> bool:
        record_answers(so_far)
        return all(each.failed() is not None for each in watches)

    def on_depth(so_far: Reached) -> str:
        assert enough is not None
        return enough.reason(so_far.depth, so_far.representatives, refuted=are_refuted(so_far))

    def on_turn(so_far: Reached) -> str:
        return ALL_REFUTED if are_refuted(so_far) else ""

    explored = explore(
        instance,
        symmetry=symmetry,
        crash=crash,
        conditions=conditions,
        threads=threads,
        workers=workers,
        limit=limit,
        memory=memory,
        saving=saving,
        halt=halt,
        progress=progress,
        on_depth=on_depth if enough is not None else None,
        on_turn=on_turn if enough is not None and enough.until_refuted else None,
        traced=TRACED,
        record=record,
        histories=histories,
    )
    record_answers(explored)
    return explored, watches


def compiled_conditions(instance: Instance, watches: Sequence[Watch], *, crash: bool) -> list[Condition]:
    """The conditions of properties as programs check them, in the order of the properties' checks."""
    actions = [a.name for a in instance.model.actions if crash or not a.crash]
    return [condition_of(check, actions) for each in watches for check in each.checks]


def condition_of(check: Check, actions: Sequence[str]) -> Condition:
    """A condition of a property as programs check it; ``actions`` are the names of the program's actions."""
    prop = check.prop
    if isinstance(prop, Invariant):
        return Condition(prop.over, prop.given, prop.then)
    on = frozenset(number for number, action in enumerate(actions) if check.concerns(action))
    return Condition(prop.over, prop.given, prop.then, on)

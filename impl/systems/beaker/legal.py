"""The moves that a single recipe and a single system may make, in any operation.

This is the last check inside a transaction. The guards of the operations decide when a move is allowed; a move that
these tables do not have is a bug of the scheduler.
"""

from __future__ import annotations

from schedproof.impl.errors import IllegalMove

from .records import Condition, Recipe, System, Usage
from .records import RecipeState as R

RECIPE_MOVES: dict[R, frozenset[R]] = {
    R.NEW: frozenset({R.QUEUED, R.ASSIGNED, R.SCHEDULED, R.CANCELLED, R.ABORTED}),
    R.QUEUED: frozenset({R.ASSIGNED, R.SCHEDULED, R.CANCELLED, R.ABORTED}),
    R.ASSIGNED: frozenset({R.QUEUED, R.SCHEDULED, R.CANCELLED, R.ABORTED}),
    R.SCHEDULED: frozenset({R.QUEUED, R.WAITING, R.CANCELLED, R.ABORTED}),
    R.WAITING: frozenset({R.INSTALLING, R.CANCELLED, R.ABORTED}),
    R.INSTALLING: frozenset({R.RUNNING, R.CANCELLED, R.ABORTED}),
    R.RUNNING: frozenset({R.COMPLETED, R.CANCELLED, R.ABORTED}),
    R.COMPLETED: frozenset(),
    R.CANCELLED: frozenset(),
    R.ABORTED: frozenset(),
}
"""Lines 116-145 and 226-236. A recipe is queued again when its set gives back its systems."""

USAGE_MOVES: dict[Condition, dict[Usage, frozenset[Usage]]] = {
    Condition.AUTOMATED: {
        Usage.IDLE: frozenset({Usage.SCHEDULED, Usage.PENDING}),
        Usage.PENDING: frozenset({Usage.SCHEDULED, Usage.IDLE}),
        Usage.SCHEDULED: frozenset({Usage.WAITING, Usage.PENDING}),
        Usage.WAITING: frozenset({Usage.INSTALLING, Usage.PENDING}),
        Usage.INSTALLING: frozenset({Usage.RUNNING, Usage.PENDING}),
        Usage.RUNNING: frozenset({Usage.PENDING}),
    },
    Condition.MANUAL: {
        Usage.IDLE: frozenset({Usage.WAITING}),
        Usage.WAITING: frozenset({Usage.INSTALLING}),
        Usage.INSTALLING: frozenset({Usage.RUNNING}),
        Usage.RUNNING: frozenset({Usage.IDLE}),
    },
    Condition.BROKEN: {},
}
"""Lines 172-199. The consistency loop makes an idle system pending if a recipe can take it."""

FIRST_USAGE = {Condition.AUTOMATED: Usage.PENDING, Condition.MANUAL: Usage.IDLE, Condition.BROKEN: Usage.IDLE}
"""The usage of a system right after it enters a condition (lines 172-196)."""


def check_recipe(before: Recipe, after: Recipe) -> None:
    """Checks a move of a recipe.

    Raises:
        IllegalMove: the table has no such row.
    """
    if after.state is not before.state and after.state not in RECIPE_MOVES[before.state]:
        raise IllegalMove(f"recipe {before.name} cannot go from {before.state} to {after.state}")


def check_system(before: System, after: System) -> None:
    """Checks a move of a system: by the table, or to the first usage of another condition.

    Raises:
        IllegalMove: neither allows it.
    """
    if after.condition is not before.condition:
        legal = after.usage is FIRST_USAGE[after.condition]
    else:
        moves = USAGE_MOVES[before.condition].get(before.usage, frozenset())
        legal = after.usage is before.usage or after.usage in moves
    if not legal:
        raise IllegalMove(
            f"system {before.name} cannot go from {before.usage} ({before.condition}) to {after.usage} ({after.condition})"
        )

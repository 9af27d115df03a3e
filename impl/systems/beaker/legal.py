"""What a single recipe and a single system may do, whoever asks for it.

The last line of defence inside a transaction: the guards of the operations decide when a move is
right; a move that is not even here is a fault of the scheduler.
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
"""Lines 116-145 and 226-236; back to queued when a set gives back what it holds."""

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
"""Lines 172-199; the idle system that a recipe fits goes to pending by the consistency loop."""

FIRST_USAGE = {Condition.AUTOMATED: Usage.PENDING, Condition.MANUAL: Usage.IDLE, Condition.BROKEN: Usage.IDLE}
"""The usage of a system that is new in a condition (lines 172-196)."""


def check_recipe(before: Recipe, after: Recipe) -> None:
    """Whether the recipe may move so.

    Raises:
        IllegalMove: its table has no such row.
    """
    if after.state is not before.state and after.state not in RECIPE_MOVES[before.state]:
        raise IllegalMove(f"recipe {before.name} cannot go from {before.state} to {after.state}")


def check_system(before: System, after: System) -> None:
    """Whether the system may move so: by its table, or to the first usage of another condition.

    Raises:
        IllegalMove: otherwise.
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

"""Who holds what and waits for what: how a variant's states are read as wait-for graphs.

Resource allocation graphs are the field's picture of a deadlock: an owner waits for a resource, the
resource is held by an owner, and a circle of both is a deadlock. Locks, systems and cells differ in
nothing but these formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .terms import Term, Var


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """What "holds" and "waits for" mean in a variant: formulas over the same three variables.

    Args:
        owner: what holds and waits as a whole; it goes on when none of its parts waits any more.
        part: what of it holds or waits.
        resource: what is held; it is free again only when its owner has gone on.
        holds: ``part`` of ``owner`` holds ``resource``.
        waits: ``part`` of ``owner`` waits. ``resource`` does not occur.
        serves: one such ``resource`` is enough for ``part``.
        deadlocks: the properties whose violations are deadlocks, worth a picture.
    """

    owner: Var
    part: Var
    resource: Var
    holds: Term
    waits: Term
    serves: Term
    deadlocks: Sequence[str] = ()

"""Formulas that read the states of a variant as wait-for graphs: who holds a resource, who waits for one.

A resource allocation graph is the field's picture of a deadlock: an owner waits for a resource that another owner
holds, and a cycle is a deadlock. Locks, systems and cells differ only in these formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .terms import Term, Var


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The meaning of "holds" and "waits for" in a variant: formulas over the same three variables.

    Args:
        owner: the unit that holds and waits; it continues when none of its parts waits.
        part: the part of an owner that holds or waits.
        resource: a resource; it becomes free only when its owner has continued.
        holds: ``part`` of ``owner`` holds ``resource``.
        waits: ``part`` of ``owner`` waits; ``resource`` does not occur in it.
        serves: ``part`` waits for ``resource``; any one such resource suffices.
        deadlocks: the properties whose violations are deadlocks and get a picture.
    """

    owner: Var
    part: Var
    resource: Var
    holds: Term
    waits: Term
    serves: Term
    deadlocks: Sequence[str] = ()

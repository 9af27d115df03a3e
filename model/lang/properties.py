"""What is promised of a system, each property with the sentence of the document that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import Place, here
from .terms import Term, Var
from .types import Sort

WELL_FORMED = "well-formed"
"""The property that every model has: see :mod:`schedproof.proofs.induction`."""


@dataclass(frozen=True, kw_only=True)
class Property:
    """A property. ``says`` is it in one plain sentence; ``sentence`` is the document's own wording."""

    name: str
    says: str
    line: int | None = None
    sentence: str = ""
    place: Place = field(default_factory=here, compare=False, repr=False)

    kind = "property"


@dataclass(frozen=True, kw_only=True)
class Invariant(Property):
    """In every reachable state: for all ``over``, ``given`` implies ``then``.

    ``given`` is the premise; a premise that is never true makes the property vacuous: an error.
    ``follows_from`` names invariants that it is thought to follow from in any one state: a hint to
    proofs, which is checked.
    """

    over: Sequence[Var]
    then: Term
    given: Term | None = None
    follows_from: Sequence[str] = ()

    kind = "invariant"


@dataclass(frozen=True, kw_only=True)
class StepInvariant(Property):
    """In every step: for all ``over``, ``given`` implies ``then``; ``after(...)`` reads the state after.

    ``on`` limits it to some actions, by name; their common parameters may be spoken of. ``fires`` may be asked of an event of the step.
    """

    over: Sequence[Var]
    then: Term
    given: Term | None = None
    on: Sequence[str] = ()

    kind = "step invariant"


@dataclass(frozen=True, kw_only=True)
class InvariantAtScope(Invariant):
    """An invariant that is wanted at the explored scopes, not for any number of objects.

    What holds of messages because of the order in which they were sent is seldom inductive without the order of
    all others being said as well.
    """

    kind = "invariant at a scope"


@dataclass(frozen=True, kw_only=True)
class StepInvariantAtScope(StepInvariant):
    """A step invariant that is wanted at the explored scopes: see :class:`InvariantAtScope`."""

    kind = "step invariant at a scope"


@dataclass(frozen=True, kw_only=True)
class DeadlockFree(Property):
    """In every reachable state some action is enabled, unless ``ended`` holds there.

    An action is enabled if its guard holds for some choice of parameters, whether or not its step changes anything, as in
    TLC. Those named in ``without`` do not count (a crash, say): they are no way on.
    """

    ended: Term | None = None
    without: Sequence[str] = ()

    kind = "deadlock freedom"


@dataclass(frozen=True, kw_only=True)
class LifeCycle(Property):
    """Some object of ``sort`` can go through exactly these ``states``, one after the other."""

    sort: Sort
    states: Sequence[str]

    kind = "can happen"


@dataclass(frozen=True, kw_only=True)
class AlwaysCanReach(Property):
    """From every reachable state with ``given``, some continuation reaches ``goal`` (AG EF).

    The continuation takes no action named in ``without``; else a crash is one like any other.
    """

    over: Sequence[Var]
    goal: Term
    given: Term | None = None
    without: Sequence[str] = ()

    kind = "always can reach"


@dataclass(frozen=True, kw_only=True)
class LeadsTo(Property):
    """Every fair run from ``given`` reaches ``goal``.

    ``weak``/``strong`` name the actions that the environment is fair to, for each choice of
    their parameters; ``without`` names actions that are not taken for ever (a crash, say).
    """

    over: Sequence[Var]
    given: Term
    goal: Term
    weak: Sequence[str] = ()
    strong: Sequence[str] = ()
    without: Sequence[str] = ()

    kind = "leads to"


@dataclass(frozen=True, kw_only=True)
class Recovery(Property):
    """After a crash every object is as ``restores`` computes it from durable data alone.

    Each entry: variables, a formula over the state after the crash, and the formula over durable
    attributes (and nothing else: checked) that it must be equivalent to. What no entry speaks of
    is not checked.
    """

    restores: Sequence[Restored]

    kind = "recovery"


@dataclass(frozen=True)
class Restored:
    """For all ``over``: after the crash ``what`` holds exactly when ``durable`` does."""

    over: Sequence[Var]
    what: Term
    durable: Term

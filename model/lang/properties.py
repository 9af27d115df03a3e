"""Properties of a system, each with the sentence of the document that requires it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .arguments import declaration
from .errors import Place, calling_place
from .terms import Term, Var
from .types import Sort

WELL_FORMED = "well-formed"
"""The name of the property that every model has: see :mod:`schedproof.proofs.induction`."""


@dataclass(frozen=True, kw_only=True)
class Property:
    """A property.

    Args:
        name: the name, as on the command line.
        says: the property in one plain sentence.
        line: of the document.
        sentence: the document's own wording.
    """

    name: str
    says: str
    line: int | None = None
    sentence: str = ""
    place: Place = field(default_factory=calling_place, compare=False, repr=False)

    kind = "property"


@declaration
@dataclass(frozen=True, kw_only=True)
class Invariant(Property):
    """In every reachable state: for all ``over``, ``given`` implies ``then``.

    Args:
        given: the premise. A premise that is never true makes the property vacuous, which is an error.
        follows_from: names of invariants that presumably imply it in any one state: a hint to proofs, which is checked.
    """

    over: Sequence[Var]
    then: Term
    given: Term | None = None
    follows_from: Sequence[str] = ()

    kind = "invariant"


@declaration
@dataclass(frozen=True, kw_only=True)
class StepInvariant(Property):
    """In every step: for all ``over``, ``given`` implies ``then``; ``after(...)`` reads the state after.

    Formulas may use ``fires`` about events of the step.

    Args:
        on: limits it to actions of these names; formulas may use their common parameters.
    """

    over: Sequence[Var]
    then: Term
    given: Term | None = None
    on: Sequence[str] = ()

    kind = "step invariant"


@declaration
@dataclass(frozen=True, kw_only=True)
class InvariantAtScope(Invariant):
    """An invariant that is required at the explored scopes, not for any number of objects.

    An invariant about messages that rests on their order of sending is seldom inductive. It would need the order of
    all other messages as well.
    """

    kind = "invariant at a scope"


@declaration
@dataclass(frozen=True, kw_only=True)
class StepInvariantAtScope(StepInvariant):
    """A step invariant that is required at the explored scopes: see :class:`InvariantAtScope`."""

    kind = "step invariant at a scope"


@declaration
@dataclass(frozen=True, kw_only=True)
class DeadlockFree(Property):
    """In every reachable state some action is enabled, unless ``ended`` holds there.

    An action is enabled if its guard holds for some choice of parameters, whether or not its step changes anything, as
    in TLC. The actions named in ``without`` do not count as progress (a crash, for example).
    """

    ended: Term | None = None
    without: Sequence[str] = ()

    kind = "deadlock freedom"


@declaration
@dataclass(frozen=True, kw_only=True)
class LifeCycle(Property):
    """Some object of ``sort`` can go through exactly these ``states``, one after the other."""

    sort: Sort
    states: Sequence[str]

    kind = "can happen"


@declaration
@dataclass(frozen=True, kw_only=True)
class AlwaysCanReach(Property):
    """From every reachable state with ``given``, some continuation reaches ``goal`` (AG EF).

    This holds for all ``over``. The continuation takes no action named in ``without``. If that names no crash, the continuation may crash.
    """

    over: Sequence[Var]
    goal: Term
    given: Term | None = None
    without: Sequence[str] = ()

    kind = "always can reach"


@declaration
@dataclass(frozen=True, kw_only=True)
class LeadsTo(Property):
    """Every fair run from ``given`` reaches ``goal``, for all ``over``.

    Args:
        weak, strong: names of the actions with weak or strong fairness, for each choice of their parameters.
        without: names of actions that do not occur for ever (a crash, for example).
    """

    over: Sequence[Var]
    given: Term
    goal: Term
    weak: Sequence[str] = ()
    strong: Sequence[str] = ()
    without: Sequence[str] = ()

    kind = "leads to"


@declaration
@dataclass(frozen=True, kw_only=True)
class Recovery(Property):
    """After a crash every object is as ``restores`` computes it from durable data alone.

    Each entry has variables, a formula over the state after the crash, and an equivalent formula over durable
    attributes. The language refuses other attributes there. Recovery checks only what the entries mention.
    """

    restores: Sequence[Restored]

    kind = "recovery"


@declaration
@dataclass(frozen=True)
class Restored:
    """For all ``over``: after the crash ``what`` holds exactly when ``durable`` does."""

    over: Sequence[Var]
    what: Term
    durable: Term

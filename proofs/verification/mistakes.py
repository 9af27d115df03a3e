"""Mistakes of earlier variants that a change repairs as well, though what the change says is wrong is another mistake."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedproof.model.lang import Change, Mistake, Model, ModelError
from schedproof.model.registry.errors import unknown
from schedproof.model.registry.system import System

from .findings import Finding, builds_on, repeated


@dataclass(frozen=True)
class Named:
    """A mistake that has a name, and the change that repairs it.

    Attributes:
        model: the variant that has the change.
        change: the change.
        mistake: the mistake.
    """

    model: Model
    change: Change
    mistake: Mistake

    def of(self, some: Sequence[Finding]) -> list[Finding]:
        """The findings that the mistake explains, in the order in which it names their properties."""
        names = list(self.mistake.violates)
        its = [each for each in some if each.variant == self.mistake.variant and each.property in names]
        return sorted(its, key=lambda each: names.index(each.property))


def named_mistakes(system: System) -> list[Named]:
    """The mistakes that the changes of a system's variants name.

    Raises:
        ModelError: a mistake is of an unknown variant, or names a property that the variant is not expected to violate.
    """
    return [
        named
        for model in system.variants.values()
        for change in model.changes
        # A variant that takes over a change for what others build on repairs nothing with it.
        if change.repairs or change.weakens
        for named in _of(system, model, change)
    ]


def open_violations(system: System, some: Sequence[Named]) -> Mapping[str, frozenset[str]]:
    """By variant, the properties that it violates for reasons that the mistakes do not name."""
    return {
        name: model.refuted - {prop for each in some if each.mistake.variant == name for prop in each.mistake.violates}
        for name, model in system.variants.items()
    }


def _of(system: System, model: Model, change: Change) -> Iterator[Named]:
    earlier = {name: each for name, each in system.variants.items() if builds_on(system, model, each)}
    for mistake in change.mistakes:
        _require(change, mistake, "variant", [mistake.variant], earlier)
        broken = earlier[mistake.variant]
        _require(change, mistake, "violated property", mistake.violates, broken.refuted - repeated(system, broken))
        yield Named(model, change, mistake)


def _require(change: Change, mistake: Mistake, what: str, names: Sequence[str], known: Collection[str]) -> None:
    """Refuses unknown names, and a mistake that violates nothing."""
    at = f"mistake {mistake.name}"
    if not names:
        raise ModelError(at, change.place, "violates names no property", "name those that it violates")
    for name in names:
        if name not in known:
            problem, _, instead = str(unknown(what, name, sorted(known))).partition("; ")
            raise ModelError(at, change.place, problem, instead)

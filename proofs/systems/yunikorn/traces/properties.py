"""The properties of the document that a logged state change violates, as far as the change alone shows.

The properties are the model's. A change shows one object's state before and after it. So a property is evaluated in
three-valued logic: true, false, or undetermined by the change. A property is violated if it is false whatever the
rest of the state is.
"""

from __future__ import annotations

from schedproof.model.lang import Model, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Ref
from schedproof.model.systems.yunikorn.variants import AS_WRITTEN
from schedproof.proofs.traces.reports.report import Requirement

Known = bool | None


def broken_by(model: Model, sort: str, source: str, target: str) -> list[Requirement]:
    """Returns the properties that an object of ``sort`` violates by going from ``source`` to ``target``.

    The document's properties count also where ``model`` has dropped them because they hold vacuously.
    """
    violated = []
    for prop in {p.name: p for p in (*AS_WRITTEN.properties, *model.properties)}.values():
        if not isinstance(prop, StepInvariant) or prop.on or prop.given is None or len(prop.over) != 1:
            continue  # a property of certain steps, or of several objects, cannot be evaluated on the change of one
        (it,) = prop.over
        if isinstance(it.type, Ref) and it.type.sort.name == sort:
            change = _Change(it.name, source, target)
            if change.truth(prop.given) and change.truth(prop.then) is False:
                violated.append(Requirement(prop.name, prop.says, model.document.name, prop.line, prop.sentence))
    return violated


class _Change:
    """One object's state before and after a step."""

    def __init__(self, name: str, before: str, after: str) -> None:
        self.name, self.before, self.after = name, before, after

    def truth(self, term: t.Term, later: bool = False) -> Known:
        """Returns whether ``term`` holds; None if the change does not determine it."""
        match term:
            case t.Is(t.Var(name), states) if name == self.name:
                return (self.after if later else self.before) in states
            case t.After(part):
                return self.truth(part, later=True)
            case t.Not(part):
                value = self.truth(part, later)
                return None if value is None else not value
            case t.And(parts):
                return self._all([self.truth(p, later) for p in parts])
            case t.Or(parts):
                return self._any([self.truth(p, later) for p in parts])
            case t.Implies(premise, conclusion):
                value = self.truth(premise, later)
                return self._any([None if value is None else not value, self.truth(conclusion, later)])
            case _:
                return None

    @staticmethod
    def _all(values: list[Known]) -> Known:
        return False if False in values else None if None in values else True

    @staticmethod
    def _any(values: list[Known]) -> Known:
        return True if True in values else None if None in values else False

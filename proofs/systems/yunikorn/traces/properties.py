"""Which properties of the document a logged state change breaks, as far as the change itself tells.

The properties are the model's properties. A change shows the state of one object before and after it and
nothing else, so a property is read in three-valued logic: true, false, or not to be known from this. One that
is false whatever the rest may be is broken.
"""

from __future__ import annotations

from schedproof.model.lang import Model, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.types import Ref
from schedproof.model.systems.yunikorn.variants import AS_WRITTEN
from schedproof.proofs.traces.reports.report import Requirement

Known = bool | None


def broken_by(model: Model, sort: str, source: str, target: str) -> list[Requirement]:
    """The properties that an object of ``sort`` breaks by going from ``source`` to ``target``.

    Those of the document count also where ``model`` has dropped them because nothing in it could break them.
    """
    found = []
    for prop in {p.name: p for p in (*AS_WRITTEN.properties, *model.properties)}.values():
        if not isinstance(prop, StepInvariant) or prop.on or prop.given is None or len(prop.over) != 1:
            continue  # what speaks of certain steps, or of several objects, cannot be read off a change of one
        (it,) = prop.over
        if isinstance(it.type, Ref) and it.type.sort.name == sort:
            change = _Change(it.name, source, target)
            if change.truth(prop.given) and change.truth(prop.then) is False:
                found.append(Requirement(prop.name, prop.says, model.document.name, prop.line, prop.sentence))
    return found


class _Change:
    """One object's state before and after a step."""

    def __init__(self, name: str, before: str, after: str) -> None:
        self.name, self.before, self.after = name, before, after

    def truth(self, term: t.Term, later: bool = False) -> Known:
        """Whether ``term`` holds; None if the change does not tell."""
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

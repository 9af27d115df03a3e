"""Mutants of a model: the model less one rule, one condition of a rule, one guard conjunct or one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from schedproof.model.lang import Action, Invariant, Model, ModelError, Rule
from schedproof.model.lang.check import WELL_FORMED
from schedproof.proofs.examine import examine
from schedproof.proofs.induction import prove
from schedproof.proofs.verdict import Verdict

SCOPES: Sequence[tuple[int, int]] = ((2, 2), (3, 2), (3, 3), (4, 2))
"""(pod groups, cells) to explore a mutant at, small ones first. Some show only where two preempt beside a third."""


@dataclass(frozen=True)
class Mutant:
    """A model less one part; ``name`` says which. ``build`` may raise ModelError: then it is refused."""

    name: str
    kind: str
    build: Callable[[], Model]


@dataclass(frozen=True)
class Caught:
    """How a mutant was told from the model: ``by`` "refused", "explored" or "induction", and what told it."""

    by: str
    what: str


def mutants(model: Model) -> Iterator[Mutant]:
    """Every mutant of ``model``."""
    for rule in model.rules:
        yield _without_rule(model, rule)
        for n in range(len(rule.when)):
            yield _without_condition(model, rule, n)
    for action in model.actions:
        for n in range(len(action.when)):
            yield _without_conjunct(model, action, n)
    for row in model.rows:
        rows = [r for r in model.rows if r is not row]
        yield Mutant(f"row {row.name}", "row", lambda rows=rows: replace(model, rows=rows))  # type: ignore[misc]


def _without_rule(model: Model, rule: Rule) -> Mutant:
    return Mutant(f"rule {rule.name}", "rule", lambda: replace(model, rules=[r for r in model.rules if r is not rule]))


def _without_condition(model: Model, rule: Rule, n: int) -> Mutant:
    less = replace(rule, when=[*rule.when[:n], *rule.when[n + 1 :]])
    rules = [less if r is rule else r for r in model.rules]
    return Mutant(f"rule {rule.name}, condition {n + 1}", "condition", lambda: replace(model, rules=rules))


def _without_conjunct(model: Model, action: Action, n: int) -> Mutant:
    less = replace(action, when=[*action.when[:n], *action.when[n + 1 :]])
    actions = [less if a is action else a for a in model.actions]
    return Mutant(f"action {action.name}, conjunct {n + 1}", "guard", lambda: replace(model, actions=actions))


def explored(model: Model, scope: tuple[int, int]) -> Mapping[str, Verdict]:
    """The verdict of exploration on every property at a scope."""
    groups, cells = scope
    return {r.name: r.verdict for r in examine(model, {"PodGroup": groups, "Cell": cells})}


def proved(model: Model) -> frozenset[str]:
    """The properties that induction proves for any number of objects."""
    induction = prove(model)
    return frozenset(n for n in (WELL_FORMED, *(p.name for p in model.properties)) if induction.proved(n))


def invariants_of(model: Model) -> Model:
    """``model`` with no other properties than its invariants: a shorter proof, which most often is enough."""
    kept = [p for p in model.properties if isinstance(p, Invariant)]
    return replace(model, properties=kept, refuted=model.refuted & {p.name for p in kept})


class Judge:
    """Tells mutants from the model, by the cheapest way first."""

    def __init__(self, model: Model, scopes: Sequence[tuple[int, int]] = SCOPES) -> None:
        self.model, self.scopes = model, scopes
        self._explored = cache(lambda scope: explored(model, scope))
        self._proved = cache(lambda less: proved(less(model)))

    def caught(self, mutant: Mutant) -> Caught | None:
        """How ``mutant`` is caught; None if every verdict on it is the model's."""
        try:
            other = mutant.build()
        except ModelError as error:
            return Caught("refused", str(error))
        for scope in self.scopes:
            right, wrong = self._explored(scope), explored(other, scope)
            if differing := [name for name in right if wrong[name] is not right[name]]:
                return Caught("explored", f"{differing[0]} at {scope[0]} groups x {scope[1]} cells")
        for less in (invariants_of, replace):
            if lost := sorted(self._proved(less) - proved(less(other))):
                return Caught("induction", lost[0])
        return None

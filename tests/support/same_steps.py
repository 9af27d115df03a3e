"""Whether a mutant takes exactly the steps of its model, proved for any number of objects.

Both are put over the same symbols: they share the state before the step and the action's parameters. In every state that satisfies
the model's invariants, z3 has to show that the guards agree, and that the mutant's step is well-formed and ends in the same state.
Then both have the same graph at every scope: no property of states distinguishes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from schedproof.model.lang import Invariant, Model, Ref, Row, SetOf, Type
from schedproof.model.lang.check import checked
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.triggers import trigger_graph
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.induction import solve
from schedproof.proofs.induction.cascade import Cascade
from schedproof.proofs.induction.expressions import And, ForAll, Implies, Not, is_true
from schedproof.proofs.induction.obligations import (
    Proof,
    closed,
    defined_reads,
    number_ranges,
    one_payload,
    well_formed,
)
from schedproof.proofs.induction.relevant import Relevance
from schedproof.proofs.induction.translate import Translator, same_reference
from schedproof.proofs.induction.views import Symbols, Z
from tests.support.mutants import concerned

EFFORT = 1_000_000
"""The limit of a question, in z3's own steps: about half a second."""


class SameSteps:
    """Compares mutants with their model.

    Args:
        model: the model.
        invariants: what may be assumed of a state before a step. That they hold, and that the model is well-formed, is proved elsewhere.
        effort: the limit of each question.
    """

    def __init__(self, model: Model, invariants: Sequence[Invariant], *, effort: int = EFFORT) -> None:
        self.model, self.effort = checked(model), effort
        symbols = Symbols(self.model)
        before = Translator(symbols, symbols)
        axioms = tuple(before.formula(axiom) for axiom in model.premises)
        assumed = {p.name: before.formula(closed(p)) for p in invariants}
        always = axioms + tuple(number_ranges(model, before))
        self.proof = Proof(model, symbols, axioms, always, assumed, {}, {}, (), {})
        self.relevance = Relevance(symbols)
        self.cascade = cache(lambda name: Cascade(symbols, self.model.action(name)))

    def unproved(self, mutant: Model) -> str | None:
        """The first difference that z3 cannot exclude; None if ``mutant`` takes exactly the model's steps."""
        with gc_paused():
            names, symbols = concerned(self.model, mutant), _Shared(self.proof.symbols, mutant)
            for action in mutant.actions:
                if action.name in names:
                    what = _Compared(self, self.cascade(action.name), Cascade(symbols, action)).unproved()
                    if what is not None:
                        return f"{action.name}: {what}"
        return None


class _Shared(Symbols):
    """The symbols of a model, with the rules and rows of a mutant. Further functions are the mutant's own."""

    def __init__(self, symbols: Symbols, mutant: Model) -> None:
        self.__dict__.update(symbols.__dict__)
        self.model, self.expressions = mutant, _Renamed(symbols.expressions)  # type: ignore[assignment]
        self.strata = {node: [] for node in trigger_graph(mutant).sorted()}
        for rule in mutant.rules:
            self.strata[sort_of(mutant, rule.fires.of, {}), rule.fires.event].append(rule)

    def __del__(self) -> None:
        """Leaves the translation to the model's symbols."""


class _Renamed:
    """Expressions whose new functions have names of their own."""

    def __init__(self, expressions: Any) -> None:
        self._expressions = expressions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._expressions, name)

    def function(self, name: str, *sorts: Any) -> Any:
        """A function that no formula of the model has."""
        return self._expressions.function(f"{name} in the mutant", *sorts)


@dataclass(frozen=True)
class _Witnesses:
    """The witnesses of both cascades, as relevance reads them."""

    witnesses: Sequence[tuple[str, Z, Z]]


class _Compared:
    """One action of the model beside the mutant's."""

    def __init__(self, asker: SameSteps, right: Cascade, other: Cascade) -> None:
        self.asker, self.right, self.other = asker, right, other
        self.symbols = asker.proof.symbols

    @cached_property
    def _step(self) -> solve.Context:
        """In a state in which the action is enabled."""
        proof = self.asker.proof
        formulas = (*proof.always, self.right.guard, *self.right.axioms, *self.other.axioms)
        witnesses = _Witnesses([*self.right.witnesses, *self.other.witnesses])
        return solve.Context(proof, self.asker.relevance, formulas, witnesses)  # type: ignore[arg-type]

    def unproved(self) -> str | None:
        """The first claim that z3 does not prove."""
        enabled = self.right.guard == self.other.guard
        reads = self.other.before.chain(self.other.action.when)
        if self.right.guard is not self.other.guard:
            proof = self.asker.proof
            state = solve.Context(proof, self.asker.relevance, proof.always)
            if not self._proved(state, And(enabled, reads)):
                return "its guard"
        return next((what for what, goal in self._claims() if not self._proved(self._step, goal)), None)

    def _proved(self, context: solve.Context, goal: Z) -> bool:
        goal = context.less_what_is_said(self.symbols.expressions.simplified(goal))
        if is_true(goal):
            return True
        assumed = sorted(self.asker.proof.assumed)
        proved, _ = context.ask_nearby(goal, ([], assumed), self.asker.effort)
        return proved or context.ask(goal, assumed, self.asker.effort)[0] == "unsat"

    def _claims(self) -> Iterator[tuple[str, Z]]:
        differing = set()
        for key in {**self.right.fired, **self.other.fired}:
            same = self._fires_alike(key)
            if self._proved(self._step, same):
                self._learn(same)
            else:
                differing.add(key)
        rows = {key for key in {**self.right.rows, **self.other.rows} if self._other_rows(key)}
        if differing:
            for detail, goal, _ in well_formed(self.other, self.other.action, (), ()):
                yield detail, goal
        else:
            yield from self._reads()
            for sort, event in rows:
                x = self.symbols.constant("x", sort)
                lost = self._sources(self.right, (sort, event)) - self._sources(self.other, (sort, event))
                for source in sorted(lost):
                    in_source = self.symbols.state(sort, x) == self.symbols.states[sort][source]
                    goal = ForAll([x], Not(And(self.right.fires(sort, event, x), in_source)))
                    yield f"{sort}.{event} is not fired in {source}", goal
        for sort in dict.fromkeys(sort for sort, _ in differing | rows):
            yield from self._ends_alike(sort)

    def _learn(self, fact: Z) -> None:
        self._step.near.add(self.asker.relevance.limited(fact))
        self._step.solver.add(fact)

    def _fires_alike(self, key: tuple[str, str]) -> Z:
        x = self.symbols.constant("x", key[0])
        right, other = self.right.fires(*key, x), self.other.fires(*key, x)
        payload = []
        for name, kind in self.symbols.model.machine(key[0]).parameters(key[1]).items():
            if key in self.right.fired and key in self.other.fired:
                values = self.right.payload(*key, name, x), self.other.payload(*key, name, x)
                payload.append(self._same(kind, *values))
        return ForAll([x], And(right == other, *[Implies(right, part) for part in payload]))

    @staticmethod
    def _sources(cascade: Cascade, key: tuple[str, str]) -> set[str]:
        return {row.source for row in cascade.rows.get(key, [])}

    def _other_rows(self, key: tuple[str, str]) -> bool:
        def rows(cascade: Cascade) -> list[Row]:
            return cascade.rows.get(key, [])

        return [id(row) for row in rows(self.right)] != [id(row) for row in rows(self.other)]

    def _reads(self) -> Iterator[tuple[str, Z]]:
        """Whatever the mutant's other rules and rows read is there, and its other rules give one payload."""
        kept = {id(rule) for rule in self.symbols.model.rules}
        for key, causes in self.other.causes.items():
            changed = [c for c in causes if id(c.by) not in kept and c.by is not self.right.action]
            for cause in changed:
                yield f"{cause.by.name} reads no attribute of NONE", defined_reads(self.other, cause.written or cause)
            if changed:
                for detail, goal, _ in one_payload(self.other, key, causes, ()):
                    yield detail, goal
        for sort, event in self.other.rows:
            if self._other_rows((sort, event)):
                x = self.symbols.constant("x", sort)
                for row in self.other.rows[sort, event]:
                    for name, value in row.sets:
                        defined = self.other.after.reader(sort, event, x).defined(value)
                        fires = self.other.fires(sort, event, x)
                        yield f"{row.name} computes {name}", ForAll([x], Implies(fires, defined))

    def _ends_alike(self, sort: str) -> Iterator[tuple[str, Z]]:
        x, right, other = self.symbols.constant("x", sort), self.right.after, self.other.after
        machine = self.symbols.model.machine(sort)
        if machine.states:
            yield f"the state of {sort}", ForAll([x], right.state(sort, x) == other.state(sort, x))
        for attribute in machine.attributes:
            if not attribute.rigid:
                values = right.value(sort, attribute.name, x), other.value(sort, attribute.name, x)
                yield f"{sort}.{attribute.name}", ForAll([x], self._same(attribute.type, *values))

    def _same(self, kind: Type, one: Any, other: Any) -> Z:
        if isinstance(kind, Ref):
            return same_reference(one, other)
        if isinstance(kind, SetOf):
            element = self.symbols.constant("element", kind.sort)
            return ForAll([element], one(element) == other(element))
        return one == other

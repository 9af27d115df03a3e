"""The greatest inductive set of invariants, by z3; every obligation with its verdict.

Invariants support each other: each is proved assuming all of the set before the step. One that
fails leaves the set, and what was proved with its help is proved again without it; z3's unsat
cores say what that is. What remains at the end holds for any number of objects.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import z3

from schedproof.model.lang import Invariant, Model
from schedproof.model.lang import terms as t

from ..verdict import Counterexample, Verdict
from .counterexample import find
from .obligations import Obligation, Proof, obligations
from .rewrite import one_point

SECONDS = 5
QUICK_SECONDS = 0.5
"""The time limit of one query; on it z3 answers unknown, which is never taken for proved."""


@dataclass(frozen=True)
class Answer:
    """The verdict on one obligation; ``used`` are the invariants that its proof assumes."""

    obligation: Obligation
    verdict: Verdict
    seconds: float = field(compare=False)
    used: frozenset[str] = frozenset()
    counterexample: Counterexample | None = None
    note: str = ""


@dataclass(frozen=True)
class Induction:
    """All answers, and the properties that are proved for any number of objects."""

    proof: Proof
    answers: tuple[Answer, ...]
    inductive: frozenset[str]

    def of(self, prop: str) -> list[Answer]:
        """The answers on one property's obligations."""
        return [a for a in self.answers if a.obligation.invariant == prop]

    def proved(self, prop: str) -> bool:
        """Every obligation of the property is proved, from inductive invariants only."""
        answers = self.of(prop)
        return bool(answers) and all(a.verdict is Verdict.PROVED for a in answers)

    def seconds(self, prop: str) -> float:
        """The time spent on the property's obligations."""
        return sum(a.seconds for a in self.of(prop))


class _Context:
    """One solver for all obligations of an action, with the invariants behind switches."""

    def __init__(self, proof: Proof, context: Iterable[z3.BoolRef]) -> None:
        self.solver = z3.Solver(ctx=proof.symbols.context)
        self.solver.set("random_seed", 1)
        # Instantiation by patterns runs in circles here (a cell's group, that group's cell, ...);
        # by models it answers every obligation, most in milliseconds.
        self.solver.set("smt.ematching", False)
        self.switches = {}
        for formula in context:
            self.solver.add(formula)
        for name, formula in proof.assumed.items():
            switch = z3.Bool(f"assume {name}", proof.symbols.context)
            self.switches[name] = switch
            self.solver.add(z3.Implies(switch, formula))

    def ask(self, goal: z3.BoolRef, assume: Iterable[str], seconds: float) -> tuple[str, frozenset[str]]:
        """z3's answer to "can the goal be false", and the invariants in the core of unsat."""
        self.solver.set("timeout", int(seconds * 1000))
        self.solver.push()
        self.solver.add(z3.Not(goal))
        found = str(self.solver.check(*[self.switches[n] for n in assume]))
        core = frozenset()
        if found == "unsat":
            names = {str(c) for c in self.solver.unsat_core()}
            core = frozenset(n for n, s in self.switches.items() if str(s) in names)
        self.solver.pop()
        return found, core


def prove(model: Model, *, progress: Callable[[int, int], None] | None = None) -> Induction:
    """Proves what can be proved of ``model`` for any number of objects.

    Args:
        progress: called with (obligations answered, obligations).
    """
    proof = obligations(model)
    contexts: dict[int, _Context] = {}
    inductive = set(proof.assumed)
    failed: dict[str, Answer] = {}
    proved: dict[str, Answer] = {}
    work = list(proof.obligations)
    while work:
        for obligation in work:
            answer = _answer(proof, contexts, obligation, inductive)
            (proved if answer.verdict is Verdict.PROVED else failed)[obligation.name] = answer
            if progress:
                progress(len(proved) + len(failed), len(proof.obligations))
        lost = {a.obligation.invariant for a in failed.values()} & inductive
        inductive -= lost
        # What was proved with the help of a lost invariant is to be proved again without it.
        work = [a.obligation for a in proved.values() if a.used & lost]
        for obligation in work:
            del proved[obligation.name]
    answers = [proved.get(o.name) or failed[o.name] for o in proof.obligations]
    return Induction(proof, tuple(answers), frozenset(inductive))


def _answer(proof: Proof, contexts: dict[int, _Context], obligation: Obligation, inductive: set[str]) -> Answer:
    key = id(obligation.context)
    if key not in contexts:
        contexts[key] = _Context(proof, obligation.context)
    start = time.perf_counter()
    assume = sorted(inductive) if obligation.inductive else []

    def seconds() -> float:
        return time.perf_counter() - start

    # "Every group has a cell such that ..." is seldom needed and costs most: first without. Then,
    # a false claim is refuted at once by few objects; a true one may need everything.
    plain = [n for n in assume if n == obligation.invariant or not _has_witness(proof, n)]
    found, used = contexts[key].ask(obligation.goal, plain, QUICK_SECONDS)
    if found != "unsat":
        counterexample = find(proof, obligation, assume)
        if counterexample is not None:
            return Answer(obligation, Verdict.REFUTED, seconds(), counterexample=counterexample)
        found, used = contexts[key].ask(obligation.goal, assume, SECONDS)
    if found == "unsat":
        return Answer(obligation, Verdict.PROVED, seconds(), used)
    return Answer(obligation, Verdict.UNDETERMINED, seconds(), note=f"z3 answers {found}")


def _has_witness(proof: Proof, name: str) -> bool:
    """The invariant says that some object exists for each of another sort."""
    prop = proof.model.property(name)
    assert isinstance(prop, Invariant)
    return _exists(prop.then)


def _exists(term: t.Term) -> bool:
    if isinstance(term, t.Quantified):
        simpler = one_point(term)
        if isinstance(simpler, t.Quantified):
            return not simpler.universal or _exists(simpler.body)
        return _exists(simpler)
    return any(_exists(child) for child in t.children(term))


def _with_counterexample(proof: Proof, answer: Answer, inductive: Iterable[str]) -> Answer:
    start = time.perf_counter()
    found = find(proof, answer.obligation, inductive)
    seconds = answer.seconds + time.perf_counter() - start
    if found is None:
        return Answer(answer.obligation, Verdict.UNDETERMINED, seconds, note=answer.note)
    return Answer(answer.obligation, Verdict.REFUTED, seconds, counterexample=found)


def summary(induction: Induction) -> Mapping[Verdict, int]:
    """How many obligations have each verdict."""
    return {v: sum(1 for a in induction.answers if a.verdict is v) for v in Verdict}

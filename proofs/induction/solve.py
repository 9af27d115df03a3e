"""Finds the greatest inductive set of invariants with z3, and a verdict on every obligation.

Invariants support each other: each proof assumes the whole set before the step.
An invariant that fails leaves the set. Every proof that used it, by z3's unsat core, is repeated without it.
The final set holds for any number of objects.
An invariant outside of the set is assumed for its own obligations only: one that failed, or one that the manifest expects
to be violated. The latter joins the set if another proof fails without it. An invariant is proved if all of its obligations are.

The formulas give every step a state after, also an ill-formed one, which has none.
So they are about the model's steps only if every step is well-formed: no property is proved without well-formedness.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import z3

from schedproof.model.errors import require, require_function
from schedproof.model.lang import Model, ModelError
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.registry.errors import UserError, require_known
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.verdict import NOT_INDUCTIVE, Counterexample, Verdict

from .bounds import bounds
from .cascade import Cascade
from .counterexample import SolverModel, shown, small_model
from .counting import LEFT
from .expressions import Implies, Not, Solver, conjuncts
from .obligations import INITIAL, SIZES, Obligation, Proof, leaves_counts, obligations, provable
from .relevant import Relevance
from .time_limit import NO_LIMIT, TimeLimit

EFFORT = 40_000_000
MORE_EFFORT = 4_000_000
FIRST_EFFORT = 1_000_000
"""Limits of one query, in z3's own steps (about 2.5 million a second).

A limit in steps makes verdicts independent of the machine's load. At the limit z3 answers unknown, which never counts
as proved."""

MORE_SIZES = ((6, 8), (12, 16))
"""The numbers of objects of each sort that are tried where the axioms demand more than a few."""

MOST_SHOWN = 8
"""The largest number of objects of each sort in a counterexample. A search among more takes minutes, and nobody reads it."""


@dataclass(frozen=True)
class Answer:
    """The verdict on one obligation.

    It is refuted only in the initial state. A step that fails begins in a state that may be unreachable, so it leaves the
    obligation undetermined, with a counterexample.

    Attributes:
        obligation: what was to be proved.
        verdict: PROVED, UNDETERMINED, or REFUTED by the initial state.
        seconds: the time that it took.
        used: the invariants that the proof assumes.
        counterexample: a step that violates the property, from a state that no assumed invariant excludes.
        note: the reason of the verdict, if there is one.
        follows: the invariant follows from ``used`` in any one state, so the proof did not use the step.
    """

    obligation: Obligation
    verdict: Verdict
    seconds: float = field(compare=False)
    used: frozenset[str] = frozenset()
    counterexample: Counterexample | None = None
    note: str = ""
    follows: bool = False

    def as_json(self) -> dict[str, Any]:
        """The answer as ``prove --json`` prints it."""
        entry: dict[str, Any] = {
            "invariant": self.obligation.invariant,
            "action": self.obligation.action,
            "detail": self.obligation.detail,
            "verdict": str(self.verdict),
            "method": "induction",
            "scope": None,
            "seconds": round(self.seconds, 4),
        }
        if self.note:
            entry["note"] = self.note
        if self.counterexample is not None:
            entry["counterexample"] = self.counterexample.as_json()
        return entry


VIOLATED_AT_ONCE = "violated in the initial state"
"""The note of a refuted obligation."""


@dataclass(frozen=True)
class Induction:
    """All answers.

    The methods raise ``UserError`` for a name that is not a property of the model.

    Attributes:
        proof: the obligations of the model as formulas of the solver; internal.
        answers: the answers, in the order of the obligations.
        inductive: the invariants that every well-formed step keeps. They hold if the model is well-formed.
        bounds: the largest number of objects by sort, where the axioms bound it. There the proofs hold for no more.
    """

    proof: Proof = field(repr=False)
    answers: tuple[Answer, ...]
    inductive: frozenset[str]
    bounds: Mapping[str, int] = field(default_factory=dict)

    def of(self, prop: str) -> list[Answer]:
        """The answers on the obligations of one property; empty if :func:`prove` was not asked for it."""
        model = self.proof.model
        known = [WELL_FORMED, *(p.name for p in model.properties)]
        require("prop", prop, str, f"the name of one property, for example {known[-1]!r}")
        require_known("prop", "property", [prop], known, of=f"{model.system} {model.variant}")
        return self._by_property.get(prop, [])

    @cached_property
    def _by_property(self) -> dict[str, list[Answer]]:
        answers: dict[str, list[Answer]] = {}
        for answer in self.answers:
            answers.setdefault(answer.obligation.invariant, []).append(answer)
        return answers

    @property
    def well_formed(self) -> bool:
        """Whether every step is proved well-formed, here or by another proof."""
        return all(a.verdict is Verdict.PROVED for a in self.of(WELL_FORMED))

    def proved(self, prop: str) -> bool:
        """Whether the property holds for any number of objects.

        Then its own obligations and well-formedness are proved.

        False does not mean that the property is violated. It may need a lemma, or :func:`prove` was not asked for it.
        """
        return self.well_formed and self.kept(prop)

    def kept(self, prop: str) -> bool:
        """Whether every obligation of the property is proved, from inductive invariants only."""
        answers = self.of(prop)
        return bool(answers) and all(a.verdict is Verdict.PROVED for a in answers)

    def why_not(self, prop: str) -> Answer | None:
        """The answer that explains why the property is not proved, if possible one with a counterexample.

        The answer is one on well-formedness if the property's own obligations are proved. None if it has no obligation.
        """
        answers = self.of(WELL_FORMED if self.kept(prop) else prop)
        left = [a for a in answers if a.verdict is not Verdict.PROVED]
        return next((a for a in left if a.counterexample is not None), left[0] if left else None)

    def support(self, prop: str) -> frozenset[str]:
        """The invariants that the proof of a property rests on. These are its lemmas, those of ``well-formed``, and their lemmas.

        ``well-formed`` itself is not among them.

        Raises:
            UserError: the property is not proved.
        """
        if not self.proved(prop):
            raise UserError(f"property {prop!r} is not proved, so it has no support; ask proved({prop!r}) first")
        supporting: set[str] = set()
        todo = {prop, WELL_FORMED}
        while todo:
            used = {name for each in todo for answer in self._by_property.get(each, ()) for name in answer.used}
            todo = used - supporting
            supporting |= todo
        return frozenset(supporting)

    def lemmas(self, prop: str) -> list[str]:
        """The other invariants that the proofs of a property's own obligations use, in the order of the model."""
        used = {name for answer in self.of(prop) for name in answer.used} - {prop}
        return [p.name for p in self.proof.model.properties if p.name in used]

    def seconds(self, prop: str) -> float:
        """The time in seconds spent on the obligations of a property."""
        return sum(a.seconds for a in self.of(prop))

    def as_json(self) -> dict[str, Any]:
        """The names of the proved properties, and every answer as an entry of ``prove --json``."""
        model = self.proof.model
        return {
            "system": model.system,
            "variant": model.variant,
            "proved": [name for name in self._by_property if self.proved(name)],
            "obligations": [answer.as_json() for answer in self.answers],
        }


class Context:
    """The solvers for all obligations of an action, with each invariant behind a switch.

    ``solver`` has all objects, ``near`` only the relevant ones.
    """

    def __init__(
        self, proof: Proof, relevance: Relevance, context: Sequence[z3.BoolRef], cascade: Cascade | None = None
    ) -> None:
        self.proof, self.symbols, self.relevance, self.context = proof, proof.symbols, relevance, context
        self.near = _solver(proof, [relevance.limited(formula) for formula in context])
        self.near.add(
            *relevance.named(context), *relevance.references, *(relevance.witnesses(cascade) if cascade else ())
        )
        self.near.set("smt.ematching", True)
        self.near.set("smt.mbqi", False)
        self.switches: dict[str, z3.BoolRef] = {}
        self._assumed_before: Counter[str] = Counter()
        for name, formula in proof.assumed.items():
            self.assume(name, formula)
        self._context_facts = list(conjuncts(context))

    @cached_property
    def solver(self) -> Solver:
        """The solver with all objects; few obligations need it."""
        solver = _solver(self.proof, self.context)
        solver.add(*[Implies(self.switches[name], formula) for name, formula in self.proof.assumed.items()])
        return solver

    def assume(self, name: str, formula: z3.BoolRef) -> None:
        """Adds an invariant behind a switch, after the context was made."""
        # An invariant that was removed may have had the name: its formula stays behind the earlier switch.
        self._assumed_before[name] += 1
        number = self._assumed_before[name]
        called = f"assume {name}" if number == 1 else f"assume {name} {number}"
        switch = self.symbols.expressions.constant(called, z3.BoolSort(self.symbols.context))
        self.switches[name] = switch
        self.near.add(Implies(switch, self.relevance.limited(formula)))
        if "solver" in self.__dict__:  # it is made when it is first needed, with the invariants of the proof
            self.solver.add(Implies(switch, formula))

    def less_what_is_said(self, goal: z3.BoolRef) -> z3.BoolRef:
        """The goal without the conjuncts that the context contains: z3 would search for them among all instances."""
        expressions = self.symbols.expressions
        less = expressions.substituted(goal, self._context_facts, [expressions.true] * len(self._context_facts))
        return expressions.simplified(less) if self._context_facts else goal

    def ask(self, goal: z3.BoolRef, assume: Iterable[str], effort: int) -> tuple[str, frozenset[str]]:
        """z3's answer to whether the goal can be false, and the invariants in the unsat core."""
        return self._ask(self.solver, [Not(goal)], assume, effort)

    def ask_nearby(
        self, goal: z3.BoolRef, assumptions: Iterable[Iterable[str]], effort: int
    ) -> tuple[bool, frozenset[str]]:
        """Whether the goal follows from formulas about relevant objects, under one of ``assumptions``; with the core.

        False means unknown.
        """
        claims = list(self.relevance.negated(goal))
        for assume in assumptions:
            status, core = self._ask(self.near, claims, assume, effort)
            if status == "unsat":
                return True, core
        return False, frozenset()

    def _ask(
        self, solver: Solver, claims: Iterable[z3.BoolRef], assume: Iterable[str], effort: int
    ) -> tuple[str, frozenset[str]]:
        solver.limit(effort)
        solver.push()
        solver.add(*claims)
        status = solver.answer([self.switches[n] for n in assume])
        core = solver.core() if status == z3.unsat else set()
        solver.pop()
        return str(status), frozenset(n for n, switch in self.switches.items() if switch in core)

    def refute(self, goal: z3.BoolRef, assume: Iterable[str], effort: int, fewest: bool) -> SolverModel | None:
        """A state with few objects, or with ``fewest`` as few as possible, in which the goal is false."""
        self.solver.push()
        self.solver.add(Not(goal))
        model = small_model(
            self.solver, self.symbols, effort, [self.switches[n] for n in assume], fewest=fewest, sizes=self.proof.sizes
        )
        self.solver.pop()
        return model


def _solver(proof: Proof, formulas: Iterable[z3.BoolRef]) -> Solver:
    solver = Solver(proof.symbols.expressions, proof.time_limit)
    solver.set("random_seed", 1)
    solver.set("ctrl_c", False)  # otherwise z3 swallows an interrupt, and the proof continues
    # Instantiation by patterns loops here (a cell's group, that group's cell, ...).
    # Instantiation by models answers every obligation, most of them in milliseconds.
    solver.set("smt.ematching", False)
    solver.add(*formulas)
    return solver


def prove(
    model: Model,
    *,
    every: bool = True,
    only: Collection[str] = (),
    known: Collection[str] = (),
    apart: Collection[str] = (),
    progress: Callable[[int, int], None] | None = None,
    time_limit: TimeLimit = NO_LIMIT,
) -> Induction:
    """Proves as many properties of ``model`` as it can, for any number of objects.

    Args:
        model: the model.
        every: ask every obligation; if False, skip the rest of a property once one of its obligations has failed.
        only: just these properties, the invariants that their proofs assume, and well-formedness; () means all.
        known: properties that an earlier proof of a model with the same rules has proved. They are assumed and not proved
            again. If one of them does not hold, neither do the answers.
        apart: properties that no proof assumes but their own.
        progress: called with (obligations answered, obligations).
        time_limit: what is not answered by then is undetermined.

    Raises:
        UserError: a name of ``only`` or ``known`` is unknown, or one of ``only`` is of a property that induction cannot prove.
        ModelError: no small set of objects satisfies the axioms. A contradiction would prove every property.
    """
    _require_provable(checked(model), only, known, apart)
    require("every", every, bool, "True or False")
    require_function("progress", progress, "progress=print")
    with gc_paused():
        proof = replace(obligations(model, known), time_limit=time_limit)
        return _prove(proof, every, only, frozenset(apart), progress)


def _require_provable(model: Model, only: Collection[str], known: Collection[str], apart: Collection[str]) -> None:
    name_of_model = f"{model.system} {model.variant}"
    names = [WELL_FORMED, *(p.name for p in model.properties)]
    for argument, value in (("only", only), ("known", known), ("apart", apart)):
        require_known(argument, "property", value, names, of=name_of_model)
    for name in only:
        if name in known:
            raise UserError(
                f"property {name!r} is in known, so it is not proved again; leave it out of only or of known"
            )
        if name not in provable(model):
            kind = model.property(name).kind
            raise UserError(
                f"property {name!r} of {name_of_model} is of the kind {kind!r}, which induction cannot prove; "
                "check it with model_check"
            )


def _prove(
    proof: Proof,
    every: bool,
    only: Collection[str],
    apart: frozenset[str],
    progress: Callable[[int, int], None] | None,
) -> Induction:
    solver = _solver(proof, proof.always)
    proof = replace(proof, sizes=_sizes(proof, solver))
    model, limits = proof.model, bounds(proof, solver)
    doubtful = frozenset(model.refuted & proof.assumed.keys())
    every_property = frozenset(o.invariant for o in proof.obligations)
    asked = frozenset(only) | (every_property & {WELL_FORMED}) if only else every_property
    first = _settle(proof, doubtful | apart, every, asked, progress)
    answered = {answer.obligation.invariant for answer in first.answers}
    if not doubtful or all(first.kept(name) is (name not in model.refuted) for name in answered):
        return replace(first, bounds=limits)
    # An invariant that is expected to fail may hold, and other proofs may need it.
    second = _settle(proof, apart, every, asked | doubtful, progress, first.answers)
    return replace(second if any(second.kept(name) for name in doubtful) else first, bounds=limits)


def _sizes(proof: Proof, solver: Solver) -> tuple[int, ...]:
    """The numbers of objects of each sort that counterexamples may have: more if the axioms demand more.

    The axioms of timers demand one of each kind.

    Raises:
        ModelError: no small set of objects satisfies the axioms.
    """
    model = proof.model
    for sizes in (SIZES, *MORE_SIZES):
        if small_model(solver, proof.symbols, EFFORT, fewest=False, sizes=sizes) is not None:
            return sizes if sizes[-1] <= MOST_SHOWN else SIZES
        solver.limit(MORE_EFFORT)
        if solver.answer([]) == z3.unsat:
            break
        if proof.time_limit.reached():
            return SIZES
    place = model.premises[0].place if model.premises else model.place
    problem = f"no system of up to {MORE_SIZES[-1][-1]} objects a sort satisfies them"
    what = "axioms and assumptions" if model.assuming else "axioms"
    raise ModelError(f"{what} of {model.system} {model.variant}", place, problem, f"correct the {what}")


def _settle(
    proof: Proof,
    doubtful: frozenset[str],
    every: bool,
    asked: frozenset[str],
    progress: Callable[[int, int], None] | None,
    earlier: Iterable[Answer] = (),
) -> Induction:
    """Answers the obligations of ``asked`` and of what their proofs assume, until no proof uses a failed invariant.

    ``doubtful`` invariants are assumed for their own obligations only.
    False invariants together leave hardly anything to refute, and every proof that used them would have to be repeated.
    The proofs among ``earlier`` answers are kept as long as no invariant that they use fails.
    """
    prover = _Prover(proof, doubtful, asked, every, [a for a in earlier if a.verdict is Verdict.PROVED])
    while work := prover.unanswered(every):
        for obligation in work:
            if every or obligation.invariant not in prover.failed:
                prover.try_fast_path(obligation)
            if progress:
                progress(len(prover.answers), prover.total)
        lost = prover.drop_failed()
        # Hard obligations are worth their time only when the set has settled.
        while not lost and (hard := prover.unanswered(every)):
            prover.thoroughly(hard[0])
            lost = prover.drop_failed()
        prover.ask_what_is_assumed()
    needed = prover.needed(asked)
    answers = tuple(
        prover.answers[o.name] for o in proof.obligations if o.name in prover.answers and o.invariant in needed
    )
    return Induction(proof, answers, frozenset((prover.inductive - prover.unasked) & needed))


class _Prover:
    """The invariants that are still considered inductive, and the answers so far."""

    def __init__(
        self,
        proof: Proof,
        doubtful: frozenset[str],
        asked: frozenset[str],
        every: bool,
        earlier: Sequence[Answer] = (),
    ) -> None:
        self.proof, self._every = proof, every
        self._asked = asked
        self.inductive = set(proof.assumed) - doubtful
        self.answers: dict[str, Answer] = {a.obligation.name: a for a in earlier}
        self.failed: set[str] = set()
        """The properties with an obligation that is not proved. Its answer stays, since it assumes no invariant."""
        self._counts = Counter(o.invariant for o in proof.obligations)
        self._contexts: dict[int, Context] = {}
        self._spent: dict[str, float] = {}
        # With those of earlier proofs, so that two invariants never follow from each other.
        self._derived: dict[str, frozenset[str] | None] = {a.obligation.invariant: a.used for a in earlier if a.follows}
        self._relevance = Relevance(proof.symbols)
        self._alone = Context(proof, self._relevance, proof.axioms)

    def _context(self, obligation: Obligation) -> Context:
        key = id(obligation.context)
        if key not in self._contexts:
            # Obligations about the state before any step need no cascade.
            cascade = None if obligation.context is self.proof.always else self.proof.cascades.get(obligation.action)
            self._contexts[key] = Context(self.proof, self._relevance, obligation.context, cascade)
        return self._contexts[key]

    def _answer(
        self,
        obligation: Obligation,
        start: float,
        verdict: Verdict,
        used: frozenset[str] = frozenset(),
        counterexample: Counterexample | None = None,
        note: str = "",
        follows: bool = False,
    ) -> None:
        self._spend(obligation, start)
        if verdict is not Verdict.PROVED:
            self.failed.add(obligation.invariant)
            if leaves_counts(self.proof.model, obligation.invariant):
                verdict, counterexample, note = Verdict.UNDETERMINED, None, LEFT
        self.answers[obligation.name] = Answer(
            obligation, verdict, self._spent[obligation.name], used, counterexample, note, follows
        )

    def _spend(self, obligation: Obligation, start: float) -> None:
        before = self._spent.get(obligation.name, 0.0)
        self._spent[obligation.name] = before + time.perf_counter() - start

    def _assumed(self, obligation: Obligation) -> list[str]:
        itself = {obligation.invariant} & self.proof.assumed.keys()
        return sorted(self.inductive | itself) if obligation.inductive else []

    def try_fast_path(self, obligation: Obligation) -> None:
        """Tries the fast paths on an obligation; it may stay unanswered.

        Most steps leave the fields that an invariant reads unchanged, so assuming that invariant is enough.
        Most other proofs need only the objects that the step names.
        Of the rest, an invariant often follows from others that hold after the step.
        A false claim is refuted with few objects.
        """
        start = time.perf_counter()
        if self._unchanged(obligation):
            return self._answer(obligation, start, Verdict.PROVED, frozenset({obligation.invariant}))
        if why := self.proof.time_limit.reached():
            return self._answer(obligation, start, Verdict.UNDETERMINED, note=why)
        context = self._context(obligation)
        goal = context.less_what_is_said(obligation.goal)
        assume = self._assumed(obligation)
        alone = [n for n in assume if n == obligation.invariant]
        hinted = bool(self._hints(obligation.invariant))
        if not (hinted and self._follows(obligation) is not None):
            proved, used = context.ask_nearby(goal, (alone, assume), FIRST_EFFORT)
            if proved:
                return self._answer(obligation, start, Verdict.PROVED, used)
        if (others := self._follows(obligation)) is not None:
            note = f"follows from {', '.join(sorted(others)) or 'the axioms'}"
            return self._answer(obligation, start, Verdict.PROVED, others, note=note, follows=True)
        for effort in (FIRST_EFFORT // 2, MORE_EFFORT):
            # Readers want few objects; without all answers, nobody reads how an expected failure fails.
            fewest = self._every or obligation.invariant not in self.proof.model.refuted
            fewest = fewest and self.proof.sizes == SIZES  # to leave out some of many takes minutes
            refuted = context.refute(goal, assume, effort, fewest)
            if refuted is not None:
                example = shown(self.proof, obligation, *refuted)
                at_once = obligation.action == INITIAL and obligation.invariant in self.proof.assumed
                verdict = Verdict.REFUTED if at_once else Verdict.UNDETERMINED
                note = VIOLATED_AT_ONCE if at_once else NOT_INDUCTIVE
                return self._answer(obligation, start, verdict, counterexample=example, note=note)
            status, used = context.ask(goal, assume, effort)
            if status == "unsat":
                return self._answer(obligation, start, Verdict.PROVED, used)
        return self._spend(obligation, start)

    def _unchanged(self, obligation: Obligation) -> bool:
        """Whether the step writes no field that the invariant reads: then it is the same before and after."""
        before = self.proof.stated.get(obligation.invariant)
        return obligation.inductive and before is not None and obligation.goal is before

    def _hints(self, name: str) -> Sequence[str]:
        """The invariants that the model declares as ``follows_from`` of a property."""
        return getattr(self.proof.model.property(name), "follows_from", ()) if name in self.proof.assumed else ()

    def _follows(self, obligation: Obligation) -> frozenset[str] | None:
        """The invariants of the set from which the obligation's own invariant follows, in any one state.

        They hold after the step, so the invariant does too. None of them follows from it, directly or through others.
        """
        name = obligation.invariant
        if name not in self.inductive or not obligation.inductive:
            return None
        if name not in self._derived:
            others = self.inductive - {name} - self._resting_on(name)
            hints = others & set(self._hints(name))
            self._derived[name] = None
            for some, effort in [*([(hints, MORE_EFFORT)] if hints else []), (others, FIRST_EFFORT)]:
                if self._derived[name] is None:
                    proved, core = self._alone.ask_nearby(self.proof.stated[name], [sorted(some)], effort)
                    self._derived[name] = core if proved else None
        return self._derived[name]

    def _resting_on(self, name: str) -> set[str]:
        """The invariants that follow from ``name``, directly or through others."""
        resting: set[str] = set()
        while more := {
            n for n, core in self._derived.items() if core is not None and n not in resting and core & {name, *resting}
        }:
            resting |= more
        return resting

    def thoroughly(self, obligation: Obligation) -> None:
        """Answers an obligation with all invariants that may be assumed, within the full effort limit."""
        start = time.perf_counter()
        status, used = self._context(obligation).ask(obligation.goal, self._assumed(obligation), EFFORT)
        if status == "unsat":
            return self._answer(obligation, start, Verdict.PROVED, used)
        note = self.proof.time_limit.reached() or f"z3 answers {status}"
        return self._answer(obligation, start, Verdict.UNDETERMINED, note=note)

    @property
    def unasked(self) -> set[str]:
        """The properties whose obligations are not to be asked."""
        return self._counts.keys() - self._asked

    @property
    def total(self) -> int:
        """The number of obligations to ask."""
        return sum(self._counts[name] for name in self._asked)

    def unanswered(self, every: bool) -> list[Obligation]:
        """The obligations to ask that have no answer yet; without ``every``, failed properties are left out."""
        asked = self._asked if every else self._asked - self.failed
        return [o for o in self.proof.obligations if o.invariant in asked and o.name not in self.answers]

    def ask_what_is_assumed(self) -> None:
        """Adds the invariants that the answers assume to the properties to ask."""
        self._asked |= {name for answer in self.answers.values() for name in answer.used}

    def needed(self, asked: frozenset[str]) -> frozenset[str]:
        """The properties of ``asked``, with those that their proofs use; all if one failed, since others may be the cause."""
        if asked & self.failed:
            return frozenset(self._counts)
        needed: frozenset[str] = frozenset()
        more = asked
        while more:
            needed |= more
            used = [a.used for a in self.answers.values() if a.obligation.invariant in more]
            more = frozenset().union(*used) - needed
        return needed

    def drop_failed(self) -> bool:
        """Removes failed invariants from the set and discards every proof that used them.

        Returns:
            Whether any invariant was removed.
        """
        lost = self.failed & self.inductive
        self.inductive -= lost
        if lost:
            self._derived = {n: core for n, core in self._derived.items() if core is not None and not core & lost}
            for name in [n for n, a in self.answers.items() if a.used & lost]:
                del self.answers[name]
        return bool(lost)

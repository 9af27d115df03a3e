"""Strengthens many properties of one model, each from itself alone, and learns everything once.

The properties share what is expensive and belongs to none of them: explored scopes, solvers, and lemmas. A lemma that was
inferred for one property is a candidate for the next, and those of another variant are candidates, too. No property is
assumed by the proof of another one: ``prove(apart=...)`` proves all of them from scratch, from the lemmas only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Invariant, Model, ModelError
from schedproof.model.lang.check import checked
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.lang.wording import show_term
from schedproof.model.semantics import instances
from schedproof.proofs.checking.slices import Slices
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.induction import Induction, Recheck, prove, recheck
from schedproof.proofs.induction.obligations import closed

from .columns import States, has_column
from .features import Vocabulary, mined
from .generalize import generalize
from .infer import Inference, Lemma, Limits, true_of, vocabularies
from .prover import Prover
from .random_runs import random_runs
from .run import Inferred, Strengthened, why_left, without_auxiliary
from .samples import Samples, Violation, history_of
from .scopes import grow

FOR_ALL = 10
"""Well-formedness has so many times the time of a property."""

Report = Callable[[str], None]
History = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Together:
    """What became of many properties of a model.

    Attributes:
        results: one for each property. Those that are proved share a proof from scratch.
        lemmas: what was inferred and is inductive without the properties: candidates for another variant.
        from_variants: how many lemmas another variant gave.
        seconds: the processor time, of which ``checking`` was that of the proof from scratch, with cvc5.
    """

    results: Sequence[Strengthened]
    lemmas: Sequence[Lemma] = field(repr=False)
    from_variants: int = 0
    seconds: float = 0.0
    checking: float = 0.0


@dataclass(frozen=True)
class _Search:
    """How the search for the lemmas of one property ended: with lemmas, or with why not.

    Attributes:
        lemmas: the names.
        alone: the proof from scratch, if lemmas rest on the property itself, so no other may use them.
    """

    prop: str
    seconds: float
    lemmas: Sequence[str] = ()
    alone: Strengthened | None = None
    why: str = ""
    violation: Violation | None = None


def strengthen_each(
    model: Model,
    props: Sequence[str],
    *,
    seconds: float = 60.0,
    limits: Limits | None = None,
    candidates: Sequence[Lemma] = (),
    halt: Callable[[], str] = lambda: "",
    report: Report = lambda text: None,
) -> Together:
    """Infers auxiliary invariants for each of some properties, none of which is assumed for another.

    Args:
        props: their names.
        seconds: the processor time to search for the lemmas of one property; well-formedness has
            :data:`FOR_ALL` times as much, since all rest on it.
        candidates: lemmas of another variant.
    """
    start = _spent()
    session = _Session(
        model.asking([model.property(name) for name in props]), limits or Limits(), seconds, halt, report
    )
    with gc_paused():
        from_variants = session.take(candidates)
        session.strengthen(WELL_FORMED)
        searches = [session.strengthen(name) for name in props]
    checking = _spent()
    report("proves everything from scratch")
    results = list(session.checked(searches))
    end = _spent()
    return Together(results, list(session.lemmas.values()), from_variants, end - start, end - checking)


def _spent() -> float:
    """The processor time so far, with that of processes that have ended: cvc5 has one of its own."""
    return sum(os.times()[:4])


class _Session:
    """The lemmas so far, and what they were learnt from.

    Attributes:
        lemmas: those that are proved, by name; no property is assumed by their proofs, which are ``proofs``.
    """

    def __init__(self, model: Model, limits: Limits, seconds: float, halt: Callable[[], str], report: Report) -> None:
        self.model, self.limits, self.seconds, self.halt, self.report = model, limits, seconds, halt, report
        self.prover = Prover(model, withhold=True)
        self.lemmas: dict[str, Lemma] = {}
        self.proofs: dict[str, frozenset[str]] = {}
        self._explored: dict[History, Samples] = {}
        self._runs: dict[int, Sequence[States]] = {}
        self._violations: dict[str, Violation] = {}
        self._learnt: dict[tuple[History, tuple[str, ...]], tuple[Samples, list[Vocabulary]]] = {}
        self._used_names = frozenset(p.name for p in model.properties)

    def take(self, candidates: Sequence[Lemma]) -> int:
        """Keeps the lemmas of another model that are inductive here, too."""
        if not candidates:
            return 0
        inference = self._inference(WELL_FORMED, self.halt)
        for lemma in candidates:
            if lemma.prop.name in self._used_names or not self._fits(lemma.prop, inference.samples):
                continue
            formulas = self.prover.translated(lemma.prop)
            if self.prover.begins(formulas):
                self.prover.add(lemma.prop.name, formulas)
                inference.lemmas[lemma.prop.name] = replace(lemma, obligations=formulas.obligations, excludes=None)
        self.report(f"tries {len(inference.lemmas)} lemmas of another variant")
        self._keep(inference)
        return len(self.lemmas)

    def _fits(self, prop: Invariant, samples: Samples) -> bool:
        """Whether the model has all that an invariant reads, and no sample violates it."""
        if not has_column(closed(prop)):
            return False
        try:
            checked(self.model.asking([prop]))
        except ModelError:
            return False
        return all(true_of(prop, states) for states in samples.states)

    def strengthen(self, prop: str) -> _Search:
        """Searches for the lemmas of a property, or of well-formedness."""
        start = time.process_time()
        seconds = self.seconds * (FOR_ALL if prop == WELL_FORMED else 1)

        def stop() -> str:
            return self.halt() or (f"{seconds:g} s" if time.process_time() - start > seconds else "")

        def ended(search: _Search) -> _Search:
            return replace(search, seconds=time.process_time() - start)

        self._states(self._history(prop))
        violation = self._violations.get(WELL_FORMED) or self._violations.get(prop)
        if violation is not None:
            return ended(_Search(prop, 0.0, why=f"violated at {violation.scope}", violation=violation))
        inference = self._inference(prop, stop)
        self.prover.assume_of_model(prop)
        earlier = set(self.lemmas)
        complete = inference.run()
        search = _Search(prop, 0.0, why="" if complete else stop() or why_left(inference))
        if complete:
            self.report(f"{prop}: drops what is not needed")
            generalize(inference, inference.lemmas.keys() - earlier)
            needed = inference.needed()
            search = replace(search, lemmas=[name for name in inference.lemmas if name in needed])
            resting = [each for name in needed for each in inference.lemmas[name].obligations]
            if any(prop in inference.proofs[each.name] for each in resting):
                search = replace(search, alone=self._alone(prop, inference, search.lemmas))
        self._keep(inference)
        return ended(search)

    def _inference(self, prop: str, stop: Callable[[], str]) -> Inference:
        """An inference that has the lemmas and proofs of the session, and changes them."""
        asked = without_auxiliary(self.model, prop)
        samples, words = self._learnt_for(asked, self._history(prop))
        inference = Inference(
            asked, samples, self.limits, stop, self.report, used_names=self._used_names, shared=self.prover,
            vocabularies=words, lemmas=self.lemmas, proofs=self.proofs,
        )  # fmt: skip
        return inference

    def _keep(self, inference: Inference) -> None:
        """Keeps what an inference proved without its property."""
        inference.keep_inductive()
        self.lemmas, self.proofs = inference.lemmas, inference.proofs

    def _history(self, prop: str) -> History:
        if prop != WELL_FORMED:
            return history_of(self.model, self.model.property(prop), None)
        some = next(instances(self.model, {}), None)
        return Slices(some).fragile if some is not None else frozenset()

    def _states(self, history: History) -> Samples:
        """The samples with these history attributes. The properties that they violate are noted."""
        if history not in self._explored:
            watched = [p for p in self.model.properties if self._history(p.name) == history]
            samples = self._explored[history] = Samples(self.model.asking([]), history, runs=self._random_runs)
            while (violation := grow(samples, watched, None, self.halt, self.report)) is not None:
                self._violations[violation.prop] = violation
                if violation.prop == WELL_FORMED:
                    break
                watched = [p for p in watched if p.name not in self._violations]
        return self._explored[history]

    def _random_runs(self, model: Model, history: History, halt: Callable[[], str], seed: int) -> Iterable[States]:
        """A round of random runs: all properties have the same ones, each with the history attributes that it reads."""
        if seed not in self._runs:
            every = frozenset().union(*(self._history(name) for name in [WELL_FORMED, *self._used_names]))
            runs = list(random_runs(model, every, halt, seed))
            if halt():  # it may lack some
                return [each.keeping(history) for each in runs]
            self._runs[seed] = runs
        return [each.keeping(history) for each in self._runs[seed]]

    def _learnt_for(self, asked: Model, history: History) -> tuple[Samples, list[Vocabulary]]:
        """Samples with the vocabulary of a property. Most properties add no formula to that of the model."""
        key = history, tuple(sorted({show_term(each) for each in mined(asked)}))
        if key not in self._learnt:
            states = self._states(history)
            samples = Samples(
                asked, history, states.states, scopes=states.scopes, complete=states.complete, rounds=states.rounds,
                runs=self._random_runs,
            )  # fmt: skip
            self._learnt[key] = samples, vocabularies(asked, samples)
        return self._learnt[key]

    def _alone(self, prop: str, inference: Inference, names: Sequence[str]) -> Strengthened:
        model = self.model.asking([self.model.property(prop), *(inference.lemmas[name].prop for name in names)])
        induction = prove(model, only=[prop, *names])
        return self._result(prop, induction, inference.lemmas, list(recheck(induction)))

    def checked(self, searches: Iterable[_Search]) -> Iterator[Strengthened]:
        """The results, with one proof from scratch for all that rest on lemmas that rest on no property."""
        searches = list(searches)
        shared = [each for each in searches if not each.why and each.alone is None]
        names = {name for each in shared for name in each.lemmas}
        lemmas = [lemma.prop for name, lemma in self.lemmas.items() if name in names]
        goals = [each.prop for each in shared]
        if goals:
            model = self.model.asking([*map(self.model.property, goals), *lemmas])
            induction = prove(model, apart=goals, every=False)
            self.report("asks cvc5")
            rechecks = list(recheck(induction))
        for each in searches:
            if each.alone is not None:
                result = each.alone
            elif each.why:
                scopes = self._states(self._history(each.prop)).scopes
                result = Strengthened(each.prop, self.model, violation=each.violation, why=each.why, scopes=scopes)
            else:
                result = self._result(each.prop, induction, self.lemmas, rechecks)
            yield replace(result, seconds=each.seconds)

    def _result(
        self, prop: str, induction: Induction, lemmas: dict[str, Lemma], rechecks: Sequence[Recheck]
    ) -> Strengthened:
        samples = self._states(self._history(prop))
        proved = induction.proved(prop)
        names = induction.support(prop) - {prop} if proved else frozenset()
        answers = [each for each in rechecks if each.answer.obligation.invariant in {prop, WELL_FORMED, *names}]
        model = self.model.asking([self.model.property(prop), *(lemmas[n].prop for n in lemmas if n in names)])
        inferred = [Inferred(lemmas[name].prop, induction.lemmas(name)) for name in lemmas if name in names]
        why = "" if proved else "what was inferred is not proved from scratch"
        return Strengthened(
            prop,
            model,
            inferred,
            induction=induction,
            rechecks=answers,
            why=why,
            scopes=samples.scopes,
            complete=samples.complete,
        )

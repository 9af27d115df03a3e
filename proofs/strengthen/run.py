"""Strengthens the properties of a model: infers auxiliary invariants, minimizes them, and proves everything from scratch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from schedproof.model.lang import Invariant, Model, Property
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import ScopeError, scope_text
from schedproof.proofs.gc_paused import gc_paused
from schedproof.proofs.induction import Induction, Recheck, TimeLimit, prove, recheck
from schedproof.proofs.verdict import Counterexample

from .generalize import generalize
from .infer import Inference, Limits
from .prover import Step
from .samples import Samples, Violation, history_of
from .scopes import SECONDS, grow
from .wording import renamed

Report = Callable[[str], None]

ORDINARY = Limits()
"""The limits of clauses that are not chosen."""

EXPLORE, SEARCH = 0.5, 0.8
"""The parts of the time after which exploration ends, and the search. What is left is for the proof from scratch, and cvc5."""


@dataclass(frozen=True)
class Inferred:
    """An auxiliary invariant that was inferred.

    Attributes:
        relative_to: the invariants that the proof of this one assumes.
        excludes: the counterexample to induction that it was inferred from.
    """

    prop: Invariant
    relative_to: Sequence[str]
    excludes: Counterexample | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Strengthened:
    """What became of one property.

    Attributes:
        model: the model with the property and what was inferred.
        inferred: the auxiliary invariants; if the property is not proved, those that are inductive nevertheless.
        unproved: further ones that nothing excludes yet, if there was no time to prove them from scratch.
        induction: the proof from scratch.
        rechecks: cvc5's answers to the obligations of that proof; to the first ones, if there was no time for all.
        violation: a run that violates the property.
        left: the counterexample to induction that no clause excludes.
        why: why the property is not proved; "" if it is.
        scopes: the explored scopes, each with its number of representatives.
        complete: whether every state of each scope is a sample.
    """

    prop: str
    model: Model
    inferred: Sequence[Inferred] = ()
    unproved: Sequence[Invariant] = ()
    induction: Induction | None = field(default=None, repr=False)
    rechecks: Sequence[Recheck] = ()
    violation: Violation | None = None
    left: Counterexample | None = None
    why: str = ""
    scopes: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    seconds: float = field(default=0.0, compare=False)

    @property
    def proved(self) -> bool:
        """Whether the property is proved, from scratch."""
        return self.induction is not None and self.induction.proved(self.prop) and not self.disagreements

    @property
    def not_rechecked(self) -> int:
        """The number of obligations about what was inferred that there was no time to ask cvc5."""
        return len(self.induction.answers) - len(self.rechecks) if self.inferred and self.induction is not None else 0

    @property
    def disagreements(self) -> list[Recheck]:
        """The obligations on which cvc5 contradicts z3."""
        return [each for each in self.rechecks if each.agrees is False]


def without_auxiliary(model: Model, prop: str) -> Model:
    """The model with one property only, or with none for well-formedness: its proof may assume no other invariant."""
    return model.asking([] if prop == WELL_FORMED else [model.property(prop)])


def strengthen(
    model: Model,
    prop: str,
    *,
    seconds: float = 300.0,
    scope: Mapping[str, int] | None = None,
    limits: Limits = ORDINARY,
    used_names: Collection[str] = (),
    halt: Callable[[], str] = lambda: "",
    report: Report = lambda text: None,
) -> Strengthened:
    """Infers auxiliary invariants that make a property inductive for any number of objects.

    Args:
        model: the model. Its other invariants are assumed where they are inductive.
        prop: the name of the property: an invariant, a step invariant or a recovery; or ``well-formed``.
        seconds: the time limit of everything, the proof from scratch and cvc5 included.
        scope: the scope to learn from; by default scopes grow.
        limits: how large clauses may be.
        used_names: names that nothing inferred may have besides those of the model's properties.
        halt: returns why to stop, or "".
        report: called with what is being done.

    Raises:
        UserError, ModelError: as :func:`schedproof.proofs.induction.prove`.
    """
    limit = TimeLimit(seconds, halt)
    stop = limit.share(SEARCH).reached

    def ended(result: Strengthened) -> Strengthened:
        return replace(result, seconds=limit.seconds - limit.left)

    report("proves what is inductive by itself")
    base = prove(model, every=False, only=[prop], time_limit=limit)
    if base.proved(prop):
        return ended(Strengthened(prop, model, induction=base))
    if why := stop():
        return ended(Strengthened(prop, model, why=why))
    goal = None if prop == WELL_FORMED else model.property(prop)
    watched = [] if goal is None else [goal]
    given = [p for p in model.properties if p.name in base.inductive and p.name != prop]
    names = frozenset(p.name for p in model.properties).union(used_names)
    known = frozenset(p.name for p in given) | ({WELL_FORMED} if base.well_formed else set())
    asked = model.asking([*watched, *given])
    samples = Samples(asked, history_of(asked, goal, scope), halt=stop)
    with gc_paused():
        violation = grow(samples, watched, scope, limit.share(EXPLORE).reached, report)
        if violation is not None:
            why = f"violated at {violation.scope}"
            return ended(Strengthened(prop, asked, violation=violation, why=why, scopes=samples.scopes))
        inference = Inference(asked, samples, limits, stop, report, known, names, limit)
        complete = inference.run()
        why = "what was inferred is not proved from scratch" if complete else stop() or why_left(inference)
        candidates = [lemma.prop for lemma in inference.lemmas.values()]
        left = inference.left
        if left is not None and left[1] is not None and (violation := _of_its_size(samples, watched, left[1], stop)):
            why = f"violated at {violation.scope}"
            return ended(Strengthened(prop, asked, violation=violation, why=why, scopes=samples.scopes))
        if complete:
            report("drops what is not needed")
            generalize(inference, inference.lemmas)
        else:
            inference.keep_inductive()
        lemmas = list(inference.lemmas.values())
        inferred = renamed([lemma.prop for lemma in lemmas], names)
        excluded = [inference.prover.shown(lemma.excludes) if lemma.excludes else None for lemma in lemmas]
        shown_left = inference.prover.shown(left[1]) if left is not None and left[1] is not None else None
    goals = [prop] if complete else []
    strengthened = asked.asking([*asked.properties, *inferred])
    result = Strengthened(
        prop, strengthened, left=shown_left, why=why, scopes=samples.scopes, complete=samples.complete
    )
    if not goals and not inferred:
        return ended(replace(result, unproved=renamed(candidates, names) if stop() else ()))
    report("proves everything from scratch")
    induction = prove(strengthened, only=[*goals, *(each.name for each in inferred)], time_limit=limit)
    why = limit.reached() or why
    report("asks cvc5")
    rechecks = list(recheck(induction, time_limit=limit))
    added = [
        Inferred(each, induction.lemmas(each.name), run)
        for each, run in zip(inferred, excluded, strict=True)
        if induction.kept(each.name)
    ]
    result = replace(result, inferred=added, induction=induction, rechecks=rechecks, why=why)
    if result.proved:
        return ended(replace(result, why=""))
    says = {each.prop.says for each in added}
    left_out = [p for p in candidates if p.says not in says] if stop() else []
    return ended(replace(result, unproved=renamed(left_out, {*names, *(each.prop.name for each in added)})))


def _of_its_size(
    samples: Samples, watched: Sequence[Property], step: Step, stop: Callable[[], str]
) -> Violation | None:
    """A run that violates a property at the scope of the state that is left, which may be larger than all that were explored."""
    scope = {sort.name: max(1, step.instance.sizes[sort.name]) for sort in samples.model.sorts}
    if scope_text(scope) in samples.scopes or stop():
        return None
    with suppress(ScopeError):
        return samples.explore(scope, TimeLimit(SECONDS, stop).reached, watched)
    return None


def why_left(inference: Inference) -> str:
    """Why an inference proved not all of its goals."""
    if inference.left is None:
        return "what was inferred is not proved from scratch"
    obligation, step = inference.left
    if step is None:
        return f"z3 does not know whether {obligation.name} holds"
    limits = inference.limits
    size = f"no clause of up to {limits.literals} literals about up to {limits.variables} objects, {limits.together} of both together,"
    if inference.dropped:
        size += f" other than {len(inference.dropped)} that had to be dropped,"
    return f"{size} was found that holds at the explored scopes and excludes the state before {obligation.name}"

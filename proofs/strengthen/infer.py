"""Infers invariants that make properties inductive, led by counterexamples to induction.

Each counterexample is a state before a step. If no sample looks like it, a clause that is true of all samples excludes it.
That clause becomes a lemma, with obligations of its names. A lemma that meets a counterexample which no clause excludes is
dropped. Nothing here is trusted: see :mod:`.run`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from schedproof.model.lang import Invariant, Model
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.proofs.induction import NO_LIMIT, Obligation, TimeLimit
from schedproof.proofs.induction.obligations import Added, closed

from .columns import States, Unsupported
from .cubes import Clause, Difference
from .features import Template, Vocabulary, sorts_of
from .prover import Prover, Step
from .rows import OutOfTime, Rows, every_row
from .samples import Samples
from .wording import invariant

SOMEBODY = 2
"""Clauses with "somebody refers to it" are about so many objects or fewer."""

OUTSIDE = 2
"""So much larger counts a clause about sorts that have nothing to do with the step."""

DOUBTFUL = 3
"""So much larger counts a clause of which samples seldom suffice to show that it does not hold."""

MOST_FAILING = 5
"""From this number of obligations that are not soon proved on, a candidate is no better than one with more."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Limits:
    """How large clauses may be.

    Attributes:
        literals: the most literals.
        variables: the most variables of sorts with many objects.
        together: the most literals and variables together.
        for_a_lemma: the most clauses that a lemma may need at one step.
        candidates, alike, larger: for each counterexample, how many clauses are tried for being inductive by themselves, how
            many of them of one size, and how much larger they are than the smallest.
    """

    literals: int = 5
    variables: int = 5
    together: int = 7
    for_a_lemma: int = 12
    candidates: int = 20
    alike: int = 6
    larger: int = 1


@dataclass(frozen=True)
class Lemma:
    """An invariant that was inferred.

    Attributes:
        excludes: the counterexample to induction that it was inferred from; None if it was inferred for another model.
    """

    prop: Invariant
    obligations: tuple[Obligation, ...]
    clause: Clause
    excludes: Step | None = field(default=None, repr=False)


def vocabularies(model: Model, samples: Samples) -> list[Vocabulary]:
    """The vocabularies of a model, those that are tried first at the front."""
    return [Vocabulary(model, samples.history, exists) for exists in (False, True)]


@dataclass(frozen=True)
class Choice:
    """A clause that excludes a state.

    Attributes:
        failing: how many of its obligations are not soon proved; at most :data:`MOST_FAILING`.
    """

    clause: Clause
    prop: Invariant
    formulas: Added = field(repr=False)
    failing: int = 0


@dataclass
class Inference:
    """The lemmas so far, and what is proved from them.

    Attributes:
        model: its properties are the goals, and invariants that may be assumed.
        given: the names of the latter.
        used_names: names that no lemma may have besides those of the model's properties.
        time_limit: when z3 stops. ``stop`` ends the search before.
        lemmas: by name.
        proofs: the obligations that are proved, by name, each with the invariants that the proof uses.
        shared: the prover of a model with more goals than these.
        vocabularies: by default those of the model.
        dropped: the keys of clauses that were lemmas, and are not inductive.
        left: the goal that no lemma was found for, and the state that is left, if z3 gave one.
    """

    model: Model
    samples: Samples
    limits: Limits
    stop: Callable[[], str]
    report: Report
    given: frozenset[str] = frozenset()
    used_names: frozenset[str] = frozenset()
    time_limit: TimeLimit = NO_LIMIT
    lemmas: dict[str, Lemma] = field(default_factory=dict)
    proofs: dict[str, frozenset[str]] = field(default_factory=dict)
    shared: Prover | None = field(default=None, repr=False)
    vocabularies: Sequence[Vocabulary] = ()
    dropped: set[str] = field(default_factory=set)
    left: tuple[Obligation, Step | None] | None = None

    def __post_init__(self) -> None:
        self.prover = self.shared or Prover(self.model, self.given, self.time_limit)
        self._known = {p.name for p in self.model.properties}
        self.goals = [each for each in self.prover.goals if each.invariant in {WELL_FORMED, *self._known}]
        self._vocabularies = self.vocabularies or vocabularies(self.model, self.samples)
        self._excluded: Counter[str] = Counter()

    def run(self) -> bool:
        """Infers until every goal is proved from the lemmas; False if one is left, or the time is over."""
        self.left = None
        while (obligation := self._next()) is not None:
            if self.stop():
                self.left = self.left or (obligation, None)
                return False
            self.report(f"{obligation.name}; {len(self.lemmas)} lemmas, {len(self.dropped)} dropped")
            reply = self.prover.ask(obligation, self._assumed)
            if reply.used is not None:
                self.proofs[obligation.name] = reply.used
            elif reply.step is not None and not self._gives_up(obligation) and self._exclude(reply.step):
                continue
            elif obligation.invariant in self.lemmas:
                self.drop(obligation.invariant)
                self.learn_more()
            else:
                self.left = obligation, reply.step
                return False
        return True

    def _gives_up(self, obligation: Obligation) -> bool:
        """Whether a lemma needed too many others at one step: there are smaller ways than an endless list."""
        self._excluded[obligation.name] += 1
        return obligation.invariant in self.lemmas and self._excluded[obligation.name] > self.limits.for_a_lemma

    @property
    def obligations(self) -> Iterator[Obligation]:
        """The obligations of the goals, then those of the lemmas."""
        yield from self.goals
        for lemma in self.lemmas.values():
            yield from lemma.obligations

    @property
    def _assumed(self) -> set[str]:
        return {*self.lemmas, *self._known}

    def _next(self) -> Obligation | None:
        """The first obligation without a proof: of the goals, then of the lemmas that proofs of the goals rest on so far."""
        if (goal := next((each for each in self.goals if each.name not in self.proofs), None)) is not None:
            return goal
        needed = self.needed()
        every = (each for name, lemma in self.lemmas.items() if name in needed for each in lemma.obligations)
        return next((each for each in every if each.name not in self.proofs), None)

    def drop(self, name: str) -> None:
        """Removes a lemma that is not inductive, and what was proved with it."""
        self.dropped.add(self.lemmas[name].clause.key)
        self._remove(name)

    def learn_more(self) -> None:
        """Learns from more random runs: what is no lemma was true of too few samples, and others may have been, too."""
        self.report("runs at random again")
        added = self.samples.run_at_random(self.stop)
        for name, lemma in list(self.lemmas.items()):
            if any(not true_of(lemma.prop, states) for states in added):
                self.drop(name)

    def _remove(self, name: str) -> None:
        lemma = self.lemmas.pop(name)
        self.prover.remove(name)
        names = {each.name for each in lemma.obligations}
        self._keep_proofs(lambda key, used: name not in used and key not in names)

    def _keep_proofs(self, keep: Callable[[str, frozenset[str]], bool]) -> None:
        self.proofs = {key: used for key, used in self.proofs.items() if keep(key, used)}

    def keep_inductive(self) -> None:
        """Drops lemmas until the others are inductive: what can be kept if the goals cannot be proved."""
        sound = {*self.lemmas, *self.given}  # the goals are not proved
        self._keep_proofs(lambda key, used: used <= sound)
        self._remove_not_inductive(self.lemmas)

    def _remove_not_inductive(self, among: Collection[str]) -> None:
        while not_inductive := [
            name
            for name, lemma in self.lemmas.items()
            if name in among
            and any(each.name not in self.proofs and not self._prove(each) for each in lemma.obligations)
        ]:
            for name in not_inductive:
                self._remove(name)

    def add_inductive(self, clauses: Sequence[Clause]) -> set[str]:
        """Adds clauses that are inductive together with the lemmas.

        Returns:
            The names of those that were added.
        """
        known, added = {lemma.clause.key for lemma in self.lemmas.values()}, dict[str, Lemma]()
        steps = [lemma.excludes for lemma in self.lemmas.values() if lemma.excludes is not None]
        for clause in (each for each in clauses if each.key not in known):
            if self.stop():
                break
            prop, formulas = self._translated(clause, added)
            self.prover.add(prop.name, formulas)
            excluded = (each for each in steps if not true_of(prop, each.before))
            added[prop.name] = Lemma(prop, formulas.obligations, clause, next(excluded, None))
        self.lemmas.update(added)
        self._remove_not_inductive(added)
        return added.keys() & self.lemmas.keys()

    def restore(self, lemmas: Mapping[str, Lemma], proofs: Mapping[str, frozenset[str]]) -> None:
        """Brings back lemmas with their proofs, and drops all others."""
        for name in self.lemmas.keys() - lemmas.keys():
            self.prover.remove(name)
        for name in lemmas.keys() - self.lemmas.keys():
            self.prover.add(name, self.prover.translated(lemmas[name].prop))
        self.lemmas, self.proofs = dict(lemmas), dict(proofs)

    def rows_of(self, clause: Clause) -> Rows | None:
        """The rows of a clause in all samples; None if it is from another vocabulary.

        Raises:
            OutOfTime: as :meth:`Samples.rows`.
        """
        exists = next((each.exists for each in self._vocabularies if each.has(clause.template)), None)
        return None if exists is None else self.samples.rows(clause.template, exists)

    def _prove(self, obligation: Obligation) -> bool:
        reply = self.prover.ask(obligation, {*self.lemmas, *self.given}, short=True)
        if reply.used is not None:
            self.proofs[obligation.name] = reply.used
        return reply.proved

    def minimize(self, among: Collection[str] | None = None) -> None:
        """Drops the lemmas that no proof needs, those that were found last first.

        Args:
            among: the lemmas to consider; by default all.
        """
        considered = set(self.lemmas if among is None else among)
        self._prune(considered)
        for name in reversed(list(self.lemmas)):
            if name in self.lemmas and name in considered and self.drop_if_needless(name):
                self._prune(considered)

    def drop_if_needless(self, name: str) -> bool:
        """Drops a lemma if what its proofs are for is soon proved without it."""
        affected = [each for each in self.obligations if name in self.proofs[each.name] and each.invariant != name]
        replies = {}
        for each in affected:
            if self.stop() or (reply := self.prover.ask(each, self._assumed - {name}, short=True)).used is None:
                return False
            replies[each.name] = reply.used
        self.proofs.update(replies)
        self._remove(name)
        return True

    def needed(self) -> set[str]:
        """The lemmas on which the proofs of goals rest so far, directly or through others."""
        needed: set[str] = set()
        more = {used for each in self.goals for used in self.proofs.get(each.name, ())}
        while more:
            needed |= more
            resting = [each for name in more if name in self.lemmas for each in self.lemmas[name].obligations]
            more = {used for each in resting for used in self.proofs.get(each.name, ())} - needed
        return needed & self.lemmas.keys()

    def _prune(self, among: Collection[str]) -> None:
        for name in (self.lemmas.keys() - self.needed()).intersection(among):
            self._remove(name)

    def _exclude(self, step: Step) -> bool:
        """Adds a lemma that excludes the state before a step; False if there is none."""
        choice = self.choose(step.before, self._sorts_of(step.obligation))
        if choice is None:
            return False
        self.prover.add(choice.prop.name, choice.formulas)
        self.lemmas[choice.prop.name] = Lemma(choice.prop, choice.formulas.obligations, choice.clause, step)
        return True

    def _sorts_of(self, obligation: Obligation) -> frozenset[str]:
        """The sorts that a step fires events on, and those that the property is about: of what else is in a state, little matters."""
        name = obligation.invariant
        by_step = self.prover.sorts_of(obligation)
        if name == WELL_FORMED:
            return by_step
        return by_step.union(sorts_of(self.lemmas[name].prop if name in self.lemmas else self.model.property(name)))

    def choose(self, state: States, sorts: frozenset[str] | None = None) -> Choice | None:
        """The clause that excludes a state with the fewest obligations left, among the smallest; None if there is no clause.

        Args:
            sorts: those that a clause should be about; by default all.
        """
        best: Choice | None = None
        tried: dict[int, int] = {}
        first = 0
        for level, clause in self._candidates_in_time(state, sorts):
            if self.stop():
                break
            first = first or level
            if best is not None and level > first + self.limits.larger:
                break
            if tried.get(level, 0) >= self.limits.alike:
                continue
            prop, formulas = self._translated(clause)
            if not self.prover.begins(formulas):
                self.dropped.add(clause.key)
                continue
            most = best.failing if best is not None else min(len(formulas.obligations), MOST_FAILING)
            failing = self.prover.failing(formulas, self._assumed, most, self.stop)
            if best is None or failing < best.failing:
                best = Choice(clause, prop, formulas, failing)
            tried[level] = tried.get(level, 0) + 1
            if not failing or sum(tried.values()) >= self.limits.candidates:
                break
        return best

    def _translated(self, clause: Clause, used_names: Collection[str] = ()) -> tuple[Invariant, Added]:
        """A clause as an invariant with a name of its own, and as formulas."""
        names = self._assumed.union(self.used_names, used_names)
        prop = self._stated(invariant(clause, self.samples.states, names))
        return prop, self.prover.translated(prop)

    def _stated(self, prop: Invariant) -> Invariant:
        """The invariant as the model has it: of disposable sorts it is about objects that are present."""
        if not any(sort.disposable for sort in self.model.sorts):
            return prop
        (stated,) = self.model.asking([prop]).properties
        assert isinstance(stated, Invariant)
        return stated

    def _candidates_in_time(self, state: States, sorts: frozenset[str] | None) -> Iterator[tuple[int, Clause]]:
        with suppress(OutOfTime):
            yield from self._candidates(state, sorts)

    def _candidates(self, state: States, sorts: frozenset[str] | None) -> Iterator[tuple[int, Clause]]:
        """The clauses that exclude a state and are true of all samples; small ones first, each with its number of variables and literals.

        What is about other sorts than ``sorts`` counts as larger, and what is doubtful.
        """
        known = {lemma.clause.key for lemma in self.lemmas.values()} | self.dropped
        later: dict[int, list[Clause]] = {}
        differences: dict[Template, list[Difference]] = {}
        for vocabulary in self._vocabularies:
            for both in range(1, self.limits.together + OUTSIDE + 1):
                level = both + vocabulary.exists * self.limits.together
                for cost in range(min(both, (SOMEBODY if vocabulary.exists else self.limits.variables) + 1)):
                    for template in vocabulary.templates(cost):
                        size = both - cost - (OUTSIDE if sorts is not None and not template.sorts <= sorts else 0)
                        if not 0 < size <= min(self.limits.literals, self.limits.together - cost):
                            continue
                        if template not in differences:
                            differences[template] = list(self._differences(template, vocabulary.exists, state))
                        for clause in (each for one in differences[template] for each in one.clauses(size)):
                            if clause.key not in known:
                                known.add(clause.key)
                                if clause.doubtful:
                                    later.setdefault(level + DOUBTFUL, []).append(clause)
                                else:
                                    yield level, clause
                yield from ((level, clause) for clause in later.pop(level, ()))
        for level, clauses in sorted(later.items()):
            yield from ((level, clause) for clause in clauses)

    def _differences(self, template: Template, exists: bool, state: States) -> Iterator[Difference]:
        """The rows of a state that no sample has."""
        of_state = every_row(template, state)
        if not len(of_state):
            return
        rows = self.samples.rows(template, exists)
        for row in of_state[~rows.has(of_state)]:
            if self.stop():
                return
            yield Difference(rows, row)


def true_of(prop: Invariant, states: States) -> bool:
    """Whether an invariant is true of all these states; also if it reads history that they lack."""
    try:
        return bool(states.truth(closed(prop), {}).all())
    except Unsupported:
        return True

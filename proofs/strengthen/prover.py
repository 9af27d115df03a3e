"""z3 for any number of objects, with invariants that come and go: the obligations of each are asked one by one.

Nothing is concluded from its answers. At the end :func:`schedproof.proofs.induction.prove` proves everything from scratch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

import z3

from schedproof.model.lang import Invariant, Model
from schedproof.model.semantics import Instance, State
from schedproof.proofs.induction import NO_LIMIT, Obligation, TimeLimit, obligations
from schedproof.proofs.induction.counterexample import SolverModel, shown, state_of
from schedproof.proofs.induction.obligations import Added, added
from schedproof.proofs.induction.relevant import Relevance
from schedproof.proofs.induction.solve import Context
from schedproof.proofs.verdict import Counterexample

from .columns import States

NEAR_EFFORT, FAR_EFFORT, LAST_EFFORT = 600_000, 1_500_000, 10_000_000
"""z3's limits for one question, in its own steps: with relevant objects only, with all, and before it gives up."""

HARD_EFFORT = 4_000_000
"""The limit for a counterexample of few objects to a goal, before it gives up. More of it takes the time of other questions."""

SHORT_EFFORT = 250_000
"""The limit for each question about a candidate."""

MOST_REMOVED, MOST_ASKED = 40, 4_000
"""The solvers are made anew after so many invariants were removed, whose formulas they keep, or so many questions: of each they keep 0.1 MiB."""


@dataclass(frozen=True)
class Step:
    """A counterexample to induction: the state before a step that violates something.

    Attributes:
        solution: the state as z3 has it.
    """

    obligation: Obligation
    instance: Instance
    state: State
    solution: SolverModel = field(repr=False)

    @property
    def before(self) -> States:
        """The state, to evaluate formulas in."""
        return States.of(self.instance, [self.state])


@dataclass(frozen=True)
class Reply:
    """The reply to a question: proved from ``used``, refuted by ``step``, or neither if z3 does not know."""

    used: frozenset[str] | None = None
    step: Step | None = None

    @property
    def proved(self) -> bool:
        """Whether the obligation is proved."""
        return self.used is not None


class Prover:
    """The obligations of a model, and of invariants added to it.

    Attributes:
        goals: the obligations of the model's properties that are not ``given``, which are assumed.
    """

    def __init__(
        self,
        model: Model,
        given: Collection[str] = (),
        time_limit: TimeLimit = NO_LIMIT,
        *,
        withhold: bool = False,
    ) -> None:
        """Args:
        withhold: no invariant of the model is assumed until :meth:`assume_of_model` allows one.
        """
        self._proof = replace(obligations(model, given), time_limit=time_limit)
        self._withheld: dict[str, z3.BoolRef] = {}
        if withhold:
            self._withheld.update(self._proof.assumed)
            self._proof.assumed.clear()
        self.model, self._removed, self._asked = model, 0, 0
        self.goals = self._proof.obligations
        self._relevance = Relevance(self._proof.symbols)
        self._contexts: dict[int, Context] = {}
        self._failing = Counter[str]()

    def translated(self, prop: Invariant) -> Added:
        """Another invariant as formulas; it cannot be assumed yet."""
        return added(self._proof, prop)

    def add(self, name: str, formulas: Added) -> None:
        """Lets an invariant be assumed."""
        self._proof.assumed[name], self._proof.stated[name] = formulas.assumed, formulas.stated
        for context in self._contexts.values():
            context.assume(name, formulas.assumed)

    def assume_of_model(self, name: str) -> None:
        """Lets one withheld invariant of the model be assumed, and no other of them."""
        for each in self._withheld.keys() & self._proof.assumed.keys():
            del self._proof.assumed[each]
        if name in self._withheld:
            self._proof.assumed[name] = self._withheld[name]
            for context in self._contexts.values():
                context.assume(name, self._withheld[name])

    def remove(self, name: str) -> None:
        """Undoes :meth:`add`. The solvers keep a formula that they no longer use, until they are made anew."""
        del self._proof.assumed[name], self._proof.stated[name]
        self._removed += 1

    def _context(self, obligation: Obligation) -> Context:
        """The solvers for a question about an obligation."""
        self._asked += 1
        if self._removed >= MOST_REMOVED or self._asked >= MOST_ASKED:
            self._contexts.clear()
            self._removed = self._asked = 0
        key = id(obligation.context)
        if key not in self._contexts:
            always = obligation.context is self._proof.always
            cascade = None if always else self._proof.cascades.get(obligation.action)
            self._contexts[key] = Context(self._proof, self._relevance, obligation.context, cascade)
        return self._contexts[key]

    def ask(self, obligation: Obligation, assume: Iterable[str], *, short: bool = False) -> Reply:
        """Whether the obligation follows from the invariants ``assume``, its own among them if it has one.

        Args:
            short: give up early; a reply that is neither then means little.
        """
        name = obligation.invariant
        if obligation.inductive and self._proof.stated.get(name) is obligation.goal:
            return Reply(frozenset({name}))  # the step writes nothing that it reads
        names = self._assumable(obligation, assume)
        context = self._context(obligation)
        goal = context.less_what_is_said(obligation.goal)
        alone = [each for each in names if each == name]
        proved, used = context.ask_nearby(goal, (alone, names), SHORT_EFFORT if short else NEAR_EFFORT)
        if proved:
            return Reply(used)
        efforts = [(SHORT_EFFORT, SHORT_EFFORT)]
        if not short:
            efforts += [
                (FAR_EFFORT, FAR_EFFORT),
                (HARD_EFFORT, LAST_EFFORT) if obligation in self.goals else (0, FAR_EFFORT),
            ]
        for few, all_objects in efforts:
            if few and (solution := context.refute(goal, names, few, fewest=False)) is not None:
                return Reply(step=Step(obligation, *state_of(self._proof, solution), solution))
            status, used = context.ask(goal, names, all_objects)
            if status == "unsat":
                return Reply(used)
        return Reply()

    def _assumable(self, obligation: Obligation, assume: Iterable[str]) -> list[str]:
        if not obligation.inductive:
            return []
        return sorted({*assume, obligation.invariant} & self._proof.assumed.keys())

    def begins(self, formulas: Added) -> bool:
        """Whether a candidate is soon proved of the initial state. What axioms do not say of rigid attributes is not."""
        return all(self.ask(each, (), short=True).proved for each in formulas.obligations if not each.inductive)

    def failing(self, formulas: Added, assume: Collection[str], most: int, stop: Callable[[], str]) -> int:
        """How many obligations of a candidate are not soon proved from it and from the invariants ``assume``; at most ``most``."""
        count = 0
        # Where others failed, this one soon fails, too, if it does.
        for obligation in sorted(formulas.obligations, key=lambda each: -self._failing[each.action]):
            if stop() or count >= most:
                return most
            if obligation.inductive and obligation.goal is formulas.stated:
                continue
            context = self._context(obligation)
            names = sorted({*assume} & self._proof.assumed.keys()) if obligation.inductive else []
            context.near.push()
            if obligation.inductive:
                context.near.add(context.relevance.limited(formulas.assumed))
            goal = context.less_what_is_said(obligation.goal)
            failed = not context.ask_nearby(goal, [names], SHORT_EFFORT)[0]
            context.near.pop()
            count += failed
            self._failing[obligation.action] += failed
        return count

    def sorts_of(self, obligation: Obligation) -> frozenset[str]:
        """The sorts of the objects on which the step of an obligation fires events."""
        cascade = self._proof.cascades.get(obligation.action)
        return frozenset(sort for sort, _ in cascade.fired) if cascade is not None else frozenset()

    def shown(self, step: Step) -> Counterexample:
        """The counterexample to induction for a reader."""
        return shown(self._proof, step.obligation, *step.solution)

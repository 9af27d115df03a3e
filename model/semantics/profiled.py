"""A stepper that counts and times guards and rules, and the values that their searches try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from schedproof.model.lang.rules import Action, Rule

from .evaluate import Moment, Undefined, search
from .instance import Instance, State
from .search import Search, Values
from .step import Causes, Choice, IllFormed, Offered, Step, Stepper, _Rule


@dataclass
class Cost:
    """The cost of a guard or a rule.

    Args:
        asked: evaluations: of a guard in a state; of a rule in a step in which its cause has happened.
        tried: values that the search gave to variables.
        held: evaluations in which it held in some way.
        ways: the number of ways, summed.
        seconds: wall-clock seconds.
    """

    asked: int = 0
    tried: int = 0
    held: int = 0
    ways: int = 0
    seconds: float = 0.0

    def add(self, ways: int, seconds: float) -> None:
        """Counts one evaluation."""
        self.asked += 1
        self.held += ways > 0
        self.ways += ways
        self.seconds += seconds


class Profiler(Stepper):
    """Computes the same steps as any stepper but remembers nothing, so that repeated evaluations cost their time again.

    ``guards`` and ``steps_of`` are by action, ``rules`` by rule. The time of a step covers its cascade and its updates;
    the time of a rule is part of it. Ill-formed steps are timed, not counted.
    """

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        model = instance.model
        self.guards = {a.name: Cost() for a in model.actions}
        self.steps_of = {a.name: Cost() for a in model.actions}
        self.rules = {r.name: Cost() for r in model.rules}
        self._noted: list[tuple[str, int, float]] = []

    def chooser(self, action: Action) -> Callable[[State], Sequence[Choice]]:
        """The function that gives an action's choices in a state; it counts each call."""
        cost, names = self.guards[action.name], [v.name for v in action.parameters]
        plan = _counting(search(self.instance, {}, action.parameters, action.when), cost)

        def choices(state: State) -> Sequence[Choice]:
            start, moment = perf_counter(), Moment(state)
            some: tuple[Choice, ...] = ()
            try:
                some = tuple(
                    Choice(action.name, tuple([(n, moment.bound[n]) for n in names])) for _ in plan.solutions(moment)
                )
            finally:
                cost.add(len(some), perf_counter() - start)
            return some

        return choices

    def offers(self, actions: Sequence[Action]) -> Callable[[State], Sequence[Offered]]:
        """As ``Stepper.offers``, but it evaluates and counts each guard separately."""
        choosers = [self.chooser(action) for action in actions]

        def offers(state: State) -> Sequence[Offered]:
            offered: list[Offered] = []
            for number, chooser in enumerate(choosers):
                try:
                    if choices := chooser(state):
                        offered.append((number, choices))
                except Undefined as error:
                    offered.append((number, error))
            return offered

        return offers

    def step(self, state: State, choice: Choice) -> Step:
        """The step of an enabled choice, counted.

        Raises:
            IllFormed, Undefined: the model is not well-formed here.
        """
        cost, start = self.steps_of[choice.action], perf_counter()
        self._noted.clear()
        try:
            fired = self.firings(state, choice)
            taken_step = Step(choice, fired, self.apply(state, fired))
        except (IllFormed, Undefined):
            cost.seconds += perf_counter() - start
            raise
        cost.add(len(fired), perf_counter() - start)
        for name, ways, seconds in self._noted:
            self.rules[name].add(ways, seconds)
        return taken_step

    def _rule(self, rule: Rule) -> _Rule:
        compiled = super()._rule(rule)
        return replace(compiled, when=_counting(compiled.when, self.rules[rule.name]))

    def _follow(
        self, rule: _Rule, moment: Moment, busy: dict[tuple[str, int], tuple[str, str]], causes: Causes | None
    ) -> int:
        start = perf_counter()
        ways = super()._follow(rule, moment, busy, causes)
        self._noted.append((rule.head.cause.name, ways, perf_counter() - start))
        return ways


def _counting(plan: Search[Moment], cost: Cost) -> Search[Moment]:
    """The same search, which counts each value that it gives a variable."""

    def counted(values: Values[Moment]) -> Values[Moment]:
        def tried(moment: Moment) -> Iterable[int]:
            some = tuple(values(moment))
            cost.tried += len(some)
            return some

        return tried

    return Search(plan.first, tuple((name, counted(values), conditions) for name, values, conditions in plan.levels))

"""Which actions and rules never happen in an exploration: a condition that is never true may be a mistake.

Explorations count the steps of each action. They do not count rules, so of a small instance the states are explored again, until
each rule has fired. Of a larger one, only rules are known whose trigger no action causes.
"""

from __future__ import annotations

from schedproof.model.lang import Model
from schedproof.model.lang.triggers import caused
from schedproof.model.semantics import Instance, Profiler
from schedproof.model.semantics.step import looked_at
from schedproof.proofs.exploration.explore import ExplorationResult, explore
from schedproof.proofs.verdict import Unfired

MOST_STATES = 10_000
"""The most states, of all configurations together, in which the firings of rules are counted."""


class Fired:
    """What happened in explorations of the configurations of a model; give :meth:`note` each of them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._actions_taken: set[str] = set()
        self._instances: list[Instance] = []
        self._states = 0
        self._complete = True

    def note(self, exploration: ExplorationResult) -> None:
        """Notes the actions of a finished exploration."""
        self._complete &= exploration.complete and exploration.ill_formed is None
        self._actions_taken.update(exploration.per_action())
        self._states += exploration.state_count
        if self._states <= MOST_STATES:
            self._instances.append(exploration.instance)

    def unfired(self) -> Unfired | None:
        """What never happened; None if some states were not explored."""
        if not self._complete:
            return None
        model = self._model
        idle = tuple(action.name for action in model.actions if action.name not in self._actions_taken)
        triggers = {(name, "") for name in self._actions_taken}.union(
            *(caused(model, name) for name in self._actions_taken)
        )
        of_idle = {(name, "") for name in idle}.union(*(caused(model, name) for name in idle)) - triggers
        on = {rule.name: looked_at(model, rule.on) for rule in model.rules}
        never = {name for name, trigger in on.items() if trigger not in triggers}
        never |= self._never_fired({name for name in on if name not in never})
        rules = tuple(name for name, trigger in on.items() if name in never and trigger not in of_idle)
        return Unfired(idle, rules)

    def _never_fired(self, rules: set[str]) -> set[str]:
        """Those of these rules that never fire; none if there are too many states to ask."""
        if self._states > MOST_STATES:
            return set()
        left = set(rules)
        for instance in self._instances:
            profiler = Profiler(instance)

            def fired(profiler: Profiler = profiler) -> str:
                left.difference_update([name for name in left if profiler.rules[name].held])
                return "" if left else "each rule has fired"

            explore(instance, halt=fired, stepper=profiler)
            fired()
            if not left:
                break
        return left

"""Reachable states of small scopes: what every clause must be true of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from schedproof.model.lang import Model, Property
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.semantics import Instance, instances, scope_text
from schedproof.proofs.checking.engine import Exploring
from schedproof.proofs.checking.model_check import admitted
from schedproof.proofs.checking.slices import Slices
from schedproof.proofs.exploration.explore import Exploration, ExplorationResult
from schedproof.proofs.exploration.safety import Watch, counterexample, ill_formed
from schedproof.proofs.verdict import Counterexample

from .columns import States
from .features import Template
from .random_runs import random_runs
from .rows import Rows, at_even_distances

MOST_STATES = 60_000
"""The most states of one configuration; of a larger one, as many of its first states are samples."""

MOST_CONFIGURATIONS = 40
"""The most configurations of a scope; those of a larger one are chosen at even distances."""

MOST_ROUNDS = 16
"""The most rounds of random runs, each with another seed."""


RandomRuns = Callable[[Model, frozenset[tuple[str, str]], Callable[[], str], int], Iterable[States]]
"""Gives the states of a round of random runs of a model: with some history attributes, until a function says why to halt, for a seed."""


@dataclass
class Samples:
    """The states of the scopes explored so far.

    Attributes:
        halt: returns why to stop reading rows, or "".
        scopes: the explored scopes, as text, with the numbers of representatives.
        complete: whether every state of each scope is a sample.
        rounds: the number of states of each round of random runs.
        runs: gives those states.
    """

    model: Model
    history: frozenset[tuple[str, str]] = frozenset()
    states: list[States] = field(default_factory=list)
    halt: Callable[[], str] = field(default=lambda: "", repr=False)
    scopes: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    rounds: list[int] = field(default_factory=list)
    runs: RandomRuns = field(default=random_runs, repr=False)
    _rows: dict[tuple[str, bool], Rows] = field(default_factory=dict, repr=False)

    def explore(
        self, scope: Mapping[str, int], halt: Callable[[], str], watched: Sequence[Property] = ()
    ) -> Violation | None:
        """Adds the reachable states of a scope, one of each orbit.

        Returns:
            The run that violates one of ``watched``, or that ends in an ill-formed step; None if there is none.
        """
        text, before = scope_text(scope), len(self.states)
        for instance in at_even_distances(filter(admitted, instances(self.model, scope)), MOST_CONFIGURATIONS):
            if (violation := self.explore_instance(instance, halt, watched)) is not None:
                return violation
            if halt():
                break
        self.states[before:] = merged(self.states[before:])
        self.scopes[text] = sum(len(each.matrix) for each in self.states[before:])
        return None

    def run_at_random(self, halt: Callable[[], str]) -> Sequence[States]:
        """Adds the states of random runs, in configurations that the model does not declare: as many runs again as there were so far.

        Returns:
            What was added; nothing if there were :data:`MOST_ROUNDS` rounds, or where such runs have no states.
        """
        added: list[States] = []
        for _ in range(max(1, len(self.rounds)) if len(self.rounds) < MOST_ROUNDS else 0):
            states = list(self.runs(self.model, self.history, halt, len(self.rounds) + 1))
            self.rounds.append(sum(len(each.matrix) for each in states))
            added += states
        if added:
            self.states += added
            self.scopes["random runs"] = sum(self.rounds)
        return added

    def explore_instance(
        self, instance: Instance, halt: Callable[[], str], watched: Sequence[Property] = ()
    ) -> Violation | None:
        """Adds the reachable states of one configuration; the arguments are those of :meth:`explore`."""
        sliced = replace(instance, with_history=bool(self.history), history=self.history or None)
        explored, watches = Exploring(max_states=MOST_STATES, halt=halt).watch(sliced, watched)
        if (violation := _violation(explored, watches)) is not None:
            return violation
        self.complete = self.complete and explored.complete
        self.states.append(_matrix(sliced, explored))
        return None

    def rows(self, template: Template, exists: bool) -> Rows:
        """The rows of a template in all samples.

        Raises:
            OutOfTime: ``halt`` says so.
        """
        key = _key(template, exists)
        if key not in self._rows:
            self._rows[key] = Rows(template)
        rows = self._rows[key]
        rows.extend(self.states, self.halt)
        return rows

    def news(self, template: Template) -> int:
        """How many rows of a template the newest samples add."""
        before = self._rows.get(_key(template, False))
        known = 0 if before is None else len(before.matrix)
        return len(self.rows(template, False).matrix) - known


def history_of(model: Model, prop: Property | None, scope: Mapping[str, int] | None) -> frozenset[tuple[str, str]]:
    """The history attributes that a property reads, with those that their updates read; of well-formedness for None."""
    some = next(instances(model, scope or {}), None)
    if some is None:
        return frozenset()
    return Slices(some).of(prop) if prop is not None else Slices(some).fragile


def _key(template: Template, exists: bool) -> tuple[str, bool]:
    return " ".join(f"{v.name}: {v.type}" for v in template.variables), exists


@dataclass(frozen=True)
class Violation:
    """A reachable violation of a property at a scope."""

    prop: str
    scope: str
    counterexample: Counterexample


def _violation(explored: ExplorationResult, watches: Sequence[Watch]) -> Violation | None:
    scope = scope_text(explored.instance.sizes)
    if explored.ill_formed is not None:
        return Violation(WELL_FORMED, scope, ill_formed(explored))
    for watched in watches:
        if (check := watched.failed()) is not None:
            return Violation(watched.prop.name, scope, counterexample(explored, check))
    return None


def _matrix(instance: Instance, explored: object) -> States:
    if isinstance(explored, Exploration):
        return States.of(instance, explored.states)
    from schedproof.proofs.compiled import Reached  # loading takes half a second, and is seldom needed
    from schedproof.proofs.compiled.table import read_back

    assert isinstance(explored, Reached)
    layout = explored.program.layout
    read = []
    for part in explored.parts:
        each = np.empty(part.count * layout.words, np.uint64)
        read_back(part.table()[0], layout.words, 0, each, part.count)
        read.append(each.reshape(part.count, layout.words))
    words = np.concatenate(read)
    columns = [
        ((words[:, at // 64] >> np.uint64(at % 64)) & np.uint64(mask)).astype(np.int64) + low
        for at, mask, low in layout.slots
    ]
    return States(instance, np.stack(columns, axis=1))


def merged(states: Sequence[States]) -> list[States]:
    """The states of configurations of one size as those of one instance, which has the rigid attributes in its states."""
    by_size: dict[tuple[int, ...], list[States]] = {}
    for each in states:
        by_size.setdefault(tuple(each.instance.sizes.values()), []).append(each)
    return [_merged(each) if len(each) > 1 else each[0] for each in by_size.values()]


def _merged(states: Sequence[States]) -> States:
    instance = replace(states[0].instance, rigid={}, rigid_in_state=True)
    matrices = []
    for each in states:
        start = replace(each.instance, rigid_in_state=True).initial()
        rigid = States.of(instance, [start]).matrix[:, each.instance.width :]
        matrices.append(np.column_stack([each.matrix, np.repeat(rigid, len(each.matrix), axis=0)]))
    return States(instance, np.concatenate(matrices))

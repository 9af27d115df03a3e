"""The best case of partial-order reduction: ``python benchmarks/reduction.py``.

A reduced exploration takes in each state only an ample set of the possible steps: steps outside the set neither need nor
change it. Model checkers derive such sets from the text of actions. This benchmark derives them from the explored graph, which
knows for every two steps in every state whether they commute. So no relation derived from the text can allow a set that is
not found here. In each state the smallest set is taken, and of these one that leads to the fewest new states. Model checkers
choose in this way too, although a choice that is best in each state need not be best for the whole.

An ample set A of a state satisfies four conditions. C0: it is empty only in a deadlock. C1: on every path from the state
without A, each step commutes with all of A. C2: if something is left out, no step of A changes what the invariants read.
C3: something of A leads to a state that is not expanded yet, so that no step is postponed for ever. For deadlocks C0 and C1
suffice.

Each reduced graph is checked against the full one: it has the same deadlocks and violates the same invariants. Invariants are
checked all together, as an exploration does, and each alone.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import click
import numpy as np
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from schedproof.model.lang import Invariant, Model
from schedproof.model.lang import terms as t
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Instance, Moment, Remembered, Undefined, compile_term, instances
from schedproof.proofs.checking.model_check import reads_history
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.exploration.safety import Check

LARGEST = 3
"""All sets of up to this many steps are tried; larger ones are grown."""


@njit
def ample(
    step: Any, offsets: Any, choices: Any, targets: Any, state: int, inside: Any, room: Any, seen: Any, mark: int
) -> Any:
    """Whether a set satisfies C1; else a step that violates it, and the first step of the path from ``state`` to it.

    Args:
        step: by state and choice, the target; -1 if the choice is not enabled.
        inside: by choice, whether it is in the set.
        room: a stack of states, with the first steps of their paths.
        seen, mark: visited states have the mark.
    """  # fmt: skip
    size, seen[state] = 1, mark
    room[0, 0], room[1, 0] = state, -1
    while size > 0:
        size -= 1
        current, first = room[0, size], room[1, size]
        for e in range(offsets[current], offsets[current + 1]):
            other = choices[e]
            if inside[other]:
                continue
            successor = targets[e]
            for f in range(offsets[state], offsets[state + 1]):
                choice_inside = choices[f]
                if inside[choice_inside]:
                    after = step[current, choice_inside]
                    if (
                        after < 0
                        or step[successor, choice_inside] < 0
                        or step[after, other] != step[successor, choice_inside]
                    ):
                        return False, other, first
            if seen[successor] != mark:
                seen[successor] = mark
                room[0, size], room[1, size] = successor, other if first < 0 else first
                size += 1
    return True, -1, -1


@njit
def reduced(step: Any, offsets: Any, choices: Any, targets: Any, allowed: Any, proviso: bool, largest: int) -> Any:
    """The states that a reduced exploration finds.

    Args:
        allowed: by choice, whether it may be in a set that leaves something out (C2).
        proviso: whether C3 applies.
    """
    count = step.shape[0]
    reached, expanded = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    queue, room, seen = np.empty(count, np.int64), np.empty((2, count), np.int64), np.zeros(count, np.int64)
    inside, best = np.zeros(step.shape[1], np.bool_), np.zeros(step.shape[1], np.bool_)
    mark, head, tail = 0, 0, 1
    queue[0], reached[0] = 0, True
    while head < tail:
        state = queue[head]
        head += 1
        expanded[state] = True
        begin, end = offsets[state], offsets[state + 1]
        enabled = end - begin
        best_size, best_new = enabled, enabled + 1
        # Try all sets of up to three steps, by the numbers of their first edges; then sets grown from one step.
        for size in range(1, largest + 2):
            if best_size < enabled or (size >= enabled and size <= largest):
                break
            for i in range(begin, end):
                for j in range(i + 1 if size == 2 or size == 3 else i, end if size == 2 or size == 3 else i + 1):
                    for k in range(j + 1 if size == 3 else j, end if size == 3 else j + 1):
                        if not (allowed[choices[i]] and allowed[choices[j]] and allowed[choices[k]]):
                            continue
                        inside[:] = False
                        inside[choices[i]] = inside[choices[j]] = inside[choices[k]] = True
                        while True:
                            mark += 1
                            fine, other, first = ample(step, offsets, choices, targets, state, inside, room, seen, mark)
                            more = other if other >= 0 and step[state, other] >= 0 else first
                            if fine or size <= largest or not allowed[more]:
                                break
                            inside[more] = True
                        new, open_, members = 0, False, 0
                        for e in range(begin, end):
                            if inside[choices[e]]:
                                members += 1
                                new += not reached[targets[e]]
                                open_ = open_ or not expanded[targets[e]]
                        fine = fine and (open_ or not proviso)
                        if fine and (members < best_size or (members == best_size and new < best_new)):
                            best_size, best_new = members, new
                            best[:] = inside
        for e in range(begin, end):
            if (best_size == enabled or best[choices[e]]) and not reached[targets[e]]:
                reached[targets[e]] = True
                queue[tail] = targets[e]
                tail += 1
    return reached


@dataclass(frozen=True)
class Explicit:
    """An explored graph in compressed rows: a state has the edges from its offset to the next state's offset."""

    step: NDArray[np.int32]
    offsets: NDArray[np.int64]
    sources: NDArray[np.int64]
    choices: NDArray[np.int64]
    targets: NDArray[np.int64]

    def left(self, allowed: NDArray[np.bool_], *, proviso: bool) -> NDArray[np.bool_]:
        """The states that a reduced exploration finds."""
        reached: NDArray[np.bool_] = reduced(
            self.step, self.offsets, self.choices, self.targets, allowed, proviso, LARGEST
        )
        return reached

    @property
    def dead(self) -> NDArray[np.bool_]:
        """The states without a step."""
        return np.diff(self.offsets) == 0


def explicit(exploration: Exploration) -> Explicit:
    """The graph of an exploration without symmetry."""
    edges = [(n, edge.choice, edge.target) for n, some in enumerate(exploration.edges) for edge in some]
    numbers = {choice: n for n, choice in enumerate(dict.fromkeys(choice for _, choice, _ in edges))}
    sources = np.array([n for n, _, _ in edges], np.int64)
    choices = np.array([numbers[choice] for _, choice, _ in edges], np.int64)
    targets = np.array([target for _, _, target in edges], np.int64)
    step = np.full((len(exploration.states), max(1, len(numbers))), -1, np.int32)
    step[sources, choices] = targets
    offsets = np.cumsum([0, *(len(some) for some in exploration.edges)], dtype=np.int64)
    return Explicit(step, offsets, sources, choices, targets)


def atoms(term: t.Term) -> Iterator[t.Term]:
    """The parts of a formula without connectives."""
    if isinstance(term, t.And | t.Or | t.Not | t.Implies | t.Iff | t.Quantified):
        for child in t.children(term):
            yield from atoms(child)
    elif not isinstance(term, t.Constant):
        yield term


def looked_at(instance: Instance, invariants: Sequence[Invariant]) -> Iterator[Remembered[int]]:
    """For each atom of the invariants and each binding of its variables, its truth by state; -1 if undefined."""
    parts = [p for prop in invariants for p in (prop.given, prop.then) if p is not None]
    for atom in {repr(atom): atom for part in parts for atom in atoms(part)}.values():
        free = t.free_variables(atom)
        holds = compile_term(instance, atom, free)
        for values in product(*(instance.domain(v.type) for v in free.values())):
            yield Remembered(_truth(holds, dict(zip(free, values, strict=True))))


def _truth(holds: Any, bound: Mapping[str, int]) -> Any:
    def truth(state: Any) -> int:
        try:
            return int(bool(holds(Moment(state, dict(bound)))))
        except Undefined:
            return -1

    return truth


def invisible(instance: Instance, exploration: Exploration, graph: Explicit, invariants: Sequence[Invariant]) -> Any:
    """By choice, whether none of its steps changes an atom of the invariants."""
    hidden = np.ones(graph.step.shape[1], np.bool_)
    for truth in looked_at(instance, invariants):
        values = np.array([truth(state) for state in exploration.states], np.int8)
        hidden[graph.choices[values[graph.sources] != values[graph.targets]]] = False
    return hidden


@dataclass
class Sums:
    """Sums over a variant's configurations."""

    configurations: int = 0
    states: int = 0
    symmetric: int = 0
    for_deadlocks: int = 0
    for_invariants: int = 0
    for_one: Counter[str] = field(default_factory=Counter)
    choices: int = 0
    hidden: int = 0
    left_out: int = 0

    def fewer(self, left: int) -> float:
        """The factor by which ``left`` is less than the number of states."""
        return self.states / left if left else 1.0

    @property
    def each(self) -> list[float]:
        """The factors for each invariant alone, in ascending order."""
        return sorted(self.fewer(left) for left in self.for_one.values())


def _kept(
    instance: Instance,
    exploration: Exploration,
    graph: Explicit,
    hidden: NDArray[np.bool_],
    invariants: Sequence[Invariant],
) -> int:
    """The number of states that remain if some choices are hidden; each violated invariant must still be violated."""
    left = graph.left(hidden, proviso=True)
    for prop in invariants:
        check = Check(instance, prop)
        broken = np.array([check.violated_in(state) is not None for state in exploration.states])
        assert broken.any() == broken[left].any(), f"{prop.name} is broken, and no longer seen to be"
    return int(left.sum())


def measure(model: Model, most: int) -> Sums:
    """Measures the reduction on a variant's configurations at the default scope with at most ``most`` states.

    Raises:
        AssertionError: a reduced graph lacks a deadlock, or a violation of the full one.
    """
    sums = Sums()
    invariants = [p for p in model.properties if isinstance(p, Invariant) and not reads_history(model, p)]
    for instance in instances(model, model.default_scope):
        exploration = explore(instance, symmetry=False, limit=most)
        if not exploration.complete:
            sums.left_out += 1
            continue
        graph = explicit(exploration)
        deadlocks = graph.left(np.ones(graph.step.shape[1], np.bool_), proviso=False)
        assert not (graph.dead & ~deadlocks).any(), "a deadlock is lost"
        hidden = np.ones(graph.step.shape[1], np.bool_)
        for prop in invariants:
            invisible_to_property = invisible(instance, exploration, graph, [prop])
            sums.for_one[prop.name] += _kept(instance, exploration, graph, invisible_to_property, [prop])
            hidden &= invisible_to_property
        sums.for_invariants += _kept(instance, exploration, graph, hidden, invariants)
        sums.configurations += 1
        sums.states += len(exploration.states)
        sums.symmetric += explore(instance).representatives
        sums.for_deadlocks += int(deadlocks.sum())
        sums.choices += len(hidden)
        sums.hidden += int(hidden.sum())
    return sums


COLUMNS = [
    "system, variant", "topologies", "states", "times fewer by symmetry", "for deadlocks", "for all invariants",
    "for one invariant (median, best)", "choices that no invariant sees", "too large", "seconds",
]  # fmt: skip


@click.command()
@click.option("--most", type=click.IntRange(1), default=20_000, show_default=True, help="States of a configuration.")
@click.option("--system", "only", help="One system only.")
def main(most: int, only: str | None) -> None:
    """Measure how many states the best ample sets would leave of every variant, beside symmetry."""
    table = Table(*COLUMNS)
    for system in systems().values():
        for model in system.variants.values():
            if only not in (None, system.name):
                continue
            start = time.perf_counter()
            sums = measure(model, most)
            row = [
                f"{system.name} {model.variant}",
                f"{sums.configurations}",
                f"{sums.states:,}",
                *(f"{sums.fewer(n):.2f}" for n in (sums.symmetric, sums.for_deadlocks, sums.for_invariants)),
                f"{statistics.median(sums.each):.2f}, {sums.each[-1]:.2f}" if sums.each else "-",
                f"{sums.hidden} of {sums.choices}",
                f"{sums.left_out}",
                f"{time.perf_counter() - start:.1f}",
            ]
            table.add_row(*row)
            click.echo(" | ".join(row), err=True)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()

"""Models at random whose integers have a bound in explorations only: both engines, ``naive``, and the same with a greater bound.

``naive`` decides by its own search forward what is open. A greater bound is a test that needs no second implementation: what is
refuted within a bound is refuted within every greater one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from schedproof.model.lang import Action, DeadlockFree, LifeCycle
from schedproof.model.semantics import Stepper, bounds_of
from schedproof.proofs.checking.engine import Engine
from schedproof.proofs.checking.model_check import ILL_FORMED
from schedproof.proofs.checking.slices import NO_HISTORY, Slices
from schedproof.proofs.compiled import beyond
from schedproof.proofs.compiled import graph as compiled_graph
from schedproof.proofs.compiled.code import If, Leave, Local, Set
from schedproof.proofs.compiled.search import Reached
from schedproof.proofs.compiled.steps import Steps
from schedproof.proofs.exploration import liveness
from schedproof.proofs.exploration.explore import Exploration, explore
from schedproof.proofs.verdict import Verdict
from tests.proofs.checking import naive
from tests.proofs.checking.test_random_models import assert_naively_the_same, length, notices
from tests.proofs.compiled.test_beside_interpreted import assert_same_graph, assert_same_quotient, checked
from tests.support.random_models import Drawn, IntegerMaker, random_model
from tests.support.sample import thinned

SOME, MANY = range(8), range(8, 48)
"""The models of the default run, and of the long one."""


@cache
def drawn(seed: int) -> Drawn:
    """A model with integers."""
    return random_model(seed, IntegerMaker)


def naively(model: Drawn) -> None:
    """The interpreter against what is naive: also what is cut, and which verdicts say so."""
    slices, naive_graphs = Slices(model.instance()), dict[Any, naive.Graph]()

    def graph_of(kept: Any) -> naive.Graph:
        if kept not in naive_graphs:
            naive_graphs[kept] = assert_naively_the_same(slices.instance(kept))
        return naive_graphs[kept]

    whole = graph_of(NO_HISTORY)
    plain, cut = explore(model.instance(), symmetry=False), whole.cut
    named = {plain.states[n]: sorted(choice.action for choice in each) for n, each in plain.cut.items()}
    assert named == {state: sorted(name for name, _ in each) for state, each in cut.items()}
    assert plain.stuck_count == sum(not steps and state not in cut for state, steps in whole.steps.items())
    formed, *others = checked(model.model, {}, Engine.INTERPRETED)
    wrong = whole.wrong or graph_of(slices.fragile).wrong
    assert (formed.verdict is Verdict.REFUTED) == bool(wrong)
    for result in others:
        prop = model.model.property(result.name)
        graph = graph_of(slices.of(prop))
        holds = result.verdict is Verdict.PROVED and not isinstance(prop, LifeCycle)
        assert result.within in ("", bounds_of(graph.instance).text)
        assert bool(result.within) == (holds and bool(graph.cut)), prop
        if not isinstance(prop, DeadlockFree):
            verdict, shortest = naive.check(graph, prop)
            assert result.verdict is verdict, prop
            assert shortest is None or length(result) == shortest, prop
        elif not any(chosen is None for _, _, chosen in graph.wrong):
            assert (result.verdict is Verdict.REFUTED) == (naive.deadlock(graph) is not None)
            assert length(result) == naive.deadlock(graph)


def by_graphs(model: Drawn) -> None:
    """Compiled code against the interpreter: states, steps and what is cut."""
    assert_same_graph(model.instance())


def by_engines(model: Drawn) -> None:
    """Compiled code against the interpreter: verdicts."""
    assert checked(model.model, {}, Engine.COMPILED) == checked(model.model, {}, Engine.INTERPRETED)


def by_greater_bounds(model: Drawn) -> None:
    """What is refuted stays refuted, what can happen still can, and what holds with all steps taken has no other steps."""
    greater = {
        key: (bound[0] - 1, bound[1] + 1) if isinstance(bound, tuple) else bound + 1
        for key, bound in model.model.bound.items()
    }
    for engine in (Engine.INTERPRETED, Engine.COMPILED):
        near = checked(model.model, {}, engine, max_states=3000)
        far = checked(dataclasses.replace(model.model, bound=greater), {}, engine, max_states=3000)
        for before, after in zip(near, far, strict=True):
            cut_short = after.verdict is Verdict.UNDETERMINED and ("stopped" in after.note or after.note == ILL_FORMED)
            if before.kind == LifeCycle.kind:
                final = before.verdict is not Verdict.UNDETERMINED
            else:
                final = before.verdict is Verdict.REFUTED or (before.verdict is Verdict.PROVED and not before.within)
            assert not final or cut_short or before.verdict is after.verdict, (before, after)


def compare(seed: int) -> None:
    """Every way with every other."""
    model = drawn(seed)
    naively(model)
    for threads in (1, 2):
        assert_same_graph(model.instance(), threads)
        assert_same_quotient(model.instance(), threads)
    by_engines(model)
    reduced = checked(model.model, {}, Engine.COMPILED, symmetry=True)
    assert reduced == checked(model.model, {}, Engine.INTERPRETED, symmetry=True)
    by_greater_bounds(model)


@pytest.mark.long
@pytest.mark.parametrize("seed", thinned(SOME, 4))
def test_all_ways_agree_within_bounds(seed: int) -> None:
    compare(seed)


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("seed", MANY)
def test_all_ways_agree_within_bounds_of_more(seed: int) -> None:
    compare(seed)


def test_of_equal_stems_both_engines_take_the_same() -> None:
    # Its lasso has two shortest stems, and the compiled engine once took the other one.
    by_engines(drawn(171))


@pytest.mark.long
def test_the_bounds_matter_in_random_models() -> None:
    """Steps are cut, verdicts say so, and of each kind some are open or refuted all the same."""
    models = [drawn(seed) for seed in range(20)]
    assert sum(bool(explore(m.instance()).frontier_count) for m in models) >= 12
    results = [r for m in models for r in checked(m.model, {}, Engine.INTERPRETED)]
    seen = Counter(
        (r.kind, "open" if r.note.startswith(("within", "some state can")) else str(r.verdict), bool(r.within))
        for r in results
    )
    for kind in ("always can reach", "leads to", "invariant", "deadlock freedom"):
        assert seen[kind, "proved", True] >= 2, seen
    assert min(seen["always can reach", "open", False], seen["can happen", "open", False]) >= 3, seen
    assert min(seen[kind, "refuted", False] for kind in ("always can reach", "leads to", "can happen")) >= 1, seen


# --- Seeded faults ---------------------------------------------------------------------------------------------------

RIGHT_SET, RIGHT_STEP, RIGHT_WRITES, RIGHT_CUTS = Steps._set, Steps._step, Stepper._writes, beyond.cut_choices


def bit_dropped(self: Steps, done: str) -> None:
    """A step is cut, and nobody hears of it."""
    self.terms.emit(If(Local("beyond"), [Leave(done)]))


def nothing_cut(self: Steps, done: str) -> None:
    """A step leads beyond the bounds, where its numbers do not fit."""


def cut_too_early(self: Steps, number: int, action: Action, moment: Any, done: str) -> None:
    """A step is cut before its other writes are seen to be well-formed."""

    def cut_at_once(row: Any, who: Any, of_row: Any) -> None:
        RIGHT_SET(self, row, who, of_row)
        self.terms.emit(If(Local("beyond"), [Set("cut", 1), Leave(done)]))

    self._set = cut_at_once  # type: ignore[method-assign]
    RIGHT_STEP(self, number, action, moment, done)


def one_write_less(self: Stepper, state: Any, fired: Any) -> Any:
    """A write beyond the bounds is left out, not the step."""
    writes = RIGHT_WRITES(self, state, fired)
    initial = self.instance.initial()
    return [w for w in writes if bounds_of(self.instance).has((*initial[: w[0]], w[1], *initial[w[0] + 1 :]))]


def no_frontier(self: Any) -> int:
    """No verdict says that it holds within bounds only."""
    return 0


def stuck_at_the_frontier(self: Exploration) -> int:
    """A state from which all steps are cut counts as the end."""
    return sum(self.orbits[n] for n in range(self.expanded) if not self.edges[n])


def disabled_beyond(self: Exploration, state: int) -> Any:
    """A choice that is cut counts as disabled."""
    return {edge.choice for edge in self.edges[state]}


def none_cut(program: Any, states: Any, count: int) -> Any:
    """The graph has none of the choices that were cut."""
    ends, cut = RIGHT_CUTS(program, states, count)
    return ends * 0, cut[:0]


def only_beyond_is_no_more(self: Any, states: Any, far: bool) -> Any:
    """The node beyond the bounds is no goal."""
    return compiled_graph.np.append(states, False) if self.beyond else states


def good_beyond(instance: Any) -> None:
    """What may reach its goal beyond the bounds only, holds."""


def never_beyond(instance: Any, prop: LifeCycle) -> Any:
    """What does not happen within the bounds, does not happen."""
    return liveness.not_that_far(prop, 1)


SEEDED: list[tuple[Any, str, Any, Callable[[Drawn], None]]] = [
    (Steps, "_cut", bit_dropped, by_graphs),
    (Steps, "_cut", nothing_cut, by_graphs),
    (Steps, "_step", cut_too_early, by_graphs),
    (Stepper, "_writes", one_write_less, naively),
    (Exploration, "frontier_count", property(no_frontier), naively),
    (Reached, "frontier_count", property(no_frontier), by_engines),
    (Exploration, "stuck_count", property(stuck_at_the_frontier), naively),
    (Exploration, "enabled", disabled_beyond, naively),
    (liveness, "only_beyond", good_beyond, naively),
    (liveness, "not_within", never_beyond, naively),
    (compiled_graph, "cut_choices", none_cut, by_engines),
    (compiled_graph.Graph, "nodes", only_beyond_is_no_more, by_engines),
]


@pytest.mark.parametrize(
    ("where", "name", "wrong", "way"),
    thinned(SEEDED, 12),
    ids=[f"{way.__name__}-{wrong.__qualname__ if callable(wrong) else name}" for _, name, wrong, way in SEEDED],
)
def test_a_fault_of_bounds_is_noticed(
    where: Any, name: str, wrong: Any, way: Callable[[Drawn], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [drawn(seed) for seed in SOME]
    monkeypatch.setattr(where, name, wrong)
    assert any(notices(way, model) for model in models)

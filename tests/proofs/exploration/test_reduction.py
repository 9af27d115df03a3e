"""What ``benchmarks/reduction.py`` measures: it finds reductions where they are known to be, and notices when something is lost."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from schedproof.model.lang import Action, Document, Invariant, Machine, Model, Row, Sort, State, variables
from schedproof.model.semantics import Instance, instances
from schedproof.proofs.exploration.explore import explore
from tests.support.places import ROOT
from tests.support.random_graphs import model_of, random_edges
from tests.support.rows import each_row
from tests.support.toys import MUTEX, WORKSHOP


def load() -> Any:
    """The script, which is no module of the package."""
    path = ROOT / "benchmarks" / "reduction.py"
    spec = importlib.util.spec_from_file_location("reduction", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reduction"] = module
    spec.loader.exec_module(module)
    return module


reduction = load()
# As they are written: to compile them takes longer than these small graphs.
reduction.ample, reduction.reduced = reduction.ample.py_func, reduction.reduced.py_func

Lamp = Sort("Lamp", "l")
x, y = variables(Lamp, "x y")


def lamps(*invariants: Invariant, resettable: bool = False) -> Model:
    """Lamps that are switched on one by one, and know nothing of each other."""
    off = [Row(Lamp, "off", "On", "Off")] if resettable else []
    return Model(
        system="lamps",
        variant="toy",
        about="",
        document=Document("", ""),
        machines=[Machine(Lamp, states=[State("Off"), State("On")])],
        rows=[Row(Lamp, "on", "Off", "On"), *off],
        actions=[
            Action("on", [x], [x.is_("Off")], [x.fires("on")], ""),
            *([Action("off", [x], [x.is_("On")], [x.fires("off")], "")] if resettable else []),
        ],
        rules=[],
        properties=invariants,
        default_scope={"Lamp": 4},
    )


def graph_of(model: Model, scope: dict[str, int]) -> tuple[Instance, Any, Any]:
    """An instance, its exploration, and its graph in rows."""
    [instance] = instances(model, {**model.default_scope, **scope})
    exploration = explore(instance, symmetry=False)
    return instance, exploration, reduction.explicit(exploration)


def everything(graph: Any) -> Any:
    """All choices may leave others out."""
    return np.ones(graph.step.shape[1], np.bool_)


@each_row("lamp_count", range(1, 7))
def test_of_what_is_independent_one_order_is_left(lamp_count: int) -> None:
    """The textbook's example: of 2^n states n + 1."""
    _, exploration, graph = graph_of(lamps(), {"Lamp": lamp_count})
    assert len(exploration.states) == 2**lamp_count
    assert graph.left(everything(graph), proviso=False).sum() == lamp_count + 1
    assert graph.left(everything(graph), proviso=True).sum() == lamp_count + 1


def test_what_an_invariant_looks_at_is_not_left_out() -> None:
    """Of each lamp; or of none, if it speaks of nothing that changes."""
    seen = Invariant(name="p", says="", over=[x, y], given=x != y, then=x.is_("Off") | y.is_("Off"))
    assert reduction.measure(lamps(seen), 1000) == reduction.Sums(1, 16, 5, 5, 16, Counter(p=16), 4, 0)
    blind = Invariant(name="p", says="", over=[x], then=x == x)
    assert reduction.measure(lamps(blind), 1000) == reduction.Sums(1, 16, 5, 5, 5, Counter(p=5), 4, 4)


def test_nothing_is_put_off_for_ever() -> None:
    """One lamp could be switched on and off, and no other ever be: without deadlocks that is enough, for invariants it is not."""
    _, exploration, graph = graph_of(lamps(resettable=True), {"Lamp": 3})
    assert graph.left(everything(graph), proviso=False).sum() == 2
    assert len(exploration.states) == 8 and graph.left(everything(graph), proviso=True).sum() > 2


def test_a_model_that_is_too_large_is_left_out() -> None:
    assert reduction.measure(lamps(), 10) == reduction.Sums(left_out=1)


@each_row("seed", range(40))
def test_no_deadlock_of_graphs_at_random_is_lost(seed: int) -> None:
    """Three objects that walk about the same graph, each for itself; ``measure`` checks it, and so does this."""
    random = Random(seed)
    model = dataclasses.replace(model_of(random_edges(random, 4), 4), default_scope={"Thing": 3})
    _, exploration, graph = graph_of(model, {})
    dead = {n for n, edges in enumerate(exploration.edges) if not edges}
    for proviso in (False, True):
        left = graph.left(everything(graph), proviso=proviso)
        assert {n for n in dead if left[n]} == dead


def test_some_of_these_are_reduced() -> None:
    """Else the comparison above would show little."""
    ratios = []
    for seed in range(40):
        model = dataclasses.replace(model_of(random_edges(Random(seed), 4), 4), default_scope={"Thing": 3})
        _, exploration, graph = graph_of(model, {})
        ratios.append(len(exploration.states) / graph.left(everything(graph), proviso=False).sum())
    assert len([r for r in ratios if r > 1.5]) >= 10


@pytest.mark.parametrize("model", [MUTEX, WORKSHOP])
def test_the_toys_keep_what_is_said_of_them(model: Model) -> None:
    sums = reduction.measure(model, 20_000)
    assert sums.configurations == 1 and sums.for_deadlocks <= sums.for_invariants <= sums.states


def test_a_wrong_set_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded fault: C1 is taken to hold of any set; then a deadlock of processes that wait for each other is lost."""
    edges = ((0, "a", 1), (1, "b", 0), (0, "c", 2), (2, "d", 3))
    torn = dataclasses.replace(model_of(edges, 4), default_scope={"Thing": 2})
    assert reduction.measure(torn, 1000).for_deadlocks < 16

    def first_only(self: Any, allowed: Any, *, proviso: bool) -> Any:
        visited = np.zeros(len(self.step), np.bool_)
        state = 0
        while not visited[state]:
            visited[state] = True
            if self.offsets[state] < self.offsets[state + 1]:
                state = int(self.targets[self.offsets[state]])
        return visited

    monkeypatch.setattr(reduction.Explicit, "left", first_only)
    with pytest.raises(AssertionError, match="a deadlock is lost"):
        reduction.measure(torn, 1000)

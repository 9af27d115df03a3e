"""A run that shows a life cycle: its steps take one object through the states, and none is shorter."""

from __future__ import annotations

import pytest

from schedproof.model.lang import LifeCycle
from schedproof.model.semantics import Instance, instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.exploration.witness import witness
from schedproof.proofs.verdict import Counterexample
from tests.support.random_graphs import EDGES, Thing, model_of

LINE: EDGES = ((0, "a", 1), (1, "b", 0), (1, "c", 2))


def visited(run: Counterexample, name: str, first: str) -> list[str]:
    """The states of an object along a run."""
    changes = [c for step in run.steps for c in step.changes if (c.object, c.field) == (name, "state")]
    return [first, *(str(c.after) for c in changes)]


@pytest.mark.parametrize(
    ("states", "steps"), [(["s0"], 0), (["s0", "s1", "s2"], 2), (["s0", "s1", "s0", "s1"], 3), (["s0", "s2"], None)]
)
def test_a_run_goes_through_exactly_these_states(states: list[str], steps: int | None) -> None:
    prop = LifeCycle(name="p", says="so it goes", sort=Thing, states=states)
    run = witness(Instance(model_of(LINE, 3, prop), {"Thing": 1}, {}), prop)
    assert (run and len(run.steps)) == steps
    if run is not None:
        assert visited(run, run.problem.split()[0], "s0") == states


@pytest.mark.parametrize("prop", [p for p in AS_WRITTEN.properties if isinstance(p, LifeCycle)], ids=lambda p: p.name)
def test_hived_s_life_cycles_have_runs(prop: LifeCycle) -> None:
    (instance,) = instances(AS_WRITTEN, {"PodGroup": 3, "Cell": 1}, with_history=True)
    run = witness(instance, prop)
    assert run is not None
    assert visited(run, run.problem.split()[0], prop.states[0]) == list(prop.states)
    assert run.problem.endswith(f"goes through {' -> '.join(prop.states)}")


def test_a_search_that_is_too_long_shows_no_run() -> None:
    prop = LifeCycle(name="p", says="so it goes", sort=Thing, states=["s0", "s1", "s2"])
    assert witness(Instance(model_of(LINE, 3, prop), {"Thing": 1}, {}), prop, most=0) is None

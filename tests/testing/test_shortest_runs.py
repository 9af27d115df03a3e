"""Shortest runs to the actions of a model."""

from dataclasses import replace

from schedproof.model.semantics import Stepper, instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.testing.shortest_runs import shortest_runs


def test_they_are_runs_and_the_shortest():
    """Counted by hand: a preemption needs an allocated group; what it vacates or completes comes after it."""
    (instance,) = instances(AS_WRITTEN, {"PodGroup": 2, "Cell": 1})
    runs = shortest_runs(instance, AS_WRITTEN.actions)
    assert {name: len(run) for name, run in runs.items()} == {
        "allocate": 1,
        "delete_pending": 1,
        "delete_allocated": 2,
        "preempt": 2,
        "vacate": 3,
        "delete_preempting": 3,
        "crash": 3,  # the first that changes something
        "delete_preempted": 4,
        "complete": 4,
    }
    stepper = Stepper(instance)
    for name, run in runs.items():
        state = instance.initial()
        for choice in run:
            assert stepper.enabled(state, choice), name
            before, state = state, stepper.step(state, choice).after
        assert run[-1].action == name and before != state


def test_actions_that_cannot_happen_have_none():
    (instance,) = instances(AS_WRITTEN, {"PodGroup": 1, "Cell": 1})
    assert set(shortest_runs(instance, AS_WRITTEN.actions)) == {"allocate", "delete_pending", "delete_allocated"}
    assert set(shortest_runs(instance, [AS_WRITTEN.action("delete_allocated")])) == set()


def test_states_with_an_ill_formed_step_are_not_followed():
    """Without its guard the deletion of a pending group has no row once that group is allocated or deleted."""
    anywhere = replace(AS_WRITTEN.action("delete_pending"), when=[])
    actions = [anywhere if a.name == anywhere.name else a for a in AS_WRITTEN.actions]
    (instance,) = instances(replace(AS_WRITTEN, actions=actions), {"PodGroup": 1, "Cell": 1})
    assert set(shortest_runs(instance, actions)) == {"allocate", "delete_pending"}

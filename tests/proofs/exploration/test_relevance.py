"""Actions that cannot meet a premise: none of their steps does, in any state, of any model."""

from collections import deque
from collections.abc import Iterator

import pytest

from schedproof.model.lang import Model, StepInvariant
from schedproof.model.lang.model import common_parameters
from schedproof.model.lang.terms import Var
from schedproof.model.lang.triggers import caused
from schedproof.model.semantics import IllFormed, Instance, Moment, Undefined, instances, search, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.model.systems.jobmon import REPAIRED as JOBMON
from schedproof.proofs.exploration import relevance
from schedproof.proofs.exploration.relevance import actions_that_meet
from tests.support.messages import i, n, o
from tests.support.random_models import random_model
from tests.support.sample import thinned

STATES = 300


def premises_met(instance: Instance) -> Iterator[tuple[StepInvariant, str]]:
    """Each property with each action of which a step meets its premise, in the first states, by the interpreter."""
    premises = [
        (p, search(instance, scope_of(instance.model, p), p.over, [p.given]))
        for p in instance.model.properties
        if isinstance(p, StepInvariant) and p.given is not None
    ]
    stepper, initial = stepper_of(instance), instance.initial()
    seen, todo = {initial}, deque([initial])
    while todo and len(seen) < STATES:
        state = todo.popleft()
        try:
            steps = list(stepper.steps(state))
        except (IllFormed, Undefined):
            continue
        for step in steps:
            for prop, premise in premises:
                if prop.on and step.choice.action not in prop.on:
                    continue
                try:
                    met = premise.succeeds(Moment(state, dict(step.choice.parameters), step.fired, step.after))
                except Undefined:
                    continue
                if met:
                    yield prop, step.choice.action
            if step.after not in seen:
                seen.add(step.after)
                todo.append(step.after)


def scope_of(model: Model, prop: StepInvariant) -> dict[str, Var]:
    """The variables that a premise may use: those of the property, and parameters that all its actions have."""
    return {v.name: v for v in [*common_parameters(model, prop.on), *prop.over]}


def wrongly_left_out(model: Model) -> list[tuple[str, str]]:
    """Properties with actions that are left out, although one of their steps meets the premise."""
    return [
        (prop.name, action)
        for instance in instances(model, {}, with_history=True)
        for prop, action in premises_met(instance)
        if action not in actions_that_meet(model, prop)
    ]


def test_a_value_at_what_may_name_nothing_is_not_defined() -> None:
    """``from_`` is NONE until an item was heard: a function has no value there, and NONE has no function."""
    surely = [n.mood[o] == "calm", n.from_[o, i] == o, n.sent[o] < n.most[o]]
    perhaps = [n.mood[n.from_[o, i]] == "calm", n.from_[n.from_[o, i], i] == o, n.from_[o, i].mood[o] == "calm"]
    assert all(relevance.is_defined(term) for term in surely)
    assert not any(relevance.is_defined(term) for term in perhaps)


@pytest.mark.parametrize("seed", thinned(range(30), 20))
def test_no_step_of_an_action_that_is_left_out_meets_the_premise(seed: int) -> None:
    assert wrongly_left_out(random_model(seed).model) == []


@pytest.mark.parametrize("model", thinned([AS_WRITTEN, JOBMON], 2), ids=["hived", "jobmon"])
def test_nor_in_systems(model: Model) -> None:
    assert wrongly_left_out(model) == []
    props = [p for p in model.properties if isinstance(p, StepInvariant)]
    applies = sum(len(p.on or model.actions) for p in props)
    assert sum(len(actions_that_meet(model, p)) for p in props) < applies * 0.85, "it would be of no use"


def test_a_rule_that_is_overlooked_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded: only what an action fires itself counts, and no rule."""
    monkeypatch.setattr(relevance, "caused", lambda model, action: caused_directly(model, action))
    monkeypatch.delitem(vars(AS_WRITTEN), "_actions_that_meet", raising=False)
    assert wrongly_left_out(AS_WRITTEN) != []
    vars(AS_WRITTEN).pop("_actions_that_meet")


def caused_directly(model: Model, action: str) -> frozenset[tuple[str, str]]:
    """The events that the action's own firings are."""
    return frozenset(
        (sort, event)
        for sort, event in caused(model, action)
        if any(firing.event == event for firing in model.action(action).fires)
    )


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        # Free -> Used is e0 of a cell, and only an allocation causes it (line 177).
        ("free-cell-used-only-at-allocation", {"allocate"}),
        # A Used cell becomes Free by e1, when the pods of the group that uses it are deleted (lines 87 and 95).
        ("freed-with-its-group", {"delete_allocated", "delete_preempted"}),
        # A cell gets a reserver by a preemption only; all else that writes it writes none.
        ("reserved-only-by-a-new-preemptor", {"preempt"}),
        # It speaks of one state: anything may keep a group Deleted.
        ("deleted-is-final", {a.name for a in AS_WRITTEN.actions}),
    ],
)
def test_actions_of_hived_read_off_its_figures(name: str, actions: set[str]) -> None:
    prop = AS_WRITTEN.property(name)
    assert isinstance(prop, StepInvariant) and actions_that_meet(AS_WRITTEN, prop) == actions

"""A sequence diagram names who takes each action: an object, a component, or the environment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedproof.model.lang import Model, Var
from schedproof.model.semantics import Choice, Instance
from schedproof.proofs.exploration.counterexample_text import sequence
from schedproof.proofs.exploration.runs import counterexample_of
from tests.support.queue_model import MODEL


def with_actors(**by: Var | str) -> Model:
    actions = [replace(action, by=by.get(action.name, "")) for action in MODEL.actions]
    return replace(MODEL, actions=actions)


def lines(model: Model) -> list[str]:
    """w0 takes e1, and finishes."""
    instance = Instance(model, {"Worker": 2, "Entry": 2})
    choices = [Choice("take", (("w", 0), ("e", 1))), Choice("change", (("e", 1),)), Choice("finish", (("w", 0),))]
    text = sequence(model, "a run", counterexample_of(instance, choices, "it ends"))
    return [line.strip() for line in text.splitlines()]


w, e = MODEL.action("take").parameters


def participants(of: list[str]) -> list[str]:
    return [line.removeprefix("participant ") for line in of if line.startswith("participant ")]


def test_actions_of_nobody_are_the_environments() -> None:
    shown = lines(MODEL)
    assert participants(shown) == ["environment", "w0", "e1"]
    assert "environment->>w0: Worker.take" in shown and "environment->>e1: Entry.change" in shown
    assert "w0->>e1: Entry.settle" in shown  # the rule carries on from the worker
    assert "Note over environment,e1: 1. w0 takes e1" in shown


def test_an_object_takes_its_action() -> None:
    shown = lines(
        with_actors(take=w, change=MODEL.action("change").parameters[0], finish=MODEL.action("finish").parameters[0])
    )
    assert participants(shown) == ["w0", "e1"]
    assert "w0->>w0: Worker.take" in shown and "e1->>e1: Entry.change" in shown
    assert "Note over w0,e1: 1. w0 takes e1" in shown


def test_a_component_takes_its_actions() -> None:
    shown = lines(with_actors(take="job loop", change="web", finish="job loop"))
    assert participants(shown) == ["job_loop as job loop", "web", "w0", "e1"]
    assert "job_loop->>w0: Worker.take" in shown and "web->>e1: Entry.change" in shown
    assert "Note over job_loop,e1: 2. e1 is changed" in shown


def test_an_object_that_acts_and_does_not_change_is_there() -> None:
    """The entry gives itself away, in a run that ends before it changes."""
    model = with_actors(take=e)
    instance = Instance(model, {"Worker": 1, "Entry": 1})
    text = sequence(model, "", counterexample_of(instance, [Choice("take", (("w", 0), ("e", 0)))], "it ends"))
    assert "    participant e0\n" in text and "    e0->>w0: Worker.take\n" in text


def test_a_run_without_steps_is_of_the_environment() -> None:
    text = sequence(MODEL, "", counterexample_of(Instance(MODEL, {"Worker": 1, "Entry": 1}), [], "it is so"))
    assert "    participant environment\n" in text and "Note over environment: it is so" in text


@pytest.mark.parametrize("by", ["scheduler", ""])
def test_who_acts_is_no_part_of_the_meaning(by: str) -> None:
    assert with_actors(take=by).actions == MODEL.actions

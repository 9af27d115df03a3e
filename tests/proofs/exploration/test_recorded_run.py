"""A counterexample keeps its run in numbers: repeated, they give the same states and changes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from schedproof.model.lang import Model
from schedproof.model.semantics import Instance, instances, stepper_of
from schedproof.model.systems.beaker import AS_WRITTEN as BEAKER
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.recorded_run import instance_of, recorded_run
from schedproof.proofs.verdict import Counterexample, RecordedRun
from tests.support.toys import WORKSHOP


def refuted(model: Model, name: str) -> Counterexample:
    """The counterexample of a property at the model's scope."""
    (result,) = model_check(model, model.default_scope, only=[name])
    assert result.counterexample is not None
    return result.counterexample


def repeated(model: Model, run: RecordedRun) -> Mapping[str, Mapping[str, object]]:
    """The fields of each object after a run."""
    instance = instance_of(model, run)
    state = instance.initial()
    for choice in run.choices:
        state = stepper_of(instance).step(state, choice).after
    return {name: fields for of_sort in instance.describe(state).values() for name, fields in of_sort.items()}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (HIVED, "placements-are-disjoint"),
        (HIVED, "recovery-from-durable"),
        pytest.param(BEAKER, "no-abba", marks=pytest.mark.long(one_in=32)),
        (WORKSHOP, "never-tired"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.system,
)
def test_a_repeated_run_ends_as_reported(model: Model, name: str) -> None:
    example = refuted(model, name)
    assert example.recorded is not None and example.end
    end = repeated(model, example.recorded)
    for facts in example.end:
        assert {field: end[facts.object][field] for field in facts.fields} == dict(facts.fields)
    assert [choice.action for choice in example.recorded.choices] == [step.action for step in example.steps]


def test_a_run_records_the_objects_that_violate_the_property() -> None:
    example = refuted(HIVED, "placements-are-disjoint")
    assert example.recorded is not None
    assert example.problem.endswith("for p = g0, q = g2, c = c0")
    assert example.recorded.bound == {"p": 0, "q": 2, "c": 0}


def test_a_stored_run_is_the_same() -> None:
    """Cached verdicts are stored as JSON."""
    run = refuted(BEAKER, "no-abba").recorded
    assert run is not None and run.rigid
    assert msgspec.json.decode(msgspec.json.encode(run), type=RecordedRun) == run


def rigid_values(instance: Instance) -> list[list[int]]:
    """All rigid values of an instance, encoded."""
    return [instance.rigid_values(sort, attribute) for (sort, _), attribute in instance.model.rigid_attributes.items()]


@pytest.mark.parametrize("model", [HIVED, BEAKER], ids=lambda model: model.system)
def test_an_instance_has_the_recorded_configuration(model: Model) -> None:
    for number, instance in enumerate(instances(model, model.default_scope, with_history=True)):
        made = instance_of(model, recorded_run(instance, [], {}))
        assert (made.sizes, made.with_history) == (instance.sizes, True)
        assert rigid_values(made) == rigid_values(instance)
        assert made.initial() == instance.initial()
        if number == 20:
            break

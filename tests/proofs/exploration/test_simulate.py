"""Random walks: what they meet is there, the same seed meets the same, and every step is as likely as the others."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.model.lang import Row
from schedproof.model.semantics import instances, stepper_of
from schedproof.model.systems.hived import AS_WRITTEN, REPAIRED
from schedproof.proofs.checking.model_check import reads_history
from schedproof.proofs.compiled import Walked, walk
from schedproof.proofs.exploration.safety import SAFETY, counterexample
from schedproof.proofs.verdict import Verdict
from schedproof.proofs.verification.properties import expected_of_model
from tests.support.random_graphs import model_of
from tests.support.sample import thinned
from tests.support.toys import MUTEX, WORKSHOP


def walked(
    model: Any, scope: dict[str, int], *, steps: int = 20_000, length: int = 50, seed: int = 1, **how: Any
) -> Walked:
    """Walks of a model in its only configuration, and what they say of its safety properties."""
    [instance] = instances(model, {**model.default_scope, **scope})
    props = [p for p in model.properties if isinstance(p, SAFETY) and not reads_history(model, p)]
    return walk(instance, props, steps=steps, length=length, seed=seed, **how)


def broken(walks: Walked) -> dict[str, list[str]]:
    """What was broken, with the actions of its run."""
    failed = [(w.prop.name, w.failed()) for w in walks.watches]
    examples = {name: counterexample(walks, check) for name, check in failed if check is not None}
    for name, example in examples.items():
        assert example.problem.startswith(f"property {name} is violated "), f"{name} is not violated there"
    return {name: [step.action for step in example.steps] for name, example in examples.items()}


@pytest.mark.long
@pytest.mark.parametrize("seed", thinned(range(5), 5))
def test_only_what_can_be_broken_is_broken(seed: int) -> None:
    result = walked(AS_WRITTEN, {}, seed=seed, steps=2_000)
    assert result.steps == result.action_counts.total() == 2_000
    runs = broken(result)
    assert len(runs) >= 3
    assert all(expected_of_model(AS_WRITTEN, name) is Verdict.REFUTED for name in runs)
    assert not broken(walked(REPAIRED, {}, seed=seed, steps=2_000))


def test_a_reported_run_can_be_taken() -> None:
    result = walked(AS_WRITTEN, {})
    stepper = stepper_of(result.instance)
    for run in result.runs.values():
        now = result.instance.initial()
        for choice in run:
            assert stepper.enabled(now, choice)
            now = stepper.step(now, choice).after
        assert len(run) <= 50


def test_the_same_seed_takes_the_same_walks() -> None:
    one, other = walked(AS_WRITTEN, {}, seed=7), walked(AS_WRITTEN, {}, seed=7)
    assert (one.action_counts, one.walks, one.runs) == (other.action_counts, other.walks, other.runs)
    assert walked(AS_WRITTEN, {}, seed=8).action_counts != one.action_counts


def test_what_was_noted_in_pieces_is_what_is_noted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = walked(AS_WRITTEN, {}, steps=3000)
    monkeypatch.setattr("schedproof.proofs.compiled.walks.AT_ONCE", 7)
    pieces = walked(AS_WRITTEN, {}, steps=3000)
    assert (pieces.action_counts, pieces.runs, pieces.walks) == (whole.action_counts, whole.runs, whole.walks)


def test_every_step_is_as_likely_as_the_others() -> None:
    """From one state, four ways back to it: each is taken in a quarter of the steps, by more than luck."""
    edges = ((0, "a", 1), (0, "b", 1), (0, "c", 1), (0, "d", 1), (1, "e", 0))
    [instance] = instances(model_of(edges, 2), {"Thing": 1})
    result = walk(instance, [], steps=40_000, length=1000, seed=3)
    assert result.action_counts["e"] == 20_000
    assert all(abs(result.action_counts[name] - 5000) < 5 * (20_000 * 0.25 * 0.75) ** 0.5 for name in "abcd")


def test_a_step_is_as_likely_as_its_weight_says() -> None:
    """From one state, four ways back to it with the weights 0, 1, 2 and 5, and one that has none of its own."""
    edges = ((0, "a", 1), (0, "b", 1), (0, "c", 1), (0, "d", 1), (0, "f", 1), (1, "e", 0))
    [instance] = instances(model_of(edges, 2), {"Thing": 1})
    weights = {"a": 0, "b": 1, "c": 2, "d": 5}
    result = walk(instance, [], steps=40_000, length=1000, seed=3, weights=weights)
    assert result.action_counts["e"] == 20_000 and result.action_counts["a"] == 0
    for name, weight in {"b": 1, "c": 2, "d": 5, "f": 1}.items():
        share = weight / 9
        assert abs(result.action_counts[name] - 20_000 * share) < 5 * (20_000 * share * (1 - share)) ** 0.5


def test_a_walk_ends_where_no_step_has_a_weight() -> None:
    edges = ((0, "a", 1), (1, "b", 2), (2, "c", 0))
    [instance] = instances(model_of(edges, 3), {"Thing": 1})
    result = walk(instance, [], steps=10, length=1000, seed=1, weights={"c": 0})
    assert (result.action_counts, result.walks, result.ended) == (Counter(a=5, b=5), 5, 4)
    assert walk(instance, [], steps=10, length=1000, seed=1, weights={"a": 0}).steps == 0


def test_a_weighted_run_can_be_taken() -> None:
    result = walked(AS_WRITTEN, {}, weights={"allocate": 7, "crash": 0})
    stepper = stepper_of(result.instance)
    assert result.runs and result.action_counts["crash"] == 0
    for run in result.runs.values():
        now = result.instance.initial()
        for choice in run:
            assert stepper.enabled(now, choice)
            now = stepper.step(now, choice).after


def test_walks_begin_again_at_standstill_and_when_long_enough() -> None:
    ending = ((0, "a", 1), (1, "b", 2), (2, "c", 2))
    [instance] = instances(model_of(ending, 3), {"Thing": 1})
    result = walk(instance, [], steps=10, length=1000, seed=1)
    assert (result.action_counts, result.walks, result.ended) == (Counter(a=5, b=5), 5, 4)
    [endless] = instances(model_of(((0, "a", 1), (1, "b", 0)), 2), {"Thing": 1})
    result = walk(endless, [], steps=10, length=3, seed=1)
    assert (result.action_counts, result.walks, result.ended) == (Counter(a=7, b=3), 4, 0)


def test_a_model_that_cannot_move_takes_no_step() -> None:
    [instance] = instances(model_of(((0, "a", 0),), 1), {"Thing": 1})
    assert walk(instance, [], steps=10, length=3, seed=1).steps == 0


def test_ill_formed_steps_are_met() -> None:
    rows = [Row(row.sort, "kicked", "Idle", "Idle") if row.event == "kicked" else row for row in WORKSHOP.rows]
    assert walked(replace(WORKSHOP, rows=rows), {}).ill_formed is not None
    assert walked(WORKSHOP, {}).ill_formed is None
    assert walked(MUTEX, {}).ill_formed is None


@pytest.mark.long
def test_without_crashes_none_is_taken() -> None:
    assert walked(AS_WRITTEN, {}).action_counts["crash"] > 0
    assert walked(AS_WRITTEN, {}, crash=False).action_counts["crash"] == 0


# --- The command -----------------------------------------------------------------------------------------------------


def test_what_is_expected_to_break_is_no_reason_to_complain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    assert main(["simulate", "hived", "--steps", "20000", "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "20000 steps in" in shown and "0 of them unexpectedly; nothing is proved" in shown
    content = json.loads(out.read_text("utf-8"))
    assert content["ok"] and content["steps"] == 20_000 == sum(content["per_action"].values())
    assert set(content["broken"]) >= {"preemption-ongoing"}
    assert all(each["expected"] == "refuted" for each in content["broken"].values())


def test_an_unexpected_violation_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("schedproof.cli.commands.simulate.expected_of_model", lambda model, name: Verdict.PROVED)
    assert main(["simulate", "hived", "--steps", "20000"]) == 1
    shown = capsys.readouterr().out
    assert "unexpected: preemption-ongoing is violated after" in shown
    assert "begins to preempt" in shown, "the run is shown"


@pytest.mark.long
def test_several_configurations_are_walked_through() -> None:
    assert main(["simulate", "beaker", "--variant", "strict", "--steps", "500"]) == 0


@pytest.mark.parametrize("wrong", [["--steps", "0"], ["--length", "0"], ["--seed", "-1"], ["--scope", "Cell=x"]])
def test_bad_input_is_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "hived", *wrong]) == 2
    shown = capsys.readouterr()
    assert len(shown.err.splitlines()) == 1 and not shown.out

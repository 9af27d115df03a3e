"""A model is checked where it is used: whatever uses it refuses a wrong one, and building one costs no check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.diagrams.from_model import diagram
from schedproof.model.lang import Model, ModelError, Row
from schedproof.model.lang.check import checked
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from schedproof.model.semantics import Instance, Run, check_scope
from schedproof.model.systems.hived import REPAIRED
from schedproof.model.systems.hived.machines import PodGroup
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.induction import prove
from schedproof.proofs.traces import check_trace
from schedproof.proofs.traces.formats.writing import as_plain
from tests.support.rows import each_row

WRONG = replace(REPAIRED, rows=[*REPAIRED.rows, Row(PodGroup, "e1", "Nowhere", "Allocated")])

REFUSAL = r"test_checked.py:\d+: row PodGroup.e1 from Nowhere: unknown state 'Nowhere'"

SIZES = {"PodGroup": 1, "Cell": 1}

USES: dict[str, Callable[[Model], object]] = {
    "instance": lambda model: Instance(model, SIZES),
    "scope": lambda model: check_scope(model, {}),
    "model checking": lambda model: model_check(model, {}),
    "induction": prove,
    "picture of a machine": lambda model: diagram(model, "PodGroup"),
    "picture of all triggers": diagram,
}


@each_row("use", USES.values(), ids=USES.keys())
def test_whatever_uses_a_wrong_model_refuses_it(use: Callable[[Model], object]) -> None:
    with pytest.raises(ModelError, match=REFUSAL):
        use(WRONG)


def test_trace_validation_refuses_a_wrong_model(tmp_path: Path) -> None:
    instance = Instance(REPAIRED, SIZES)
    log = tmp_path / "log.jsonl"
    log.write_text(as_plain(Run(instance, [], [instance.initial()])))
    with pytest.raises(ModelError, match=REFUSAL):
        check_trace(System.of(WRONG), log)


def test_a_model_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = replace(REPAIRED)
    assert checked(model) is model
    monkeypatch.setattr("schedproof.model.lang.check._check", lambda model: pytest.fail("it is checked again"))
    assert checked(model) is model


def test_what_is_made_of_a_checked_model_is_checked_again() -> None:
    with pytest.raises(ModelError):
        checked(replace(checked(REPAIRED), rows=WRONG.rows))


def test_every_model_that_comes_with_schedproof_is_right() -> None:
    models = [model for system in systems().values() for model in system.variants.values()]
    assert len(models) > 20
    for model in models:
        checked(replace(model))

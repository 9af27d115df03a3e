"""SPIN, and the reader of TLA+, find the same states and steps of models with timers."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedproof.model.lang.timers import TIMES
from tests.proofs.export.exported import only
from tests.proofs.export.test_promela import same as same_in_spin
from tests.proofs.export.test_tla import same as same_in_tla
from tests.support.needs import needs_spin
from tests.support.timed import Setting, model

SETTING = Setting({"a": (1, 1), "b": (2, 2)}, late=["a"], stops=["a"])


@needs_spin
@pytest.mark.parametrize("time", TIMES)
def test_spin_finds_the_same_of_timers(time: str, tmp_path: Path) -> None:
    same_in_spin(only(model(SETTING, time, calls=2)), tmp_path)


@pytest.mark.parametrize("time", TIMES)
def test_the_reader_of_tla_finds_the_same_of_timers(time: str) -> None:
    same_in_tla(only(model(SETTING, time, calls=2)))

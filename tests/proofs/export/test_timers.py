"""SPIN, and the reader of TLA+, find the same states and steps of models with timers."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedproof.model.lang.timers import TIMES
from tests.proofs.export.exported import only
from tests.proofs.export.test_promela import same as same_in_spin
from tests.proofs.export.test_tla import same as same_in_tla
from tests.support.needs import needs_spin
from tests.support.sample import thinned
from tests.support.timed import Setting, model

SETTINGS = [
    Setting({"a": (1, 1), "b": (2, 2)}, late=["a"], stops=["a"]),
    Setting({"a": (1, 2), "b": (3, 3)}, late=["a"], periodic=["a"]),
    Setting({"a": (1, 2), "b": (2, 2)}, unpunctual=["a"]),
]
EVERY = [(time, setting) for setting in SETTINGS for time in TIMES]


@needs_spin
@pytest.mark.parametrize(("time", "setting"), thinned(EVERY, 6))
def test_spin_finds_the_same_of_timers(time: str, setting: Setting, tmp_path: Path) -> None:
    same_in_spin(only(model(setting, time, calls=2)), tmp_path)


@pytest.mark.parametrize(("time", "setting"), thinned(EVERY, 6))
def test_the_reader_of_tla_finds_the_same_of_timers(time: str, setting: Setting) -> None:
    same_in_tla(only(model(setting, time, calls=2)))

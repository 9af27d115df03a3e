"""Asserts in modules that only hold shared tests are shown as those in test modules are; garbage is collected seldom;
machine code is kept beside pytest's own cache."""

import gc
import os
from pathlib import Path

import pytest

# Graphs of hundreds of thousands of states are built and kept: to look through them for garbage takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)

pytest.register_assert_rewrite(
    "beaker_daemons", "beaker_people", "beaker_races", "beaker_refusals", "beaker_runs", "beaker_scenarios"
)

os.environ.setdefault("SCHEDPROOF_CACHE", str(Path(__file__).parents[1] / ".pytest_cache" / "machine-code"))

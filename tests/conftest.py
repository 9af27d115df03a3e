"""Asserts in modules that only hold shared tests are shown as those in test modules are."""

import pytest

pytest.register_assert_rewrite(
    "beaker_daemons", "beaker_people", "beaker_races", "beaker_refusals", "beaker_runs", "beaker_scenarios"
)

"""Asserts in modules that only hold shared tests are shown as those in test modules are; garbage is collected seldom;
machine code is kept beside pytest's own cache; what takes longest begins first, so that at the end no process waits for another; where two
graphs differ, their first difference is shown."""

import gc
import os
from collections.abc import Iterator

import pytest

from tests.support.places import ROOT

# Graphs of hundreds of thousands of states are built and kept: to look through them for garbage takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)

pytest.register_assert_rewrite(
    "tests.systems.beaker.impl.daemons",
    "tests.systems.beaker.impl.people",
    "tests.systems.beaker.impl.races",
    "tests.systems.beaker.impl.refusals",
    "tests.systems.beaker.impl.runs",
    "tests.systems.beaker.impl.scenarios",
)

os.environ.setdefault("SCHEDPROOF_CACHE", str(ROOT / ".pytest_cache" / "machine-code"))

SLOWEST = [
    "tests/systems/jobmon/processes/test_kills.py::test_hundreds_of_kills",
    "tests/systems/jobmon/model/test_shipped_mutants.py::test_every_mutant_is_told_from_the_model",
    "tests/diagrams/test_gallery.py::test_the_gallery_is_fresh",
    "tests/systems/jobmon/traces/test_mutations.py::test_what_is_hidden_is_no_departure_in_more_runs",
    "tests/systems/jobmon/traces/test_mutations.py::test_more_dumps",
    "tests/systems/jobmon/processes/test_kills.py::test_kills_on_postgresql",
    "tests/proofs/compiled/test_beside_interpreted.py::test_symmetry_leaves_a_fortieth_of_the_states_of_hived",
    "tests/proofs/compiled/test_beside_interpreted.py::test_the_same_of_every_variant_at_three_scopes",
    "tests/systems/jobmon/model/test_brute_force_shipped.py::test_both_break_the_same_promises_in_each_situation",
    "tests/proofs/export/test_promela.py::test_spin_agrees_on_every_system",
]
"""Tests of more than twenty seconds, or many of several, slowest first. Each makes for itself what it needs, so that it can run anywhere."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slowest first, the others as they were."""
    order = {name: at for at, name in enumerate(SLOWEST)}
    items.sort(
        key=lambda item: order.get(f"{item.nodeid.partition('::')[0]}::{getattr(item, 'originalname', '')}", len(order))
    )


@pytest.fixture(scope="session", autouse=True)
def _first_differences() -> Iterator[None]:
    """Where these are set, pytest writes out whole differences; those of two graphs take it hours, and planted bugs make many.

    Only where tests run, and after Hypothesis has looked: it draws the same examples each time where they are set.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER"):
            patch.delenv(name, raising=False)
        yield

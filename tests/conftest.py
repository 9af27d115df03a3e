"""Asserts in modules that only hold shared tests are shown as those in test modules are; garbage is collected seldom;
machine code is kept beside pytest's own cache; what takes longest begins first, so that at the end no process waits for another; what
needs something that is not there is skipped; where two graphs differ, their first difference is shown."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest

from tests.support.needs import missing
from tests.support.places import ROOT

# Graphs of hundreds of thousands of states are built and kept: to look through them for garbage takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)

# A script's shell lets what it starts in the background ignore interrupts, and that is inherited: processes of tests heed them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest.register_assert_rewrite(
    "tests.systems.beaker.impl.daemons",
    "tests.systems.beaker.impl.people",
    "tests.systems.beaker.impl.races",
    "tests.systems.beaker.impl.refusals",
    "tests.systems.beaker.impl.runs",
    "tests.systems.beaker.impl.scenarios",
)

os.environ.setdefault("SCHEDPROOF_CACHE", str(ROOT / ".pytest_cache" / "machine-code"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slowest first, by what their marks say, the others as they were."""
    items.sort(key=lambda item: -seconds(item))


def seconds(item: pytest.Item) -> float:
    """How long a test took when it was measured; 0 where nothing is said."""
    return max((mark.kwargs.get("seconds", 0) for mark in item.iter_markers("long")), default=0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """All are skipped from here, so that the summary has one line for each thing that is not there."""
    for words in missing(item):
        pytest.skip(f"needs {words}")


@pytest.fixture(scope="session", autouse=True)
def _first_differences() -> Iterator[None]:
    """Where these are set, pytest writes out whole differences; those of two graphs take it hours, and planted bugs make many.

    Only where tests run, and after Hypothesis has looked: it draws the same examples each time where they are set.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER"):
            patch.delenv(name, raising=False)
        yield

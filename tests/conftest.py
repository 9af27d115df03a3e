"""Asserts in modules that only hold shared tests are shown as those in test modules are; garbage is collected seldom;
machine code is kept beside pytest's own cache; the slowest tests begin first, so that at the end no process waits for another;
a test whose needs are missing is skipped; where two graphs differ, their first difference is shown."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest

from tests.support.needs import missing
from tests.support.places import ROOT

# Graphs of hundreds of thousands of states are built and kept: to look through them for garbage takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)

# A shell script starts background processes with interrupts ignored, and children inherit that. Tests send interrupts to children.
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
# A verdict of an earlier run would hide what a test does to an engine.
os.environ["SCHEDPROOF_NO_CACHE"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts tests by the seconds in their marks, the slowest first; others keep their order."""
    items.sort(key=lambda item: -seconds(item))


def seconds(item: pytest.Item) -> float:
    """Returns the measured processor time of a test; 0 if its mark has none."""
    return max((mark.kwargs.get("seconds", 0) for mark in item.iter_markers("long")), default=0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test whose needs are missing. pytest's summary groups skips by place, so each need is one line."""
    for description in missing(item):
        pytest.skip(f"needs {description}")


@pytest.fixture(scope="session", autouse=True)
def _first_differences() -> Iterator[None]:
    """Where these are set, pytest writes out whole differences; those of two graphs take it hours, and planted bugs make many.

    Only where tests run, and after Hypothesis has looked: it draws the same examples each time where they are set.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER"):
            patch.delenv(name, raising=False)
        yield

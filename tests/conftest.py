"""Asserts in modules that only hold shared tests are shown as those in test modules are; garbage is collected seldom;
compiled code and byte code are kept beside pytest's own cache; the slowest tests begin first, so that at the end no process waits for
another; of some long tests a share runs each day; a test whose needs are missing is skipped; where two graphs differ, their first
difference is shown."""

import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import hypothesis
import pytest

from tests.support.memory import Memory
from tests.support.needs import missing
from tests.support.places import ROOT
from tests.support.progress import Progress
from tests.support.sample import ALL, VARIABLE, left_out, set_sample

# Graphs of hundreds of thousands of states are built and kept: to look through them for garbage takes a tenth of the time. `Memory`
# collects it when a process has grown.
gc.set_threshold(100_000, 50, 100)
gc.disable()

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
# Hundreds of short processes import the package: where no byte code is to be left beside the source, each would compile all of it.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / ".pytest_cache" / "byte-code")
# A verdict of an earlier run would hide what a test does to an engine.
os.environ["SCHEDPROOF_NO_CACHE"] = "1"

# Hypothesis fails tests that take long, or whose values take long to draw: on a busy machine, or where its tables of characters are made.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


@pytest.hookimpl(trylast=True)  # after pytest's own, which makes the reporter
def pytest_configure(config: pytest.Config) -> None:
    """Sets the share of the long tests for all processes, bounds their memory, and shows progress where nobody wants names."""
    set_sample()
    config.pluginmanager.register(Memory(), "memory of the tests")
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput") and config.get_verbosity() <= 0:
        config.pluginmanager.register(Progress(reporter), "progress of the tests")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says how to run the same share of the long tests again."""
    if "long" in config.option.markexpr.replace("not long", ""):
        sample = os.environ[VARIABLE]
        terminalreporter.write_line(f"{VARIABLE}={sample} runs these long tests again, {VARIABLE}={ALL} all of them")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects long tests that are not in today's share.

    Sorts tests by the seconds in their marks, the slowest first; others keep their order.
    """
    if out := set(left_out(items)):
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]
    items.sort(key=lambda item: -seconds(item))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Every second process imports the test modules from the last to the first, before it collects them.

    Where there is no byte code yet, as in a new clone, each then compiles half of them and reads the other half.
    """
    worker = getattr(session.config, "workerinput", {}).get("workerid", "gw0")
    if int(worker.removeprefix("gw")) % 2 and [ROOT / each for each in session.config.args] == [ROOT / "tests"]:
        for path in sorted((ROOT / "tests").rglob("test_*.py"), reverse=True):
            with suppress(Exception, pytest.skip.Exception):  # which collecting it reports
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: no search for garbage looks through it again."""
    gc.freeze()


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
    """Where these are set, pytest writes out whole differences; those of two graphs take it hours, and seeded faults make many.

    Only where tests run, and after Hypothesis has looked: it draws the same examples each time where they are set.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER"):
            patch.delenv(name, raising=False)
        yield

"""The test that a page has to copy: it passes as it is, and fails when the run is no longer one of the model."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from schedproof import api
from schedproof.diagrams.player.regression import LONGEST_NAME, regression_test
from schedproof.model.lang import Model
from schedproof.model.registry.system import System
from schedproof.model.semantics import Choice, Instance
from schedproof.model.systems.hived import AS_WRITTEN as HIVED
from schedproof.proofs.exploration.runs import counterexample_of
from tests.diagrams.player.hostile import ATTACK, HOSTILE
from tests.diagrams.player.runs import RUNS, blinking, page_of, refuted
from tests.support.browsing import Opened
from tests.support.lamps import lamps, x
from tests.support.needs import needs_chromium
from tests.support.rows import each_row
from tests.support.toys import MUTEX

NAME = "placements-are-disjoint"


def test_of(text: str) -> Callable[[], None]:
    """The test in a file's text."""
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    ((name, function),) = [(name, value) for name, value in namespace.items() if name.startswith("test_")]
    assert name.isidentifier() and len(name) <= LONGEST_NAME
    return function  # type: ignore[no-any-return]


test_of.__test__ = False  # type: ignore[attr-defined]


def text_of(model: Model, name: str) -> str:
    return regression_test(model, refuted(model, name), f"{name} ({model.system})", model.property(name))


def of_system(*models: Model) -> Any:
    """Lets the public functions find these variants."""
    system = System("toy", "toy", {each.variant: each for each in models}, validated_by=models[0].variant)
    return patch.object(api, "load_system", lambda name: system)


@each_row(("model", "name"), RUNS, ids=[name for _, name in RUNS])
def test_the_test_passes_for_every_kind_of_property(model: Model, name: str) -> None:
    with of_system(model):
        test_of(text_of(model, name))()


def test_a_lasso_is_asserted_to_repeat() -> None:
    assert "# it repeats for ever" in text_of(MUTEX, "weakly-fair-entry")


def test_a_run_without_a_property_asserts_its_end() -> None:
    text = regression_test(lamps(), blinking(3), "a lamp blinks", None)
    assert "assert run.states[-1]['Lamp']['l0'] == {'state': 'On'}" in text
    with of_system(lamps()):
        test_of(text)()
    changed = text.replace("{'state': 'On'}", "{'state': 'Off'}")
    with of_system(lamps()), pytest.raises(AssertionError):
        test_of(changed)()


def test_an_ill_formed_run_is_asserted_to_be_one() -> None:
    """A lamp that is on is switched on again, for which the table has no row."""
    model = lamps()
    always_on = replace(model, actions=[replace(model.actions[0], when=[])], properties=[], refuted=frozenset())
    example = counterexample_of(
        Instance(always_on, {"Lamp": 1}), [Choice("switch_on", (("x", 0),))] * 2, "l0 fires twice"
    )
    text = regression_test(always_on, example, "well-formed", None)
    assert "assert 'well-formed' in run.violated" in text
    with of_system(always_on):
        test_of(text)()


def test_a_property_that_is_not_violated_makes_it_fail() -> None:
    text = regression_test(lamps(), blinking(1), "stays-dark", lamps().property("stays-dark"))
    with of_system(lamps()):
        test_of(text)()
    lenient = replace(lamps().property("stays-dark"), then=x.is_("Off", "On"))
    with of_system(lamps(properties=[lenient], refuted=())), pytest.raises(AssertionError):
        test_of(text)()


def test_a_run_that_is_impossible_makes_it_fail() -> None:
    text = text_of(HIVED, NAME).replace("('vacate', {'c': 'c0'}),", "('vacate', {'c': 'c1'}),")
    with (
        of_system(HIVED),
        pytest.raises(AssertionError, match=r"step 3, vacate\(c='c1'\), is not enabled; vacate needs: "),
    ):
        test_of(text)()


def test_hostile_names_do_not_leave_their_strings() -> None:
    name = HOSTILE.properties[0].name
    prop = HOSTILE.property(name)
    example = replace(refuted(HOSTILE, name), problem='"""\nraise SystemExit  # \\')
    text = regression_test(HOSTILE, example, f'{name}"""\nraise SystemExit("{ATTACK}")', prop)
    with of_system(HOSTILE):
        test_of(text)()


@pytest.mark.long
@needs_chromium
def test_the_copied_test_runs_under_pytest(opened: Opened, tmp_path: Path) -> None:
    page = opened(page_of(HIVED, NAME), permissions=["clipboard-read", "clipboard-write"])
    page.click("text=As a regression test")
    page.click("button[data-of=test]")
    page.wait_for_function("document.getElementById('copied').textContent === 'Copied.'")
    copied = page.evaluate("navigator.clipboard.readText()")
    file = tmp_path / "test_copied.py"
    file.write_text(copied, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
    file.write_text(copied.replace("variants['as-written']", "variants['repaired']"), "utf-8")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "unknown action 'vacate' of hived repaired" in done.stdout


@pytest.mark.long
def test_the_test_of_a_user_s_system_runs(tmp_path: Path) -> None:
    def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    assert run("schedproof", "init", "lease", folder=tmp_path).returncode == 0
    folder = tmp_path / "lease"
    assert run("schedproof", "explain", "lease", "one-at-a-time", "--html", "run.html", folder=folder).returncode == 0
    pre = re.search(r'<pre id="test"[^>]*>(.*?)</pre>', (folder / "run.html").read_text("utf-8"), re.DOTALL)
    assert pre is not None
    (folder / "test_run.py").write_text(unescape(pre[1]), "utf-8")
    done = run("pytest", "-q", "-p", "no:cacheprovider", "test_run.py", folder=folder)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout

"""``explain --html``: the page of a counterexample, of a life cycle, of a run to a state; and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from tests.support.lamps import lamps, system
from tests.support.registry import put

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs ``explain`` on lamps."""

    def command(*arguments: str) -> tuple[int, str, str]:
        put(monkeypatch, {"lamps": system()})
        code = main(["explain", "lamps", *arguments])
        return code, *capfd.readouterr()

    return command


def data(page: str) -> Any:
    """The data of a page."""
    script = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert script is not None
    return json.loads(script[1])


def test_a_counterexample_has_a_page_and_its_text(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    code, out, _ = run("stays-dark", "--html", str(file))
    assert code == 0
    assert out == run("stays-dark")[1]
    page = data(file.read_text("utf-8"))
    assert page["about"]["title"] == "stays-dark (lamps plain)"
    assert page["about"]["verdict"] == "refuted in 1 step at Lamp=2, expected refuted"
    assert page["about"]["sentence"] == "Lamps stay dark."
    assert [step["says"] for step in page["steps"]] == ["l0 is switched on"]
    assert [formula["part"]["text"] for formula in page["formulas"]] == ["l0 Off"]


def test_a_page_on_standard_output_is_alone(run: Run) -> None:
    code, out, _ = run("stays-dark", "--html", "-")
    assert code == 0
    assert out.startswith("<!DOCTYPE html>") and out.rstrip().endswith("</html>")


def test_a_life_cycle_s_page_has_no_formula(run: Run) -> None:
    page = data(run("blinks", "--html", "-")[1])
    assert (page["problem"], page["formulas"]) == ("l0 goes through Off -> On -> Off", [])
    assert [step["action"] for step in page["steps"]] == ["switch_on", "switch_off"]


def test_a_run_to_a_state_has_a_page(run: Run) -> None:
    page = data(run("--state", "l1=On", "--html", "-")[1])
    assert page["about"]["title"] == "lamps plain at Lamp=2: l1=On"
    assert [step["says"] for step in page["steps"]] == ["l1 is switched on"]


def test_a_changed_verdict_keeps_its_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(monkeypatch, {"lamps": system(lamps(refuted=()))})
    file = tmp_path / "run.html"
    assert main(["explain", "lamps", "stays-dark", "--html", str(file)]) == 1
    assert data(file.read_text("utf-8"))["about"]["verdict"].endswith("expected proved")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["on-or-off"], "--html: on-or-off has no run to play, since it is proved (any number); leave --html out"),
        (["--state", "l0=On", "--scope", "Lamp=1", "--state", "l0=Off"], "--html: no state that is reachable"),
        (["stays-dark", "--json", "{file}"], "--json, --html: both write to "),
    ],
)
def test_without_a_run_nothing_is_written(run: Run, tmp_path: Path, arguments: list[str], says: str) -> None:
    file = tmp_path / "run.html"
    code, out, err = run(*[each.format(file=file) for each in arguments], "--html", str(file))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert says in err
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_leaves_the_old_one(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    file.write_text("old")
    assert run("on-or-off", "--html", str(file))[0] == 2
    assert file.read_text() == "old"
    code, _, err = run("stays-dark", "--html", "/dev/full")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "cannot write /dev/full: No space left on device" in err


@pytest.mark.long
def test_a_deadlock_of_threads_has_a_text_and_no_page(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its property is one of a lock file, not of the model."""
    arguments = ["explain", "yunikorn-merge", "deadlock.core-50"]
    assert main(arguments) == 0
    assert "4. events: wlock parent, and has to wait (core-50.yaml:17)" in capfd.readouterr().out
    assert main([*arguments, "--html", str(tmp_path / "run.html")]) == 2
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1) and "is not a run of the model" in err
    assert list(tmp_path.iterdir()) == []


def test_another_run_stands_beside_it(run: Run) -> None:
    """Also that of a life cycle, and of the same variant."""
    beside = data(run("stays-dark", "--html", "-", "--compare-to", "plain:blinks")[1])["comparison"]
    assert (beside["variant"], beside["property"]) == ("plain", "blinks")
    assert [step["action"] for step in beside["steps"]] == ["switch_on", "switch_off"]
    beside = data(run("--state", "l1=On", "--html", "-", "--compare-to", "plain:stays-dark")[1])["comparison"]
    assert [step["says"] for step in beside["steps"]] == ["l0 is switched on"]


REFUSED_COMPARISONS = {
    "plain:stays-dark": "--compare-to: the run is of plain; name another variant or property, or leave it out",
    "plain": "--compare-to: the run is of plain; name another variant or property, or leave it out",
    "plain:on-or-off": "--compare-to: on-or-off of plain has no run to play, since it is proved",
    "plain:": "unknown property '' of lamps plain",
    "dim:blinks": "unknown variant of lamps 'dim'",
}


@pytest.mark.parametrize("beside", REFUSED_COMPARISONS)
def test_what_has_no_other_run_is_refused(run: Run, beside: str, tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    code, _, problem = run("stays-dark", "--html", str(file), "--compare-to", beside)
    assert code == 2 and REFUSED_COMPARISONS[beside] in problem and problem.count("\n") == 1
    assert not file.exists()

"""The table of verdicts: one row for all that an ill-formed model leaves open, and reasons below the table."""

from __future__ import annotations

import pytest

from schedproof.cli import main
from schedproof.model.registry.system import System
from tests.support.ill_formed import STEPS
from tests.support.registry import put
from tests.support.user_repository import imports_undone, repository

ILL_FORMED = "the model is not well-formed, and what its ill-formed steps lead to was not explored"


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str):
        with imports_undone():
            return main(arguments), *capfd.readouterr()

    return command


@pytest.mark.parametrize("command", ["verify", "explore"])
def test_an_ill_formed_model_has_one_row_for_all_others(run, tmp_path, command):
    repository(
        tmp_path, model=('"take", "Free", "Held", holder=given("by")', '"take", "Held", "Held", holder=given("by")')
    )
    model = tmp_path / "lease" / "model.py"
    model.write_text(model.read_text().replace('State("Held")]', 'State("Held", unreachable=True)]'))
    code, out, _ = run(command, "lease", "--variant", "as-written", *(["--jobs", "1"] if command == "verify" else []))
    assert code == 1
    rows = [line for line in out.splitlines() if "UNDETERMINED" in line]
    assert [" ".join(row.split()) for row in rows] == [
        "9 other properties undetermined: the model is not well-formed UNDETERMINED"
    ]
    assert [line for line in out.splitlines() if ILL_FORMED in line] == [
        ("lease as-written " if command == "verify" else "")
        + "works-under-a-lease, lease-is-held, one-at-a-time, held-by-somebody, freed-in-between, work-gets-done, never-stuck, "
        + f"leases-come-back, nobody-starves: undetermined: {ILL_FORMED}"
    ]


@pytest.mark.parametrize("command", ["verify", "explore"])
def test_the_reason_of_a_vacuous_verdict_is_below_the_table(run, tmp_path, command):
    repository(tmp_path, model=("given=w.lease == l,", 'given=(w.lease == l) & w.is_("Idle"),'))
    arguments = [
        "--variant",
        "as-written",
        "--property",
        "lease-is-held",
        *(["--jobs", "1"] if command == "verify" else []),
    ]
    code, out, _ = run(command, "lease", *arguments)
    row, reason = [line for line in out.splitlines() if "lease-is-held" in line]
    assert code == 3
    assert row.split() == [
        "lease-is-held",
        "invariant",
        "undetermined:",
        "vacuous",
        "refuted",
        "UNDETERMINED",
        row.split()[-1],
    ]
    assert reason.endswith(
        "lease-is-held: undetermined: vacuous: its premise is never true at Worker=2,Lease=1: "
        "no state has w Idle together with w.lease = l, expected refuted"
    )


def test_the_first_words_of_other_reasons(run, monkeypatch):
    put(monkeypatch, {"steps": System.of(STEPS)})
    _, out, _ = run("verify", "steps", "--property", "kept", "--jobs", "1")
    rows = [line for line in out.splitlines() if line.startswith("kept ")]
    assert len(rows) == 1 and "undetermined: the model is not proved well-formed  " in rows[0]
    assert "steps plain kept: undetermined: the model is not proved well-formed: not inductive: " in out

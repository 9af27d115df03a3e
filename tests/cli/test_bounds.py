"""Integers without a bound on the command line: --bound, what was cut, and the bound of a manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from tests.support.user_repository import imports_undone

MANIFEST = """
[systems.election]
model = "election_model:ELECTION"
"""


@pytest.fixture(autouse=True)
def election(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository with the election of the tests."""
    (tmp_path / "schedproof.toml").write_text(MANIFEST)
    (tmp_path / "election_model.py").write_text("from tests.support.elections import ELECTION\n")
    monkeypatch.chdir(tmp_path)
    with imports_undone():
        yield


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code, and all that was printed."""
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out + err


def test_explore_reports_the_frontier(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explore", "election", "--no-symmetry")
    assert code == 3  # elected is open
    assert "holds at Node=2 within term <= 3" in text
    assert "lead beyond term <= 3, and were not explored" in text
    assert "election as-written at Node=2 within term <= 3:" in text.splitlines()[-1]
    assert "deadlock" not in text.splitlines()[-2]


def test_a_bound_on_the_command_line_replaces_that_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {}
    for high in ("3", "5", "0..5"):
        code, text = printed(capsys, "explore", "election", "--bound", f"Node.term={high}", "--json", "-")
        result = json.loads(text)
        counts[high] = result["states"], result["frontier"], result["within"]
        assert code == 3 and result["stuck"] == 0
    assert counts["5"] == counts["0..5"]
    assert counts["5"][0] > counts["3"][0]
    assert (counts["3"][2], counts["5"][2]) == ("term <= 3", "term <= 5")


def test_the_manifest_may_have_the_bound(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "schedproof.toml").write_text(
        f'{MANIFEST}\n[systems.election.variants.as-written]\nbound = {{ "Node.term" = [0, 4] }}\n'
    )
    _, text = printed(capsys, "explore", "election", "--counts-only")
    assert "within term <= 4" in text


def test_simulate_counts_walks_that_end_at_the_bound_apart(capsys: pytest.CaptureFixture[str]) -> None:
    # A follower of the greatest term can always stand: no walk ends before the bound.
    code, text = printed(capsys, "simulate", "election", "--steps", "5000", "--json", "-")
    result = json.loads(text)
    assert code == 0
    assert result["ended"] == 0
    assert result["cut"] > 100


def test_a_walk_may_be_cut_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "simulate", "election", "--bound", "Node.term=0")
    assert code == 0
    assert "0 steps in" in text


def test_explain_looks_within_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "election", "--state", "n0.term=4")
    assert code == 1
    assert "reachable at this scope within term <= 3 satisfies this; a greater bound or a larger scope" in text
    code, text = printed(capsys, "explain", "election", "--state", "n0.term=4", "--bound", "Node.term=4")
    assert code == 0
    assert "After 4 steps" in text


def test_profile_takes_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "profile", "election", "--bound", "Node.term=1")
    assert code == 0
    assert "stand" in text

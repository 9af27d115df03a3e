"""Integers without a bound on the command line: --bound, what was cut, and the bound of a manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import in_repository_of, printed

MANIFEST = """
[systems.election]
model = "election_model:ELECTION"
"""


@pytest.fixture(autouse=True)
def election(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository with the election of the tests."""
    with in_repository_of("election", "elections", "ELECTION", tmp_path, monkeypatch):
        yield


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


def test_a_bound_too_small_for_a_counterexample_is_no_difference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # A node is at term 2 after two steps: within 1 nothing refutes that no node ever is.
    (tmp_path / "election_model.py").write_text(
        "from schedproof.model.lang import Invariant\nfrom tests.support.elections import ELECTION as E, n\n"
        'ELECTION = E.asking([Invariant(name="low", says="low", over=[n], then=n.term < 2)])\n'
    )
    (tmp_path / "schedproof.toml").write_text(
        f'{MANIFEST}\n[systems.election.variants.as-written]\nrefuted = ["low"]\n'
    )
    for bound, standing in (("1", "scope too small"), ("3", "as expected"), ("4", "as expected")):
        code, text = printed(capsys, "explore", "election", "--bound", f"Node.term={bound}", "--json", "-")
        [low] = [p for p in json.loads(text)["properties"] if p["name"] == "low"]
        assert (code, low["standing"]) == (0, standing)


def test_what_a_smaller_bound_leaves_open_is_not_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "election_model.py").write_text(
        "from schedproof.model.lang import LifeCycle\nfrom tests.support.elections import ELECTION as E, Node\n"
        'LIFE = LifeCycle(name="life", says="led twice", sort=Node,\n'
        '    states=["Follower", "Candidate", "Leader", "Follower", "Candidate", "Leader"])\n'
        "ELECTION = E.asking([LIFE])\n"
    )
    code, text = printed(capsys, "explore", "election", "--bound", "Node.term=2")
    assert code == 0
    assert "not checked: life: its goal may lie beyond this bound" in text
    code, text = printed(capsys, "explore", "election")
    assert code == 0
    assert "life         can happen       holds at Node=2" in text


@pytest.mark.long
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


def test_list_has_the_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = printed(capsys, "list", "election", "--json", "-")
    [variant] = json.loads(text)["systems"][0]["variants"]
    assert variant["bound"] == {"Node.term": [0, 3]}
    [machine] = variant["machines"]
    assert machine["attributes"] == [{"name": "term", "type": "Nat", "kind": ""}]


def test_explain_says_which_runs_lead_to_a_goal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # Nodes that stand for ever never lead: their terms grow, and no bound has that run.
    (tmp_path / "election_model.py").write_text(
        "from schedproof.model.lang import LeadsTo\nfrom tests.support.elections import ELECTION as E, n\n"
        'LEADS = LeadsTo(name="leads", says="it leads", over=[n], given=n.is_("Candidate"), goal=n.is_("Leader"),\n'
        '    strong=["stand", "win"])\n'
        "ELECTION = E.asking([LEADS])\n"
    )
    _, text = printed(capsys, "explain", "election", "leads")
    assert "at Node=2 within term <= 3: every fair run" in text
    assert "reaches the goal, if it does not go beyond that" in text

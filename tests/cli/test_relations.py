"""Relations on the command line: runs to a state, and what is written of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import in_repository_of, printed


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository with clients that lock keys."""
    with in_repository_of("keys", "keys", "KEYS", tmp_path, monkeypatch):
        yield


def test_explain_finds_a_state_with_these_tuples(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "keys", "--state", "n0.held=(k0, c0) + (k1,c1)")
    assert code == 0
    assert "After 2 steps the state is as requested." in text
    assert "n0.held  {(k0, c0)} -> {(k0, c0), (k1, c1)}" in text
    code, text = printed(capsys, "explain", "keys", "--state", "n0.held=none")
    assert code == 0 and "After 0 steps" in text


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("(k0, c9)", "unknown Client 'c9'; choose from c0, c1"),
        ("(k0)", "['k0'] is not a tuple of the relation"),
        ("k0", "'k0' is not of the form (A, B)+(C, D)"),
        ("(k0, c0)(k1, c0)", "is not of the form (A, B)+(C, D)"),
    ],
)
def test_what_is_no_relation_is_refused(value: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "keys", "--state", f"n0.held={value}")
    assert code == 2
    assert problem in text
    assert text.rstrip().endswith("write, for example, --state 'n0.held=(k0, c0)'")


def test_verdicts_of_relations_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """Two counts are proved for any number of objects; one is refuted by the shortest run."""
    code, text = printed(capsys, "verify", "keys")
    assert code == 0
    assert "one-holder        invariant        proved (any number)" in text
    assert "refuted in 2 steps" in text

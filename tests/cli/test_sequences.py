"""Sequences on the command line: runs to a state, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import in_repository_of, printed


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository with nodes that copy a log."""
    with in_repository_of("logs", "logs", "RANGES", tmp_path, monkeypatch):
        yield


def test_explain_finds_a_state_with_these_items(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "logs", "--state", "n0.log=[0+1]")
    assert code == 0 and "After 3 steps the state is as requested." in text
    code, text = printed(capsys, "explain", "logs", "--state", "n0.queue=[j0]")
    assert code == 0 and "After 1 step" in text


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("[7]", "7 is not a value of type 0..2"),
        ("[x]", "'x' is not a value of type 0..2"),
        ("0+1", "'0+1' is not of the form [first+second]"),
    ],
)
def test_what_is_no_sequence_is_refused(value: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "logs", "--state", f"n0.log={value}")
    assert code == 2 and problem in text
    assert text.rstrip().endswith("write, for example, --state 'n0.log=[first+second]'")

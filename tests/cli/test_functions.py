"""Functions on the command line: verdicts, runs to a state, and what is written of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import in_repository_of, printed


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository with nodes that count messages."""
    with in_repository_of("messages", "messages", "RANGES", tmp_path, monkeypatch):
        yield


def test_explain_finds_a_state_with_these_values(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "messages", "--state", "n0.sent=(n1: 2)")
    assert code == 0
    assert "After 2 steps the state is as requested." in text
    assert "n0.sent  {n1: 1} -> {n1: 2}" in text
    code, text = printed(capsys, "explain", "messages", "--state", "n1.from_=(n1, i0: n0)")
    assert code == 0 and "{(n1, i0): n0}" in text
    code, text = printed(capsys, "explain", "messages", "--state", "n0.known=(i0: true)")
    assert code == 0 and "n0.known  {} -> {i0: true}" in text.replace("  n0.known  ", "n0.known  ")
    code, text = printed(capsys, "explain", "messages", "--state", "n0.mood=none")
    assert code == 0 and "After 0 steps" in text


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("(n9: 1)", "unknown Node 'n9'; choose from n0, n1"),
        ("(n1: 7)", "7 is not a value of type 0..2"),
        ("(n1: x)", "'x' is not a value of type 0..2"),
        ("n1: 1", "'n1: 1' is not of the form (A: value)+(B: value)"),
        ("(n1: 1)+(n1: 2)", "is a second entry for the same objects"),
    ],
)
def test_what_is_no_function_is_refused(value: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, "explain", "messages", "--state", f"n0.sent={value}")
    assert code == 2
    assert problem in text
    assert text.rstrip().endswith("write, for example, --state 'n0.sent=(n0: value)'")


def test_verdicts_of_functions(capsys: pytest.CaptureFixture[str]) -> None:
    """All but one are proved for any number of objects; one is refuted by the shortest run."""
    code, text = printed(capsys, "verify", "messages")
    assert code == 0, text
    proved = {line.split()[0] for line in text.splitlines() if "  proved (any number)" in line}
    assert proved >= {"well-formed", "few", "who-is-known-sent", "others", "busy", "counts-grow"}
    assert "one" not in proved
    assert "refuted in 2 steps" in text

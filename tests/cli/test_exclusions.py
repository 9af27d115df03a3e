"""``schedproof explain`` of a property that is not inductive: the clause that it offers, as text of the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.cli.exclusions import HEADING

MODEL = (Path(__file__).parents[1] / "proofs" / "strengthen" / "protocols.py").read_text()
LEASES = MODEL.split("Process, Lock =")[0].replace("LEASES = ", "MODEL = ")
NONE_WAITS = 'Invariant(name="one-works", says="one works", over=[w, v], given=w.is_("Working") & v.is_("Working"), then=w == v),\n'

Explain = Callable[..., tuple[int, str]]


@pytest.fixture
def explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explain:
    """Explains a property of a model's text, which becomes a module of its own each time."""
    monkeypatch.chdir(tmp_path)
    count = iter(range(100))

    def go(text: str, *arguments: str) -> tuple[int, str]:
        name = f"m{next(count)}_{tmp_path.name.replace('-', '_')}"
        (tmp_path / f"{name}.py").write_text(text)
        (tmp_path / "schedproof.toml").write_text(f'[systems.leases]\nmodel = "{name}:MODEL"\n')
        code = main(["explain", "leases", *arguments])
        return code, capsys.readouterr().out

    return go


def test_the_clauses_lead_to_a_proof(explain: Explain) -> None:
    """Each is appended as it is printed, until the property is proved."""
    text, outputs = LEASES, []
    while True:
        code, out = explain(text, "one-lease-each", "--max-seconds", "60")
        outputs.append(out)
        if code == 0:
            break
        text = f"{text}\n{HEADING}{out.partition(HEADING)[2]}"
        assert len(outputs) < 4
    assert len(outputs) == 3
    assert "it is inductive; with it, induction fails at another state" in outputs[0]
    assert "\nA clause that excludes this state, and is true in every reachable state at Worker=" in outputs[0]
    assert "\n  with it, induction proves one-lease-each\n" in outputs[1]
    assert "one-lease-each (leases plain): proved (any number)" in outputs[2]
    assert "excludes" not in outputs[2]


def test_as_json(explain: Explain) -> None:
    code, out = explain(LEASES, "one-lease-each", "--max-seconds", "60", "--json", "-")
    assert code == 3
    entry = json.loads(out)["exclusion"]
    assert entry["name"] == "free-holder-none"
    assert (entry["inductive"], entry["proves"], entry["complete"]) == (True, False, True)
    assert entry["scopes"]["Worker=2,Lease=2"] == 3


def test_a_violation_at_a_larger_scope(explain: Explain) -> None:
    """The model's own scope has one worker, and shows none."""
    text = LEASES.replace('"Worker": 2', '"Worker": 1').replace(
        "    properties=[\n", f"    properties=[\n        {NONE_WAITS}"
    )
    text = text.replace('(w,) = variables(Worker, "w")', 'w, v = variables(Worker, "w v")')
    code, out = explain(text, "one-works", "--max-seconds", "60")
    assert code == 1
    assert out.startswith("one-works (leases plain): undetermined: not inductive: ")
    assert "\nThe model reaches such a state: one-works is violated at Worker=2,Lease=" in out
    run = out.partition("The model reaches")[2]
    assert [line.split("  [")[0].strip() for line in run.splitlines() if "[action" in line] == [
        "1. w0 acquires l0",
        "2. w1 acquires l1",
    ]
    code, out = explain(text, "one-works", "--max-seconds", "60", "--json", "-")
    entry = json.loads(out)["exclusion"]
    assert (entry["violated"], len(entry["counterexample"]["steps"])) == ("one-works", 2)


def test_no_time(explain: Explain) -> None:
    code, out = explain(LEASES, "one-lease-each", "--max-seconds", "0.001")
    assert code == 3
    assert "\nNo clause is offered: the time limit of 0.001 s; --max-seconds sets it. Looked at" in out

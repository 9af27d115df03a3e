"""``schedproof strengthen``: what it prints, what it writes into a model, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.proofs.induction import prove

MODEL = (Path(__file__).parents[1] / "proofs" / "strengthen" / "protocols.py").read_text()
MANIFEST = '[systems.leases]\nmodel = "protocols:MODEL"\n'

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in a folder with a model of its own."""
    name = f"protocols_{tmp_path.name.replace('-', '_')}"
    text = MODEL.split("Process, Lock =")[0].replace("LEASES = ", "MODEL = ")
    (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "schedproof.toml").write_text(MANIFEST.replace("protocols", name))
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        return code, capsys.readouterr().out

    return go


def test_it_prints_what_it_infers_as_text_of_the_model(run: Run) -> None:
    code, out = run("strengthen", "leases", "--scope", "Worker=2,Lease=2")
    assert code == 0
    assert out.startswith("leases plain one-lease-each: proved with 2 auxiliary invariants (")
    assert "  holder-working: for every w, l: if l.holder = w, then w Working\n" in out
    assert "    inductive relative to one-lease-each, free-holder-none\n" in out
    assert "    excludes w0: state Idle; l0: state " in out
    assert '            name="holder-working",' in out
    assert '            given=l.holder == w,\n            then=w.is_("Working"),' in out


def test_what_it_writes_is_a_model_that_is_proved(run: Run, tmp_path: Path) -> None:
    code, out = run("strengthen", "leases", "--write", "--json", "result.json", "--scope", "Worker=2,Lease=2")
    assert code == 0
    assert "appended 2 invariants to protocols_" in out
    [entry] = json.loads((tmp_path / "result.json").read_text())["properties"]
    assert (entry["verdict"], len(entry["invariants"])) == ("proved", 2)
    [path] = tmp_path.glob("protocols_*.py")
    assert path.read_text().count("MODEL.properties.extend(") == 1
    namespace: dict[str, object] = {"__file__": str(path), "__name__": "written"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    proof = prove(namespace["MODEL"])  # type: ignore[arg-type]
    assert proof.proved("one-lease-each") and proof.proved("holder-working")


def test_the_end_of_the_time_is_undetermined(run: Run) -> None:
    code, out = run("strengthen", "leases", "--time-limit", "0.001")
    assert code == 3
    assert out.startswith("leases plain one-lease-each: undetermined: the time limit of 0.001 s (")

"""``schedproof strengthen``: what it prints, what it writes into a model, and its exit codes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli import main
from schedproof.proofs.induction import prove, recheck
from schedproof.proofs.strengthen import Strengthened, strengthen
from schedproof.proofs.verification.workers import Workers

MODEL = (Path(__file__).parents[1] / "proofs" / "strengthen" / "protocols.py").read_text()
MANIFEST = '[systems.leases]\nmodel = "protocols:MODEL"\n'

command = import_module("schedproof.cli.commands.strengthen")
inference = import_module("schedproof.proofs.strengthen.run")
tasks = import_module("schedproof.proofs.verification.strengthening")

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
    assert out.startswith("leases plain one-lease-each: proved with 2 auxiliary invariants (any number of objects; ")
    assert "  holder-working: for every w, l: if l.holder = w, then w Working\n" in out
    assert "    inductive relative to one-lease-each, free-holder-none\n" in out
    assert "    excludes w0: state Idle; l0: state " in out
    assert " none" not in out.partition("excludes")[2].partition("\n")[0]
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
    code, out = run("strengthen", "leases", "--max-seconds", "0.001")
    assert code == 3
    assert out.startswith("leases plain one-lease-each: undetermined: the time limit of 0.001 s (")


def test_an_interrupt_prints_what_there_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the proof from scratch, nothing is proved: what was found is shown as such."""

    @contextmanager
    def interrupting(start: str) -> Iterator[Callable[[str], None]]:
        yield lambda line: os.kill(os.getpid(), signal.SIGINT) if line.endswith("from scratch") else None

    monkeypatch.setattr(command, "progress", interrupting)
    code, out = run("strengthen", "leases", "--scope", "Worker=2,Lease=2", "--json", "result.json")
    assert code == 3
    assert out.startswith("leases plain one-lease-each: undetermined: interrupted (")
    assert (
        "  true in these states, but not proved in time: holder-working: for every w, l: if l.holder = w, then w "
        in out
    )
    assert "Invariant(" not in out
    [entry] = json.loads(Path("result.json").read_text())["properties"]
    assert (entry["verdict"], entry["note"], entry["invariants"]) == ("undetermined", "interrupted", [])
    assert [each["name"] for each in entry["unproved"]] == ["free-holder-none", "holder-working"]


def test_an_interrupt_keeps_the_properties_before(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [path] = tmp_path.glob("protocols_*.py")
    prop = path.read_text().split("    properties=[\n")[1].split("    ],\n")[0]
    rewritten(tmp_path, "    properties=[\n", "    properties=[\n" + prop.replace("one-lease-each", "never-two"))
    done: list[str] = []

    @contextmanager
    def stopped() -> Iterator[Callable[[], str]]:
        yield lambda: "interrupted" if done else ""

    def infer(*arguments: Any, **options: Any) -> Strengthened:
        result = strengthen(*arguments, **options)
        done.append(result.prop)
        return result

    monkeypatch.setattr(command, "stoppable", stopped)
    monkeypatch.setattr(tasks, "strengthen", infer)
    code, out = run("strengthen", "leases", "--scope", "Worker=2,Lease=2", "--jobs", "1")
    assert code == 3
    assert out.startswith("leases plain never-two: proved with 2 auxiliary invariants (")
    assert "leases plain one-lease-each: undetermined: interrupted (0.0 s)" in out


def test_an_interrupt_keeps_what_processes_have_done(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The properties of the present round are lost."""
    [path] = tmp_path.glob("protocols_*.py")
    prop = path.read_text().split("    properties=[\n")[1].split("    ],\n")[0]
    others = "".join(prop.replace("one-lease-each", f"never-{number}") for number in range(2))
    rewritten(tmp_path, "    properties=[\n", "    properties=[\n" + others)
    messages, rounds = Workers.messages, list[int]()

    def interrupted(self: Workers[Any, Any], busy: Collection[int]) -> Iterator[tuple[int, str, Any]]:
        if len(busy) == 2:
            raise KeyboardInterrupt
        rounds.append(len(busy))
        return messages(self, busy)

    monkeypatch.setattr(Workers, "messages", interrupted)
    code, out = run("strengthen", "leases", "--scope", "Worker=2,Lease=2", "--jobs", "2")
    assert code == 3 and set(rounds) == {1}
    assert out.startswith("leases plain never-0: proved with 2 auxiliary invariants (")
    for name in ("never-1", "one-lease-each"):
        assert f"leases plain {name}: undetermined: interrupted (0.0 s)" in out


def test_cvc5_may_have_no_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 has proved everything by then."""
    monkeypatch.setattr(inference, "recheck", lambda induction, time_limit: list(recheck(induction))[:5])
    code, out = run("strengthen", "leases", "--scope", "Worker=2,Lease=2", "--json", "result.json")
    assert code == 0
    [entry] = json.loads(Path("result.json").read_text())["properties"]
    assert f"  cvc5 had no time for {entry['not_rechecked']} obligations of this proof; z3 proved all of it" in out


def rewritten(folder: Path, old: str, new: str) -> None:
    """Changes the text of the model."""
    [path] = folder.glob("protocols_*.py")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_no_name_is_written_that_the_model_has(run: Run, tmp_path: Path) -> None:
    """Even of a property that is not inductive, or that is left out."""
    declared = 'Invariant(name="holder-working", says="x", over=[w, l], given=l.holder == w, then=w.is_("Idle")),\n'
    rewritten(tmp_path, "    properties=[\n", f"    properties=[\n        {declared}")
    only = ("--property", "one-lease-each", "--scope", "Worker=2,Lease=2")
    for more in ((), ("--without-auxiliary",)):
        code, out = run("strengthen", "leases", *only, *more)
        assert code == 0
        assert '            name="holder-working-2",' in out


def test_it_writes_into_the_model_that_was_asked_for(run: Run, tmp_path: Path) -> None:
    """A function may make the models of two systems, in one line."""
    rewritten(tmp_path, 'MODEL = Model(\n    system="leases"', "def make(name):\n  return Model(\n    system=name")
    [path] = tmp_path.glob("protocols_*.py")
    path.write_text(f'{path.read_text()}\nFIRST, MODEL = make("first"), make("leases")\n')
    code, _ = run("strengthen", "leases", "--write", "--scope", "Worker=2,Lease=2")
    assert code == 0
    assert "\nMODEL.properties.extend(" in path.read_text()


def test_it_writes_no_list_that_two_variants_share(run: Run, tmp_path: Path) -> None:
    [path] = tmp_path.glob("protocols_*.py")
    other = 'OTHER = replace(MODEL, variant="other")\n'
    path.write_text(f"{path.read_text()}\nfrom dataclasses import replace\n{other}")
    manifest = (tmp_path / "schedproof.toml").read_text().replace(':MODEL"', ':VARIANTS"')
    path.write_text(f"{path.read_text()}VARIANTS = [MODEL, OTHER]\n")
    (tmp_path / "schedproof.toml").write_text(manifest)
    before = path.read_text()
    code, out = run("strengthen", "leases", "--variant", "plain", "--write")
    assert code == 2, out
    assert path.read_text() == before


def test_an_ill_formed_step_refutes_no_other_property(run: Run, tmp_path: Path) -> None:
    rewritten(tmp_path, '[w.is_("Idle"), l.is_("Free")]', '[l.is_("Free")]')
    code, out = run("strengthen", "leases", "--scope", "Worker=2,Lease=2", "--json", "result.json")
    assert code == 1
    assert out.startswith("leases plain one-lease-each: undetermined: well-formed is violated at Worker=2,Lease=2 (")
    [entry] = json.loads((tmp_path / "result.json").read_text())["properties"]
    assert (entry["verdict"], entry["note"]) == ("undetermined", "well-formed is violated at Worker=2,Lease=2")


@pytest.mark.long
def test_two_properties_that_need_the_same_get_it_once(run: Run, tmp_path: Path) -> None:
    [path] = tmp_path.glob("protocols_*.py")
    prop = path.read_text().split("    properties=[\n")[1].split("    ],\n")[0]
    rewritten(tmp_path, "    properties=[\n", "    properties=[\n" + prop.replace("one-lease-each", "never-two"))
    code, out = run("strengthen", "leases", "--without-auxiliary", "--write", "--scope", "Worker=2,Lease=2")
    assert code == 0
    assert out.count('name="holder-working-2"') == out.count('name="holder-working"') == 1
    written = path.read_text().split("# Auxiliary invariants")[1]
    assert written.count("        Invariant(\n            name=") == 2
    assert written.count('says="for every w, l: if l.holder = w') == 1

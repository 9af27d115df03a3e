"""``schedproof export``: the files that it writes are what the exporters say, and mistakes leave nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import instances
from schedproof.model.systems.hived import AS_WRITTEN
from schedproof.proofs.export import promela, tla
from tests.proofs.export.tla_reader import parse
from tests.support.rows import each_row
from tests.support.user_repository import imports_undone, repository

TWO = ("--scope", "PodGroup=2,Cell=2")


def run(*arguments: str) -> int:
    return main(["export", *arguments])


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def test_one_configuration(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [instance] = instances(AS_WRITTEN, {"PodGroup": 2, "Cell": 2})
    assert run("hived", "--to", "promela", *TWO, "-o", str(tmp_path / "a")) == 0
    assert files(tmp_path / "a") == {"hived_as_written.pml": promela(instance, only=None).text}
    assert "checked by it: 49 properties\n" in capfd.readouterr().out
    assert run("hived", "--to", "tla", *TWO, "--property", "free-cell", "-o", str(tmp_path / "b")) == 0
    module = tla(instance, only=["free-cell"])
    assert files(tmp_path / "b") == {"hived_as_written.tla": module.text, "hived_as_written.cfg": module.configuration}
    assert run("hived", "--to", "promela", *TWO, "--no-properties", "--no-crash", "-o", str(tmp_path / "c")) == 0
    assert files(tmp_path / "c") == {"hived_as_written.pml": promela(instance, crash=False).text}


def test_a_file_for_each_configuration(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("beaker", "--variant", "shipped", "--to", "tla", "-o", str(tmp_path / "a"), "--json", "-") == 0
    content = json.loads(capfd.readouterr().out)
    names = [f"beaker_shipped_{n}" for n in (1, 2, 3)]
    written = files(tmp_path / "a")
    assert set(written) == {f"{name}{ending}" for name in names for ending in (".tla", ".cfg")}
    assert [each["files"] for each in content["files"]] == [[f"{name}.tla", f"{name}.cfg"] for name in names]
    model = systems()["beaker"].variants["shipped"]
    every = list(instances(model, dict(model.default_scope)))
    assert [each["sizes"] for each in content["files"]] == [dict(instance.sizes) for instance in every]
    for number, name in enumerate(names):
        # TLC wants a module in a file of its name; it and a line at the top distinguish configurations.
        assert (
            written[f"{name}.tla"]
            == tla(every[number], name=name, only=None, title=f"Configuration {number + 1} of 3.").text
        )
    assert set(content["judged"]) | set(content["left_out"]) == {"well-formed", *(p.name for p in model.properties)}


def test_history(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    prop = ("--property", "placements-are-disjoint")
    assert run("hived", "--to", "promela", *TWO, *prop, "-o", str(tmp_path / "a")) == 2
    assert "which is left out; add --history" in capfd.readouterr().err
    assert not (tmp_path / "a").exists()
    assert run("hived", "--to", "promela", *TWO, *prop, "--history", "-o", str(tmp_path / "a")) == 0
    assert "PodGroup_placement[2]" in files(tmp_path / "a")["hived_as_written.pml"]


def test_a_system_of_ones_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    repository(tmp_path)
    with imports_undone():
        assert run("lease", "--to", "tla", "-o", "exported") == 0
        assert run("lease", "--to", "promela", "-o", "other") == 0
    assert set(files(tmp_path / "exported")) == {"lease_as_written.tla", "lease_as_written.cfg"}
    parse((tmp_path / "exported" / "lease_as_written.tla").read_text())
    assert "INVARIANT one_at_a_time  \\* expected to be broken" in files(tmp_path / "exported")["lease_as_written.cfg"]
    assert "assert(holds_one_at_a_time);" in files(tmp_path / "other")["lease_as_written.pml"]


@each_row(
    ("arguments", "says"),
    [
        (["hived", "-o", "new"], "missing option '--to'"),
        (["hived", "--to", "alloy", "-o", "new"], "'promela', 'tla'"),
        (["hived", "--to", "tla"], "missing option '-o'"),
        (["hived", "--to", "tla", "-o", ""], "--output: the name is empty"),
        (["hived", "--to", "tla", "-o", "there"], "is not empty"),
        (["hived", "--to", "tla", "-o", "no/such"], "does not exist; create it first"),
        (["nosuch", "--to", "tla", "-o", "new"], "unknown system 'nosuch'"),
        (["hived", "--to", "tla", "--variant", "repared", "-o", "new"], "unknown variant of hived 'repared'"),
        (["hived", "--to", "tla", "--scope", "Cell=0", "-o", "new"], "write a number from 1 to"),
        (["hived", "--to", "promela", "--scope", "PodGroup=1,Cell=15", "-o", "new"], "action allocate has 32768 choices"),
        (["hived", "--to", "tla", "--property", "fre-cell", "-o", "new"], "did you mean free-cell"),
        (["hived", "--to", "promela", "--property", "preempting-ends", "-o", "new"], "if actions are taken fairly, is no assertion"),
        (["hived", "--to", "tla", "--property", "cells-can-always-be-free", "-o", "new"], "linear time has no word for it"),
        (["hived", "--to", "tla", "--property", "free-cell", "--no-properties", "-o", "new"], "contradict each other"),
        (["hived", "--to", "tla", "--json", "no/such/file", "-o", "new"], "does not exist; create it first"),
    ],
)  # fmt: skip
def test_mistakes(
    arguments: list[str], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    assert run(*arguments) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("schedproof: ") and says in err and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]

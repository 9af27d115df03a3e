"""What is built has every file of the source, and works where nothing of the checkout is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.places import ROOT

PARTS = ("model", "impl", "proofs", "diagrams")

LEFT_OUT = (".md", ".svg")
"""What the source has for readers only."""


def files() -> set[str]:
    """The source as it is imported: names below ``schedproof/``."""
    paths = set()
    for part in (*PARTS, "schedproof"):
        for path in (ROOT / part).rglob("*"):
            inside = path.relative_to(ROOT)
            if (
                path.is_file()
                and path.suffix not in LEFT_OUT
                and "__pycache__" not in path.parts
                and inside.parts[:2] not in LINKS
            ):
                paths.add(str(inside if part == "schedproof" else Path("schedproof", inside)))
    return paths


LINKS = {("schedproof", part) for part in PARTS}


def wheel(out: Path) -> Path:
    """A wheel, built from the source distribution as ``python -m build`` does."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(out.glob("*.tar.gz"))
    (path,) = out.glob("*.whl")
    return path


@pytest.mark.long(seconds=20)
def test_a_wheel_has_every_file_and_works_elsewhere(tmp_path: Path) -> None:
    """In one test, so that it is built once."""
    place = tmp_path / "site"
    with zipfile.ZipFile(wheel(tmp_path / "dist")) as archive:
        built = {name for name in archive.namelist() if name.startswith("schedproof/")}
        assert built == files()
        archive.extractall(place)

    def run(*arguments: str) -> str:
        program: Sequence[str] = [sys.executable, "-P", "-m", "schedproof", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(place)}
        done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = [sys.executable, "-P", "-c", "import schedproof; print(schedproof.__file__)"]
    shown = subprocess.run(
        where, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(place)}
    )
    assert Path(shown.stdout.strip()).is_relative_to(place)
    assert "yunikorn-merge" in run("list")
    merged = json.loads(run("list", "yunikorn-merge", "--json", "-"))["systems"][0]["variants"][2]
    assert "deadlock.core-50" in {p["name"] for p in merged["properties"]}
    run("init", "lease")


def test_an_editable_install_is_this_checkout() -> None:
    code = "import schedproof.model.lang, schedproof.proofs.compiled as c; print(schedproof.model.lang.__file__); print(c.__file__)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd="/")
    assert [Path(line).resolve().relative_to(ROOT).parts[0] for line in done.stdout.splitlines()] == ["model", "proofs"]


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_one_package_and_no_copy(part: str) -> None:
    link = ROOT / "schedproof" / part
    assert link.is_symlink() and os.readlink(link) == f"../{part}"

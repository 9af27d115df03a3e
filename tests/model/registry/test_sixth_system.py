"""A sixth system is folders and files: no file that is there already changes, and nothing else has to know of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import DATA, ROOT
from tests.support.sample import thinned

PARTS = ("model", "impl", "proofs", "diagrams", "schedproof")

SIXTH = DATA / "sixth"

Run = subprocess.CompletedProcess[str]


def schedproof(place: Path, *arguments: str, cwd: Path) -> Run:
    """A command of the copy in ``place``, or of this checkout with packages from ``place``."""
    path = os.pathsep.join([str(place), str(ROOT)])
    command = [sys.executable, "-m", "schedproof", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, "PYTHONPATH": path})


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, with the sixth system's folders beside the others'."""
    place = tmp_path_factory.mktemp("source")
    for part in PARTS:
        shutil.copytree(
            ROOT / part, place / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "gallery")
        )
    for part in ("model", "proofs"):
        folder = place / part / "systems" / "lamps"
        shutil.copytree(SIXTH / part, folder)
        (folder / "__init__.py").touch()
    return place


@pytest.mark.long
def test_its_properties_and_its_refinement_are_verified(copy: Path, tmp_path: Path) -> None:
    done = schedproof(copy, "verify", "lamps", "--jobs", "1", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (variant,) = json.loads(done.stdout)["systems"]
    assert {p["name"]: (p["verdict"], p["kind"]) for p in variant["properties"]} == {
        "well-formed": ("proved", "well-formedness"),
        "on-or-off": ("proved", "invariant"),
        "all-dark": ("refuted", "invariant"),
        "lamps-refine-model": ("proved", "refinement"),
    }


def test_it_is_listed_beside_the_others(copy: Path, tmp_path: Path) -> None:
    done = schedproof(copy, "list", cwd=tmp_path)
    assert done.returncode == 0 and "Lamps and a fuse" in done.stdout and "hived" in done.stdout


@pytest.mark.parametrize(
    ("log", "code", "says"),
    thinned(
        [("kitchen on\nhall on\nkitchen off\n", 0, "conforms"), ("kitchen on\nkitchen on\n", 1, "record 2")], 2, first=1
    ),
)
def test_its_own_trace_format_is_read(copy: Path, tmp_path: Path, log: str, code: int, says: str) -> None:
    (tmp_path / "log.txt").write_text(log)
    done = schedproof(copy, "validate", "lamps", "log.txt", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, "") and says in done.stdout
    assert "switches" in done.stdout


@pytest.mark.long
def test_it_is_drawn(copy: Path, tmp_path: Path) -> None:
    done = schedproof(copy, "diagram", "lamps", "Lamp", "--format", "mermaid", "-o", "-", cwd=tmp_path)
    assert done.returncode == 0 and "darken" in done.stdout


@pytest.mark.long
def test_a_wrong_refinement_is_refuted(copy: Path, tmp_path: Path) -> None:
    """The refinement of the sixth system can fail."""
    place = tmp_path / "source"
    shutil.copytree(copy, place, symlinks=True)
    file = place / "proofs" / "systems" / "lamps" / "refinement.py"
    text = file.read_text()
    file.write_text(text.replace("return lit ^ {lamp}", "return frozenset({lamp})"))
    done = schedproof(place, "verify", "lamps", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 1 and "lamps-refine-model" in done.stdout


class TestInstalledPackages:
    """Systems that installed packages bring, by the entry point group ``schedproof.systems``."""

    @staticmethod
    def install(site: Path, name: str, value: str, system: str = "lamps", package: str = "lamps_of_acme") -> None:
        """A package with a manifest, and its metadata, as pip leaves them."""
        folder = site / package
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
        shutil.copy(SIXTH / "model" / "model.py", folder)
        text = (folder / "model.py").read_text().replace('system="lamps"', f'system="{system}"')
        (folder / "model.py").write_text(text)
        (folder / "schedproof.toml").write_text(
            f'[systems.{system}]\ndocument = "lamps.md"\n[systems.{system}.variants]\n'
            f'as-written = {{ model = "{package}.model:AS_WRITTEN" }}\n'
        )
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[schedproof.systems]\n{name} = {value}\n")

    @pytest.mark.long
    def test_they_are_found(self, tmp_path: Path) -> None:
        self.install(tmp_path, "acme", "lamps_of_acme")
        assert "lamps" in schedproof(tmp_path, "list", cwd=tmp_path).stdout
        done = schedproof(tmp_path, "verify", "lamps", "--jobs", "1", cwd=tmp_path)
        assert done.returncode == 0 and "as expected: 3 of 3 verdicts" in done.stdout

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            ("nosuch_package", "no package of that name has a schedproof.toml"),
            ("broken_package.inner", "no package of that name has a schedproof.toml"),
        ],
    )
    def test_one_that_cannot_be_found_is_one_line(self, tmp_path: Path, value: str, says: str) -> None:
        self.install(tmp_path, "acme", value)
        (tmp_path / "broken_package").mkdir()
        (tmp_path / "broken_package" / "__init__.py").write_text("1 / 0")
        done = schedproof(tmp_path, "list", cwd=tmp_path)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1
        assert "entry point acme" in done.stderr
        assert "hived" in done.stdout, "the others go on working"
        assert schedproof(tmp_path, "table", "hived", "Cell", cwd=tmp_path).returncode == 0

    @pytest.mark.long
    def test_two_systems_of_one_name(self, tmp_path: Path) -> None:
        self.install(tmp_path, "acme", "lamps_of_acme", "hived")
        done = schedproof(tmp_path, "table", "hived", "Cell", cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "has a system of that name, too; rename one of the two" in done.stderr
        assert schedproof(tmp_path, "list", "beaker", cwd=tmp_path).returncode == 0

    def test_a_model_that_is_not_there(self, tmp_path: Path) -> None:
        self.install(tmp_path, "acme", "lamps_of_acme")
        manifest = tmp_path / "lamps_of_acme" / "schedproof.toml"
        manifest.write_text(manifest.read_text().replace(":AS_WRITTEN", ":AS_WRITEN"))
        done = schedproof(tmp_path, "list", "lamps", cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert (
            "systems.lamps.variants.as-written.model: unknown object of lamps_of_acme.model 'AS_WRITEN'" in done.stderr
        )

    def test_one_that_exits_or_prints_is_not_run(self, tmp_path: Path) -> None:
        self.install(tmp_path, "acme", "exits.inner")
        (tmp_path / "exits").mkdir()
        (tmp_path / "exits" / "__init__.py").write_text("print('noise'); raise SystemExit(0)")
        done = schedproof(tmp_path, "table", "hived", "Cell", cwd=tmp_path)
        assert done.returncode == 0 and "noise" not in done.stdout and "Cell" in done.stdout
        assert schedproof(tmp_path, "list", cwd=tmp_path).returncode == 2

    def test_two_entry_points_of_one_package(self, tmp_path: Path) -> None:
        self.install(tmp_path, "acme", "lamps_of_acme")
        points = tmp_path / "acme-1.0.dist-info" / "entry_points.txt"
        points.write_text(points.read_text() + "again = lamps_of_acme\n")
        done = schedproof(tmp_path, "list", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "") and "lamps" in done.stdout


@pytest.mark.parametrize(
    ("lines", "says"),
    thinned([
        (
            'locks = [{ name = "x", file = "core-54-fixed.yaml", only = "no-deadlock" }, { name = "x", file = "core-54.yaml", only = "no-deadlock" }]',
            "two properties have the name 'x'",
        ),
        (
            'locks = [{ name = "on-or-off", file = "core-54.yaml", only = "no-deadlock" }]',
            "two properties have the name 'on-or-off'",
        ),
        ('locks = [{ name = "x", file = "core-54.yaml", only = "no-deadlok" }]', "unknown check 'no-deadlok'; did you mean no-deadlock"),
        ('locks = [{ name = "x", file = "nope.yaml", only = "no-deadlock" }]', "variants.as-written.locks: nope.yaml:1: it cannot be read"),
        ('locks = [{ name = "x", file = "core-54.yaml", refuted = true }]', "x has refuted, and not only"),
    ], 6),
)  # fmt: skip
def test_locks_that_would_not_be_checked(tmp_path: Path, lines: str, says: str) -> None:
    TestInstalledPackages.install(tmp_path, "acme", "lamps_of_acme")
    folder = tmp_path / "lamps_of_acme"
    for name in ("core-54.yaml", "core-54-fixed.yaml"):
        shutil.copy(ROOT / "model" / "systems" / "yunikorn_merge" / "deadlocks" / name, folder)
    (folder / "schedproof.toml").write_text(
        '[systems.lamps]\ndocument = "lamps.md"\n[systems.lamps.variants.as-written]\n'
        f'model = "lamps_of_acme.model:AS_WRITTEN"\n{lines}\n'
    )
    done = schedproof(tmp_path, "verify", "lamps", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("key", "value", "command", "says"),
    thinned([
        ("refinements", "[3]", ["verify", "lamps", "--jobs", "1"], "systems.lamps.refinements: lamps_of_acme.parts:IT is a list"),
        ("traces", "3", ["validate", "lamps", "log.txt"], "systems.lamps.traces: lamps_of_acme.parts:IT is a int"),
        ("wait_for", "{'as-writen': 3}", ["diagram", "lamps", "wait-for", "-o", "x.mmd"], "systems.lamps.wait_for"),
        ("tables", "{'Lamp': 3}", ["findings", "lamps"], "systems.lamps.tables"),
        ("charts", "{'as-written': [3]}", ["diagram", "lamps", "-o", "x.mmd"], "systems.lamps.charts"),
        ("contradictions", "['x']", ["findings", "lamps"], "systems.lamps.contradictions"),
        ("flows", "{'as-writen': []}", ["diagram", "lamps", "-o", "x.mmd"], "unknown variant 'as-writen'; did you mean as-written"),
    ], 6),
)  # fmt: skip
def test_a_part_that_is_not_what_its_key_names(
    tmp_path: Path, key: str, value: str, command: list[str], says: str
) -> None:
    TestInstalledPackages.install(tmp_path, "acme", "lamps_of_acme")
    folder = tmp_path / "lamps_of_acme"
    (folder / "parts.py").write_text(f"IT = {value}\n")
    (tmp_path / "log.txt").write_text("x\n")
    manifest = folder / "schedproof.toml"
    named = '["lamps_of_acme.parts:IT"]' if key == "traces" else '"lamps_of_acme.parts:IT"'
    manifest.write_text(manifest.read_text().replace("document =", f"{key} = {named}\ndocument ="))
    done = schedproof(tmp_path, *command, cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1

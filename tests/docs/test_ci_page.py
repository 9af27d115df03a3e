"""The page on CI: its install line works away from the checkout, and its options are those of the commands."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from schedproof.cli.app import cli
from tests.support.places import ROOT

PAGE = (ROOT / "docs" / "howto" / "ci.md").read_text("utf-8")
ADDRESS = "git+https://git.example.com/schedproof.git@REVISION"
INSTALL = re.findall(r'pip install ("schedproof.*")', PAGE)


def test_every_install_line_is_the_same_and_names_an_extra() -> None:
    assert len(INSTALL) == 3 and set(INSTALL) == {f'"schedproof[testing] @ {ADDRESS}"'}
    assert "testing" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize(
    ("name", "shown"), [("verify", {"--junit", "--summary"}), ("validate", {"--junit", "--mapping"})]
)
def test_its_options_are_there(name: str, shown: set[str]) -> None:
    command = cli.commands.get(name) or cli.get_command(None, name)  # type: ignore[arg-type]
    options = {option for parameter in command.params for option in parameter.opts}
    lines = re.findall(rf"schedproof {name} (.*)", PAGE)
    assert shown <= {option for line in lines for option in re.findall(r"--\S+", line)} <= options


def test_every_server_validates_a_log() -> None:
    """And shows the verdict: with the report of each command."""
    for server in ("GitHub Actions", "GitLab CI"):
        example = PAGE.partition(f"## {server}\n")[2].partition("\n## ")[0]
        assert re.findall(r"schedproof (\w+) .*--junit", example) == ["verify", "validate"]


def test_a_job_in_a_wrong_folder_fails() -> None:
    """Without a manifest, `verify` checks the built-in systems, and passes."""
    lines = re.findall(r"schedproof verify (.*)", PAGE)
    assert lines and all(line.startswith("--manifest schedproof.toml") for line in lines)


@pytest.mark.long(seconds=6)
def test_the_install_line_works_from_another_repository(tmp_path: Path) -> None:
    """From a clone, as from any Git server; what it depends on is here already."""
    copy = tmp_path / "copy.git"
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", str(ROOT), str(copy)], check=True)
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=copy, capture_output=True, text=True, check=True).stdout
    (requirement,) = {each.strip('"') for each in INSTALL}
    requirement = requirement.replace(ADDRESS, f"git+file://localhost{copy}@{revision.strip()}")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(tmp_path / "site")]
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", *offline, requirement], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    for part in ("api.py", "model/lang/model.py", "proofs/induction/solve.py", "model/systems/hived/schedproof.toml"):
        assert (tmp_path / "site" / "schedproof" / part).is_file()

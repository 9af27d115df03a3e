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


def test_its_options_are_there() -> None:
    command = cli.commands.get("verify") or cli.get_command(None, "verify")  # type: ignore[arg-type]
    options = {option for parameter in command.params for option in parameter.opts}
    used = {option for line in re.findall(r"schedproof verify (.*)", PAGE) for option in re.findall(r"--\S+", line)}
    assert {"--junit", "--summary"} <= used <= options


def test_a_job_in_a_wrong_folder_fails() -> None:
    """Without a manifest, `verify` checks the built-in systems, and passes."""
    lines = re.findall(r"schedproof verify (.*)", PAGE)
    assert lines and all(line.startswith("--manifest schedproof.toml ") for line in lines)


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

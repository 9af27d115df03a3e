"""The container file: what it copies is enough to install schedproof, and what it names exists."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.places import ROOT

FILE = ROOT / "Containerfile"
LINES = re.sub(r"\\\n", " ", FILE.read_text("utf-8")).splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def arguments(instruction: str) -> list[str]:
    """What each line of an instruction says."""
    return [line.split(" ", 1)[1] for line in LINES if line.startswith(f"{instruction} ")]


def copied() -> list[tuple[str, str]]:
    """(path in the repository, folder in the container) of all that is copied."""
    pairs = []
    for line in arguments("COPY"):
        *sources, target = line.split()
        pairs += [(source, target) for source in sources]
    return pairs


def test_what_it_copies_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert ignored[0] == "**"
    for source, _ in copied():
        assert (ROOT / source).exists() and f"!{source}" in ignored, source
    assert {f"!{source}" for source, _ in copied()} == {each for each in ignored if each.startswith("!")}


def test_what_it_names_exists() -> None:
    (base,) = arguments("FROM")
    version = re.fullmatch(r"python:(\d+\.\d+)-slim", base)
    assert version is not None and PROJECT["requires-python"] == f">={version[1]}"
    (extras,) = re.findall(r'"/src\[(.*)\]"', FILE.read_text())
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert json.loads(arguments("ENTRYPOINT")[0])[0] in PROJECT["scripts"]


def test_it_runs_as_a_user_who_owns_the_cache() -> None:
    (user,) = arguments("USER")
    assert user == "schedproof"
    assert arguments("ENV") == ["SCHEDPROOF_CACHE=/cache"]
    assert any(f"install -d -o {user} -m 700 /cache" in line for line in arguments("RUN"))


@pytest.mark.long(seconds=20, one_in=9)
def test_what_it_copies_is_enough_to_install(tmp_path: Path) -> None:
    """The image cannot be built without a registry of images; its pip line can be run."""
    without_caches = shutil.ignore_patterns("__pycache__", "gallery")
    for source, target in copied():
        goal = tmp_path / target.strip("/")
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, goal, symlinks=True, ignore=without_caches)
        else:
            goal.mkdir(exist_ok=True)
            shutil.copy(ROOT / source, goal)
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(site)]
    done = subprocess.run([*install, str(tmp_path / "src")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "src")
    environment = {**os.environ, "PYTHONPATH": str(site), "SCHEDPROOF_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "schedproof", "verify", "hived", "--property", "free-cell"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "2 of 2 verdicts" in done.stdout, done.stdout + done.stderr

"""The examples: their READMEs are followed in a copy of their folder, and print what they show."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.commands import in_a_copy
from tests.docs.pages import Command, follow, steps
from tests.service.bench import serving
from tests.support.needs import needs_go, needs_node
from tests.support.places import ROOT

EXAMPLES = ROOT / "examples"
DEADLOCKS = "deadlocks"
"""Not an adoption: tests/examples/test_deadlocks.py."""

FOLDERS = sorted(path.parent.name for path in EXAMPLES.glob("*/README.md") if path.parent.name != DEADLOCKS)


def text(example: str) -> str:
    """The README of an example."""
    return (EXAMPLES / example / "README.md").read_text("utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Where an example is copied to."""
    return tmp_path / "example"


def copied(example: str, desk: Path) -> Path:
    """A copy of an example, so that what it writes is not left in the repository."""
    shutil.copytree(EXAMPLES / example, desk, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return desk


def test_python_in_lockstep(desk):
    follow(text("python-drain"), copied("python-drain", desk), in_a_copy)


@pytest.mark.long(seconds=8)
def test_terms_messages_and_timers(desk):
    follow(text("elected-leader"), copied("elected-leader", desk), in_a_copy)


@pytest.mark.long(seconds=8)
def test_traces_of_raft(desk):
    follow(text("raft"), copied("raft", desk), in_a_copy)


@needs_go
@pytest.mark.long(seconds=10)
def test_go_by_a_mapping_of_its_log(desk):
    follow(text("go-queue"), copied("go-queue", desk), in_a_copy)


@needs_node
@pytest.mark.long(seconds=8)
def test_node_over_http(desk, monkeypatch):
    folder = copied("node-pool", desk)
    monkeypatch.chdir(folder)  # where the service finds the manifest
    with serving() as bench:
        monkeypatch.setenv("SCHEDPROOF_URL", f"http://127.0.0.1:{bench.port}")
        follow(text("node-pool"), folder, in_a_copy)


def test_each_example_finds_one_fault_and_passes_mended():
    assert FOLDERS == ["elected-leader", "go-queue", "node-pool", "python-drain", "raft"]
    for example in FOLDERS:
        codes = [step.code for step in steps(text(example)) if isinstance(step, Command)]
        assert codes.count(1) == 1 and codes[0] == codes[-1] == 0, example


def test_the_readmes_name_every_file():
    for example in FOLDERS:
        named = set(re.findall(r"^\| `([^`]+)` \|", text(example), re.MULTILINE))
        paths = [path.relative_to(EXAMPLES / example) for path in (EXAMPLES / example).rglob("*") if path.is_file()]
        files = {str(path) for path in paths if not any(part.startswith((".", "__")) for part in path.parts)}
        assert files - named <= {"README.md", "go.mod", "queue.log", "checked.log"} and named <= files, example


def test_links_of_the_examples_lead_somewhere():
    for path in EXAMPLES.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            assert "://" in target or (path.parent / target).exists(), (path, target)

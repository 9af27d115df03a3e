"""The README's claims: its commands are run, and their output is what it shows."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from schedproof.cli.commands import COMMANDS
from schedproof.diagrams.images import fingerprint, svg_fingerprint
from schedproof.model.registry.discovery import systems
from schedproof.proofs.verification.properties import property_names
from tests.support.places import ROOT
from tests.support.stderr import besides_progress

README = (ROOT / "README.md").read_text()
TIME = re.compile(r"\b\d+\.\d+(?= s\b|$)")
"""A time, in a sentence or at the end of a table's line: the one thing that differs from run to run."""


@dataclass(frozen=True)
class Block:
    """A command of the README and the output that it shows; a line ``...`` stands for any lines."""

    command: str
    shown: tuple[str, ...]
    long: bool


def console_blocks(text):
    for long, body in re.findall(r"(<!-- long -->\n)?```console\n(.*?)```", text, re.DOTALL):
        head, *shown = body.rstrip("\n").split("\n")
        assert head.startswith("$ "), f"a console block begins with its command, not {head!r}"
        yield Block(head[2:], tuple(shown), bool(long))


def fenced(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def normal(lines):
    """Without times, and without the width that they give to their column."""
    return [re.sub(r" {2,}", "  ", TIME.sub("0.00", line)).rstrip() for line in lines]


def missing(shown, printed):
    """The first shown line that is not printed where it should be, or None."""
    parts = [[]]
    for line in normal(shown):
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    printed = normal(printed)
    at = 0
    for number, part in enumerate(parts):
        first = number == 0
        last = number == len(parts) - 1
        starts = [0] if first else [len(printed) - len(part)] if last else range(at, len(printed))
        found = next((s for s in starts if s >= at and printed[s : s + len(part)] == part), None)
        if found is None:
            return part[0] if part else "nothing more"
        at = found + len(part)
    return None if at == len(printed) else "the end"


BLOCKS = list(console_blocks(README))


@pytest.fixture
def desk(tmp_path):
    """A shell in a folder where the README's paths lead to the project's files, and nothing is written into it."""
    for path in ("tests", "diagrams", "model"):
        (tmp_path / path).symlink_to(ROOT / path)
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}

    def run(command):
        assert shutil.which("schedproof", path=path), "install the project first: pip install -e ."
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )

    run.folder = tmp_path
    return run


MAIN_JOB = "schedproof verify"


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b, id=b.command, marks=[pytest.mark.long] if b.long else [])
        for b in BLOCKS
        if b.command != MAIN_JOB
    ],
)
def test_console_block(block, desk):
    done = desk(block.command)
    assert besides_progress(done.stderr) == ""
    assert missing(block.shown, done.stdout.splitlines()) is None


@pytest.mark.long
def test_ci_recipe(desk):
    """It is the main job with two reports more: what that prints is looked at here, too.

    CI has run it so just before, and says where what it reported is.
    """
    recipe = (ROOT / "docs" / "howto" / "ci.md").read_text()
    command = re.findall(r"- run: (schedproof .*)", recipe)[0]
    assert command.startswith(f"{MAIN_JOB} --junit verify.xml --summary ")
    if "SCHEDPROOF_MAIN_JOB" in os.environ:
        folder = Path(os.environ["SCHEDPROOF_MAIN_JOB"])
        printed = (folder / "stdout").read_text()
    else:
        done, folder = desk(command), desk.folder
        assert (done.returncode, besides_progress(done.stderr)) == (0, "")
        printed = done.stdout
    total = sum(
        len(property_names(system, model)) for system in systems().values() for model in system.variants.values()
    )
    assert f"as expected: {total} of {total} verdicts are what the manifests say" in printed
    assert (folder / "summary.md").read_text().startswith("## schedproof: as expected")
    assert "<testsuites" in (folder / "verify.xml").read_text()


def test_diagram_command_of_the_picture(desk):
    (command,) = re.findall(r"`(schedproof diagram [^`]*)`", README)
    done = desk(command.replace("PodGroup.svg", "PodGroup.dot"))  # needs no graphviz
    assert done.returncode == 0
    gallery = ROOT / "diagrams" / "gallery" / "hived" / "repaired" / "PodGroup.svg"
    assert fingerprint((desk.folder / "PodGroup.dot").read_text()) == svg_fingerprint(gallery.read_text())


def test_two_single_line_commands_install_and_run():
    commands = [line for block in fenced("bash") for line in block.splitlines()]
    assert [c.rsplit(" && ", 1)[1] for c in commands] == [".venv/bin/schedproof verify", ".venv/bin/pytest"]
    assert all(c.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ") for c in commands)


def test_extras_that_are_to_be_installed_are_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {name for each in re.findall(r"'\.\[([\w,]+)\]'", README) for name in each.split(",")} <= set(extras)


def test_it_has_at_most_250_lines():
    assert len(README.splitlines()) <= 250


def test_the_excerpt_of_the_model_is_the_models():
    (excerpt,) = fenced("text")
    source = "".join(file.read_text() for file in (ROOT / "model" / "systems" / "hived").glob("*.py"))
    lines = [line.strip() for line in excerpt.splitlines() if line.strip()]
    assert len(lines) > 8 and [line for line in lines if line not in source] == []


def test_its_table_has_every_command():
    named = {name for row in re.findall(r"^\| (`.*?) \|", README, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(COMMANDS)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if not target.startswith("https://"):
            assert (ROOT / target).exists(), target


def test_every_package_is_installed():
    """Folders without ``__init__.py`` would be missing from wheels, though the tests in a checkout find them."""
    for top in ("schedproof", "model", "impl", "proofs", "diagrams"):
        for file in (ROOT / top).rglob("*.py"):
            assert (file.parent / "__init__.py").is_file(), file.parent
    assert {link.name for link in (ROOT / "schedproof").iterdir() if link.is_symlink()} == {
        "model",
        "impl",
        "proofs",
        "diagrams",
    }


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        (["a", "...", "d"], ["a", "b", "c", "d"], None),
        (["a 1.25 s"], ["a 9.99 s"], None),
        (["a", "...", "d"], ["a", "d", "e"], "d"),
        (["a"], ["a", "b"], "the end"),
        (["b", "..."], ["a", "b"], "b"),
        (["a", "...", "c", "...", "b"], ["a", "b", "c"], "b"),
        (["47 states"], ["48 states"], "47 states"),
    ],
)
def test_a_wrong_line_would_be_noticed(shown, printed, expected):
    assert missing(shown, printed) == expected

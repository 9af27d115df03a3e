"""The README's claims. Its console blocks run with those of the other pages, in `test_pages.py`."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from schedproof.cli.commands import COMMANDS
from schedproof.diagrams.images import fingerprint, svg_fingerprint
from schedproof.model.registry.discovery import systems
from schedproof.proofs.verification.properties import properties_of
from tests.support.places import ROOT
from tests.support.stderr import besides_progress

README = (ROOT / "README.md").read_text()


def fenced(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


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


@pytest.mark.long(one_in=1)
def test_ci_recipe(desk):
    """It is the main job with two reports more: what that prints is looked at here, too.

    CI has run it so just before, and says where what it reported is.
    """
    recipe = (ROOT / "docs" / "howto" / "ci.md").read_text()
    command = re.findall(r"- run: (schedproof .*)", recipe)[0].replace("--manifest schedproof.toml ", "", 1)
    assert command.startswith(f"{MAIN_JOB} --junit verify.xml --summary ")
    if "SCHEDPROOF_MAIN_JOB" in os.environ:
        folder = Path(os.environ["SCHEDPROOF_MAIN_JOB"])
        printed = (folder / "stdout").read_text()
    else:
        done, folder = desk(command), desk.folder
        assert (done.returncode, besides_progress(done.stderr).count("\n")) == (0, 1)  # that there is no manifest
        printed = done.stdout
    total = sum(
        len(properties_of(system, model)) for system in systems().values() for model in system.variants.values()
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

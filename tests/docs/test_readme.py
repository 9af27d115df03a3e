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

from schedproof.diagrams.images import fingerprint, svg_fingerprint
from schedproof.model.lang import Invariant, Recovery, StepInvariant
from schedproof.model.registry.discovery import systems
from schedproof.model.systems.beaker.configurations import CONFIGURATIONS
from schedproof.model.systems.beaker.phases import PHASES
from schedproof.model.systems.yunikorn import configurations as yunikorn
from schedproof.model.systems.yunikorn_merge import configurations as yunikorn_merge
from schedproof.proofs.verification.auxiliary import Locked, auxiliary
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
    (recipe,) = fenced("yaml")
    (command,) = re.findall(r"- run: (schedproof .*)", recipe)
    assert command.startswith(f"{MAIN_JOB} --junit verify.xml --summary ")
    if "SCHEDPROOF_MAIN_JOB" in os.environ:
        folder = Path(os.environ["SCHEDPROOF_MAIN_JOB"])
        printed = (folder / "stdout").read_text()
    else:
        done, folder = desk(command), desk.folder
        assert (done.returncode, besides_progress(done.stderr)) == (0, "")
        printed = done.stdout
    (shown,) = [block.shown for block in BLOCKS if block.command == MAIN_JOB]
    assert missing(shown, printed.splitlines()) is None
    assert (folder / "summary.md").read_text().startswith("## schedproof: as expected")
    assert "<testsuites" in (folder / "verify.xml").read_text()
    assert re.findall(r"path: (\S+)", recipe) == ["verify.xml"]


@pytest.mark.long
def test_program(desk):
    (program,) = fenced("python")
    done = desk(f"{sys.executable} - <<'END'\n{program}\nEND")
    assert done.stdout.splitlines() == [
        "as-written reserving-cell proved (any number)",
        "repaired reserving-cell proved (any number)",
    ]


def test_diagram_command_of_the_picture(desk):
    (command,) = re.findall(r"`(schedproof diagram [^`]*)`", README)
    done = desk(command.replace("PodGroup.svg", "PodGroup.dot"))  # needs no graphviz
    assert done.returncode == 0
    gallery = ROOT / "diagrams" / "gallery" / "hived" / "repaired" / "PodGroup.svg"
    assert fingerprint((desk.folder / "PodGroup.dot").read_text()) == svg_fingerprint(gallery.read_text())


def test_every_finding_is_told_in_plain_words(desk):
    """And none that is not there: the section names exactly the properties that ``findings`` prints."""
    section = README.split("## What is wrong with HiveD's document")[1].split("```console")[0]
    told = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", section))
    printed = desk("schedproof findings hived").stdout
    assert told == set(re.findall(r"^\d+\. (\S+) ", printed, re.MULTILINE))


def beakers():
    """The section on Beaker's document: what is wrong, and how it is repaired."""
    section = README.split("## What is wrong with Beaker's document")[1].split("\n## ")[0]
    wrong, repaired = section.split("comes down to nine things:")[1].split("\nThe repair is five changes")
    return wrong, repaired


def names(text):
    return set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", text))


def test_every_finding_in_the_proposal_is_told_in_plain_words():
    """What ``findings`` prints is what the manifests expect: that is for ``verify`` to check."""
    wrong, _ = beakers()
    variants = systems()["beaker"].variants
    assert names(wrong) == variants["as-written"].refuted | variants["interleaved"].refuted
    assert len(re.findall(r"^- \*\*", wrong, re.MULTILINE)) == 9


def test_what_is_said_of_the_repaired_proposal():
    _, told = beakers()
    repaired = systems()["beaker"].variants["repaired"]
    assert len([change for change in repaired.changes if change.repairs]) == 5
    weakened = {name for change in repaired.changes for name in change.weakens}
    weaker = {name for change in repaired.changes for name in change.weaker}
    assert weaker and not weaker & repaired.refuted
    proved_too = {"sets-begin", "waits-only-for-earlier-sets"}
    assert (
        names(told) - set(systems()["beaker"].variants) == weakened | weaker | proved_too
    )  # each is told, and no other
    kept, required = {p.name for p in repaired.properties}, {p.name for p in systems()["beaker"].base.properties}
    assert required - kept - {p.name for p in PHASES} == weakened
    assert proved_too <= kept - repaired.refuted
    assert "in ten configurations" in told and len(CONFIGURATIONS) == 10


def test_counts_of_yunikorns_merge():
    assert "explored in fifteen configurations" in README and len(yunikorn_merge.CONFIGURATIONS) == 15
    assert "has sixteen, each" in README and len(systems()["yunikorn-merge"].readings) == 16


def refined(variant: str) -> int:
    return sum(each.variant == variant for each in systems()["yunikorn"].refinements)


def test_what_is_said_of_yunikorn():
    """Each property that is told is one that a variant breaks; and the counts."""
    section = README.split("## What is wrong with YuniKorn's document")[1].split("\n## ")[0]
    variants = systems()["yunikorn"].variants
    told = names(section) - set(variants)
    assert told and told <= variants["as-written"].refuted | variants["v0.12.2"].refuted | variants["parties"].refuted
    changes = [change for change in variants["repaired"].changes if change.repairs or change.weakens]
    assert "with ten changes" in section and len(changes) == 10
    assert "three of them in a weaker form" in section and sum(len(change.weakens) for change in changes) == 3
    assert "twelve small configurations, core and shim together in ten" in README
    assert (len(yunikorn.CONFIGURATIONS), len(yunikorn.WITH_SHIM)) == (12, 10)
    assert "in five configurations" in section and refined("repaired") == 5
    assert "in four more" in section and refined("parties-repaired") == 4


@pytest.mark.long
def test_what_is_said_of_the_merge():
    """Every property of the two copies and every rule of the locks that is broken is told, and the numbers are right."""
    section = README.split("## What is wrong with YuniKorn's two copies, and with the locks of one")[1].split("\n## ")[
        0
    ]
    variants = systems()["yunikorn-merge"].variants
    described = [
        each
        for each in auxiliary(systems()["yunikorn-merge"], variants["merged"])
        if isinstance(each, Locked) and each.locks.document
    ]
    broken = {*variants["two-copy"].refuted, *(name for each in described for name in each.refuted)}
    assert broken <= set(re.findall(r"`([\w.-]+)`", section))
    assert "and six more" in section and len(variants["two-copy-repaired"].changes) == 7
    deadlocks = [
        each
        for each in auxiliary(systems()["yunikorn-merge"], variants["merged"])
        if isinstance(each, Locked) and each.described.refuted
    ]
    assert "nine deadlocks" in README and len(deadlocks) == 9 + 1, "and the sentence of line 245"


def test_totals_are_those_of_the_models():
    """Also where the command that prints them is a long one."""
    (verdicts,) = set(re.findall(r"as expected: (\d+ of \d+) verdicts", README))
    total = sum(
        len(property_names(system, model)) for system in systems().values() for model in system.variants.values()
    )
    assert verdicts == f"{total} of {total}"

    hived = systems()["hived"].variants.values()
    (checked,) = set(re.findall(r"induction checks (\d+ of \d+) properties", README))
    # beside what each model declares, induction checks that its steps are well-formed
    inductive = [p for model in hived for p in model.properties if isinstance(p, Invariant | StepInvariant | Recovery)]
    assert checked == f"{len(hived) + len(inductive)} of {len(hived) + len(inductive)}"

    (found,) = re.findall(r"^(\d+) findings in ", README, re.MULTILINE)
    assert int(found) == len(systems()["hived"].variants["as-written"].refuted)


def test_two_single_line_commands_install_and_run():
    commands = [line for block in fenced("bash") for line in block.splitlines()]
    assert [c.rsplit(" && ", 1)[1] for c in commands] == [".venv/bin/schedproof verify", ".venv/bin/pytest"]
    assert all(c.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ") for c in commands)


def test_extras_that_are_to_be_installed_are_there():
    """And those of Jobmon are installed as the quick start installs: into an environment, from the checkout."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {name for each in re.findall(r"'\.\[([\w,]+)\]'", README) for name in each.split(",")} <= set(extras)
    assert "`python3 -m venv .venv && .venv/bin/pip install -q -e '.[jobmon,postgresql]'`" in README


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

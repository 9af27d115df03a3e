"""The tutorial's claims: its commands are run one after the other, in a scratch folder, and print what it shows."""

import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from schedproof.cli import main
from tests.docs.test_readme import missing
from tests.support.places import ROOT
from tests.support.stderr import besides_progress

COPIES = multiprocessing.get_context("forkserver")
"""Of a process without threads: one that has threads, as this one may have, cannot be copied safely."""

COPIES.set_forkserver_preload([f"schedproof.{name}" for name in ("app", "collected", "driver", "testing")])

TUTORIAL = (ROOT / "TUTORIAL.md").read_text()
SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class Command:
    """A command, what it prints (``...`` stands for any lines), and how it ends."""

    line: str
    shown: tuple[str, ...]
    code: int


@dataclass(frozen=True)
class Text:
    """What the reader writes: a file, or one method of a class in it."""

    file: str
    method: str
    text: str


def steps():
    """What the reader does, in order."""
    pattern = (
        r"(?:<!-- (?:exit (\d)|file (\S+)|instead of (\S+) in (\S+)) -->\n)?```(console|python|yaml|json)\n(.*?)```"
    )
    for code, file, method, inside, language, body in re.findall(pattern, TUTORIAL, re.DOTALL):
        if language != "console":
            yield Text(file or inside, method, body)
        else:
            head, *shown = body.rstrip("\n").split("\n")
            assert head.startswith("$ ")
            yield Command(head[2:], tuple(shown), int(code or 0))


def in_a_shell(line, folder):
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env={**environment, "PATH": path}, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def in_a_copy(line, folder):
    """As :func:`in_a_shell`; but ``schedproof`` and ``pytest`` are called in a copy of a process that has them loaded.

    That they are there as programs is seen in other tests: the README's, and that of xdist.
    """
    program, *arguments = shlex.split(line)
    if program not in ("schedproof", "pytest"):
        return in_a_shell(line, folder)
    out, err = folder.parent / "stdout", folder.parent / "stderr"
    child = COPIES.Process(target=call, args=(program, arguments, folder, out, err))
    child.start()
    child.join()
    return child.exitcode, out.read_text(), err.read_text()


def call(program, arguments, folder, out, err):
    """What such a copy does: it becomes the program, as far as anybody can see."""
    os.chdir(folder)
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    if program == "pytest":
        settings.register_profile("few", max_examples=15, derandomize=True)
        settings.load_profile("few")
        arguments += [f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "anyio", "hypothesispytest")]
        arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded already
    sys.exit(int(main(arguments) if program == "schedproof" else pytest.main(arguments)))


def normal(lines):
    return [re.sub(r"(passed|failed) in \d+\.\d+s", r"\1 in 0.00s", line) for line in lines]


def walk(folder, run):
    """Does all that the tutorial says, and compares."""
    here = folder
    for step in steps():
        if isinstance(step, Text):
            path = here / step.file
            if step.method:
                method = rf"    def {step.method}\(.*?\n(?=\n)"
                text, count = re.subn(method, step.text, path.read_text(), flags=re.DOTALL)
                assert count == 1
                path.write_text(text)
            else:
                path.write_text(step.text)
        elif step.line.startswith("cd "):
            here = here / step.line.removeprefix("cd ")
            assert here.is_dir()
        else:
            code, out, err = run(step.line, here)
            assert (code, besides_progress(err)) == (step.code, ""), (step.line, out, err)
            assert missing(normal(step.shown), normal(out.splitlines())) is None, (step.line, out)


def test_every_command_prints_what_is_shown(tmp_path):
    walk(tmp_path, in_a_copy)


def test_it_is_installed_as_the_quick_start_installs():
    (command,) = re.findall(r"```bash\n(.*?)\n```", TUTORIAL, re.DOTALL)
    assert command == "python3 -m venv .venv && .venv/bin/pip install -q -e '.[testing]' && . .venv/bin/activate"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.split("[>=]", need)[0] for need in project["optional-dependencies"]["testing"]} == {
        "pytest",
        "hypothesis",
    }


def test_everything_is_run():
    """No block is overlooked, and the tutorial has all that it says."""
    done = list(steps())
    assert len(done) == len(re.findall(r"^```(?!bash)\w+$", TUTORIAL, re.MULTILINE))
    lines = [step.line for step in done if isinstance(step, Command)]
    for command in ("init", "verify", "explain", "diff", "diagram", "validate"):
        assert any(line.startswith(f"schedproof {command} ") for line in lines)
    assert "pytest -q --schedproof" in lines
    assert [step.code for step in done if isinstance(step, Command) and step.code] == [1, 3, 1, 1, 1]


def test_links_lead_somewhere_and_what_it_speaks_of_is_there():
    for target in re.findall(r"\]\(([^)]+)\)", TUTORIAL):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("line", ["schedproof nosuch", "cat nosuch"])
def test_a_command_that_fails_would_be_noticed(tmp_path, line):
    (tmp_path / "lease").mkdir()
    code, _, err = in_a_copy(line, tmp_path / "lease")
    assert code != 0 and err

"""Former names of options and commands: they do the same, and one line on standard error says the new name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from schedproof.cli import main
from schedproof.cli.app import cli
from schedproof.cli.commands import COMMANDS
from schedproof.cli.renamed import FORMER_COMMANDS, Option
from tests.support.lamps import lamps, system
from tests.support.places import DATA
from tests.support.registry import put
from tests.support.rows import each_row
from tests.support.stderr import besides_progress

LOG = str(DATA / "hived" / "s-02-life-preemption.jsonl")
SMALL = ("--scope", "Lamp=1", "-o", "out")

FORMER = [
    ("--only", "--property", ["verify", "lamps", "--only", "blinks"]),
    ("--only", "--property", ["verify", "lamps", "--only=blinks", "--only=one-state"]),
    ("--only", "--property", ["export", "lamps", "--to", "tla", "--only", "on-or-off", *SMALL]),
    ("--no-promises", "--no-properties", ["export", "lamps", "--to", "promela", "--no-promises", *SMALL]),
    ("--since", "--compare-to", ["diagram", "lamps", "Lamp", "--since", "other", "--format", "dot", "-o", "-"]),
    ("--idle", "--idle-timeout", ["validate", "hived", LOG, "--follow", "--idle", "0.1"]),
    (
        "--release",
        "--log-version",
        ["validate", "yunikorn", str(DATA / "yunikorn" / "statelog-1.6.json"), "--release", "1.6"],
    ),
    ("--max-idle", "--idle-timeout", ["serve", "--max-idle", "5", "--openapi", "-"]),
    ("check", "validate", ["check", "hived", LOG]),
]


@pytest.fixture
def run(monkeypatch, tmp_path, capfd):
    """Runs a command in a folder of its own: its exit code, standard output, standard error, and what it wrote."""
    put(monkeypatch, {"lamps": system(lamps(), lamps("other"))})

    def command(number, arguments):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        code = main(arguments)
        written = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
        return code, *(re.sub(r"\d+\.\d+", "0.0", text) for text in capfd.readouterr()), written

    return command


@pytest.mark.parametrize(("former", "name", "arguments"), FORMER, ids=lambda v: v if isinstance(v, str) else v[0])
def test_a_former_name_does_the_same_and_says_the_new_one(run, monkeypatch, former, name, arguments):
    if "lamps" not in arguments:  # of these systems something may be kept for the whole process
        monkeypatch.undo()
    before, after = ([re.sub(rf"^{former}(?==|$)", to, a) for a in arguments] for to in (former, name))
    old, new = run(1, before), run(2, after)
    assert (old[0], old[1], old[3]) == (new[0], new[1], new[3]) and old[0] != 2
    assert besides_progress(new[2]) == ""
    note = f"schedproof: {former} is now {name}; write {name}, the former name is removed in the next version\n"
    assert besides_progress(old[2]) == note


def test_both_names_of_an_option_that_may_be_repeated_count(run):
    _, out, err, _ = run(1, ["verify", "lamps", "--property", "blinks", "--only", "one-state"])
    assert re.findall(r"^(blinks|one-state|on-or-off) ", out, re.MULTILINE) == 2 * ["blinks", "one-state"]
    assert besides_progress(err).count("\n") == 1


def test_the_new_name_of_another_option_wins(run):
    words = ["diagram", "lamps", "Lamp", "--compare-to", "other", "--since", "nosuch", "--format", "dot", "-o", "-"]
    assert run(1, words)[0] == 0


def test_a_value_that_looks_like_a_former_name_is_a_value(run):
    code, _, err, written = run(1, ["verify", "lamps", "--json", "--only"])
    assert (code, besides_progress(err), list(written)) == (0, "", ["--only"])


def test_every_former_name_is_tested():
    options = {
        (former, param.opts[-1])
        for name in COMMANDS
        for param in COMMANDS[name].load().params
        if isinstance(param, Option)
        for former in param.former
    }
    assert {(former, name) for former, name, _ in FORMER} == options | set(FORMER_COMMANDS.items())


@each_row("name", COMMANDS)
def test_help_does_not_show_former_names(name, capsys):
    formers = [f for p in COMMANDS[name].load().params if isinstance(p, Option) for f in p.former]
    assert main([name, "--help"]) == 0
    shown = re.findall(r"--[\w-]+", capsys.readouterr().out)
    assert not set(formers) & set(shown)


def test_the_help_of_a_former_command_is_that_of_its_new_name(capsys):
    assert main(["check", "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Usage: schedproof validate ") and err.startswith("schedproof: check is now validate;")
    with cli.make_context("schedproof", ["--help"], resilient_parsing=True) as context:
        assert not set(FORMER_COMMANDS) & set(cli.list_commands(context))


def test_completion_prints_no_note(tmp_path: Path) -> None:
    words = {
        "_SCHEDPROOF_COMPLETE": "bash_complete",
        "COMP_WORDS": "schedproof verify --only blinks --jo",
        "COMP_CWORD": "4",
    }
    done = subprocess.run(
        [sys.executable, "-m", "schedproof"], capture_output=True, text=True, env={**os.environ, **words}, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("plain,--jobs\n", "")

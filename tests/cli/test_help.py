"""What ``--help`` says: the same words for the same thing, examples that can be run, exit codes."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from schedproof.cli import main
from schedproof.cli.app import cli
from schedproof.cli.commands import COMMANDS
from tests.support.rows import each_row

METAVARS = {
    "--action": "ACTION", "--bound": "SORT.ATTRIBUTE=N", "--branches": "N", "--checkpoint": "DIRECTORY", "--checkpoint-every": "SECONDS", "--cluster": "ADDRESS", "--code-quality": "FILE", "--document": "FILE", "--earlier": "FILE", "--emit-smt": "DIRECTORY",
    "--emit-test": "FILE", "--from": "FILE", "--host": "ADDRESS", "--html": "FILE", "--idle-timeout": "SECONDS", "--jobs": "N", "--json": "FILE",
    "--junit": "FILE", "--length": "N", "--log": "FILE", "--log-version": "VERSION", "--manifest": "FILE", "--mapping": "FILE", "--markdown": "FILE",
    "--max-body": "MIB", "--max-length": "N", "--max-memory": "MIB", "--max-seconds": "SECONDS", "--max-sessions": "N", "--max-streams": "N",
    "--max-states": "N", "--memory": "SIZE", "--openapi": "FILE", "--picture": "FILE", "--port": "PORT",
    "--property": "PROPERTY", "--sarif": "FILE", "--scope": "SORT=N,...", "--seed": "N", "--sort": "SORT", "--state": "OBJECT.FIELD=VALUE", "--steps": "N",
    "--summary": "FILE", "--threads": "N", "--token-file": "FILE", "--variant": "VARIANT", "--weight": "ACTION=N",
}  # fmt: skip
"""Of each option with a value; some have two meanings, and choices are their own metavar."""

TWO_MEANINGS = {
    "--compare-to": ("VARIANT", "VARIANT[:PROPERTY]"),
    "--format": ("FORMAT",),
    "--output": ("FILE", "DIRECTORY"),
}

WITHOUT_VARIANT = {
    "diff": "its arguments are variants",
    "init": "makes a system",
    "locks": "of a file",
    "serve": "of requests",
}

BANNED = r"\b(promis\w*|judg(?!ed_by\b)\w*|depart\w*|oracle|stor(y|ies)|tell\w*|told|topolog\w*|situation\w*|part(y|ies)|broken?|folder)\b"
"""Words of which LANGUAGE.md says what to write instead."""


@pytest.fixture(params=COMMANDS)
def command(request) -> click.Command:
    return COMMANDS[request.param].load()


def options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


def help_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([name, "--help"] if name else ["--help"]) == 0
    return capsys.readouterr().out


def test_one_option_has_one_metavar(command: click.Command) -> None:
    for option in options(command):
        name = option.opts[-1]
        if option.is_flag or isinstance(option.type, click.Choice):
            continue
        assert option.metavar in TWO_MEANINGS.get(name, (METAVARS.get(name),)), name


def test_variants_can_be_named_wherever_there_are_some(command: click.Command) -> None:
    assert ("--variant" in [o.opts[-1] for o in options(command)]) == (command.name not in WITHOUT_VARIANT)


def test_results_as_json_of_every_command_but_one(command: click.Command) -> None:
    assert ("--json" in [o.opts[-1] for o in options(command)]) == (command.name != "diagram")


def test_every_option_is_explained_in_sentences(command: click.Command) -> None:
    for option in options(command):
        assert option.help and re.match(r"[A-Z]|[\w-]+: ", option.help), option.opts
        assert option.help.endswith((".", "]")), option.opts


@each_row("name", ["", *COMMANDS])
def test_help_has_examples_exit_codes_and_common_words(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(name, capsys)
    assert re.search(r"^  Examples?:\n    schedproof ", text, re.MULTILINE)
    codes = text.partition("Exit codes:\n")[2].splitlines()
    assert [line[:5] for line in codes][:1] == ["    0"] and "    2" in [line[:5] for line in codes]
    assert all(re.match(r"    [0123]  \S", line) for line in codes)
    assert not re.findall(BANNED, text, re.IGNORECASE)
    assert max(map(len, text.splitlines())) <= 100


@each_row("name", ["", *COMMANDS])
def test_examples_can_be_run(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as the command line goes: an option that was renamed, or a value that it does not take, would be refused."""
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^    schedproof (.*)$", help_of(name, capsys), re.MULTILINE)
    assert examples
    for example in examples:
        word, *arguments = shlex.split(example.partition(" < ")[0])
        if word != "COMMAND":
            assert name in ("", word)
            COMMANDS[word].load().make_context(word, arguments)
    assert capsys.readouterr().err == ""


def test_the_list_of_commands_fits_into_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = help_of("", capsys)
    for name, each in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(each.does)}$", shown, re.MULTILINE)
    with cli.make_context("schedproof", ["--help"], resilient_parsing=True) as context:
        assert cli.get_help(context)

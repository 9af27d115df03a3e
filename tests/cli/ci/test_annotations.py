"""Annotations: one for each verdict that is not as expected, escaped as GitHub reads them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.cli.ci.annotations import workflow_commands
from schedproof.cli.ci.repository import Repository
from schedproof.proofs.verification.verify import VariantReport
from tests.cli.ci.conftest import Verify
from tests.support.lamps import SWITCH_ON, VACUOUS, lamps, system
from tests.support.places import ROOT

COMMAND = re.compile(r"::(\w+) (.*?)::(.*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as GitHub's runner reads it: its name, its values and its message."""
    match = COMMAND.fullmatch(line)
    assert match is not None, line
    values = dict(part.split("=", 1) for part in match[2].split(","))
    return match[1], {name: unescaped(value) for name, value in values.items()}, unescaped(match[3])


def unescaped(text: str) -> str:
    for written, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(written, character)
    return text


def test_an_unexpected_verdict_is_an_error_at_its_line(verify: Verify) -> None:
    code, out, _ = verify("--annotations")
    *table, command = out.splitlines()
    name, values, message = read(command)
    assert (code, name) == (1, "error") and table[-1].startswith("NOT as expected: ")
    assert (values["file"], values["title"]) == ("tests/support/lamps.py", "lamps plain: stays-dark")
    lines = (ROOT / values["file"]).read_text().splitlines()
    assert 'name="stays-dark"' in lines[int(values["line"])]
    problem, empty, *run = message.split("\n")
    assert (problem, empty) == ("refuted in 1 step at Lamp=2, expected proved", "")
    assert "\n".join(f"  {line}".rstrip() for line in run) in out


def test_what_ends_a_command_is_escaped(verify: Verify) -> None:
    action = replace(SWITCH_ON, says="{x} is on::at 100%0A")
    model = replace(lamps(refuted=()), actions=[action, lamps().action("switch_off")])
    command = verify("--annotations", of=system(model))[1].splitlines()[-1]
    assert "%250A" in command and "title=lamps plain%3A stays-dark::" in command
    assert " 1. l0 is on::at 100%0A  [action switch_on, line 3]" in read(command)[2].split("\n")


def test_expected_verdicts_have_none(verify: Verify) -> None:
    code, out, _ = verify("--annotations", of=system())
    assert code == 0 and "::error" not in out


def test_undetermined_and_missing_verdicts_have_one(verify: Verify) -> None:
    out = verify("--annotations", of=system(lamps(properties=[VACUOUS], refuted=())))[1]
    assert "undetermined" in read(out.splitlines()[-1])[2]
    report = VariantReport("lamps", "plain", [], missing=["blinks"])
    (command,) = workflow_commands([report], {"lamps": system()}, Repository(ROOT))
    assert read(command)[1]["title"] == "lamps plain: blinks"
    assert read(command)[2] == "interrupted before there was a verdict"


def test_a_file_outside_the_repository_is_not_named(
    verify: Verify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedproof.cli.ci.repository.Repository.around", lambda folder: Repository(tmp_path.resolve()))
    assert set(read(verify("--annotations")[1].splitlines()[-1])[1]) == {"title"}


def test_they_do_not_mix_with_a_result(verify: Verify) -> None:
    for option in ("--json", "--junit", "--summary", "--sarif", "--code-quality"):
        code, out, err = verify("--annotations", option, "-")
        assert (code, out) == (2, "")
        assert f"--annotations, {option}: both write to standard output" in err

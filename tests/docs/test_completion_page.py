"""The page on completion: each line generates a script, and the one of bash completes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schedproof.cli.app import COMPLETION
from tests.docs.ci_files import shell
from tests.support.needs import needs_fish, needs_zsh
from tests.support.places import ROOT

PAGE = (ROOT / "docs" / "howto" / "completion.md").read_text("utf-8")

LINES = dict(re.findall(r"^\| (\w+)[^|]*\| `[^`]*` \| `(.*)` \|$", PAGE.replace("\\|", "@"), re.MULTILINE))
"""By shell; @ is the bar of a pipe."""


def test_there_is_a_line_for_each_shell() -> None:
    assert set(LINES) == {"bash", "zsh", "fish"}


@pytest.mark.parametrize(
    ("name", "defines"), [("bash", "complete -o nosort -F"), ("zsh", "compdef "), ("fish", "complete --no-files")]
)
def test_each_line_makes_the_script_of_its_shell(name: str, defines: str, tmp_path: Path) -> None:
    (command,) = re.findall(rf"{COMPLETION}={name}_source schedproof", LINES[name])
    done = shell(command, tmp_path)
    assert done.returncode == 0 and defines in done.stdout and "schedproof" in done.stdout


def test_bash_completes_after_the_line(tmp_path: Path) -> None:
    """As bash does at Tab: it calls the function that the line has registered."""
    lines = f"""
    {LINES["bash"]}
    COMP_WORDS=(schedproof ver) COMP_CWORD=1
    _schedproof_completion schedproof ver schedproof
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = shell(lines, tmp_path)
    assert done.stdout.split() == ["verify"], done.stderr


@needs_zsh
def test_zsh_completes_after_the_line(tmp_path: Path) -> None:
    """Its completion system is there: the line registers a function for the command, without an error."""
    (tmp_path / "lines").write_text(f"autoload -Uz compinit\ncompinit -D\n{LINES['zsh']}\nprint $_comps[schedproof]\n")
    done = shell("zsh -f lines", tmp_path)
    assert (done.stdout, done.stderr) == ("_schedproof_completion\n", "")


@needs_fish
def test_fish_completes_after_the_line(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text(f"{LINES['fish'].replace('@', '|')}\ncomplete --do-complete 'schedproof ver'\n")
    done = shell("fish --no-config lines", tmp_path, HOME=str(tmp_path))
    assert done.stdout.split()[:1] == ["verify"], done.stderr

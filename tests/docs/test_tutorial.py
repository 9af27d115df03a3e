"""The tutorial's claims: its commands are run one after the other, in a scratch folder, and print what it shows."""

import re
import tomllib

import pytest

from tests.docs.commands import in_a_copy
from tests.docs.pages import Command, steps
from tests.support.places import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
TUTORIAL = PAGE.read_text()


def test_it_is_installed_as_the_readme_installs():
    (command,) = re.findall(r"```bash\n(.*?)\n```", TUTORIAL, re.DOTALL)
    assert command == "python3 -m venv .venv && .venv/bin/pip install -q -e '.[testing]' && . .venv/bin/activate"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {re.split("[>=]", need)[0] for need in project["optional-dependencies"]["testing"]} == {
        "pytest",
        "hypothesis",
    }


def test_everything_is_run():
    """No block is overlooked, and the tutorial has all that it says."""
    done = list(steps(TUTORIAL))
    assert len(done) == len(re.findall(r"^```(?!bash)\w+$", TUTORIAL, re.MULTILINE))
    lines = [step.line for step in done if isinstance(step, Command)]
    for command in ("init", "verify", "explain", "diff", "diagram", "validate"):
        assert any(line.startswith(f"schedproof {command} ") for line in lines)
    assert "pytest -q --schedproof" in lines
    assert [step.code for step in done if isinstance(step, Command) and step.code] == [1, 3, 1, 1, 1]


@pytest.mark.parametrize("line", ["schedproof nosuch", "cat nosuch"])
def test_a_command_that_fails_would_be_noticed(tmp_path, line):
    (tmp_path / "lease").mkdir()
    code, _, err = in_a_copy(line, tmp_path / "lease")
    assert code != 0 and err

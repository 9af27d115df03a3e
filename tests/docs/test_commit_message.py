"""The check of commit messages that `.pre-commit-config.yaml` runs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def said_of(tmp_path, message):
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message)
    ran = subprocess.run(
        [sys.executable, "docs/commit_message.py", str(file)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return ran.returncode, ran.stderr


GOOD = "locks: explore threads compiled\n\nThe interpreter took 20 s for six threads.\n# a comment of git\n"


@pytest.mark.parametrize("message", [GOOD, "Merge branch 'x'\n", "proofs/locks, docs: explain ranks\n\nWhy.\n"])
def test_a_good_message_passes(tmp_path, message):
    assert said_of(tmp_path, message) == (0, "")


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (GOOD.replace("compiled", "x" * 60), "at most 72"),
        (GOOD.replace("locks: ", ""), "area: imperative summary"),
        (GOOD.replace("explore", "explored"), "write the imperative"),
        (GOOD.replace("explore", "exploring"), "write the imperative"),
        (GOOD.replace("compiled", "compiled."), "full stop"),
        ("locks: explore threads compiled\n", "no body"),
        ("locks: explore threads compiled\n\n# only a comment\n", "no body"),
        (GOOD.replace("\n\n", "\n"), "leave that empty"),
        ("", "area: imperative summary"),
    ],
)
def test_a_bad_message_fails_with_what_to_write(tmp_path, message, problem):
    code, output = said_of(tmp_path, message)
    assert code == 1
    assert problem in output

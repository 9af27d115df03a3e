"""``schedproof init``: what it writes works at once, and nothing is ever overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from schedproof.cli import main
from tests.support.places import ROOT
from tests.support.user_repository import imports_undone

FILES = ["schedproof.toml", "lease/__init__.py", "lease/model.py", "lease/log.jsonl", "test_lease.py"]


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        with imports_undone():
            code = main([str(a) for a in arguments])
        return code, *capfd.readouterr()

    return command


def written(folder):
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in str(path)
    )


@pytest.mark.parametrize(("arguments", "folder"), [(["lease"], "lease"), (["lease", "-o", "a/b"], "a/b"), (["lease", "-o", "."], ".")])  # fmt: skip
def test_what_it_writes_works_at_once(run, monkeypatch, tmp_path, arguments, folder):
    code, out, err = run("init", *arguments)
    assert (code, err) == (0, "")
    assert written(tmp_path / folder) == sorted(FILES)
    assert out.split("\n\n")[0].splitlines() == [
        os.path.join(folder, name) if folder != "." else name for name in FILES
    ]
    monkeypatch.chdir(tmp_path / folder)
    assert run("verify", "lease", "--jobs", "1")[0] == 0
    assert run("validate", "lease", "lease/log.jsonl")[0] == 0
    assert run("diagram", "lease", "-o", "lease.mmd")[0] == 0


def test_what_it_writes_is_clean(run, tmp_path):
    run("init", "lease")
    ruff = [str(Path(sys.executable).parent / "ruff")]
    pyproject = ROOT / "pyproject.toml"
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *command, "--config", pyproject, "--no-cache", tmp_path], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_a_name_with_a_dash_is_a_package_with_an_underscore(run, tmp_path):
    code, out, _ = run("init", "job-queue", "--json", "-")
    assert code == 0
    assert json.loads(out) == {
        "system": "job-queue",
        "folder": "job-queue",
        "files": [f"job-queue/{name.replace('lease', 'job_queue')}" for name in FILES],
    }
    assert "[systems.job-queue]" in (tmp_path / "job-queue" / "schedproof.toml").read_text()
    assert 'system="job-queue"' in (tmp_path / "job-queue" / "job_queue" / "model.py").read_text()


@pytest.mark.parametrize("existing", FILES)
def test_nothing_is_overwritten_and_nothing_half_written(run, tmp_path, existing):
    path = tmp_path / "lease" / existing
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    code, out, err = run("init", "lease")
    assert (code, out) == (2, "")
    assert f"'lease/{existing}' exists already, and was not changed" in err and err.count("\n") == 1
    assert written(tmp_path) == [f"lease/{existing}"] and path.read_text() == "mine"


def test_a_link_to_nowhere_is_not_followed(run, tmp_path):
    (tmp_path / "lease").mkdir()
    (tmp_path / "lease" / "schedproof.toml").symlink_to(tmp_path / "elsewhere")
    assert run("init", "lease")[0] == 2
    assert not (tmp_path / "elsewhere").exists()


def test_what_was_begun_is_taken_back(run, tmp_path, monkeypatch):
    """The disk is full after two files."""
    from schedproof.cli import starter

    real, count = starter.write_whole, iter(range(9))

    def full(path, text):
        if next(count) == 2:
            raise OSError(28, "No space left on device")
        real(path, text)

    monkeypatch.setattr(starter, "write_whole", full)
    code, _, err = run("init", "lease", "-o", "a/b")
    assert code == 2 and "No space left on device; nothing was written" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["Lease"], "cannot be the name of a system; use at most 40 small letters"),
        (["../lease"], "cannot be the name of a system"),
        (["lease\n"], "cannot be the name of a system"),
        (["x" * 41], "cannot be the name of a system"),
        (["hived"], "schedproof comes with a system 'hived'"),
        (["class"], "is a Python keyword or an installed module"),
        (["json"], "is a Python keyword or an installed module"),
        (["pytest"], "is a Python keyword or an installed module"),
        (["lease", "-o", ""], "--output: the name is empty"),
        (["lease", "-o", "file"], "'file' is not a directory"),
        (["lease", "-o", "file/x"], "cannot write to 'file/x'"),
        ([], "missing argument 'NAME'"),
    ],
)
def test_a_mistake_is_reported_in_one_line(run, tmp_path, arguments, expected):
    (tmp_path / "file").touch()
    code, out, err = run("init", *arguments)
    assert (code, out) == (2, "")
    assert expected in err and err.count("\n") == 1 and err.startswith("schedproof: ")
    assert written(tmp_path) == ["file"]

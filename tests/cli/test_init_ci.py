"""The workflow that ``init --ci github`` writes: valid against GitHub's schema, and its shell lines run as they are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from schedproof import __version__
from schedproof.cli import main
from tests.docs.ci_files import content, shell
from tests.support.places import ROOT
from tests.support.user_repository import imports_undone, repository

WORKFLOW = ".github/workflows/schedproof.yml"


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str):
        with imports_undone():
            return main(arguments), *capfd.readouterr()

    return command


def is_valid(path: Path) -> bool:
    """Whether check-jsonschema, which ships the schema of GitHub's workflows, accepts a file."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    return subprocess.run(command, capture_output=True).returncode == 0


def shell_steps(path: Path) -> dict[str, dict[str, str]]:
    """The steps that run shell lines, by name, without the one that installs."""
    steps = content(path)["jobs"]["models"]["steps"]
    return {step["name"]: step for step in steps if "run" in step and step["name"] != "Install"}


def done_as_on_github(folder: Path, path: Path) -> list[int]:
    """Runs the shell steps; their exit codes."""
    where = folder / content(path)["jobs"]["models"]["defaults"]["run"]["working-directory"]
    return [
        shell(step["run"], where, GITHUB_STEP_SUMMARY=str(folder / "summary.md")).returncode
        for step in shell_steps(path).values()
    ]


@pytest.mark.parametrize("arguments", [["lease"], ["lease", "-o", "a/b"], ["lease", "-o", "."]])
@pytest.mark.parametrize("in_repository", [True, False])
def test_the_workflow_is_in_the_root_of_the_repository(run, tmp_path, arguments, in_repository):
    if in_repository:
        (tmp_path / ".git").mkdir()
    code, out, err = run("init", *arguments, "--ci", "github")
    folder = Path(arguments[-1])
    root = tmp_path if in_repository else tmp_path / folder
    assert (code, err) == (0, "") and (root / WORKFLOW).is_file()
    assert ".." not in out and out.count(".yml") == 1
    assert list(shell_steps(root / WORKFLOW)) == ["Verify the models", "Check a log of lease"]
    job = content(root / WORKFLOW)["jobs"]["models"]
    where = job["defaults"]["run"]["working-directory"]
    assert (root / where).resolve() == (tmp_path / folder).resolve()
    reports = f"{'' if where == '.' else f'{where}/'}reports/"
    (upload,) = (step for step in job["steps"] if "upload-sarif" in step.get("uses", ""))
    assert (
        upload["with"]["sarif_file"] == f"{reports}schedproof.sarif" and f"'{reports}schedproof.sarif'" in upload["if"]
    )
    assert job["steps"][-1]["with"]["path"] == reports


def test_a_folder_may_have_any_name(run, tmp_path):
    (tmp_path / ".git").mkdir()
    folder = "it's #1: é"
    assert run("init", "lease", "-o", folder, "--ci", "github")[0] == 0
    assert is_valid(tmp_path / WORKFLOW)
    job = content(tmp_path / WORKFLOW)["jobs"]["models"]
    (upload,) = (step for step in job["steps"] if "upload-sarif" in step.get("uses", ""))
    assert job["defaults"]["run"]["working-directory"] == folder
    assert upload["if"] == "${{ !cancelled() && hashFiles('it''s #1: é/reports/schedproof.sarif') != '' }}"
    assert upload["with"]["sarif_file"] == f"{folder}/reports/schedproof.sarif"
    assert job["steps"][-1]["with"]["path"] == f"{folder}/reports/"


def test_it_is_valid(run, tmp_path):
    """And a file with a wrong key would not be."""
    run("init", "lease", "-o", ".", "--ci", "github")
    path = tmp_path / WORKFLOW
    assert is_valid(path)
    path.write_text(path.read_text().replace("runs-on:", "runs:"))
    assert not is_valid(path)


@pytest.mark.long(seconds=12)
def test_its_steps_write_the_reports(run, tmp_path):
    (tmp_path / ".git").mkdir()
    run("init", "lease", "--ci", "github")
    assert done_as_on_github(tmp_path, tmp_path / WORKFLOW) == [0, 0]
    reports = tmp_path / "lease" / "reports"
    assert sorted(path.name for path in reports.iterdir()) == ["log-lease.xml", "schedproof.sarif", "verify.xml"]
    assert len(ET.parse(reports / "verify.xml").getroot().findall("testsuite/testcase")) == 20


@pytest.mark.long(seconds=12)
def test_a_wrong_model_and_a_wrong_log_fail_the_job(run, tmp_path):
    repository(
        tmp_path,
        manifest=('"one-at-a-time"', ""),
        log=('"Waiting"}}}}\n{"action": "acq', '"Idle"}}}}\n{"action": "acq'),
    )
    assert run("init", "--ci", "github")[0] == 0
    assert done_as_on_github(tmp_path, tmp_path / WORKFLOW) == [1, 1]


def test_a_system_without_a_log_has_its_step_as_a_comment(run, tmp_path):
    repository(tmp_path)
    (tmp_path / "lease" / "log.jsonl").unlink()
    code, out, _ = run("init", "--ci", "github", "--json", "-")
    assert code == 0 and json.loads(out) == {"folder": ".", "files": [WORKFLOW]}
    assert list(shell_steps(tmp_path / WORKFLOW)) == ["Verify the models"]
    text = (tmp_path / WORKFLOW).read_text()
    uncommented = re.sub(r"(?m)^      # (?=- name: Check|  if|  run)", "      ", text)
    steps = yaml.safe_load(uncommented)["jobs"]["models"]["steps"]
    assert [step["run"] for step in steps if step.get("name") == "Check a log of lease"] == [
        "schedproof validate lease LOG --junit reports/log-lease.xml"
    ]


def test_it_installs_this_version_with_an_extra_that_exists(run, tmp_path):
    repository(tmp_path)
    run("init", "--ci", "github")
    requirement = re.fullmatch(r"(\w+)\[(\w+)\]==(.+)", content(tmp_path / WORKFLOW)["env"]["SCHEDPROOF"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert requirement is not None and requirement[1] == project["name"]
    assert requirement[2] in project["optional-dependencies"] and requirement[3] == project["version"] == __version__


def test_its_commands_have_these_options(run, tmp_path):
    repository(tmp_path)
    run("init", "--ci", "github")
    text = "\n".join(step["run"] for step in shell_steps(tmp_path / WORKFLOW).values()).replace("\\\n", " ")
    commands = re.findall(r"^schedproof (\w+) (.*)$", text, re.MULTILINE)
    assert [command for command, _ in commands] == ["verify", "validate"]
    for command, arguments in commands:
        _, described, _ = run(command, "--help")
        options = re.findall(r"--[\w-]+", arguments)
        assert options and all(re.search(rf"{option}\b", described) for option in options), arguments


def test_no_expression_is_in_a_shell_line(run, tmp_path):
    """GitHub puts its text there unescaped: a branch's name could run commands."""
    repository(tmp_path)
    run("init", "--ci", "github")
    assert shell_steps(tmp_path / WORKFLOW)["Check a log of lease"]["run"].startswith(
        "schedproof validate lease lease/log.jsonl "
    )
    assert all("${{" not in step["run"] for step in shell_steps(tmp_path / WORKFLOW).values())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--ci", "github"], "--ci: 'schedproof.toml' is not in '.'; name a system to create"),
        (["--ci", "jenkins"], "'jenkins' is not 'github'"),
        (["lease", "-o", ".", "--ci", "github"], f"'{WORKFLOW}' exists already, and was not changed; add the steps to it by hand"),
        (["--ci", "github", "--from", "x.mmd"], "--from: has no effect without a system to create; add NAME"),
    ],
)  # fmt: skip
def test_a_mistake_writes_nothing(run, tmp_path, arguments, expected):
    (tmp_path / WORKFLOW).parent.mkdir(parents=True)
    (tmp_path / WORKFLOW).write_text("mine")
    code, out, err = run("init", *arguments)
    assert (code, out) == (2, "") and expected in err and err.count("\n") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / WORKFLOW]

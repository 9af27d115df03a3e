"""The action, the hooks and the template of GitLab: valid against the schemas, and their shell lines run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from schedproof.cli.app import cli
from tests.docs.ci_files import ACTION, GITLAB, HOOKS, content, shell, step
from tests.support.places import ROOT
from tests.support.user_repository import repository

PAGE = (ROOT / "docs" / "howto" / "ci.md").read_text("utf-8")

WRONG = ('"one-at-a-time"', "")
"""A manifest that expects no violation where there is one."""


def validated(schema: str, path: Path) -> subprocess.CompletedProcess[str]:
    """The verdict of check-jsonschema, which ships the schemas."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(("schema", "path"), [("github-actions", ACTION), ("gitlab-ci", GITLAB)])
def test_files_are_valid(schema: str, path: Path, tmp_path: Path) -> None:
    """And a file whose steps or script are elsewhere would not be."""
    assert (done := validated(schema, path)).returncode == 0, done.stdout
    wrong = tmp_path / path.name
    wrong.write_text(re.sub(r"^  (steps|script):", r"  \1s:", path.read_text(), flags=re.MULTILINE))
    assert validated(schema, wrong).returncode == 1


def test_workflows_of_the_page_are_valid(tmp_path: Path) -> None:
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
    workflows = [block for block in blocks if isinstance(block, dict) and "jobs" in block]
    assert len(workflows) == 2
    for number, workflow in enumerate(workflows):
        # YAML 1.1 reads the key `on` as a truth value.
        (tmp_path / f"{number}.yml").write_text(json.dumps({"on": workflow.pop(True), **workflow}))
        assert (done := validated("github-workflows", tmp_path / f"{number}.yml")).returncode == 0, done.stdout


def test_the_page_uses_inputs_and_hooks_that_exist() -> None:
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
    steps = [step for block in blocks for job in block.get("jobs", {}).values() for step in job["steps"]]
    (used,) = (step for step in steps if step.get("uses", "").startswith("YOUR-ORGANIZATION/schedproof@"))
    assert set(used["with"]) <= set(content(ACTION)["inputs"])
    hooks = [hook["id"] for block in blocks for repo in block.get("repos", ()) for hook in repo["hooks"]]
    assert hooks == [hook["id"] for hook in content(HOOKS)]
    includes = [each["file"] for block in blocks for each in block.get("include", ())]
    assert includes == [f"/{GITLAB.relative_to(ROOT)}"]


def test_the_action_uses_only_inputs_and_outputs_that_it_has() -> None:
    action = content(ACTION)
    text = ACTION.read_text()
    assert set(re.findall(r"\binputs\.([\w-]+)", text)) == set(action["inputs"])
    lines = step("schedproof verify")["run"]
    assert set(re.findall(r"outputs\.(\w+)", text)) == set(re.findall(r'echo "(\w+)=', lines)) == set(action["outputs"])


def test_no_expression_is_in_a_shell_line() -> None:
    """GitHub puts its text there unescaped: an input could run commands."""
    for each in content(ACTION)["runs"]["steps"]:
        assert "${{" not in each.get("run", "")


class TestAction:
    """The shell lines of the action, as GitHub runs them."""

    @pytest.fixture
    def runner(self, tmp_path: Path) -> dict[str, str]:
        names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        for name in names:
            (tmp_path / name).touch()
        (tmp_path / "runner's temp").mkdir()
        return {**{name: str(tmp_path / name) for name in names}, "RUNNER_TEMP": str(tmp_path / "runner's temp")}

    def outputs(self, runner: dict[str, str]) -> dict[str, str]:
        return dict(line.split("=", 1) for line in Path(runner["GITHUB_OUTPUT"]).read_text().splitlines())

    @pytest.mark.long
    def test_verdicts_as_expected(self, tmp_path: Path, runner: dict[str, str]) -> None:
        user = repository(tmp_path / "own")
        done = shell(step("schedproof verify")["run"], user, MANIFEST="schedproof.toml", **runner)
        assert (done.returncode, "::error" in done.stdout) == (0, False), done.stderr
        outputs = self.outputs(runner)
        levels = [each["level"] for each in json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"]]
        assert levels == ["note", "note"]
        assert len(ET.parse(outputs["junit"]).getroot().findall("testsuite/testcase")) == 20
        assert Path(runner["GITHUB_STEP_SUMMARY"]).read_text().startswith("## schedproof: as expected")

    def test_an_unexpected_verdict_fails_with_all_reports(self, tmp_path: Path, runner: dict[str, str]) -> None:
        user = repository(tmp_path / "own", manifest=WRONG)
        done = shell(step("schedproof verify")["run"], user, MANIFEST="schedproof.toml", **runner)
        assert done.returncode == 1 and "\n::error file=lease/model.py,line=" in done.stdout
        assert set(self.outputs(runner)) == {"sarif", "junit"}
        assert "```mermaid" in Path(runner["GITHUB_STEP_SUMMARY"]).read_text()

    def test_a_missing_manifest_fails_without_reports(self, tmp_path: Path, runner: dict[str, str]) -> None:
        done = shell(step("schedproof verify")["run"], tmp_path, MANIFEST="schedproof.toml", **runner)
        assert (done.returncode, self.outputs(runner)) == (2, {})
        assert "no file 'schedproof.toml' here" in done.stderr

    @pytest.mark.long(seconds=6)
    def test_it_installs_from_the_repository_of_the_action(self, tmp_path: Path) -> None:
        """From a clone, as GitHub makes one; what it depends on is here already."""
        clone = tmp_path / "the action"
        subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", str(ROOT), str(clone)], check=True)
        offline = {
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
            "PIP_NO_INDEX": "1",
            "PIP_TARGET": str(tmp_path / "site"),
        }
        done = shell(
            step("Install schedproof")["run"], tmp_path, GITHUB_ACTION_PATH=str(clone), REQUIREMENTS="", **offline
        )
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "site" / "schedproof" / "cli" / "ci" / "sarif.py").is_file()


class TestHooks:
    """The hooks for pre-commit."""

    def test_they_are_valid(self, tmp_path: Path) -> None:
        wrong = tmp_path / "hooks.yaml"
        wrong.write_text(HOOKS.read_text().replace("  language: python\n", "", 1))
        for path, code in ((HOOKS, 0), (wrong, 1)):
            command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(path)]
            assert subprocess.run(command, capture_output=True).returncode == code

    @pytest.mark.parametrize("hook", content(HOOKS), ids=lambda hook: hook["id"])
    def test_they_run_on_models_and_manifests(self, hook: dict[str, str]) -> None:
        files = ["schedproof.toml", "lease/model.py", "locks/core.yaml", "README.md", "tests/log.jsonl"]
        assert [bool(re.search(hook["files"], name)) for name in files] == [True, True, True, False, False]
        assert hook["pass_filenames"] is False  # files are no systems

    def entry(self, name: str) -> str:
        return next(hook["entry"] for hook in content(HOOKS) if hook["id"] == name)

    @pytest.mark.long
    def test_verify_finds_a_wrong_verdict_and_lint_does_not(self, tmp_path: Path) -> None:
        user = repository(tmp_path / "own", manifest=WRONG)
        assert shell(self.entry("schedproof-verify"), user).returncode == 1
        assert shell(self.entry("schedproof-lint"), user).returncode == 0

    def test_lint_finds_a_wrong_model(self, tmp_path: Path) -> None:
        """One that is refused when it is loaded, and one whose steps are ill-formed."""
        user = repository(tmp_path / "own", model=('State("Held")', 'State("Hold")'))
        done = shell(self.entry("schedproof-lint"), user)
        assert done.returncode == 2 and "lease/model.py:" in done.stderr and "unknown state 'Held'" in done.stderr


class TestGitLab:
    """The template of GitLab."""

    def test_its_script_writes_both_reports(self, tmp_path: Path) -> None:
        job = content(GITLAB)["schedproof"]
        user = repository(tmp_path / "own", manifest=WRONG)
        done = shell("\n".join(job["script"]), user, SCHEDPROOF_MANIFEST=job["variables"]["SCHEDPROOF_MANIFEST"])
        assert done.returncode == 1, done.stderr
        reports = job["artifacts"]["reports"]
        assert len(ET.parse(user / reports["junit"]).getroot().findall("testsuite/testcase/failure")) == 1
        issues = json.loads((user / reports["codequality"]).read_text())
        assert [each["severity"] for each in issues] == ["major", "info"]
        assert {each["location"]["path"] for each in issues} == {"lease/model.py"}

    def test_its_cache_is_where_verdicts_are(self) -> None:
        job = content(GITLAB)["schedproof"]
        assert [job["variables"]["SCHEDPROOF_CACHE"]] == [f"$CI_PROJECT_DIR/{path}" for path in job["cache"]["paths"]]

    def test_it_installs_what_the_page_names(self) -> None:
        assert content(GITLAB)["schedproof"]["variables"]["SCHEDPROOF_PACKAGE"].partition(" @ ")[2] in PAGE


def test_options_are_those_of_verify() -> None:
    options = {option for parameter in cli.get_command(None, "verify").params for option in parameter.opts}  # type: ignore[arg-type, union-attr]
    for path in (ACTION, HOOKS, GITLAB):
        lines = re.findall(r"schedproof verify (.*(?:\\\n.*)*)", path.read_text())
        used = {option for line in lines for option in re.findall(r"--[\w-]+", line)}
        assert {"--manifest"} <= used <= options

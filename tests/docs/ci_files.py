"""The files for CI servers that the repository ships, and how their shell lines run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.places import ROOT

ACTION = ROOT / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
GITLAB = ROOT / "examples" / "ci" / "gitlab.yml"


def content(path: Path) -> Any:
    """A YAML file."""
    return yaml.safe_load(path.read_text("utf-8"))


def step(name: str) -> dict[str, Any]:
    """A step of the action that runs shell lines."""
    (matching,) = (each for each in content(ACTION)["runs"]["steps"] if each.get("name") == name)
    assert matching["shell"] == "bash"
    return matching  # type: ignore[no-any-return]


def shell(lines: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs lines as GitHub and GitLab do: bash ends at the first command that fails."""
    environment: Mapping[str, str] = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        **variables,
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", lines]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

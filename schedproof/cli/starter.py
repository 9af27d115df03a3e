"""The files that ``schedproof init`` writes: a small working model, the model of a diagram, a workflow."""

from __future__ import annotations

import keyword
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from schedproof.diagrams.writing import write_whole
from schedproof.model.registry.discovery import registered
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.manifest import MANIFEST

from .sketches.model_text import log_text, model_text, named, refuted
from .sketches.sketch import Sketch
from .sketches.source import Source
from .workflow import Checked, place_and_words

TEMPLATES = "templates"

LONGEST = 40
"""The limit for the characters of a name."""


def check_name(name: str) -> None:
    """Checks that a new system, and its Python package, can have that name.

    Raises:
        UserError: it cannot.
    """
    if re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name) is None or len(name) > LONGEST:
        raise UserError(
            f"{name!r:.60} cannot be the name of a system; use at most {LONGEST} small letters and digits, joined by - or _, "
            f"for example lease or job-queue"
        )
    package = name.replace("-", "_")
    if name in registered().entries:
        raise UserError(f"schedproof comes with a system {name!r}; choose another name")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or find_spec(package) is not None:
        raise UserError(
            f"{package!r} is a Python keyword or an installed module, so it cannot be the package; choose another name"
        )


def files(name: str) -> Mapping[str, str]:
    """The files of a new system, by path: a manifest, a package with the model and a log, and a test."""
    package = name.replace("-", "_")
    words = {"name": name, "package": package, "model": "FENCED"}
    return {
        MANIFEST: _filled(MANIFEST, words),
        f"{package}/__init__.py": "",
        f"{package}/model.py": _filled("model.py", words),
        f"{package}/log.jsonl": _filled("log.jsonl", words),
        f"test_{package}.py": _filled("test_model.py", words),
    }


def files_from(name: str, source: Source, sketches: Sequence[Sketch]) -> Mapping[str, str]:
    """The files of a new system whose model begins with the machines of a file, by path."""
    package = name.replace("-", "_")
    machines = named(sketches, name)
    listed = ", ".join(f'"{each}"' for each in refuted(machines))
    words = {"name": name, "package": package, "model": "AS_WRITTEN", "refuted": listed}
    return {
        MANIFEST: _filled("from.schedproof.toml", words),
        f"{package}/__init__.py": "",
        f"{package}/model.py": model_text(machines, name, source),
        f"{package}/log.jsonl": log_text(machines[0], name),
        f"test_{package}.py": _filled("test_model.py", words),
    }


def github_workflow(folder: Path, checked: Sequence[Checked]) -> Mapping[str, str]:
    """The workflow for GitHub that checks systems of a folder, by its path from there."""
    path, words = place_and_words(folder, checked)
    return {path: _filled("github.yml", words)}


def _filled(template: str, words: Mapping[str, str]) -> str:
    """A template with words in place of ``@key@``."""
    text = (resources.files(__package__) / TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    for key, word in words.items():
        text = text.replace(f"@{key}@", word)
    return text


def write(content: Mapping[str, str], folder: Path) -> list[Path]:
    """Writes files into a new or existing folder: all of them, or none.

    Args:
        content: path in the folder -> text.
        folder: the folder.

    Returns:
        The paths of the files.

    Raises:
        UserError: one of them already exists, or cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{str(folder)!r} is not a directory; choose another with -o DIRECTORY")
    paths = {name: Path(os.path.normpath(folder / name)) for name in content}  # a workflow is above the folder
    for name, path in paths.items():
        if path.exists() or path.is_symlink():
            advice = "add a system to it by hand" if name == MANIFEST else "choose another name"
            advice = "add the steps to it by hand" if name.endswith(".yml") else advice
            raise UserError(
                f"{str(path)!r} exists already, and was not changed; {advice}, or another directory with -o"
            )
    made: list[Path] = []  # in order of creation
    try:
        for name, text in content.items():
            path = paths[name]
            for parent in reversed(path.parents):
                if not parent.exists():
                    parent.mkdir()
                    made.append(parent)
            made.append(path)
            write_whole(path, text)
    except Exception as error:
        for path in reversed(made):
            _remove(path)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(
            f"cannot write to {str(folder)!r}: {reason}; nothing was written; choose another directory with -o"
        ) from None
    return list(paths.values())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists():
        os.unlink(path)

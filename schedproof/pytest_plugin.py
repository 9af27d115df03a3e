"""The pytest plugin: ``pytest --schedproof`` checks the models of a repository, one test for each property.

pytest imports this module in every run, so it imports no other module of the project at the start.
``collected.py`` does the work; it is loaded when the option is given.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing.collected import ManifestFile

MANIFEST = "schedproof.toml"

OPTION = "--schedproof"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Adds the option ``--schedproof``."""
    _leave_engines_alone(pluginmanager)
    group = parser.getgroup("schedproof", "models of schedulers")
    group.addoption(
        OPTION,
        action="store_true",
        dest="schedproof",
        help=f"also check the models that each {MANIFEST} names: one test for each property of each variant",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collects every manifest of the repository if the command line names no file or folder.

    Raises:
        UsageError: the repository has no manifest.
    """
    if not config.getoption("schedproof") or hasattr(config, "workerinput"):  # xdist passes its workers what to collect
        return
    manifests = sorted(_manifests(config))
    if not manifests:
        raise pytest.UsageError(
            f"{OPTION}: no {MANIFEST} is in {config.rootpath} or below; write one with "
            f'[systems.NAME] and model = "package.module:OBJECT", or have "schedproof init NAME" write a first model'
        )
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args += [str(path) for path in manifests if not _named(config, path)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ManifestFile | None:
    """The collector of a manifest; None for every other file."""
    if file_path.name != MANIFEST or not parent.config.getoption("schedproof"):
        return None
    from .testing.collected import ManifestFile

    manifest_file: ManifestFile = ManifestFile.from_parent(parent, path=file_path)
    return manifest_file


def _leave_engines_alone(pluginmanager: pytest.PytestPluginManager) -> None:
    """Makes pytest import the rest of the project without rewriting its asserts.

    pytest rewrites the asserts of a whole distribution that contains a plugin.
    That takes seconds for hundreds of modules without a test, and pytest has no option against it.
    If pytest renames this private set, only the time is lost.
    """
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard(__name__.partition(".")[0])


def _named(config: pytest.Config, path: Path) -> bool:
    """Whether pytest already searches a folder that contains the manifest."""
    folders = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
    return any(path.resolve().is_relative_to(folder) for folder in folders)


def _manifests(config: pytest.Config) -> Iterator[Path]:
    """Every manifest below the root, except in folders that pytest skips."""
    patterns = [*config.getini("norecursedirs"), "__pycache__"]
    for folder, below, names in os.walk(config.rootpath):
        below[:] = [
            name
            for name in below
            if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        ]
        if MANIFEST in names:
            yield Path(folder, MANIFEST)

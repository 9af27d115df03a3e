"""Commands in a repository whose model is one of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schedproof.cli import main

from .user_repository import imports_undone


@contextmanager
def in_repository_of(
    system: str, module: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Runs in a repository with one system, whose model is ``name`` of ``tests.support.MODULE``."""
    (folder / "schedproof.toml").write_text(f'[systems.{system}]\nmodel = "{system}_model:{name}"\n')
    (folder / f"{system}_model.py").write_text(f"from tests.support.{module} import {name}\n")
    monkeypatch.chdir(folder)
    with imports_undone():
        yield


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code of a command, and all that it printed."""
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out + err

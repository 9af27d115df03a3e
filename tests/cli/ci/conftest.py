"""Lamps in place of the project's systems, and commands that run in the root of the repository."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schedproof.cli import main
from schedproof.model.registry.system import System
from tests.support.lamps import lamps, system
from tests.support.places import ROOT
from tests.support.registry import put

Verify = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Verify:
    """Verifies a system, by default lamps of which one verdict is not expected: exit code, standard output and error."""
    monkeypatch.chdir(ROOT)

    def run(*arguments: object, of: System | None = None) -> tuple[int, str, str]:
        put(monkeypatch, {"lamps": of or system(lamps(refuted=()))})
        code = main(["verify", *map(str, arguments)])
        return code, *capfd.readouterr()

    return run

"""Where there can be no PostgreSQL server, it is said why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.postgres import Unavailable, server


class TestWithoutAServer:
    def reason(self) -> str:
        with pytest.raises(Unavailable) as caught, server():
            pass
        return str(caught.value)

    def test_no_driver(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.support.postgres.importlib.util.find_spec", lambda name: None)
        assert self.reason() == "psycopg is not installed; install the extra postgresql"

    def test_no_programs(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("tests.support.postgres.importlib.util.find_spec", lambda name: object())
        monkeypatch.setattr("tests.support.postgres.DEBIANS", tmp_path)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "initdb is neither in" in self.reason()

    def test_a_server_that_does_not_start(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("tests.support.postgres.importlib.util.find_spec", lambda name: object())
        monkeypatch.setattr("tests.support.postgres.DEBIANS", tmp_path)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr("tests.support.postgres._user", lambda: None)  # who else could not reach this folder
        for name in ("initdb", "postgres"):
            (tmp_path / name).write_text("#!/bin/sh\necho out of disk >&2\nexit 1\n")
            (tmp_path / name).chmod(0o755)
        assert self.reason() == "initdb failed: out of disk"

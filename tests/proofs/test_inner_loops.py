"""Inner loops are compiled anew when a function that they call has changed."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import njit

from schedproof.proofs import inner_loops

CALLED = "from {decorator}\n\n\n@loop\ndef step(n):\n    return n + {by}\n"
CALLING = "from {decorator}\nfrom {package}.called import step\n\n\n@loop\ndef run(n):\n    return step(n)\n"
INNER_LOOP = "schedproof.proofs.inner_loops import inner_loop as loop"
BY_NUMBA = "tests.proofs.test_inner_loops import by_numba_alone as loop"


def by_numba_alone(function: Callable[..., object]) -> Any:
    return njit(nogil=True, cache=True)(function)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package with inner loops; what it imports is forgotten at the end."""
    folder = tmp_path / "loops_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(inner_loops, "SOURCES", (folder,))
    monkeypatch.setattr(inner_loops, "FOLDER", tmp_path)
    yield folder
    drop_package()


def drop_package() -> None:
    inner_loops.digest.cache_clear()
    inner_loops.folder.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "loops_package"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def result_by(folder: Path, by: int, decorator: str) -> int:
    """What the calling function returns, in a new import, after the called one was written."""
    drop_package()
    (folder / "called.py").write_text(CALLED.format(by=by, decorator=decorator), "utf-8")
    calling = folder / "calling.py"
    if not calling.exists():
        calling.write_text(CALLING.format(package=folder.name, decorator=decorator), "utf-8")
    return int(importlib.import_module(f"{folder.name}.calling").run(10))


def test_a_changed_callee_is_seen(package: Path) -> None:
    assert [result_by(package, by, INNER_LOOP) for by in (1, 20, 300)] == [11, 30, 310]


def test_numba_alone_would_not_see_it(package: Path) -> None:
    """Else the test above could not fail."""
    assert [result_by(package, by, BY_NUMBA) for by in (1, 20)] == [11, 11]


def test_the_code_is_used_again(package: Path) -> None:
    result_by(package, 1, INNER_LOOP)
    result_by(package, 1, INNER_LOOP)
    loop = sys.modules["loops_package.calling"].__dict__["run"]
    assert sum(loop.stats.cache_hits.values()) == 1


def test_old_code_is_removed(tmp_path: Path) -> None:
    old, recent, other = (tmp_path / name for name in ("inner-loops-old", "inner-loops-recent", "something"))
    for each in (old, recent, other):
        each.mkdir()
    for each in (old, other):
        os.utime(each, (time.time() - 2 * inner_loops.DAY,) * 2)
    inner_loops.folder.cache_clear()
    assert inner_loops.folder(tmp_path, "new") == tmp_path / "inner-loops-new"
    assert [old.exists(), recent.exists(), other.exists()] == [False, True, True]

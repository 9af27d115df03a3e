"""Inner loops: functions that numba compiles once, and keeps on disk for exactly these sources.

numba keeps the code of a function until the function's own file changes. But the code contains that of the functions that it
calls, so after an edit of theirs it would be old, and so would the verdicts. Here the folder is named by the digest of all files
with inner loops.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit

FOLDER = Path(__file__).parent

DAY = 86_400

SOURCES = tuple(FOLDER / name for name in ("cluster", "compiled", "locks"))
"""The folders with inner loops."""


def inner_loop(function: Callable[..., object]) -> Any:
    """Compiles a function when it is first called; its code is used again while no file of :data:`SOURCES` changes."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder(Path(before or FOLDER / "__pycache__"), digest(SOURCES)))
    try:
        return njit(nogil=True, cache=True)(function)
    finally:
        config.CACHE_DIR = before


@cache
def folder(parent: Path, digest: str) -> Path:
    """The folder for the code of the sources with this digest. If it is new, those that are a day old are removed."""
    own_folder = parent / f"inner-loops-{digest}"
    with suppress(OSError):
        if not own_folder.exists():
            for other in parent.glob("inner-loops-*"):
                if other.stat().st_mtime < time.time() - DAY:
                    shutil.rmtree(other, ignore_errors=True)
    return own_folder


@cache
def digest(folders: Iterable[Path]) -> str:
    """The digest of the names and contents of the Python files in some folders."""
    files = sorted(file for folder in folders for file in folder.glob("*.py"))
    parts = [hashlib.sha256(part).digest() for file in files for part in (file.name.encode(), file.read_bytes())]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]

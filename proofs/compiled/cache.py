"""Machine code on the disk, so that a model is compiled once and not with every command."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

MOST_FILES = 400
"""Of more than so many the oldest are removed."""


def folder() -> Path:
    """Where it is: ``SCHEDPROOF_CACHE``, or a folder of the user's cache."""
    given = os.environ.get("SCHEDPROOF_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(given) if given else Path(home) / "schedproof"


def load(key: str) -> bytes | None:
    """What was stored under ``key``; None if nothing was, or not all of it is there."""
    path = _path(key)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:32], data[32:]
    if hashlib.sha256(content).digest() != digest:
        with suppress(OSError):
            path.unlink()
        return None
    return content


def store(key: str, content: bytes) -> None:
    """Stores ``content``, if that is possible; a cache that cannot be written is none."""
    path = _path(key)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        _shrink(path.parent)


def _path(key: str) -> Path:
    return folder() / (hashlib.sha256(key.encode()).hexdigest() + ".o")


def _shrink(where: Path) -> None:
    files = sorted(where.glob("*.o"), key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - MOST_FILES)]:
        file.unlink(missing_ok=True)

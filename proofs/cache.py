"""A cache on disk, by content, for verdicts and for the compiled engine's native code.

The cache ignores an entry that is damaged, belongs to another user or was stored under another key. It also ignores a
folder that other users own or can write to: they could plant native code or verdicts there.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "SCHEDPROOF_CACHE"

MINE_ONLY = 0o700

NAME = re.compile(r"[0-9a-f]{64}|\.new-\w+")
"""Names of cache files: entries, and temporary files that are being written."""

MOST_BYTES = 64 << 20
"""A larger file is not read as an entry."""


def folder() -> Path:
    """The cache folder: ``SCHEDPROOF_CACHE``, or a folder in the user's cache."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    except RuntimeError:  # a user without a home
        home = Path(os.devnull)
    return home / "schedproof"


def refusal() -> str:
    """Why the cache folder is not used, and what to do; empty if it is usable or does not exist yet."""
    return _refusal(folder())


@dataclass(frozen=True)
class Cache:
    """Entries of one kind, in one folder.

    Args:
        name: of the folder.
        most: entries to keep; :meth:`shrink` removes the oldest above this number.
    """

    name: str
    most: int

    def load(self, key: str) -> bytes | None:
        """The content stored under ``key``; None if there is none or it cannot be trusted."""
        where = folder()
        if _refusal(where) or _refusal(where / self.name):
            return None
        data = _read(self._path(where, key))
        if data is None:
            return None
        content = data[32:]
        return content if data[:32] == _digest(key, content) else None

    def store(self, key: str, content: bytes) -> None:
        """Stores ``content`` under ``key``; a cache that cannot be written is silently skipped."""
        where = folder()
        path = self._path(where, key)
        with suppress(OSError):
            for each in (where, path.parent):
                each.mkdir(mode=MINE_ONLY, parents=True, exist_ok=True)
                if _refusal(each):
                    return
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(key, content) + content)
                os.replace(name, path)
            except OSError:
                os.unlink(name)
                raise

    def remove(self, key: str) -> None:
        """Removes the entry of ``key``."""
        where = folder()
        if not _refusal(where) and not _refusal(where / self.name):
            with suppress(OSError):
                os.unlink(self._path(where, key))

    def shrink(self) -> None:
        """Removes the oldest entries above ``most``."""
        where = folder()
        if _refusal(where) or _refusal(where / self.name):
            return
        entries = []
        with suppress(OSError):
            for each in os.scandir(where / self.name):
                if NAME.fullmatch(each.name) and each.is_file(follow_symlinks=False):
                    entries.append((each.stat(follow_symlinks=False).st_mtime, each.path))
        for _, path in sorted(entries)[: max(0, len(entries) - self.most)]:
            with suppress(OSError):
                os.unlink(path)

    def _path(self, where: Path, key: str) -> Path:
        return where / self.name / hashlib.sha256(key.encode()).hexdigest()


def _digest(key: str, content: bytes) -> bytes:
    """The digest of key and content together, so that an entry under another key's file name is rejected."""
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()


def _refusal(where: Path) -> str:
    try:
        status = os.stat(where)
    except OSError:
        return ""
    if os.path.islink(where) and where != folder():
        return f"nothing is cached: {where} is a link; remove it"
    if not stat.S_ISDIR(status.st_mode):
        return f"nothing is cached: {where} is not a folder; name another one in {VARIABLE}"
    if not _belongs_to_user(status):
        return f"nothing is cached: {where} belongs to another user; name another folder in {VARIABLE}"
    if _others_write(status):
        return f"nothing is cached: other users can write to {where}; run 'chmod go-w' on it"
    return ""


def _read(path: Path) -> bytes | None:
    """The content of a file that belongs to this user and that no other user can write to; else None."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _belongs_to_user(status) or _others_write(status):
                return None
            return file.read() if status.st_size <= MOST_BYTES else None
    except OSError:
        return None


def _belongs_to_user(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _others_write(status: os.stat_result) -> bool:
    return os.name == "posix" and bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))

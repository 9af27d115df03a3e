"""Writes files completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import DiagramError


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file by renaming a complete one, so that a reader never sees an incomplete file.

    A pipe or a terminal cannot be the target of a rename, so it is written to directly.

    Raises:
        DiagramError: the file cannot be written; the previous file, if any, is unchanged.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = path.resolve()
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            draft.unlink(missing_ok=True)
            draft.touch(exist_ok=False)  # fails if another process puts a link there, instead of following the link
            draft.write_bytes(data)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise DiagramError(
            f"cannot write {path}: {error.strerror}; give a file in a folder that you can write to"
        ) from None

"""Checkpoints of a search in a folder, from which it continues after a kill.

The files of parts only grow. A small file with checksums says how far they are valid. It is replaced atomically, after the
parts' files are on disk. So a restart discards partial writes.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from schedproof.proofs.exploration.limits import CheckpointError

from .files import Mark
from .part import Saved

FORMAT = 1


class Checkpoint:
    """The checkpoint folder of one search, locked against other processes.

    Args:
        folder: the folder of all searches of a command.
        what: a readable description of the search.
        program: the compiled program, to detect a changed model.

    Raises:
        CheckpointError: the folder cannot be made or written, or another process uses it.
    """

    def __init__(self, folder: Path, what: Mapping[str, Any], program: str) -> None:
        text = json.dumps(what, sort_keys=True)
        name = re.sub(r"[^\w.-]", "-", f"{what['system']}-{what['variant']}")
        self.folder = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        self._what = json.loads(text)
        self._program = hashlib.sha256(program.encode()).hexdigest()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise CheckpointError(
                f"cannot write checkpoints to '{folder}': {error.strerror}; name a folder that you can write to"
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CheckpointError(
                f"'{self.folder}' is in use by another process; wait for it, or name another folder"
            ) from error

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Releases the folder for other processes; its files stay readable here."""
        with suppress(OSError, AttributeError):
            os.close(self._lock)  # releases the lock
            del self._lock

    def save(self, parts: Sequence[Saved]) -> None:
        """Records the progress of all parts atomically.

        Raises:
            OSError: the disk is full or cannot be written; the previous checkpoint is unchanged.
        """
        content = {
            "format": FORMAT,
            "what": self._what,
            "program": self._program,
            "parts": [dataclasses.asdict(part) for part in parts],
        }
        new = self.folder / "new"
        new.unlink(missing_ok=True)
        with open(new, "x", encoding="utf-8") as file:  # "x" does not follow a link in its place
            json.dump({"digest": _digest(content), "content": content}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)

    def load(self, parts: int) -> list[Saved] | None:
        """The recorded progress of the parts; None if there is no checkpoint.

        Raises:
            CheckpointError: the checkpoint is damaged, or belongs to another model or number of parts.
        """
        try:
            text = self._path.read_text("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise self.damaged(f"'{self._path}' cannot be read") from error
        try:
            whole = json.loads(text)
            content = whole["content"]
            good = whole["digest"] == _digest(content) and content["format"] == FORMAT and content["what"] == self._what
            saved = [Saved(**{**part, "marks": [Mark(**m) for m in part["marks"]]}) for part in content["parts"]]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise self.damaged(f"'{self._path}' is not what was written") from error
        if not good or not all(part.sound for part in saved):
            raise self.damaged(f"'{self._path}' is not what was written")
        if content["program"] != self._program:
            raise CheckpointError(
                f"the model or schedproof has changed since '{self.folder}' was written; remove that folder, or name another one"
            )
        if len(saved) != parts:
            raise CheckpointError(f"'{self.folder}' was written by {len(saved)} threads or workers; go on with as many")
        return saved

    def damaged(self, what: str) -> CheckpointError:
        """The error for a checkpoint that cannot be read back."""
        return CheckpointError(f"{what}: the checkpoint is damaged; remove '{self.folder}', and begin again")

    @property
    def _path(self) -> Path:
        return self.folder / "checkpoint.json"


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

"""The folder that ``generate`` or ``export`` fills."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from schedproof.model.registry.errors import UserError


class OutputFolder:
    """A folder that is new, or empty, and is filled whole or not at all.

    Files are written to a folder beside it, which takes its place in one step.

    Raises:
        UserError: there is something in it, or it cannot be made. Found out when it is created, before the work.
    """

    def __init__(self, directory: str) -> None:
        if not directory:
            raise UserError("--output: the folder's name is empty; give one, for example tests")
        self.path = Path(directory)
        try:
            if self.path.exists() or self.path.is_symlink():
                if not self.path.is_dir() or self.path.is_symlink():
                    raise UserError(f"--output: {directory!r} is not a folder; name a new one")
                if any(self.path.iterdir()):
                    raise UserError(f"--output: the folder {directory!r} is not empty; name a new one")
            self.path = self.path.resolve()
            if not self.path.parent.is_dir():
                raise UserError(f"--output: the folder {str(self.path.parent)!r} does not exist; create it first")
            shutil.rmtree(self._aside())
        except (OSError, ValueError) as error:
            raise self._error(error) from None

    def _aside(self) -> str:
        return tempfile.mkdtemp(dir=self.path.parent, prefix=f".{self.path.name}.")

    def write(self, files: Mapping[str, str]) -> None:
        """Writes all files.

        Raises:
            UserError: they cannot be written.
        """
        try:
            aside = self._aside()
            try:
                for name, text in files.items():
                    Path(aside, name).write_text(text, "utf-8")
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(aside, 0o777 & ~mask)  # temporary folders are for their owner only
                os.rename(aside, self.path)  # fails if something has come into it meanwhile
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        except OSError as error:
            raise self._error(error) from None

    def _error(self, error: OSError | ValueError) -> UserError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return UserError(f"--output: cannot write to folder {str(self.path)!r}: {reason}; choose another folder")

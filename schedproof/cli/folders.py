"""The output folder of ``generate`` and ``export``."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from schedproof.model.registry.errors import UserError


class OutputFolder:
    """A new or empty folder that gets either all files or none.

    Files are written to a temporary folder beside it, which replaces it in one step.

    Args:
        directory: the folder.

    Raises:
        UserError: it is not empty, or cannot be created. The constructor checks this, before the work.
    """

    def __init__(self, directory: str) -> None:
        if not directory:
            raise UserError("--output: the name is empty; write a directory's name, for example tests")
        self.path = Path(directory)
        try:
            if self.path.exists() or self.path.is_symlink():
                if not self.path.is_dir() or self.path.is_symlink():
                    raise UserError(f"--output: {directory!r} is not a directory; write a new name")
                if any(self.path.iterdir()):
                    raise UserError(f"--output: directory {directory!r} is not empty; write a new name")
            self.path = self.path.resolve()
            if not self.path.parent.is_dir():
                raise UserError(f"--output: directory {str(self.path.parent)!r} does not exist; create it first")
            shutil.rmtree(self._aside())
        except (OSError, ValueError) as error:
            raise self._error(error) from None

    def _aside(self) -> str:
        return tempfile.mkdtemp(dir=self.path.parent, prefix=f".{self.path.name}.")

    def write(self, files: Mapping[str, str]) -> None:
        """Writes all files.

        Args:
            files: name -> text.

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
                os.chmod(aside, 0o777 & ~mask)  # a temporary folder is accessible only to its owner
                os.rename(aside, self.path)  # fails if the target is no longer empty
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        except OSError as error:
            raise self._error(error) from None

    def _error(self, error: OSError | ValueError) -> UserError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return UserError(f"--output: cannot write to directory {str(self.path)!r}: {reason}; choose another")

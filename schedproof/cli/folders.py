"""The output folder of ``generate``, ``export`` and ``report``."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from schedproof.model.registry.errors import UserError


@dataclass(frozen=True)
class Replaceable:
    """What a folder may contain so that new files replace it.

    Args:
        what: in words, for messages.
        accepts: whether a folder has that, and nothing else.
    """

    what: str
    accepts: Callable[[Path], bool]


class OutputFolder:
    """A new or empty folder that gets either all files or none.

    Files are written to a temporary folder beside it, which replaces it in one step.

    Args:
        directory: the folder.
        replaceable: what it may replace; None for nothing.

    Raises:
        UserError: it is not empty, or cannot be created. The constructor checks this, before the work.
    """

    def __init__(self, directory: str, replaceable: Replaceable | None = None) -> None:
        if not directory:
            raise UserError("--output: the name is empty; write a directory's name, for example tests")
        self.path = Path(directory)
        self._replaceable = replaceable
        try:
            if self.path.is_symlink():
                raise UserError(f"--output: {directory!r} is a link; write a new name, or where it leads to")
            if self.path.exists():
                if not self.path.is_dir():
                    raise UserError(f"--output: {directory!r} is not a directory; write a new name")
                self._check_content()
            self.path = self.path.resolve()
            if not self.path.parent.is_dir():
                raise UserError(f"--output: directory {str(self.path.parent)!r} does not exist; create it first")
            shutil.rmtree(self._aside())
        except (OSError, ValueError) as error:
            raise self._error(error) from None

    def _check_content(self) -> None:
        if not any(self.path.iterdir()):
            return
        if self._replaceable is None:
            raise UserError(f"--output: directory {str(self.path)!r} is not empty; write a new name")
        if not self._replaceable.accepts(self.path):
            raise UserError(
                f"--output: directory {str(self.path)!r} is not empty, and not only {self._replaceable.what}; write a new name"
            )

    def _aside(self) -> str:
        return tempfile.mkdtemp(dir=self.path.parent, prefix=f".{self.path.name}.")

    def write(self, files: Mapping[str, str]) -> None:
        """Writes all files, and replaces the folder.

        Args:
            files: name -> text; a name may be a path in the folder.

        Raises:
            UserError: they cannot be written, or the folder has other files meanwhile.
        """
        try:
            aside = self._aside()
            try:
                for name, text in files.items():
                    file = Path(aside, name)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, "utf-8")
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(aside, 0o777 & ~mask)  # a temporary folder is accessible only to its owner
                self._replace(aside)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        except OSError as error:
            raise self._error(error) from None

    def _replace(self, new: str) -> None:
        if self._replaceable is None or not self.path.exists() or not any(self.path.iterdir()):
            os.rename(new, self.path)  # fails if the target is no longer empty
            return
        self._check_content()
        former = self._aside()
        os.rename(self.path, former)
        try:
            os.rename(new, self.path)
        except OSError:
            os.rename(former, self.path)
            raise
        shutil.rmtree(former, ignore_errors=True)

    def _error(self, error: OSError | ValueError) -> UserError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return UserError(f"--output: cannot write to directory {str(self.path)!r}: {reason}; choose another")

"""The output folder of ``prove --emit-smt``."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from schedproof.model.registry.errors import UserError
from schedproof.proofs.induction import Induction, emit_smt


class ScriptFolder:
    """A folder with one sub-folder of SMT-LIB scripts for each variant.

    Scripts are written to a temporary folder, then moved here one by one, so that none is ever half-written.

    Args:
        directory: the folder.

    Raises:
        UserError: the folder cannot be created or written to. The constructor checks this, before the work.
    """

    def __init__(self, directory: str) -> None:
        if not directory:
            raise UserError("--emit-smt: the name is empty; write a directory's name, for example smt")
        self.path = Path(directory)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.path, prefix=".part-"):
                pass
        except (OSError, ValueError) as error:
            raise self._error(error) from None

    def write(self, inductions: Mapping[str, Induction]) -> list[Path]:
        """Writes all obligations, and returns the paths.

        Args:
            inductions: variant -> its induction.

        Raises:
            UserError: one cannot be written.
        """
        paths = []
        try:
            with tempfile.TemporaryDirectory(dir=self.path, prefix=".part-") as aside:
                for variant, induction in inductions.items():
                    folder = self.path / variant
                    folder.mkdir(exist_ok=True)
                    for script in emit_smt(induction, Path(aside) / variant):
                        paths.append(script.replace(folder / script.name))
        except OSError as error:
            raise self._error(error) from None
        return paths

    def _error(self, error: OSError | ValueError) -> UserError:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return UserError(f"--emit-smt: cannot write to directory {str(self.path)!r}: {reason}; choose another")

"""Builds ``dagre.js``, which lays out graphs in a page, from its package in the npm registry.

``python -m schedproof.diagrams.layout.vendored`` writes it; it needs ``npm``. Nothing but this script changes the file.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION, LICENCE = "@dagrejs/dagre", "3.1.3", "MIT"

INTEGRITY = "X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg=="
"""The SHA-512 of the package's archive, as the registry has it."""

FOLDER = Path(__file__).parent
SCRIPT, LICENCE_FILE = FOLDER / "dagre.js", FOLDER / "LICENSE-dagre.txt"

DIGEST = "b68271334c3562f10230ed3b9ea695aee28d410dd1884d4a37ae7c8ce26a7840"
"""The SHA-256 of ``dagre.js``: nobody has edited it."""

COMMAND = "python -m schedproof.diagrams.layout.vendored"


def built(archive: Path) -> tuple[str, str]:
    """``dagre.js`` and its licence, from the package's archive.

    Raises:
        ValueError: it is another archive.
    """
    data = archive.read_bytes()
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != INTEGRITY:
        raise ValueError(f"{archive.name} is not {PACKAGE} {VERSION}: its hash differs")
    with tarfile.open(archive) as content:
        script, licence = (
            (content.extractfile(f"package/{name}") or sys.exit(f"no {name}")).read().decode()
            for name in ("dist/dagre.min.js", "LICENSE")
        )
    # A page loads nothing, so neither the file of licences nor the map of sources.
    lines = [line for line in script.splitlines() if not line.startswith(("//# sourceMappingURL", "/*! For license"))]
    return f"/* {PACKAGE} {VERSION}, {LICENCE}: see {LICENCE_FILE.name}. Built by {COMMAND}. */\n" + "\n".join(
        lines
    ) + "\n", licence


def download(folder: Path) -> Path:
    """The package's archive from the npm registry.

    Raises:
        OSError: there is no ``npm``.
        subprocess.CalledProcessError: the registry cannot be reached.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm: no such program; install it, or leave dagre.js as it is")
    subprocess.run([npm, "pack", "--silent", f"{PACKAGE}@{VERSION}"], cwd=folder, check=True, capture_output=True)
    return next(folder.glob("*.tgz"))


def main() -> int:
    """Writes the files."""
    with tempfile.TemporaryDirectory() as folder:
        script, licence = built(download(Path(folder)))
    SCRIPT.write_text(script, "utf-8")
    LICENCE_FILE.write_text(licence, "utf-8")
    print(f"{SCRIPT.name}: SHA-256 {hashlib.sha256(script.encode()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

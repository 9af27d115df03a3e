"""Java development kits of this machine, found by their ``release`` files."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

VIRTUAL = 21
"""The first version with virtual threads."""


def newest_jdk() -> tuple[int, Path] | None:
    """The version and folder of the newest development kit: of JAVA_HOME, of the path, or of ``/usr/lib/jvm``."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += [Path(javac).resolve().parents[1]] if (javac := shutil.which("javac")) else []
    homes += Path("/usr/lib/jvm").glob("*")
    kits = [(version, home) for home in homes if (version := _version(home)) is not None]
    return max(kits, default=None)


def _version(home: Path) -> int | None:
    """The version of a kit; None if the folder has no compiler, or no file that says the version."""
    try:
        version = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text("utf-8"), re.MULTILINE)
    except OSError:
        return None
    return int(version[1]) if version is not None and (home / "bin" / "javac").exists() else None

"""The hash of the code of a user's own system: what changes it, and what does not."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.verification import own_code
from schedproof.proofs.verification.own_code import digest_of_code

FILES = {
    "schedproof.toml": """
        [systems.own]
        model = "own_model:PLAIN"
        refinements = "own_code.refined:ALL"
    """,
    "own_model.py": "import json\nimport numpy\nfrom shared import names\nPLAIN = names.PLAIN\n",
    "shared/__init__.py": "",
    "shared/names.py": "PLAIN = None\n",
    "shared/unused.py": "",
    "own_code/__init__.py": "",
    "own_code/refined.py": "from . import scheduler\nfrom .. import nothing\nALL = []\n",
    "own_code/scheduler.py": "def run():\n    import late.one\n",
    "late/__init__.py": "",
    "late/one.py": "VALUE = 1\n",
    "notes.txt": "nothing imports these",
    "own.locks": "",
}

COUNTING = [
    "schedproof.toml", "own_model.py", "shared/__init__.py", "shared/names.py", "own_code/__init__.py", "own_code/refined.py",
    "own_code/scheduler.py", "late/__init__.py", "late/one.py", "own.locks",
]  # fmt: skip


def system_in(folder: Path, files: Mapping[str, str] = FILES) -> System:
    """A system whose modules are never imported: if they were, one that is named or read twice would be known."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in text.splitlines()) if "toml" in name else text)
    locks = {"plain": [LockFile("order", folder / "own.locks")]}
    return System("own", "", {}, validated_by="plain", locks=locks, manifest=folder / "schedproof.toml")


def test_two_folders_with_the_same_files_have_one_hash(tmp_path: Path) -> None:
    assert digest_of_code(system_in(tmp_path / "a")) == digest_of_code(system_in(tmp_path / "b")) != ""


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_is_imported_counts(name: str, tmp_path: Path) -> None:
    """Also where a function imports it; files that nobody imports do not."""
    before = digest_of_code(system_in(tmp_path / "a"))
    changed = digest_of_code(system_in(tmp_path / "b", {**FILES, name: FILES[name] + "\n# changed\n"}))
    assert (changed != before) is (name in COUNTING)


def test_a_module_that_is_missing_elsewhere_changes_it(tmp_path: Path) -> None:
    system = system_in(tmp_path)
    before = digest_of_code(system)
    shutil.rmtree(tmp_path / "late")
    assert digest_of_code(system) != before


def test_an_installed_package_counts_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by its files, which may be many."""

    def installed(number: str) -> str:
        packages = tmp_path / number / "site-packages"
        for name, text in (
            ("acme/__init__.py", f"VALUE = {len(number)}\n"),
            (f"acme-{number}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: acme\nVersion: {number[:3]}\n"),
            (f"acme-{number}.dist-info/top_level.txt", "acme\n"),
        ):
            (packages / name).parent.mkdir(parents=True, exist_ok=True)
            (packages / name).write_text(text)
        own_code._version.cache_clear()
        with monkeypatch.context() as patch:
            patch.syspath_prepend(packages)
            return digest_of_code(system_in(tmp_path / "own", {**FILES, "own_model.py": "import acme\n"}))

    assert installed("1.0") == installed("1.0-patched")
    assert installed("1.0") != installed("2.0")
    own_code._version.cache_clear()


def test_systems_of_schedproof_have_one_too() -> None:
    """Their modules are part of schedproof's own hash."""
    assert len({digest_of_code(each) for each in systems().values()}) == len(systems())
    assert digest_of_code(System("none", "", {}, validated_by="plain")) == ""

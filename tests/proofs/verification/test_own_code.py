"""The hash of the code of a user's own system: what changes it, and what does not."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.verification import own_code
from schedproof.proofs.verification.own_code import digest_of_code
from tests.support.rows import each_row

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


OTHERS: list[tuple[dict[str, str], str]] = [
    ({"own_model.py": "import sched\n"}, "sched.py"),
    ({"own_model.py": "from spaced.inner import module\n"}, "spaced/inner/module.py"),
    ({"own_model.py": "from importlib import import_module\nimport_module('named')\n"}, "named.py"),
    ({"own_model.py": "__import__('named')\n"}, "named.py"),
    ({"own_model.py": "import inside\n", "inside/__init__.py": "import_module('.one', __name__)\n"}, "inside/one.py"),
    ({"own_model.py": "try:\n    import former\nexcept SyntaxError:\n    pass\n"}, "former.py"),
]


@each_row(("files", "name"), OTHERS)
def test_less_usual_imports_count(files: Mapping[str, str], name: str, tmp_path: Path) -> None:
    """A name of one of Python's modules, folders that are not packages, names as texts, and code of another Python."""
    digests = {
        digest_of_code(system_in(tmp_path / number, {**FILES, **files, name: f"print {number}\n"}))
        for number in ("1", "2")
    }
    assert len(digests) == 2


COMPUTED: list[tuple[dict[str, str], str, bool]] = [
    ({"own_model.py": "import_module(name)\n"}, "beside.py", True),
    ({"own_model.py": "import_module(name)\n"}, "packed/deep/er.py", True),
    ({"own_model.py": "import_module(name)\n"}, "notes.txt", False),
    ({"own_model.py": "list(map(__import__, names))\n"}, "beside.py", True),
    ({"own_model.py": "from importlib import import_module as find\nfind('be' + 'side')\n"}, "beside.py", True),
    ({"own_model.py": "runpy.run_path(name)\n"}, "beside.py", True),
    ({"own_model.py": "import_module('named')\n"}, "beside.py", False),
    ({"own_model.py": "import inside.one\n", "inside/one.py": "import_module(name)\n"}, "inside/below/two.py", True),
    ({"own_model.py": "import inside.one\n", "inside/one.py": "import_module(name)\n"}, "beside.py", False),
]


@each_row(("files", "name", "counts"), COMPUTED)
def test_what_a_computed_name_may_import_counts(
    files: Mapping[str, str], name: str, counts: bool, tmp_path: Path
) -> None:
    packed = {"packed/__init__.py": "", "packed/deep/__init__.py": "", "inside/__init__.py": ""}
    digests = {
        digest_of_code(system_in(tmp_path / number, {**FILES, **packed, **files, name: f"print({number})\n"}))
        for number in ("1", "2")
    }
    assert (len(digests) == 2) is counts


def test_modules_below_a_folder_of_installed_packages_count(tmp_path: Path) -> None:
    """Those beside the manifest, wherever it is."""
    own_systems = [
        system_in(tmp_path / "site-packages" / name, {**FILES, "shared/names.py": name}) for name in ("a", "b")
    ]
    assert digest_of_code(own_systems[0]) != digest_of_code(own_systems[1])


def test_modules_without_a_version_count_by_their_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put into the folder of installed packages by hand."""
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.syspath_prepend(packages)
    digests = set()
    for number in (1, 2):
        (packages / "loose.py").write_text(f"VALUE = {number}\n")
        digests.add(digest_of_code(system_in(tmp_path / "own", {**FILES, "own_model.py": "import loose\n"})))
    assert len(digests) == 2


def test_modules_in_an_archive_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    for number in ("1", "2"):
        archive = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("packed.py", f"VALUE = {number}\n")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(archive)
            digests.add(digest_of_code(system_in(tmp_path / "own", {**FILES, "own_model.py": "import packed\n"})))
    assert len(digests) == 2


@each_row("name", sorted(FILES))
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

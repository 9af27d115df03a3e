"""What is kept on the disk: no entry is believed that this user did not store under this key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedproof.proofs import cache
from schedproof.proofs.cache import Cache

ENTRIES = Cache("entries", most=3)


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache."""
    where = tmp_path / "cache"
    monkeypatch.setenv(cache.VARIABLE, str(where))
    return where


def stored(key: str = "key", content: bytes = b"a verdict") -> Path:
    """A new entry's file."""
    before = set((cache.folder() / "entries").glob("*"))
    ENTRIES.store(key, content)
    [path] = set((cache.folder() / "entries").glob("*")) - before
    return path


def test_what_was_stored_is_loaded() -> None:
    assert ENTRIES.load("key") is None
    stored()
    assert ENTRIES.load("key") == b"a verdict"
    assert ENTRIES.load("another") is None
    assert Cache("others", most=3).load("key") is None


def test_no_byte_can_be_changed() -> None:
    path = stored()
    data = path.read_bytes()
    for n in range(len(data)):
        for bit in (1, 128):
            path.write_bytes(data[:n] + bytes([data[n] ^ bit]) + data[n + 1 :])
            assert ENTRIES.load("key") is None
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        assert ENTRIES.load("key") is None
    path.write_bytes(data + b"\0")
    assert ENTRIES.load("key") is None
    path.write_bytes(data)
    assert ENTRIES.load("key") == b"a verdict"


def test_an_entry_under_another_key_is_none() -> None:
    one, two = stored("one", b"1512 states"), stored("two", b"607 states")
    one_data, two_data = one.read_bytes(), two.read_bytes()
    one.write_bytes(two_data)
    two.write_bytes(one_data)
    assert ENTRIES.load("one") is None and ENTRIES.load("two") is None


def test_an_entry_of_another_user_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored()
    real = os.fstat

    def anothers(number: int) -> os.stat_result:
        fields = list(real(number))
        fields[4] = os.geteuid() + 1
        return os.stat_result(fields)

    monkeypatch.setattr(cache.os, "fstat", anothers)
    assert ENTRIES.load("key") is None
    monkeypatch.undo()
    monkeypatch.setenv(cache.VARIABLE, str(path.parents[1]))
    assert ENTRIES.load("key") == b"a verdict"


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_entry_that_others_can_write_is_none(mode: int) -> None:
    path = stored()
    path.chmod(mode)
    assert ENTRIES.load("key") is None


def test_a_link_or_a_pipe_is_no_entry(tmp_path: Path) -> None:
    path = stored()
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert ENTRIES.load("key") is None
    path.unlink()
    os.mkfifo(path)
    assert ENTRIES.load("key") is None


@pytest.mark.parametrize("below", ["", "entries"])
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(folder: Path, mode: int, below: str) -> None:
    path = stored()
    (folder / below).chmod(mode)
    assert ENTRIES.load("key") is None
    ENTRIES.store("more", b"content")
    assert list((folder / "entries").iterdir()) == [path], "nothing is written there"
    if not below:
        assert cache.refusal() == f"nothing is cached: other users can write to {folder}; run 'chmod go-w' on it"
        assert "\n" not in cache.refusal()


def test_a_folder_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    stored()
    user = os.geteuid()
    monkeypatch.setattr(cache.os, "geteuid", lambda: user + 1)
    assert ENTRIES.load("key") is None
    assert "belongs to another user" in cache.refusal() and str(folder) in cache.refusal()


def test_a_new_folder_is_the_user_s_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        path = stored()
    finally:
        os.umask(before)
    assert [each.stat().st_mode & 0o777 for each in (path.parent, path)] == [0o700, 0o600]
    assert ENTRIES.load("key") == b"a verdict"


def test_a_file_in_the_place_of_the_folder(folder: Path) -> None:
    folder.write_text("in the way")
    ENTRIES.store("key", b"content")
    assert ENTRIES.load("key") is None
    assert "is not a folder" in cache.refusal()


def test_it_does_not_grow_for_ever(folder: Path) -> None:
    for n in range(6):
        ENTRIES.store(str(n), b"content")
        os.utime(max((folder / "entries").iterdir(), key=lambda each: each.stat().st_ctime_ns), (n, n))
    ENTRIES.shrink()
    assert [ENTRIES.load(str(n)) is not None for n in range(6)] == [False] * 3 + [True] * 3


def test_only_files_of_its_own_are_removed(folder: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for n in range(6):
        (docs / f"{n:064x}").touch()
    folder.mkdir(mode=0o700)
    (folder / "entries").symlink_to(docs)
    ENTRIES.shrink()
    assert len(list(docs.iterdir())) == 6, "a link is not followed"
    assert ENTRIES.load("key") is None
    (folder / "entries").unlink()
    stored("one")
    (folder / "entries" / "0").mkdir()
    (folder / "entries" / "notes.txt").touch()
    for n in range(5):
        stored(str(n))
    ENTRIES.shrink()
    left = {each.name for each in (folder / "entries").iterdir()}
    assert {"0", "notes.txt"} < left and len(left) == 2 + ENTRIES.most


def test_what_was_stored_can_be_removed() -> None:
    stored("one")
    stored("two")
    ENTRIES.remove("one")
    ENTRIES.remove("three")
    assert ENTRIES.load("one") is None and ENTRIES.load("two") == b"a verdict"


def test_a_file_of_half_a_terabyte_is_not_read() -> None:
    with stored().open("r+b") as file:
        file.truncate(500 << 30)
    assert ENTRIES.load("key") is None


def test_without_a_home_nothing_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    stored()
    assert ENTRIES.load("key") == b"a verdict", "the folder is named, no home is needed"
    monkeypatch.delenv(cache.VARIABLE)
    ENTRIES.store("key", b"content")
    assert (ENTRIES.load("key"), cache.refusal()) == (None, "")


def test_it_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "schedproof"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path.home() / ".cache" / "schedproof"

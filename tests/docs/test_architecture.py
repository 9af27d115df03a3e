"""ARCHITECTURE.md is short, and says what is so."""

from __future__ import annotations

import re
import runpy

from tests.support.places import ROOT

TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def test_the_picture_is_what_the_imports_are() -> None:
    assert runpy.run_path(str(ROOT / "docs" / "architecture.py"))["with_picture"](TEXT) == TEXT


def test_it_has_at_most_a_hundred_lines() -> None:
    assert len(TEXT.splitlines()) <= 100


def test_every_place_that_it_names_is_there() -> None:
    named = {word.strip("*") for word in re.findall(r"`([\w./]+/[\w.]*)`", TEXT)}
    assert len(named) > 30
    missing = {name for name in named if "/X/" not in name and not (ROOT / name).exists()}
    assert {name for name in missing if not any(ROOT.glob(f"**/{name}"))} == set()


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    files = {path.name for path in folder.glob("0*.md")}
    linked = re.findall(r"\]\((0[\w.-]+)\)", (folder / "README.md").read_text("utf-8"))
    assert set(linked) == files and len(linked) == len(files) > 48
    assert len({name[:4] for name in files}) == len(files), "two have one number"


def test_every_path_that_a_decision_names_is_there() -> None:
    for path in (ROOT / "docs" / "decisions").glob("0*.md"):
        named = re.findall(
            r"`((?:model|impl|proofs|diagrams|tests|schedproof|benchmarks|docs)/[\w./]*)`", path.read_text("utf-8")
        )
        assert [name for name in named if not (ROOT / name).exists()] == [], path.name


def test_every_module_that_a_docstring_refers_to_is_there() -> None:
    seen = 0
    for part in ("model", "impl", "proofs", "diagrams", "schedproof"):
        for path in (ROOT / part).rglob("*.py"):
            for name in re.findall(r":mod:`([^`]*)`", path.read_text("utf-8")):
                folder, inside = (path.parent, name.lstrip(".")) if not name.startswith("schedproof") else (ROOT, name)
                place = folder / inside.replace(".", "/")
                assert place.with_suffix(".py").exists() or place.is_dir(), f"{path}: {name}"
                seen += 1
    assert seen > 30

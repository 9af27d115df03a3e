"""The gallery: fresh, complete, and what is wrong with it is said."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.diagrams import gallery as gallery_module
from schedproof.diagrams.gallery import FOLDER, Picture, main, pictures, regenerate, registered, stale, texts
from schedproof.model.registry.discovery import system
from schedproof.model.registry.system import System
from tests.support.picture_readers import needs_dot


@pytest.mark.long
def test_the_gallery_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: python -m schedproof.diagrams.gallery"""
    drawn = registered()  # once: some pictures need an exploration
    assert stale(drawn) == []
    monkeypatch.setattr(gallery_module, "registered", lambda: drawn)
    assert main(["--check"]) == 0


@pytest.fixture(scope="module")
def hived() -> list[Picture]:
    """A gallery that is soon drawn: HiveD's part."""
    return list(pictures({"hived": system("hived")}))


def test_the_gallery_shows_hived_in_both_variants() -> None:
    wanted = {f"hived/{v}/{name}.svg" for v in ("as-written", "repaired") for name in ("PodGroup", "Cell", "triggers")}
    assert wanted <= {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.svg")}


def test_the_gallery_shows_beaker_its_pairs_and_its_deadlocks() -> None:
    wanted = {f"{v}/{sort}" for v in ("batch", "as-written", "repaired") for sort in ("Recipe", "System", "RecipeSet")}
    wanted |= {"shipped/Recipe", "shipped/System", "batch/Scheduler"}
    wanted |= {
        f"{v}/{name}" for v in ("batch", "as-written", "repaired", "shipped") for name in ("Recipe.system", "triggers")
    }
    wanted |= {f"as-written/wait-for-{name}" for name in ("no-abba", "no-deadlock", "no-set-blocks-itself")}
    wanted |= {"batch/wait-for-no-abba"}
    there = {path.relative_to(FOLDER / "beaker").as_posix() for path in (FOLDER / "beaker").rglob("*.svg")}
    assert {f"{name}.svg" for name in wanted} <= there
    assert not [name for name in there if name.startswith("repaired/wait-for")], "nothing there waits for ever"


def test_every_link_of_the_gallerys_page_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (FOLDER / "README.md").read_text())
    assert len(links) >= 6 * 5
    assert [link for link in links if not (FOLDER / link).is_file()] == []


@pytest.fixture
def copy(hived: list[Picture], tmp_path: Path) -> Path:
    """HiveD's part of the gallery, with a page of its own."""
    shutil.copytree(FOLDER / "hived", tmp_path / "gallery" / "hived")
    (tmp_path / "gallery" / "README.md").write_text(texts(hived)["README.md"])
    assert stale(hived, tmp_path / "gallery") == []
    return tmp_path / "gallery"


CELL_PICTURE = "hived/as-written/Cell"


@pytest.mark.parametrize("ending", ["svg", "png", "dot", "mmd"])
def test_a_missing_file_is_stale(hived: list[Picture], copy: Path, ending: str) -> None:
    (copy / f"{CELL_PICTURE}.{ending}").unlink()
    assert stale(hived, copy) == [f"{CELL_PICTURE}.{ending}: missing"]


@pytest.mark.parametrize("name", ["hived/as-written/Pod.svg", "old/Cell.dot", "notes.txt", ".Cell.dot.17.part"])
def test_an_extra_file_is_stale(hived: list[Picture], copy: Path, name: str) -> None:
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("")
    assert stale(hived, copy) == [f"{name}: nothing draws it"]


@pytest.mark.parametrize("name", ["README.md", f"{CELL_PICTURE}.dot", f"{CELL_PICTURE}.mmd"])
def test_an_edited_text_is_stale(hived: list[Picture], copy: Path, name: str) -> None:
    (copy / name).write_text((copy / name).read_text().replace("e9", "e10"))
    assert stale(hived, copy) == [f"{name}: not what the model gives now"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_an_image_of_another_picture_is_stale(hived: list[Picture], copy: Path, ending: str) -> None:
    shutil.copy(copy / f"hived/as-written/PodGroup.{ending}", copy / f"{CELL_PICTURE}.{ending}")
    assert stale(hived, copy) == [f"{CELL_PICTURE}.{ending}: drawn from other DOT"]


def without_a_way_to_die(system: System) -> System:
    """Pending pod groups are never deleted."""
    actions = [action for action in system.base.actions if action.name != "delete_pending"]
    assert len(actions) == len(system.base.actions) - 1
    return replace(system, variants={**system.variants, system.base.variant: replace(system.base, actions=actions)})


def test_a_changed_model_makes_its_pictures_stale(
    hived: list[Picture], copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = list(pictures({"hived": without_a_way_to_die(system("hived"))}))
    assert {
        f"hived/as-written/triggers.{ending}: {why}"
        for ending, why in [
            ("dot", "not what the model gives now"),
            ("mmd", "not what the model gives now"),
            ("svg", "drawn from other DOT"),
            ("png", "drawn from other DOT"),
        ]
    } <= set(stale(changed, copy))
    monkeypatch.setattr(gallery_module, "registered", lambda: changed)
    assert main(["--check"]) == 1
    assert "run python -m schedproof.diagrams.gallery" in capsys.readouterr().err


@needs_dot
def test_drawing_again_makes_the_gallery_fresh_and_removes_what_nothing_draws(
    hived: list[Picture], tmp_path: Path
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "Gone.svg").write_text("")
    regenerate(hived, tmp_path)
    assert stale(hived, tmp_path) == []


def test_drawing_without_graphviz_is_exit_2_and_changes_nothing(
    hived: list[Picture], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(gallery_module, "registered", lambda: hived)
    before = {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")}
    assert main([]) == 2
    assert "apt-get install graphviz" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*")} == before

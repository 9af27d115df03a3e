"""The gallery: fresh, complete, and what is wrong with it is said."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.diagrams import gallery as gallery_module
from schedproof.diagrams.gallery import FOLDER, Picture, main, pages, pictures, regenerate, registered, stale
from schedproof.diagrams.images import fingerprint, png_fingerprint, sealed
from schedproof.model.registry.discovery import system
from schedproof.model.registry.system import System
from tests.support.needs import needs_dot
from tests.support.sample import thinned


@pytest.mark.long(seconds=120, one_in=4)
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
    expected = {
        f"hived/{v}/{name}.svg" for v in ("as-written", "repaired") for name in ("PodGroup", "Cell", "triggers")
    }
    assert expected <= {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.svg")}


def test_the_gallery_shows_pairs_and_deadlocks_of_beaker() -> None:
    expected = {
        f"{v}/{sort}" for v in ("batch", "as-written", "repaired") for sort in ("Recipe", "System", "RecipeSet")
    }
    expected |= {"shipped/Recipe", "shipped/System", "batch/Scheduler"}
    expected |= {
        f"{v}/{name}" for v in ("batch", "as-written", "repaired", "shipped") for name in ("Recipe.system", "triggers")
    }
    expected |= {f"as-written/wait-for-{name}" for name in ("no-abba", "no-deadlock", "no-set-blocks-itself")}
    expected |= {"batch/wait-for-no-abba"}
    drawn = {path.relative_to(FOLDER / "beaker").as_posix() for path in (FOLDER / "beaker").rglob("*.svg")}
    assert {f"{name}.svg" for name in expected} <= drawn
    assert not [name for name in drawn if name.startswith("repaired/wait-for")], "nothing there waits for ever"


def links(page: Path) -> list[Path]:
    """Where the links of a page lead, pictures included."""
    return [page.parent / link for link in re.findall(r"\]\(([^)]+)\)", page.read_text())]


def test_every_link_of_a_page_leads_to_a_file() -> None:
    written = list(FOLDER.rglob("README.md"))
    assert len(written) > 20
    assert [(page, link) for page in written for link in links(page) if not link.is_file()] == []


def test_every_file_can_be_reached_from_the_front_page() -> None:
    reached, pending = set(), [FOLDER / "README.md"]
    while pending:
        file = pending.pop().resolve()
        if file not in reached:
            reached.add(file)
            pending += links(file) if file.suffix == ".md" else []
    assert {path.resolve() for path in FOLDER.rglob("*") if path.is_file()} == reached


def test_every_folder_has_a_page_that_shows_its_pictures() -> None:
    folders = [FOLDER, *(path for path in FOLDER.rglob("*") if path.is_dir())]
    for folder in folders:
        text = (folder / "README.md").read_text()
        shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
        assert sorted(shown) == sorted(path.name for path in folder.glob("*.svg"))
        assert text.count("```mermaid") == len(shown)


def test_the_gallery_is_svg_and_pages_of_a_few_megabytes() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".svg", ".md"}
    assert max(path.stat().st_size for path in files if path.suffix == ".md") < 512 * 1024
    assert sum(path.stat().st_size for path in files) < 9_000_000


@pytest.fixture
def copy(hived: list[Picture], tmp_path: Path) -> Path:
    """HiveD's part of the gallery, with a front page of its own."""
    shutil.copytree(FOLDER / "hived", tmp_path / "gallery" / "hived")
    (tmp_path / "gallery" / "README.md").write_text(pages(hived)["README.md"])
    assert stale(hived, tmp_path / "gallery") == []
    return tmp_path / "gallery"


CELL_PICTURE = "hived/as-written/Cell"


CELL_PAGE = "hived/as-written/README.md"


@pytest.mark.parametrize("name", ["README.md", "hived/README.md", CELL_PAGE, f"{CELL_PICTURE}.svg"])
def test_a_missing_file_is_stale(hived: list[Picture], copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert stale(hived, copy) == [f"{name}: missing"]


@pytest.mark.parametrize(
    "name",
    [
        "hived/as-written/Pod.svg",
        f"{CELL_PICTURE}.png",
        f"{CELL_PICTURE}.dot",
        f"{CELL_PICTURE}.mmd",
        "old/README.md",
        "notes.txt",
        ".Cell.svg.17.part",
    ],
)
def test_an_extra_file_is_stale(hived: list[Picture], copy: Path, name: str) -> None:
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("")
    assert stale(hived, copy) == [f"{name}: nothing draws it"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("README.md", "Cell", "Cells"),
        ("hived/README.md", "Cell", "Cells"),
        (CELL_PAGE, "e9", "e10"),
        (CELL_PAGE, "\n", "\r\n"),
    ],
)
def test_an_edited_page_is_stale(hived: list[Picture], copy: Path, name: str, old: str, new: str) -> None:
    edited = (copy / name).read_text().replace(old, new)
    (copy / name).write_bytes(edited.encode())
    assert stale(hived, copy) == [f"{name}: not what the model gives now"]


def test_an_image_of_another_picture_is_stale(hived: list[Picture], copy: Path) -> None:
    shutil.copy(copy / "hived/as-written/PodGroup.svg", copy / f"{CELL_PICTURE}.svg")
    assert stale(hived, copy) == [f"{CELL_PICTURE}.svg: drawn from other DOT"]


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"\x89PNG\r\n\x1a\n\xff"])
def test_an_image_without_a_hash_is_stale(hived: list[Picture], copy: Path, content: bytes) -> None:
    (copy / f"{CELL_PICTURE}.svg").write_bytes(content)
    assert stale(hived, copy) == [f"{CELL_PICTURE}.svg: drawn from other DOT"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda svg: svg.replace(">Free<", ">Idle<", 1),
        lambda svg: svg[svg.index("<!-- schedproof-dot-sha256") :],
        lambda svg: svg[: svg.index("<!-- schedproof-svg-sha256")],
        lambda svg: svg.replace("\n", "\r\n"),
        lambda svg: svg + "<!-- more -->\n",
    ],
    ids=["label", "only hashes", "no hash of its own", "line ends", "appended"],
)
def test_an_image_changed_by_hand_is_stale(hived: list[Picture], copy: Path, edit: Callable[[str], str]) -> None:
    path = copy / f"{CELL_PICTURE}.svg"
    before = path.read_text()
    path.write_bytes(edit(before).encode())
    assert path.read_bytes() != before.encode()
    assert stale(hived, copy) == [f"{CELL_PICTURE}.svg: changed since it was drawn"]


def test_an_image_of_another_graphviz_is_fresh(hived: list[Picture], copy: Path) -> None:
    """Another version, or other fonts, draws other coordinates from the same DOT."""
    path = copy / f"{CELL_PICTURE}.svg"
    drawn = path.read_text()
    moved = re.sub(r'width="\d+pt"', 'width="999pt"', drawn[: drawn.index("<!-- schedproof-svg-sha256")])
    assert moved not in drawn
    path.write_text(sealed(moved))
    assert stale(hived, copy) == []


def test_freshness_does_not_need_graphviz(
    hived: list[Picture], copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert stale(hived, copy) == []


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
        "hived/as-written/README.md: not what the model gives now",
        "hived/as-written/triggers.svg: drawn from other DOT",
    } <= set(stale(changed, copy))
    monkeypatch.setattr(gallery_module, "registered", lambda: changed)
    assert main(["--check"]) == 1
    assert "run python -m schedproof.diagrams.gallery" in capsys.readouterr().err


@needs_dot
def test_drawing_makes_it_fresh_and_removes_leftovers(hived: list[Picture], tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    leftovers = [tmp_path / "old" / name for name in ("Gone.svg", "Gone.png", "Gone.dot", "Gone.mmd", "README.md")]
    for path in leftovers:
        path.write_text("")
    regenerate(hived, tmp_path)
    assert stale(hived, tmp_path) == []
    assert not [path for path in leftovers if path.exists()]


@needs_dot
@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text("<svg/>")])
def test_only_what_is_stale_is_drawn_again(hived: list[Picture], copy: Path, damage: Callable[[Path], object]) -> None:
    images = {path: path.stat().st_mtime_ns for path in copy.rglob("*.svg")}
    damaged = copy / f"{CELL_PICTURE}.svg"
    damage(damaged)
    regenerate(hived, copy)
    assert stale(hived, copy) == []
    assert {path for path, time in images.items() if path.stat().st_mtime_ns != time} == {damaged}


def test_a_page_is_written_again_without_graphviz(
    hived: list[Picture], copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (copy / CELL_PAGE).unlink()
    regenerate(hived, copy)
    assert stale(hived, copy) == []


def test_drawing_without_graphviz_changes_nothing(
    hived: list[Picture],
    copy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(gallery_module, "registered", lambda: hived)
    monkeypatch.setattr(gallery_module, "FOLDER", copy)
    (copy / f"{CELL_PICTURE}.svg").unlink()
    (copy / CELL_PAGE).unlink()
    (copy / "Gone.svg").write_text("")
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*")}
    assert main([]) == 2
    assert "apt-get install graphviz" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*")} == before


# --- Other formats, on request ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "ending"),
    thinned(
        [
            pytest.param("svg", ".svg", marks=needs_dot),
            pytest.param("png", ".png", marks=needs_dot),
            ("dot", ".dot"),
            ("mermaid", ".mmd"),
        ],
        3,
        first=2,
    ),
)
def test_all_pictures_are_drawn_in_one_format_into_a_folder(
    hived: list[Picture], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, ending: str
) -> None:
    monkeypatch.setattr(gallery_module, "registered", lambda: hived)
    folder = tmp_path / "new" / "pictures"
    folder.mkdir(parents=True)
    (folder / "mine.dot").write_text("kept")
    assert main(["--format", format, "--into", str(folder)]) == 0
    drawn = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert drawn == {"mine.dot", *(f"{picture.stem}{ending}" for picture in hived)}
    for picture in hived:
        data = (folder / f"{picture.stem}{ending}").read_bytes()
        if format == "png":
            assert png_fingerprint(data) == fingerprint(picture.dot)
        elif format == "svg":
            assert fingerprint(picture.dot).encode() in data
        else:
            assert data.decode() == {"dot": picture.dot, "mermaid": picture.mermaid}[format]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "png"], "--format and --into need each other"),
        (["--into", "pictures"], "--format and --into need each other"),
        (["--check", "--format", "dot", "--into", "pictures"], "--check draws nothing"),
        (["--format", "gif", "--into", "pictures"], "invalid choice: 'gif'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(
    hived: list[Picture], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gallery_module, "registered", lambda: hived)
    (tmp_path / "file").write_text("")
    assert main(["--format", "dot", "--into", str(tmp_path / "file")]) == 2
    assert "cannot make the folder" in capsys.readouterr().err

"""``report``: its pages, what they link, what changed since an earlier one, and what it refuses to replace."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

from schedproof.cli import main
from schedproof.diagrams.report import content
from schedproof.model.lang import Change, Reading
from schedproof.model.registry.discovery import systems
from schedproof.model.registry.system import System
from tests.diagrams.player.hostile import ATTACK, HOSTILE
from tests.support.lamps import lamps, system
from tests.support.needs import needs_dot
from tests.support.registry import put

Run = Callable[..., tuple[int, str, str]]


PROPERTY = {"name": "\ud800", "verdict": "proved", "method": "induction"}
HALF = json.dumps({"systems": [{"system": "lamps", "variant": "plain", "properties": [PROPERTY]}]})
"""A name with half of a character, which no page can have."""


class Links(HTMLParser):
    """The links of a page, its ids and other places, and the tags of what it would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.runs: set[str] = set()
        self.loads: list[tuple[str, str]] = []
        self.feed(text)
        self.places = {*self.ids, *self.runs}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) == ("a", "href"):
                self.links.append(value or "")
            elif name == "id":
                self.ids.append(value or "")
            elif (tag, name) == ("option", "value"):
                self.runs.add(f"run={value}")  # the address of a page of two runs names one that it offers
            elif name in ("src", "href", "onerror"):
                self.loads.append((tag, value or ""))


def dead(folder: Path) -> Iterator[str]:
    """The links of a report that lead nowhere, and what its pages would load."""
    pages = {path.relative_to(folder).as_posix(): Links(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            goal = PurePosixPath(name).parent / parts.path if parts.path else PurePosixPath(name)
            path = re.sub(r"[^/.][^/]*/\.\./", "", re.sub(r"[^/.][^/]*/\.\./", "", goal.as_posix()))
            path = re.sub(r"[^/.][^/]*/\.\./", "", path)
            if path not in pages or (parts.fragment and unquote(parts.fragment) not in pages[path].places):
                yield f"{name}: {link}"
        yield from (f"{name}: {tag} {what}" for tag, what in page.loads if not what.startswith("data:"))
        if len(set(page.ids)) < len(page.ids):
            yield f"{name}: an id occurs twice"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs ``report`` on lamps in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, of: System | None = None) -> tuple[int, str, str]:
        chosen = of or system()
        put(monkeypatch, {chosen.name: chosen})
        code = main(["report", chosen.name, "--jobs", "1", *arguments])
        return code, *capfd.readouterr()

    return command


def text_of(file: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", Path(file).read_text("utf-8")))


def test_a_report_has_a_page_for_each_property(run: Run) -> None:
    code, out, _ = run()
    assert code == 0
    assert out == "as expected: 5 of 5 verdicts are what the manifests say; 12 pages: report/index.html\n"
    files = sorted(path.relative_to("report").as_posix() for path in Path("report").rglob("*") if path.is_file())
    properties = ["blinks", "on-or-off", "one-state", "stays-dark", "well-formed"]
    assert files == [
        "index.html",
        "lamps/defects/stays-dark/stays-dark.html",
        *(f"lamps/{each}.html" for each in ("findings", "index")),
        "lamps/pictures/plain.html",
        *(f"lamps/properties/{name}.html" for name in properties),
        "lamps/runs/plain/blinks.html",
        "lamps/runs/plain/stays-dark.html",
        "report.json",
    ]
    assert list(dead(Path("report"))) == []


def test_the_page_of_a_property_has_all_there_is_on_it(run: Run) -> None:
    run()
    text = text_of("report/lamps/properties/stays-dark.html")
    assert "Lamps stay dark. lamps.md, line 7" in text
    assert "plain refuted refuted in 1 step at Lamp=2 refuted invariant play" in text
    assert "1. l0 is switched on" in text


def test_the_findings_are_the_same_as_of_the_command(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    run()
    main(["findings", "lamps"])
    lines = [line.strip() for line in capfd.readouterr().out.splitlines()]
    text = text_of("report/lamps/findings.html")
    assert "1. l0 is switched on" in lines and "Property stays-dark is violated for x = l0" in lines
    assert "l0 is switched on Final state: l0: On Property stays-dark is violated for x = l0" in text


def test_what_changed_since_an_earlier_report(run: Run) -> None:
    run("-o", "before", "--no-findings")
    run("--single-file", "-o", "before.html", "--no-findings")
    Path("before.json").write_text(Path("before/report.json").read_text())
    now = system(lamps(properties=[each for each in lamps().properties if each.name != "blinks"], refuted=()))
    for since in ("before", "before.html", "before.json"):
        code, out, _ = run("--earlier", since, of=now)
        assert (code, out.splitlines()[0]) == (1, f"1 verdict differs since {since}")
    text = text_of("report/index.html")
    assert "blinks (lamps plain): holds before, and not in this report" in text
    assert "refuted not expected" in text
    run("--earlier", "before")
    assert "No verdict differs." in text_of("report/index.html")


def test_a_report_replaces_a_report_and_nothing_else(run: Run) -> None:
    run()
    assert run("--no-findings")[0] == 0
    assert not Path("report/lamps/findings.html").exists()
    Path("notes").mkdir()
    Path("notes/mine.txt").touch()
    code, out, err = run("-o", "notes")
    assert (code, out) == (2, "")
    assert err == "schedproof: --output: directory 'notes' is not empty, and not only a report; write a new name\n"
    assert [path.name for path in Path("notes").iterdir()] == ["mine.txt"]
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["notes", "report"]


def test_nothing_is_half_written_without_space(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    before = Path("report/report.json").read_text()
    write_text, written = Path.write_text, []

    def full(path: Path, *arguments: str) -> int:
        written.append(path)
        if len(written) > 4:
            raise OSError(28, "No space left on device")
        return write_text(path, *arguments)

    monkeypatch.setattr(Path, "write_text", full)
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "No space left on device" in err and len(err.splitlines()) == 2
    assert Path("report/report.json").read_text() == before
    assert [path.name for path in Path.cwd().iterdir()] == ["report"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--earlier", "nowhere"],
            "--earlier: cannot read 'nowhere': No such file or directory; name the folder or the file of",
        ),
        (
            ["--earlier", "text"],
            "--earlier: 'text' is not a report; name the folder or the file of an earlier report, or of verify",
        ),
        (["--earlier", "list.json"], "--earlier: 'list.json' is not a report"),
        (["--earlier", "deep.json"], "--earlier: 'deep.json' is not a report"),
        (["--earlier", "half.json"], "--earlier: 'half.json' is not a report"),
        (["--earlier", "keys.json"], "--earlier: 'keys.json' is not a report"),
        (["--earlier", "/dev/zero"], "--earlier: '/dev/zero' is not a report"),
        (["-o", "-"], "--output: - is standard output"),
        (["-o", "link"], "--output: 'link' is a link"),
        (["--single-file", "-o", "nowhere/x.html"], "--output: cannot write 'nowhere/x.html': directory"),
        (["--variant", "blue"], "'blue'"),
        (["-o", ""], "--output: the name is empty"),
        (["--single-file", "-o", ""], "--output: the name is empty"),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: list[str], says: str) -> None:
    Path("text").write_text("no report")
    Path("list.json").write_text("[1, 2]")
    Path("deep.json").write_text("[" * 100_000)
    Path("half.json").write_text(HALF)
    Path("keys.json").write_text('{"systems": [{"system": "lamps"}]}')
    Path("link").symlink_to("elsewhere")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says in err and len(err.splitlines()) == 1


def test_a_hostile_model_stays_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names with markup, slashes and quotes: every link works, and nothing of them is markup."""
    hostile = System("hostile", ATTACK, {"plain": HOSTILE}, validated_by="plain")
    assert run(of=hostile)[0] != 2
    assert list(dead(Path("report"))) == []
    for path in Path("report").rglob("*.html"):
        assert ATTACK not in path.read_text("utf-8"), path
    assert "onerror" in text_of("report/index.html")


def test_without_graphviz_the_page_lays_out_pictures(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert run()[0] == 0
    page = Path("report/lamps/pictures/plain.html").read_text("utf-8")
    assert "<img" not in page and "stateDiagram-v2" in page
    assert '{"id":"On","label":"On"' in page


def test_a_run_that_is_too_long_to_play_is_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_STEPS", 0)
    assert run()[0] == 0
    assert not Path("report/lamps/runs").exists() and not Path("report/lamps/defects").exists()
    assert "1. l0 is switched on" in text_of("report/lamps/properties/stays-dark.html")
    assert list(dead(Path("report"))) == []


@needs_dot
def test_with_graphviz_pictures_are_images(run: Run) -> None:
    run()
    page = Path("report/lamps/pictures/plain.html").read_text("utf-8")
    assert page.count('<img src="data:image/svg+xml;base64,') == 2
    assert 'alt="The 2 states of a Lamp and its 2 events' in page


def test_json_is_that_of_verify(run: Run) -> None:
    code, out, _ = run("--json", "-", "--no-findings")
    data = json.loads(out)
    assert (code, data["ok"], data["report"], data["pages"]) == (0, True, "report/index.html", 10)
    assert data["systems"][0]["properties"][0]["name"] == "well-formed"


def test_a_property_that_rests_on_an_interpretation_says_so(run: Run) -> None:
    reading = Reading(
        name="lamps-are-bulbs",
        line=7,
        question="Is a lamp its bulb?",
        read="It is.",
        otherwise="It is not.",
        why="Nothing says so.",
        drops=["switch_on"],
        rests=["stays-dark"],
        breaks=["blinks"],
    )
    its = system()
    loaded = {"interpretations": [reading]}
    run(
        of=System(
            its.name, its.title, its.variants, its.validated_by, load=lambda key, default: loaded.get(key, default)
        )
    )
    assert "Rests on lamps-are-bulbs (line 7): Is a lamp its bulb? It is." in text_of(
        "report/lamps/properties/stays-dark.html"
    )
    assert "Is a lamp its bulb?" in text_of("report/lamps/findings.html")
    assert list(dead(Path("report"))) == []


def test_a_repair_is_in_the_findings(run: Run) -> None:
    change = Change(
        name="switches",
        wrong="A lamp is switched on.",
        why="nobody does",
        repairs=["stays-dark"],
        drops=["switch_on", "blinks"],
    )
    run(of=system(lamps(), lamps().amend("repaired", "no switch", [change], frozenset())))
    text = text_of("report/lamps/findings.html")
    assert "A lamp is switched on." in text and "Repair: nobody does" in text
    page = text_of("report/lamps/properties/stays-dark.html")
    assert "switches (plain): A lamp is switched on. Repair: nobody does (variant repaired)" in page
    played = Path("report/lamps/runs/plain/stays-dark.html").read_text("utf-8")
    assert (
        "Defect that it may show:</strong> <a href=" in played
        and ">switches</a>" in played
        and "repaired has no action switch_on" in played
    )
    assert list(dead(Path("report"))) == []


@pytest.mark.long(seconds=30, one_in=12)
@pytest.mark.parametrize("name", sorted(systems()))
def test_every_link_of_a_whole_report_leads_somewhere(name: str, tmp_path: Path) -> None:
    assert main(["report", name, "--no-findings", "-o", str(tmp_path / "report")]) == 0
    assert list(dead(tmp_path / "report")) == []

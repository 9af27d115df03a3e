"""``schedproof coverage``: its table, its gaps, its files, its draft; on the files of the guide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedproof.cli import main
from tests.docs.pages import Text, steps, write
from tests.support.places import ROOT
from tests.support.user_repository import imports_undone


@pytest.fixture
def doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the guide, in the current folder."""
    for step in steps((ROOT / "docs" / "howto" / "ledger.md").read_text("utf-8")):
        if isinstance(step, Text):
            write(step, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    with imports_undone():
        return main(["coverage", "doors", *arguments])


def ledger(folder: Path, old: str, new: str) -> None:
    file = folder / "ledger.yaml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_gaps_are_listed_and_end_with_1(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger(doors, "  left-out: no state of a door depends on its paint\n", "")
    ledger(doors, "open_it: {review: r315a7e5", "open_it: {review: r315a7e6")
    assert run("--document", "doors.md") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 gaps"
    assert lines[-3].startswith("line 5: Doors are painted every year.: nothing became of it; ")
    assert lines[-2].startswith("as-written: action open_it (doors.py:14): has changed since it was reviewed; ")


def test_another_document(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (doors / "doors.md").read_text("utf-8").replace("painted", "washed")
    (doors / "doors.md").write_text(text, "utf-8")
    assert run() == 0, "the document is not asked for"
    assert run("--document", "doors.md") == 1
    assert 'no entry for "Doors are washed every year."' in capsys.readouterr().out


def test_a_mark_depends_on_the_words(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same change in the document and in the ledger: the elements that cite the line must be compared again."""
    old, new = "A guest opens a door.", "No guest ever opens a door."
    (doors / "doors.md").write_text((doors / "doors.md").read_text("utf-8").replace(old, new), "utf-8")
    ledger(doors, old, new)
    assert run("--document", "doors.md") == 1
    gap, last = capsys.readouterr().out.splitlines()[-2:]
    begin, _, number = gap.partition(", then write review: ")
    assert begin == (
        "as-written: action open_it (doors.py:14): the words of line 5 have changed since it was reviewed; compare it with them"
    )
    assert last == "1 gap"
    ledger(doors, "r315a7e5-414ca", number.removesuffix(" under elements"))
    assert run("--document", "doors.md") == 0
    ledger(doors, number.removesuffix(" under elements"), "r315a7e5")
    assert run("--document", "doors.md") == 1, "a mark without a second half does not say with which words"


def test_a_quotation_that_the_document_lacks(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (doors / "doors.py").read_text("utf-8")
    (doors / "doors.py").write_text(
        text.replace('close", line=3,', 'close", sentence="Doors are pink.", line=3,'), "utf-8"
    )
    assert run() == 0, "the document is not asked for"
    assert run("--document", "doors.md") == 1
    assert 'line 3 does not have "Doors are pink."; quote its words' in capsys.readouterr().out


def test_the_files(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--html", "a.html", "--markdown", "a.md", "--json", "a.json") == 0
    assert "No gap" in capsys.readouterr().out
    data = json.loads((doors / "a.json").read_text("utf-8"))
    assert data["gaps"] == [] and [each["verdict"] for each in data["statements"]] == [
        "modelled", "modelled", "open", "modelled", "without",
    ]  # fmt: skip
    assert "Doors are painted every year." in (doors / "a.html").read_text("utf-8")
    assert (doors / "a.md").read_text("utf-8").count("\n| ") == 6


def test_no_page_is_written_over_the_document(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (doors / "doors.md").read_text("utf-8")
    assert run("--document", "doors.md", "--markdown", "./doors.md") == 2
    assert "--markdown: './doors.md' is an input of this command" in capsys.readouterr().err
    assert (doors / "doors.md").read_text("utf-8") == before


def test_json_to_standard_output_is_all(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["document"] == "doors.md"


def test_a_draft_of_a_complete_ledger_adds_nothing(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--document", "doors.md", "--draft") == 0
    text = capsys.readouterr().out
    assert "# " not in text.replace("# Doors", "")
    (doors / "ledger.yaml").write_text(text, "utf-8")
    assert run("--document", "doors.md") == 0


def test_the_shell_may_empty_the_file_first(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (doors / "ledger.yaml").write_text("", "utf-8")
    assert run("--document", "doors.md", "--draft") == 0
    assert capsys.readouterr().out.count("review: {}") == 8


def test_silences_of_a_variant_and_a_scope(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of one door that is closed, no door is open: then this condition, and not the state, keeps the event away."""
    locked = """
LOCKED = DOORS.amend("locked", "a lock", [Change(
    why="A door is closed beside an open one.", repairs=[], drops=["opens-and-closes"],
    adds=[Action("close_it", [d], [d.is_("Open"), exists(e, e.is_("Open"))], [d.fires("close")], "{d} closes", line=3)],
)], frozenset())
"""
    text = (doors / "doors.py").read_text("utf-8").replace("import Action,", "import Action, Change, exists,")
    text = text.replace('d = variable(Door, "d")', 'd = variable(Door, "d")\ne = variable(Door, "e")') + locked
    (doors / "doors.py").write_text(text, "utf-8")
    manifest = doors / "schedproof.toml"
    manifest.write_text(
        manifest.read_text("utf-8").replace('"doors:DOORS"', '["doors:DOORS", "doors:LOCKED"]'), "utf-8"
    )

    def searched(*arguments: str) -> dict[str, list[tuple[str, str]]]:
        assert run("--silences", *arguments, "--json", "-") == 0
        data = json.loads(capsys.readouterr().out)["silences"]
        return {name: [(each["by"], *each["runs"]) for each in some] for name, some in data.items()}

    both = [("action open_it", "Open"), ("action close_it", "Closed")]
    assert searched() == searched("--variant", "as-written") == {"as-written": both}
    assert searched("--variant", "locked", "--scope", "Door=1") == {"locked": both[:1]}
    assert searched("--variant", "locked", "--variant", "as-written") == {"as-written": both, "locked": both}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--variant", "as-written"],
            "--variant: has no effect without --silences; add --silences, or leave it out",
        ),
        (["--scope", "Door=1"], "--scope: has no effect without --silences; add --silences, or leave it out"),
        (
            ["--scope", "Door=1", "--variant", "as-written"],
            "--variant, --scope: have no effect without --silences; add --silences, or leave them out",
        ),
        (
            ["--names", "--html", "x.html", "--json", "-"],
            "--html, --json: have no effect with --names; leave them out",
        ),
        (["--names", "--silences"], "--silences: has no effect with --names; leave it out"),
        (["--names", "--draft", "--document", "doors.md"], "--draft, --document: have no effect with --names"),
        (
            ["--draft", "--document", "doors.md", "--markdown", "x.html"],
            "--markdown: has no effect with --draft; leave it out",
        ),
        (["--silences", "--variant", "as-writen"], "unknown variant of doors 'as-writen'; did you mean as-written?"),
        (["--silences", "--scope", "Dor=1", "--html", "x.html"], "unknown sort 'Dor' in the scope"),
    ],
)
def test_where_silences_are_not_searched(
    doors: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert run(*arguments) == 2
    assert says in capsys.readouterr().err and not (doors / "x.html").exists()


def test_names(doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--names") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("modelled: machine Door, state Door.Closed, ")
    assert lines[1:] == [
        "required: opens-and-closes, well-formed", "interpretations: doors-close-by-themselves", "contradictions: none",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('breaks=["opens-and-closes"]', "breaks=[]", "opens-and-closes does not hold with the other interpretation; add it to breaks"),
        ('drops=["close_it"],\n        breaks=["opens-and-closes"],', 'untried="a door has no hands",', ""),
        ('breaks=["opens-and-closes"]', 'breaks=["opens-and-closes", "well-formed"]', "well-formed does not differ; leave it out of breaks"),
    ],
)  # fmt: skip
def test_an_interpretation_that_says_something_else(
    doors: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    text = (doors / "doors.py").read_text("utf-8")
    assert old in text
    (doors / "doors.py").write_text(text.replace(old, new), "utf-8")
    with imports_undone():
        code = main(["verify", "doors", "--interpretations", "--no-cache", "--jobs", "1"])
    out = capsys.readouterr().out
    assert (code == 1 and says in out) if says else (code == 0 and "interpretation." not in out)

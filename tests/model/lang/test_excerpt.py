"""The excerpt below an error: the line of the model with carets below what is wrong."""

from __future__ import annotations

import linecache
import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest

from schedproof.model.lang import ModelError
from schedproof.model.lang.check import checked
from schedproof.model.lang.excerpt import WIDEST, Span, excerpt
from tests.model.lang.wrong_models import CASES, Case
from tests.support.rows import each_row

HEAD = """\
from schedproof.model.lang import Action, Attribute, BoolType, Invariant, Machine, Model, Row, Sort, State, variables

Door = Sort("Door", "d")
(d,) = variables(Door, "d")


def model(when=(), rows=(), **more):
    return Model(
        system="doors", variant="as-written", about="doors", rules=[], default_scope={}, properties=more.get("properties", []),
        machines=[Machine(Door, states=[State("Closed"), State("Open")], attributes=[Attribute("locked", BoolType())])],
        rows=[Row(Door, "open", "Closed", "Open"), *rows], actions=[Action("open_it", [d], list(when), [d.fires("open")], "{d}")],
    )


"""


def refused(folder: Path, tail: str) -> ModelError:
    """The error of a file with this end, whose last line makes ``wrong``."""
    file = folder / "doors.py"
    file.write_text(HEAD + tail, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    with pytest.raises(ModelError) as caught:
        checked(names["wrong"])
    return caught.value


def marked(error: ModelError) -> str:
    """The text above the carets."""
    _, line, carets = error.excerpt.splitlines()
    start = carets.index("^")
    return line[start : start + carets.count("^")]


@each_row(
    ("tail", "mistake"),
    [
        ('wrong = model([d.is_("Opn")])', '"Opn"'),
        ('wrong = model([~d.is_(\n    "Closed",\n    "Opn",\n)])', '"Opn"'),
        ("wrong = model([d.lokced])", "lokced"),
        ("wrong = model([(d.locked == True) & (d.locked == 3)])", "d.locked == 3"),
        ('wrong = model([d.fires("opne")])', '"opne"'),
        ('é = "é"; wrong = model([d.is_("Opn")])', '"Opn"'),
        ('wrong = model(rows=[\n    Row(Door, "shut", "Open", "Closed",\n        loked=True),\n])', "loked"),
        ('wrong = model(properties=[Invariant(name="p", says="", over=d, then=d.locked)])', "over"),
        ('wrong = model(rows=[Row(Door, "open", "Closed", "Open")])', 'Row(Door, "open", "Closed", "Open")'),
        ("wrong = model([d.locked.locked])", "d.locked"),
    ],
)
def test_carets_are_below_the_mistake(tmp_path: Path, tail: str, mistake: str) -> None:
    error = refused(tmp_path, tail)
    assert marked(error) == mistake
    where, line, _ = error.excerpt.splitlines()
    assert where.strip().startswith(f"--> {tmp_path / 'doors.py'}:{error.place.line}:")
    number = next(n for n, each in enumerate((HEAD + tail).splitlines(), 1) if n > HEAD.count("\n") and mistake in each)
    assert error.place.line == number and line.startswith(f"{number} | ")


@pytest.mark.parametrize(
    ("tail", "column"),
    [
        ('wrong = model(rows=[Row(Door, "shut", "Open", "shut")])', 47),  # not the event of that name
        ('wrong = model(rows=[Row(Door, "shut", "shut", "Open")])', 39),
        ('wrong = model(properties=[Invariant(name="p", says="", then=d.locked, over=[d], follows_from=["p"])])', 95),
    ],
)
def test_a_name_before_the_mistake_is_skipped(tmp_path: Path, tail: str, column: int) -> None:
    error = refused(tmp_path, tail)
    assert error.place.columns is not None and error.place.columns.column == column - 1


def test_of_a_chain_the_last_field_is_marked(tmp_path: Path) -> None:
    """Of ``d.beside.beside.beside``, the first two are known."""
    tail = (
        'wrong = Model("doors", "v", "", [Machine(Door, [], [Attribute("key", Ref(Key))]), Machine(Key, [], [])],\n'
        '    [], [Action("a", [d], [d.key.key.key == d], [], "")], [], [], {})'
    )
    error = refused(tmp_path, 'from schedproof.model.lang import Ref\nKey = Sort("Key", "k")\n' + tail)
    assert error.place.columns is not None and error.place.columns.column == tail.splitlines()[1].index("d.key") + 6


def test_a_name_is_found_anew_after_an_edit(tmp_path: Path) -> None:
    """The place of a name comes from the same text as the line that is shown."""
    refused(tmp_path, 'wrong = model([d.is_("Closed"),\n    d.is_("Opn")])')
    error = refused(tmp_path, 'wrong = model([~d.is_("Opn")])')
    assert marked(error) == '"Opn"'


def test_of_several_lines_the_first_is_shown(tmp_path: Path) -> None:
    error = refused(tmp_path, 'wrong = model(rows=[Row(\n    Door, "open", "Closed", "Open")])')
    assert marked(error) == "Row("


@each_row("case", CASES.values(), ids=CASES.keys())
def test_every_wrong_model_has_an_excerpt(case: Case) -> None:
    with pytest.raises(ModelError) as caught:
        checked(case[0]())
    where, line, carets = caught.value.excerpt.splitlines()
    number, shown = line.split(" | ", 1)
    assert int(number) == caught.value.place.line and where.lstrip().startswith("--> ")
    assert shown.removesuffix("...") in linecache.getline(caught.value.place.file, int(number))
    assert "^" in carets and len(carets) <= len(line)


def test_python_shows_the_excerpt_below_the_message(tmp_path: Path) -> None:
    error = refused(tmp_path, 'wrong = model([d.is_("Opn")])')
    assert "".join(traceback.format_exception_only(error)).endswith(f"{error}\n{error.excerpt}\n")


def test_an_error_of_a_worker_process_keeps_its_excerpt(tmp_path: Path) -> None:
    error = refused(tmp_path, 'wrong = model([d.is_("Opn")])')
    (tmp_path / "doors.py").unlink()
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.excerpt, str(copy), copy.place) == (error.excerpt, str(error), error.place)
    assert copy.__notes__ == [error.excerpt]


def test_a_file_that_is_gone_has_no_excerpt(tmp_path: Path) -> None:
    assert excerpt(str(tmp_path / "gone.py"), 1, Span(1, 0, 1, 3)) == ""


def test_a_line_is_found_anew_after_an_edit(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("first = 1\n")
    assert "first" in excerpt(str(file), 1, None)
    file.write_text("second = 22\n")
    assert "second" in excerpt(str(file), 1, None)


def test_a_long_line_is_shown_around_the_mistake(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("x = [" + "a, " * 500 + "wrong, " + "b, " * 500 + "]\n")
    column = 5 + 1500
    _, line, carets = excerpt(str(file), 1, Span(1, column, 1, column + 5)).splitlines()
    assert line[carets.index("^") :].startswith("wrong") and carets.count("^") == 5
    assert len(line) <= WIDEST + len("1 | ...")


def test_tabs_and_wide_characters_keep_carets_in_place(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    text = '\ta = "漢"\t; wrong\n'
    file.write_text(text, encoding="utf-8")
    column = len(text[: text.index("wrong")].encode())
    _, _, carets = excerpt(str(file), 1, Span(1, column, 1, column + 5)).splitlines()
    assert carets == "  | " + " " * len('a = "') + "  " + " " + "\t" + "  " + "^^^^^"


def test_combining_characters_have_no_width(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    text = "e\u0301 = wrong\n"
    file.write_text(text, encoding="utf-8")
    _, _, carets = excerpt(str(file), 1, Span(1, len("e\u0301 = ".encode()), 1, len(text.encode()) - 1)).splitlines()
    assert carets == "  | " + " " * len("e = ") + "^^^^^"


def test_control_characters_of_a_line_are_not_printed(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("x = '\x1b[31m'\n")
    assert "\x1b" not in excerpt(str(file), 1, Span(1, 4, 1, 10))

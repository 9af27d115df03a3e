"""The words that `docs/words.toml` bans are not in what a reader meets; each fails with what to write instead."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.support.rows import each_row

FILE = Path(__file__).parent.parent.parent / "docs" / "words.py"
SPEC = importlib.util.spec_from_file_location("words", FILE)
words = importlib.util.module_from_spec(SPEC)
sys.modules["words"] = words
SPEC.loader.exec_module(words)
ROWS = words.rules().of("m.py")


def hits(text):
    return [str(hit) for hit in words.hits_in_python("m.py", text, ROWS)]


@each_row(
    ("source", "word", "line"),
    [
        ('"""It is judged.\n\nEach promise."""\n', "judged", 1),
        ('"""It is checked.\n\nEach promise."""\n', "promise", 3),
        ("x = 1\n# its story\n", "story", 2),
        ('raise ValueError("no such topology")\n', "topology", 1),
        ("raise ValueError(f'no such {x} topology')\n", "topology", 1),
        ("def judge_log(): ...\n", "judge in judge_log", 1),
        ("class BrokenPromise: ...\n", "promise in BrokenPromise", 1),
        ("found = 1\n", "found", 1),
    ],
)
def test_a_banned_word_is_found_where_it_stands(source, word, line):
    assert any(hit.startswith(f"m.py:{line}: '{word}': write ") for hit in hits(source))


@pytest.mark.parametrize(
    "source",
    [
        '"""The document: "a promise that stands in quotation marks" is not ours."""\n',
        '"""Code such as `promise` is a name."""\n',
        "history = findings = unfounded = 1\n",
    ],
)
def test_a_quotation_and_other_words_are_left_alone(source):
    assert hits(source) == []


def test_markdown_is_read_as_prose():
    found = [str(hit) for hit in words.hits_in_text("m.md", "one\n\nthe promise", ROWS)]
    assert found == ["m.md:3: 'promise': write property; in prose about a document: the document requires"]


def test_what_is_kept_is_kept_in_its_files_only():
    rows = words.rules()
    for path, expected in (("model/systems/yunikorn/m.py", 0), ("model/systems/beaker/m.py", 1)):
        hits = list(words.hits_in_python(path, 'NAME = "parties-repaired"\n', rows.of(path)))
        assert len(hits) == expected


def test_a_key_of_json_is_kept_and_prose_is_not():
    assert hits('x["promises"] = y["first_departure"]\n') == []
    assert hits('x["its promises"]\n') != []
    assert hits("judged_by = 1\n") == []
    assert hits("judged = promises\n") != []


@pytest.mark.long(one_in=1)
def test_the_whole_repository_keeps_to_the_list():
    assert [str(hit) for hit in words.hits()] == []


def test_files_of_all_kinds_with_text_are_checked():
    endings = {Path(path).suffix for path in words.files()}
    assert endings == {".py", ".md", ".yaml", ".toml", ".pml", ".sh"}
    assert words.LIST not in words.files()


@each_row(
    "before", ["# it's a comment\n", "x = 'a\\'b'\n", 'x = """a "b" \'c\n"""\n', "x = '#' + \"'\"\n", "x = r'\\\\'\n"]
)
def test_a_name_after_comments_and_strings_is_found(before):
    """Modules without a banned word are looked at with less care."""
    assert [hit.word for hit in words.hits_in_python("x.py", f"{before}own = 1\n", words.rules().of("x.py"))] == ["own"]

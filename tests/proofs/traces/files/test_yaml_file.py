"""Errors of a YAML file show its line, with carets below the part that is wrong."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from schedproof.model.lang.excerpt import Span, between
from schedproof.proofs.traces import TraceError
from schedproof.proofs.traces.formats.mapping import read_mapping
from tests.proofs.traces.formats.test_mapping import LOG, MAPPING, checked
from tests.support.rows import each_row


@each_row(
    ("old", "new", "line", "below"),
    [
        ("lines:", "rows:", "rows:", "rows"),
        ("action: allocate", "acton: allocate", "", "acton"),
        ("stutter: true", "stutter: false", "", "false"),
        ("msg == 'tick'", "msg == ", "", '"msg == "'),
        ("names: states}}]\n    Cell", "names: stats}}]\n    Cell", "", "stats"),
        ("system: hived", "system: hived\nsystem: hived", "system: hived", "system"),
        ("system: hived", "system: *hived", "system: *hived", "*hived"),
        ("system: hived", "system: hived\npattern: '(?P<a>'", "pattern: '(?P<a>'", "'(?P<a>'"),
        ("schedproof-mapping: 1", "schedproof-mapping: 2", "schedproof-mapping: 2", "2"),
    ],
)
def test_a_wrong_part_has_carets(tmp_path: Path, old: str, new: str, line: str, below: str) -> None:
    file = tmp_path / "mapping.yaml"
    assert old in MAPPING
    file.write_text(MAPPING.replace(old, new, 1))
    with pytest.raises(TraceError) as refused:
        read_mapping(file)
    place, shown, carets = refused.value.excerpt.splitlines()
    assert place.strip().startswith("--> ") and "mapping.yaml:" in place
    assert line in shown
    start = carets.index("^")
    assert shown[start:].startswith(below) and carets[start:] == "^" * len(below)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ((0, 3), (0, 5), Span(1, 4, 1, 6)),
        ((0, 3), (1, 4), Span(1, 4, 1, 7)),
        ((3, 0), (3, 0), Span(2, 4, 2, 4)),
    ],
)
def test_a_part_ends_with_its_first_line(first: tuple[int, int], last: tuple[int, int], expected: Span) -> None:
    """Columns are bytes. A mark below the last line is the end of that line."""
    marks = [SimpleNamespace(line=line, column=column) for line, column in (first, last)]
    assert between(["é: {b,", "  c}", ""], *marks) == expected


@pytest.mark.parametrize(
    ("old", "new", "below"),
    [
        ("action: allocate", "action: alocate", "alocate"),
        ("objects: {Cell: [gpu0, gpu1]}", "objects: {Cel: [gpu0]}", "Cel"),
    ],
)
def test_a_wrong_name_of_the_model_has_carets(tmp_path: Path, old: str, new: str, below: str) -> None:
    """Also in the header, which is checked as that of a trace is."""
    assert old in MAPPING
    with pytest.raises(TraceError) as refused:
        checked(tmp_path, LOG, MAPPING.replace(old, new, 1))
    shown, carets = refused.value.excerpt.splitlines()[1:]
    assert shown[carets.index("^") :].startswith(below) and carets.count("^") == len(below)


def test_messages_by_name_have_no_path(tmp_path: Path) -> None:
    """What the clients of a server see. The excerpt, which the server shows when it starts, has the path."""
    file = tmp_path / "mapping.yaml"
    file.write_text(MAPPING)
    mapping = read_mapping(file, by_name=True)
    places = [rule.place[0] for rule in mapping.rules] + [query.place[0] for query in mapping.queries]
    assert {mapping.file, mapping.header.file, *places} == {"mapping.yaml"}
    assert str(tmp_path) not in repr(mapping.header.error("wrong; write it", "objects"))
    file.write_text(MAPPING.replace("lines:", "rows:"))
    with pytest.raises(TraceError) as refused:
        read_mapping(file, by_name=True)
    assert str(refused.value).startswith("mapping.yaml, line ") and str(file) in refused.value.excerpt

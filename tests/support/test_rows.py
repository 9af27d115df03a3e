"""A table whose rows are one test loses none of them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.support.rows import SHOWN, each_row


def test_every_row_runs_also_after_one_that_fails() -> None:
    seen = []

    @each_row("number, even", [(1, False), (2, False), (3, True), (4, True)])
    def check(number: int, even: bool) -> None:
        seen.append(number)
        assert (number % 2 == 0) is even, "wrong"

    with pytest.raises(ExceptionGroup, match="2 of 4 rows fail: 2-False, 3-True") as caught:
        check()
    assert seen == [1, 2, 3, 4]
    assert [each.__notes__ for each in caught.value.exceptions] == [["in the row 2-False"], ["in the row 3-True"]]


def test_all_rows_that_fail_are_named_and_few_are_shown() -> None:
    @each_row("number", range(3 * SHOWN), ids=lambda number: f"no{number}")
    def check(number: int) -> None:
        raise ValueError(number)

    with pytest.raises(ExceptionGroup) as caught:
        check()
    assert all(f"no{number}" in caught.value.message for number in range(3 * SHOWN))
    assert len(caught.value.exceptions) == SHOWN


def test_nothing_is_said_of_rows_that_pass() -> None:
    @each_row(("number", "text"), [(1, "1"), (2, "2")], ids=["one", "two"])
    def check(number: int, text: str) -> None:
        assert str(number) == text

    check()


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="tests nothing"):
        each_row("number", [])


def test_rows_and_their_names_are_of_one_number() -> None:
    with pytest.raises(AssertionError, match="a name"):
        each_row("number", [1, 2], ids=["one"])


def test_a_row_has_a_value_for_each_argument() -> None:
    with pytest.raises(AssertionError, match="2 values"):
        each_row("number, text", [(1,)])


def test_an_interrupt_or_a_skip_is_no_row_that_fails() -> None:
    @each_row("number", [1, 2])
    def check(number: int) -> None:
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception):
        check()


def test_two_tables_are_all_pairs() -> None:
    seen = []

    @each_row("first", [1, 2])
    @each_row("second", "ab")
    def check(first: int, second: str) -> None:
        seen.append((first, second))

    check()
    assert seen == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


@each_row("number", [1, 2])
def test_a_row_has_a_folder_patches_and_prints_of_its_own(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert capsys.readouterr().out == ""
    assert not hasattr(inspect, "of_this_test")
    monkeypatch.setattr(inspect, "of_this_test", number, raising=False)
    (tmp_path / "file").open("x").close()
    print("of", number)

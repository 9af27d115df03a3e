"""Every case of a long test has its day, and the default tier loses none to nobody."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.progress import progress_line
from tests.support.rows import each_row
from tests.support.sample import ALL, VARIABLE, left_out, seed_of_today, set_sample, thinned, todays


@each_row("one_in", [1, 2, 5, 7])
@each_row("many", [0, 1, 4, 12])
def test_each_case_has_one_day(many: int, one_in: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for day in range(739_000, 739_000 + one_in):
        monkeypatch.setenv(VARIABLE, str(day))
        drawn += todays(range(many), one_in)
    assert sorted(drawn) == list(range(many))


def test_all_are_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, ALL)
    assert todays(range(9), 4) == list(range(9))


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "-1")
    with pytest.raises(pytest.UsageError, match="SCHEDPROOF_SAMPLE=-1: not a number; write a number, or 'all'"):
        todays(range(9), 4)


def test_the_day_is_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Midnight between the starts of two processes gives them no different tests."""
    monkeypatch.setenv(VARIABLE, "7")
    assert set_sample() == "7"
    monkeypatch.delenv(VARIABLE)
    assert int(set_sample()) > 739_000
    monkeypatch.undo()


def test_a_seed_is_that_of_sample_and_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "7")
    seven = seed_of_today("a")
    assert seven == seed_of_today("a") != seed_of_today("b")
    monkeypatch.setenv(VARIABLE, "8")
    assert seed_of_today("a") != seven


def item(name: str, *marks: pytest.MarkDecorator) -> Any:
    return SimpleNamespace(nodeid=name, iter_markers=lambda of: (m.mark for m in marks if m.name == of))


def test_a_family_is_the_cases_of_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of a family's cases run does not depend on other tests."""
    daily, third = pytest.mark.long(one_in=1), pytest.mark.long(one_in=3)
    others = [item("f[0]"), item("g[0]", daily), item("g[1]", daily, pytest.mark.long(seconds=9))]
    family = [item(f"h[{n}]", third) for n in range(7)]
    monkeypatch.setenv(VARIABLE, "1")
    omitted = [each.nodeid for each in left_out([others[0], *family, *others[1:], item("i[0]", third)])]
    kept = [n for n in range(7) if f"h[{n}]" not in omitted]
    assert kept in ([0, 3, 6], [1, 4], [2, 5]) and set(omitted) <= {*(f"h[{n}]" for n in range(7)), "i[0]"}
    assert omitted[: 7 - len(kept)] == [each.nodeid for each in left_out(family)]


def test_a_quarter_runs_where_no_share_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [item(f"f[{n}]", pytest.mark.long(seconds=n)) for n in range(8)]
    kept = []
    for day in "1234":
        monkeypatch.setenv(VARIABLE, day)
        omitted = left_out(cases)
        assert len(omitted) == 6
        kept += [each.nodeid for each in cases if each not in omitted]
    assert sorted(kept) == [each.nodeid for each in cases]


@pytest.mark.parametrize("cases", [range(10), [pytest.param(n, id=f"case {n}") for n in range(10)]])
def test_what_is_thinned_out_is_long(cases: Any) -> None:
    made = thinned(cases, 4, 2, first=1)
    assert len(made) == 10
    for n, (case, thin) in enumerate(zip(cases, made, strict=True)):
        if n % 4 == 1:
            assert thin is case
        else:
            assert [mark.kwargs for mark in thin.marks if mark.name == "long"] == [{"one_in": 2}]
            assert thin.values == (n,) and thin.id == getattr(case, "id", None)


@pytest.mark.parametrize(("cases", "days"), [(2, 4), (4, 8), (8, 16), (16, 32), (90, 32)])
def test_few_cases_wait_for_few_days(cases: int, days: int) -> None:
    *_, last = thinned(range(cases), 2)
    assert [mark.kwargs for mark in last.marks] == [{"one_in": days}]


def test_several_arguments_stay_several() -> None:
    assert [getattr(each, "values", each) for each in thinned([(1, "a"), (2, "b")], 2)] == [(1, "a"), (2, "b")]


def test_a_line_of_progress() -> None:
    assert progress_line(1_500, 6_000, 2, 40.0) == (
        "  25%  1,500 of 6,000 tests, 2 failed, after 40 s; about 120 s are left"
    )


def test_families_of_one_case_share_the_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """If all had their case on the same day, that day would take far longer than the others."""
    families = [item(f"f{n}", pytest.mark.long(one_in=2)) for n in range(100)]
    monkeypatch.setenv(VARIABLE, "7")
    odd = left_out(families)
    monkeypatch.setenv(VARIABLE, "8")
    even = left_out(families)
    assert {each.nodeid for each in odd} ^ {each.nodeid for each in even} == {each.nodeid for each in families}
    assert 30 < len(odd) < 70

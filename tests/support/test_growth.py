from __future__ import annotations

import time

import pytest

from tests.support.growth import assert_grows_less


class Clock:
    """Processor time that only work takes, and now and then what disturbs it."""

    def __init__(self, power: int, disturbed: int) -> None:
        self.now, self.power, self.disturbed = 0.0, power, disturbed

    def work(self, size: int) -> None:
        if size == 8:
            self.disturbed -= 1
        self.now += size**self.power * (100 if size == 8 and self.disturbed >= 0 else 1)


@pytest.mark.parametrize(("power", "disturbed", "passes"), [(1, 0, True), (2, 0, False), (1, 2, True), (1, 3, False)])
def test_one_try_of_three_must_grow_less(
    power: int, disturbed: int, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(power, disturbed)
    monkeypatch.setattr(time, "process_time", lambda: clock.now)
    if passes:
        assert_grows_less(clock.work, 1, 8, than=24)
    else:
        with pytest.raises(AssertionError, match=r"8 take (64|800)\.0 times as long as 1, not less than 24"):
            assert_grows_less(clock.work, 1, 8, than=24)


def test_short_work_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, runs = Clock(1, 0), list[int]()
    monkeypatch.setattr(time, "process_time", lambda: clock.now / 1024)
    assert_grows_less(lambda size: (runs.append(size), clock.work(size)), 1, 8, than=24)
    assert runs == [8] * 2 + [1] * 11

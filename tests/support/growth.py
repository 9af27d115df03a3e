"""How processor time grows with what is given. Machines differ, and other work slows them: only ratios of one run count."""

from __future__ import annotations

import time
from collections.abc import Callable


def assert_grows_less(work: Callable[[int], object], few: int, many: int, than: float, tries: int = 3) -> None:
    """Raises AssertionError if ``many`` take ``than`` times the processor time of ``few``, or more, in each of some tries."""
    assert few < many
    ratios = []
    for _ in range(tries):
        ratios.append(seconds(work, many) / seconds(work, few))
        if ratios[-1] < than:
            return
    raise AssertionError(f"{many} take {min(ratios):.1f} times as long as {few}, not less than {than}")


def seconds(work: Callable[[int], object], size: int) -> float:
    """The processor time of the work in seconds; of several runs the mean if one is too short to be measured."""
    runs, begun = 0, time.process_time()
    while not runs or time.process_time() - begun < 0.01:
        work(size)
        runs += 1
    return (time.process_time() - begun) / runs

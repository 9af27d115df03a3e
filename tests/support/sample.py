"""Which cases run: all, or the share of a tier.

The default tier has the same cases every day. Of a family of long cases, ``@pytest.mark.long`` runs a quarter, another one each day, so
that within four days all have run; ``@pytest.mark.long(one_in=16)`` a sixteenth, ``one_in=1`` all. ``SCHEDPROOF_SAMPLE`` is the day, a
number; ``all`` runs all.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

import pytest

VARIABLE = "SCHEDPROOF_SAMPLE"
ALL = "all"
SHARE = 4  # one in so many of the long cases whose mark has no `one_in`
MOST_DAYS = 32  # within so many days each of the cases runs that were left out of the default tier
Case = TypeVar("Case")


def set_sample() -> str:
    """Sets the sample to today's where it is not set: processes that start later, also after midnight, have the same one."""
    return os.environ.setdefault(VARIABLE, str(datetime.now(UTC).toordinal()))


def todays(cases: Iterable[Case], one_in: int) -> list[Case]:
    """Returns today's share of ``cases``; of fewer than ``one_in`` there are days without any."""
    sample = os.environ.get(VARIABLE, ALL)
    if sample == ALL:
        return list(cases)
    if not sample.isdecimal():
        raise pytest.UsageError(f"{VARIABLE}={sample}: not a number; write a number, or {ALL!r} for all cases")
    return list(islice(cases, int(sample) % one_in, None, one_in))


def seed_of_today(purpose: str) -> int:
    """Returns a seed for what a test draws at random: the same for one sample and purpose."""
    return zlib.crc32(f"{purpose} {os.environ.get(VARIABLE, ALL)}".encode())


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Returns the long tests that are not in today's share of their family: the cases of one function with one mark."""
    families: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if marks := list(item.iter_markers("long")):
            one_in = next((mark.kwargs["one_in"] for mark in marks if "one_in" in mark.kwargs), SHARE)
            families[item.nodeid.partition("[")[0], one_in].append(item)
    return [item for (family, one_in), cases in families.items() for item in _rest(family, cases, one_in)]


def _rest(family: str, cases: list[pytest.Item], one_in: int) -> list[pytest.Item]:
    # Families begin on different days, so that all days take about the same time: many have one case.
    first = zlib.crc32(family.encode()) % one_in
    kept = {item.nodeid for item in todays([*[None] * first, *cases], one_in) if item is not None}
    return [item for item in cases if item.nodeid not in kept]


def thinned(cases: Iterable[Any], default_one_in: int, long_one_in: int | None = None, first: int = 0) -> list[Any]:
    """Returns parameters of which the default tier has the first of each ``default_one_in``, and the long tier the others.

    Args:
        cases: parameters of one argument, tuples of several, or ``pytest.param``.
        default_one_in: the default tier has one in so many.
        long_one_in: of the others, so many days have one each. Without it about one of them runs every four days,
            and each within :data:`MOST_DAYS`.
        first: the number of the first case in the default tier.
    """
    cases = list(cases)
    others = sum(n % default_one_in != first % default_one_in for n in range(len(cases)))
    mark = pytest.mark.long(one_in=long_one_in or min(MOST_DAYS, SHARE * others))
    return [
        case if n % default_one_in == first % default_one_in else long_case(case, mark) for n, case in enumerate(cases)
    ]


def long_case(case: Any, mark: pytest.MarkDecorator) -> Any:
    """Returns the parameters ``case`` with one mark more."""
    if hasattr(case, "marks"):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, mark])
    return pytest.param(*(case if type(case) is tuple else (case,)), marks=mark)

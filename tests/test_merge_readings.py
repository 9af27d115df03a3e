"""What the findings rest on: each reading of the two copies, read the other way, in all situations.

That the lists are right is what exploration says; that they are to be expected is argued in each reading's words: what nobody
removes stays, what stays disagrees.
"""

from __future__ import annotations

import pytest
from schedproof.model.lang import Reading
from schedproof.model.systems import YUNIKORN_MERGE
from schedproof.model.yunikorn_merge import TWO_COPY
from schedproof.model.yunikorn_merge.readings import READINGS
from schedproof.proofs.examine import examine
from schedproof.proofs.verdict import Verdict

SEEN_BY_DEFAULT = {"a-release-is-not-for-proposals", "partitions-are-removed-at-any-time"}


def broken_if_read_otherwise(reading: Reading) -> set[str]:
    """What the two copies break if the sentence is read the other way."""
    other = TWO_COPY.amend("read-otherwise", reading.otherwise, [reading.change], TWO_COPY.refuted)
    results = examine(other, {})
    assert {result.verdict for result in results} == {Verdict.PROVED, Verdict.REFUTED}
    return {result.name for result in results if result.verdict is Verdict.REFUTED}


@pytest.mark.parametrize(
    "reading",
    [pytest.param(r, id=r.name, marks=[] if r.name in SEEN_BY_DEFAULT else [pytest.mark.long]) for r in READINGS],
)
def test_read_otherwise_exactly_what_it_says_is_different(reading: Reading) -> None:
    assert broken_if_read_otherwise(reading) == TWO_COPY.refuted - {*reading.rests} | {*reading.breaks}


def test_a_reading_is_of_what_the_model_keeps_and_breaks() -> None:
    kept = {p.name for p in TWO_COPY.properties} - TWO_COPY.refuted
    for reading in READINGS:
        assert set(reading.rests) <= TWO_COPY.refuted and set(reading.breaks) <= kept, reading.name


def test_yunikorn_169_itself_rests_on_no_reading() -> None:
    assert YUNIKORN_MERGE.readings == READINGS
    assert "accepted-allocations-are-confirmed" not in {name for r in READINGS for name in r.rests}

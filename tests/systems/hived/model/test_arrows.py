"""The arrows of the two figures, which the document has as bitmaps only, beside the ledger and the facts."""

from __future__ import annotations

import re

import pytest

from schedproof.model.registry.discovery import systems
from tests.support.figures import Arrow, arrows_of, astray, drawn
from tests.support.needs import needs_shared
from tests.support.places import SHARED

HIVED = systems()["hived"]

# Read by eye in the pictures AG-state-machine.png and cell-state-machine.png of microsoft/hivedscheduler, arrow by arrow.
GROUP = """
    e0: Pending -> Allocated
    e1: Pending -> Preempting
    e2: Preempting -> Allocated
    e3: Allocated -> Deleted
    e4: Being preempted -> Deleted
    e5 or ec: Preempting -> Pending
    e6: Allocated -> Being preempted
    e7: Preempting -> Deleted
    e8: Pending -> Deleted
    ec: Being preempted -> Allocated
"""
CELL = """
    e0: Free -> Used
    e1: Used -> Free
    e2: Used -> Reserving
    e3: Reserving -> Reserving
    e4 or ec: Reserving -> Used
    e5: Free -> Reserved
    e6: Reserved -> Reserved
    e7 or ec: Reserved -> Free
    e8: Reserved -> Used
    e9: Reserving -> Reserved
"""
FIGURES = {14: ("PG", GROUP), 138: ("Cell", CELL)}


def test_the_ledger_has_the_arrows_of_the_figures() -> None:
    assert arrows_of(HIVED) == {line: drawn(figure) for line, (_, figure) in FIGURES.items()}


def test_the_rows_of_an_arrow_lead_from_its_source_to_its_target() -> None:
    assert astray(HIVED, lambda name, _: name.title().replace(" ", "")) == []


@needs_shared
@pytest.mark.parametrize("line", FIGURES)
def test_the_facts_list_these_arrows(line: int) -> None:
    name, figure = FIGURES[line]
    text = (SHARED / "facts" / "hived.md").read_text("utf-8").partition("arrow by arrow")[2].partition("###")[0]
    words = " ".join(re.split(r"^\w+: ", text.partition(f"\n{name}: ")[2], flags=re.MULTILINE)[0].split())
    listed = re.findall(r"([\w ]+?) (\w+)->(\w+)", words.replace("BeingPreempted", "Being_preempted"))
    assert sorted(Arrow(a.replace("_", " "), b.replace("_", " "), e.strip()) for e, a, b in listed) == drawn(figure)

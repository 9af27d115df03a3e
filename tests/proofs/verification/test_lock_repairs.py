"""Defects of locks: what a repair in a lock file says is wrong, with the checks that fail without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedproof.model.lang import Reading
from schedproof.model.registry.errors import UserError
from schedproof.model.registry.system import LockFile, System
from schedproof.proofs.verification.defect import Defect
from schedproof.proofs.verification.defects import defects
from schedproof.proofs.verification.findings import findings
from tests.proofs.verification.test_defects import DOORS

AS_WRITTEN = """
document: doors.md
classes:
  House: {}
  Door: {in: House}
  Shed: {}
order: [House > Shed]
channels: {news: 1}
operations:
  paint(House house):
    - wlock house:
        - each Door door in house:
            - wlock door: []
  report(Door door):
    - wlock door:
        - send news
        - send news
objects: {house: House, door: Door in house}
threads: {painter: [paint(house)], reporter: [report(door)]}
refuted: [paint-follows-the-order, threads-follow-the-order, nothing-is-held-while-waiting, no-deadlock]
"""
REPAIRED = """
amends: as-written.yaml
order: [House > Door in it]
channels: {{news: unbounded}}
repairs:
  A house comes before its doors.:
    name: doors-under-houses
    wrong: Nothing allows a door under its house.
    shown: threads-follow-the-order
    checks: [paint-follows-the-order, threads-follow-the-order]
{more}
"""
ROOM = """
  There is room.:
    wrong: A door is held while somebody waits.
    rests: [news-can-wait]
    checks: [threads-follow-the-order, nothing-is-held-while-waiting]
"""
NEWS = Reading(
    "news-can-wait",
    1,
    question="Is there always room?",
    read="There may be no room.",
    otherwise="There is room.",
    why="The line does not mention room.",
)


def doors(folder: Path, more: str = ROOM) -> System:
    """The doors of ``test_defects`` with locks, as written and repaired, and no properties of their own."""
    files = {"as-written": AS_WRITTEN, "repaired": REPAIRED.format(more=more)}
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    model = replace(DOORS, properties=[], refuted=frozenset())
    locks = {"as-written": [LockFile(name, folder / f"{name}.yaml") for name in files]}
    known = {"interpretations": (NEWS,)}
    return System("doors", "Doors", {"as-written": model}, "as-written", known.get, locks)  # type: ignore[arg-type]


def summary(some: list[Defect]) -> dict[str, tuple[str, list[str]]]:
    """Defect -> what is wrong, and the checks."""
    return {each.name: (each.wrong, [f.property.removeprefix("as-written.") for f in each.findings]) for each in some}


def test_each_repair_is_a_defect_and_each_check_is_in_one(tmp_path: Path) -> None:
    some = defects(doors(tmp_path))
    assert summary(some) == {
        "doors-under-houses": (
            "Nothing allows a door under its house.",
            ["threads-follow-the-order", "paint-follows-the-order"],
        ),
        "as-written.nothing-is-held-while-waiting": (
            "A door is held while somebody waits.",
            ["nothing-is-held-while-waiting"],
        ),
        "as-written.no-deadlock": ("", ["no-deadlock"]),
    }
    by_name = {each.name: each for each in some}
    first = by_name["doors-under-houses"]
    assert first.repair == "A house comes before its doors. (repaired)"
    assert first.left == "Another repair is needed as well for as-written.threads-follow-the-order: There is room."
    assert first.interpretations == ()
    assert by_name["as-written.nothing-is-held-while-waiting"].interpretations == (NEWS,)
    assert by_name["as-written.no-deadlock"].repair == "none is described"


def test_a_finding_has_the_reasons_of_all_its_repairs(tmp_path: Path) -> None:
    (finding,) = [f for f in findings(doors(tmp_path)) if f.property == "as-written.threads-follow-the-order"]
    assert finding.repair == "A house comes before its doors. (repaired) And: There is room. (repaired)"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("  more: no-dedlock", "repaired.yaml:11: unknown check 'no-dedlock'; did you mean no-deadlock?"),
        (
            "  more: {checks: no-deadlock, rests: [news-wait]}",
            "repaired.yaml:11: unknown interpretation 'news-wait'; did you mean news-can-wait?",
        ),
    ],
)
def test_what_a_repair_names_exists(tmp_path: Path, more: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        defects(doors(tmp_path, more))
    assert says in str(error.value)

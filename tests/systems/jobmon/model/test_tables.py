"""The tables that run against the facts, section 2, read there move by move."""

from __future__ import annotations

import re

import pytest

from schedproof.model.lang import Row
from schedproof.model.systems.jobmon.shipped import tables as shipped
from tests.support.needs import needs_shared
from tests.support.places import SHARED

FACTS = SHARED / "facts" / "jobmon.md"

TABLES = {
    # section, table, states by letter, untimely moves, how many moves the facts count
    "2.1": (shipped.TASK_INSTANCE_TABLE, shipped.TASK_INSTANCE_STATES, shipped.TASK_INSTANCE_UNTIMELY, 25, 12),
    "2.2": (shipped.TASK_TABLE, shipped.TASK_STATES, [], 14, 0),
    "2.3": (shipped.WORKFLOW_RUN_TABLE, shipped.WORKFLOW_RUN_STATES, shipped.WORKFLOW_RUN_UNTIMELY, 18, 2),
    "2.4": (shipped.WORKFLOW_TABLE, shipped.WORKFLOW_STATES, shipped.WORKFLOW_UNTIMELY, 15, 1),
}


def section(number: str) -> str:
    """The text of a section of the facts."""
    return FACTS.read_text(encoding="utf-8").split(f"### {number} ")[1].split("\n### ")[0]


def moves(rows: list[Row], states: dict[str, str]) -> list[str]:
    letters = {name: letter for letter, name in states.items()}
    return sorted(f"{letters[row.source]}->{letters[row.target]}" for row in rows)


@needs_shared
@pytest.mark.parametrize("number", TABLES)
def test_a_table_is_the_facts(number: str) -> None:
    table, states, untimely, *_ = TABLES[number]
    text = section(number)
    allowed, _, late = text.partition("untimely")
    if number == "2.2":
        allowed = text.split("```")[1]  # the next table is of a branch that is not released
    of_the_facts = sorted(set(re.findall(r"\b([A-Z]->[A-Z])\b", allowed)))
    assert moves(table, states) == of_the_facts
    assert sorted(f"{move[0]}->{move[2]}" for move in untimely) == sorted(
        re.findall(r"\b([A-Z]->[A-Z])\b", late.split("Note")[0].split("Initial")[0].split("(Q")[0])
    )


@pytest.mark.parametrize("number", TABLES)
def test_as_many_moves_as_the_facts_count(number: str) -> None:
    table, _, untimely, many, late = TABLES[number]
    assert (len(table), len(untimely)) == (many, late)


@pytest.mark.parametrize("number", TABLES)
def test_an_event_has_one_target_for_each_state(number: str) -> None:
    table = TABLES[number][0]
    assert len({(row.event, row.source) for row in table}) == len(table)


@needs_shared
def test_the_states_are_those_of_the_facts() -> None:
    """Their letters; of the task instance B is a constant only."""
    columns = [list(line.split("|")[1:5]) for line in section_2().splitlines() if line.startswith("| Q queued")]
    for column, states in zip(columns[0], (TABLES[n][1] for n in ("2.1", "2.2", "2.3", "2.4")), strict=True):
        named = re.findall(r"(?:^|, )\(?([A-Z]) ", column.strip())
        assert set(named) - {"B"} == set(states) - {"B"}


def section_2() -> str:
    return FACTS.read_text(encoding="utf-8").split("## 2. ")[1].split("\n### ")[0]


@needs_shared
def test_a_workflow_run_makes_of_its_workflow_what_the_facts_say() -> None:
    runs, flows = shipped.WORKFLOW_RUN_STATES, shipped.WORKFLOW_STATES
    coupling = {runs[a]: flows[b] for a, b in re.findall(r"\b([A-Z])=>([A-Z])\b", section("2.5"))}
    assert coupling == shipped.COUPLING

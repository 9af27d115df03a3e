"""The universal machine and its sub-machines against document and figures, read there line by line (facts 1.1 to 1.4)."""

from __future__ import annotations

import re

import pytest

from schedproof.model.systems.jobmon import submachines, universal
from schedproof.model.systems.jobmon.sorts import TaskInstance
from schedproof.model.systems.jobmon.submachines import By, SubMachine
from schedproof.model.systems.jobmon.universal import Agent
from tests.support.needs import needs_shared
from tests.support.places import SHARED

FACTS = SHARED / "facts" / "jobmon.md"
DOCUMENT = SHARED / "documents" / "jobmon-finite-state-machines.rst"
LETTERS = {state.name: state.name[0] for state in universal.STATES} | {"Registering": "G"}
ROWS = universal.table(TaskInstance)


def section(number: str) -> str:
    """The figure of a section of the facts."""
    return FACTS.read_text(encoding="utf-8").split(f"### {number} ")[1].split("```")[1]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return ["", *DOCUMENT.read_text(encoding="utf-8").splitlines()]


@needs_shared
def test_the_states_are_described_at_their_lines(lines: list[str]) -> None:
    for state in universal.STATES:
        assert state.line is not None
        assert lines[state.line].startswith(f"- {state.name.upper()} ({LETTERS[state.name]}) = "), state.name
    described = [line for line in lines if re.match(r"- [A-Z]+ \([A-Z]\) = ", line)]
    assert len(described) == len(universal.STATES) == 10


@needs_shared
def test_the_moves_are_those_of_the_figure() -> None:
    """Queued is drawn twice there; and from Halted back to Registering the way leads over an entry of its own."""
    text = section("1.2").replace("(web copy)", "").replace("H -> [Resume / Adjust Resources] -> G", "H -> G")
    arrows = re.findall(r"^([A-Z]) -> ([A-Z])\b", text, re.MULTILINE)
    assert sorted((LETTERS[row.source], LETTERS[row.target]) for row in ROWS) == sorted({*arrows})


@needs_shared
def test_control_is_passed_on_as_in_the_deployment_flow() -> None:
    """What the owner of a signal and who takes it up are to each other; Queued is drawn in the server's box, too."""
    arrows = re.findall(r"^(\w+) -> ([\w-]+) +([A-Z_]+)$", section("1.1"), re.MULTILINE)
    ends = {"end-red": None, "end-green": None}
    names = {agent.capitalize(): agent for agent in Agent}
    assert [(names[a], ends[b] if b in ends else names[b], signal) for a, b, signal in arrows] == [
        *universal.DEPLOYMENT_FLOW
    ]
    flow = {signal: (a, b) for a, b, signal in universal.DEPLOYMENT_FLOW}
    assert flow["QUEUED"] == (universal.OWNER["Queued"], universal.TAKEN_UP_BY["Queued"])
    assert flow["LAUNCHED"] == (universal.OWNER["Launched"], universal.TAKEN_UP_BY["Launched"])
    assert flow["HALTED"][1] == universal.TAKEN_UP_BY["Halted"]


def test_only_the_owner_or_whom_a_signal_is_for_moves_an_object() -> None:
    """The owner of a move's target has control then: it had it before, or a signal or an error passed it on."""
    for row in ROWS:
        before, after = universal.OWNER[row.source], universal.OWNER[row.target]
        passed = universal.TAKEN_UP_BY.get(row.source) is after or after is Agent.SERVER or row.event == "retry"
        assert before is after or passed, row.name


@needs_shared
def test_the_roles_are_those_of_the_document(lines: list[str]) -> None:
    for roles, first in ((universal.TASK_ROLES, 87), (universal.WORKFLOW_ROLES, 161)):
        for line, (agent, names) in zip(lines[first : first + 3], roles.items(), strict=True):
            who, _, what = line.removeprefix("- ").partition(" -> ")
            assert who.removesuffix(" NODE").lower() == agent
            # line 161 spells it DISTRIBUTER
            in_line = [] if what == "N/A" else what.replace("BUTER", "BUTOR").lower().split(" + ")
            assert in_line == [str(name) for name in names]


def boxes(number: str) -> dict[str, str]:
    """What the facts say of each box of a figure."""
    text = section(number).split("outside boxes")[0]
    return {part[0]: part for part in re.split(r"^box ", text, flags=re.MULTILINE)[1:]}


@needs_shared
@pytest.mark.parametrize(
    ("number", "machines"), [("1.3", submachines.TASK_INSTANCE), ("1.4", submachines.WORKFLOW_RUN)]
)
def test_a_sub_machine_is_the_figures_box(number: str, machines: list[SubMachine]) -> None:
    box_texts = boxes(number)
    for machine in machines:
        text = " ".join(box_texts[LETTERS[machine.inside]].split())
        assert f'"{machine.title}"' in text
        # Beside a letter there can be the state's name, in quotes or not.
        text = re.sub(r'"C/H: resume"', "C/H", text)
        text = re.sub(r'([A-Z]) "[^"]+"', r"\1", text)
        text = re.sub(r"\b([A-Z]) (Registered|Bound|Aborted|Instantiated|Batch Executor|Halted)\b", r"\1", text)
        arrows = [
            (source, target, (by or "main").lower())
            for source, target, by in re.findall(r"\b(C/H|[A-Z]) -> (C/H|[A-Z])(?: (main|CLIENT|RECONCILER))?", text)
        ]
        moves = [(move.source, move.target, str(move.by)) for move in machine.moves]
        assert [m for m in moves if m[0] != "C/H"] == [a for a in arrows if a[0] != "C/H"], machine.inside
        if ("R", "C/H", "client") in moves:
            assert "twice: once main (solid), once RECONCILER (dashed)" in text
            assert [m for m in moves if m[0] == "C/H"] == [("C/H", "H", "main"), ("C/H", "H", "reconciler")]


def test_a_sub_machine_ends_in_signals_errors_or_done() -> None:
    for machine in (*submachines.TASK_INSTANCE, *submachines.WORKFLOW_RUN):
        first = next(iter(machine.states))
        reached = {first, *(move.target for move in machine.moves)}
        assert reached == set(machine.states)
        left = {move.source for move in machine.moves}
        assert set(machine.states) - left <= machine.signals | machine.errors | {"D"}
        assert machine.signals.isdisjoint(machine.errors)


def test_others_set_states_of_the_owners_box() -> None:
    """So a state has not one owner only: the prose says that each deployment unit has control of its own (line 46)."""
    task = {(m.inside, move.by) for m in submachines.TASK_INSTANCE for move in m.moves if move.by is not By.MAIN}
    assert task == {
        ("Instantiating", By.RECONCILER),
        ("Instantiating", By.CLIENT),
        ("Running", By.RECONCILER),
        ("Running", By.CLIENT),
    }

"""The models of Jobmon as it runs and repaired beside the facts' tables, the document's words, and their manifests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from schedproof.model.jobmon import REPAIRED, SHIPPED
from schedproof.model.jobmon.shipped import client, tables
from schedproof.model.jobmon.shipped.situations import SITUATIONS
from schedproof.model.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun
from schedproof.model.lang import Model, Row, Sort
from schedproof.model.semantics import Stepper
from schedproof.model.semantics.instance import Instance, fitted
from schedproof.model.systems import SYSTEMS
from schedproof.proofs.examine import examine
from schedproof.proofs.explore import explore
from schedproof.proofs.findings import findings
from schedproof.proofs.verdict import Result, Verdict

DOCUMENT = Path(__file__).parents[2] / "shared" / "documents" / "jobmon-finite-state-machines.rst"
VARIANTS = [SHIPPED, REPAIRED]
OF_THE_FACTS = {
    TaskInstance: tables.TASK_INSTANCE_TABLE,
    Task: tables.TASK_TABLE,
    WorkflowRun: tables.WORKFLOW_RUN_TABLE,
    Workflow: tables.WORKFLOW_TABLE,
}


def moves(rows: list[Row]) -> set[tuple[str, str]]:
    return {(row.source, row.target) for row in rows}


# --- The tables of the model against those of the facts ---------------------------------------------------------------------

PAST_THE_TABLE = {
    # Moves of the model that the server's tables do not have, by what moves so.
    TaskInstance: {
        "queue": "an instance begins in Queued (3.1)",
        "end_at_once": "a resume writes Q, I -> F (3.5)",
        "instantiate": "a bulk update that does not look at what the instance is (3.1)",
    },
    Task: {"reset": "a resume writes G (3.5)"},
    WorkflowRun: {"register": "a run begins in Registered (3.5)"},
    Workflow: {
        "write_aborted": "raw SQL of the reaper (3.4)",
        "write_failed": "raw SQL of the reaper (3.4)",
        "write_halted": "raw SQL of the reaper (3.4)",
        "write_done": "the reaper repairs a workflow (3.4)",
    },
}


@pytest.mark.parametrize("sort", OF_THE_FACTS, ids=lambda sort: sort.name)
def test_what_moves_is_in_the_facts_table_or_said_to_be_written_past_it(sort: Sort) -> None:
    """A task that errs passes through ErrorRecoverable within a transaction: there, two moves are one."""
    table = moves(OF_THE_FACTS[sort])
    through = {(a, c) for a, b in table for d, c in table if b == d == "ErrorRecoverable"} if sort is Task else set()
    beyond = {
        row.event
        for row in SHIPPED.table(sort)
        if row.source != row.target and (row.source, row.target) not in table | through
    }
    assert beyond == set(PAST_THE_TABLE[sort])


@pytest.mark.parametrize("sort", OF_THE_FACTS, ids=lambda sort: sort.name)
def test_every_move_of_the_facts_is_in_the_model(sort: Sort) -> None:
    mine, table = moves(list(SHIPPED.table(sort))), moves(OF_THE_FACTS[sort])
    if sort is not Task:
        assert table <= mine
        return
    within = {move for move in table if "ErrorRecoverable" in move}
    assert table - within <= mine
    # E -> Q was how a retry went until 2022 (3.2)
    assert within - parts_of_paths(mine) == {("ErrorRecoverable", "Queued")}


def parts_of_paths(mine: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The moves to and from ErrorRecoverable that moves of the model are made of."""
    ends = ("AdjustingResources", "Registering", "ErrorFatal")
    by_error = {
        (row.source, row.target) for row in SHIPPED.table(Task) if row.event in ("adjust", "retry", "give_up")
    }
    assert by_error <= mine and {target for _, target in by_error} == set(ends)
    return {(source, "ErrorRecoverable") for source, _ in by_error} | {
        ("ErrorRecoverable", target) for _, target in by_error
    }


def test_runs_and_workflows_are_coupled_as_the_facts_say() -> None:
    """But for Aborted, which only the reaper brings about, and for a workflow that is in Registering already (G -> G)."""
    to = {row.event: row.target for row in tables.WORKFLOW_RUN_TABLE}
    flow = {row.event: row.target for row in tables.WORKFLOW_TABLE}
    found = {to[event]: flow[workflow] for event, workflow in client.COUPLED.items()}
    assert tables.COUPLING == found | {"Aborted": "Aborted", "Linking": "Registering"}
    assert flow["register_again"] == "Registering"


# --- What fires -------------------------------------------------------------------------------------------------------------

NOBODY_ASKS = {
    "Task.launch": set(),
    # a resume writes F where the instance has not been launched (3.5): K is for what is Launched or runs
    "TaskInstance.be_told_to_die": {"Queued", "Instantiated"},
    # the environment of a worker (2.1) is not modelled
    "TaskInstance.end": {"Launched"},
    # what is Launched is lost by its heartbeat only: the distributor asks for the word of what is Triaging (3.1)
    "TaskInstance.vanish": {"Launched", "Running"},
    "TaskInstance.run_out_of_resources": {"Launched"},
    # the reaper writes it (3.4)
    "WorkflowRun.abort": {"Linking"},
    "Workflow.abort": {"Registering"},
}


@cache
def fired(variant: str) -> frozenset[str]:
    """The rows that some step of some situation takes."""
    [model] = [model for model in VARIANTS if model.variant == variant]
    found: set[str] = set()
    for situation in SITUATIONS:
        rigid = situation.rigid
        instance = Instance(model, fitted(dict.fromkeys((m.sort.name for m in model.machines), 9), rigid), rigid)
        explored = explore(instance, symmetry=False)
        stepper = Stepper(instance)
        for state in explored.states:
            for step in stepper.steps(state):
                found |= rows_of(instance, state, step)
    return frozenset(found)

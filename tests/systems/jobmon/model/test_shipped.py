"""The models of Jobmon as it runs and repaired beside the facts' tables, the document's words, and their manifests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from schedproof.model.lang import AlwaysCanReach, Invariant, Model, Row, Sort, StepInvariant
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import State, Step
from schedproof.model.semantics.instance import Instance, fitted
from schedproof.model.systems.jobmon import REPAIRED, SHIPPED
from schedproof.model.systems.jobmon.repaired.variant import WHAT_IS_TO_END_IS_MARKED
from schedproof.model.systems.jobmon.shipped import couplings, tables
from schedproof.model.systems.jobmon.shipped.configurations import CONFIGURATIONS, Configuration
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.verdict import Result, Verdict
from schedproof.proofs.verification.findings import findings, repair_of
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned
from tests.systems.jobmon.model.partly_repaired import GREEDY, HUNGRY, LATE, PLACES, RUNS, SMALL

DOCUMENT = SHARED / "documents" / "jobmon-finite-state-machines.rst"
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
def test_what_moves_is_in_the_facts_or_said_to_be_past_them(sort: Sort) -> None:
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
    of_the_model, table = moves(list(SHIPPED.table(sort))), moves(OF_THE_FACTS[sort])
    if sort is not Task:
        assert table <= of_the_model
        return
    within = {move for move in table if "ErrorRecoverable" in move}
    assert table - within <= of_the_model
    # E -> Q was how a retry went until 2022 (3.2)
    assert within - parts_of_paths(of_the_model) == {("ErrorRecoverable", "Queued")}


def parts_of_paths(of_the_model: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The moves to and from ErrorRecoverable that moves of the model are made of."""
    ends = ("AdjustingResources", "Registering", "ErrorFatal")
    by_error = {(row.source, row.target) for row in SHIPPED.table(Task) if row.event in ("adjust", "retry", "give_up")}
    assert by_error <= of_the_model and {target for _, target in by_error} == set(ends)
    return {(source, "ErrorRecoverable") for source, _ in by_error} | {
        ("ErrorRecoverable", target) for _, target in by_error
    }


def test_runs_and_workflows_are_coupled_as_the_facts_say() -> None:
    """But for Aborted, which only the reaper brings about, and for a workflow that is in Registering already (G -> G)."""
    to = {row.event: row.target for row in tables.WORKFLOW_RUN_TABLE}
    flow = {row.event: row.target for row in tables.WORKFLOW_TABLE}
    coupling = {to[event]: flow[workflow] for event, workflow in couplings.COUPLED.items()}
    assert coupling | {"Aborted": "Aborted", "Linking": "Registering"} == tables.COUPLING
    assert flow["register_again"] == "Registering"


# --- What fires -------------------------------------------------------------------------------------------------------------

BY_HEARTBEAT = "what is Launched is lost by its heartbeat only; word is asked of what is Triaging (3.1)"
NOT_TIMELY = "what runs is triaged first (3.1)"
REAPED = "only the reaper brings it about, in its own way (3.4)"
ANY_WORKFLOW = "the reaper writes whatever the workflow is (3.4): rows for all states, though it finds those only that go with the run"
FLOWS = {
    # what the reaper finds a workflow in
    "write_aborted": ("Registering",),
    "write_failed": ("Running",),
    "write_halted": ("Queued", "Running"),
}
NOBODY_ASKS: dict[str, dict[str, str]] = {
    "shipped": {
        "TaskInstance.vanish from Launched": BY_HEARTBEAT,
        "TaskInstance.run_out_of_resources from Launched": BY_HEARTBEAT,
        "TaskInstance.vanish from Running": NOT_TIMELY,
        "WorkflowRun.abort from Linking": REAPED,
        **dict.fromkeys(
            (f"TaskInstance.be_told_to_die from {now}" for now in ("Queued", "Instantiated")),
            "these a resume writes F (3.5): K is for what is Launched or runs",
        ),
        "TaskInstance.end from Launched": "the environment of a worker (2.1) is left out",
        "Workflow.abort from Registering": REAPED,
        **{
            f"Workflow.{event} from {now}": ANY_WORKFLOW
            for event, states in FLOWS.items()
            for now in tables.WORKFLOW_STATES.values()
            if now not in states
        },
    },
    "repaired": {},
}


def fired(model: Model, configurations: Sequence[Configuration]) -> set[str]:
    """The rows that some step of some configuration takes."""
    rows: set[tuple[str, str, int]] = set()
    for configuration in configurations:
        rigid = configuration.rigid
        instance = Instance(model, fitted(dict.fromkeys((m.sort.name for m in model.machines), 9), rigid), rigid)
        slots = {m.sort.name: instance.slot(m.sort.name) for m in model.machines}

        def note(state: State, number: int, step: Step, slots: dict[str, int] = slots) -> None:
            for (sort, event), objects in step.fired.items():
                rows.update((sort, event, state[slots[sort] + who]) for who in objects)

        explore(instance, symmetry=False, on_step=note)
    return {f"{sort}.{event} from {model.machine(sort).states[at].name}" for sort, event, at in rows}


ENOUGH = [place for place in PLACES if place.about in (SMALL, RUNS, HUNGRY, GREEDY, LATE)]
"""What can fire, fires here."""


@pytest.mark.long
@pytest.mark.parametrize("model", thinned(VARIANTS, 2), ids=lambda model: model.variant)
def test_every_row_fires_or_nobody_asks_for_it(model: Model) -> None:
    assert {row.name for row in model.rows} - fired(model, ENOUGH) == set(NOBODY_ASKS[model.variant])


@pytest.mark.long(one_in=12)
def test_what_nobody_asks_for_fires_nowhere() -> None:
    """In ``repaired`` there is no such row, as the test before this one says."""
    assert not fired(SHIPPED, CONFIGURATIONS) & set(NOBODY_ASKS["shipped"])


# --- The document's words ---------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    return " ".join(text.split())


QUOTED = {(m.variant, p.name): p for m in VARIANTS for p in m.properties if p.line is not None}


@needs_shared
@each_row("key", QUOTED, ids=" ".join)
def test_a_quoted_sentence_begins_at_its_line(key: tuple[str, str]) -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    prop = QUOTED[key]
    assert prop.line is not None
    words = plain(prop.sentence.removeprefix("... "))
    rest = plain(" ".join(lines[prop.line - 1 :]))
    assert words in rest and rest.index(words) < len(plain(lines[prop.line - 1]))


def test_what_rests_on_no_line_rests_on_the_facts() -> None:
    for model in VARIANTS:
        for prop in model.properties:
            assert prop.line is not None or prop.sentence.startswith(("section ", "fact "))


def test_no_violation_is_held_against_a_reason_or_a_question() -> None:
    """Lines 54 and 64 describe, 94 gives the reason for a proposal, 155 asks: none of them requires a property."""
    held = {prop.name: prop.line for prop in SHIPPED.properties if prop.name in SHIPPED.refuted}
    assert {line for line in held.values() if line is not None} <= {29, 30, 47, 55, 67, 105, 153}


# --- What is found ----------------------------------------------------------------------------------------------------------


def checked(configuration: str, *names: str) -> dict[str, Result]:
    """Of what runs, by exploration of one configuration."""
    [rigid] = [place.rigid for place in PLACES if place.about == configuration]
    model = replace(SHIPPED, configurations=lambda sizes: [rigid], refuted=frozenset())
    return {result.name: result for result in model_check(model, {}, only=names)}


def steps_of(name: str, configuration: str) -> list[str]:
    """A finding's run in a configuration, step by step."""
    example = checked(configuration, name)[name].counterexample
    assert example is not None
    return [step.says for step in example.steps]


def test_findings_of_a_small_configuration_are_in_the_manifest() -> None:
    names = [p.name for p in SHIPPED.properties if isinstance(p, Invariant | StepInvariant | AlwaysCanReach)]
    refuted = {name for name, result in checked(SMALL, *names).items() if result.verdict is Verdict.REFUTED}
    assert {"finished-work-counts", "task-is-the-image-of-its-instance"} < refuted <= SHIPPED.refuted


@pytest.mark.long
def test_what_the_manifest_says_is_found() -> None:
    reported = findings(systems()["jobmon"], variants=["shipped"])
    assert {each.property for each in reported} == SHIPPED.refuted
    assert all(each.repair == repair_of(systems()["jobmon"], each.property, SHIPPED) for each in reported)


def test_a_run_says_who_does_what() -> None:
    """Three that follow from the facts: 3.4 (G is never reaped), 3.5 (nobody asks whose run it is), 3.1 (I -> R)."""
    assert steps_of("runs-can-end", RUNS) == [
        "the client r0 finds that no run is alive: it will begin one, cold",
        "the client r0 resets the tasks, and registers its run",
        "the client r0 dies",
    ]
    assert steps_of("only-the-live-run-queues", SMALL) == [
        "somebody wants to resume cold what r0 runs",
        "the client r0 queues t0, with a new instance i0",
    ]
    assert steps_of("the-worker-moves-only-its-own", SMALL) == [
        "the client r0 queues t0, with a new instance i0",
        "the distributor r0 finds i0 queued",
        "the distributor r0 has i0 instantiated",
        "the distributor r0 submits the job of i0 to the cluster",
        "the wrapper of i0 comes up, reports, and starts the command",
    ]


def test_the_client_ends_what_the_distributor_has() -> None:
    """Fact 3.5. Facts 1.3 and 2.1 let a client end what a worker runs, so a run with that would show no mistake."""
    asks = WHAT_IS_TO_END_IS_MARKED.asks
    prop = SHIPPED.property("the-client-moves-only-its-own")
    assert isinstance(prop, StepInvariant) and prop.given is not None and asks is not None
    asked = replace(SHIPPED, refuted=frozenset()).asking([replace(prop, given=prop.given & asks)])
    example = model_check(asked, {}, only=[prop.name])[0].counterexample
    assert example is not None and [step.action for step in example.steps][-2:] == ["instantiate", "wind_up"]


def test_each_finding_has_its_repair() -> None:
    for name in SHIPPED.refuted:
        assert repair_of(systems()["jobmon"], name, SHIPPED).endswith("(variant repaired)"), name

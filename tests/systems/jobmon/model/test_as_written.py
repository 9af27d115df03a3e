"""Jobmon's document and its model: tables against the figures, quotations, verdicts, changes and readings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from schedproof.model.lang import Action, Change, Invariant, Model, Reading, Rule, Sort, StepInvariant
from schedproof.model.lang import terms as t
from schedproof.model.lang.infer import sort_of
from schedproof.model.lang.properties import WELL_FORMED
from schedproof.model.ledger.statements import statements
from schedproof.model.registry.discovery import systems
from schedproof.model.semantics import Stepper, instances
from schedproof.model.systems.jobmon import submachines, universal
from schedproof.model.systems.jobmon.as_written import AS_WRITTEN, REPAIRED, repairs
from schedproof.model.systems.jobmon.as_written.configurations import CONFIGURATIONS
from schedproof.model.systems.jobmon.as_written.contradictions import CONTRADICTIONS
from schedproof.model.systems.jobmon.as_written.machines import (
    IMAGES,
    RUN_ERRORS,
    RUN_IMAGES,
    TASK_ERRORS,
    TASK_INSTANCE,
    i,
)
from schedproof.model.systems.jobmon.as_written.readings import READINGS
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun
from schedproof.model.systems.jobmon.submachines import By, SubMachine
from schedproof.model.systems.jobmon.universal import OWNER, TAKEN_UP_BY, Agent
from schedproof.proofs.checking.model_check import model_check
from schedproof.proofs.exploration.explore import explore
from schedproof.proofs.induction import prove
from schedproof.proofs.traces import LogVerdict, check_trace
from schedproof.proofs.verdict import Result, Verdict
from schedproof.proofs.verification.findings import findings
from tests.support.needs import needs_shared
from tests.support.places import SHARED
from tests.support.rows import each_row
from tests.support.sample import thinned

DOCUMENT = SHARED / "documents" / "jobmon-finite-state-machines.rst"
VARIANTS = [AS_WRITTEN, REPAIRED]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return DOCUMENT.read_text(encoding="utf-8").splitlines()


def plain(text: str) -> str:
    return " ".join(text.split())


# --- The tables against the figures (facts 1.2 to 1.4), which test_figures compares with the facts ------------------


@pytest.mark.parametrize("sort", [Task, Workflow])
def test_tasks_and_workflows_have_the_universal_machine(sort: Sort) -> None:
    """And, of tasks, the move of step 7, which no figure has."""
    of_the_model = {(row.event, row.source, row.target) for row in AS_WRITTEN.table(sort)}
    figure = {(row.event, row.source, row.target) for row in universal.table(sort)}
    assert figure < of_the_model
    step_7 = {("adjust", "Triaging", "Queued")} if sort is Task else set()
    assert of_the_model - figure == {("register", "Absent", "Registering")} | step_7


NOT_IN_THE_FIGURES = {
    # What is there only from some moment on, and what the database does not know.
    TaskInstance: {"create", "renew", "exit", "forget", "adjust"},
    WorkflowRun: {"create", "renew", "exit", "forget"},
}


def drawn(machines: Sequence[SubMachine]) -> set[tuple[str, str, str]]:
    """The moves of the figures' boxes, with the agent that makes each: the owner of the box, or the client."""
    moves = set()
    for machine in machines:
        for move in machine.moves:
            by = OWNER[machine.inside] if move.by is By.MAIN else Agent.CLIENT
            moves.add((machine.states[move.source], machine.states[move.target], str(by)))
    for machine, following in pairwise(machines):
        # Outside of the boxes: a signal leads into the next one, whose owner takes it up there.
        for letter in machine.signals:
            moves.add((machine.states[letter], next(iter(following.states.values())), str(OWNER[following.inside])))
    return moves


def by_whom(model: Model, sort: Sort, event: str) -> set[str]:
    """Who signs what an event of an instance makes of its task; of one that changes nothing of it nobody does."""
    agents = set()
    for rule in model.rules:
        if isinstance(rule.on, t.Fires) and rule.on.event == event and sort_of(model, rule.on.of, {}) == sort.name:
            value = dict(rule.fires.payload)["by"]
            assert isinstance(value, t.Constant)
            agents.add(str(value.value))
    return agents


@pytest.mark.parametrize(
    ("sort", "machines"), [(TaskInstance, submachines.TASK_INSTANCE), (WorkflowRun, submachines.WORKFLOW_RUN)]
)
def test_instances_and_runs_have_the_figures_sub_machines(sort: Sort, machines: Sequence[SubMachine]) -> None:
    of_the_model = set()
    for row in AS_WRITTEN.table(sort):
        if row.event in NOT_IN_THE_FIGURES[sort]:
            continue
        # What the client asks of a run, and what it withdraws before it starts, becomes no move of the workflow.
        silent = {"ask_to_halt", "withdraw"}
        who = by_whom(AS_WRITTEN, sort, row.event) or ({"client"} if row.event in silent else set())
        of_the_model |= {(row.source, row.target, by) for by in who}
    expected = drawn(machines)
    if sort is TaskInstance:
        # Step 2 (line 122) against the figure, see the contradiction who-posts-resource-errors.
        expected = expected - {("Running", "ResourceError", "client")} | {("Running", "ResourceError", "worker")}
    assert of_the_model == expected


def signal_of(machine: SubMachine) -> str:
    """Which signal control over that box is passed on with."""
    return {"Registering": "Queued", "Instantiating": "Launched"}[machine.inside]


@pytest.mark.parametrize(
    ("machines", "images", "errors"),
    [(submachines.TASK_INSTANCE, IMAGES, TASK_ERRORS), (submachines.WORKFLOW_RUN, RUN_IMAGES, RUN_ERRORS)],
)
def test_what_a_state_stands_for_is_its_box_or_its_signal(
    machines: Sequence[SubMachine], images: Mapping[str, str], errors: Sequence[str]
) -> None:
    expected, failed = {}, set()
    for machine in machines:
        for letter, state in machine.states.items():
            if state == "Aborted":
                expected[state] = "Aborted"
            elif letter in machine.errors:
                failed.add(state)
            elif letter in machine.signals:
                expected[state] = signal_of(machine)
            else:
                expected[state] = "Done" if state == "Done" else machine.inside
    assert images == expected
    assert set(errors) == failed


def flow_of_the_universal_machine() -> set[tuple[Agent, Agent | None, str]]:
    """Who passes control to whom, as facts 1.1 would draw it: the server, which that figure has not, decides at once."""
    ways = set()
    leads = {(row.source, row.target) for row in universal.table(Task)}
    for source, target in leads:
        owner = OWNER[source]
        if target in ("Aborted", "Done"):
            ways.add((owner, None, target.upper()))
        elif target == "Triaging":
            for _, decided in (way for way in leads if way[0] == "Triaging"):
                signal = {"Queued": "ERROR_RECOVERABLE", "Failed": "ERROR_FATAL", "Halted": "HALTED"}[decided]
                ways.add((owner, TAKEN_UP_BY.get(decided), signal))
        elif target in TAKEN_UP_BY and owner is not Agent.SERVER:
            ways.add((owner, TAKEN_UP_BY[target], target.upper()))
    return ways


def test_the_deployment_flow_lacks_three_ways_of_the_machine() -> None:
    """Contradictions the-flow-has-no-aborted and the-schedulers-errors-are-never-fatal-in-the-flow."""
    drawn_flow = set(universal.DEPLOYMENT_FLOW)
    assert flow_of_the_universal_machine() - drawn_flow == {
        (Agent.CLIENT, None, "ABORTED"),
        (Agent.SCHEDULER, None, "ERROR_FATAL"),
        (Agent.SCHEDULER, Agent.CLIENT, "HALTED"),
    }
    assert drawn_flow <= flow_of_the_universal_machine()


def test_every_move_of_tasks_and_workflows_is_signed() -> None:
    for model in VARIANTS:
        for sort in (Task, Workflow):
            for row in model.table(sort):
                assert "mover" in dict(row.sets), row.name


# --- Quotations ------------------------------------------------------------------------------------------------------------

# What the facts alone say has no line, and names the section.
QUOTED = {
    (m.variant, prop.name): prop
    for m in systems()["jobmon"].variants.values()
    for prop in m.properties
    if prop.sentence and (prop.line is not None or m in VARIANTS)
}


@needs_shared
@each_row("which", QUOTED, ids=lambda which: "-".join(which))
def test_a_property_quotes_the_document_at_its_line(which: tuple[str, str], lines: list[str]) -> None:
    prop = QUOTED[which]
    assert prop.line is not None
    text, at = plain(" ".join(lines[prop.line - 1 :][:4])), 0
    first = prop.sentence.removeprefix("... ").removesuffix(" ...").split(" ... ")
    assert plain(first[0])[:12] in plain(lines[prop.line - 1] + " " + lines[prop.line]), "it begins there"
    for part in first:
        position = text.find(plain(part), at)
        assert position >= 0, f"{part!r} is not at line {prop.line}: {text[:200]}"
        at = position


def test_line_153_is_held_against_runs_only() -> None:
    """It mandates the signal for workflow runs. Line 155 leaves open whether task instances need one, too."""
    runs = {prop.name for prop in AS_WRITTEN.properties if prop.line == 153 and prop.name in AS_WRITTEN.refuted}
    assert runs == {*repairs.RUNS_HALT_FIRST.repairs}
    assert not [
        change.name for change in repairs.REPAIRS if change not in (repairs.RUNS_HALT_FIRST,) and "153" in change.wrong
    ]


@needs_shared
@each_row("contradiction", CONTRADICTIONS, ids=lambda c: c.name)
def test_a_contradiction_quotes_the_document(contradiction) -> None:
    """In whole sentences: a reader sees each condition."""
    stated = {(each.line, each.text) for each in statements(DOCUMENT.read_text("utf-8"))}
    assert contradiction.quotes and contradiction.problem and contradiction.reading
    assert {*contradiction.quotes} <= stated


def test_contradictions_name_properties_that_are_broken() -> None:
    assert len({c.name for c in CONTRADICTIONS}) == len(CONTRADICTIONS)
    for c in CONTRADICTIONS:
        assert {*c.violates} <= AS_WRITTEN.refuted, c.name
        assert "finding" not in c.reading, f"{c.name}: a property is no finding"


@needs_shared
def test_all_that_is_modelled_has_a_line_that_is_there(lines: list[str]) -> None:
    for model in VARIANTS:
        elements = [*model.rows, *model.actions, *model.rules, *model.properties]
        elements += [s for m in model.machines for s in m.states]
        for element in elements:
            if element.line is not None:
                assert lines[element.line - 1].strip(), element
        for element in [*model.rows, *model.actions, *model.rules]:
            assert element.line is not None or element.fact, element.name


AS_WRITTEN_AND_MORE = pytest.mark.parametrize(
    "model", [AS_WRITTEN, pytest.param(REPAIRED, marks=pytest.mark.long)], ids=lambda model: model.variant
)

# --- Verdicts ------------------------------------------------------------------------------------------------------------


@cache
def verdicts(variant: str) -> dict[str, Result]:
    """What exploration says of all that a variant properties."""
    model = next(model for model in VARIANTS if model.variant == variant)
    return {r.name: r for r in model_check(model, {})}


FEW = (
    "everything-can-end",
    "halted-tasks-have-halted",
    "resources-grow-on-resource-errors",
    "run-errors-are-triaged",
    "workflows-can-end",
)
"""Properties of which exploration takes a fifth of what it takes for all: the default tier has their runs."""


@cache
def verdicts_of_few() -> dict[str, Result]:
    return {r.name: r for r in model_check(AS_WRITTEN, {}, only=FEW)}


@pytest.mark.long
@AS_WRITTEN_AND_MORE
def test_exploration_says_what_the_manifest_says(model: Model) -> None:
    results = verdicts(model.variant)
    assert {name for name, r in results.items() if r.verdict is Verdict.REFUTED} == model.refuted
    assert {name for name, r in results.items() if r.verdict is Verdict.UNDETERMINED} == set()
    assert set(results) == {WELL_FORMED, *(prop.name for prop in model.properties)}


@pytest.mark.long(seconds=9)
@pytest.mark.parametrize("model", VARIANTS, ids=lambda model: model.variant)
def test_all_that_is_kept_of_safety_is_proved_for_any_number(model: Model) -> None:
    induction = prove(model)
    safety = {p.name for p in model.properties if isinstance(p, Invariant | StepInvariant)} | {WELL_FORMED}
    assert {name for name in safety if not induction.proved(name)} == model.refuted & safety


def run_of(prop: str) -> list[str]:
    """The actions of its shortest counterexample."""
    counterexample = (verdicts_of_few() if prop in FEW else verdicts("as-written"))[prop].counterexample
    assert counterexample is not None
    return [step.action for step in counterexample.steps]


LAUNCHED = ["register_task", "queue", "instantiate", "launch"]
RUNNING = [*LAUNCHED, "start"]
SECOND_ATTEMPT = ["instantiate", "launch", "start"]
RUN_LAUNCHED = ["register_workflow", "bind", "instantiate_run", "launch_run"]
SECOND_RUN = ["instantiate_run", "launch_run", "start_run"]

RUNS = {
    # The moves that lead there are the only ones: each run is the argument of its finding.
    "registering-ends": ["register_task", "client_dies"],
    "instantiating-ends": [*LAUNCHED[:3], "scheduler_dies"],
    "signals-can-be-taken-up": [*LAUNCHED, "lose"],
    "errors-are-triaged": [*LAUNCHED, "lose"],
    "task-is-the-image-of-its-instance": [*LAUNCHED, "lose"],
    "everything-can-end": ["register_task", "client_dies"],
    "everything-ends": ["register_task", "client_dies"],
    "only-the-owner-moves": [*RUNNING, "lose"],
    "one-live-instance": [*RUNNING, "lose", "retry", *SECOND_ATTEMPT],
    "halted-tasks-have-halted": [*RUNNING, "kill", "halt"],
    "resources-grow-on-resource-errors": [*RUNNING, "exceed", "report_resources", "retry_unchanged"],
    "workflow-signals-can-be-taken-up": [*RUN_LAUNCHED, "lose_run"],
    "run-errors-are-triaged": [*RUN_LAUNCHED, "lose_run"],
    "workflow-is-the-image-of-its-run": [*RUN_LAUNCHED, "lose_run"],
    "somebody-can-go-on": ["register_task", "client_dies"],
    "workflows-can-end": ["register_workflow", "run_forgotten"],
    "workflows-end": ["register_workflow", "run_forgotten"],
    "only-the-owner-moves-workflows": [*RUN_LAUNCHED, "start_run", "lose_run"],
    "halted-runs-have-halted": [*RUN_LAUNCHED, "start_run", "ask_to_halt", "force"],
    "halted-before-a-new-run": [*RUN_LAUNCHED, "start_run", "lose_run", "retry_workflow"],
    "one-live-run": [*RUN_LAUNCHED, "start_run", "lose_run", "retry_workflow", *SECOND_RUN],
}


@pytest.mark.parametrize(
    "prop",
    [
        pytest.param(
            p,
            marks=[pytest.mark.long(one_in=32 if p in ("registering-ends", "instantiating-ends") else 4)]
            * (p not in FEW),
        )
        for p in RUNS
    ],
)
def test_a_finding_has_the_run_that_the_document_leads_to(prop: str) -> None:
    assert run_of(prop) == RUNS[prop]


@pytest.mark.long
def test_every_finding_is_reported_with_a_repair() -> None:
    reported = {finding.property: finding for finding in findings(systems()["jobmon"], variants=["as-written"])}
    assert set(reported) == set(RUNS) == AS_WRITTEN.refuted
    for finding in reported.values():
        assert finding.repair.endswith("(variant as-written-repaired)"), finding.property
        assert finding.line is not None and finding.sentence


def happened(model: Model) -> tuple[set[str], set[str]]:
    """The actions that are taken in some configuration, and the rules that fire something."""
    actions, rules = set(), set()
    for instance in instances(model, {}):
        stepper = Stepper(instance)
        exploration = explore(instance, symmetry=False)
        for state, edges in zip(exploration.states, exploration.edges, strict=True):
            for edge in edges:
                actions.add(edge.choice.action)
                causes: dict = {}
                stepper.firings(state, edge.choice, causes)
                rules |= {cause.name for cause in causes.values() if isinstance(cause, Rule)}
    return actions, rules


@pytest.mark.long
@AS_WRITTEN_AND_MORE
def test_everything_happens_in_some_configuration(model: Model) -> None:
    assert happened(model) == ({a.name for a in model.actions}, {r.name for r in model.rules})


def test_all_configurations_are_explored() -> None:
    assert len(list(instances(AS_WRITTEN, {}))) == len(CONFIGURATIONS)


# --- The repaired variant ------------------------------------------------------------------------------------------------


def amended(name: str, changes: Sequence[Change]) -> Model:
    """As written with some of the changes; Adjusting Resources is a state that is reached unless that is changed."""
    changed = any(change is repairs.ADJUSTED_BY_THE_CLIENT_IN_ITS_TURN for change in changes)
    kept = {name for change in repairs.REPAIRS if change not in changes for name in change.weaker}
    for n, change in enumerate(changes):
        changes = [
            *changes[:n],
            replace(change, weakens={k: v for k, v in change.weakens.items() if k not in kept}),
            *changes[n + 1 :],
        ]
    machines = [replace(TASK_INSTANCE, states=REPAIRED.machine(TaskInstance).states)] if changed else []
    return AS_WRITTEN.amend(name, name, changes, frozenset(), machines=machines)


def broken(model: Model, *only: str) -> set[str]:
    return {r.name for r in model_check(model, {}, only=only) if r.verdict is not Verdict.PROVED}


NAMES = {id(change): name for name, change in vars(repairs).items() if isinstance(change, Change)}


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize(
    "change",
    repairs.REPAIRS,
    ids=[NAMES[id(each)].lower() for each in repairs.REPAIRS],
)
def test_without_a_change_just_what_it_repairs_is_broken_again(change: Change) -> None:
    without = broken(amended("less", [each for each in repairs.REPAIRS if each is not change]))
    expected = {*change.repairs}
    if change is repairs.OTHERS_BRING_TO_TRIAGE:
        expected = {*change.weakens}
    if change is repairs.ADJUSTED_BY_THE_CLIENT_IN_ITS_TURN:
        expected.add("others-bring-tasks-to-triage")  # step 7: the client takes the task from Triaging to Queued
    assert without == expected


def test_changes_repair_all_and_weaken_two_properties_and_a_life() -> None:
    repaired = {name for change in repairs.REPAIRS for name in change.repairs}
    weakened = {name for change in repairs.REPAIRS for name in change.weakens}
    assert repaired | weakened == AS_WRITTEN.refuted | {"life-of-an-adjusted-instance"}
    assert not repaired & weakened
    assert REPAIRED.refuted == frozenset()


# --- Readings ------------------------------------------------------------------------------------------------------------


def read_otherwise(reading: Reading) -> Model:
    return AS_WRITTEN.amend("read-otherwise", reading.otherwise, [reading.change], AS_WRITTEN.refuted)


def sizes(model: Model) -> Iterator[tuple[int, int]]:
    """The states and transitions of each configuration, one after the other."""
    for instance in instances(model, {}):
        exploration = explore(instance, symmetry=False)
        yield len(exploration.states), exploration.transition_count


@cache
def as_read() -> list[tuple[int, int]]:
    return list(sizes(AS_WRITTEN))


SAME_STEPS = {"the-worker-posts-resource-errors", "active-resources-stay-active"}
"""Who makes a move is history, and no part of the state. Which resources an attempt has enables no other step."""


@pytest.mark.parametrize("reading", thinned(READINGS, 18), ids=lambda reading: reading.name)
def test_read_otherwise_something_else_happens(reading: Reading) -> None:
    otherwise = sizes(read_otherwise(reading))
    same = all(size == read for size, read in zip(otherwise, as_read(), strict=True))  # up to the first that is not
    assert same == (reading.name in SAME_STEPS)


@pytest.mark.long
def test_a_job_that_starts_late_would_run_beside_its_retry() -> None:
    """The repair rests on line 54: what is held for lost before it has started must not start any more."""
    (reading,) = (r for r in READINGS if r.name == "workers-wait-for-the-signal")
    late = REPAIRED.amend("late", "late", [reading.change], frozenset())
    # A stopped one that starts late runs beside what is taken up; a run cannot start late here.
    assert broken(late) == {
        "one-live-instance",
        "earlier-commands-are-over",
        "halted-tasks-have-halted",
    }


# --- Seeded faults --------------------------------------------------------------------------------------------------------


def action(model: Model, name: str, **new: object) -> Model:
    """The model with an action of which some fields are others."""
    changed = replace(model.action(name), **new)  # type: ignore[arg-type]
    actions = [changed if a.name == name else a for a in model.actions]
    rules = [replace(r, on=changed) if isinstance(r.on, Action) and r.on.name == name else r for r in model.rules]
    return replace(model, actions=actions, rules=rules, refuted=frozenset())


def less_guard(name: str, *numbers: int) -> Callable[[], Model]:
    """Without the guard's conjuncts of these numbers."""
    kept = [c for n, c in enumerate(REPAIRED.action(name).when) if n not in numbers]
    return lambda: action(REPAIRED, name, when=kept)


def without_rule(name: str) -> Callable[[], Model]:
    return lambda: replace(REPAIRED, rules=[r for r in REPAIRED.rules if r.name != name], refuted=frozenset())


def signed(rule: str, by: str) -> Callable[[], Model]:
    """As if another one made the move that the rule makes of an instance's."""
    rules = [
        replace(r, fires=replace(r.fires, payload=(("by", t.Constant(by)),))) if r.name == rule else r
        for r in REPAIRED.rules
    ]
    return lambda: replace(REPAIRED, rules=rules, refuted=frozenset())


def done_without_success() -> Model:
    return action(REPAIRED, "report_success", when=[i.is_("Running")])


SEEDED: dict[str, tuple[Callable[[], Model], set[str]]] = {
    # what is wrong: the model, and properties that must fall
    "a retry does not wait for the command": (
        less_guard("retry", 4),
        {"one-live-instance", "earlier-commands-are-over"},
    ),
    "a retry asks for no attempts": (less_guard("retry", 2), {"attempts-within-the-maximum"}),
    "adjusting asks for no attempts": (less_guard("halt_for_resources", 2), {"attempts-within-the-maximum"}),
    "a workflow is done without its tasks": (less_guard("finish_run", 2), {"done-workflows-have-done-tasks"}),
    "halted by force while it runs": (less_guard("force", 1), {"halted-runs-have-halted", "one-live-run"}),
    "success is reported of any command": (done_without_success, {"done-has-succeeded"}),
    "who launches signs as the worker": (
        signed("launch is its task's launch", "worker"),
        {"others-bring-tasks-to-triage"},
    ),
    "the client claims what is queued": (
        signed("instantiate is its task's instantiate", "client"),
        {"signals-are-taken-up-by-one"},
    ),
    "an error becomes none of the task": (
        without_rule("err is its task's err"),
        {"errors-are-triaged", "task-is-the-image-of-its-instance", "running-ends", "everything-ends"},
    ),
    "an abort becomes none of the task": (
        without_rule("abort is its task's abort"),
        {"task-keeps-up-with-its-instance", "registering-ends"},
    ),
    "resumed with more resources": (
        lambda: action(
            REPAIRED,
            "resume",
            fires=[
                REPAIRED.action("resume").fires[0],
                replace(
                    REPAIRED.action("resume").fires[1],
                    payload=REPAIRED.action("adjust").fires[1].payload,
                ),
            ],
        ),
        {"resources-stay-otherwise", "an-instance-has-the-active-resources"},
    ),
    "nobody halts for resources": (
        lambda: action(REPAIRED, "halt_for_resources", when=[t.Constant(False)]),
        {"triaging-ends", "resources-grow-on-resource-errors"},
    ),
}


@pytest.mark.parametrize("bug", thinned(SEEDED, 12, first=1))
def test_a_seeded_bug_is_caught_by_what_it_breaks(bug: str) -> None:
    build, expected = SEEDED[bug]
    assert broken(build(), *expected) == expected


# --- Logs ----------------------------------------------------------------------------------------------------------------

HEADER = {
    "schedproof": 1,
    "system": "jobmon",
    "objects": {"Workflow": ["w"], "WorkflowRun": ["r"], "Task": ["t"], "TaskInstance": ["i", "j"]},
    "rigid": {"Task": {"maximum": {"t": 2}, "losable": {"t": True}}},
}
LOST_BEFORE_IT_STARTS = [
    {"action": "register_task", "parameters": {"t": "t", "i": "i"}},
    *({"action": name, "parameters": {"i": "i"}} for name in LAUNCHED[1:]),
    {"action": "lose", "parameters": {"i": "i"}, "state": {"Task": {"t": {"state": "Triaging"}}}},
    {"action": "retry", "parameters": {"t": "t", "j": "j"}, "state": {"Task": {"t": {"latest": "j"}}}},
]


@pytest.mark.parametrize(("variant", "violates"), [("as-written", 5), ("as-written-repaired", None)])
def test_a_log_that_triages_what_is_launched_violates(variant: str, violates: int | None, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [HEADER, *LOST_BEFORE_IT_STARTS]), encoding="utf-8")
    report = check_trace("jobmon", path, variant)
    assert (report.first_nonconformance.record if report.first_nonconformance else None) == violates
    assert report.verdict is (LogVerdict.VIOLATES if violates else LogVerdict.CONFORMS)

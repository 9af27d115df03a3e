"""Charts of the document's figures (facts 1.2 to 1.4), and of the couplings of the machine that runs (2.5, 3.2)."""

from collections.abc import Sequence

from schedproof.model.lang import Arrow, Chart

from . import submachines, universal
from .shipped.properties import IMAGE
from .shipped.tables import COUPLING, TASK_INSTANCE_STATES, WORKFLOW_RUN_STATES
from .sorts import Task
from .submachines import By, SubMachine
from .universal import OWNER

ROWS = universal.table(Task)
OUTSIDE = [state.name for state in universal.STATES]

OWNERS = Chart(
    "owners",
    "The universal machine: each state in the box of who has control of it, or has posted it as a signal",
    {name: name for name in OUTSIDE},
    {agent.value: [name for name in OUTSIDE if OWNER[name] is agent] for agent in universal.Agent},
    [Arrow(row.source, row.target, row.event) for row in ROWS],
    initial=["Registering"],
    final=["Aborted", "Done", "Failed"],
)


def filled_in(name: str, about: str, boxes: Sequence[SubMachine]) -> Chart:
    """Returns the universal machine with the sub-machines inside three of its states."""
    inside = {box.inside: box for box in boxes}
    states = {state: state for state in OUTSIDE if state not in inside}
    drawn: dict[str, list[str]] = {}
    arrows = []
    for box in boxes:
        within = {letter: f"{box.inside}.{letter}" for letter in box.states}
        states |= {within[letter]: f"{letter}: {label}" for letter, label in box.states.items()}
        drawn[box.title] = list(within.values())
        arrows += [
            Arrow(within[m.source], within[m.target], "" if m.by is By.MAIN else m.by, aside=m.by is not By.MAIN)
            for m in box.moves
        ]
        leaving = {row.target for row in ROWS if row.source == box.inside}
        failed = "Aborted" if "Aborted" in leaving else "Triaging"
        [passed_on] = leaving - {failed}
        ends = [letter for letter in box.states if letter in box.signals or letter == "D"]
        arrows += [Arrow(within[letter], passed_on) for letter in ends]
        arrows += [Arrow(within[letter], failed) for letter in box.states if letter in box.errors]
    first = {state: f"{state}.{next(iter(box.states))}" for state, box in inside.items()}
    arrows += [
        Arrow(row.source, first.get(row.target, row.target), row.event) for row in ROWS if row.source not in inside
    ]
    return Chart(
        name,
        about,
        states,
        drawn,
        arrows,
        aside="set by another than the owner of the box",
        initial=[first["Registering"]],
        final=["Aborted", "Done", "Failed"],
    )


TASK_INSTANCE = filled_in(
    "task-instance-figure",
    "What goes on inside of Registering, Instantiating and Running of a task instance, and who sets what",
    submachines.TASK_INSTANCE,
)
WORKFLOW_RUN = filled_in(
    "workflow-run-figure",
    "What goes on inside of Registering, Instantiating and Running of a workflow run, and who sets what",
    submachines.WORKFLOW_RUN,
)


def coupling(name: str, about: str, one: str, ones: Sequence[str], other: str, made: dict[str, Sequence[str]]) -> Chart:
    """Returns which states of another object go with each state of an object."""
    others = list(dict.fromkeys(state for states in made.values() for state in states))
    return Chart(
        name,
        about,
        {**{f"{one}.{state}": state for state in ones}, **{f"{other}.{state}": state for state in others}},
        {one: [f"{one}.{state}" for state in ones], other: [f"{other}.{state}" for state in others]},
        [
            Arrow(f"{one}.{state}", f"{other}.{each}", aside=len(states) > 1)
            for state, states in made.items()
            for each in states
        ],
        aside="one of several",
    )


COUPLING_OF_RUNS = coupling(
    "coupling-of-runs",
    "What a workflow run that comes to a state makes of its workflow; Registered, ColdResume and HotResume leave it as it is",
    "WorkflowRun",
    [state for state in WORKFLOW_RUN_STATES.values() if state in COUPLING],
    "Workflow",
    {state: [COUPLING[state]] for state in WORKFLOW_RUN_STATES.values() if state in COUPLING},
)
COUPLING_OF_INSTANCES = coupling(
    "coupling-of-instances",
    "What a task is whose latest instance is in a state",
    "TaskInstance",
    list(TASK_INSTANCE_STATES.values()),
    "Task",
    {state: IMAGE[state] for state in TASK_INSTANCE_STATES.values()},
)

CHARTS = {
    "as-written": (OWNERS, TASK_INSTANCE, WORKFLOW_RUN),
    "shipped": (COUPLING_OF_RUNS, COUPLING_OF_INSTANCES),
}

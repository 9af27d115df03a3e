"""The arrows of the figures, which the document has as images only, beside the ledger and the facts."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from schedproof.model.registry.discovery import systems
from tests.support.figures import Arrow, arrows_of, astray, drawn
from tests.support.needs import needs_shared
from tests.systems.jobmon.model.test_figures import boxes, section

JOBMON = systems()["jobmon"]

# Read in the images of ihmeuw-scicomp/jobmon and eekcoopuw/jobmon, arrow by arrow: each image contains its drawing as data.
FLOW = """
    start -> Client
    QUEUED: Client -> Scheduler
    LAUNCHED: Scheduler -> Worker
    ERROR_RECOVERABLE: Scheduler -> Scheduler; Worker -> Scheduler
    HALTED: Worker -> Client
    ERROR_FATAL: Worker -> end
    DONE: Worker -> end
"""
SHARED_FSM = """
    New -> Registering
    client: Registering -> Queued; Registering -> Aborted
    Queued -> Instantiating
    scheduler: Instantiating -> Launched
    Instantiating -> Triaging; Launched -> Running; Running -> Triaging
    worker: Running -> Done
    web: Triaging -> Queued (web); Triaging -> Error Fatal; Triaging -> Halted
    Queued (web) -> Instantiating
    Halted -> Resume / Adjust Resources; Resume / Adjust Resources -> Registering
"""
"""The label is the owner of the box that an arrow is in. "Queued" is drawn twice, in the box of the client and in that of the web."""
BETWEEN_BOXES = """
    create_task_instance() -> box Registering
    box Registering -> Queued; box Registering -> Aborted
    Queued -> box Instantiating
    box Instantiating -> Launched; box Instantiating -> Triaging
    Launched -> box Running
    box Running -> Done; box Running -> Triaging
    Triaging -> Queued; Triaging -> Error Fatal; Triaging -> Halted
    Halted -> box Registering
"""
"""Of both figures of 2021, with this label at the start of both."""
TASK_INSTANCE_2021 = """
    main: Registered -> Queued; Registered -> Aborted
    main: Instantiated -> Batch Executor; Instantiated -> No executor id
    reconciler: Batch Executor -> Unknown Error
    client: Batch Executor -> Kill Self
    main: Running -> Done; Running -> Application Error
    client: Running -> Kill Self
    reconciler: Running -> Unknown Error; Running -> Resource Error
"""
WORKFLOW_RUN_2021 = """
    main: Registered -> Bound; Registered -> Aborted
    main: Instantiated -> Batch Executor; Instantiated -> No executor id
    reconciler: Batch Executor -> Unknown Error
    client: Batch Executor -> Halted
    main: Running -> Done; Running -> Runtime Error
    reconciler: Running -> Unknown Error; Running -> Resource Error
    client: Running -> Resume
    main: Resume -> Halted
    reconciler: Resume -> Halted
"""
# A frame around two states in the figures of 2022 stands for each of them.
TASK_INSTANCE_2022 = """
    of 2022: Queued -> Instantiated; Queued -> Kill Self
    of 2022: Instantiated -> Launched; Instantiated -> No Distributor ID; Instantiated -> Kill Self
    of 2022: Launched -> Running; Launched -> Kill Self; Launched -> Error Fatal
    of 2022: Launched -> Unknown Error; Launched -> Resource Error
    of 2022: Running -> Done; Running -> Error; Running -> Triaging; Running -> Kill Self
    of 2022: Running -> Unknown Error; Running -> Resource Error
    of 2022: Triaging -> Error Fatal; Triaging -> Unknown Error; Triaging -> Resource Error
    of 2022: Kill Self -> Error Fatal
"""
WORKFLOW_RUN_2022 = """
    of 2022: Registered -> Linking; Linking -> Bound; Linking -> Aborted
    of 2022: Bound -> Instantiated; Bound -> Hot Resume; Bound -> Cold Resume; Bound -> Error
    of 2022: Instantiated -> Launched; Instantiated -> Error
    of 2022: Launched -> Running; Launched -> Error
    of 2022: Running -> Done; Running -> Stopped; Running -> Hot Resume; Running -> Cold Resume; Running -> Error
    of 2022: Hot Resume -> Terminated; Cold Resume -> Terminated
"""
FIGURES = {
    39: FLOW,
    70: SHARED_FSM,
    78: BETWEEN_BOXES + TASK_INSTANCE_2021 + TASK_INSTANCE_2022,
    151: BETWEEN_BOXES + WORKFLOW_RUN_2021 + WORKFLOW_RUN_2022,
}


def test_the_ledger_has_the_arrows_of_the_figures() -> None:
    assert arrows_of(JOBMON) == {line: drawn(figure) for line, figure in FIGURES.items()}


AGENTS = {"start", "Client", "Scheduler", "Worker", "end"}
STATES = {
    "New": "Absent",
    "create_task_instance()": "Absent",
    "Queued (web)": "Queued",
    "No Distributor ID": "NoDistributorId",
    "Resume / Adjust Resources": "",  # on the way, and no state
}


def state(name: str, sort: str) -> str:
    """The state of the models; "" for an agent."""
    if name == "Error Fatal" and sort in ("Task", "Workflow"):
        return "Failed"  # the document's name (line 67)
    if name == "box Registering" and sort in ("TaskInstance", "WorkflowRun"):
        return "Registered"  # its first state
    plain = "".join(word[0].upper() + word[1:] for word in name.removeprefix("box ").split())
    return "" if name in AGENTS else STATES.get(name, plain)


def test_the_rows_of_an_arrow_lead_from_its_source_to_its_target() -> None:
    assert astray(JOBMON, state) == []


# The facts have letters for states, words in quotes beside some, and frames of 2022 in braces.
STATE = {
    "G": "Registered", "Q": "Queued", "A": "Aborted", "I": "Instantiated", "L": "Launched", "R": "Running", "D": "Done",
    "T": "Triaging", "F": "Error Fatal", "H": "Halted", "K": "Kill Self", "U": "Unknown Error", "Z": "Resource Error",
    "W": "No executor id", "B": "Batch Executor", "C/H": "Resume",
}  # fmt: skip
UNIVERSAL = {**STATE, "G": "Registering", "I": "Instantiating"}
SHARED_NAMES = {
    **UNIVERSAL,
    "New": "New",
    "Q(web copy)": "Queued (web)",
    "[Resume / Adjust Resources]": "Resume / Adjust Resources",
}
OUTSIDE = {
    **UNIVERSAL,
    "start": "create_task_instance()",
    **{f"box{letter}": f"box {UNIVERSAL[letter]}" for letter in "GIR"},
}
INSTANCES_2022 = {**STATE, "O": "Launched", "E": "Error", "W": "No Distributor ID"}
RUNS_2022 = {
    **STATE, "O": "Launched", "E": "Error", "L": "Linking", "B": "Bound", "H": "Hot Resume", "C": "Cold Resume", "S": "Stopped",
    "T": "Terminated",
}  # fmt: skip


def pairs(figure: str) -> set[tuple[str, str]]:
    return {(arrow.source, arrow.target) for arrow in drawn(figure)}


@needs_shared
def test_the_facts_list_the_flow() -> None:
    listed = re.findall(r"^(\w+) -> (\w+)(?:-\w+)?(?: +(\w+))?$", section("1.1"), re.MULTILINE)
    assert sorted(Arrow(*names) for names in listed) == drawn(FLOW)


@needs_shared
def test_the_facts_list_the_universal_machine() -> None:
    lines = [re.sub(r" {2,}.*", "", line).split(" -> ") for line in section("1.2").strip().split("\n")]
    listed = {(SHARED_NAMES[a], SHARED_NAMES[b]) for names in lines for a, b in pairwise(names)}
    assert listed == pairs(SHARED_FSM)


@needs_shared
def test_the_facts_list_what_is_between_boxes() -> None:
    """Of the figure of runs they say that it is the same there."""
    text = re.sub(r' "[^"]*"', "", section("1.3").partition("outside boxes")[2])
    listed = {(OUTSIDE[a], OUTSIDE[b]) for a, b in re.findall(r"(\w+) -> (\w+)", text)}
    assert listed == pairs(BETWEEN_BOXES)


@needs_shared
@pytest.mark.parametrize(
    ("number", "figure", "of_box"),
    [
        ("1.3", TASK_INSTANCE_2021, {"R": {"E": "Application Error"}}),
        ("1.4", WORKFLOW_RUN_2021, {"G": {"B": "Bound"}, "R": {"E": "Runtime Error"}}),
    ],
)
def test_the_facts_list_what_is_in_boxes(number: str, figure: str, of_box: dict[str, dict[str, str]]) -> None:
    listed = set()
    for letter, text in boxes(number).items():
        names = {**STATE, **of_box.get(letter, {})}
        plain = re.sub(r' "[^"]*"', "", text.replace('"C/H: resume"', "C/H"))
        arrows = re.findall(r"(C/H|\b[A-Z])(?: [A-Z][a-z]+)? -> (C/H|[A-Z])\b", plain)
        listed |= {(names[a], names[b]) for a, b in arrows}
    assert listed == pairs(figure)


@needs_shared
@pytest.mark.parametrize(
    ("number", "figure", "names"), [("1.5", TASK_INSTANCE_2022, INSTANCES_2022), ("1.6", WORKFLOW_RUN_2022, RUNS_2022)]
)
def test_the_facts_list_the_figures_of_2022(number: str, figure: str, names: dict[str, str]) -> None:
    listed = set()
    for a, b in re.findall(r"([A-Z]|\{.,.\})->([A-Z]|\{.,.\})", section(number)):
        listed |= {(names[x], names[y]) for x in a.strip("{}").split(",") for y in b.strip("{}").split(",")}
    assert listed == pairs(figure)

"""The arrows of the six figures, which the document has as bitmaps only, beside the ledger and the facts."""

from __future__ import annotations

import re

import pytest

from schedproof.model.registry.discovery import systems
from tests.support.figures import Arrow, arrows_of, astray, drawn
from tests.support.needs import needs_shared
from tests.systems.yunikorn.model.documents import sections

YUNIKORN = systems()["yunikorn"]

# Read by eye in the pictures of the web page (facts, section 0, has their numbers), arrow by arrow, in the words of the labels.
APPLICATION = """
    run App: New -> Accepted; Resuming -> Accepted; Accepted -> Starting; Starting -> Running; Completing -> Running
    reject App: New -> Rejected
    resume App: New -> Resuming; Accepted -> Resuming
    complete App: Accepted -> Completing; Starting -> Completing; Running -> Completing; Completing -> Completed
    fail App: New -> Failing; Accepted -> Failing; Starting -> Failing; Running -> Failing; Failing -> Failed
    expire App: Completed -> Expired; Failed -> Expired
"""
OBJECT = """
    Start: Stopped -> Active; Active -> Active
    Stop: Active -> Stopped; Stopped -> Stopped
    Remove: Active -> Draining; Draining -> Draining
"""
SHIM_APPLICATION = """
    Submit App: New -> Submitted
    Recover App: New -> Recovering
    Accept App: Submitted -> Accepted; Recovering -> Accepted
    Reject App: Submitted -> Rejected
    TryReserve: Accepted -> Reserving
    Resuming App: Reserving -> Resuming
    Run App: Accepted -> Running; Reserving -> Running; Resuming -> Running
    Complete App: Running -> Completed
    Fail App: Submitted -> Failing; Accepted -> Failing; Reserving -> Failing; Running -> Failing; Rejected -> Failed; Failing -> Failed
    Kill App: Accepted -> Killing; Reserving -> Killing; Running -> Killing
    Killed App: Killing -> Killed
"""
TASK = """
    InitTask: New -> Pending
    SubmitTask: Pending -> Scheduling
    TaskAllocated: Scheduling -> TaskAllocated
    TaskBound: TaskAllocated -> Bound
    CompleteTask: New -> Completed; Pending -> Completed; Scheduling -> Completed; TaskAllocated -> Completed; Bound -> Completed
    CompleteTask: Rejected -> Completed; Failed -> Completed; Killing -> Completed; Killed -> Completed
    KillTask: Pending -> Killing; Scheduling -> Killing; TaskAllocated -> Killing; Bound -> Killing
    TaskKilled: Killing -> Killed
    TaskRejected: New -> Rejected; Pending -> Rejected; Scheduling -> Rejected
    TaskFail: Rejected -> Failed; TaskAllocated -> Failed
"""
NODE = """
    RecoverNode: New -> Recovering
    NodeAccepted: Recovering -> Accepted
    NodeRejected: New -> Rejected; Recovering -> Rejected
    NodeReady: Accepted -> Healthy
    DrainNode: Accepted -> Draining; Healthy -> Draining
    RestoreNode: Draining -> Healthy
"""
SCHEDULER = """
    RegisterScheduler: New -> Registering
    RegisterSchedulerSucceed: Registering -> Registered
    RegisterSchedulerFailed: Registering -> Stopped
    RecoverScheduler: Registered -> Recovering
    RecoverSchedulerSucceed: Recovering -> Running
    RecoverSchedulerFailed: Recovering -> Stopped
"""
FIGURES = {38: APPLICATION, 60: OBJECT, 72: SHIM_APPLICATION, 76: TASK, 80: NODE, 84: SCHEDULER}


def in_the_ledger(line: int, arrow: Arrow) -> Arrow:
    """The ledger has the events' names of the models, and the state that the picture of tasks calls TaskAllocated."""
    label = arrow.label.lower().removesuffix(" app") if line < 72 else arrow.label.replace(" App", "Application")
    source, target = (name.removeprefix("Task") for name in (arrow.source, arrow.target))
    return Arrow(source, target, label)


def test_the_ledger_has_the_arrows_of_the_figures() -> None:
    expected = {line: sorted(in_the_ledger(line, arrow) for arrow in drawn(figure)) for line, figure in FIGURES.items()}
    assert arrows_of(YUNIKORN) == expected


def test_the_rows_of_an_arrow_lead_from_its_source_to_its_target() -> None:
    assert astray(YUNIKORN, lambda name, _: name) == []


@needs_shared
@pytest.mark.parametrize(("figure", "line"), [("application", 38), ("object", 60), ("k8shim application", 72)])
def test_the_facts_list_these_arrows(figure: str, line: int) -> None:
    """Of the other three figures they say "as code": ``test_tables`` compares those with the code."""
    plain, _, loops = sections()["0"].partition(f"| {figure} | ")[2].partition(" | ")[0].partition("self loops")
    listed = {(source, to) for source, tos in re.findall(r"(\w+)->([\w/]+)", plain) for to in tos.split("/")}
    listed |= {(now, now) for now in re.findall(r"(\w+)/\w+", loops)}
    assert listed == {(arrow.source, arrow.target) for arrow in drawn(FIGURES[line])}

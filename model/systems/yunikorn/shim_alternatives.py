"""What the other answers of the interpretations of core and shim need beside single conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.model.lang import Durability, Machine, Row, Rule, Sort, exists
from schedproof.model.lang.model import Element

from . import shim_events as ev
from .channel import e
from .machines import k
from .process import ONE_PROCESS, process_crashes, restart
from .shim_events import UP
from .shim_machines import SHIM_MACHINES_SHIPPED, TASK_STATES, t
from .shim_messages import DELIVERIES, MESSAGE_RULES
from .sorts import ShimScheduler, Task
from .together import COMPONENTS

# --- Each component knows at once what the other does

TO_ARRIVE = exists(e, e.is_("under_way") & (e.channel == "core")) | (UP & exists(e, e.is_("under_way")))
MESSAGES_COME_FIRST: Sequence[Element] = [
    replace(action, when=[*action.when, ~TO_ARRIVE])
    for action in COMPONENTS.actions
    if action.name not in {each.name for each in DELIVERIES}
]
"""No step comes between a message and its arrival."""

# --- The shim keeps its states


def _keeping(machine: Machine) -> Machine:
    """The machine with states and attributes that survive a crash."""
    return replace(
        machine,
        states=[replace(each, durability=Durability.PERSISTENT) for each in machine.states],
        attributes=[each if each.rigid else replace(each, durable=True) for each in machine.attributes],
    )


KEPT: Sequence[Sort] = [each.sort for each in SHIM_MACHINES_SHIPPED if each.sort != ShimScheduler]
KEEPS_ITS_STATES = [_keeping(each) for each in SHIM_MACHINES_SHIPPED if each.sort in KEPT]
LOST_STATES = [
    each.name
    for each in ONE_PROCESS
    if isinstance(each, Rule)
    and each.name in {f"{on.name} takes every {sort}" for on in (process_crashes, restart) for sort in KEPT}
]

# --- A pod whose deletion is requested is deleted at once

GOES_AT_ONCE: Sequence[Element] = [
    *(replace(action, fires=[t.fires("doom", pod="deleted")]) for action in (ev.delete_pod, ev.delete_pending_pod)),
    *(
        replace(rule, fires=t.fires("doom", pod="deleted"))
        for rule in MESSAGE_RULES
        if rule.name.endswith((" deletes the pending pod", " deletes the assigned pod"))
    ),
    replace(ev.pod_is_gone, when=[t.pod == "deleted", ~t.is_("New", "Completed"), UP]),
]
"""The shim notices it in a later step, as before."""

STILL_THERE = [
    each.name for each in (ev.pod_is_gone_unobserved, ev.deletion_is_lost, ev.deletion_of_a_bound_pod_is_lost)
]

# --- A restored task learns the id of its allocation with the node

LEARNS_ITS_ALLOCATION: Sequence[Element] = [
    Row(Task, "restore", "New", "Allocated", identified=False, fact="4.2, task.go:246-278"),
    *(Row(Task, "learn", state, state, identified=True, fact="4.3, node.go:72") for state in TASK_STATES),
    Rule(
        "a recovered allocation is known to its task",
        k.fires("recover"),
        [t.ask == k],
        t.fires("learn"),
        fact="4.3, node.go:72",
    ),
]

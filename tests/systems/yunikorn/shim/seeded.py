"""Bugs that are seeded in YuniKorn's shim, by their names; each function plants one with pytest's monkeypatch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schedproof.impl.scheduler_interface import CreateNode, ExistingAllocation, Request, Response, TerminationType
from schedproof.impl.systems.yunikorn.core import Draft
from schedproof.impl.systems.yunikorn.shim import (
    Event,
    Job,
    KubeNode,
    Node,
    Phase,
    Pod,
    Shim,
    Target,
    Task,
    context,
    news,
    tasks,
)
from schedproof.impl.systems.yunikorn.shim import shim as shim_module
from schedproof.impl.systems.yunikorn.shim.applications import Applications
from schedproof.impl.systems.yunikorn.shim.context import Context
from schedproof.impl.systems.yunikorn.shim.nodes import Nodes
from schedproof.impl.systems.yunikorn.shim.records import Application, Recovery
from schedproof.impl.systems.yunikorn.shim.tasks import Tasks
from schedproof.impl.table_machine import TableMachine

Plant = Callable[[pytest.MonkeyPatch], None]


def without(event: str, *states: str) -> Plant:
    """The table of applications without some rows."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        whole = context._MACHINES[Target.APPLICATION]
        rows = [r for r in whole.rows if r.event != event or r.source not in states]
        assert len(rows) == len(whole.rows) - len(states)
        monkeypatch.setitem(context._MACHINES, Target.APPLICATION, TableMachine("application", whole.states, rows))

    return plant


def replaced(owner: object, name: str, bug: object) -> Plant:
    """Something of the shim done otherwise."""
    return lambda monkeypatch: monkeypatch.setattr(owner, name, bug)


def allocated_too_late_and_kept(self: Tasks, it: Task, event: Event, before: str) -> None:
    if before == "Scheduling":
        kept(self, it, event, before)


kept = Tasks._allocated


def waits_for_bound_ones(self: Applications, name: str, state: str) -> bool:
    task = self._context.tasks.get(name)
    return task is not None and task.state == state


def looks_at_bound_ones_only(self: Applications, name: str) -> None:
    it = self._context.applications.get(name)
    if it is not None and it.state == "Reserving" and all(self._settled(p.name, "Bound") for p in it.placeholders):
        self._once(name, "RunApplication")


def creates_an_empty_node(self: Nodes, it: Node) -> None:
    self._context.send(CreateNode(it.name, it.kube.capacity))


def creates_a_node_with_all_that_was_listed(self: Nodes, it: Node) -> None:
    on_node = [t for t in self._context.tasks.values() if t.pod.node == it.name]
    existing = tuple(ExistingAllocation(t.pod.application, t.name) for t in on_node)
    self._context.send(CreateNode(it.name, it.kube.capacity, existing=existing))


def forgets_late_pods(name: str, context: Context) -> None:
    context.applications.pop(name, None)
    for task in context.tasks_of(name):
        del context.tasks[task.name]


def deletes_nothing(self: Applications, it: Application, *, only_new: bool = False) -> None:
    self.look_again(it.name)


def nodes_first(self: Shim) -> None:
    self._context.recovery = Recovery.NODES
    right(self)


right = Shim._check_recovery


def gives_nothing_back(response: Response, context: Context) -> list[Request]:
    return []


def everything_is_done(self: Context, name: str) -> list[Task]:
    return []


def takes_what_it_has_not_asked_for(response: Response, context: Context) -> list[Event]:
    events = events_of(response, context)
    return [e for e in events if e.event != "TaskAllocated"] if events else events


events_of = news.events_of


def ends_what_runs(self: Tasks, pod: Pod, *, deleted: bool) -> None:
    changed(self, pod, deleted=deleted or pod.phase is Phase.RUNNING)


def ends_what_is_to_go(self: Tasks, pod: Pod, *, deleted: bool) -> None:
    changed(self, pod, deleted=deleted or pod.deleting)


changed = Tasks.changed


def cordons_come_to_the_healthy(self: Nodes, kube: KubeNode, *, removed: bool) -> None:
    it = self._context.nodes.get(kube.name)
    if removed or it is None or it.state in ("Healthy", "Draining"):
        node_changed(self, kube, removed=removed)


node_changed = Nodes.changed


def works_in_any_order(self: Context, job: Job) -> None:
    if job not in self.jobs:
        self.jobs.append(job)


BUGS: dict[str, Plant] = {
    "a release is dropped in Reserving": without("ReleaseAppAllocation", "Reserving"),
    "a recovered application is not rejected": without("RejectApplication", "Recovering"),
    "Resuming cannot fail": without("FailApplication", "Resuming"),
    "a late allocation is kept": replaced(Tasks, "_allocated", allocated_too_late_and_kept),
    "placeholders that are gone are waited for": replaced(Applications, "_settled", waits_for_bound_ones),
    "resumptions and failures are not looked at": replaced(Applications, "look_again", looks_at_bound_ones_only),
    "any second failure is final": replaced(Context, "going_on", everything_is_done),
    "a cordon is forgotten": replaced(Nodes, "_follow", lambda self, it: None),
    "nodes are recovered without their pods": replaced(Nodes, "_create", creates_an_empty_node),
    "nodes are recovered with pods that have gone": replaced(Nodes, "_create", creates_a_node_with_all_that_was_listed),
    "nodes are recovered before applications": replaced(Shim, "_check_recovery", nodes_first),
    "nothing is asked for": replaced(Tasks, "_ask", lambda self, it: None),
    "all that ends was stopped": replaced(tasks, "answer", lambda it: TerminationType.STOPPED_BY_RM),
    "late pods are forgotten": replaced(shim_module, "drop_application", forgets_late_pods),
    "placeholders are left behind": replaced(Applications, "_give_up_placeholders", deletes_nothing),
    "what has no task is kept": replaced(shim_module, "given_back", gives_nothing_back),
    "nothing is sent to a new shim": replaced(Draft, "repeat_all", lambda self: None),
    "releases are not carried out": replaced(Applications, "_release", lambda self, event: None),
    "dropped asks are not heard": replaced(Applications, "_drop_ask", lambda self, event: None),
    "ends are not reported": replaced(Tasks, "_released", lambda self, it, before: None),
    "failed tasks do not count": replaced(Tasks, "_noticed", lambda self, it: None),
    "allocations are not heard": replaced(shim_module, "events_of", takes_what_it_has_not_asked_for),
}
"""The scenarios catch each of them."""

OF_THE_ORDER: dict[str, Plant] = {
    "a pod that is to go is bound": replaced(Context, "work", works_in_any_order),
    "a pod that runs is taken for one that has ended": replaced(Tasks, "changed", ends_what_runs),
    "a pod that is to go is taken for one that is gone": replaced(Tasks, "changed", ends_what_is_to_go),
    "a node is not cordoned before it is Healthy": replaced(Nodes, "changed", cordons_come_to_the_healthy),
}
"""For an exploration, which comes by the moment in which it shows."""

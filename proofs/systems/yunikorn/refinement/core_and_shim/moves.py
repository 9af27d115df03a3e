"""The moves of both components from a state, each with the model's actions that it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from schedproof.impl.scheduler_interface import ControlObject, CreateNode, Request, Response, RMAccepted
from schedproof.impl.systems.yunikorn.core import Choice as Pick
from schedproof.impl.systems.yunikorn.core import Kind, Wakeup, only
from schedproof.impl.systems.yunikorn.shim import (
    CoreNews,
    Event,
    Job,
    KubernetesNews,
    NodeChange,
    Phase,
    Pod,
    PodChange,
    Work,
)
from schedproof.impl.systems.yunikorn.shim.events import Item
from schedproof.impl.systems.yunikorn.shim.kubernetes import ENDED
from schedproof.model.systems.yunikorn.machines import FINISHED
from schedproof.model.systems.yunikorn.shim_messages import DELIVER
from schedproof.proofs.systems.yunikorn.refinement.names import PLENTY
from schedproof.proofs.systems.yunikorn.refinement.operations import CONTROLS, DELETIONS

from .component import Component, Snapshot
from .messages import message_key
from .names import PodNames

AT_ONCE = ("fail_for_good", "resume_ends", "resume_completes", "fail_late", "evict")
"""The actions that the core takes in the operation that enables them."""
EVENTS = {
    "SubmitApplication": ("submit_application",),
    "TryReserve": ("try_reserve",),
    "RunApplication": ("skip_reservation", "run_when_due", "placeholders_fail"),
    "FailApplication": ("fail_rejected", "fail_for_good_in_the_shim", "shim_fails"),
    "CompleteApplication": ("shim_completes",),
    "InitTask": ("init_task",),
    "SubmitTask": ("submit_task",),
    "CompleteTask": ("end_pod", "pod_is_gone"),
    "TaskFail": ("bind_fails", "fail_rejected_task"),
    "RecoverNode": ("add_node",),
    "NodeReady": ("node_is_ready",),
    "DrainNode": ("node_is_unschedulable", "cordon"),
    "RestoreNode": ("uncordon",),
    "RecoverSchedulerSucceed": ("recovered",),
}
"""The actions that an event of the shim's queue may be when it is handled; other events have no effect in the model."""
UNOBSERVED = ("end_pod_unseen", "pod_is_gone_unseen", "deletion_is_lost", "deletion_of_a_bound_pod_is_lost")
RECOVERY = ("recover", "recover_application", "add_node")
FROM_KUBERNETES = ("cordon_unheard", "uncordon_unheard", "delete_node")
NODE_UNOBSERVED = ("cordon_unheard", "uncordon_unheard", "delete_node_unseen")
CORDONS = {True: "cordons", False: "uncordons"}
FAILS = "FailApplication"
JOBS = {Work.CREATE: ("create_placeholder",), Work.BIND: ("bind",), Work.DELETE: ()}


Call = Callable[[Component], object]


@dataclass(frozen=True)
class Move:
    """A move of core, shim, Kubernetes or people.

    Args:
        description: the move in words.
        call: makes the move.
        actions: the model's actions that it may be, one or several in sequence.
        most: the most actions that it may be.
        who: the action by which a property excludes such moves ("" if none does).
        crash: whether the shim dies.
    """

    description: str
    call: Call
    actions: tuple[str, ...] = ()
    most: int = 1
    who: str = ""
    crash: bool = False


@dataclass(frozen=True)
class May:
    """What else may happen in an exploration.

    Attributes:
        shim_first: the shim handles all events in its queue before anything else happens, except its death.
        end: pods end.
        delete: people delete pods.
        crashes: how often the shim may die.
        trouble: Kubernetes refuses to make and to bind pods, and a plug-in reports that an application has failed.
        nodes: people cordon, uncordon and remove nodes.
        room: the capacity of each node, in pods.
    """

    shim_first: bool = False
    end: bool = False
    delete: bool = False
    crashes: int = 0
    trouble: bool = False
    nodes: bool = False
    room: int = PLENTY


class Moves:
    """The moves of a configuration."""

    def __init__(self, names: PodNames, may: May) -> None:
        self._names, self._may = names, may

    def possible(self, component: Component, at: Snapshot) -> Iterator[Move]:
        """Yields the moves from ``at``; ``component`` is restored to it."""
        yield from self._shim(at)
        if self._may.shim_first and at.shim.queued.queue:
            return
        yield from self._under_way(at)
        yield from self._core(component, at)
        yield from self._pods(at)
        yield from self._plug_in(at)
        yield from self._operators(at)
        yield from self._nodes(at)

    # The shim.

    def _shim(self, at: Snapshot) -> Iterator[Move]:
        if at.shim.scheduler == "New":
            # The shim waits until the messages of the process before have arrived, one by one: so the core is checked
            # after each.
            if not at.link.requests:
                yield Move("the shim starts, and registers", lambda it: it.shim.start(), ("register", "registered"), 2)
            return
        if at.shim.queued.queue:
            yield self._handles(at.shim.queued.queue[0])
        if at.shim.scheduler == "Running" and not (self._may.shim_first and at.shim.queued.queue):
            yield Move("the shim's scheduling loop", lambda it: it.shim.schedule())
        if at.crashes < self._may.crashes:
            for silently, how, action in (
                (False, "what it has sent still arrives", "shim_crashes"),
                (True, "what it has sent is lost", "shim_crashes_silently"),
            ):
                call = partial(_crash, silently)
                most = 1 + len(self._names.asks) + len(self._names.nodes)
                yield Move(
                    f"the shim dies; {how}", call, (action, *UNOBSERVED, *NODE_UNOBSERVED), most, action, crash=True
                )

    def _handles(self, item: Item) -> Move:
        """Handling the first item in the shim's queue."""
        some, others = len(self._names.applications), len(self._names.nodes)
        match item:
            case Event(_, name, event):
                what, actions, most = f"{event} of {name}", EVENTS.get(event, ()), 1
            case CoreNews(RMAccepted()):
                what, actions, most = "that it is registered", RECOVERY, 1 + some + others
            case CoreNews(response):
                # When the last application is recovered, the nodes follow.
                what, actions, most = _words(response), (*arrives(response), "add_node"), 1 + others
            case KubernetesNews(change):
                what, actions, most = _words(change), FROM_KUBERNETES, 1
        return Move(f"the shim handles {what}", lambda it: it.shim.step(), actions, most)

    # Messages and work under way.

    def _under_way(self, at: Snapshot) -> Iterator[Move]:
        for job in at.shim.jobs:
            yield Move(f"{job.work}: {job.task}", partial(_do, job), JOBS[job.work])
            if self._may.trouble and job.work is not Work.DELETE:
                yield Move(f"{job.work}: {job.task}; Kubernetes refuses", partial(_do_refused, job))
        if at.link.requests:
            request = at.link.requests[0]
            call: Call = lambda it: it.link.deliver_request()  # noqa: E731
            yield Move(f"the core hears {_words(request)}", call, (*arrives(request), *AT_ONCE), 3)
        if at.link.responses and at.shim.scheduler != "New":
            yield Move(f"the shim gets {_words(at.link.responses[0])}", lambda it: it.link.deliver_response())

    # The core.

    def _core(self, component: Component, at: Snapshot) -> Iterator[Move]:
        for option in component.core.options():
            choose = only(option.ask, option.node, option.replaces)
            yield Move(
                f"the scheduler decides: {option}", partial(_schedule, choose), ("allocate", "swap", *AT_ONCE), 2
            )
        # A time-out only deletes the record of an ended application. A removed application has yet to complete.
        live = {a.serial for a in (*at.core.applications, *at.core.tracked) if a.state not in FINISHED}
        for name in [t.name for t in at.times.pending if isinstance(t.name, Wakeup)]:
            if name.application in live:
                yield Move(f"{name} runs out", partial(_run_out, name), ("run_out", "gang_times_out"))
        for name in dict.fromkeys(at.under_way):
            if name.kind in (Kind.STATE, Kind.GANG):
                yield Move(f"{name} takes effect", partial(_wake, name), ("wake", "gang_wakes", *AT_ONCE), 3)

    # Kubernetes and its users.

    def _pods(self, at: Snapshot) -> Iterator[Move]:
        existing = {p.name: p for p in at.cluster.pods}
        for k, name in enumerate(self._names.asks):
            if name in existing or self._names.is_placeholder(k) or name in at.made:
                continue
            yield Move(f"a user makes {name}", partial(_make, self._names.pod(k)), ("create_pod",))
        unobserved = UNOBSERVED if at.shim.scheduler in ("New", "Registering") else ()
        for pod in existing.values():
            if pod.deleting:
                yield Move(f"{pod.name} is gone", partial(_reap, pod.name), unobserved)
            elif self._may.end and pod.phase is Phase.RUNNING and not pod.placeholder:
                yield Move(f"{pod.name} ends", partial(_end, pod.name), unobserved, who="end_pod")
            if self._may.delete and not pod.deleting and pod.phase not in ENDED:
                actions = ("delete_pod", "delete_pending_pod", *unobserved)
                yield Move(f"somebody deletes {pod.name}", partial(_delete, pod.name), actions, 2, "delete_pod")

    def _plug_in(self, at: Snapshot) -> Iterator[Move]:
        """A plug-in reports the failure of an active application, once: a second report has no effect."""
        waiting = {item.name for item in at.shim.queued.queue if isinstance(item, Event) and item.event == FAILS}
        for it in at.shim.applications if self._may.trouble and at.shim.scheduler == "Running" else ():
            if it.state in ("Submitted", "Accepted", "Reserving", "Running") and it.name not in waiting:
                yield Move(f"a plug-in fails {it.name}", partial(_fail, it.name))

    def _operators(self, at: Snapshot) -> Iterator[Move]:
        """Starting, stopping and removing queues and partition, if the configuration has people who do."""
        people, names = self._names.configuration.people, self._names
        objects: list[tuple[str, str | None]] = [("queue", name) for name in names.queues if "queues" in people]
        objects += [("partition", None)] if "partition" in people else []
        for what, name in objects:
            for control, step in CONTROLS.items():
                call = partial(_handle, ControlObject(control, names.partition, name))
                yield Move(f"{control} of {name or names.partition}", call, (f"{step}_{what}", *AT_ONCE), 3)
        if objects:
            sweep = partial(_sweep, Wakeup(Kind.QUEUES))
            most = len(names.queues) + 1
            yield Move("what is to go is taken away", sweep, tuple(DELETIONS), most)

    def _nodes(self, at: Snapshot) -> Iterator[Move]:
        """People's changes of a node.

        They change it after the core has received the last change, or while there is no shim. They cordon it also
        while it is being registered.
        """
        if not self._may.nodes or at.shim.queued.queue:
            return
        states = {n.name: n.state for n in at.shim.nodes}
        unobserved = at.shim.scheduler == "New"
        for node in at.cluster.nodes:
            settled = unobserved or (states.get(node.name) in ("Healthy", "Draining") and not at.messages)
            if not settled and states.get(node.name) not in ("Recovering", "Accepted"):
                continue
            for change in (CORDONS[not node.unschedulable], *(["removes"] if settled else [])):
                call = partial(_change_node, node.name, change)
                yield Move(f"somebody {change} {node.name}", call, NODE_UNOBSERVED if unobserved else (), who="cordon")


def arrives(message: Request | Response) -> tuple[str, ...]:
    """Returns the action by which a message arrives, if the model has one."""
    it = message_key(message)
    # A configuration whose shim has no nodes still has a node, which is added without a message.
    alone = ("create_node",) if isinstance(message, CreateNode) else ()
    return () if it is None else (DELIVER[it[0]].name, *alone)


def _words(what: object) -> str:
    if isinstance(what, PodChange):
        now = "gone" if what.deleted else "to go" if what.pod.deleting else str(what.pod.phase)
        return f"that {what.pod.name} is {now}"
    if isinstance(what, NodeChange):
        now = "gone" if what.removed else "cordoned" if what.node.unschedulable else "schedulable"
        return f"that {what.node.name} is {now}"
    return type(what).__name__ + " of " + ", ".join(str(v) for v in vars(what).values() if isinstance(v, str) and v)


def _do(job: Job, component: Component) -> None:
    component.shim.do(job)


def _handle(request: Request, component: Component) -> None:
    component.core.handle(request)


def _sweep(timer: Wakeup, component: Component) -> None:
    component.core.wake(timer)


def _do_refused(job: Job, component: Component) -> None:
    component.cluster.failing = {"create_pod", "bind_pod"}
    try:
        component.shim.do(job)
    finally:
        component.cluster.failing = set()


def _fail(name: str, component: Component) -> None:
    component.shim.fail_application(name, "it says so")


def _change_node(name: str, change: str, component: Component) -> None:
    if change == "removes":
        component.cluster.remove_node(name)
    else:
        component.cluster.cordon(name, change == CORDONS[True])


def _crash(silently: bool, component: Component) -> None:
    component.crash(silently=silently)


def _schedule(choose: Pick, component: Component) -> None:
    component.core.schedule(choose)


def _run_out(timer: Wakeup, component: Component) -> None:
    component.clock.run_out(timer)


def _wake(timer: Wakeup, component: Component) -> None:
    component.clock.deliver(timer)


def _make(pod: Pod, component: Component) -> None:
    component.make(pod)


def _reap(name: str, component: Component) -> None:
    component.cluster.reap_pod(name)


def _end(name: str, component: Component) -> None:
    component.cluster.end_pod(name)


def _delete(name: str, component: Component) -> None:
    component.cluster.delete_pod(name)

"""The shim: its dispatcher, its scheduling loop, its registration and its recovery."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock

from schedproof.impl.clock import Clock
from schedproof.impl.scheduler_interface import ApplicationUpdated, PartitionSpec, RegisterRM, Response

from .applications import Applications
from .context import Context, OnDrop, Send
from .dispatcher import NOTHING, Dispatcher
from .errors import KubernetesError, Overflow, SubmitError
from .events import CoreNews, Event, Item, Job, KubernetesNews, Target, Work
from .kubernetes import Change, Kubernetes, NodeChange, PodChange
from .news import drop_application, events_of, given_back
from .nodes import Nodes
from .records import Application, Node, Recovery, Task, World
from .tables import REGISTERED
from .tasks import Tasks

RECOVERY_TIMEOUT = 30.0
"""In seconds, for the applications and again for the nodes (F 4.4)."""

SCHEDULER = "scheduler"


class Shim:
    """A resource manager between Kubernetes and a core. It stores nothing durably.

    The caller drives it: :meth:`step` handles one event, :meth:`schedule` makes one pass of the scheduling loop, and
    :meth:`do` carries out one job on Kubernetes. :meth:`settle` does all of these until nothing is left. Messages of
    core and Kubernetes are only queued; they may come from any thread.

    Args:
        kubernetes: the API.
        send: hands a request to the core; it may raise SubmitError. That fails the application if it was being
            submitted; otherwise the process ends.
        clock: for the timeouts of recovery and dispatcher.
        dispatcher: the queue; by default a new one.
        name, partitions: what it registers with.
        on_drop: receives every event without a row.
    """

    def __init__(
        self,
        kubernetes: Kubernetes,
        send: Send,
        clock: Clock,
        *,
        dispatcher: Dispatcher | None = None,
        name: str = "k8s",
        partitions: tuple[PartitionSpec, ...] = (PartitionSpec(),),
        on_drop: OnDrop | None = None,
    ) -> None:
        self._kubernetes = kubernetes
        self._clock = clock
        self._dispatcher = Dispatcher() if dispatcher is None else dispatcher  # an empty one is false
        self._registration = RegisterRM(name, partitions)
        self._context = Context(send, self, on_drop)
        self._applications = Applications(self._context)
        self._tasks = Tasks(self._context, self._applications)
        self._nodes = Nodes(self._context)
        self._process = 0
        self._overflow = ""
        self._lock = RLock()

    # Its records.

    @property
    def scheduler(self) -> str:
        """The state of the scheduler's machine."""
        return self._context.scheduler

    @property
    def why_stopped(self) -> str:
        """Why its process has ended by itself, "" if it has not."""
        return self._context.why_stopped

    @property
    def applications(self) -> dict[str, Application]:
        """The applications by name."""
        return dict(self._context.applications)

    @property
    def tasks(self) -> dict[str, Task]:
        """The tasks by the names of their pods."""
        return dict(self._context.tasks)

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name."""
        return dict(self._context.nodes)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The pending jobs on Kubernetes."""
        return tuple(self._context.jobs)

    # Inputs. None of these takes the lock, as the caller may hold a lock of its own.

    def receive(self, responses: Sequence[Response]) -> None:
        """Queues messages of the core; also the core's listener."""
        for response in responses:
            self.post(CoreNews(response))

    def notice(self, change: Change) -> None:
        """Queues a change in Kubernetes."""
        self.post(KubernetesNews(change))

    def fail_application(self, name: str, reason: str) -> None:
        """Queues a plug-in's report that an application has failed (F 4.1:138)."""
        self.post(Event(Target.APPLICATION, name, "FailApplication", reason))

    def complete_application(self, name: str) -> None:
        """Queues a plug-in's report that an application is complete (F 4.1:132)."""
        self.post(Event(Target.APPLICATION, name, "CompleteApplication"))

    def post(self, item: Item) -> None:
        """Queues an event. If the dispatcher refuses it, the process ends at its next step."""
        try:
            self._dispatcher.put(item, self._clock.now())
        except Overflow as problem:
            self._overflow = str(problem)

    def holds(self, item: Item) -> bool:
        """True if an event waits to be handled."""
        return item in self._dispatcher

    # Operations.

    def start(self) -> None:
        """Starts the process: it registers. Does nothing if it has started."""
        with self._lock:
            if self.scheduler == "New":
                self._context.why_stopped = ""
                self._handle(Event(Target.SCHEDULER, SCHEDULER, "RegisterScheduler"))

    def step(self) -> bool:
        """Handles one event; returns False if there is none."""
        with self._lock:
            lost = self._dispatcher.lose(self._clock.now())
            if lost or self._overflow:
                # Someone waits for a lost event; only a new process, which asks Kubernetes, can make up for it.
                self._end(self._overflow or f"{len(lost)} events were lost, the first of them {lost[0]}")
                return False
            item = self._dispatcher.take()
            if item is None:
                return False
            try:
                self._handle(item)
            except SubmitError as problem:
                # The shim waits for an answer to the lost request; only a new process can make up for it.
                self._end(f"the core is not to be reached: {problem}")
                return False
            self._check_recovery()
            return True

    def schedule(self) -> None:
        """Makes one pass of the scheduling loop; does nothing unless the scheduler is Running."""
        with self._lock:
            if self.scheduler == "Running":
                self._applications.schedule()

    def do(self, job: Job) -> bool:
        """Carries out one of :attr:`jobs`; returns False if Kubernetes refused a deletion, which stays pending."""
        with self._lock:
            if job not in self._context.jobs:
                return False
            self._context.jobs.remove(job)
            return self._work(job)

    def settle(self) -> None:
        """Runs steps, passes and jobs until the shim can only wait."""
        going_on = True
        while going_on:
            going_on = False
            while self.step():
                going_on = True
            self.schedule()
            for job in self.jobs:
                going_on = self.do(job) or going_on
            going_on = going_on or len(self._dispatcher) > 0

    def crash(self) -> None:
        """The process dies and loses all records and all messages to it. :meth:`start` starts a new one."""
        with self._lock:
            self._end("")

    def snapshot(self) -> World:
        """Returns all that it remembers, for :meth:`restore`."""
        with self._lock:
            it = self._context
            return World(
                it.scheduler,
                it.recovery,
                it.why_stopped,
                tuple(it.applications.values()),
                tuple(it.tasks.values()),
                tuple(it.nodes.values()),
                tuple(it.jobs),
                self._dispatcher.snapshot(),
            )

    def restore(self, world: World) -> None:
        """Goes back to a snapshot. Clock and Kubernetes are reset separately."""
        with self._lock:
            it = self._context
            it.scheduler, it.recovery, it.why_stopped = world.scheduler, world.recovery, world.why_stopped
            it.applications = {a.name: a for a in world.applications}
            it.tasks = {t.name: t for t in world.tasks}
            it.nodes = {n.name: n for n in world.nodes}
            it.jobs = list(world.jobs)
            self._dispatcher.restore(world.queued)
            self._overflow = ""
            self._kubernetes.watch(self.notice if world.scheduler in ("Recovering", "Running") else None)

    # Handling one event.

    def _handle(self, item: Item) -> None:
        match item:
            case CoreNews(response):
                for event in events_of(response, self._context):
                    self._handle(event)
                for request in given_back(response, self._context):
                    self._context.send(request)
                if isinstance(response, ApplicationUpdated) and response.state == "Completed":
                    drop_application(response.application, self._context)
            case KubernetesNews(PodChange(pod, deleted)):
                self._tasks.changed(pod, deleted=deleted)
            case KubernetesNews(NodeChange(node, removed)):
                self._nodes.changed(node, removed=removed)
            case Event(Target.APPLICATION):
                self._applications.handle(item)
            case Event(Target.TASK):
                self._tasks.handle(item)
            case Event(Target.NODE):
                self._nodes.handle(item)
            case Event(Target.SCHEDULER):
                self._handle_scheduler(item)

    def _handle_scheduler(self, event: Event) -> None:
        late = event.event == "RecoverSchedulerFailed" and event.reason != self._context.recovery
        if late or self._context.move(event) is None:
            return
        match event.event:
            case "RegisterScheduler":
                self._context.send(self._registration)
            case "RegisterSchedulerSucceed":
                # At once: the core's next messages are for a shim that knows what Kubernetes lists.
                self._handle(Event(Target.SCHEDULER, SCHEDULER, "RecoverScheduler"))
            case "RecoverScheduler":
                self._begin_recovery()
            case "RecoverSchedulerSucceed":
                for node in list(self._context.nodes.values()):
                    if node.state == "New":  # it came during the recovery of the others
                        self._context.post(Target.NODE, node.name, "RecoverNode")
            case "RegisterSchedulerFailed":
                self._stop(f"the core refuses the registration: {event.reason}")
            case "RecoverSchedulerFailed":
                self._stop(f"the recovery of {event.reason} took more than {RECOVERY_TIMEOUT} s")

    # Recovery (F 4.4): what Kubernetes lists; applications first, then nodes with their pods.

    def _begin_recovery(self) -> None:
        self._kubernetes.watch(self.notice)
        for pod in self._kubernetes.list_pods():
            self._tasks.appeared(pod)
        for node in self._kubernetes.list_nodes():
            self._nodes.changed(node, removed=False)
        for name in list(self._context.applications):
            if any(not t.pod.placeholder and t.state != "Completed" for t in self._context.tasks_of(name)):
                self._handle(Event(Target.APPLICATION, name, "RecoverApplication"))
        self._await(Recovery.APPLICATIONS)
        self._check_recovery()

    def _check_recovery(self) -> None:
        """Begins the next phase of the recovery when all requests of this one are answered."""
        it = self._context
        if self.scheduler != "Recovering":
            return
        if it.recovery is Recovery.APPLICATIONS and all(a.state != "Recovering" for a in it.applications.values()):
            self._await(Recovery.NODES)
            for node in list(it.nodes.values()):
                if node.state == "New":
                    self._handle(Event(Target.NODE, node.name, "RecoverNode"))
        if it.recovery is Recovery.NODES and all(n.state in REGISTERED for n in it.nodes.values()):
            it.post_once(Event(Target.SCHEDULER, SCHEDULER, "RecoverSchedulerSucceed"))
            self._clock.stop(self._timer)

    @property
    def _timer(self) -> tuple[str, str]:
        return (self._registration.rm, "recovery")

    def _await(self, what: Recovery) -> None:
        self._context.recovery = what
        self._clock.stop(self._timer)
        process = self._process

        def too_late() -> None:
            if process == self._process:
                self.post(Event(Target.SCHEDULER, SCHEDULER, "RecoverSchedulerFailed", what))

        self._clock.arm(self._timer, RECOVERY_TIMEOUT, too_late)

    # Jobs on Kubernetes.

    def _work(self, job: Job) -> bool:
        it = self._context
        task = it.tasks.get(job.task)
        try:
            match job.work:
                case Work.CREATE:
                    self._create(job.task)
                case Work.BIND if task is not None and task.state == "Allocated":
                    self._kubernetes.bind_pod(job.task, job.node)
                    it.post(Target.TASK, job.task, "TaskBound")
                case Work.DELETE:
                    self._kubernetes.delete_pod(job.task)
        except KubernetesError as problem:
            if job.work is Work.DELETE:
                it.jobs.append(job)
                return False
            if job.work is Work.BIND:
                it.post(Target.TASK, job.task, "TaskFail", reason=str(problem))
        return True

    def _create(self, name: str) -> None:
        """Makes one of a gang's placeholders; if that fails, its application continues without it (F 4.1:541-552)."""
        for it in self._context.applications.values():
            for pod in it.placeholders:
                if pod.name == name and name not in self._context.tasks:
                    try:
                        self._kubernetes.create_pod(pod)
                    except KubernetesError as problem:
                        self._context.post(Target.APPLICATION, it.name, "RunApplication", reason=str(problem))

    # The end of the process.

    def _stop(self, why: str) -> None:
        """Ends the process with the scheduler in Stopped (F 4.4)."""
        self._end(why)
        self._context.scheduler = "Stopped"

    def _end(self, why: str) -> None:
        self._process += 1
        self._clock.stop(self._timer)
        self._kubernetes.watch(None)
        self._dispatcher.restore(NOTHING)
        self._overflow = ""
        self._context.clear()
        self._context.why_stopped = why

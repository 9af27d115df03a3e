"""The whole system as one value: the database, the memory of each agent, and the jobs of a simulated cluster.

An explorer asks for the possible acts and does one of them. It can save the state and return to it. Time moves only by
the acts that let a lease run out, or that end the first lease after the server's start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from schedproof.impl.hashed import hashed_once

from .agent import Agent
from .client import Client, ClientMemory, Resume, WorkflowSpec
from .cluster import Ending
from .distributor import Distributor, DistributorMemory
from .errors import Unreachable
from .reaper import Reaper, ReaperMemory
from .records import ENDED, UNFINISHED, InstanceState, Leases, Records, TaskInstance, WorkflowRun
from .requests import Report, Request
from .server import Asks, Observer, Server
from .simulated_cluster import Job, Phase, SimulatedCluster, SimulatedCommands
from .store import MemoryStore
from .worker import Worker, WorkerMemory

Memory = ClientMemory | DistributorMemory | ReaperMemory

NOW, LEASE = 0.0, 1.0


class Kind(StrEnum):
    """What may happen next."""

    STEP = "steps"
    LOST = "steps, but the answer is lost"
    HEARTBEAT = "renews"
    CRASH = "dies"
    RESTART = "is started again"
    STOP = "is stopped by its user"
    COMES_UP = "comes up"
    COMMAND_ENDS = "has a command that ends"
    JOB_ENDS = "is over"
    INSTANCE_LAPSES = "has an instance whose lease runs out"
    RUN_LAPSES = "has a run whose lease runs out"
    SERVER_RESTARTS = "is started again, and waits for one lease before it takes anybody for dead"
    GRACE_ENDS = "has waited for one lease since its start"


@hashed_once
@dataclass(frozen=True)
class Act:
    """Something that may happen; ``who`` is an agent, "job 0", "instance 1", "run 1" or "server"."""

    kind: Kind
    who: str
    choice: int = 0
    ending: Ending | None = None


@hashed_once
@dataclass(frozen=True)
class Slot:
    """An agent's memory (None: the agent is dead), and how often it was started again."""

    memory: Memory | None
    life: int = 0


@hashed_once
@dataclass(frozen=True)
class State:
    """The state of the whole system. The audits are left out: they are history, and no behaviour depends on them.

    Attributes:
        grace: the server has started less than a lease ago.
    """

    records: Records
    agents: tuple[tuple[str, Slot], ...]
    jobs: tuple[Job, ...]
    grace: bool = False


@dataclass(frozen=True)
class ClientSpec:
    """A client: the workflow that it runs, and how it treats other runs at its first start and at later ones."""

    workflow: WorkflowSpec
    resume: Resume = Resume.NO
    resume_later: Resume = Resume.COLD


@dataclass(frozen=True)
class Sides:
    """The classes of all components; a test replaces one to seed a fault."""

    server: type[Server] = Server
    client: type[Client] = Client
    distributor: type[Distributor] = Distributor
    worker: type[Worker] = Worker
    reaper: type[Reaper] = Reaper


class _Deaf:
    """A server that carries out requests, but whose answers are lost."""

    def __init__(self, server: Asks) -> None:
        self._server = server

    def ask(self, request: Request) -> Report:
        self._server.ask(request)
        raise Unreachable("the answer is lost")


@dataclass
class World:
    """Clients by name, distributors "d1", "d2", ..., and a reaper, all before their first step.

    Attributes:
        observer: called with each request that the server carries out; an act sends at most one.
        server_restarts: the server may be started again; only its grace period shows that.
    """

    clients: Mapping[str, ClientSpec]
    distributors: int = 1
    sides: Sides = field(default_factory=Sides)
    store: MemoryStore = field(default_factory=MemoryStore)
    cluster: SimulatedCluster = field(default_factory=SimulatedCluster)
    slots: dict[str, Slot] = field(default_factory=dict)
    observer: Observer | None = None
    server_restarts: bool = False
    grace: bool = False

    def __post_init__(self) -> None:
        self.slots.update(dict.fromkeys(self.clients, Slot(ClientMemory())))
        names = [f"d{number + 1}" for number in range(self.distributors)]
        self.slots.update(dict.fromkeys(names, Slot(DistributorMemory())))
        self.slots["reaper"] = Slot(ReaperMemory())

    # The state.

    def state(self) -> State:
        """Returns the whole state as a value."""
        records = replace(self.store.snapshot(), audits=())
        return State(records, tuple(self.slots.items()), self.cluster.jobs, self.grace)

    def restore(self, state: State) -> None:
        """Returns to a state. An agent that the state does not have does not exist then."""
        self.store.restore(state.records)
        self.cluster.jobs = state.jobs
        self.slots = dict(state.agents)
        self.grace = state.grace

    def acting(self) -> list[tuple[int, int]]:
        """Returns task and instance of each job whose command may act."""
        records = self.store.snapshot()
        jobs = [job for job in self.cluster.jobs if job.acts]
        return [(records.instances[job.instance - 1].task_id, job.instance) for job in jobs]

    # The possible acts.

    def acts(self) -> list[Act]:
        """Returns all possible acts; a step may turn out to be a wait."""
        possible: list[Act] = []
        for name, slot in self.slots.items():
            possible += self._acts_of_agent(name, slot)
        for number, job in enumerate(self.cluster.jobs):
            possible += _acts_of_job(f"job {number}", job)
        records = self.store.snapshot()
        possible += [Act(Kind.INSTANCE_LAPSES, f"instance {i.id}") for i in records.instances if _can_lapse(i)]
        possible += [Act(Kind.RUN_LAPSES, f"run {r.id}") for r in records.runs if _run_can_lapse(r)]
        if self.server_restarts:
            possible.append(Act(Kind.GRACE_ENDS if self.grace else Kind.SERVER_RESTARTS, "server"))
        return possible

    def _acts_of_agent(self, name: str, slot: Slot) -> list[Act]:
        if slot.memory is None:
            return [Act(Kind.RESTART, name)]
        agent = self._agent(name)
        if agent.over is not None:
            return [Act(Kind.RESTART, name)] if agent.over != "done" else []
        steps = [Act(kind, name, choice) for choice in range(agent.choices()) for kind in (Kind.STEP, Kind.LOST)]
        acts = [*steps, Act(Kind.CRASH, name)]
        if not isinstance(agent, Reaper):
            acts.append(Act(Kind.HEARTBEAT, name))
        if isinstance(agent, Client):
            acts.append(Act(Kind.STOP, name))
        return acts

    # The effects of acts.

    def do(self, act: Act) -> str | None:
        """Does a possible act.

        Returns:
            What happened, in words; None if nothing did.
        """
        match act.kind:
            case Kind.STEP | Kind.LOST | Kind.HEARTBEAT | Kind.STOP:
                return self._step(act)
            case Kind.CRASH if act.who.startswith("job "):
                # The kernel kills the job's command with it, which takes a moment.
                job = self.cluster.jobs[_number(act)]
                self.cluster.put(_number(act), worker=None, phase=Phase.DYING if job.acts else Phase.OVER)
            case Kind.CRASH:
                self.slots[act.who] = replace(self.slots[act.who], memory=None)
            case Kind.RESTART:
                self.slots[act.who] = Slot(self._newborn(act.who), self.slots[act.who].life + 1)
            case Kind.COMES_UP:
                self.cluster.put(_number(act), phase=Phase.UP, worker=WorkerMemory())
            case Kind.COMMAND_ENDS:
                self.cluster.put(_number(act), acts=False, ending=act.ending)
            case Kind.JOB_ENDS:
                self.cluster.put(_number(act), acts=False, phase=Phase.OVER, worker=None)
            case Kind.INSTANCE_LAPSES:
                self._lapse(TaskInstance, _number(act))
            case Kind.RUN_LAPSES:
                self._lapse(WorkflowRun, _number(act))
            case Kind.SERVER_RESTARTS | Kind.GRACE_ENDS:
                self.grace = act.kind is Kind.SERVER_RESTARTS
        return str(act.kind)

    def _step(self, act: Act) -> str | None:
        server: Asks = self.server()
        agent = self._agent(act.who, _Deaf(server) if act.kind is Kind.LOST else server)
        try:
            if act.kind is Kind.HEARTBEAT:
                done = agent.heartbeat()
            elif act.kind is Kind.STOP and isinstance(agent, Client):
                agent.stop()
                done = "stop"
            else:
                done = agent.step(act.choice)
        except Unreachable:
            return "asked, but got no answer"
        self._keep(act.who, agent)
        return done

    def server(self) -> Server:
        """Returns the server, made anew for each act: it keeps only when it started, which is now or a lease ago."""
        return self.sides.server(
            self.store,
            clock=lambda: NOW,
            leases=Leases(LEASE, LEASE),
            observer=self.observer,
            started=NOW if self.grace else NOW - LEASE,
        )

    def _agent(self, name: str, server: Asks | None = None) -> Client | Distributor | Reaper | Worker:
        asks = server or self.server()
        if name.startswith("job "):
            number = int(name.removeprefix("job "))
            job = self.cluster.jobs[number]
            worker = self.sides.worker(asks, SimulatedCommands(self.cluster, number), job.instance, str(number))
            assert job.worker is not None
            worker.memory = job.worker
            return worker
        slot = self.slots[name]
        token = f"{name}.{slot.life}"
        if isinstance(slot.memory, ClientMemory):
            spec = self.clients[name]
            resume = spec.resume_later if slot.life else spec.resume
            client = self.sides.client(asks, spec.workflow, token, resume=resume)
            client.memory = slot.memory
            return client
        if isinstance(slot.memory, DistributorMemory):
            distributor = self.sides.distributor(asks, self.cluster, token)
            distributor.memory = slot.memory
            return distributor
        assert isinstance(slot.memory, ReaperMemory)
        reaper = self.sides.reaper(asks)
        reaper.memory = slot.memory
        return reaper

    def _keep(self, name: str, agent: Agent) -> None:
        if isinstance(agent, Worker):
            number = int(name.removeprefix("job "))
            ended = agent.over is not None
            if ended:
                self.cluster.put(number, worker=None, phase=Phase.OVER)
            else:
                self.cluster.put(number, worker=agent.memory)
        elif isinstance(agent, Client | Distributor | Reaper):
            self.slots[name] = replace(self.slots[name], memory=agent.memory)

    def _newborn(self, name: str) -> Memory:
        if name in self.clients:
            return ClientMemory()
        return ReaperMemory() if name == "reaper" else DistributorMemory()

    def _lapse(self, kind: type[TaskInstance] | type[WorkflowRun], number: int) -> None:
        with self.store.transaction() as transaction:
            if kind is TaskInstance:
                instance = transaction.get(TaskInstance, number)
                assert instance is not None
                transaction.update(instance, replace(instance, report_by_date=NOW))
            else:
                run = transaction.get(WorkflowRun, number)
                assert run is not None
                transaction.update(run, replace(run, heartbeat_date=NOW))


def _number(act: Act) -> int:
    return int(act.who.rpartition(" ")[2])


def _acts_of_job(name: str, job: Job) -> list[Act]:
    possible: list[Act] = []
    if job.phase is Phase.SUBMITTED:  # even if it is being killed
        possible.append(Act(Kind.COMES_UP, name))
    if job.phase is Phase.UP and job.worker is not None:
        possible += [Act(Kind.STEP, name), Act(Kind.LOST, name), Act(Kind.HEARTBEAT, name), Act(Kind.CRASH, name)]
    if job.acts and job.phase is Phase.UP:
        possible += [Act(Kind.COMMAND_ENDS, name, ending=ending) for ending in Ending]
    if job.phase is not Phase.OVER and (job.killed or job.phase is Phase.DYING):
        possible.append(Act(Kind.JOB_ENDS, name))
    return possible


def _can_lapse(it: TaskInstance) -> bool:
    lapses = it.status in UNFINISHED - {InstanceState.NO_HEARTBEAT}
    return lapses and it.report_by_date is not None and it.report_by_date > NOW


def _run_can_lapse(run: WorkflowRun) -> bool:
    return run.status not in ENDED and run.heartbeat_date > NOW

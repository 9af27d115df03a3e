"""The scheduler's graph: every request, decision and arrival from every state, each a step of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from schedproof.impl.scheduler_interface import PartitionSpec, QueueSpec, TerminationType
from schedproof.impl.systems.yunikorn_merge import Allocation, MergedScheduler, Proposal
from schedproof.model.semantics import Choice
from schedproof.proofs.refinement.graph import SideBySide
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.modelside import ModelGraph
from schedproof.proofs.refinement.property import Progress

from .component import Component, Operation, Scheduler, Snapshot, hear
from .meaning import LEAF, NOWHERE, PARTITION, Meaning

AT_WORK = "at work"

Run = Callable[[MergedScheduler], object]
"""Runs an operation on a scheduler; returns False if nothing was done."""


class Exploration(SideBySide):
    """Explores YuniKorn's merged scheduler beside its model; run :meth:`explore` once."""

    every_kind = (AT_WORK,)

    def __init__(self, meaning: Meaning, kind: Scheduler, model: ModelGraph, progress: Progress | None = None) -> None:
        super().__init__(model, progress)
        self._meaning, self._component = meaning, Component(kind)

    def begin(self) -> int:
        """Begins with a scheduler, and with its partition if that exists from the start."""
        at = Snapshot()
        if self._meaning.configuration.partition:
            made = self._component.after(at, Operation("register", PARTITION, _register))
            at = Snapshot(made.world) if made is not None else at
        return self._at(at)

    def expand(self, node: int) -> None:
        """Tries all operations and arrivals."""
        at: Snapshot = self.snapshots[node]
        meaning = self._meaning
        for operation, label in self._operations(at):
            try:
                done = self._component.after(at, operation)
                if done is not None:
                    self.edge(node, self._at(done), label, operation.description)
            except Broken as error:
                self.break_off(node, operation.description, error)
            except Exception as error:  # any exception: the scheduler could not do what the model can
                self.break_off(node, operation.description, Broken(f"{type(error).__name__}: {error}"))
        for what in sorted(at.outbox[0]) if at.outbox else ():
            kind = "".join("_" + c.lower() if c.isupper() else c for c in what[0]).lstrip("_")
            label = meaning.label(f"deliver_{kind}", meaning.message(at, what))
            self.edge(node, self._at(hear(at, what)), label, f"the resource manager hears {what[0]} of {what[1]}")

    def _at(self, at: Snapshot) -> int:
        number = self.find_node(at)
        return self.node(at, AT_WORK, at, self._meaning.image(at)) if number is None else number

    def _operations(self, at: Snapshot) -> Iterator[tuple[Operation, Choice]]:
        """The resource manager's requests and the scheduler's decisions, each with its step of the model."""
        m = self._meaning
        if m.partition(at) == "absent":
            yield Operation("register", PARTITION, _register), m.label("register", 0)
        if m.partition(at) == "present":
            yield Operation("remove_partition", PARTITION, _drop), m.label("remove_partition", 0)
        for n, name in enumerate(m.applications):
            if m.application(at, name) == "unknown":
                yield Operation("submit", name, self._submit(n)), m.label("submit", n)
            if m.application(at, name) == "present":
                yield Operation("remove_application", name, _remove_application(name)), m.label("remove_application", n)
        for n, name in enumerate(m.asks):
            its = m.application_of(name)
            accepted = ("ApplicationAccepted", its) in at.heard
            if m.ask(at, name) == "unknown" and not m.recovered(name) and accepted:
                yield Operation("ask", name, _ask(its, name)), m.label("ask", n)
            if m.ask(at, name) in ("pending", "satisfied"):
                yield Operation("withdraw", name, _withdraw(its, name)), m.label("withdraw", n)
        for n, name in enumerate(m.nodes):
            runs = [ask for ask, node in m.allocations if node == name and m.recovered(ask)]
            known = all(("ApplicationAccepted", m.application_of(ask)) in at.heard for ask in runs)
            if m.node(at, name) == "unknown" and known:
                existing = [Allocation(ask, m.application_of(ask), name, 1) for ask in runs]
                yield Operation("add_node", name, _add_node(name, existing)), m.label("add_node", n)
            if m.node(at, name) == "present":
                yield Operation("decommission", name, _decommission(name)), m.label("decommission", n)
        for n, (ask, node) in enumerate(m.allocations):
            about, its = f"{ask} on {node}", m.application_of(ask)
            yield Operation("allocate", about, _commit(its, ask, node)), m.label("allocate", n)
            if m.allocation(at, ask, node) == "allocated":
                preempted = TerminationType.PREEMPTED_BY_SCHEDULER
                yield Operation("preempt", about, _release(its, ask, preempted)), m.label("preempt", n)
                if m.known(at, ask, node) == "running":
                    stopped = TerminationType.STOPPED_BY_RM
                    yield Operation("give_back", about, _release(its, ask, stopped)), m.label("give_back", n)

    def _submit(self, number: int) -> Run:
        queue = NOWHERE if number in self._meaning.configuration.refused else LEAF
        return lambda it: it.add_application(PARTITION, self._meaning.applications[number], queue)


def _register(it: MergedScheduler) -> None:
    it.configure([PartitionSpec(PARTITION, QueueSpec("root", (QueueSpec("q0"),)))])


def _drop(it: MergedScheduler) -> None:
    it.configure([])


def _remove_application(name: str) -> Run:
    return lambda it: it.remove_application(PARTITION, name)


def _ask(application: str, name: str) -> Run:
    return lambda it: it.add_ask(PARTITION, application, name, 1)


def _withdraw(application: str, name: str) -> Run:
    return lambda it: it.remove_ask(PARTITION, application, name)


def _add_node(name: str, existing: list[Allocation]) -> Run:
    return lambda it: it.add_node(PARTITION, name, 1, existing)


def _decommission(name: str) -> Run:
    return lambda it: it.remove_node(PARTITION, name)


def _commit(application: str, ask: str, node: str) -> Run:
    return lambda it: it.commit(Proposal(PARTITION, application, ask, node))


def _release(application: str, name: str, why: TerminationType) -> Run:
    return lambda it: it.release(PARTITION, application, name, why)

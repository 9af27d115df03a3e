"""The same key for states of the world that differ in nothing that matters to what comes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from schedproof.impl.systems.jobmon.records import FINAL, TaskInstance, WorkflowRun
from schedproof.impl.systems.jobmon.simulated_cluster import Job, Phase
from schedproof.impl.systems.jobmon.world import Slot, State


def canonical(at: State) -> Hashable:
    """What a state is told apart by.

    How often an agent was started counts only as far as it is more than once; a name that it bears no more is nobody's.
    Of an attempt that is over and its job it does not count how it came to that.
    """
    slots = dict(at.agents)
    records = replace(
        at.records,
        runs=tuple(_run(run, slots) for run in at.records.runs),
        instances=tuple(_instance(it, slots) for it in at.records.instances),
    )
    agents = tuple((name, replace(slot, life=min(slot.life, 1))) for name, slot in at.agents)
    return records, agents, tuple(_job(job, at) for job in at.jobs), at.grace


def _bearer(name: str, slots: Mapping[str, Slot]) -> str:
    who, _, life = name.partition("/")[0].rpartition(".")
    return who if slots[who].life == int(life) else ""


def _run(run: WorkflowRun, slots: Mapping[str, Slot]) -> WorkflowRun:
    return replace(run, token=_bearer(run.token, slots))


def _instance(it: TaskInstance, slots: Mapping[str, Slot]) -> TaskInstance:
    if it.distributor is None or it.token is None:
        return it
    return replace(it, distributor=_bearer(it.distributor, slots), token=_bearer(it.token, slots))


def _job(job: Job, at: State) -> Job:
    if job.phase is Phase.OVER and at.records.instances[job.instance - 1].status in FINAL:
        return Job(job.instance, Phase.OVER)
    return job

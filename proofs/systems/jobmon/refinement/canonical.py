"""One key for all states of the world that have the same future."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache

from schedproof.impl.systems.jobmon.records import FINAL, TaskInstance, WorkflowRun
from schedproof.impl.systems.jobmon.simulated_cluster import Job, Phase
from schedproof.impl.systems.jobmon.world import Slot, State

MOST = 1 << 16
"""How many records each cache keeps."""


def canonical(at: State) -> Hashable:
    """Returns the key of a state.

    The number of an agent's restarts counts only as zero or more than zero. A token of an agent's earlier life is
    replaced by the empty token, because no process has it. For an attempt and a job that are over, the key leaves out
    how the job ended.
    """
    slots = dict(at.agents)
    records = replace(
        at.records,
        runs=tuple(_run(run, slots) for run in at.records.runs),
        instances=tuple(_instance(it, slots) for it in at.records.instances),
    )
    agents = tuple((name, slot if slot.life <= 1 else replace(slot, life=1)) for name, slot in at.agents)
    return records, agents, tuple(_job(job, at) for job in at.jobs), at.grace


def _bearer(name: str, slots: Mapping[str, Slot]) -> str:
    who, _, life = name.partition("/")[0].rpartition(".")
    return who if slots[who].life == int(life) else ""


# Making a record costs more than a look-up, and most states share their records with others.


@lru_cache(MOST)
def _run_of(run: WorkflowRun, token: str) -> WorkflowRun:
    return replace(run, token=token)


@lru_cache(MOST)
def _instance_of(it: TaskInstance, distributor: str, token: str) -> TaskInstance:
    return replace(it, distributor=distributor, token=token)


def _run(run: WorkflowRun, slots: Mapping[str, Slot]) -> WorkflowRun:
    return _run_of(run, _bearer(run.token, slots))


def _instance(it: TaskInstance, slots: Mapping[str, Slot]) -> TaskInstance:
    if it.distributor is None or it.token is None:
        return it
    return _instance_of(it, _bearer(it.distributor, slots), _bearer(it.token, slots))


def _job(job: Job, at: State) -> Job:
    if job.phase is Phase.OVER and at.records.instances[job.instance - 1].status in FINAL:
        return Job(job.instance, Phase.OVER)
    return job

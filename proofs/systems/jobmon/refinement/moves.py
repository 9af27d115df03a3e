"""The move of the model that an act of the world may be: at most a given number of steps of given actions."""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.impl.systems.jobmon import requests as ask
from schedproof.impl.systems.jobmon.cluster import Ending
from schedproof.impl.systems.jobmon.distributor import Act as Does
from schedproof.impl.systems.jobmon.distributor import DistributorMemory
from schedproof.impl.systems.jobmon.records import InstanceState, RunState
from schedproof.impl.systems.jobmon.requests import Report, Request
from schedproof.impl.systems.jobmon.simulated_cluster import Phase
from schedproof.impl.systems.jobmon.worker import Stage
from schedproof.impl.systems.jobmon.world import Act, Kind, State
from schedproof.proofs.refinement.mismatch import Broken
from schedproof.proofs.refinement.simulation import NOTHING, Move

from .parts import Seen

ADVANCES = {
    RunState.LINKING: "link",
    RunState.BOUND: "bind",
    RunState.INSTANTIATED: "instantiate_run",
    RunState.LAUNCHED: "launch_run",
    RunState.RUNNING: "start_run",
}
FINISHES = {
    RunState.DONE: ("finish_run",),
    RunState.STOPPED: ("stop_run",),
    RunState.ERROR: ("give_up_run", "err_run"),
}
REPORTS = {
    InstanceState.DONE: "report_success",
    InstanceState.ERROR: "report_an_error",
    InstanceState.RESOURCE_ERROR: "report_too_few_resources",
}
COMMANDS = {
    Ending.DONE: "command_succeeds",
    Ending.ERROR: "command_fails",
    Ending.RESOURCE_ERROR: "command_runs_out",
}
ALIKE: Mapping[type[Request], tuple[str, ...]] = {
    ask.RenewRun: ("beat_run",),
    ask.QueueTask: ("queue", "queue_with_more", "queue_with_as_much"),
    ask.WindUp: ("terminate_run",),
    ask.Claim: ("instantiate",),
    ask.Launched: ("launch",),
    ask.SubmissionFailed: ("get_no_id",),
    ask.GiveUp: ("drop_doomed",),
    ask.HandBack: ("hand_back",),
    ask.Fence: ("fence",),
    ask.Start: ("start",),
    ask.RenewInstance: ("beat",),
    ask.Killed: ("report_that_it_was_stopped",),
    ask.Lapse: ("lose_instantiated", "lose_launched", "lose_running"),
    ask.ReapRun: ("reap", "reap_terminated"),
}
"""Requests whose actions depend only on their type."""

TAKES_FOR_DEAD = (ask.Lapse, ask.Fence, ask.ReapRun)
"""Requests that must wait for one lease after the server starts: in the model, the lease has not run out yet."""

OVER = ("triage_lost", "triage_resources", "end_doomed", "give_up_lost")
JOB_STARTS = ("take_job", "start_refused")
"""Why a job may be terminated: it is not needed any more, or its wrapper may not start."""


def of_request(request: Request, report: Report) -> Move:
    """Returns the move that a request may be; a repeated request is no move."""
    if not report.changed:
        return NOTHING
    match request:
        case ask.Register():
            return NOTHING  # in the model the workflow exists from the start
        case ask.CreateRun():
            return Move(("plan_cold" if request.cold else "plan_hot", "register"), 2)
        case ask.Clear():
            return Move(("plan_cold", "clear"), 2)
        case ask.AdvanceRun():
            return Move((ADVANCES[request.to],))
        case ask.FinishRun():
            return Move(FINISHES[request.to])
        case ask.AskResume():
            return Move(("ask_cold" if request.cold else "ask_hot",))
        case ask.RenewLaunched():
            return Move(("beat_launched",), len(request.instances))
        case ask.JobOver():
            # In the model, a wrapper that has stopped its command stays until its job is removed.
            return Move(("take_job", *OVER), 2)
        case ask.End():
            return Move((REPORTS[request.status],))
    return Move(ALIKE[type(request)])


def of_act(act: Act, seen: Seen, before: State, after: State) -> Move:
    """Returns the move that an act may be.

    Raises:
        Broken: the act carries out more than one request, or takes an object for dead too early.
    """
    if len(seen) > 1:
        raise Broken("more than one request is done in one step")
    if before.grace and any(report.changed and isinstance(request, TAKES_FOR_DEAD) for request, report in seen):
        raise Broken("somebody is taken for dead by a server that has started less than a lease ago")
    match act.kind:
        case Kind.CRASH:
            return Move(_death(act.who))
        case Kind.RESTART:
            return Move(("distributor_starts",)) if _is_distributor(act.who) else NOTHING
        case Kind.STOP:
            return Move(("client_dies",))
        case Kind.COMES_UP:
            return NOTHING
        case Kind.COMMAND_ENDS:
            assert act.ending is not None
            return Move((COMMANDS[act.ending],))
        case Kind.JOB_ENDS:
            return Move(("take_job", "start_refused", "worker_dies", "orphan_ends"))
        case Kind.INSTANCE_LAPSES:
            return Move(("instance_is_late",))
        case Kind.RUN_LAPSES:
            return Move(("run_is_late",))
        case Kind.SERVER_RESTARTS | Kind.GRACE_ENDS:
            return NOTHING  # the model's server is always up, and need not take any object for dead
    if seen:
        return of_request(*seen[0])
    if len(after.jobs) > len(before.jobs):
        return Move(("submit",))
    return _of_the_worker(act.who, before) if act.who.startswith("job ") else NOTHING


def _is_distributor(who: str) -> bool:
    return who.startswith("d")


def _death(who: str) -> tuple[str, ...]:
    if who.startswith("job "):
        return ("worker_dies", "wrapper_dies")
    if who == "reaper":
        return ()  # in the model the reaper is always up, but need not act
    return ("distributor_dies",) if _is_distributor(who) else ("client_dies",)


def _of_the_worker(who: str, before: State) -> Move:
    """A step of a wrapper that sent no request that was carried out."""
    worker = before.jobs[int(who.removeprefix("job "))].worker
    assert worker is not None
    if worker.stage is Stage.ASK:
        return Move(("start_refused", "hear_that_it_is_fenced"))
    if worker.stage is Stage.KILL:
        return Move(("hear_that_it_is_fenced",) if worker.fenced else ("stop_command",))
    return NOTHING


def terminated(act: Act, before: State, after: State) -> list[int]:
    """Returns the instances whose jobs a distributor has just decided to terminate, and that are not over.

    The distributor decides by the last report that it got, and the model has to agree at that time. Later it stays
    right: an instance without control does not regain it.
    """
    if not _is_distributor(act.who) or act.kind not in (Kind.STEP, Kind.LOST):
        return []
    had, has = _removes(act.who, before), _removes(act.who, after)
    alive = {job.instance for job in after.jobs if job.phase is not Phase.OVER}
    return sorted((has - had) & alive)


def _removes(who: str, at: State) -> set[int]:
    memory = dict(at.agents)[who].memory
    if not isinstance(memory, DistributorMemory):
        return set()
    return {todo.instance for todo in memory.todo if todo.act is Does.REMOVE}

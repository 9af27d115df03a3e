"""The legal moves of each object, and the state that follows for the object that it belongs to.

This is the last check inside a transaction. The guards of the requests decide whether a move is right; a move that is
missing here is a fault of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from .errors import IllegalMove
from .records import InstanceState as I
from .records import RunState as R
from .records import TaskState as T
from .records import WorkflowState as W

INSTANCE_MOVES: dict[I, frozenset[I]] = {
    I.QUEUED: frozenset({I.INSTANTIATED, I.FATAL}),
    I.INSTANTIATED: frozenset({I.LAUNCHED, I.NO_DISTRIBUTOR_ID, I.FATAL}),
    I.LAUNCHED: frozenset({I.RUNNING, I.NO_HEARTBEAT, I.FATAL}),
    I.NO_HEARTBEAT: frozenset({I.ERROR}),
    I.RUNNING: frozenset({I.DONE, I.ERROR, I.RESOURCE_ERROR, I.FATAL, I.TRIAGING}),
    I.TRIAGING: frozenset({I.RUNNING, I.UNKNOWN_ERROR, I.RESOURCE_ERROR, I.FATAL}),
    I.DONE: frozenset(),
    I.ERROR: frozenset(),
    I.RESOURCE_ERROR: frozenset(),
    I.UNKNOWN_ERROR: frozenset(),
    I.NO_DISTRIBUTOR_ID: frozenset(),
    I.FATAL: frozenset(),
}

TASK_MOVES: dict[T, frozenset[T]] = {
    T.REGISTERING: frozenset({T.QUEUED}),
    T.QUEUED: frozenset({T.INSTANTIATING, T.REGISTERING, T.FAILED}),
    T.INSTANTIATING: frozenset({T.LAUNCHED, T.REGISTERING, T.FAILED}),
    T.LAUNCHED: frozenset({T.RUNNING, T.REGISTERING, T.FAILED}),
    T.RUNNING: frozenset({T.DONE, T.REGISTERING, T.ADJUSTING, T.FAILED}),
    T.ADJUSTING: frozenset({T.QUEUED}),
    T.FAILED: frozenset({T.REGISTERING}),
    T.DONE: frozenset(),
}
"""Only a new run moves a task out of failed."""

RUN_MOVES: dict[R, frozenset[R]] = {
    R.REGISTERED: frozenset({R.LINKING, R.ABORTED}),
    R.LINKING: frozenset({R.BOUND, R.ABORTED}),
    R.BOUND: frozenset({R.INSTANTIATED, R.ERROR, R.COLD_RESUME, R.HOT_RESUME}),
    R.INSTANTIATED: frozenset({R.LAUNCHED, R.ERROR}),
    R.LAUNCHED: frozenset({R.RUNNING, R.ERROR}),
    R.RUNNING: frozenset({R.DONE, R.STOPPED, R.ERROR, R.COLD_RESUME, R.HOT_RESUME}),
    R.COLD_RESUME: frozenset({R.TERMINATED}),
    R.HOT_RESUME: frozenset({R.TERMINATED}),
    R.DONE: frozenset(),
    R.STOPPED: frozenset(),
    R.ERROR: frozenset(),
    R.TERMINATED: frozenset(),
    R.ABORTED: frozenset(),
}

WORKFLOW_MOVES: dict[W, frozenset[W]] = {
    W.REGISTERING: frozenset({W.QUEUED, W.ABORTED}),
    W.ABORTED: frozenset({W.REGISTERING}),
    W.FAILED: frozenset({W.REGISTERING}),
    W.HALTED: frozenset({W.REGISTERING}),
    W.QUEUED: frozenset({W.INSTANTIATING, W.FAILED, W.HALTED}),
    W.INSTANTIATING: frozenset({W.LAUNCHED, W.FAILED}),
    W.LAUNCHED: frozenset({W.RUNNING, W.FAILED}),
    W.RUNNING: frozenset({W.DONE, W.HALTED, W.FAILED}),
    W.DONE: frozenset(),
}

OF_INSTANCE: dict[I, T] = {
    I.QUEUED: T.QUEUED,
    I.INSTANTIATED: T.INSTANTIATING,
    I.LAUNCHED: T.LAUNCHED,
    I.RUNNING: T.RUNNING,
    I.DONE: T.DONE,
}
"""The state of a task whose latest instance is in a given state without an error; see :func:`task_after`."""

OF_RUN: dict[R, W] = {
    R.LINKING: W.REGISTERING,
    R.BOUND: W.QUEUED,
    R.INSTANTIATED: W.INSTANTIATING,
    R.LAUNCHED: W.LAUNCHED,
    R.RUNNING: W.RUNNING,
    R.DONE: W.DONE,
    R.TERMINATED: W.HALTED,
    R.STOPPED: W.FAILED,
    R.ERROR: W.FAILED,
    R.ABORTED: W.ABORTED,
}
"""The state that a workflow gets when its run reaches a state. The other states of a run leave it unchanged."""


def task_after(status: T, attempts_left: bool, instance: I) -> T:
    """Returns the state of a task in ``status`` when its latest instance reaches ``instance``."""
    if instance in (I.TRIAGING, I.NO_HEARTBEAT):
        return status
    if instance in OF_INSTANCE:
        return OF_INSTANCE[instance]
    if not attempts_left:
        return T.FAILED
    return T.ADJUSTING if instance is I.RESOURCE_ERROR else T.REGISTERING


S = TypeVar("S", bound=StrEnum)


def check(what: str, moves: Mapping[S, frozenset[S]], before: S, after: S) -> None:
    """Checks a move of an object against its table.

    Raises:
        IllegalMove: the table has no such row.
    """
    if after is not before and after not in moves[before]:
        raise IllegalMove(f"{what} cannot go from {before} to {after}")

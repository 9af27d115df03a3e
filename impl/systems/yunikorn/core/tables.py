"""The transition tables: of applications, and of queues and partitions (the object state).

D: a line of the document; F: a section of the facts; R: a repair, by its number in the package's docstring.
"""

from __future__ import annotations

from schedproof.impl.table_machine import Row, TableMachine

from .records import ObjectState, State

S, Q = State, ObjectState

RUN = "runApplication"
REJECT = "rejectApplication"
COMPLETE = "completeApplication"
FAIL = "failApplication"
EXPIRE = "expireApplication"
RESUME = "resumeApplication"

APPLICATION_ROWS = (
    Row(REJECT, S.NEW, S.REJECTED, "D27, D31; F 1"),
    Row(RUN, S.NEW, S.ACCEPTED, "D18; F 1"),
    Row(RUN, S.RESUMING, S.ACCEPTED, "F 1"),
    Row(RUN, S.ACCEPTED, S.STARTING, "D19; F 1"),
    Row(RUN, S.STARTING, S.RUNNING, "D20; F 1"),
    Row(RUN, S.RUNNING, S.RUNNING, "D21; F 1, a loop: no state is entered"),
    Row(RUN, S.COMPLETING, S.RUNNING, "F 0 and 1"),
    Row(COMPLETE, S.ACCEPTED, S.COMPLETING, "D22; F 1"),
    Row(COMPLETE, S.STARTING, S.COMPLETING, "D22; F 1"),
    Row(COMPLETE, S.RUNNING, S.COMPLETING, "D22; F 1"),
    Row(COMPLETE, S.COMPLETING, S.COMPLETED, "D23; F 1"),
    Row(FAIL, S.NEW, S.FAILING, "D25; F 1"),
    Row(FAIL, S.ACCEPTED, S.FAILING, "D25; F 1"),
    Row(FAIL, S.STARTING, S.FAILING, "D25; F 1"),
    Row(FAIL, S.RUNNING, S.FAILING, "D25; F 1"),
    Row(FAIL, S.FAILING, S.FAILED, "D26; F 1"),
    Row(RESUME, S.NEW, S.RESUMING, "F 1"),
    Row(RESUME, S.ACCEPTED, S.RESUMING, "F 1"),
    # Not from Failed, as in F 1: Failed is final (D26, R10).
    Row(EXPIRE, S.COMPLETED, S.EXPIRED, "D23-24; F 1"),
)

START = "Start"
STOP = "Stop"
REMOVE = "Remove"

OBJECT_ROWS = (
    Row(REMOVE, Q.ACTIVE, Q.DRAINING, "D49, D59; F 2"),
    # An empty stopped object is ready to be removed (D50), so an event must allow that.
    Row(REMOVE, Q.STOPPED, Q.DRAINING, "D50; R8"),
    Row(REMOVE, Q.DRAINING, Q.DRAINING, "F 2"),
    Row(START, Q.ACTIVE, Q.ACTIVE, "F 2"),
    Row(START, Q.STOPPED, Q.ACTIVE, "D50, D57; F 2"),
    Row(STOP, Q.ACTIVE, Q.STOPPED, "D50, D58; F 2"),
    Row(STOP, Q.STOPPED, Q.STOPPED, "F 2"),
)

APPLICATION = TableMachine("application", State, APPLICATION_ROWS)
OBJECT = TableMachine("object", ObjectState, OBJECT_ROWS)

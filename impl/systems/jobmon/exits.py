"""The exit status of the client's process: what it says about the workflow."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit status of ``client``. It is 0 only if every task of the workflow is done."""

    DONE = 0
    FAILED = 1
    MISTAKE = 2
    STOPPED = 3
    MADE_ROOM = 4
    CUT_OFF = 5
    INTERRUPTED = 130


MEANINGS = {
    Exit.DONE: "every task is done",
    Exit.FAILED: "a task failed in its last attempt",
    Exit.MISTAKE: "the command line or the workflow file is wrong",
    Exit.STOPPED: "the run was stopped by Ctrl-C or SIGTERM",
    Exit.MADE_ROOM: "another client took the workflow over",
    Exit.CUT_OFF: "the server gave no answer, another run has the workflow, or this run was reaped: run it again",
    Exit.INTERRUPTED: "a second Ctrl-C ended the client at once; its run is reaped later",
}
"""Each status in words, for ``--help``."""

OF_ENDS = {
    "done": Exit.DONE,
    "failed": Exit.FAILED,
    "stopped": Exit.STOPPED,
    "stopped before it ran": Exit.STOPPED,
    "made room": Exit.MADE_ROOM,
}
"""The exit status for each end that a client reaches by itself. A reaped run has failed as well: see ``client``."""

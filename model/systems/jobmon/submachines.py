"""The sub-machines of 2021, for which the document's prose was written: what goes on inside of Registering, Instantiating and Running.

The figures have them (facts 1.3 and 1.4), each box with who sets its states: "main" is who owns the box; the client and the reconciler, a
thread of the client, set some of the others' states as well.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class By(enum.StrEnum):
    """Who makes a move."""

    MAIN = "main"
    """The owner of the box."""
    CLIENT = "client"
    RECONCILER = "reconciler"


@dataclass(frozen=True)
class Move:
    """From a state of a box to another, and who makes it."""

    source: str
    target: str
    by: By = By.MAIN


@dataclass(frozen=True)
class SubMachine:
    """What goes on inside of a state of the universal machine.

    Args:
        inside: that state.
        title: what is written over the box.
        states: by letter; the first is where it begins.
        signals: the states by which control is passed on.
        errors: the states that come to Triaging, or are fatal.
    """

    inside: str
    title: str
    states: Mapping[str, str]
    moves: Sequence[Move]
    signals: frozenset[str] = frozenset()
    errors: frozenset[str] = frozenset()


TASK_INSTANCE = [
    SubMachine(
        "Registering",
        "REGISTERING / _adjust_resources_and_queue",
        {"G": "Registered", "Q": "Queued", "A": "Aborted"},
        [Move("G", "Q"), Move("G", "A")],
        signals=frozenset({"Q"}),
        errors=frozenset({"A"}),
    ),
    SubMachine(
        "Instantiating",
        "INSTANTIATING / _create_task_instance",
        {"I": "Instantiated", "B": "BatchExecutor", "W": "NoExecutorId", "U": "UnknownError", "K": "KillSelf"},
        [Move("I", "B"), Move("I", "W"), Move("B", "U", By.RECONCILER), Move("B", "K", By.CLIENT)],
        signals=frozenset({"B"}),
        errors=frozenset({"W", "U", "K"}),
    ),
    SubMachine(
        "Running",
        "execution_wrapper.unwrap",
        {
            "R": "Running",
            "D": "Done",
            "K": "KillSelf",
            "U": "UnknownError",
            "Z": "ResourceError",
            "E": "ApplicationError",
        },
        [
            Move("R", "D"),
            Move("R", "E"),
            Move("R", "K", By.CLIENT),
            Move("R", "U", By.RECONCILER),
            Move("R", "Z", By.RECONCILER),
        ],
        errors=frozenset({"K", "U", "Z", "E"}),
    ),
]

WORKFLOW_RUN = [
    SubMachine(
        "Registering",
        "REGISTERING / _create_workflow_run",
        {"G": "Registered", "B": "Bound", "A": "Aborted"},
        [Move("G", "B"), Move("G", "A")],
        signals=frozenset({"B"}),
        errors=frozenset({"A"}),
    ),
    SubMachine(
        "Instantiating",
        "INSTANTIATING / submit to executor",
        {"I": "Instantiated", "B": "BatchExecutor", "W": "NoExecutorId", "U": "UnknownError", "H": "Halted"},
        [Move("I", "B"), Move("I", "W"), Move("B", "U", By.RECONCILER), Move("B", "H", By.CLIENT)],
        signals=frozenset({"B"}),
        errors=frozenset({"W", "U", "H"}),
    ),
    SubMachine(
        "Running",
        "workflow_run._execute",
        {
            "R": "Running",
            "D": "Done",
            "E": "RuntimeError",
            "U": "UnknownError",
            "Z": "ResourceError",
            "C/H": "Resume",
            "H": "Halted",
        },
        [
            Move("R", "D"),
            Move("R", "E"),
            Move("R", "U", By.RECONCILER),
            Move("R", "Z", By.RECONCILER),
            Move("R", "C/H", By.CLIENT),
            # Twice: the worker says that it has halted (lines 153 to 155), or the reaper says it for it.
            Move("C/H", "H"),
            Move("C/H", "H", By.RECONCILER),
        ],
        errors=frozenset({"E", "U", "Z", "H"}),
    ),
]

"""The sub-machines inside Registering, Instantiating and Running.

The document's prose was written for these sub-machines of 2021. The figures draw each box with the agents that set its
states (facts 1.3 and 1.4). "main" is the owner of the box. The client and the reconciler, a thread of the client, set
some states of other owners' boxes as well.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class By(enum.StrEnum):
    """The agent that makes a move."""

    MAIN = "main"
    """The owner of the box."""
    CLIENT = "client"
    RECONCILER = "reconciler"


@dataclass(frozen=True)
class Move:
    """A move from one state of a box to another, and the agent that makes it."""

    source: str
    target: str
    by: By = By.MAIN


@dataclass(frozen=True)
class SubMachine:
    """A machine inside a state of the universal machine.

    Args:
        inside: that state.
        title: the title of the box.
        states: by letter; the first is the initial state.
        signals: the states that pass control on.
        errors: the states that lead to Triaging, or are fatal.
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
            # Twice: the worker reports that it has halted (lines 153 to 155), or the reaper reports it instead.
            Move("C/H", "H"),
            Move("C/H", "H", By.RECONCILER),
        ],
        errors=frozenset({"E", "U", "Z", "H"}),
    ),
]

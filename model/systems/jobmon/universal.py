"""The universal machine: the states of every task instance and workflow run, with the owner and the role for each.

The document describes the states (lines 59 to 68). Only its figure shows the moves between them and their owners (facts
1.2). "ERROR_RECOVERABLE" in the figure of deployment units (facts 1.1) is not a state: it is Triaging, and then Queued
again.
"""

import enum

from schedproof.model.lang import Row, Sort, State


class Agent(enum.StrEnum):
    """The agents that can have control: the deployment units, and the server, which decides on errors (lines 46, 50)."""

    CLIENT = "client"
    SCHEDULER = "scheduler"
    WORKER = "worker"
    SERVER = "server"


class Role(enum.StrEnum):
    """What an agent decides or does (lines 20 to 23)."""

    DEFINER = "definer"
    """It decides which instructions will execute."""
    CONTROLLER = "controller"
    """It decides when."""
    DISTRIBUTOR = "distributor"
    """It decides where."""
    OPERATOR = "operator"
    """It executes them."""


TASK_ROLES = {
    # lines 87 to 89
    Agent.CLIENT: (Role.DEFINER, Role.CONTROLLER),
    Agent.SCHEDULER: (Role.DISTRIBUTOR,),
    Agent.WORKER: (Role.OPERATOR,),
}
WORKFLOW_ROLES = {
    # lines 161 to 163: scheduler and worker have none
    Agent.CLIENT: (Role.DEFINER, Role.CONTROLLER, Role.DISTRIBUTOR, Role.OPERATOR),
    Agent.SCHEDULER: (),
    Agent.WORKER: (),
}

STATES = [
    State("Registering", line=59),
    State("Queued", line=60),
    State("Aborted", line=61),
    State("Instantiating", line=62),
    State("Launched", line=63),
    State("Running", line=64),
    State("Done", line=65),
    State("Triaging", line=66),
    State("Failed", line=67),
    State("Halted", line=68),
]

OWNER = {
    # The boxes of the figure (facts 1.2). The server's box has a second copy of Queued, because the server retries.
    "Registering": Agent.CLIENT,
    "Queued": Agent.CLIENT,
    "Aborted": Agent.CLIENT,
    "Instantiating": Agent.SCHEDULER,
    "Launched": Agent.SCHEDULER,
    "Running": Agent.WORKER,
    "Done": Agent.WORKER,
    "Triaging": Agent.SERVER,
    "Failed": Agent.SERVER,
    "Halted": Agent.SERVER,
}

TAKEN_UP_BY = {
    # "signals using an -ed word to signal to the next deployment unit that it can claim control" (line 48).
    "Queued": Agent.SCHEDULER,
    "Launched": Agent.WORKER,
    "Halted": Agent.CLIENT,
}
"""For each signal, the agent that may take it up.

Aborted and Failed end in -ed as well, but are for no agent: they are fatal (lines 61, 67).
"""

DEPLOYMENT_FLOW = [
    # facts 1.1: from, to, signal; None is the end
    (Agent.CLIENT, Agent.SCHEDULER, "QUEUED"),
    (Agent.SCHEDULER, Agent.WORKER, "LAUNCHED"),
    (Agent.SCHEDULER, Agent.SCHEDULER, "ERROR_RECOVERABLE"),
    (Agent.WORKER, Agent.SCHEDULER, "ERROR_RECOVERABLE"),
    (Agent.WORKER, Agent.CLIENT, "HALTED"),
    (Agent.WORKER, None, "ERROR_FATAL"),
    (Agent.WORKER, None, "DONE"),
]


def table(sort: Sort) -> list[Row]:
    """Returns the rows of the universal machine for a sort: an owner posts a signal, or claims control after one."""
    return [
        Row(sort, "queue", "Registering", "Queued", line=60),
        Row(sort, "abort", "Registering", "Aborted", line=61),
        Row(sort, "instantiate", "Queued", "Instantiating", line=62),
        Row(sort, "launch", "Instantiating", "Launched", line=63),
        Row(sort, "run", "Launched", "Running", line=64),
        Row(sort, "finish", "Running", "Done", line=65),
        Row(sort, "err", "Instantiating", "Triaging", line=66),
        Row(sort, "err", "Running", "Triaging", line=66),
        Row(sort, "retry", "Triaging", "Queued", line=50, fact="1.2"),
        Row(sort, "fail", "Triaging", "Failed", line=67),
        Row(sort, "halt", "Triaging", "Halted", line=68),
        Row(sort, "resume", "Halted", "Registering", fact="1.2"),
    ]

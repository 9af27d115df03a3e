"""The four machines that run, by the code (facts 2): the moves that the server allows for each.

The document has one machine for all. The code has four, whose letters mean different things, so the states have full
names here. For task instances, the events are the facts' "stated cause" of each move (2.1). For the other machines they
are what the moves mean (3.1, 3.2, 3.5). ``UNTIMELY`` lists moves that are asked for too late: the server ignores them,
and does not refuse them.
"""

from collections.abc import Mapping

from schedproof.model.lang import Row, Sort
from schedproof.model.lang.terms import Value
from schedproof.model.systems.jobmon.sorts import Task, TaskInstance, Workflow, WorkflowRun

TASK_INSTANCE_STATES = {
    "Q": "Queued",
    "I": "Instantiated",
    "O": "Launched",
    "R": "Running",
    "T": "Triaging",
    "D": "Done",
    "E": "Error",
    "Z": "ResourceError",
    "U": "UnknownError",
    "W": "NoDistributorId",
    "X": "NoHeartbeat",
    "K": "KillSelf",
    "F": "ErrorFatal",
}
TASK_STATES = {
    "G": "Registering",
    "Q": "Queued",
    "I": "Instantiating",
    "O": "Launched",
    "R": "Running",
    "D": "Done",
    "E": "ErrorRecoverable",
    "A": "AdjustingResources",
    "F": "ErrorFatal",
}
WORKFLOW_RUN_STATES = {
    "G": "Registered",
    "L": "Linking",
    "B": "Bound",
    "I": "Instantiated",
    "O": "Launched",
    "R": "Running",
    "D": "Done",
    "S": "Stopped",
    "E": "Error",
    "C": "ColdResume",
    "H": "HotResume",
    "T": "Terminated",
    "A": "Aborted",
}
WORKFLOW_STATES = {
    "G": "Registering",
    "Q": "Queued",
    "I": "Instantiating",
    "O": "Launched",
    "R": "Running",
    "D": "Done",
    "H": "Halted",
    "F": "Failed",
    "A": "Aborted",
}


def rows(
    sort: Sort, states: dict[str, str], fact: str, moves: dict[str, str], sets: Mapping[str, Mapping[str, Value]] = {}
) -> list[Row]:
    """Returns the rows of a table.

    Args:
        sort: the sort of the machine.
        states: by letter, the name of each state.
        fact: the section of the facts.
        moves: by event, its moves as the facts write them (``I>O R>O``).
        sets: by event, the attributes that it sets.
    """
    return [
        Row(sort, event, states[move[0]], states[move[2]], line=None, fact=fact, **sets.get(event, {}))
        for event, among in moves.items()
        for move in among.split()
    ]


TASK_INSTANCE_TABLE = rows(
    TaskInstance,
    TASK_INSTANCE_STATES,
    "2.1",
    {
        "instantiate": "Q>I",
        "launch": "I>O",
        "get_no_id": "I>W",
        "start": "I>R O>R T>R",  # from I: the worker reports before the distributor; from T: a late heartbeat
        "finish": "R>D K>D",
        "fail": "R>E X>E",
        "vanish": "O>U R>U T>U",
        "run_out_of_resources": "O>Z R>Z T>Z",
        "miss_heartbeat": "O>X R>T",
        "be_told_to_die": "Q>K I>K O>K R>K",
        "end": "K>F T>F O>F",  # from O: the environment has changed
    },
    # both begin a new deadline (3.1)
    sets={"launch": {"overdue": False}, "start": {"overdue": False}},
)
TASK_INSTANCE_UNTIMELY = ["R>O", "E>O", "E>U", "E>E", "U>D", "U>E", "U>Z", "Z>U", "D>U", "K>E", "K>Z", "K>U"]

TASK_TABLE = rows(
    Task,
    TASK_STATES,
    "2.2",
    {
        "queue": "G>Q A>Q E>Q",
        "instantiate": "Q>I",
        "launch": "I>O",
        "start": "I>R O>R",
        "finish": "R>D",
        "err": "I>E O>E R>E",
        "adjust": "E>A",
        "retry": "E>G",
        "give_up": "E>F",
    },
)

WORKFLOW_RUN_TABLE = rows(
    WorkflowRun,
    WORKFLOW_RUN_STATES,
    "2.3",
    {
        "link": "G>L",
        "bind": "L>B",
        "abort": "L>A",
        "instantiate": "B>I",
        "launch": "I>O",
        "start": "O>R",
        "err": "B>E I>E O>E R>E",
        "resume_cold": "B>C R>C",
        "resume_hot": "B>H R>H",
        "finish": "R>D",
        "stop": "R>S",
        "terminate": "C>T H>T",
    },
    # an accepted move is a heartbeat (3.4)
    sets={event: {"overdue": False} for event in ("link", "bind", "instantiate", "launch", "start")},
)
WORKFLOW_RUN_UNTIMELY = ["R>R", "L>L"]

WORKFLOW_TABLE = rows(
    Workflow,
    WORKFLOW_STATES,
    "2.4",
    {
        "queue": "G>Q",
        "abort": "G>A",
        "register_again": "A>G F>G H>G",
        "instantiate": "Q>I",
        "launch": "I>O",
        "start": "O>R",
        "fail": "Q>F I>F O>F R>F",
        "halt": "Q>H R>H",
        "finish": "R>D",
    },
)
WORKFLOW_UNTIMELY = ["G>G"]

COUPLING = {
    # For the state that a workflow run reaches, the state of its workflow (2.5); C, H and G leave it unchanged.
    "Linking": "Registering",
    "Bound": "Queued",
    "Aborted": "Aborted",
    "Instantiated": "Instantiating",
    "Launched": "Launched",
    "Running": "Running",
    "Done": "Done",
    "Terminated": "Halted",
    "Stopped": "Failed",
    "Error": "Failed",
}

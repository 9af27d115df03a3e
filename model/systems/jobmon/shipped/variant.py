"""The shipped variant: the properties of the machine that was shipped, and those that it violates."""

from schedproof.model.lang import Model
from schedproof.model.systems.jobmon.sorts import DOCUMENT

from .client import CLIENT_ACTIONS, CLIENT_RULES
from .configurations import configurations
from .distributor import DISTRIBUTOR_ACTIONS, DISTRIBUTOR_RULES
from .machines import AXIOMS, MACHINES, TABLE
from .properties import PROPERTIES
from .server import SERVER_ACTIONS, SERVER_RULES
from .worker import WORKER_ACTIONS, WORKER_RULES

SCOPE = {
    **{"Workflow": 2, "Task": 2},
    **dict.fromkeys(("WorkflowRun", "Client", "Distributor"), 2),
    **dict.fromkeys(("TaskInstance", "Job"), 2),
}

SHIPPED = Model(
    system="jobmon",
    variant="shipped",
    about="what runs: four tables of moves, a client with a distributor of its own, workers, and a reaper",
    document=DOCUMENT,
    machines=MACHINES,
    rows=TABLE,
    actions=[*CLIENT_ACTIONS, *DISTRIBUTOR_ACTIONS, *WORKER_ACTIONS, *SERVER_ACTIONS],
    rules=[*CLIENT_RULES, *DISTRIBUTOR_RULES, *WORKER_RULES, *SERVER_RULES],
    properties=PROPERTIES,
    axioms=AXIOMS,
    configurations=configurations,
    default_scope=SCOPE,
    refuted=frozenset(
        {
            # control: the client's sync and winding up, a bulk update, a worker that acts before or after its time, the
            # reaper
            "the-client-moves-only-its-own",
            "the-distributor-moves-only-its-own",
            "the-worker-moves-only-its-own",
            "the-server-moves-only-its-own",
            # work that a dead client leaves: no agent takes it up, or it cannot be resumed at all
            "signals-can-be-taken-up",
            "instances-can-end",
            "runs-can-end",
            "workflows-can-be-done",
            "workflows-can-be-run",
            # an agent that is late, or that remains of a run that is over, still acts
            "one-live-instance",
            "only-the-live-run-queues",
            "halted-before-a-new-run",
            # writes past the tables
            "task-is-the-image-of-its-instance",
            "instances-end-for-good",
            "resources-grow-on-resource-errors",
            # a worker that is late once: its heartbeat is refused, and so is its report
            "late-instances-can-run-again",
            "finished-work-counts",
        }
    ),
    assumes={"workflows-can-be-done": ["WorkflowRun.punctual"]},
)

"""The map from requests and responses to messages of the model."""

from __future__ import annotations

from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    CreateNode,
    NewAllocation,
    NodeAccepted,
    NodeAction,
    NodeRejected,
    ReleaseAllocation,
    ReleaseAsk,
    ReleasedAllocation,
    ReleasedAsk,
    RemoveApplication,
    Request,
    Response,
    TerminationType,
    UpdateNode,
)

MessageKey = tuple[str, str]
"""The kind of a message, and the name of its subject."""

NODE_ACTIONS = {
    NodeAction.DRAIN_NODE: "DrainNode",
    NodeAction.DRAIN_TO_SCHEDULABLE: "RestoreNode",
    NodeAction.DECOMMISSION: "DecommissionNode",
}
STATES_FOR_SHIM = frozenset({"Resuming", "Failing", "Failed"})
"""The core's application states to which the shim reacts."""


def message_key(message: Request | Response) -> MessageKey | None:
    """Returns the model's message for ``message``; None if it has no effect in the model."""
    match message:
        case AddApplication(name):
            return "SubmitApplication", name
        case RemoveApplication(name):
            return "RemoveApplication", name
        case AddAsk(_, ask):
            return "AddAsk", ask
        case ReleaseAsk(_, str(ask)):
            return "WithdrawAsk", ask
        case ReleaseAllocation(_, str(allocation)):
            return "ReleaseAllocation", allocation
        case CreateNode(node):
            return "CreateNode", node
        case UpdateNode(node, action):
            return NODE_ACTIONS[action], node
        case ApplicationAccepted(name):
            return "ApplicationAccepted", name
        case ApplicationRejected(name):
            return "ApplicationRejected", name
        case ApplicationUpdated(name, state) if state in STATES_FOR_SHIM:
            return f"Application{state}", name
        case AskRejected(_, ask):
            return "AskRejected", ask
        case NewAllocation(_, ask):
            return "NewAllocation", ask
        case ReleasedAllocation(_, allocation, how) if how is not TerminationType.STOPPED_BY_RM:
            return "AllocationReleased", allocation
        case ReleasedAsk(_, ask, TerminationType.TIMEOUT):
            return "AskReleased", ask
        case NodeAccepted(node):
            return "NodeAccepted", node
        case NodeRejected(node):
            return "NodeRejected", node
    return None

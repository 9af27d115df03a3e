"""The contradictions in the document's text, and between its text and its figures.

Each contradiction has its lines, their quotation, what contradicts what, and our interpretation.
"""

from schedproof.model.lang import Contradiction

CONTRADICTIONS = (
    Contradiction(
        "failed-is-final-and-expires",
        (
            (26, "This is a final state. The application cannot change state after entering."),
            (24, "The completed application is tracked for a period of time, after that is expired"),
            (37, "Here is a diagram that shows the states with the event that causes the state to change:"),
        ),
        "The text calls Failed final, and lets only completed applications expire. The figure of line 38 has an arrow from Failed to Expired.",
        "The model has the arrow. The sentences are the properties failed-is-final and only-the-completed-expire, which are violated.",
        violates=["failed-is-final", "only-the-completed-expire"],
    ),
    Contradiction(
        "resuming-is-in-the-figure-only",
        (
            (16, "An application can have the following states:"),
            (29, "The events that can trigger a state change:"),
            (37, "Here is a diagram that shows the states with the event that causes the state to change:"),
        ),
        "The figure of line 38 has a state Resuming and an event resume. The list of states from line 18 lacks the state, and the list of events "
        "from line 31 the event.",
        "The model has both. Their causes are interpretations.",
    ),
    Contradiction(
        "resuming-is-the-other-end-of-a-gang",
        (
            (
                25,
                "during gang scheduling, if the placeholder processing times out, and the application has no real allocations yet.",
            ),
            (37, "Here is a diagram that shows the states with the event that causes the state to change:"),
        ),
        "In the text a gang whose placeholders time out is Failing. In the figure an application can be Resuming instead, from New and from "
        "Accepted; the text leaves no other cause for it.",
        "A Hard gang fails and a Soft one resumes.",
    ),
    Contradiction(
        "new-applications-have-nothing-left",
        (
            (18, "The first ask to be added will trigger the transition."),
            (22, "An application that has no pending requests or running containers/pod will be completing."),
        ),
        "A New application has no request and no container until its first ask. By line 22 it would be completing. The same holds for one that is "
        "Failed or Rejected.",
        "Line 22 is about applications in the scheduling cycle: the figure has arrows to Completing only from those.",
    ),
    Contradiction(
        "completing-is-scheduled-and-is-not",
        (
            (22, "currently is not actively being scheduled."),
            (23, "it cannot move back into any of scheduling states (Running or Completing)"),
        ),
        "Line 23 counts Completing among the scheduling states. Line 22 excludes it, and lines 19 to 21 name three others.",
        "The scheduling cycle is Accepted, Starting and Running.",
    ),
    Contradiction(
        "stopped-is-removed-and-only-draining-is",
        (
            (50, "The object if empty is ready to be removed from the scheduler."),
            (
                51,
                "Before an object can be removed it needs to be cleaned up. The cleanup starts with placing the object in the draining state.",
            ),
        ),
        "By line 50 a Stopped object is removed as it is. By line 51 it is Draining first. The figure has no arrow from Stopped to Draining.",
        "The model follows line 50. The requirements of line 51 are stopped-queues-drain and stopped-partitions-drain, which are violated.",
        violates=["stopped-queues-drain", "stopped-partitions-drain"],
    ),
    Contradiction(
        "a-draining-partition-is-scheduled-and-its-applications-fail",
        (
            (25, "The application can be Failing when the partition it belongs to is removed"),
            (49, "An active object transitions to draining when it is removed."),
            (51, "but is still actively being scheduled. This allows for a graceful shutdown"),
        ),
        "A removed partition is Draining and still scheduled, so that it can shut down gracefully. Its applications are Failing from the moment "
        "of the removal, so nothing of it is scheduled.",
        "The applications fail when the partition gets Remove. The property draining-queues-are-scheduled is about queues of Active partitions.",
    ),
    Contradiction(
        "expired-applications-are-there-and-are-deleted",
        (
            (24, "after that is expired and deleted from the scheduler. This is a final state"),
            (35, "Expire: progress the application to the expired state and remove it from the scheduler"),
        ),
        "The event that makes an application Expired also removes it. What is removed has no state.",
        "An Expired application stays in its state. The removal of its record is left out.",
    ),
)

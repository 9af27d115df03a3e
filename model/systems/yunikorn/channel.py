"""The messages between core and shim, and the order in which they arrive.

The two components are "independent and not shared" (line 6): what one does reaches the other later, as a message.
``ordered`` messages of one direction arrive in the order in which they were sent: there is one queue (facts, section
4).
"""

from collections.abc import Mapping, Sequence

from schedproof.model.lang import Action, Rigid, Rule, Term
from schedproof.model.lang.channels import Channels, Kind
from schedproof.model.lang.terms import Fires

from .sorts import Application, Ask, Message, Node

OF_APPLICATIONS = (
    *("SubmitApplication", "RemoveApplication", "ApplicationAccepted", "ApplicationRejected"),
    *("ApplicationResuming", "ApplicationFailing", "ApplicationFailed"),
)
OF_ASKS = (
    *("AddAsk", "WithdrawAsk", "ReleaseAllocation"),
    *("AskRejected", "NewAllocation", "AskReleased", "AllocationReleased"),
)
OF_NODES = ("CreateNode", "DrainNode", "RestoreNode", "DecommissionNode", "NodeAccepted", "NodeRejected")
KINDS = (*OF_APPLICATIONS, *OF_ASKS, *OF_NODES)
TO_CORE = (
    *("SubmitApplication", "RemoveApplication", "AddAsk", "WithdrawAsk", "ReleaseAllocation"),
    *("CreateNode", "DrainNode", "RestoreNode", "DecommissionNode"),
)
TO_SHIM = tuple(kind for kind in KINDS if kind not in TO_CORE)
RANKS = {"AskReleased": 1, "AllocationReleased": 2}
"""The order of what a gang's time-out sends: the new state, released asks, released allocations (1.3)."""

SUBJECTS = {"application": Application, "ask": Ask, "node": Node}
CHANNELS = Channels(
    Message,
    [
        Kind(name, "core" if name in TO_CORE else "shim", about, RANKS.get(name, 0))
        for about, names in (("application", OF_APPLICATIONS), ("ask", OF_ASKS), ("node", OF_NODES))
        for name in names
    ],
    SUBJECTS,
    line=6,
    lost="4, dispatcher.go:76-171",
)
"""The channels to the core and to the shim; a message that waits too long for the shim can be lost (section 4)."""

e, f, r = CHANNELS.variables

MESSAGE = CHANNELS.machine
MESSAGE_TABLE = CHANNELS.table
CHANNEL_RULES = CHANNELS.rules
CHANNEL_AXIOMS = CHANNELS.axioms
CHANNEL_PROPERTIES = CHANNELS.properties

lose = CHANNELS.lose("the shim's queue stays full for too long, and the message about {e} is lost")


def sending(name: str, on: Action | Fires, when: Sequence[Term], kind: str, about: Term, *, fact: str = "") -> Rule:
    """A rule: when ``on`` happens and ``when`` holds, a message of ``kind`` is sent.

    Args:
        on: the action or event that triggers the rule.
        when: the rule's guards.
        kind: one of :data:`KINDS`.
        about: the application, ask or node of the message.
        fact: the section of the facts that says so.
    """
    return CHANNELS.sending(name, on, when, kind, about, fact=fact)


def delivery(kind: str, says: str, when: Sequence[Term] = (), *, fact: str = "") -> Action:
    """The action by which a message of ``kind`` arrives, when it is its turn; ``says`` may contain ``{e}``."""
    return CHANNELS.delivery(kind, says, when, line=6, fact=fact)


def lost_with(action: Action, *, to_core: bool) -> Rule:
    """A rule: ``action`` loses all messages of one direction.

    The messages were in the memory of the process that died, or were addressed to it.
    """
    return CHANNELS.lost_with(action, "core" if to_core else "shim")


def messages(
    about: Mapping[str, int],
    *,
    kinds: Sequence[str] = KINDS,
    ordered: bool = True,
    overtaking: Sequence[str] = (),
    losable: Sequence[str] = (),
) -> Rigid:
    """Returns the rigid attributes of a configuration's messages.

    Args:
        about: the numbers of the core's objects, {"Application": .., "Ask": .., "Node": ..}; the shim has one object
            for each.
        kinds, ordered, overtaking, losable: as for :meth:`.Channels.messages`.
    """
    subjects = {subject: about.get(sort.name, 0) for subject, sort in SUBJECTS.items()}
    return CHANNELS.messages(subjects, kinds=kinds, ordered=ordered, overtaking=overtaking, losable=losable)

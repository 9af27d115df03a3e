"""The messages between core and shim, and the order in which they arrive.

The two components are "independent and not shared" (line 6): what one does reaches the other later, as a message.
``ordered`` messages of one direction arrive in the order in which they were sent: there is one queue (facts, section
4).
"""

from collections.abc import Mapping, Sequence

from schedproof.model.lang import Action, Rigid, Rule, Term, variables
from schedproof.model.lang.coalescing import CoalescingChannels
from schedproof.model.lang.messages import Kind
from schedproof.model.lang.rules import Effect

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
ABOUT = {
    kind: about
    for about, kinds in (("application", OF_APPLICATIONS), ("ask", OF_ASKS), ("node", OF_NODES))
    for kind in kinds
}
"""What a message of each kind is about."""

LOSS = "4, dispatcher.go:76-171"

CHANNELS = CoalescingChannels(
    Message,
    kinds=[Kind(name, **{about: SUBJECTS[about]}) for name, about in ABOUT.items()],
    to={"core": TO_CORE, "shim": TO_SHIM},
    ranks=RANKS,
    lossy=True,
    loss=LOSS,
    line=6,
)
"""The channels to the core and to the shim; a message that waits too long for the shim can be lost (section 4)."""

e, f, r = variables(Message, "e f r")

lose = Action(
    "lose",
    [],
    [],
    [CHANNELS.lose(e)],
    "the shim's queue stays full for too long, and the message about {e} is lost",
    fact=LOSS,
)


def send(kind: str, about: Term) -> Effect:
    """What a rule fires to send a message of a kind about an application, an ask or a node."""
    return CHANNELS.send(kind, message=r, **{ABOUT[kind]: about})


def delivery(kind: str, says: str, when: Sequence[Term] = (), *, fact: str = "") -> Action:
    """The action by which a message of ``kind`` arrives, when it is its turn; ``says`` may contain ``{e}``."""
    return CHANNELS.delivery(kind, says, when, line=6, fact=fact)


def lost_with(action: Action, *, to_core: bool) -> Rule:
    """A rule: ``action`` loses all messages of one direction.

    The messages were in the memory of the process that died, or were addressed to it.
    """
    channel = "core" if to_core else "shim"
    name = f"{action.name} loses what is under way to the {channel}"
    return CHANNELS.dropping(name, action, channel=channel, fact=action.fact)


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
        kinds, ordered, overtaking, losable: as for :meth:`.CoalescingChannels.messages`.
    """
    subjects = {subject: about.get(sort.name, 0) for subject, sort in SUBJECTS.items()}
    return CHANNELS.messages(subjects, kinds=kinds, ordered=ordered, overtaking=overtaking, losable=losable)

"""The k8shim of YuniKorn 0.12.2: a resource manager that stands between Kubernetes and a core, with repairs.

It is written from the facts (F: their sections) and the repairs in words, not from the model. The document has a
picture of each of its four machines and no word. The repairs (R), each against what v0.12.2 does:

1. An application that is being recovered can be rejected; there the recovery fails, and the process ends.
2. What the core wants back, an allocation or an ask, is heard in every state of the application and moves none. A
   pod that is gone is answered at once, a task that goes while it asks gives back both, and a real pod whose ask is
   dropped is rejected.
3. An application can fail in Recovering and Resuming too. What fails deletes its pods, and has failed when none of its
   tasks goes on; there it fails for good when it is told so a second time, too early or never.
4. A reservation is over when every placeholder is bound or gone, a resumption when all are gone, whenever that
   comes about; there each is looked at on one occasion only. Placeholders nobody will use are deleted.
5. A cordon that comes while a node is being registered is remembered, and told when the core has the node.
6. An allocation that comes for a task that has ended, or for none, is given back. A shim that registers again is
   told again what the core holds, and says again what Kubernetes lists; a node that is gone is taken away.
7. The dispatcher never loses an event without a word: if it has to, the process ends, and the next one recovers.

``tables``: the machines. ``dispatcher``: the one queue. ``applications``, ``tasks``, ``nodes``: what happens around their
states. ``news``: what the core says. ``shim``: the process. ``kubernetes``: the API, and one in memory. ``link``: the way to the core.
"""

from .context import OnDrop, Send
from .dispatcher import Dispatcher, Outcome
from .errors import KubernetesError, Overflow, ShimError, SubmitError
from .events import CoreNews, Dropped, Event, Job, KubernetesNews, Target, Work
from .kubernetes import Cluster, Gang, KubeNode, Kubernetes, NodeChange, Phase, Pod, PodChange, TaskGroup
from .link import Link
from .records import Application, Node, Task, World
from .shim import Shim

__all__ = [
    "Application", "Cluster", "CoreNews", "Dispatcher", "Dropped", "Event", "Gang", "Job", "KubeNode", "Kubernetes",
    "KubernetesError", "KubernetesNews", "Link", "Node", "NodeChange", "OnDrop", "Outcome", "Overflow", "Phase", "Pod", "PodChange", "Send",
    "Shim", "ShimError", "SubmitError", "Target", "Task", "TaskGroup", "Work", "World",
]  # fmt: skip

"""The k8shim of YuniKorn 0.12.2, a resource manager between Kubernetes and a core, with repairs.

The shim is written from the facts (F: their sections) and the repairs below, not from the model. The document has
only a picture of each of its four machines. Each repair (R) replaces something that v0.12.2 does:

1. An application that is being recovered can be rejected. In v0.12.2 the recovery fails, and the process ends.
2. The core can ask back an allocation or an ask in every state of the application; that moves no application. A pod
   that is gone is answered at once. A task that ends while it asks gives back both. A real pod whose ask is dropped
   is rejected.
3. An application can fail in Recovering and Resuming too. It deletes its pods, and has failed when none of its tasks
   is active. In v0.12.2 it fails for good at the second notification: too early or never.
4. A reservation is over when every placeholder is bound or gone, a resumption when all are gone. The shim checks that
   at every change; v0.12.2 checks each on one occasion only. Placeholders that nobody will use are deleted.
5. A cordon that comes while a node is being registered is remembered, and sent when the core has the node.
6. An allocation for a task that has ended, or that does not exist, is given back. When a shim registers again, the
   core repeats what it holds and the shim repeats what Kubernetes lists; a node that is gone is decommissioned.
7. The dispatcher reports every event that it loses: the process ends, and the next one recovers.

- ``tables``: the machines. ``dispatcher``: the one queue.
- ``applications``, ``tasks``, ``nodes``: the effects of their events. ``news``: the core's messages.
- ``shim``: the process. ``link``: the way to the core.
- ``kubernetes``: the API, and a cluster in memory.
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

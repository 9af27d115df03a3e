"""Core and shim in one model: the shim's messages replace the free actions of the core model's resource manager."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from schedproof.model.lang import NONE, Action, Rigid, Row, Rule, Term, exists, forall, implies, variable

from .channel import CHANNELS, KINDS, messages
from .machines import a, k, n
from .shim_events import OWN_ACTIONS
from .shim_machines import SHIM_BESIDE, SHIM_MACHINES_SHIPPED, SHIM_TABLE, b, c, m, t, u, z
from .shim_messages import DELIVERIES, MESSAGE_RULES, to_core
from .shim_rules import OWN_RULES
from .sorts import ShimNode, ShimScheduler

l = variable(ShimNode, "l")  # noqa: E741 - the letter before that of a node
y = variable(ShimScheduler, "y")

ALONE: Mapping[str, Term] = {
    **dict.fromkeys(("submit", "reject", "remove_application"), ~exists(b, b.core == a)),
    **dict.fromkeys(("add_ask", "remove_ask", "end"), ~exists(t, t.ask == k)),
    **dict.fromkeys(("create_node", "drain_node", "restore_node", "decommission_node"), ~exists(m, m.core == n)),
}
"""When the core model's resource manager acts freely: no object of the shim stands for the core's object."""

SHIM_MACHINES = [*SHIM_MACHINES_SHIPPED, *CHANNELS.machines]
SHIM_ROWS: list[Row] = [*SHIM_TABLE, *SHIM_BESIDE, *CHANNELS.rows]
SHIM_ACTIONS: list[Action] = [*OWN_ACTIONS, *DELIVERIES]
SHIM_AXIOMS = [
    # Each object of the shim stands for a different object of the core. There is one scheduler. A task's application
    # stands for the application of its ask.
    forall(b, b.core != NONE),
    forall([b, c], implies(b.core == c.core, b == c)),
    forall(t, (t.ask != NONE) & (t.application != NONE) & (t.application.core == t.ask.application)),
    forall([t, u], implies(t.ask == u.ask, t == u)),
    forall(m, m.core != NONE),
    forall([m, l], implies(m.core == l.core, m == l)),
    forall([z, y], z == y),
    *CHANNELS.axioms,
]


def apart(actions: Sequence[Action]) -> list[Action]:
    """Returns the core model's actions; those of its resource manager are guarded by :data:`ALONE`."""
    return [
        replace(action, when=[*action.when, ALONE[action.name]]) if action.name in ALONE else action
        for action in actions
    ]


def shim_rules(actions: Sequence[Action]) -> list[Rule]:
    """Returns the rules of shim and messages.

    Args:
        actions: the core's actions, before :func:`apart`.
    """
    guards = {action.name: action.when for action in actions}
    return [
        *OWN_RULES,
        *MESSAGE_RULES,
        *to_core(
            submit=guards["submit"],
            add_ask=guards["add_ask"],
            remove_ask=guards["remove_ask"],
            end=guards["end"],
            create=guards["create_node"],
        ),
    ]


@dataclass(frozen=True)
class Shim:
    """The shim's part of a configuration.

    Args:
        applications, nodes: how many the core has; the shim has an object for each.
        asks: the application of each ask of the core.
        scheduler: whether there is a scheduler object, which has to register and recover; without it the shim is up.
        mortal: whether the shim's process can die.
        troubled: whether applications can fail in the shim, and pods can fail to be bound.
        kinds, ordered, overtaking, losable: as for :func:`.channel.messages`.
    """

    applications: int = 1
    asks: Sequence[int] = ()
    nodes: int = 0
    scheduler: bool = False
    mortal: bool = False
    troubled: bool = False
    kinds: Sequence[str] = KINDS
    ordered: bool = True
    overtaking: Sequence[str] = ()
    losable: Sequence[str] = ()

    @property
    def rigid(self) -> Rigid:
        """The rigid attributes of the shim's objects and of the messages."""
        about = {"Application": self.applications, "Ask": len(self.asks), "Node": self.nodes}
        return {
            ("ShimApplication", "core"): list(range(self.applications)),
            ("ShimApplication", "troubled"): [self.troubled] * self.applications,
            ("Task", "ask"): list(range(len(self.asks))),
            ("Task", "application"): list(self.asks),
            ("ShimNode", "core"): list(range(self.nodes)),
            ("ShimScheduler", "partition"): [0] * self.scheduler,
            ("ShimScheduler", "mortal"): [self.mortal] * self.scheduler,
            **messages(about, kinds=self.kinds, ordered=self.ordered, overtaking=self.overtaking, losable=self.losable),
        }


NO_SHIM: Rigid = Shim(applications=0).rigid
"""No object of the shim: the core alone."""

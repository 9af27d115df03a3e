"""YuniKorn's reference core and shim beside the model of both: what they do are its steps, and they do not wait for ever."""

from __future__ import annotations

import re

import pytest

from schedproof.impl.systems.yunikorn.core import Draft
from schedproof.impl.systems.yunikorn.shim import Cluster
from schedproof.impl.systems.yunikorn.shim.applications import Applications
from schedproof.model.systems.yunikorn import COMPONENTS_REPAIRED
from schedproof.model.systems.yunikorn.channel import KINDS, OF_NODES
from schedproof.model.systems.yunikorn.components import Shim
from schedproof.model.systems.yunikorn.configurations import WORK, Configuration
from schedproof.model.systems.yunikorn.shim_messages import DELIVER
from schedproof.proofs.refinement.simulation import SimulationReport
from schedproof.proofs.systems.yunikorn.refinement.core_and_shim.check import check_simulation
from schedproof.proofs.systems.yunikorn.refinement.core_and_shim.component import Parts
from schedproof.proofs.systems.yunikorn.refinement.core_and_shim.moves import May
from schedproof.proofs.systems.yunikorn.refinement.properties import REFINEMENTS, ComponentsRefinement
from tests.support.sample import thinned
from tests.systems.yunikorn.core import seeded as cores
from tests.systems.yunikorn.shim.seeded import BUGS, OF_THE_ORDER


def configuration(asks: str, style: str = "Soft", *people: str) -> Configuration:
    shim = Shim(kinds=WORK, scheduler=True, mortal=True, troubled=True)
    queues = [None, 0] if "queues" in people else [None]
    return Configuration(" ".join([asks, style, *people]), [(asks, style)], people=people, queues=queues, shim=shim)


OF_THE_NODES = Shim(kinds=OF_NODES, scheduler=True, mortal=True, troubled=True)
NODES = Configuration("nodes", wakeups=0, adjustable_nodes=True, shim=OF_THE_NODES)
REFUSED = Configuration("a node, and the partition", wakeups=0, people=["partition"], shim=OF_THE_NODES)
SMALL: dict[str, tuple[Configuration, May]] = {
    "a pod ends or is deleted": (configuration("r"), May(shim_first=True, end=True, delete=True)),
    "trouble": (configuration("r"), May(shim_first=True, trouble=True)),
    "a queue is removed": (configuration("r", "Soft", "queues"), May(shim_first=True)),
    "a hard gang of two, and room for one": (configuration("ppr", "Hard"), May(shim_first=True, room=1)),
    "a node, and the shim dies twice": (NODES, May(nodes=True, crashes=2)),
    "a node that is refused": (REFUSED, May()),
}
LONG: dict[str, tuple[Configuration, May]] = {
    "a pod ends or is deleted, and the shim dies": (
        configuration("r"),
        May(shim_first=True, end=True, delete=True, crashes=1),
    ),
    "a pod ends or is deleted, event by event": (configuration("r"), May(end=True, delete=True)),
    "a gang, and the shim dies": (configuration("pr"), May(shim_first=True, crashes=1)),
    "a gang in trouble": (configuration("pr"), May(shim_first=True, trouble=True)),
    "a gang of which the partition is removed": (configuration("pr", "Soft", "partition"), May(shim_first=True)),
    "a soft gang of two, and room for one": (configuration("ppr"), May(shim_first=True, room=1)),
}


def in_the_model(report: SimulationReport) -> None:
    assert report.ok, report.text
    assert report.states >= report.images > 1


def verified() -> dict[str, SimulationReport]:
    return {refined.name: refined.check() for refined in REFINEMENTS if refined.variant == "parties-repaired"}  # type: ignore[misc]


@pytest.mark.long
def test_what_core_and_shim_do_with_an_ask_is_in_the_model() -> None:
    in_the_model(report_of("ask"))


@pytest.mark.long(seconds=30, one_in=12)
def test_what_core_and_shim_do_is_nearly_all_of_the_model() -> None:
    """In one test, so that the configurations are explored once."""
    reports = {**verified(), **{name: check_simulation(*given) for name, given in SMALL.items()}}
    for report in reports.values():
        in_the_model(report)
    # A name has a second life where a gang has completed before its real pod is asked for, and nowhere else.
    assert [name for name, report in reports.items() if report.beyond] == ["core-and-shim-refine-model-gang"]
    # The deaths are where they may be, and nowhere else.
    deaths = {name: report.crash_points for name, report in reports.items() if report.crash_points}
    assert set(deaths) == {
        *(f"core-and-shim-refine-model-{name}" for name in ("ask", "node")),
        "a node, and the shim dies twice",
    }
    actions = {action for report in reports.values() for action in report.action_counts}
    assert {action.name for action in COMPONENTS_REPAIRED.actions} - actions == NEVER
    assert {DELIVER[kind].name for kind in KINDS} - actions == {"deliver_application_resuming"}


@pytest.mark.long(one_in=32)
@pytest.mark.parametrize("name", LONG)
def test_the_same_in_larger_configurations(name: str) -> None:
    in_the_model(check_simulation(*LONG[name]))


NEVER = {
    # Only the shim speaks for the resource manager, and nothing is lost on the way.
    *("submit", "reject", "add_ask", "remove_ask", "end", "drain_node", "restore_node", "decommission_node"),
    "remove_application",
    # The core is there, answers in time, and a registration is a call that it does not refuse.
    *("registration_fails", "recovery_fails", "restart"),
    # No queue is dynamic.
    "drain_queue",
    # A plug-in says of nothing that it is complete.
    "shim_completes",
    # Only where a swap's or an allocation's node goes, which is explored for the core alone.
    "evict",
    # A partition is removed while an application is Resuming: explored for the core alone.
    "fail_late",
    # The larger configurations: a gang of two that resumes, a gang in trouble, what ends or is to go when the shim dies.
    *("deliver_application_resuming", "resume_ends", "resume_completes", "placeholders_fail"),
    *("deletion_is_lost", "deletion_of_a_bound_pod_is_lost", "end_pod_unseen"),
}


# --- what it must notice

HARD_GANG = "a hard gang of two, and room for one"
CAUGHT: dict[str, tuple[str, str]] = {
    "a release is dropped in Reserving": ("gang", "t0.pod withdrawn"),
    "a recovered application is not rejected": ("partition", "b0 Rejected"),
    "a late allocation is kept": ("a pod ends or is deleted", "ReleaseAllocation of k0"),
    "resumptions and failures are not looked at": ("trouble", "failing-can-be-left"),
    "any second failure is final": ("trouble", "t0.pod withdrawn"),
    "a cordon is forgotten": ("node", "cordoned"),
    "nodes are recovered before applications": ("ask", "the-shim-gets-to-run"),
    "nothing is asked for": ("ask", "AddAsk of k0"),
    "placeholders are left behind": (HARD_GANG, "pod pending"),
    "what has no task is kept": ("node", "DecommissionNode of n0"),
    "nothing is sent to a new shim": ("ask", "NewAllocation of k0"),
    "releases are not carried out": ("gang", "t0.pod pending"),
    "ends are not reported": ("gang", "ReleaseAllocation"),
    "failed tasks do not count": ("trouble", "failing-can-be-left"),
    "allocations are not heard": ("ask", "t0 "),
    "a pod that is to go is bound": ("trouble", "t0.pod"),
    "a pod that runs is taken for one that has ended": ("gang", "t0 "),
    "a pod that is to go is taken for one that is gone": ("gang", "t0"),
    "a node is not cordoned before it is Healthy": ("node", "cordoned"),
}
"""Where a seeded fault of the shim is caught, and by what. The others are for the scenarios: they take the death of the
core, a second life, or what no message says.
"""


@pytest.mark.parametrize("name", thinned(CAUGHT, 8))
def test_a_bug_of_the_shim_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, shows = CAUGHT[name]
    {**BUGS, **OF_THE_ORDER}[name](monkeypatch)
    caught(report_of(where), shows)


def report_of(where: str, parts: Parts = Parts()) -> SimulationReport:  # noqa: B008 - frozen
    for refined in (r for r in REFINEMENTS if r.variant == "parties-repaired"):
        if refined.name.endswith(f"-{where}"):
            assert isinstance(refined, ComponentsRefinement)
            return check_simulation(refined.configuration, refined.may, parts)
    return check_simulation(*SMALL[where], parts)


def test_a_pod_that_is_bound_elsewhere_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = Cluster.bind_pod
    monkeypatch.setattr(Cluster, "bind_pod", lambda self, name, node: bind(self, name, {"n0": "n1", "n1": "n0"}[node]))
    two = Configuration("two nodes", [("r", "Soft")], nodes=2, shim=configuration("r").shim)
    caught(check_simulation(two, May(shim_first=True)), "t0.host n1")


def caught(report: SimulationReport, shows: str) -> None:
    assert report.mismatch is not None
    assert re.search(shows, report.text), report.text
    assert "DIFFER" in report.text and "reached by:" in report.text


def test_a_bug_of_the_core_is_caught() -> None:
    class SendsNothing(Draft):
        def repeat_all(self) -> None:
            """The core sends nothing to a shim that comes back."""

    caught(report_of("ask", Parts(draft=SendsNothing)), "NewAllocation of k0")
    caught(report_of("gang", Parts(draft=cores.R3TheFirstSwapIsNone)), "a0 Running")


def test_the_way_to_a_mismatch_can_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Applications, "_submit", lambda self, it: None)
    report = report_of("ask")
    assert report.mismatch is not None
    assert list(report.mismatch.path) == [
        "the shim starts, and registers",
        "the shim gets RMAccepted of k8s",
        "a user makes k0",
        "the shim handles that it is registered",
    ]
    assert report.mismatch.actual == "SubmitApplication of a0 free"
    assert report.mismatch.expected == "SubmitApplication of a0 under_way"

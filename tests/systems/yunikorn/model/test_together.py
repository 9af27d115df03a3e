"""Core and shim as two components: what v0.12.2 drops and who then waits for ever, replayed; and which change repairs what."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from schedproof.model.lang import Change, LifeCycle, Model
from schedproof.model.systems.yunikorn.components import Shim
from schedproof.model.systems.yunikorn.configurations import Configuration
from schedproof.model.systems.yunikorn.together import COMPONENTS, COMPONENTS_REPAIRED
from schedproof.proofs.checking.model_check import model_check
from tests.systems.yunikorn.model.runs import Run

GANG = Configuration("a gang of one with a real pod", [("pr", "Soft")], wakeups=0, shim=Shim())
RESERVING = (
    *("create_pod", "submit_application", "deliver_submit_application", "deliver_application_accepted", "try_reserve"),
    *("create_placeholder", "init_task", "submit_task", "deliver_add_ask"),
)


def gang(model: Model) -> Run:
    """A gang whose only placeholder the core has allocated, and the shim has not heard of it."""
    it = Run(model, replace(GANG, shim=replace(GANG.shim, kinds=WORK)))
    return it.do("create_node", *RESERVING, "allocate")


WORK = tuple(kind for kind in Shim().kinds if "Node" not in kind)


def test_a_release_during_reserving_is_dropped_and_both_wait():
    """The time of the placeholders is over before the shim has bound the last one (facts 1.3, case 1, and 4.1:114)."""
    it = gang(COMPONENTS).do("gang_times_out", "gang_wakes", "deliver_new_allocation", "deliver_allocation_released")
    assert (it.of("ShimApplication"), it.of("Task"), it.of("Ask")) == ("Reserving", "Allocated", "releasing")
    # The pod is bound and the application runs; of the release nothing is left but what the core waits for.
    it.do("bind", "run_when_due")
    assert (it.of("ShimApplication"), it.of("Task"), it.of("Ask")) == ("Running", "Bound", "releasing")
    # A real pod could take the placeholder's place, were it not being released: only people can end it.
    it.do("init_task", "submit_task", "deliver_add_ask")
    assert "swap" not in it.possible() and "delete_pod" in it.possible()


def test_repaired_the_release_is_heard():
    it = gang(COMPONENTS_REPAIRED)
    it.do("gang_times_out", "gang_wakes", "deliver_new_allocation")
    if "deliver_application_resuming" in it.possible():
        it.do("deliver_application_resuming")
    it.do("deliver_allocation_released", "pod_is_gone")
    assert it.of("Task") == "Completed"
    it.do("deliver_release_allocation")
    assert it.of("Ask") == "released"


def test_a_placeholder_that_somebody_deletes_is_waited_for():
    """The gang's timer is armed by the first allocation: here it never is (facts 1.3)."""
    it = Run(COMPONENTS, replace(GANG, shim=replace(GANG.shim, kinds=WORK)))
    it.do(*RESERVING[:6], "delete_pending_pod 0", "pod_is_gone", "deliver_withdraw_ask")
    assert (it.of("ShimApplication"), it.of("Application")) == ("Reserving", "New")
    # Kubernetes gets a node, and people delete the real pod too: nothing else is left to happen.
    assert it.possible() == {"create_node", "delete_pending_pod"}


def test_a_cordon_that_comes_while_a_node_is_registered_is_lost():
    """Facts, section 3: whether it is schedulable is read once, when the object is made."""
    kinds = tuple(kind for kind in Shim().kinds if "Node" in kind)
    node = Configuration("a node", wakeups=0, adjustable_nodes=True, shim=Shim(kinds=kinds))
    moves = ("add_node", "cordon_unheard", "deliver_create_node", "deliver_node_accepted")
    it = Run(COMPONENTS, node).do(*moves, "node_is_ready")
    assert (it.of("ShimNode"), it.of("Node")) == ("Healthy", "schedulable")
    repaired = Run(COMPONENTS_REPAIRED, node).do(*moves, "node_is_unschedulable", "deliver_drain_node")
    assert (repaired.of("ShimNode"), repaired.of("Node")) == ("Draining", "unschedulable")


POD = Configuration("a pod", [("r", "Soft")], wakeups=0, shim=Shim(kinds=WORK, scheduler=True, mortal=True))
UP = ("register", "registered", "recover")
BOUND = (
    *("recovered", "create_node", "create_pod", "submit_application", "deliver_submit_application"),
    *("deliver_application_accepted", "skip_reservation", "init_task", "submit_task", "deliver_add_ask", "allocate"),
    *("deliver_new_allocation", "bind"),
)


def test_the_core_of_v0_12_2_dies_with_its_shim():
    """One process (4, main.go). The next one gets the application, and with the node what runs on it (4.3; 1.2, 543)."""
    it = Run(COMPONENTS, POD).do(*UP, *BOUND)
    assert (it.of("Application"), it.of("Ask"), it.of("Node")) == ("Starting", "allocated", "schedulable")
    assert not it.possible() & {"shim_crashes", "shim_crashes_silently"}
    it.do("process_crashes")
    assert (it.of("Application"), it.of("Ask"), it.of("Node")) == ("New", "to_come", "to_come")
    it.do(*UP)
    assert "create_node" not in it.possible(), "applications are recovered first (4.4)"
    it.do("recover_application", "deliver_submit_application", "create_node", "deliver_application_accepted")
    assert (it.of("Task"), it.of("Application"), it.of("Ask")) == ("Allocated", "Starting", "allocated")
    it.do("recovered", "skip_reservation", "end_pod", "deliver_release_allocation")
    assert (it.of("Application"), it.of("Ask")) == ("Completing", "released")


def test_a_recovered_application_of_a_removed_partition():
    """It is rejected (1.2), and Recovering has no row for that (4.1): the process ends."""
    shim = Shim(kinds=WORK, scheduler=True, mortal=True)
    it = Run(COMPONENTS, replace(POD, people=["partition"], shim=shim)).do(*UP, *BOUND, "process_crashes")
    it.do("remove_partition", *UP, "recover_application", "deliver_submit_application", "deliver_application_rejected")
    assert it.of("ShimApplication") == "Recovering"
    assert it.do("recovery_fails").of("ShimScheduler") == "Stopped"


def test_repaired_the_core_goes_on_without_its_shim():
    """A process for each, and the core accepts again what it knows."""
    it = Run(COMPONENTS_REPAIRED, POD).do(*UP, *BOUND, "shim_crashes")
    assert "process_crashes" not in it.possible() and it.of("Ask") == "allocated"
    it.do("register", "registered", "recover", "recover_application", "deliver_submit_application")
    it.do("deliver_new_allocation", "deliver_application_accepted")
    assert it.of("ShimApplication") == "Accepted"


CHANGES = [change for change in COMPONENTS_REPAIRED.changes if change.repairs]


def refuted(model: Model) -> set[str]:
    """What is refuted in one of the model's configurations; life cycles aside."""
    model = model.asking([p for p in model.properties if not isinstance(p, LifeCycle)])
    results = model_check(model, sizes(model))
    assert all(str(r.verdict) != "undetermined" or r.vacuous for r in results)
    return {r.name for r in results if str(r.verdict) == "refuted"}


def sizes(model: Model) -> Mapping[str, int]:
    return {sort.name: model.default_scope.get(sort.name, 1) for sort in model.sorts}


def less(change: Change, changes: Sequence[Change]) -> Model:
    kept = [replace(other, repairs=[], weakens={}) for other in changes if other is not change]
    model = COMPONENTS.amend("less", "one change less", kept, refuted=frozenset())
    return replace(model, properties=COMPONENTS_REPAIRED.properties)


@pytest.mark.long(one_in=12)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.why[:40])
def test_without_one_change_just_what_it_repairs_is_broken_again(change: Change) -> None:
    assert refuted(less(change, COMPONENTS_REPAIRED.changes)) == set(change.repairs)


@pytest.mark.long(one_in=9)
def test_a_new_shim_hears_what_the_core_still_has():
    """Of v0.12.2 this repairs nothing: its core dies with the shim."""
    [change] = [c for c in COMPONENTS_REPAIRED.changes if c.why.startswith("When a shim registers again")]
    broken_without = {"allocations-are-heard", "no-allocation-without-a-pod"}
    assert refuted(less(change, COMPONENTS_REPAIRED.changes)) == broken_without
    assert not broken_without & (COMPONENTS.refuted - {"no-allocation-without-a-pod"})

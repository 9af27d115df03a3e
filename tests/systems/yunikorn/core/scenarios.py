"""What YuniKorn's core must do, one scenario each; every step is also checked by the properties.

A scenario takes a fresh bench. The expected states are those of the document, the facts and the repairs.
"""

from __future__ import annotations

from collections.abc import Callable

from schedproof.impl.scheduler_interface import (
    AddApplication,
    AddAsk,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    ConfigurationAccepted,
    ConfigurationRejected,
    Control,
    ControlAccepted,
    ControlRejected,
    CreateNode,
    ExistingAllocation,
    GangStyle,
    NewAllocation,
    NodeAccepted,
    NodeAction,
    NodeRejected,
    PartitionSpec,
    PlacementRule,
    QueueSpec,
    RegisterRM,
    ReleaseAllocation,
    ReleasedAllocation,
    ReleasedAsk,
    RemoveApplication,
    RMAccepted,
    RMRejected,
    RuleKind,
    SortPolicy,
    TerminationType,
    UpdateConfiguration,
    UpdateNode,
)
from schedproof.impl.systems.yunikorn.core import Kind, Option, State
from tests.systems.yunikorn.core.bench import PARTITIONS, STOPPED_BY_RM, Bench

TIMEOUT = TerminationType.TIMEOUT
REPLACED = TerminationType.PLACEHOLDER_REPLACED
HARD, SOFT = GangStyle.HARD, GangStyle.SOFT
HOUR = 3600

Scenario = Callable[[Bench], None]
SCENARIOS: list[Scenario] = []


def scenario(function: Scenario) -> Scenario:
    SCENARIOS.append(function)
    return function


def works(b: Bench, reals: int = 1) -> None:
    """Application x with so many real allocations r0, r1, ... on node n."""
    b.node()
    b.app()
    for i in range(reals):
        b.ask(f"r{i}")
        b.schedule()


def gang(b: Bench, size: int, allocated: int, style: GangStyle = SOFT) -> None:
    """Application x with a gang of so many placeholders p0, p1, ... of which the first ones are on node n."""
    b.node()
    b.app(gang=size, style=style)
    for i in range(size):
        b.placeholder(f"p{i}")
    for i in range(allocated):
        b.schedule(f"p{i}")


def remove_default(b: Bench) -> None:
    b.control(Control.REMOVE)


# The life of a simple application.


@scenario
def from_new_to_expired(b: Bench) -> None:
    b.node()
    assert b.app() == [ApplicationAccepted("x")]
    assert b.state() == "New"
    b.ask("r0")
    assert b.state() == "Accepted"
    assert b.schedule() == [NewAllocation("x", "r0", "r0", "n"), ApplicationUpdated("x", "Starting", "runApplication")]
    b.ask("r1")
    b.schedule()
    assert b.state() == "Running"
    b.stop("r0")
    assert b.state() == "Running"
    assert b.stop("r1") == [
        ReleasedAllocation("x", "r1", STOPPED_BY_RM),
        ApplicationUpdated("x", "Completing", "completeApplication"),
    ]
    b.run(29.9)
    assert b.state() == "Completing"
    b.run(0.1)
    assert b.state() == "Completed"
    b.wait(72 * HOUR)
    assert b.state() == "Expired"
    b.wait(24 * HOUR)
    assert b.state() is None, "expired applications are deleted by the daily sweep"


@scenario
def one_allocation_is_enough_after_five_minutes(b: Bench) -> None:
    works(b)
    b.run(299)
    assert b.state() == "Starting"
    b.run(1)
    assert b.state() == "Running"


@scenario
def without_its_timeout_starting_ends_at_once(b: Bench) -> None:
    b.node()
    b.handle(AddApplication("x", starting_timeout=False))
    b.ask("r0")
    b.schedule()
    assert b.state() == "Starting"
    b.run(0)
    assert b.state() == "Running"


@scenario
def a_completing_application_comes_back(b: Bench) -> None:
    works(b)
    b.stop("r0")
    assert b.state() == "Completing"
    b.ask("r1")
    assert b.log() == "Accepted Starting Completing Running"


@scenario
def an_ask_that_is_withdrawn_completes_what_has_nothing_else(b: Bench) -> None:
    b.app()
    b.ask("r0")
    b.ask("r1")
    b.withdraw("r0")
    assert b.state() == "Accepted"
    b.withdraw("r1")
    assert b.state() == "Completing"


@scenario
def withdrawing_a_satisfied_ask_leaves_the_allocation(b: Bench) -> None:
    works(b)
    assert b.withdraw("r0") == []
    assert b.state() == "Starting"
    assert b.running == {"r0"}
    b.stop("r0")
    assert b.state() == "Completing"


@scenario
def all_asks_are_withdrawn_at_once(b: Bench) -> None:
    works(b)
    b.ask("r1")
    b.ask("r2")
    b.withdraw(None)
    assert b.state() == "Starting"
    assert b.core.options() == []
    assert b.running == {"r0"}


@scenario
def all_allocations_are_gone_at_once(b: Bench) -> None:
    works(b, 3)
    b.handle(ReleaseAllocation("x", None))
    assert b.running == set()
    assert b.log() == "Accepted Starting Running Completing"


@scenario
def releases_of_what_is_unknown_do_nothing(b: Bench) -> None:
    works(b)
    assert b.stop("nothing") == []
    assert b.stop("r0", app="nobody") == []
    assert b.withdraw("nothing") == []
    assert b.handle(RemoveApplication("nobody")) == []
    b.stop("r0")
    assert b.stop("r0") == []


@scenario
def what_has_completed_cannot_come_back(b: Bench) -> None:
    works(b)
    b.stop("r0")
    b.run(30)
    (answer,) = b.ask("r1")
    assert isinstance(answer, AskRejected)
    assert b.state() == "Completed"
    assert b.app() == [ApplicationAccepted("x")], "its name is free"
    assert b.state() == "New"


@scenario
def asks_have_names_of_their_own(b: Bench) -> None:
    works(b)
    b.app("y")
    (answer,) = b.ask("r0", "y")
    assert isinstance(answer, AskRejected) and "already" in answer.reason
    b.withdraw("r0")
    (answer,) = b.ask("r0", "y")
    assert isinstance(answer, AskRejected), "its allocation has the name"
    b.ask("r1")
    (answer,) = b.ask("r1", "y")
    assert isinstance(answer, AskRejected), "it is pending"
    (answer,) = b.ask("nothing", amount=0)
    assert isinstance(answer, AskRejected) and "more than nothing" in answer.reason


@scenario
def a_removed_application_leaves_nothing_but_its_record(b: Bench) -> None:
    works(b, 2)
    b.ask("r2")
    b.handle(RemoveApplication("x"))
    assert b.running == set()
    assert b.state() == "Completing"
    assert b.core.world.applications == () and b.core.world.asks == ()
    b.app()
    assert b.state() == "New"
    old = b.core.world.tracked[0]
    (timer,) = [t.name for t in b.clock.pending() if getattr(t.name, "application", 0) == old.serial]
    b.clock.advance(30)
    assert b.fire(timer) == [], "the RM knows another application by this name now"
    assert b.core.world.tracked[0].state is State.COMPLETED
    assert b.state() == "New"


@scenario
def an_application_that_is_removed_while_completing_takes_its_time(b: Bench) -> None:
    works(b)
    b.stop("r0")
    b.run(10)
    b.handle(RemoveApplication("x"))
    assert b.state() == "Completing"
    b.run(20)
    assert b.state() == "Completed"


@scenario
def a_new_application_that_is_removed_is_forgotten(b: Bench) -> None:
    b.app()
    b.handle(RemoveApplication("x"))
    assert b.state() is None


@scenario
def an_application_that_is_removed_in_the_middle_of_a_swap(b: Bench) -> None:
    gang(b, 2, 2)
    b.node("m")
    b.drain("n")
    b.ask("r0", group="g")
    b.schedule("r0", "m", "p0")
    news = b.handle(RemoveApplication("x"))
    assert [r for r in news if isinstance(r, ReleasedAllocation)] == [
        ReleasedAllocation("x", f"p{i}", STOPPED_BY_RM) for i in (0, 1)
    ]
    assert b.log() == "Accepted Starting Completing"
    assert [n.allocated for n in b.core.world.nodes] == [0, 0], "what the swap held on m is free"


@scenario
def an_application_that_is_removed_while_it_resumes(b: Bench) -> None:
    gang(b, 2, 1)
    b.fire(b.due(Kind.GANG))
    b.handle(RemoveApplication("x"))
    assert b.log() == "Accepted Resuming Accepted Completing"
    b.run(30)
    assert b.state() == "Completed"


# R1: late wakeups.


@scenario
def a_late_wakeup_of_starting_does_nothing_in_another_state(b: Bench) -> None:
    works(b)
    late = b.late(Kind.STATE)
    b.stop("r0")
    assert b.state() == "Completing"
    assert b.deliver(late) == []


@scenario
def a_late_wakeup_of_completing_does_nothing_in_a_later_completing(b: Bench) -> None:
    works(b)
    b.stop("r0")
    late = b.late(Kind.STATE)
    b.ask("r1")
    b.schedule()
    b.stop("r1")
    assert b.state() == "Completing"
    assert b.deliver(late) == [], "the new stay has its own 30 s"
    b.run(30)
    assert b.state() == "Completed"


@scenario
def a_late_wakeup_finds_its_application_gone(b: Bench) -> None:
    works(b)
    late = b.late(Kind.STATE)
    b.handle(RemoveApplication("x"))
    b.app()
    assert b.deliver(late) == []
    assert b.state() == "New"


@scenario
def timers_are_stopped_when_their_state_is_left(b: Bench) -> None:
    works(b)
    starting = b.timer(Kind.STATE)
    b.stop("r0")
    assert starting not in [t.name for t in b.clock.pending()]
    assert b.timer(Kind.STATE) in [t.name for t in b.clock.pending()]


@scenario
def a_late_gang_timer_of_an_earlier_gang_does_nothing(b: Bench) -> None:
    gang(b, 2, 1)
    late = b.late(Kind.GANG)
    b.stop("p0")
    b.schedule("p1")
    assert b.timer(Kind.GANG) != late
    assert b.deliver(late) == []
    assert b.state() == "Accepted"


@scenario
def a_late_gang_timer_finds_the_application_completed(b: Bench) -> None:
    gang(b, 1, 1)
    late = b.late(Kind.GANG)
    b.stop("p0")
    b.run(30)
    assert b.state() == "Completed"
    assert b.deliver(late) == []


# Gangs.


@scenario
def a_gang_starts_when_all_of_it_is_there(b: Bench) -> None:
    gang(b, 2, 1)
    assert b.state() == "Accepted"
    b.schedule("p1")
    assert b.state() == "Starting"


@scenario
def what_is_more_than_the_gang_is_no_start(b: Bench) -> None:
    b.node()
    b.app(gang=3)
    b.handle(AddAsk("x", "p0", 2, placeholder=True, task_group="g"))
    b.handle(AddAsk("x", "p1", 2, placeholder=True, task_group="g"))
    b.schedule_all()
    assert b.state() == "Accepted"


@scenario
def a_gang_has_fifteen_minutes_by_default(b: Bench) -> None:
    gang(b, 2, 1)
    b.run(899)
    assert b.state() == "Accepted"
    b.run(1)
    assert b.state() == "Resuming"


@scenario
def a_gang_has_the_time_that_it_asks_for(b: Bench) -> None:
    b.node()
    b.handle(AddApplication("x", placeholders=3, gang_timeout=60))
    b.placeholder("p0")
    b.schedule()
    b.run(30)
    b.placeholder("p1")
    b.schedule()
    assert [t.deadline for t in b.clock.pending() if t.name == b.timer(Kind.GANG)] == [60 * 10**9]
    b.run(30)
    assert b.state() == "Resuming"


@scenario
def a_gang_has_no_timer_once_the_application_runs(b: Bench) -> None:
    b.node()
    b.app(gang=2)
    b.ask("r0")
    b.schedule("r0")
    b.placeholder("p0")
    b.schedule("p0")
    assert b.record().gang_timer is None


@scenario
def a_gang_that_asks_for_no_time_or_too_much_has_the_default(b: Bench) -> None:
    b.node()
    for name, seconds in (("x", -1.0), ("y", float("inf")), ("z", 1e12)):
        b.handle(AddApplication(name, placeholders=2, gang_timeout=seconds))
        b.placeholder(f"p{name}", name)
        b.schedule()
        assert [t.deadline for t in b.clock.pending() if t.name == b.timer(Kind.GANG, name)] == [900 * 10**9]


@scenario
def a_soft_gang_begins_anew(b: Bench) -> None:
    gang(b, 2, 1)
    news = b.fire(b.due(Kind.GANG))
    assert ReleasedAsk("x", "p1", TIMEOUT) in news and ReleasedAllocation("x", "p0", TIMEOUT) in news
    assert b.state() == "Resuming"
    b.ask("r0")
    b.confirm_all()
    assert b.state() == "Accepted"
    b.schedule()
    assert b.log() == "Accepted Resuming Accepted Starting"


@scenario
def a_resuming_application_is_not_scheduled_until_it_is_accepted(b: Bench) -> None:
    gang(b, 2, 1)
    b.fire(b.due(Kind.GANG))
    b.ask("r0")
    assert b.core.options() == []
    b.confirm_all()
    assert b.core.options() == [Option("r0", "n")]


@scenario
def resuming_waits_for_the_last_placeholder(b: Bench) -> None:
    gang(b, 3, 2)
    b.fire(b.due(Kind.GANG))
    b.confirm("p0")
    assert b.state() == "Resuming"
    b.confirm("p1")
    assert b.state() == "Completing", "nothing is requested, and nothing runs (D22)"


@scenario
def a_gang_that_begins_anew_without_placeholders_goes_on_at_once(b: Bench) -> None:
    # A timer that is not stopped, or comes late, must not make a wedge of it: here it is called by itself.
    b.app(gang=1)
    b.placeholder("p0")
    draft = b.core.draft_type(b.core.world, 0)
    draft.resume("x")
    assert [e.state for e in draft.applications["x"].log] == ["Accepted", "Resuming", "Accepted", "Completing"]


@scenario
def a_hard_gang_fails(b: Bench) -> None:
    gang(b, 2, 1, HARD)
    news = b.fire(b.due(Kind.GANG))
    assert ApplicationUpdated("x", "Failing", "ResourceReservationTimeout") in news
    assert ReleasedAsk("x", "p1", TIMEOUT) in news and ReleasedAllocation("x", "p0", TIMEOUT) in news
    (answer,) = b.ask("r0")
    assert isinstance(answer, AskRejected), "it is cleaned up, nothing is added (D25)"
    b.confirm_all()
    assert b.state() == "Failed"
    b.wait(72 * HOUR)
    assert b.state() is None, "the record ends; Failed is final"
    assert not any(isinstance(r, ApplicationUpdated) and r.state == "Expired" for r in b.seen)


@scenario
def a_hard_gang_with_a_swapped_in_allocation_goes_on(b: Bench) -> None:
    gang(b, 3, 2, HARD)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.confirm("p0")
    assert b.state() == "Starting"
    b.fire(b.due(Kind.GANG))
    assert b.state() == "Starting"
    assert [r.allocation for r in b.owed] == ["p1"]
    assert b.core.options() == [Option("p2", "n")], "in Starting the asks stay"


@scenario
def a_hard_gang_does_not_fail_while_its_first_swap_is_under_way(b: Bench) -> None:
    gang(b, 2, 1, HARD)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    assert b.state() == "Accepted"
    b.fire(b.due(Kind.GANG))
    assert b.state() == "Accepted", "its first real allocation is on its way (D25)"
    assert NewAllocation("x", "r0", "r0", "n") in b.confirm("p0")
    assert b.state() == "Starting"


@scenario
def the_time_of_a_running_gang_only_takes_its_placeholders(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0")
    b.run(300)
    assert b.state() == "Running"
    b.fire(b.due(Kind.GANG))
    assert b.state() == "Running"
    assert sorted(r.allocation for r in b.owed) == ["p0", "p1"]
    b.confirm_all()
    assert b.state() == "Running", "it has an ask"
    b.withdraw("r0")
    assert b.state() == "Completing"


@scenario
def the_gang_timer_is_stopped_with_the_last_placeholder(b: Bench) -> None:
    gang(b, 3, 2)
    timer = b.timer(Kind.GANG)
    b.stop("p0")
    assert timer in [t.name for t in b.clock.pending()]
    b.stop("p1")
    assert timer not in [t.name for t in b.clock.pending()]


@scenario
def a_gang_timer_in_failing_does_not_end_the_cleaning_up(b: Bench) -> None:
    gang(b, 2, 1, HARD)
    timer = b.timer(Kind.GANG)
    remove_default(b)
    assert b.state() == "Failing"
    b.clock.advance(HOUR)
    b.fire(timer)
    assert b.state() == "Failing"
    b.confirm_all()
    assert b.state() == "Failed"


# R2 and R3: swaps, and what is left of a gang.


@scenario
def a_placeholder_is_swapped_for_a_real_ask(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.ask("other", group="another")
    assert Option("r0", "n") not in b.core.options(), "the placeholders are for it"
    assert Option("other", "n") in b.core.options()
    assert b.schedule("r0", "n", "p0") == [ReleasedAllocation("x", "p0", REPLACED)]
    assert NewAllocation("x", "r0", "r0", "n") in b.confirm("p0")
    assert b.state() == "Running", "one is added to those that have made it Starting (D20)"
    b.ask("r1", group="g")
    b.schedule("r1", "n", "p1")
    b.confirm("p1")
    assert b.state() == "Running"


@scenario
def a_swap_confirmed_in_accepted_starts_the_application(b: Bench) -> None:
    gang(b, 2, 1)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.confirm("p0")
    assert b.state() == "Starting"


@scenario
def a_placeholder_in_starting_is_one_allocation_more(b: Bench) -> None:
    b.node()
    b.app(gang=2)
    b.ask("r0")
    b.schedule("r0")
    assert b.state() == "Starting"
    b.placeholder("p0")
    b.schedule("p0")
    assert b.state() == "Running", "Starting is for exactly one (D20)"


@scenario
def the_last_placeholder_is_swapped(b: Bench) -> None:
    gang(b, 1, 1)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    assert NewAllocation("x", "r0", "r0", "n") in b.confirm("p0")
    assert b.log() == "Accepted Starting Running"


@scenario
def a_placeholder_that_ends_by_itself_is_swapped_too(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    assert NewAllocation("x", "r0", "r0", "n") in b.stop("p0")


@scenario
def a_soft_gang_does_not_begin_anew_while_its_first_swap_is_under_way(b: Bench) -> None:
    gang(b, 3, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.fire(b.due(Kind.GANG))
    assert b.state() == "Accepted"
    assert {r.allocation for r in b.owed} == {"p0", "p1"}
    b.confirm("p0")
    b.confirm("p1")
    assert b.log() == "Accepted Starting"


@scenario
def what_runs_last_in_a_gang_takes_the_placeholders_along(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.confirm("p0")
    assert ReleasedAllocation("x", "p1", TIMEOUT) in b.stop("r0")
    assert b.state() == "Running", "not Completing before the last placeholder is gone (D22)"
    b.confirm("p1")
    assert b.state() == "Completing"


@scenario
def a_gang_that_loses_its_last_placeholder_has_nothing_to_do(b: Bench) -> None:
    gang(b, 2, 2)
    b.stop("p0")
    assert b.state() == "Starting"
    b.stop("p1")
    assert b.state() == "Completing"


@scenario
def an_ask_that_is_too_large_for_the_placeholders_is_allocated_like_any_other(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", amount=2, group="g")
    assert b.core.options() == [Option("r0", "n")]


@scenario
def a_swap_goes_elsewhere_if_the_placeholders_node_cannot_be_used(b: Bench) -> None:
    gang(b, 2, 2)
    b.node("m", 1)
    b.drain("n")
    b.ask("r0", group="g")
    assert b.core.options() == [Option("r0", "m", "p0"), Option("r0", "m", "p1")]
    b.schedule("r0", "m", "p0")
    b.ask("r1", group="g")
    assert b.core.options() == [], "the swap under way holds the room on m"
    assert NewAllocation("x", "r0", "r0", "m") in b.confirm("p0")


@scenario
def withdrawing_an_ask_does_not_stop_its_swap(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.withdraw("r0")
    assert b.state() == "Starting"
    assert NewAllocation("x", "r0", "r0", "n") in b.confirm("p0")


# R9: nodes.


@scenario
def a_drained_node_gets_nothing_new(b: Bench) -> None:
    works(b)
    b.drain()
    b.ask("r1")
    b.ask("r2", node="n")
    assert b.core.options() == []
    assert b.running == {"r0"}, "what runs there stays"
    b.handle(UpdateNode("n", NodeAction.DRAIN_TO_SCHEDULABLE))
    assert b.core.options() == [Option("r1", "n"), Option("r2", "n")]


@scenario
def a_swap_does_not_come_to_a_node_that_was_drained_meanwhile(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.drain("n")
    assert not any(isinstance(r, NewAllocation) for r in b.confirm("p0"))
    b.node("m")
    assert Option("r0", "m", "p1") in b.core.options(), "it is pending again"


@scenario
def a_withdrawn_swap_that_cannot_come_is_released(b: Bench) -> None:
    gang(b, 1, 1)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.withdraw("r0")
    b.drain("n")
    assert ReleasedAsk("x", "r0", TIMEOUT) in b.confirm("p0")
    assert b.state() == "Completing"


@scenario
def a_required_node_is_the_only_one(b: Bench) -> None:
    b.node("m")
    b.node("n")
    b.app()
    b.ask("r0", node="n")
    assert b.core.options() == [Option("r0", "n")]


@scenario
def a_node_has_only_so_much_room(b: Bench) -> None:
    b.handle(CreateNode("n", 5, occupied=2))
    b.app()
    for i in range(4):
        b.ask(f"r{i}")
    b.schedule_all()
    assert len(b.running) == 3
    b.stop("r0")
    assert b.core.options() == [Option("r3", "n")]


@scenario
def a_decommissioned_node_takes_its_allocations_along(b: Bench) -> None:
    works(b, 2)
    b.node("m")
    b.ask("r2")
    b.schedule("r2", "m")
    news = b.decommission("n")
    assert news == [ReleasedAllocation("x", f"r{i}", STOPPED_BY_RM) for i in (0, 1)]
    assert b.running == {"r2"}
    b.decommission("m")
    assert b.state() == "Completing"
    assert b.decommission("m") == [], "unknown nodes are ignored"


@scenario
def decommission_with_a_swap_on_the_same_node(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.node("m")
    b.decommission("n")
    assert b.running == set()
    assert b.core.options() == [Option("r0", "m")], "the swap is reverted, its ask pending again"


@scenario
def decommission_of_the_placeholders_node_confirms_a_swap_elsewhere(b: Bench) -> None:
    gang(b, 2, 2)
    b.node("m")
    b.drain("n")
    b.ask("r0", group="g")
    b.schedule("r0", "m", "p0")
    assert NewAllocation("x", "r0", "r0", "m") in b.decommission("n")
    assert b.running == {"r0"}
    assert b.state() == "Running"


@scenario
def decommission_of_the_node_that_a_swap_goes_to(b: Bench) -> None:
    gang(b, 2, 2)
    b.node("m")
    b.drain("n")
    b.ask("r0", group="g")
    b.schedule("r0", "m", "p0")
    b.decommission("m")
    assert not any(isinstance(r, NewAllocation) for r in b.confirm("p0"))
    b.handle(UpdateNode("n", NodeAction.DRAIN_TO_SCHEDULABLE))
    assert b.core.options() == [Option("r0", "n", "p1")]


@scenario
def decommission_ends_what_resumes_and_what_fails(b: Bench) -> None:
    gang(b, 2, 1)
    b.app("y", gang=2, style=HARD)
    b.placeholder("q0", "y")
    b.schedule("q0")
    b.fire(b.due(Kind.GANG))
    b.fire(b.due(Kind.GANG, "y"))
    assert (b.state("x"), b.state("y")) == ("Resuming", "Failing")
    b.decommission()
    assert (b.state("x"), b.state("y")) == ("Completing", "Failed")


@scenario
def nodes_that_are_not_taken(b: Bench) -> None:
    b.node()
    for request, reason in (
        (CreateNode("n", 1, "other"), "already"),
        (CreateNode("m", 1, "nowhere"), "no partition"),
        (CreateNode("m", 1, occupied=2), "capacity"),
        (CreateNode("m", 1, existing=(ExistingAllocation("x", "r0"),)), "application x"),
    ):
        (answer,) = b.handle(request)
        assert isinstance(answer, NodeRejected) and reason in answer.reason
    assert [n.name for n in b.core.world.nodes] == ["n"]
    b.control(Control.STOP)
    (answer,) = b.node("m")
    assert isinstance(answer, NodeRejected) and "Stopped" in answer.reason


# R8: queues.


@scenario
def a_draining_queue_takes_no_applications_but_works(b: Bench) -> None:
    b.node()
    b.app(queue="root.a")
    b.ask("r0")
    assert b.control(Control.REMOVE, "root.a") == [ControlAccepted("default", "root.a", "Draining")]
    (answer,) = b.app("y", "root.a")
    assert isinstance(answer, ApplicationRejected) and "Draining" in answer.reason
    assert b.state("y") == "Rejected"
    b.ask("r1")
    b.schedule_all()
    assert b.running == {"r0", "r1"}
    b.run(10)
    assert "root.a" in [q.name for q in b.core.world.queues], "it is not empty"
    b.stop("r0")
    b.stop("r1")
    b.run(30 + 10)
    assert "root.a" not in [q.name for q in b.core.world.queues]


@scenario
def below_a_draining_queue_is_as_in_it(b: Bench) -> None:
    b.control(Control.REMOVE, "root.b")
    (answer,) = b.app("y", "root.b.c")
    assert isinstance(answer, ApplicationRejected)
    below = QueueSpec("root", (QueueSpec("default"), QueueSpec("a"), QueueSpec("b", (QueueSpec("c"), QueueSpec("d")))))
    (answer,) = b.handle(UpdateConfiguration((PartitionSpec("default", below), PARTITIONS[1])))
    assert isinstance(answer, ConfigurationRejected) and "Draining" in answer.reason
    b.run(10)
    assert [q.name for q in b.core.world.queues if q.partition == "default"] == ["root", "root.a", "root.default"]


@scenario
def a_stopped_queue_is_not_scheduled_and_can_be_started_again(b: Bench) -> None:
    b.node()
    b.app(queue="root.b.c")
    b.ask("r0")
    for queue in ("root", "root.b", "root.b.c"):
        b.control(Control.STOP, queue)
        assert b.core.options() == [], f"{queue} is Stopped"
        b.control(Control.START, queue)
        assert b.core.options() == [Option("r0", "n")]


@scenario
def a_stopped_queue_can_be_removed(b: Bench) -> None:
    b.control(Control.STOP, "root.a")
    b.run(10)
    assert "root.a" in [q.name for q in b.core.world.queues]
    assert b.control(Control.REMOVE, "root.a") == [ControlAccepted("default", "root.a", "Draining")]
    b.run(10)
    assert "root.a" not in [q.name for q in b.core.world.queues]


@scenario
def draining_is_final(b: Bench) -> None:
    b.app(queue="root.a")
    b.control(Control.REMOVE, "root.a")
    for control in (Control.START, Control.STOP):
        (answer,) = b.control(control, "root.a")
        assert isinstance(answer, ControlRejected) and "Draining" in answer.reason
    assert b.control(Control.REMOVE, "root.a") == [ControlAccepted("default", "root.a", "Draining")]


@scenario
def the_configuration_adds_and_removes_queues(b: Bench) -> None:
    b.app(queue="root.a")
    root = QueueSpec("root", (QueueSpec("default"), QueueSpec("new", maximum=3)))
    assert b.handle(UpdateConfiguration((PartitionSpec("default", root), PARTITIONS[1]))) == [ConfigurationAccepted()]
    states = {q.name: str(q.state) for q in b.core.world.queues if q.partition == "default"}
    assert states["root.new"] == "Active"
    assert states["root.a"] == states["root.b"] == states["root.b.c"] == "Draining"
    b.run(10)
    assert {q.name for q in b.core.world.queues if q.partition == "default"} == {
        "root", "root.default", "root.a", "root.new",
    }  # fmt: skip


@scenario
def configurations_that_are_refused_change_nothing(b: Bench) -> None:
    b.app(queue="root.a")
    before = b.core.world

    def root(*queues: QueueSpec) -> tuple[PartitionSpec, ...]:
        return (PartitionSpec("default", QueueSpec("root", queues)), PARTITIONS[1])

    for bad, reason in (
        ((), "one or more partitions"),
        ((PARTITIONS[0], PARTITIONS[0]), "names of their own"),
        ((PartitionSpec("default", QueueSpec("base", parent=True)),), "its queue must be 'root'"),
        (root(QueueSpec("a", parent=True)), "root.a is in use"),
        (root(QueueSpec("a"), QueueSpec("d.e")), "no dot"),
        (root(QueueSpec("a"), QueueSpec("d"), QueueSpec("d")), "root.d in partition default already"),
    ):
        (answer,) = b.handle(UpdateConfiguration(bad))
        assert isinstance(answer, ConfigurationRejected) and reason in answer.reason, answer
        assert b.core.world == before


@scenario
def what_is_unknown_or_the_root_cannot_be_controlled(b: Bench) -> None:
    before = b.core.world
    for queue, partition, reason in (
        ("root", "default", "goes with its partition"),
        ("root.nowhere", "default", "no queue 'root.nowhere'"),
        (None, "nowhere", "no partition nowhere"),
    ):
        (answer,) = b.control(Control.REMOVE, queue, partition)
        assert isinstance(answer, ControlRejected) and reason in answer.reason, answer
    assert b.core.world == before


@scenario
def a_queue_has_a_maximum(b: Bench) -> None:
    root = QueueSpec("root", (QueueSpec("b", (QueueSpec("c"), QueueSpec("d")), maximum=2), QueueSpec("default")))
    b.handle(UpdateConfiguration((PartitionSpec("default", root), PARTITIONS[1])))
    b.node()
    b.app(queue="root.b.c")
    b.app("y", queue="root.b.d")
    for i in range(2):
        b.ask(f"r{i}")
        b.ask(f"s{i}", "y")
    b.schedule_all()
    assert b.running == {"r0", "r1"}
    b.stop("r0")
    assert b.core.options() == [Option("s0", "n"), Option("s1", "n")]


# R4: removal of a partition; failing.


@scenario
def a_partition_waits_for_what_fails(b: Bench) -> None:
    works(b, 2)
    b.ask("r2")
    news = b.control(Control.REMOVE)
    assert ApplicationUpdated("x", "Failing", "PartitionRemoved") in news
    assert ReleasedAsk("x", "r2", TIMEOUT) in news
    assert {r.allocation for r in b.owed} == {"r0", "r1"}
    (answer,) = b.app("y")
    assert isinstance(answer, ApplicationRejected) and "Draining" in answer.reason
    (refused,) = b.node("m")
    assert isinstance(refused, NodeRejected) and "Draining" in refused.reason
    b.run(60)
    b.confirm("r0")
    b.run(60)
    assert b.state() == "Failing"
    assert [str(p.state) for p in b.core.world.partitions] == ["Draining", "Active"]
    b.confirm("r1")
    assert b.state() == "Failed"
    b.run(10)
    assert [p.name for p in b.core.world.partitions] == ["other"]
    assert b.core.world.nodes == ()
    (answer,) = b.app("y")
    assert isinstance(answer, ApplicationRejected) and "no partition" in answer.reason


@scenario
def an_application_without_anything_fails_at_once(b: Bench) -> None:
    b.app()
    b.app("y")
    b.ask("r0", "y")
    b.control(Control.REMOVE)
    assert (b.state("x"), b.state("y")) == ("Failed", "Failed")
    assert b.log("y") == "Accepted Failing Failed"


@scenario
def a_resuming_application_fails_when_it_can(b: Bench) -> None:
    gang(b, 2, 1)
    b.fire(b.due(Kind.GANG))
    b.ask("r0")
    b.control(Control.REMOVE)
    assert b.state() == "Resuming"
    b.confirm_all()
    assert b.log() == "Accepted Resuming Accepted Failing Failed"
    b.run(10)
    assert [p.name for p in b.core.world.partitions] == ["other"]


@scenario
def a_completing_application_completes_in_a_partition_that_goes(b: Bench) -> None:
    works(b)
    b.stop("r0")
    b.control(Control.REMOVE)
    (answer,) = b.ask("r1")
    assert isinstance(answer, AskRejected) and "Draining" in answer.reason
    b.run(20)
    assert len(b.core.world.partitions) == 2
    b.run(20)
    assert b.state() == "Completed"
    assert [p.name for p in b.core.world.partitions] == ["other"]
    b.wait(72 * HOUR)
    assert b.state() == "Expired", "the record outlives the partition"


@scenario
def a_removed_application_keeps_its_partition_until_it_has_completed(b: Bench) -> None:
    works(b)
    b.handle(RemoveApplication("x"))
    b.control(Control.REMOVE)
    b.run(20)
    assert len(b.core.world.partitions) == 2
    b.run(20)
    assert len(b.core.world.partitions) == 1


@scenario
def a_partition_that_the_configuration_lacks_is_removed(b: Bench) -> None:
    works(b)
    assert b.handle(UpdateConfiguration(PARTITIONS[1:]))[-1] == ConfigurationAccepted()
    assert b.state() == "Failing"
    (answer,) = b.handle(UpdateConfiguration(PARTITIONS))
    assert isinstance(answer, ConfigurationRejected) and "Draining" in answer.reason
    b.confirm_all()
    b.run(10)
    assert b.handle(UpdateConfiguration(PARTITIONS)) == [ConfigurationAccepted()], "it is gone, so it can be new"
    assert b.app() == [ApplicationAccepted("x")]


@scenario
def a_stopped_partition_does_nothing_new(b: Bench) -> None:
    works(b)
    b.ask("r1")
    b.control(Control.STOP)
    assert b.core.options() == []
    (answer,) = b.app("y")
    assert isinstance(answer, ApplicationRejected) and "Stopped" in answer.reason
    b.control(Control.START)
    assert b.core.options() == [Option("r1", "n")]
    b.control(Control.STOP)
    b.control(Control.REMOVE)
    b.confirm_all()
    b.run(10)
    assert [p.name for p in b.core.world.partitions] == ["other"]


@scenario
def a_failing_application_that_is_removed_has_failed(b: Bench) -> None:
    works(b)
    b.control(Control.REMOVE)
    b.handle(RemoveApplication("x"))
    assert b.state() == "Failed"


@scenario
def a_swap_is_called_off_when_the_partition_goes(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    news = b.control(Control.REMOVE)
    assert ReleasedAsk("x", "r0", TIMEOUT) in news
    assert b.running == {"p0", "p1"}
    b.confirm_all()
    assert b.state() == "Failed"


# R7: rejection.


@scenario
def rejected_applications(b: Bench) -> None:
    fair = QueueSpec("fair", sort_policy=SortPolicy.FAIR)
    limited = QueueSpec("mine", submitters=frozenset({"me"}), maximum=3)
    root = QueueSpec("root", (QueueSpec("default"), fair, limited, QueueSpec("up", (QueueSpec("down"),))))
    b.handle(UpdateConfiguration((PartitionSpec("default", root), PARTITIONS[1])))
    b.app()
    for request, reason in (
        (AddApplication("y", partition="nowhere"), "no partition nowhere"),
        (AddApplication("y", "root.nowhere"), "no queue 'root.nowhere'"),
        (AddApplication("y", "root.up"), "no leaf"),
        (AddApplication("y", "root.mine", user="you"), "may not submit"),
        (AddApplication("y", "root.fair", placeholders=1), "fifo"),
        (AddApplication("y", "root.mine", user="me", placeholders=4), "maximum"),
        (AddApplication("y", placeholders=-1), "negative"),
    ):
        (answer,) = b.handle(request)
        assert isinstance(answer, ApplicationRejected) and reason in answer.reason, answer
        assert b.state("y") == "Rejected" and b.log("y") == "Rejected" and b.record("y").reason == answer.reason
        (refused,) = b.ask("r0", "y")
        assert isinstance(refused, AskRejected)
    assert b.handle(AddApplication("y", "root.mine", user="me", placeholders=3)) == [ApplicationAccepted("y")]
    (answer,) = b.handle(AddApplication("x", partition="other"))
    assert isinstance(answer, ApplicationRejected) and "already" in answer.reason
    assert b.state("x") == "New", "the one that is there stays as it is"
    b.wait(72 * HOUR)
    assert not b.core.world.tracked, "only the records end"


# Recovery.


@scenario
def a_crash_forgets_all_and_the_rm_brings_it_back(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.confirm("p0")
    b.app("y")
    b.ask("s0", "y")
    late = b.late(Kind.GANG)
    b.crash()
    assert b.state() is None and not b.core.world.nodes
    b.clock.advance(10**6)
    b.clock.deliver(late)
    assert not b.core.world.applications, "a wakeup of the process that died is nobody's"
    assert b.clock.pending() == ()
    b.register()
    b.app(gang=2)
    b.app("y")
    b.running |= {"r0", "p1"}
    existing = (
        ExistingAllocation("x", "p1", placeholder=True, task_group="g"),
        ExistingAllocation("x", "r0", task_group="g"),
    )
    news = b.handle(CreateNode("n", 10, existing=existing))
    assert news[0] == NodeAccepted("n")
    assert not any(isinstance(r, NewAllocation) for r in news)
    assert b.log() == "Accepted Starting"
    assert b.timer(Kind.GANG) in [t.name for t in b.clock.pending()], "the gang's time begins anew"
    b.ask("s0", "y")
    b.schedule_all()
    assert b.running == {"p1", "r0", "s0"}
    assert b.ask("r0") == [NewAllocation("x", "r0", "r0", "n")], "recovered asks are satisfied"
    b.stop("r0")
    b.confirm_all()
    assert b.state() == "Completing"


@scenario
def recovery_brings_an_application_as_far_as_its_allocations_do(b: Bench) -> None:
    b.app()
    b.running.add("r0")
    b.handle(CreateNode("n", 10, existing=(ExistingAllocation("x", "r0"),)))
    assert b.state() == "Starting"
    b.running.add("r1")
    b.handle(CreateNode("m", 10, existing=(ExistingAllocation("x", "r1"),)))
    assert b.state() == "Running"
    b.app("y", gang=1)
    b.running |= {"p0"}
    b.handle(CreateNode("o", 1, existing=(ExistingAllocation("y", "p0", placeholder=True, task_group="g"),)))
    assert b.log("y") == "Accepted Starting"


@scenario
def a_recovered_allocation_of_a_failing_application_is_released(b: Bench) -> None:
    gang(b, 2, 1, HARD)
    b.fire(b.due(Kind.GANG))
    b.running |= {"r0"}
    b.handle(CreateNode("m", 1, existing=(ExistingAllocation("x", "r0"),)))
    b.confirm("p0")
    assert b.state() == "Failing"
    b.confirm("r0")
    assert b.state() == "Failed"


@scenario
def a_node_whose_recovery_fails_leaves_nothing(b: Bench) -> None:
    b.app()
    existing = (ExistingAllocation("x", "r0"), ExistingAllocation("nobody", "r1"))
    (answer,) = b.handle(CreateNode("n", 10, existing=existing))
    assert isinstance(answer, NodeRejected) and "nobody" in answer.reason
    assert b.state() == "New" and not b.core.world.nodes and not b.core.world.allocations


@scenario
def one_rm_registers_once(b: Bench) -> None:
    (answer,) = b.handle(RegisterRM("another", PARTITIONS))
    assert isinstance(answer, RMRejected) and "registered" in answer.reason


@scenario
def a_rm_that_has_lost_its_memory_hears_all_again(b: Bench) -> None:
    gang(b, 2, 2)
    b.ask("r0", group="g")
    b.schedule("r0", "n", "p0")
    b.ask("r1", group="g")
    before = b.core.world
    assert b.register() == [
        RMAccepted("k8s"),
        NodeAccepted("n"),
        NewAllocation("x", "p1", "p1", "n", True),
        ReleasedAllocation("x", "p0", TerminationType.PLACEHOLDER_REPLACED),
    ], "a swap is reported only when it is one"
    assert b.app(gang=2) == [ApplicationAccepted("x")]
    assert b.node("n") == [NodeAccepted("n")]
    assert b.placeholder("p0") == [ReleasedAllocation("x", "p0", TerminationType.PLACEHOLDER_REPLACED)]
    assert b.placeholder("p1") == [NewAllocation("x", "p1", "p1", "n", True)]
    assert b.ask("r0", group="g") == [] and b.ask("r1", group="g") == []
    assert b.core.world == before, "all of it was there"


@scenario
def a_failing_application_is_said_to_fail_again(b: Bench) -> None:
    gang(b, 2, 1, HARD)
    b.fire(b.due(Kind.GANG))
    answers = b.app(gang=2)
    assert [type(r).__name__ for r in answers] == ["ApplicationAccepted", "ApplicationUpdated"]
    assert answers[-1].state == "Failing"


@scenario
def what_resumes_keeps_its_real_asks(b: Bench) -> None:
    gang(b, 2, 1)
    b.ask("r0")
    b.placeholder("p1")
    b.fire(b.due(Kind.GANG))
    assert b.state() == "Resuming" and [k.name for k in b.core.world.asks] == ["r0"]
    b.confirm("p0")
    assert b.state() == "Accepted"
    b.schedule("r0", "n")
    assert b.log() == "Accepted Resuming Accepted Starting"


# Placement rules and dynamic queues.


def with_rules(b: Bench, *rules: PlacementRule) -> None:
    root = QueueSpec(
        "root", (QueueSpec("default"), QueueSpec("users", parent=True), QueueSpec("up", (QueueSpec("down"),)))
    )
    b.handle(UpdateConfiguration((PartitionSpec("default", root, rules), PARTITIONS[1])))


@scenario
def rules_are_tried_one_after_the_other(b: Bench) -> None:
    user = PlacementRule(RuleKind.USER, create=True, value="root.users")
    with_rules(b, PlacementRule(RuleKind.PROVIDED), user)
    b.handle(AddApplication("x", "root.up.down", user="me"))
    b.handle(AddApplication("y", "root.up", user="me.too"))
    b.handle(AddApplication("z", "", user="me.too"))
    assert [b.record(n).queue for n in "xyz"] == ["root.up.down", "root.users.me_dot_too", "root.users.me_dot_too"]
    (answer,) = b.control(Control.REMOVE, "root.users.me_dot_too")
    assert isinstance(answer, ControlRejected) and "dynamic" in answer.reason
    b.run(10)
    assert b.record("y").queue in [q.name for q in b.core.world.queues]
    b.handle(RemoveApplication("y"))
    b.handle(RemoveApplication("z"))
    b.run(10)
    states = {q.name: str(q.state) for q in b.core.world.queues}
    assert states["root.users.me_dot_too"] == "Draining", "before it is removed, an object is Draining (line 51)"
    assert states["root.users"] == "Active"
    b.run(10)
    assert "root.users.me_dot_too" not in [q.name for q in b.core.world.queues], "empty dynamic queues go"
    assert "root.users" in [q.name for q in b.core.world.queues]


@scenario
def a_rule_creates_only_what_it_may(b: Bench) -> None:
    with_rules(b, PlacementRule(RuleKind.PROVIDED), PlacementRule(RuleKind.FIXED, value="root.default"))
    b.handle(AddApplication("x", "root.users.deep.er"))
    assert b.record().queue == "root.default"
    with_rules(b, PlacementRule(RuleKind.PROVIDED, create=True))
    b.handle(AddApplication("y", "root.users.deep.er"))
    assert b.record("y").queue == "root.users.deep.er"
    queues = {q.name: q for q in b.core.world.queues}
    assert queues["root.users.deep.er"].leaf and not queues["root.users.deep"].leaf
    with_rules(b, PlacementRule(RuleKind.PROVIDED))
    (answer,) = b.handle(AddApplication("z", "root.nowhere"))
    assert isinstance(answer, ApplicationRejected) and "no placement rule" in answer.reason


@scenario
def a_rejected_application_leaves_no_dynamic_queue(b: Bench) -> None:
    with_rules(b, PlacementRule(RuleKind.PROVIDED, create=True))
    b.control(Control.REMOVE, "root.users")
    before = [q.name for q in b.core.world.queues]
    (answer,) = b.handle(AddApplication("x", "root.users.deep"))
    assert isinstance(answer, ApplicationRejected) and "Draining" in answer.reason
    (answer,) = b.handle(AddApplication("x", "root.default.deep"))
    assert isinstance(answer, ApplicationRejected) and "leaf" in answer.reason
    assert [q.name for q in b.core.world.queues] == before


@scenario
def a_dynamic_queue_below_one_that_drains_takes_nothing(b: Bench) -> None:
    with_rules(b, PlacementRule(RuleKind.PROVIDED, create=True))
    b.handle(AddApplication("x", "root.users.me"))
    b.control(Control.REMOVE, "root.users")
    assert {str(q.state) for q in b.core.world.queues if q.name == "root.users.me"} == {"Active"}
    (answer,) = b.handle(AddApplication("y", "root.users.me"))
    assert isinstance(answer, ApplicationRejected) and "Draining" in answer.reason

"""What the Beaker scheduler's loops do, on whatever store the fixture ``bench`` has (for tests).

Line numbers are those of the document, beaker-event-driven-scheduling.rst.
"""

from __future__ import annotations

import pytest

from schedproof.impl.systems.beaker import Condition, InHand, Refused, Report, What, only
from tests.systems.beaker.impl.bench import Bench

AUTOMATED, MANUAL, BROKEN = Condition.AUTOMATED, Condition.MANUAL, Condition.BROKEN


class Lives:
    """From submission to completion."""

    def test_a_recipe_finds_an_idle_system_and_completes(self, bench: Bench) -> None:
        bench.idle("A")
        bench.submit(s=["A"])
        assert bench.states() == {"s.0": "new", "A": "idle"}
        bench.take_up("s")
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.0", "A")
        assert bench.states() == {"s.0": "scheduled on A", "A": "scheduled"}
        assert bench.new.search() == Report(What.SEARCH_ENDED, "s")
        assert bench.new.in_hand == InHand("s", searched=True)
        bench.new.settle()
        assert bench.new.in_hand is None
        bench.provisioning.begin("s")
        assert bench.states() == {"s.0": "waiting on A", "A": "waiting"}
        bench.lab.installs("s.0")
        assert bench.states() == {"s.0": "installing on A", "A": "installing"}
        bench.lab.runs("s.0")
        assert bench.states() == {"s.0": "running on A", "A": "running"}
        bench.lab.completes("s.0")
        assert bench.states() == {"s.0": "completed", "A": "pending"}
        assert bench.pending.process("A") == Report(What.MADE_IDLE, system="A")
        assert bench.states("A") == {"A": "idle"}

    def test_a_recipe_is_queued_until_a_system_is_pending(self, bench: Bench) -> None:
        bench.idle("A")
        bench.submit(s=["A"], t=["A"])
        bench.queue("s", "t")
        assert bench.states("s.0", "t.0") == {"s.0": "scheduled on A", "t.0": "queued"}
        bench.web.cancel("s.0")
        assert bench.states() == {"s.0": "cancelled", "t.0": "queued", "A": "pending"}
        assert bench.pending.process("A") == Report(What.GIVEN_TO_QUEUED, "t", "t.0", "A")
        assert bench.states("t.0", "A") == {"t.0": "scheduled on A", "A": "scheduled"}

    def test_the_siblings_of_a_scheduled_recipe_are_assigned(self, bench: Bench) -> None:
        bench.idle("A")
        bench.systems("B")
        bench.submit(s=["A", "B"])
        bench.queue("s")
        assert bench.states() == {"s.0": "scheduled on A", "s.1": "assigned", "A": "scheduled", "B": "pending"}
        assert bench.assigned() == {"s": ("lab", 1)}
        with pytest.raises(Refused, match=r"recipe set s begins when all .* scheduled; s.1 is assigned"):
            bench.provisioning.begin("s")
        assert bench.pending.process("B") == Report(What.GIVEN_TO_ASSIGNED, "s", "s.1", "B")
        assert bench.provisioning.ready() == ["s"]
        bench.provisioning.begin("s")
        assert bench.states() == {"s.0": "waiting on A", "s.1": "waiting on B", "A": "waiting", "B": "waiting"}
        assert bench.assigned() == {}

    def test_an_assigned_recipe_in_hand_finds_an_idle_system_too(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "B"])
        bench.take_up("s")
        bench.new.search(only("s.1", "B"))
        assert bench.states("s.0", "s.1") == {"s.0": "assigned", "s.1": "scheduled on B"}
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.0", "A")

    def test_a_recipe_ends_alone(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "B"])
        bench.settle_down()
        bench.execute("s.0")
        assert bench.states() == {"s.0": "completed", "s.1": "waiting on B", "A": "pending", "B": "waiting"}

    def test_guests_follow_their_host(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "@s.0", "B", "@s.2"])
        bench.take_up("s")
        bench.new.search(only("s.0", "A"))
        recipes = ("s.0", "s.1", "s.2", "s.3")
        assert list(bench.states(*recipes).values()) == ["scheduled on A", "scheduled", "assigned", "assigned"]
        bench.new.search()
        assert list(bench.states(*recipes).values()) == ["scheduled on A", "scheduled", "scheduled on B", "scheduled"]
        bench.new.search()
        bench.new.settle()
        bench.provisioning.begin("s")
        assert list(bench.states(*recipes).values()) == ["waiting on A", "waiting", "waiting on B", "waiting"]
        bench.execute("s.0", until="installing")
        with pytest.raises(Refused, match=r"s.1 is a guest of s.0, which does not run yet"):
            bench.lab.installs("s.1")
        bench.lab.runs("s.0")
        bench.execute("s.1", until="running")
        bench.lab.completes("s.0")
        assert list(bench.states(*recipes).values()) == ["completed", "aborted", "waiting on B", "waiting"]
        bench.execute("s.2", until="running")
        bench.execute("s.3")
        bench.lab.completes("s.2")
        assert bench.states("s.2", "s.3", "A", "B") == {
            "s.2": "completed", "s.3": "completed", "A": "pending", "B": "pending",
        }  # fmt: skip

    def test_two_sets_that_need_the_same_two_systems_both_complete(self, bench: Bench) -> None:
        """The ABBA race of lines 22-27."""
        bench.systems("A", "B")
        bench.submit(s=["A", "B"], t=["A", "B"])
        bench.finish_all()
        assert set(bench.states("s.0", "s.1", "t.0", "t.1").values()) == {"completed"}


class Order:
    """Who gets a system."""

    def test_first_come_first_served_among_assigned_sets(self, bench: Bench) -> None:
        """The one that was assigned first is served first, whatever the priorities have become."""
        bench.systems("A", "B", "C")
        bench.submit(s=["A", "C"], t=["B", "C"])
        bench.queue("s", "t")
        bench.pending.process("A", only("s.0"))
        bench.pending.process("B", only("t.0"))
        assert bench.assigned() == {"s": ("lab", 1), "t": ("lab", 2)}
        bench.web.change_priority("t", 5)
        with pytest.raises(Refused, match=r"t.1 was wanted, but there is s.1 to choose"):
            bench.pending.process("C", only("t.1"))
        assert bench.pending.process("C") == Report(What.GIVEN_TO_ASSIGNED, "s", "s.1", "C")

    def test_an_idle_system_is_not_taken_past_an_assigned_recipe(self, bench: Bench) -> None:
        """No queue jumping (line 21): a new recipe comes behind an assigned one that the system suits."""
        bench.idle("B")
        bench.systems("A")
        bench.submit(s=["A", "B"])
        bench.take_up("s")
        bench.web.change_condition("B", BROKEN)
        bench.new.search()
        bench.web.change_condition("B", AUTOMATED)
        bench.pending.process("B")  # s is not queued yet
        bench.new.settle()
        bench.pending.process("A")
        assert bench.states() == {"s.0": "scheduled on A", "s.1": "assigned", "A": "scheduled", "B": "idle"}
        bench.submit(t=["B"])
        bench.take_up("t")
        with pytest.raises(Refused, match=r"t.0 on B was wanted, but there is nothing to choose"):
            bench.new.search(only("t.0", "B"))

    def test_a_new_recipe_does_not_jump_the_queue(self, bench: Bench) -> None:
        """Line 21: A became idle when s was not queued yet; s comes first all the same, if its priority is higher."""
        bench.systems("A")
        bench.submit(priority=1, s=["A"])
        bench.take_up("s")
        bench.new.search()
        bench.pending.process("A")
        bench.new.settle()
        bench.submit(t=["A"])
        bench.take_up("t")
        with pytest.raises(Refused, match=r"t.0 on A was wanted, but there is nothing to choose"):
            bench.new.search(only("t.0", "A"))
        bench.web.change_priority("t", 1)
        assert bench.new.search() == Report(What.FOUND_IDLE, "t", "t.0", "A")

    def test_priorities_decide_in_the_queue(self, bench: Bench) -> None:
        bench.systems("A")
        bench.submit(priority=1, s=["A"])
        bench.submit(priority=2, t=["A"])
        bench.submit(priority=2, u=["A"])
        bench.queue("s", "t", "u")
        with pytest.raises(Refused, match=r"s.0 was wanted, but there is t.0, u.0 to choose"):
            bench.pending.process("A", only("s.0"))
        bench.web.change_priority("s", 3)
        assert bench.pending.process("A", only("s.0")).recipe == "s.0"

    def test_an_assigned_recipe_comes_before_a_queued_one(self, bench: Bench) -> None:
        bench.systems("A", "B")
        bench.submit(s=["A", "B"])
        bench.submit(priority=9, t=["B"])
        bench.queue("s", "t")
        bench.pending.process("A")
        assert bench.pending.process("B") == Report(What.GIVEN_TO_ASSIGNED, "s", "s.1", "B")

    def test_a_recipe_leaves_its_siblings_their_seats(self, bench: Bench) -> None:
        """s.0 could take A, but then s.1 had nothing: A is s.1's seat."""
        bench.systems("A", "B")
        bench.submit(s=["AB", "A"])
        assert bench.seats() == {}
        bench.queue("s")
        assert bench.seats() == {"s.0": "B", "s.1": "A"}
        with pytest.raises(Refused, match=r"s.0 was wanted, but there is s.1 to choose"):
            bench.pending.process("A", only("s.0"))
        bench.pending.process("A")
        bench.pending.process("B")
        assert bench.states("s.0", "s.1") == {"s.0": "scheduled on B", "s.1": "scheduled on A"}

    def test_a_recipe_may_take_another_system_than_its_seat(self, bench: Bench) -> None:
        bench.idle("C")
        bench.systems("A", "B")
        bench.submit(s=["ABC", "B"])
        bench.consistency.seat("s", {"s.0": "A", "s.1": "B"})
        bench.take_up("s")
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.0", "C")
        assert bench.seats() == {"s.1": "B"}
        assert bench.pending.process("B").recipe == "s.1"
        assert bench.seats() == {}

    def test_a_set_is_seated_before_its_search_ends(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "B"])
        bench.new.take_up("s")
        with pytest.raises(Refused, match="recipe set s can be seated; seat it, and search again"):
            bench.new.search()
        bench.new.seat("s")
        assert bench.new.search().what is What.FOUND_IDLE

    def test_a_single_recipe_and_its_guest_need_no_seats(self, bench: Bench) -> None:
        bench.systems("A")
        bench.submit(s=["A", "@s.0"])
        assert bench.consistency.unseated() == []
        with pytest.raises(Refused, match="or less than two recipes that need a system"):
            bench.consistency.seat("s")

    @pytest.mark.parametrize(
        "seats",
        [{"s.0": "A", "s.1": "A"}, {"s.0": "A", "s.1": "D"}, {"s.0": "A"}, {"s.0": "A", "s.1": "M"},
         {"s.0": "B", "s.1": "A"}, {"s.0": "A", "s.1": "B", "t.0": "C"}, {}],
        ids=["one for two", "of two labs", "one too few", "not Automated", "not viable", "one too many", "none"],
    )  # fmt: skip
    def test_wrong_seats_are_refused(self, bench: Bench, seats: dict[str, str]) -> None:
        bench.systems("A", "B", lab="one")
        bench.systems("M", lab="one", condition=Condition.MANUAL)
        bench.systems("C", "D", lab="two")
        bench.submit(s=["AC", "ABDM"], t=["C"])
        with pytest.raises(Refused, match="cannot be the seats of s: each of its open recipes needs"):
            bench.consistency.seat("s", seats)
        assert bench.seats() == {}

    def test_a_set_that_no_lab_can_hold_has_no_seats(self, bench: Bench) -> None:
        bench.systems("A", lab="one")
        bench.systems("B", lab="two")
        bench.submit(s=["A", "B"])
        assert bench.consistency.unseated() == []
        with pytest.raises(Refused, match="no lab has an Automated viable system for each open recipe of s"):
            bench.consistency.seat("s")
        bench.queue("s")
        assert bench.states("s.0", "s.1") == {"s.0": "queued", "s.1": "queued"}

    def test_a_set_keeps_out_of_a_lab_that_cannot_hold_it(self, bench: Bench) -> None:
        bench.idle("A", lab="small")
        bench.idle("B", "C", lab="large")
        bench.submit(s=["AB", "C"])
        bench.take_up("s")
        with pytest.raises(Refused, match=r"s.0 on A was wanted, but there is s.0 on B, s.1 on C to choose"):
            bench.new.search(only("s.0", "A"))
        bench.new.search(only("s.1", "C"))
        assert bench.assigned() == {"s": ("large", 1)}
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.0", "B")

    def test_no_set_is_assigned_where_a_sibling_has_only_broken_ones(self, bench: Bench) -> None:
        """It is seated in lab one at first, and goes to lab two when it is seated anew."""
        bench.systems("A", "B", lab="one")
        bench.systems("C", "D", lab="two")
        bench.submit(s=["AC", "BD"])
        bench.queue("s")
        bench.web.change_condition("B", BROKEN)
        assert bench.pending.process("A") == Report(What.MADE_IDLE, system="A")
        assert bench.pending.process("C") == Report(What.MADE_IDLE, system="C")
        bench.consistency.seat("s")
        assert bench.seats() == {"s.0": "C", "s.1": "D"}
        assert bench.consistency.sleeping() == ["C"]
        bench.consistency.wake("C")
        assert bench.pending.process("C").what is What.GIVEN_TO_QUEUED
        assert bench.assigned() == {"s": ("two", 1)}
        assert bench.pending.process("D").recipe == "s.1"

    def test_one_set_is_in_hand_at_a_time(self, bench: Bench) -> None:
        bench.systems("A")
        bench.submit(s=["A"], t=["A"])
        bench.take_up("s")
        with pytest.raises(Refused, match="recipe set s is in hand; it comes first"):
            bench.take_up("t")
        with pytest.raises(Refused, match="goes on"):
            bench.new.settle()
        bench.new.search()
        with pytest.raises(Refused, match="has ended; settle it"):
            bench.new.search()


class Wakes:
    """Systems that became idle too early."""

    def test_a_system_that_became_idle_during_the_search_is_woken(self, bench: Bench) -> None:
        """The lost wakeup: the search for s has ended when A becomes idle, and s is queued after that."""
        bench.systems("A")
        bench.submit(s=["A"])
        bench.take_up("s")
        bench.new.search()
        bench.pending.process("A")
        bench.new.settle()
        assert bench.states() == {"s.0": "queued", "A": "idle"}
        assert bench.consistency.sleeping() == ["A"]
        bench.consistency.wake("A")
        assert bench.states("A") == {"A": "pending"}
        bench.pending.process("A")
        assert bench.states() == {"s.0": "scheduled on A", "A": "scheduled"}

    def test_a_crash_with_a_set_in_hand_costs_nothing(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "B"], t=["A"])
        bench.take_up("s")
        bench.new.search()
        bench.new.crash()
        assert bench.states("s.0", "s.1", "B") == {"s.0": "scheduled on A", "s.1": "assigned", "B": "idle"}
        assert bench.new.new_sets() == ["t"]
        bench.finish_all()
        assert set(bench.states("s.0", "s.1", "t.0").values()) == {"completed"}

    def test_only_what_can_be_taken_is_woken(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["B"])
        with pytest.raises(Refused, match="not idle while a recipe can take it"):
            bench.consistency.wake("B")  # s.0 is still new: the other loop's business
        bench.queue("s")
        with pytest.raises(Refused, match="not idle while a recipe can take it"):
            bench.consistency.wake("A")
        assert bench.consistency.sleeping() == []

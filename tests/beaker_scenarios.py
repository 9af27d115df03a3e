"""What the Beaker scheduler does, on whatever store the fixture ``bench`` has (for tests).

Line numbers are those of the document, beaker-event-driven-scheduling.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from beaker_bench import Bench, job
from schedproof.impl.beaker import (
    Condition,
    InHand,
    Lab,
    PendingSystems,
    RecipeState,
    Refused,
    Report,
    Store,
    Usage,
    Web,
    What,
    only,
)

AUTOMATED, MANUAL, BROKEN = Condition.AUTOMATED, Condition.MANUAL, Condition.BROKEN


class Lives:
    """From submission to completion."""

    def test_a_recipe_finds_an_idle_system_and_completes(self, bench: Bench) -> None:
        bench.idle("A")
        bench.submit(s=["A"])
        assert bench.states() == {"s.0": "new", "A": "idle"}
        bench.new.take_up("s")
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
        bench.new.take_up("s")
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
        bench.new.take_up("s")
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
        bench.new.take_up("s")
        bench.web.change_condition("B", BROKEN)
        bench.new.search()
        bench.web.change_condition("B", AUTOMATED)
        bench.pending.process("B")  # s is not queued yet
        bench.new.settle()
        bench.pending.process("A")
        assert bench.states() == {"s.0": "scheduled on A", "s.1": "assigned", "A": "scheduled", "B": "idle"}
        bench.submit(t=["B"])
        bench.new.take_up("t")
        with pytest.raises(Refused, match=r"t.0 on B was wanted, but there is nothing to choose"):
            bench.new.search(only("t.0", "B"))

    def test_a_new_recipe_does_not_jump_the_queue(self, bench: Bench) -> None:
        """Line 21: A became idle when s was not queued yet; s comes first all the same, if its priority is higher."""
        bench.systems("A")
        bench.submit(priority=1, s=["A"])
        bench.new.take_up("s")
        bench.new.search()
        bench.pending.process("A")
        bench.new.settle()
        bench.submit(t=["A"])
        bench.new.take_up("t")
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

    def test_a_recipe_leaves_its_siblings_their_share(self, bench: Bench) -> None:
        """s.0 could take A, but then s.1 had nothing: A is s.1's share."""
        bench.systems("A", "B")
        bench.submit(s=["AB", "A"])
        assert {r.name: r.share for r in bench.store.snapshot().recipes} == {"s.0": {"B"}, "s.1": {"A"}}
        bench.queue("s")
        with pytest.raises(Refused, match=r"s.0 was wanted, but there is s.1 to choose"):
            bench.pending.process("A", only("s.0"))
        bench.pending.process("A")
        bench.pending.process("B")
        assert bench.states("s.0", "s.1") == {"s.0": "scheduled on B", "s.1": "scheduled on A"}

    def test_a_set_keeps_out_of_a_lab_that_cannot_hold_it(self, bench: Bench) -> None:
        bench.idle("A", lab="small")
        bench.idle("B", "C", lab="large")
        bench.submit(s=["AB", "C"])
        bench.new.take_up("s")
        with pytest.raises(Refused, match=r"s.0 on A was wanted, but there is s.0 on B, s.1 on C to choose"):
            bench.new.search(only("s.0", "A"))
        bench.new.search(only("s.1", "C"))
        assert bench.assigned() == {"s": ("large", 1)}
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.0", "B")

    def test_a_set_is_not_assigned_where_a_sibling_has_only_broken_systems(self, bench: Bench) -> None:
        bench.systems("A", "B", lab="one")
        bench.systems("C", "D", lab="two")
        bench.submit(s=["AC", "BD"])
        bench.queue("s")
        bench.web.change_condition("B", BROKEN)
        assert bench.pending.process("A") == Report(What.MADE_IDLE, system="A")
        assert bench.pending.process("C").what is What.GIVEN_TO_QUEUED
        assert bench.assigned() == {"s": ("two", 1)}
        assert bench.pending.process("D").recipe == "s.1"

    def test_one_set_is_in_hand_at_a_time(self, bench: Bench) -> None:
        bench.systems("A")
        bench.submit(s=["A"], t=["A"])
        bench.new.take_up("s")
        with pytest.raises(Refused, match="recipe set s is in hand; it comes first"):
            bench.new.take_up("t")
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
        bench.new.take_up("s")
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
        bench.new.take_up("s")
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


class Ends:
    """Cancel and abort."""

    def test_a_running_recipe(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A"], t=["B"])
        bench.settle_down()
        bench.execute("s.0", until="running")
        bench.web.cancel("s.0")
        bench.web.abort("t.0")
        assert bench.states() == {"s.0": "cancelled", "t.0": "aborted", "A": "pending", "B": "pending"}

    def test_a_set_begins_without_its_finished_recipes(self, bench: Bench) -> None:
        bench.idle("A")
        bench.systems("B")
        bench.submit(s=["A", "B"])
        bench.queue("s")
        bench.web.cancel("s.1")
        bench.provisioning.begin("s")
        assert bench.states() == {"s.0": "waiting on A", "s.1": "cancelled", "A": "waiting", "B": "pending"}

    def test_siblings_that_are_finished_need_no_system(self, bench: Bench) -> None:
        """A is in s.1's share, which does not count any more when s.1 is finished."""
        bench.systems("A")
        bench.systems("B", condition=BROKEN)
        bench.submit(s=["AB", "A"])
        bench.queue("s")
        bench.web.abort("s.1")
        assert bench.pending.process("A") == Report(What.GIVEN_TO_QUEUED, "s", "s.0", "A")

    def test_a_host_takes_its_guests_with_it(self, bench: Bench) -> None:
        bench.idle("A")
        bench.submit(s=["A", "@s.0"])
        bench.settle_down()
        bench.web.cancel("s.0")
        assert bench.states() == {"s.0": "cancelled", "s.1": "aborted", "A": "pending"}

    def test_a_guest_ends_alone(self, bench: Bench) -> None:
        bench.idle("A")
        bench.submit(s=["A", "@s.0"])
        bench.queue("s")
        bench.web.cancel("s.1")
        bench.settle_down()
        assert bench.states() == {"s.0": "waiting on A", "s.1": "cancelled", "A": "waiting"}

    def test_a_whole_set(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "@s.0", "B"], t=["A", "@t.0"])
        bench.settle_down()
        bench.execute("s.2")
        bench.web.cancel_set("s")
        bench.web.abort_set("t")
        assert bench.states() == {
            "s.0": "cancelled", "s.1": "cancelled", "s.2": "completed",
            "t.0": "aborted", "t.1": "aborted", "A": "pending", "B": "pending",
        }  # fmt: skip

    def test_an_assigned_set_that_is_cancelled_gives_up_its_place(self, bench: Bench) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "B"], t=["A", "B"])
        bench.new.take_up("s")
        bench.new.search()
        bench.web.cancel_set("s")
        assert bench.assigned() == {}
        bench.new.search()
        bench.new.settle()
        bench.finish_all()
        assert bench.states("t.0", "t.1") == {"t.0": "completed", "t.1": "completed"}

    def test_a_recipe_that_no_system_can_run_is_aborted(self, bench: Bench) -> None:
        bench.systems("A", condition=BROKEN)
        bench.submit(s=["A", "@s.0"])
        with pytest.raises(Refused, match=r"s.0 is new; it is not queued without a viable"):
            bench.consistency.abort_dead("s.0")
        bench.queue("s")
        assert bench.consistency.dead() == ["s.0"]
        bench.consistency.abort_dead("s.0")
        assert bench.states("s.0", "s.1") == {"s.0": "aborted", "s.1": "aborted"}

    def test_one_with_an_automated_system_in_use_is_not_dead(self, bench: Bench) -> None:
        bench.idle("A")
        bench.submit(s=["A"], t=["A"])
        bench.settle_down()
        assert bench.consistency.dead() == []
        with pytest.raises(Refused, match=r"t.0 is queued; it is not queued without a viable"):
            bench.consistency.abort_dead("t.0")


class Conditions:
    """Changes of condition (lines 172-199), and systems that users reserve."""

    def test_a_new_system_is_pending_if_it_is_automated(self, bench: Bench) -> None:
        bench.systems("A")
        bench.systems("B", condition=MANUAL)
        bench.systems("C", condition=BROKEN)
        assert bench.states() == {"A": "pending", "B": "idle Manual", "C": "idle Broken"}
        bench.web.change_condition("B", AUTOMATED)
        bench.web.change_condition("C", AUTOMATED)
        assert bench.states() == {"A": "pending", "B": "pending", "C": "pending"}

    @pytest.mark.parametrize("condition", [MANUAL, BROKEN])
    @pytest.mark.parametrize("until", ["waiting", "installing", "running"])
    def test_the_recipe_that_executes_is_aborted(self, bench: Bench, condition: Condition, until: str) -> None:
        bench.idle("A", "B")
        bench.submit(s=["A", "@s.0", "B"])
        bench.settle_down()
        if until != "waiting":
            bench.execute("s.0", until)
        bench.web.change_condition("A", condition)
        assert bench.states() == {
            "s.0": "aborted", "s.1": "aborted", "s.2": "waiting on B", "A": f"idle {condition}", "B": "waiting",
        }  # fmt: skip

    def test_a_set_that_has_not_begun_gives_everything_back(self, bench: Bench) -> None:
        """Its system A breaks, but D would do as well: the set is queued again and can have D."""
        bench.idle("A", "B", "D")
        bench.systems("C")
        bench.submit(s=["AD", "@s.0", "B", "C"])
        bench.queue("s")
        assert list(bench.states("s.0", "s.1", "s.2", "s.3").values()) == [
            "scheduled on A", "scheduled", "scheduled on B", "assigned",
        ]  # fmt: skip
        bench.web.change_condition("A", BROKEN)
        assert bench.states() == {
            "s.0": "queued", "s.1": "queued", "s.2": "queued", "s.3": "queued",
            "A": "idle Broken", "B": "pending", "C": "pending", "D": "idle",
        }  # fmt: skip
        assert bench.assigned() == {}
        bench.finish_all()
        assert list(bench.states("s.0", "s.2", "s.3").values()) == ["completed"] * 3

    def test_a_set_whose_assigned_recipe_lost_its_last_system_gives_back(self, bench: Bench) -> None:
        """B, which s.1 waits for, runs t.0 when it breaks: t.0 is aborted, and A is free for others."""
        bench.idle("A", "B")
        bench.submit(t=["B"], s=["A", "B"], u=["A"])
        bench.queue("t", "s", "u")
        bench.provisioning.begin("t")
        assert bench.states("s.0", "s.1", "u.0") == {"s.0": "scheduled on A", "s.1": "assigned", "u.0": "queued"}
        bench.web.change_condition("B", MANUAL)
        assert bench.states() == {
            "s.0": "queued", "s.1": "queued", "t.0": "aborted", "u.0": "queued", "A": "pending", "B": "idle Manual",
        }  # fmt: skip
        assert bench.pending.process("A").recipe == "u.0"

    def test_a_set_that_can_still_be_served_keeps_what_it_has(self, bench: Bench) -> None:
        bench.idle("A", "B", "C")
        bench.submit(t=["B"], s=["A", "BC"])
        bench.new.take_up("t")
        bench.new.search()
        bench.new.search()
        bench.new.settle()
        bench.new.take_up("s")
        bench.new.search(only("s.0", "A"))
        bench.web.change_condition("B", BROKEN)
        assert bench.states("s.0", "s.1", "t.0") == {"s.0": "scheduled on A", "s.1": "assigned", "t.0": "queued"}
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.1", "C")

    def test_a_share_in_another_lab_does_not_help(self, bench: Bench) -> None:
        bench.systems("A", "B", lab="one")
        bench.systems("C", "D", lab="two")
        bench.submit(s=["AC", "BD"])
        bench.queue("s")
        bench.pending.process("A")
        bench.web.change_condition("B", BROKEN)
        assert bench.states("s.0", "s.1", "A") == {"s.0": "queued", "s.1": "queued", "A": "pending"}
        bench.finish_all()
        assert bench.states("s.0", "s.1") == {"s.0": "completed", "s.1": "completed"}

    def test_a_user_reserves_a_manual_system(self, bench: Bench) -> None:
        bench.systems("A", condition=MANUAL)
        found = []
        for step in (bench.web.reserve, bench.web.install, bench.web.run, bench.web.give_back):
            step("A")
            found.append(bench.states()["A"])
        assert found == ["waiting Manual", "installing Manual", "running Manual", "idle Manual"]

    def test_a_reserved_system_is_automated_after_its_return(self, bench: Bench) -> None:
        bench.systems("A", condition=MANUAL)
        for step in (bench.web.reserve, bench.web.install, bench.web.run):
            step("A")
            with pytest.raises(Refused, match="for a user; it can be Automated after its return"):
                bench.web.change_condition("A", AUTOMATED)
        bench.web.give_back("A")
        bench.web.change_condition("A", AUTOMATED)
        assert bench.states() == {"A": "pending"}

    @pytest.mark.parametrize("steps", [1, 2, 3])
    def test_a_reserved_system_may_break(self, bench: Bench, steps: int) -> None:
        bench.systems("A", condition=MANUAL)
        for step in (bench.web.reserve, bench.web.install, bench.web.run)[:steps]:
            step("A")
        bench.web.change_condition("A", BROKEN)
        assert bench.states() == {"A": "idle Broken"}

    def test_the_system_usage_has_an_entry_for_every_change(self, bench: Bench) -> None:
        """Lines 249-255."""
        bench.idle("A")
        bench.submit(s=["A"])
        bench.web.change_priority("s", 7)
        bench.settle_down()
        bench.execute("s.0")
        bench.pending.process("A")
        bench.web.change_condition("A", MANUAL)
        bench.web.change_condition("A", BROKEN)
        assert bench.usage("A") == [
            "pending Automated", "idle Automated", "scheduled Automated", "waiting Automated",
            "installing Automated", "running Automated", "pending Automated", "idle Automated",
            "idle Manual", "idle Broken ...",
        ]  # fmt: skip
        entries = bench.store.usage("A")
        assert [e.finished for e in entries[:-1]] == [e.started for e in entries[1:]]
        assert all(e.finished is not None and e.started <= e.finished for e in entries[:-1])


WRONG = [
    ("unknown set", lambda b: b.new.take_up("nothing"), "recipe set 'nothing' is unknown or finished"),
    ("nothing new", lambda b: b.new.take_up("s"), "recipe set s has no new recipe"),
    ("nothing in hand", lambda b: b.new.search(), "no recipe set is in hand"),
    ("nothing to settle", lambda b: b.new.settle(), "no recipe set is in hand"),
    ("not pending", lambda b: b.pending.process("A"), "system A is running, not pending"),
    ("unknown system", lambda b: b.pending.process("Z"), "unknown system 'Z'; systems: A, B, M"),
    ("not all scheduled", lambda b: b.provisioning.begin("q"), "q.0 is queued"),
    ("begun", lambda b: b.provisioning.begin("s"), "s.0 is running"),
    ("not waiting", lambda b: b.lab.installs("s.0"), "recipe s.0 is running, not waiting"),
    ("not installing", lambda b: b.lab.runs("s.0"), "recipe s.0 is running, not installing"),
    ("not running", lambda b: b.lab.completes("q.0"), "recipe q.0 is queued, not running"),
    ("unknown recipe", lambda b: b.lab.completes("x"), "recipe 'x' is unknown, or its recipe set is finished"),
    ("finished recipe", lambda b: b.web.cancel("s.1"), "recipe s.1 is cancelled already"),
    ("finished recipe to abort", lambda b: b.web.abort("s.1"), "recipe s.1 is cancelled already"),
    ("finished set", lambda b: b.web.cancel_set("f"), "recipe set 'f' is unknown or finished"),
    ("finished set to abort", lambda b: b.web.abort_set("f"), "recipe set 'f' is unknown or finished"),
    ("same priority", lambda b: b.web.change_priority("q", 0), "recipe set q has priority 0 already"),
    ("too late for a priority", lambda b: b.web.change_priority("s", 5), "no recipe of s waits for a system"),
    ("same condition", lambda b: b.web.change_condition("A", AUTOMATED), "system A is Automated already"),
    ("reserve an Automated one", lambda b: b.web.reserve("B"), "system B is running .Automated.; only a Manual one"),
    ("install too early", lambda b: b.web.install("M"), "only a Manual one that is waiting"),
    ("run too early", lambda b: b.web.run("M"), "only a Manual one that is installing"),
    ("give back too early", lambda b: b.web.give_back("M"), "only a Manual one that is running"),
    ("same system", lambda b: b.web.add_system("A", "lab"), "there is a system A already"),
    ("same set", lambda b: b.submit(q=["A"]), "there is a recipe set q already"),
    ("finished set's name", lambda b: b.submit(f=["A"]), "there is a recipe set f already"),
    ("second set wrong", lambda b: b.submit(fine=["A"], f=["A"]), "there is a recipe set f already"),
    ("unknown viable system", lambda b: b.submit(n=["AZ"]), "unknown system 'Z'"),
    ("no recipe", lambda b: b.submit(n=[]), "needs at least one recipe set, and each of them a recipe"),
    ("guest of nobody", lambda b: b.submit(n=["@s.0"]), "guest of s.0, which is no host recipe of n"),
    ("guest of itself", lambda b: b.submit(n=["@n.0"]), "guest of n.0, which is no host recipe of n"),
]  # fmt: skip


class Refusals:
    """Requests that are wrong or untimely."""

    @pytest.mark.parametrize(("ask", "says"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
    def test_wrong_requests_change_nothing(self, bench: Bench, ask: object, says: str) -> None:
        bench.idle("A", "B")
        bench.systems("M", condition=MANUAL)
        bench.submit(f=["A"])
        bench.web.cancel_set("f")
        bench.submit(s=["A", "B"], t=["B"], q=["A"])
        bench.queue("s", "t", "q")
        bench.settle_down()
        bench.web.cancel("s.1")
        bench.settle_down()
        bench.execute("s.0", until="running")
        bench.execute("t.0", until="running")
        before, usage, reports = bench.store.snapshot(), bench.store.usage(), len(bench.reports)
        with pytest.raises(Refused, match=says):
            ask(bench)  # type: ignore[operator]
        assert bench.store.snapshot() == before
        assert bench.store.usage() == usage
        assert len(bench.reports) == reports

    def test_a_name_in_a_job_is_unique(self, bench: Bench) -> None:
        bench.systems("A")
        first = job(s=["A"]).recipe_sets[0]
        for sets, says in (((first, first), "two of recipe set s"), ((), "needs at least one recipe set")):
            with pytest.raises(Refused, match=says):
                bench.web.submit(type(job(s=["A"]))("twice", sets))
        assert bench.store.snapshot().recipe_sets == ()


class Races:
    """Loops, people and labs at the same time, on one ``store`` that several threads may use."""

    def test_nothing_is_given_out_twice(self, store: Store) -> None:
        """Eight loops after the same six pending systems."""
        bench = Bench(store)
        bench.systems(*"ABCDEF")
        bench.submit(**{f"s{n}": ["ABCDEF"] for n in range(12)})
        bench.queue(*(f"s{n}" for n in range(12)))
        outcomes = together([lambda: tried(PendingSystems(store).process, "ABCDEF")] * 8)
        given = [report for done in outcomes for report in done]
        assert sorted(report.system or "" for report in given) == list("ABCDEF")
        assert len({report.recipe for report in given}) == 6
        held = [r.system for r in store.snapshot().recipes if r.system]
        assert sorted(held) == list("ABCDEF")

    def test_a_cancelled_recipe_gets_no_system(self, store: Store) -> None:
        """People cancel what the loop gives systems to; whoever is first, both agree afterwards."""
        bench = Bench(store)
        names = [f"s{n}" for n in range(10)]
        bench.systems(*"ABCDEFGHIJ")
        bench.submit(**{name: ["ABCDEFGHIJ"] for name in names})
        bench.queue(*names)
        cancels = [f"{name}.0" for name in names]
        together(
            [lambda: tried(PendingSystems(store).process, "ABCDEFGHIJ"), lambda: tried(Web(store).cancel, cancels)]
        )
        world = store.snapshot()
        assert {r.state for r in world.recipes} == {RecipeState.CANCELLED}
        assert {s.usage for s in world.systems} <= {Usage.PENDING, Usage.IDLE}
        for system in world.systems:
            last = store.usage(system.name)[-1]
            assert (last.usage, last.finished) == (system.usage, None)

    def test_everything_at_once(self, store: Store) -> None:
        """Conditions change while sets are scheduled and begin; in the end all is in step."""
        bench = Bench(store)
        bench.systems(*"ABCD")
        sets = {f"s{n}": ["AB", "CD"] for n in range(6)}
        bench.submit(**sets)

        def conditions() -> list[Report]:
            web, done = Web(store), []
            for _ in range(6):
                for condition in (BROKEN, AUTOMATED):
                    done += tried(lambda name, to=condition: web.change_condition(name, to), "AC")  # type: ignore[misc]
            return done

        def loops() -> list[Report]:
            own = Bench(store)
            for _ in range(15):
                for name in own.new.new_sets():
                    if tried(own.new.take_up, [name]):
                        while own.new.in_hand:
                            (own.new.settle if own.new.in_hand.searched else own.new.search)()
                tried(own.pending.process, own.pending.pending())
                tried(own.provisioning.begin, own.provisioning.ready())
                tried(own.consistency.wake, own.consistency.sleeping())
            return own.reports

        def labs() -> list[Report]:
            lab, done = Lab(store), []
            for _ in range(15):
                for call in (lab.installs, lab.runs, lab.completes):
                    done += tried(call, [f"{name}.{n}" for name in sets for n in (0, 1)])
            return done

        together([conditions, loops, labs])
        world = store.snapshot()
        systems = {s.name: s for s in world.systems}
        assert {s.condition for s in world.systems} == {AUTOMATED}
        for recipe in world.recipes:
            if recipe.system:
                assert systems[recipe.system].usage.value == recipe.state.value
        held = [r.system for r in world.recipes if r.system]
        assert len(held) == len(set(held))
        in_use = {s.name for s in world.systems if s.usage not in (Usage.IDLE, Usage.PENDING)}
        assert in_use == set(held)
        bench.finish_all()
        assert all(not r.unfinished for r in store.snapshot().recipes)


def tried(call: Callable[[str], Report], names: Iterable[str]) -> list[Report]:
    """What a call did to those names that it was not refused for."""
    done = []
    for name in names:
        try:
            done.append(call(name))
        except Refused:
            continue
    return done


def together(work: Sequence[Callable[[], list[Report]]]) -> list[list[Report]]:
    """Does all of it at once, in a thread each."""
    start = Barrier(len(work))

    def begin(each: Callable[[], list[Report]]) -> list[Report]:
        start.wait()
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(begin, work))

"""What people do to the Beaker scheduler, on whatever store the fixture ``bench`` has (for tests).

Line numbers are those of the document, beaker-event-driven-scheduling.rst.
"""

from __future__ import annotations

import pytest

from schedproof.impl.systems.beaker import Condition, Refused, Report, What, only
from tests.systems.beaker.impl.bench import Bench

AUTOMATED, MANUAL, BROKEN = Condition.AUTOMATED, Condition.MANUAL, Condition.BROKEN


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
        """A is s.1's seat, which does not count any more when s.1 is finished."""
        bench.systems("A", "B")
        bench.submit(s=["AB", "A"])
        bench.queue("s")
        assert bench.seats() == {"s.0": "B", "s.1": "A"}
        bench.web.change_condition("B", BROKEN)
        bench.web.abort("s.1")
        assert bench.seats() == {"s.0": "B"}
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
        bench.take_up("s")
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

    def test_a_set_whose_assigned_recipe_lost_its_seat_gives_back(self, bench: Bench) -> None:
        """B, which s.1 waits for, runs t.0 when it leaves Automated: t.0 is aborted, and A is free for others."""
        bench.idle("A", "B")
        bench.submit(t=["B"], s=["A", "B"], u=["A"])
        bench.queue("t", "s", "u")
        bench.provisioning.begin("t")
        assert bench.states("s.0", "s.1", "u.0") == {"s.0": "scheduled on A", "s.1": "assigned", "u.0": "queued"}
        bench.web.change_condition("B", MANUAL)
        assert bench.states() == {
            "s.0": "queued", "s.1": "queued", "t.0": "aborted", "u.0": "queued", "A": "pending", "B": "idle Manual",
        }  # fmt: skip
        assert bench.seats() == {}
        assert bench.pending.process("A").recipe == "u.0"

    def test_it_gives_back_though_another_would_do_and_is_seated(self, bench: Bench) -> None:
        bench.idle("A", "B", "C")
        bench.submit(s=["A", "BC"])
        bench.take_up("s")
        assert bench.seats() == {"s.0": "A", "s.1": "B"}
        bench.new.search(only("s.0", "A"))
        bench.web.change_condition("B", BROKEN)
        assert bench.states("s.0", "s.1", "A", "C") == {
            "s.0": "queued", "s.1": "queued", "A": "pending", "C": "idle",
        }  # fmt: skip
        assert bench.assigned() == {}
        assert bench.consistency.unseated() == ["s"]
        assert bench.consistency.seat("s") == Report(What.SEATED, "s", seats=(("s.0", "A"), ("s.1", "C")))
        bench.finish_all()
        assert bench.states("s.0", "s.1") == {"s.0": "completed", "s.1": "completed"}

    def test_a_set_does_not_give_back_for_a_system_not_its_seat(self, bench: Bench) -> None:
        bench.idle("A", "B", "C")
        bench.submit(t=["C"], s=["A", "BC"])
        bench.take_up("t")
        bench.new.search()
        bench.new.search()
        bench.new.settle()
        bench.take_up("s")
        bench.new.search(only("s.0", "A"))
        bench.web.change_condition("C", BROKEN)
        assert bench.states("s.0", "s.1", "t.0") == {"s.0": "scheduled on A", "s.1": "assigned", "t.0": "queued"}
        assert bench.new.search() == Report(What.FOUND_IDLE, "s", "s.1", "B")

    def test_a_set_gets_other_seats_as_long_as_it_holds_nothing(self, bench: Bench) -> None:
        """Its seat B breaks while it is queued: nothing is given back, but it is seated on C."""
        bench.systems("A", "B", "C")
        bench.submit(s=["A", "BC"])
        bench.queue("s")
        assert bench.seats() == {"s.0": "A", "s.1": "B"}
        with pytest.raises(Refused, match="recipe set s needs no seats: it has a lab, or seats that serve it"):
            bench.consistency.seat("s")
        bench.web.change_condition("B", BROKEN)
        assert bench.states("s.0", "s.1") == {"s.0": "queued", "s.1": "queued"}
        assert bench.pending.process("A") == Report(What.MADE_IDLE, system="A")  # s.1 would have no seat
        assert bench.consistency.seat("s") == Report(What.SEATED, "s", seats=(("s.0", "A"), ("s.1", "C")))
        assert bench.pending.process("C").recipe == "s.1"
        with pytest.raises(Refused, match="recipe set s needs no seats"):
            bench.consistency.seat("s")

    def test_a_seat_may_pass_from_a_sibling_to_another(self, bench: Bench) -> None:
        """s.0 moves to the seat that s.1 leaves in the same transaction."""
        bench.systems("A", "B", "C")
        bench.submit(s=["AB", "BC"])
        bench.consistency.seat("s", {"s.0": "A", "s.1": "B"})
        bench.web.change_condition("A", BROKEN)
        bench.consistency.seat("s")
        assert bench.seats() == {"s.0": "B", "s.1": "C"}

    def test_seats_in_another_lab_do_not_help(self, bench: Bench) -> None:
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
        states = []
        for step in (bench.web.reserve, bench.web.install, bench.web.run, bench.web.give_back):
            step("A")
            states.append(bench.states()["A"])
        assert states == ["waiting Manual", "installing Manual", "running Manual", "idle Manual"]

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

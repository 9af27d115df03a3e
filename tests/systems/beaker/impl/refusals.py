"""Requests that the Beaker scheduler refuses, on whatever store the fixture ``bench`` has (for tests)."""

from __future__ import annotations

import pytest

from schedproof.impl.systems.beaker import Condition, Job, RecipeSpec, Refused, SetSpec
from tests.support.sample import thinned
from tests.systems.beaker.impl.bench import Bench, job

AUTOMATED, MANUAL = Condition.AUTOMATED, Condition.MANUAL

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

    @pytest.mark.parametrize(("ask", "says"), thinned([w[1:] for w in WRONG], 3), ids=[w[0] for w in WRONG])
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

    def test_a_recipe_of_another_set_has_the_name(self, bench: Bench) -> None:
        bench.systems("A")
        bench.submit(s=["A"], f=["A"])
        bench.web.cancel_set("f")
        before = bench.store.snapshot()
        for used_name in ("s.0", "f.0"):  # of a set that is read with every transaction, and of one that is finished
            with pytest.raises(Refused, match=f"there is a recipe {used_name} already"):
                bench.web.submit(Job("j", (SetSpec("n", (RecipeSpec(used_name, frozenset("A")),)),)))
        assert bench.store.snapshot() == before

    def test_a_guest_needs_no_system(self, bench: Bench) -> None:
        bench.systems("A")
        guest = RecipeSpec("guest", frozenset("A"), host="host")
        with pytest.raises(Refused, match="guest is a guest, so it needs no system of its own; leave viable empty"):
            bench.web.submit(Job("j", (SetSpec("n", (RecipeSpec("host", frozenset("A")), guest)),)))
        assert bench.store.snapshot().recipe_sets == ()
